"""VelocityControl: joint velocities that move tasks toward their targets, by priority and within limits."""

from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import rows
from multibody.algorithms.constraints import Constraint
from multibody.control._checks import check_contacts, check_gains, check_number, check_parts
from multibody.control._robot_controller import RobotController, robot_function
from multibody.control.limits import Limit
from multibody.control.limits._limit import merge
from multibody.control.tasks import Task
from multibody.control.tasks._levels import check_levels, stack_weighted, unknown_input
from multibody.errors import InputError
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import Kind, kernel_arrays
from multibody.solvers.hierarchical_least_squares import Equations, lexicographic
from multibody.solvers.program import Bounds
from multibody.solvers.strict_levels.projection import solve_within

GAIN, VELOCITY = "_gain", "_velocity"
RESERVED = ("q", "dt", "out", "threads")


@final
class VelocityControl(RobotController):
    """Joint velocities for tasks with strict priorities, within limits, on contacts.
    [RD 2.213-2.220, 2.273-2.276]

    Every task asks for J v = gain * error + velocity [RD 2.257-2.258]. Contacts come first:
    they do not move. Then come the limits. Among the velocities that both allow, those for
    which the squared errors of the first level, each with its task's weight, have the least sum
    [RD 2.215]; among these the second level's, and so on; of what is left, the v of least norm.
    No level loses more than the levels and limits above it take. Limits that exclude each
    other, or that the contacts exclude, are widened to a velocity that is near to them.

    Args:
        robot: fixed or floating.
        levels: lists of tasks, the most important first.
        limits: `VelocityLimits()`, `JointLimits()`, or one's own, in any order.
        damping: in the units of J, zero for none. Near singularities, where a singular value of
            a level is less than some `damping`, velocities stay small at the cost of its error;
            away from them nothing is damped [RD 2.207-2.208].
        contacts: constraints, as `mb.constraints.PointContact`, that the motion leaves at rest.

    Raises:
        InputError: when there is no task, a level is empty, two tasks have one name, or what is
            named does not fit the robot.

    >>> import multibody as mb
    >>> from multibody import control
    >>> robot = mb.load("panda")
    >>> motion = VelocityControl(
    ...     robot,
    ...     [[control.PoseTask("hand", "tool")], [control.PostureTask("rest")]],
    ...     limits=(control.VelocityLimits(), control.JointLimits()),
    ... )
    >>> q = robot.home()
    >>> ahead = robot.pose("tool", q).integrate([0.1, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0, "mixed")
    >>> v = motion(q, hand=ahead, rest=q, hand_gain=2.0, dt=0.01)
    >>> (robot.jacobian("tool", q) @ v).round(6) + 0.0
    array([0.2, 0. , 0. , 0. , 0. , 0. ])
    """

    __slots__ = ("_contacts", "_damping", "_defaults", "_function", "_kinds", "_levels", "_limits", "_tasks")

    def __init__(
        self,
        robot: Robot,
        levels: Iterable[Iterable[Task]],
        limits: Iterable[Limit] = (),
        damping: float = 0.0,
        contacts: Iterable[Constraint] = (),
    ) -> None:
        super().__init__(robot)
        self._levels = check_levels(levels, Task, lambda task: task.on(robot.tree), (GAIN, VELOCITY), RESERVED)
        self._tasks = {task.name: task for level in self._levels for task in level}
        parts = check_parts(limits, Limit, "limits", "limits such as VelocityLimits()")
        # velocities are what actuators can do at all: ranges of joints give way to them
        self._limits = tuple(sorted((part.on(robot.tree) for part in parts), key=lambda limit: limit.needs_dt))
        self._damping = check_number(damping, "damping", "a number that is not negative", zero=True)
        self._contacts = check_contacts(robot, contacts)
        self._function = self._compile()

    @property
    def levels(self) -> tuple[tuple[Task, ...], ...]:
        """The tasks, the most important first."""
        return self._levels

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits, those of velocities first."""
        return self._limits

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of what a call takes beside q."""
        known = self._kinds[0] | self._kinds[1]
        return (*(name + end for name in self._tasks for end in ("", GAIN, VELOCITY) if name + end in known), "dt")

    def __call__(
        self, q: ArrayLike, *, dt: ArrayLike | None = None, out: Any = None, threads: int | None = None, **inputs: Any
    ) -> NDArray[Any]:
        """The velocities, (..., nv), at a configuration or a batch of any shape.

        Args:
            q: (..., nq).
            dt: (...), in s, until the next call; limits such as `JointLimits` need it.
            out: an array for the result.
            threads: over which a batch is split.
            **inputs: the targets, by the names of their tasks; `<task>_gain`, (...) in 1/s, 1
                by default, and `<task>_velocity`, (..., rows), at which the target moves, zero
                by default.

        Raises:
            InputError: when a target or dt is missing, an input belongs to no task, or a shape
                does not fit.
        """
        required, optional = self._kinds
        for name in inputs:
            if name not in required and name not in optional:
                raise unknown_input(inputs, self.inputs, self._tasks, (GAIN,))
        values = {"q": q, **self._defaults, **inputs, "dt": dt}
        if dt is None and "dt" in required:
            needing = ", ".join(limit.name for limit in self._limits if limit.needs_dt)
            raise InputError(f"missing: dt, in s, which the {needing} need")
        check_gains({"dt": dt, **inputs}, self._defaults.keys())
        for name, task in self._tasks.items():
            if task.needs_target and values.get(name) is None:
                raise InputError(f"missing: the target of task {name!r}, as {name}=...")
        given = {name: kind for name, kind in optional.items() if values.get(name) is not None}
        arrays = kernel_arrays(required | given, values, self._robot.dtype)
        if arrays is None:
            values = {k: self._defaults.get(k) if values[k] is None else values[k] for k in (*required, *given)}
            return self._function(out=out, threads=threads, **values)
        kernel = self._function.kernel(*given)
        # without keywords a call goes straight to the code
        return kernel(*arrays) if out is None and threads is None else kernel(*arrays, out=out, threads=threads)

    def _compile(self) -> RobotFunction:
        tree = self._robot.tree
        inputs: dict[str, Kind] = {"q": "configuration"}
        optional: dict[str, Kind] = {}
        self._kinds, self._defaults = (inputs, optional), dict[str, Any](dt=None)
        for name, task in self._tasks.items():
            (inputs if task.needs_target else optional)[name] = task.target_kind(tree)
            if not task.of_velocity:
                inputs[name + GAIN], self._defaults[name + GAIN] = "number", np.ones((), self._robot.dtype)
            optional[name + VELOCITY] = task.rows
        if any(limit.needs_dt for limit in self._limits):
            inputs["dt"] = "number"

        def motion(*values: Any, **extras: Any) -> Any:
            return self._velocities({**dict(zip(inputs, values, strict=True)), **extras})

        content = self._damping, self._levels, self._limits, self._contacts
        return robot_function(self._robot, motion, inputs, optional, "velocity control", *content)

    def _velocities(self, values: Mapping[str, Any]) -> NDArray[Any]:
        tree, q = self._robot.tree, values["q"]
        levels = [stack_weighted(level, [self._rows(task, values) for task in level]) for level in self._levels]
        support = rows.jacobian(tree, self._contacts, q) if self._contacts else None
        limits = [limit for limit in self._limits if limit.bounded(tree).any()]
        if not limits:
            return lexicographic(levels, support, self._damping)[0]
        ranges = [(limit, limit.velocity_range(tree, q, values.get("dt"))) for limit in limits]
        bounds, box = merge(ranges, tree)
        return solve_within(levels, Bounds(*bounds), tuple(box), support, self._damping)

    def _rows(self, task: Task, values: Mapping[str, Any]) -> Equations:
        """J and w = gain * error + velocity of a task.  [RD 2.257-2.258]"""
        tree, q = self._robot.tree, values["q"]
        target: Any = values.get(task.name)
        J = task.jacobian_toward(tree, q, target)
        w = target if task.of_velocity else values[task.name + GAIN][..., None] * task.error(tree, q, target)
        velocity = values.get(task.name + VELOCITY)
        return J, w if velocity is None else w + velocity

    def __repr__(self) -> str:
        levels = " > ".join(" + ".join(task.name for task in level) for level in self._levels)
        return f"<VelocityControl of {self._robot.name!r}: {levels}>"
