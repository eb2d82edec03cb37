"""WholeBody: torques for tasks with strict priorities, on contacts and within limits.  [RD 3.109-3.115]"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import rows as constraint_rows
from multibody.algorithms.constraints import Constraint
from multibody.control._checks import check_gains
from multibody.control._robot_controller import STATE, RobotController, robot_function
from multibody.control.tasks import LoadTask
from multibody.control.tasks._levels import unknown_input
from multibody.control.whole_body.argument_checks import problem_of
from multibody.control.whole_body.daqp_single_state import SingleState
from multibody.control.whole_body.hierarchical_problem import AnyTask, Problem, Solution
from multibody.control.whole_body.report import Report
from multibody.control.whole_body.task_rows import ACCELERATION, DAMPING, STIFFNESS, VELOCITY
from multibody.errors import InputError
from multibody.geometry._arrays import choice, floats, not_zero
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import VALUES, Kind, kernel_arrays
from multibody.robot.kernels import check_masses
from multibody.solvers.quadratic_program import DAQP, INTERIOR_POINT


class Command(NamedTuple):
    """The result of a whole-body controller."""

    tau: NDArray[Any]
    """(..., nv): generalized forces of the actuators, zero on a floating base."""
    a: NDArray[Any]
    """(..., nv): the acceleration that follows."""
    f: NDArray[Any]
    """(..., rows): forces of the contacts on the robot, in their order, along the world's axes."""
    report: Report
    """The violated tasks, contacts and limits."""


CommandSolver = Callable[[Any, Command | None], Command]
"""A function of arrays, q, v and other inputs, and of a command to start from or None."""


