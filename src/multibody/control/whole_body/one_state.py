"""One state by DAQP: a kernel for its program, DAQP, and a kernel that judges the answer and tells what it means."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np
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


class Parts(NamedTuple):
    """What answers for some inputs, one after the other."""

    program: Kernel
    least: Callable[..., tuple[Array, Array] | None]
    judge: Kernel


@final
class OneState:
    """What DAQP makes of states at which all that is asked for can be had at once.

    Args:
        robot: whose torques are wanted.
        problem: what is asked for; it has one end.
        optional: inputs beside q and v.
        key: a text that stands for the problem, or None.
    """

    __slots__ = ("_key", "_problem", "_programs", "_ready", "_robot", "_within")

    def __init__(self, robot: Robot, problem: Problem, optional: Mapping[str, Kind], key: str | None) -> None:
        self._robot, self._problem, self._key = robot, problem, key
        self._within = JUDGED_WITHIN[robot.dtype]
        self._ready: dict[tuple[str, ...], Parts | None] = {}
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
        if present not in self._ready:
            self._ready[present] = self._parts(self._programs.kernel(*present))
        parts = self._ready[present]
        if parts is None:
            return None
        program, least, judge = parts
        given = program(*arrays)
        found = least(given[2], given[3], given[4], start)
        if found is None:
            return None
        *answer, residual = judge(arrays[0], arrays[1], *found, *given)
        return (answer, found[1]) if residual.item() <= self._within else None

    def _parts(self, program: Kernel) -> "Parts | None":
        """What answers for a kernel of programs; None where they have no unknowns or bounds, and need no solver."""
        shapes = program.signature.outputs
        m, k = shapes[2]
        if not m or not k:
            return None

        def judged(q: Any, v: Any, w: Any, multipliers: Any, *program: Any) -> tuple[Any, ...]:
            answer, residuals = self._problem.told_at_once(q, v, w, multipliers, AtOnce(*program))
            return (*answer, np.max(residuals, axis=-1))

        kinds: dict[str, Kind] = {"q": "configuration", "v": "velocity", "w": k, "multipliers": m}
        kinds |= dict(zip(AtOnce._fields, shapes, strict=True))
        judge = RobotFunction(self._robot.model, self._robot.dtype, judged, kinds, {}, self._named("judged", k, m))
        least = active_set.LeastNorm(m, k)
        return Parts(program, least if self._robot.dtype == np.float64 else _in_singles(least), judge.kernel())

    def _named(self, *what: Any) -> str | None:
        return None if self._key is None else f"{self._key} {' '.join(map(str, what))}"


def _in_singles(least: active_set.LeastNorm) -> Callable[..., tuple[Array, Array] | None]:
    def rounded(G: Array, lower: Array, upper: Array, start: Array | None) -> tuple[Array, Array] | None:
        G, lower, upper = (np.asarray(x, np.float64) for x in (G, lower, upper))
        found = least(G, lower, upper, None if start is None else np.asarray(start, np.float64))
        return None if found is None else (found[0].astype(np.float32), found[1].astype(np.float32))

    return rounded
