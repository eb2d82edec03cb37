"""A single state by DAQP: a kernel for its program, DAQP, and a kernel that checks and assembles the solution."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, final

import numpy as np

from multibody.compiler.kernel import Kernel
from multibody.control._robot_controller import STATE, robot_function
from multibody.control.whole_body.hierarchical_problem import Problem
from multibody.control.whole_body.least_norm_program import MAX_RESIDUAL, LeastNormProgram
from multibody.geometry._arrays import Array
from multibody.robot import Robot
from multibody.robot.inputs import Kind
from multibody.solvers import daqp

CommandSolver = Callable[[Sequence[Array], Array | None], tuple[Sequence[Array], Array] | None]
"""A function of q, v and other inputs, and of multipliers of a similar state or None; it returns the parts of a
`Solution` and the multipliers of the program, or None if DAQP has none."""


@final
class SingleState:
    """The solver by DAQP for states at which all levels can be met.

    Args:
        robot: the robot that moves.
        problem: with a single optimum.
        optional: inputs beside q and v.
        content: all that the problem depends on, apart from the robot.
    """

    __slots__ = ("_content", "_problem", "_programs", "_robot", "solver_for")

    def __init__(self, robot: Robot, problem: Problem, optional: Mapping[str, Kind], content: tuple[Any, ...]) -> None:
        self._robot, self._problem, self._content = robot, problem, content
        self.solver_for = cache(self._compile)
        """The solver for some of the optional inputs."""

        def least_norm_program(q: Any, v: Any, **extras: Any) -> tuple[Any, ...]:
            return tuple(problem.least_norm_program({"q": q, "v": v, **extras}))

        self._programs = robot_function(robot, least_norm_program, STATE, optional, "least-norm program", *content)

    def _compile(self, present: tuple[str, ...]) -> CommandSolver:
        program = self._programs.kernel(*present)
        shapes = program.signature.outputs
        m, k = shapes[0]
        if not m or not k:  # nothing to decide, or no bound: no solver is needed
            return lambda *_: None
        least, judge, dtype = daqp.least_norm_solver_for(m, k), self._judge(shapes), self._robot.dtype
        double, within = dtype == np.float64, MAX_RESIDUAL[dtype]

        def answer(arrays: Sequence[Array], start: Array | None) -> tuple[Sequence[Array], Array] | None:
            given = program(*arrays)
            parts = (*given[:3], start)
            found = least(*(parts if double else (x if x is None else x.astype(np.float64) for x in parts)))
            if found is None:
                return None
            found = found if double else [x.astype(np.float32) for x in found]
            answer = judge(arrays[0], arrays[1], *found, *given)
            return (answer, found[1]) if answer[-1].item(-1) <= within else None

        return answer

    def _judge(self, shapes: Sequence[tuple[int, ...]]) -> Kernel:
        """The kernel that checks solutions of programs of these shapes, and assembles the answer."""

        def judge(q: Any, v: Any, w: Any, multipliers: Any, *program: Any) -> tuple[Any, ...]:
            return self._problem.solution_at(q, v, w, multipliers, LeastNormProgram(*program))

        m, k = shapes[0]
        kinds = STATE | {"w": k, "multipliers": m} | dict(zip(LeastNormProgram._fields, shapes, strict=True))
        return robot_function(self._robot, judge, kinds, {}, "judged", k, m, *self._content).kernel()