@final
class WholeBody(RobotController):
    """Torques for tasks with strict priorities, on contacts and within limits.
    [RD 3.102-3.115, §3.10.4]

    The unknowns are accelerations, contact forces and torques [RD 3.109]. What is asked of them
    yields from the last:

    1. the equations of motion always hold [RD 3.110];
    2. points push within their friction cones, which are never relaxed;
    3. torque limits hold, and are never relaxed either;
    4. active contacts stand still, J a + J' v = 0;
    5. velocity and joint limits hold, and joints can still brake before the ends of their
       range;
    6. the levels of tasks, the most important first: J a + J' v = w' [RD 3.111], forces
       [RD 3.112], torques [RD 3.113]; tasks of one level by their weights;
    7. the remaining freedom has the least |tau|, and for redundant contacts, as corners of a
       sole, then the least |f|.

    Each is met as well as what is above it allows: in least squares, without weights between
    them. There is always an answer; `report.violated` names all tasks, contacts and limits that
    it misses, and `report.unsolved` whatever was not solved to its tolerance, with
    `report.residuals` that tell by how much.

    Args:
        robot: fixed or floating.
        contacts: constraints with different names: `mb.constraints.PointContact` for a foot,
            `SurfaceContact` for the corners of a sole; others, as `FrameContact`, hold in both
            directions. A floating robot has one at least.
        levels: lists of tasks, the most important first.
        limits: `TorqueLimits()`, `FrictionCones(0.6)`, `VelocityLimits()`, `JointLimits()`, or
            one's own `Limit`; without cones, points pull, too.
        eliminate: whether forces are eliminated, which takes fewer operations and needs
            independent contacts, except for points of one sole; by default wherever they are.

    Raises:
        InputError: when there is no task, a level is empty, two parts have one name, or what is
            named does not fit the robot.

    >>> import multibody as mb
    >>> from multibody import control
    >>> robot = mb.load("quadruped")
    >>> feet = [mb.constraints.PointContact(f, f) for f in robot.frames if f.startswith("foot")]
    >>> standing = WholeBody(
    ...     robot,
    ...     feet,
    ...     [[control.CenterOfMassTask("com"), control.OrientationTask("trunk", "trunk")]],
    ...     limits=(control.TorqueLimits(), control.FrictionCones(0.6)),
    ... )
    >>> q, v, rest = robot.home(), np.zeros(18), np.zeros(3)
    >>> tau, a, f, report = standing(q, v, com_acceleration=rest, trunk_acceleration=rest)
    >>> bool(abs(f[2::3].sum() - robot.tree.mass * 9.81) < 1e-6), report
    (True, <Report: all is met>)
    >>> standing(q, v, com_acceleration=[9.0, 0, 0], trunk_acceleration=rest).report.violated
    ['com']
    """

    __slots__ = ("_function", "_numbers", "_single", "_optional", "_problem", "_solvers", "_tasks")

    def __init__(
        self,
        robot: Robot,
        contacts: Iterable[Constraint],
        levels: Iterable[Iterable[AnyTask]],
        limits: Iterable[Any] = (),
        eliminate: bool | None = None,
    ) -> None:
        super().__init__(robot)
        check_masses(robot.model)
        self._problem = problem_of(robot, contacts, levels, limits, eliminate)
        self._tasks = {task.name: task for level in self._problem.levels for task in level}
        self._function, self._single = self._compile()
        self._solvers: dict[tuple[str, ...], tuple[tuple[str, ...], CommandSolver]] = {}
        """By solver and names of inputs: their order in a kernel, and the function that solves."""

    @property
    def problem(self) -> Problem:
        """The problem as NumPy code, for reading and debugging."""
        return self._problem

    @property
    def contacts(self) -> tuple[Constraint, ...]:
        """The contacts, in the order of their forces."""
        return self._problem.contacts

    @property
    def levels(self) -> tuple[tuple[AnyTask, ...], ...]:
        """The tasks, the most important first."""
        return self._problem.levels

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of what a call takes beside q and v."""
        return tuple(self._optional)

    def __call__(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        threads: int | None = None,
        solver: str = INTERIOR_POINT,
        start: Command | None = None,
        **inputs: Any,
    ) -> Command:
        """Torques, acceleration, forces and a report at a state, or a batch of any
        shape; also within a trace.

        Args:
            q: (..., nq).
            v: (..., nv).
            threads: over which a batch is split.
            solver: "interior-point", or "daqp" for one state outside of kernels, which is the
                faster there (it comes with the extra [control]). DAQP is asked for what is
                least in torque when nothing has to yield. Its answer is taken where the
                residuals of the conditions of optimality are at most 1e-8; else, and wherever
                something has to yield, that of the interior-point method is. The two differ by
                1e-6 of the torques at most. Nothing is remembered between calls.
            start: for DAQP, the command at a similar state: bounds that are reached there are
                tried first.
            **inputs: for each task of motion `<task>_acceleration`, (..., rows), or its target
                by its name with `<task>_kp`, 100 1/s² by default, `<task>_kd`, critical by
                default, and `<task>_velocity`; or the sum of both. For a task of forces its
                target by its name. `active`, (..., contacts), ones and zeros: contacts that
                hold. `normals`, (..., contacts, 3), of the ground at the contacts. `dt`, in s,
                until the next call, for limits of velocities and joints.

        Raises:
            InputError: when an input is missing or belongs to nothing, or a shape does not fit;
                when DAQP is asked for within a traced function, for a batch, for redundant
                contacts or circular cones, or is not installed.
        """
        if not self._numbers.isdisjoint(inputs):
            check_gains(inputs, self._numbers)
        if solver is not INTERIOR_POINT and solver is not DAQP:
            choice(solver, "solver", (INTERIOR_POINT, DAQP))
        if start is not None and solver != DAQP:
            raise InputError(f"start: expected None unless solver is {DAQP!r}, which alone starts from a command")
        if "active" in inputs and inputs["active"] is not None:
            constraint_rows.mask(self._problem.contacts, inputs["active"])
        if inputs.get("normals") is not None:
            not_zero(floats(inputs["normals"], "normals", len(self._problem.contacts), 3), "normals")
        ready = self._solvers.get((solver, *inputs))
        if ready is not None and threads is None:
            order, answer = ready
            arrays = [q, v, *map(inputs.__getitem__, order)]
            if {*map(type, arrays)} == {np.ndarray}:
                return answer(arrays, start)
        given = {name: value for name, value in inputs.items() if value is not None}
        if not given.keys() <= self._optional.keys():
            raise unknown_input(given, self.inputs, self._tasks, (STIFFNESS, DAMPING, VELOCITY))
        self._check_complete(given)
        wished = {name: kind for name, kind in self._optional.items() if name in given}
        arrays = kernel_arrays(STATE | wished, {"q": q, "v": v, **given}, self._robot.dtype)
        if solver == DAQP and threads is not None:
            raise InputError(f"threads: expected None with solver={DAQP!r}, which takes one state, got {threads!r}")
        if solver != DAQP and (arrays is None or threads is not None):
            return self._command(self._function(q, v, threads=threads, **{name: given[name] for name in wished}))
        answer = (self._daqp_solver if solver == DAQP else self._kernel_solver)(tuple(wished))
        if len(given) == len(inputs) and not any(kind in VALUES for kind in wished.values()):
            self._solvers[solver, *inputs] = tuple(wished), answer
        return answer(arrays, start)

    def _command(self, answer: Sequence[Any], multipliers: NDArray[Any] | None = None) -> Command:
        tau, a, f, slacks, missed, residuals = answer
        return Command(
            tau, a, f, Report(self._problem.sizes, self._problem.programs, slacks, missed, residuals, multipliers)
        )

    def _kernel_solver(self, present: tuple[str, ...]) -> CommandSolver:
        """The solver by the interior-point kernel."""
        kernel = self._function.kernel(*present)
        return lambda arrays, _: self._command(kernel(*arrays))

    def _daqp_solver(self, present: tuple[str, ...]) -> CommandSolver:
        """The solver by DAQP, falling back to the interior-point kernel."""
        if self._single is None:
            raise InputError(
                f"solver: {DAQP!r} takes independent contacts, unlike the corners of a sole, and "
                "pyramids for friction cones"
            )
        found_at, command, function = self._single.solver_for(present), self._command, self._function

        def answer(arrays: list[Any] | None, start: Command | None) -> Command:
            if arrays is None:
                raise InputError(f"solver: {DAQP!r} takes arrays of one state, and cannot be a part of a kernel")
            if arrays[0].ndim != 1 or arrays[1].ndim != 1:
                raise InputError(
                    f"solver: {DAQP!r} takes one state, got a batch; expected {INTERIOR_POINT!r} for batches"
                )
            if start is not None and not isinstance(start, Command):
                raise InputError(f"start: expected a command of a whole body, got {type(start).__name__}")
            found = found_at(arrays, None if start is None else start.report.multipliers)
            return command(function.kernel(*present)(*arrays)) if found is None else command(*found)

        return answer

    def kernel(self, *inputs: str) -> Any:
        """Return the native kernel of q, v and some of the inputs, in this order.

        Args:
            *inputs: names of the inputs that the call takes, such as "com_acceleration".

        Returns:
            A kernel with the results tau, a, f, slacks, what is missed, and residuals.
        """
        return self._function.kernel(*inputs)

    def _check_complete(self, given: Mapping[str, Any]) -> None:
        for name, task in self._tasks.items():
            if not task.needs_target or name in given:
                continue
            if isinstance(task, LoadTask):
                raise InputError(f"missing: the force of task {name!r}, as {name}=...")
            if name + ACCELERATION not in given:
                raise InputError(f"missing: the target of task {name!r}, as {name}=..., or {name + ACCELERATION}=...")
            for unused in {name + STIFFNESS, name + DAMPING, name + VELOCITY} & given.keys():
                raise InputError(
                    f"{unused}: expected the target {name}=... with it, got {name + ACCELERATION}=... alone"
                )
        if self._problem.limits and "dt" not in given:
            raise InputError(f"missing: dt, in s, which the {self._problem.limits[0].name} need")

    def _compile(self) -> tuple[RobotFunction, SingleState | None]:
        tree, problem = self._robot.tree, self._problem
        optional: dict[str, Kind] = {}
        for name, task in self._tasks.items():
            if isinstance(task, LoadTask):
                optional[name] = task.rows
                continue
            optional[name] = task.target_kind(tree)
            optional[name + ACCELERATION] = task.rows
            if not task.of_velocity:
                optional |= {name + STIFFNESS: "number", name + DAMPING: "number", name + VELOCITY: task.rows}
        if problem.contacts:
            optional |= {"active": len(problem.contacts), "normals": (len(problem.contacts), 3)}
        optional["dt"] = "number"
        self._optional = optional
        self._numbers = frozenset(name for name, kind in optional.items() if kind == "number")

        def whole_body(q: Any, v: Any, **extras: Any) -> Solution:
            return problem.solution({"q": q, "v": v, **extras})

        content = problem.contacts, problem.levels, problem.torques, problem.cones, problem.limits, problem.eliminate
        single = SingleState(self._robot, problem, optional, content) if problem.has_single_optimum else None
        return robot_function(self._robot, whole_body, STATE, optional, "whole body", *content), single

    def __repr__(self) -> str:
        levels = " > ".join(" + ".join(task.name for task in level) for level in self.levels)
        return f"<WholeBody of {self._robot.name!r} on {len(self.contacts)} contacts: {levels}>"
