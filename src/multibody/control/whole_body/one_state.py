"""One state by DAQP: a kernel for its program, DAQP, and a kernel that judges the answer and tells what it means."""

from collections.abc import Mapping, Sequence
from typing import Any, final

from numpy.typing import NDArray

from multibody.compiler.kernel import Kernel
from multibody.control import active_set
from multibody.control.whole_body.at_once import JUDGED_WITHIN, AtOnce
from multibody.control.whole_body.hierarchy import Size
from multibody.control.whole_body.problem import Problem
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import Kind

Array = NDArray[Any]


@final
class OneState:
    """What DAQP makes of states at which all that is asked for can be had at once.

    Args:
        robot: whose torques are wanted.
        problem: what is asked for; it has one end.
        optional: inputs beside q and v.
        key: a text that stands for the problem, or None.
    """

    __slots__ = ("_kernels", "_key", "_problem", "_programs", "_robot", "_within")

    def __init__(self, robot: Robot, problem: Problem, optional: Mapping[str, Kind], key: str | None) -> None:
        self._robot, self._problem, self._key = robot, problem, key
        self._within = JUDGED_WITHIN[robot.dtype]
        self._kernels: dict[tuple[str, ...], tuple[Kernel, Kernel | None]] = {}
        plans: dict[bool, list[Size]] = {}

        def at_once(q: Any, v: Any, **extras: Any) -> tuple[Any, ...]:
            masked = "active" in extras
            if masked not in plans:
                plans[masked] = problem.plan(masked)
            return tuple(problem.at_once({"q": q, "v": v, **extras}, plans[masked]))

        kinds: dict[str, Kind] = {"q": "configuration", "v": "velocity"}
        self._programs = RobotFunction(robot.model, robot.dtype, at_once, kinds, optional, self._named("at once"))

    def __call__(
        self, present: tuple[str, ...], arrays: Sequence[Array], start: Array | None
    ) -> tuple[list[Array], Array] | None:
        """tau, a, f, slacks and what is missed, and the multipliers of the program; None where DAQP has no answer.

        Args:
            present: the names of the optional inputs.
            arrays: q, v and these.
            start: multipliers of a similar state.
        """
        if present not in self._kernels:
            kernel = self._programs.kernel(*present)
            self._kernels[present] = kernel, self._judge(kernel)
        kernel, judge = self._kernels[present]
        if judge is None:
            return None
        program = kernel(*arrays)
        found = active_set.least(program[2], program[3], program[4], start)
        if found is None:
            return None
        w, multipliers = found
        if w.dtype != program[0].dtype:
            w, multipliers = w.astype(program[0].dtype), multipliers.astype(program[0].dtype)
        *answer, residuals = judge(arrays[0], arrays[1], w, multipliers, *program)
        return (answer, multipliers) if max(residuals.tolist()) <= self._within else None

    def _judge(self, program: Kernel) -> Kernel | None:
        """The kernel that judges answers; None for programs without unknowns or bounds, which need no solver."""
        shapes = program.signature.outputs
        m, k = shapes[2]
        if not m or not k:
            return None

        def judged(q: Any, v: Any, w: Any, multipliers: Any, *program: Any) -> tuple[Any, ...]:
            answer, residuals = self._problem.told_at_once(q, v, w, multipliers, AtOnce(*program))
            return (*answer, residuals)

        kinds: dict[str, Kind] = {"q": "configuration", "v": "velocity", "w": k, "multipliers": m}
        kinds |= dict(zip(AtOnce._fields, shapes, strict=True))
        return RobotFunction(
            self._robot.model, self._robot.dtype, judged, kinds, {}, self._named("judged", k, m)
        ).kernel()

    def _named(self, *what: Any) -> str | None:
        return None if self._key is None else f"{self._key} {' '.join(map(str, what))}"
