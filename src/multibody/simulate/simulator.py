"""`Simulator`: a robot with its method, contacts and controller, compiled into one kernel over time."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from multibody.algorithms.constraint_projection import projected_configuration
from multibody.algorithms.constraints import Constraint
from multibody.algorithms.soft_contact import number
from multibody.compiler.compiled_scan import Scan
from multibody.compiler.scan import compile_scan
from multibody.errors import InputError
from multibody.geometry._arrays import choice, is_traced, truth
from multibody.model import check_configuration
from multibody.robot import Robot
from multibody.robot.kernels import check_masses
from multibody.robot.quantity import parse_count
from multibody.simulate.advice import after, before, states_of
from multibody.simulate.clock import clock_at, row_times, step_count, step_number
from multibody.simulate.contact import height_jump
from multibody.simulate.contact import spheres as robot_contacts
from multibody.simulate.contact.bilateral_constraints import check_closed
from multibody.simulate.contact.ground import Ground, check_grounds, grounds_of
from multibody.simulate.contact.independent_parts import independent_parts
from multibody.simulate.contact.joint_limits import bounds_of
from multibody.simulate.contact.scene import Scene
from multibody.simulate.controllers import Function, check_period, controller_of, first_memory
from multibody.simulate.free_memory import check_memory
from multibody.simulate.inputs_and_parameters import Arguments, arguments_of, functions_of
from multibody.simulate.methods import METHODS
from multibody.simulate.nested_state import batches_of, broadcast_batches, broadcast_state, shapes_of, with_prefix
from multibody.simulate.pd import PD
from multibody.simulate.run import Run, about, with_warning
from multibody.simulate.step import Step, tree_values

PIECE_SECONDS = 0.25
"""The time in s between two calls of a progress function, or two points at which an interrupt keeps the rows."""


@final
class Simulator:
    """A robot that moves in time; `simulator(q, v, seconds=1.0)` is a `Run`.

    >>> import multibody as mb
    >>> simulator = Simulator(mb.load("double-pendulum"), dt=0.01, method="rk4")
    >>> run = simulator([1.2, 0.5], [0.0, 0.0], seconds=1.0, every=50)
    >>> run.t, run.q.shape
    (array([0.5, 1. ]), (2, 2))
    """

    def __init__(
        self,
        robot: Robot,
        dt: float = 0.002,
        method: str = "contact",
        contacts: list[robot_contacts.SphereContact] | tuple[robot_contacts.SphereContact, ...] | None = None,
        ground: Ground | list[Ground] | tuple[Ground, ...] | None = None,
        controller: PD | Callable[..., Any] | None = None,
        *,
        pairs: list[robot_contacts.SpherePair] | tuple[robot_contacts.SpherePair, ...] = (),
        constraints: Iterable[Constraint] = (),
        passive: bool = False,
        limits: bool = False,
        limit_restitution: float = 0.0,
        effort: bool = False,
        control_every: int = 1,
        outputs: Mapping[str, Callable[..., Any]] | None = None,
        state: Any = None,
        sweeps: int = 100,
        tolerance: float | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        """Check and prepare a simulation; kernels are compiled by the first run.

        Args:
            robot: the robot.
            dt: the time step in s.
            method: "contact" (hard contact with friction), "events" (the same with exact times
                of touch-down), "soft" (contact with springs and dampers), "euler"
                (semi-implicit), "verlet" (drift-kick-drift), "rk4" (Runge-Kutta on groups),
                "variational" (discrete Euler-Lagrange).
            contacts: where the robot touches, in "contact", "events" and "soft"; by default,
                with a ground, its collision shapes.
            ground: a `Ground` or several; by default, with contacts, the plane z = 0.
            controller: `PD`, or a function(t, q, v[, input[, state]][, forces]) -> tau, (nv,),
                in NumPy; `forces`, (contacts, 3), are those on the contacts in the last step,
                as in `run.forces`, zero at the start.
            pairs: spheres of the robot, or of bodies attached beside it, that touch each other;
                hard, in "soft" too.
            constraints: of `mb.constraints`, such as loop closures, that hold in "contact",
                "events" and "soft"; a velocity that they forbid is lost in the first step.
            passive: whether joints have their damping, dry friction and springs.
            limits: whether joints stop at their limits, in "contact", "events" and "soft";
                coordinates that are no integrals of velocities, such as quaternions, have none.
            limit_restitution: of joints at their limits, from 0, plastic, to 1, elastic.
            effort: whether the controller's forces are clipped at the limits of the joints.
            control_every: the controller is asked every so many steps, its forces are held in
                between.
            outputs: functions(t, q, v, a, tau, forces), by name, whose arrays are recorded.
            state: the controller's first state, where it has one: an array, or tuples and dicts
                of arrays.
            sweeps: over the contacts of a step, at most.
            tolerance: sweeps end when none changes a velocity by more, in m/s; 1e-8, or 1e-5 in
                float32.
            dtype: float64 or float32; by default the robot's.
        """
        if not isinstance(robot, Robot):
            raise InputError(f"Simulator: expected a Robot, got {type(robot).__name__}")
        if not robot.nv:
            raise InputError(f"Simulator: expected a robot with joints, got {robot.name!r}")
        self.robot, self.tree = robot, robot.tree
        self.dt = number(dt, "dt, in s", positive=True)
        self.method = choice(method, "method", tuple(METHODS))
        self.dtype = robot.dtype if dtype is None else robot.astype(np.dtype(dtype).name).dtype
        check_masses(robot.model)
        rule = METHODS[self.method]
        grounds = grounds_of(ground)
        if contacts is None:
            contacts = robot_contacts.contacts_of(robot) if grounds and rule.has_contacts else ()
        self.contacts = robot_contacts.checked(contacts, self.tree)
        self.grounds: tuple[Ground, ...] = (grounds or (Ground(),)) if self.contacts else ()
        self.pairs = robot_contacts.checked_pairs(pairs, self.tree)
        if not rule.has_contacts and (self.contacts or self.pairs or grounds or truth(limits, "limits")):
            raise InputError(
                f'method {method!r} has no contacts, pairs, ground and limits: expected method="contact" for them'
            )
        check_grounds(grounds, method, rule.has_soft_ground)
        self.constraints = None if constraints in ((), []) else robot.constraints(constraints)
        if self.constraints is not None and not rule.has_contacts:
            raise InputError(f'constraints: method {method!r} has none, expected "contact", "events" or "soft"')
        self.passive, self.limits, self.effort = (
            truth(flag, name) for flag, name in ((passive, "passive"), (limits, "limits"), (effort, "effort"))
        )
        self.controller = controller_of(controller, self.tree, len(self.contacts))
        self.control_every = control_every = parse_count(control_every, "control_every")
        if self.control_every > 1 and not isinstance(self.controller, Function):
            raise InputError("control_every: expected a controller that is a function: PD acts within every step")
        check_period(controller, self.dt * self.control_every)
        self.memory = first_memory(self.controller, state)
        bounce = robot_contacts.share(limit_restitution, "limit_restitution")
        if bounce and not self.limits:
            raise InputError("limit_restitution: expected limits=True with it")
        bounds = bounds_of(self.tree, self.limits, self.passive and rule.has_contacts, bounce)
        grounded = tuple((contact, each) for contact in self.contacts for each in self.grounds)
        default, depth = (1e-5, 1e-6) if self.dtype == np.float32 else (1e-8, 1e-8)
        tolerance = number(default if tolerance is None else tolerance, "tolerance, in m/s", positive=True)
        sweeps = parse_count(sweeps, "sweeps")
        touching, held = grounded + self.pairs, self.constraints
        parts = independent_parts(self.tree, touching, bounds, held is not None)
        scene = Scene(touching, len(self.contacts), bounds, sweeps, tolerance, depth, parts, held)
        limit = self.tree.effort_limits if self.effort else None
        goal = controller.goal(self.tree, robot.home()) if isinstance(controller, PD) else None
        settings = self.tree, rule, self.dt, self.controller, goal, scene, self.passive, limit, control_every
        self._step = Step(*settings, functions_of(outputs))
        self._scans: dict[Any, Scan] = {}

    # ---- runs --------------------------------------------------------------------------------------------------------

    def __call__(
        self,
        q: ArrayLike | Run,
        v: ArrayLike | None = None,
        *,
        seconds: float,
        every: int = 1,
        inputs: Any = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
        state: Any = None,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
        partial: bool = False,
    ) -> Run:
        """Simulate.

        Args:
            q: (..., nq), where the robot starts; or a run to go on from, with its whole state.
            v: (..., nv), by default at rest.
            seconds: how long, a multiple of dt.
            every: the number of steps between two rows.
            inputs: of the controller, held over each step: (n,), (..., 1, n) for constant ones,
                or (..., steps, n); or a dict of these.
            wrenches: pushes, {frame: (..., steps or 1, 6)}, a force and a torque at the frame's
                origin, along the axes of the world.
            parameters: by name and per sample: friction and restitution of the ground, in
                "soft" ground_stiffness and ground_damping, kp and kd of PD, mass (of all bodies
                together), joint_friction, and what `Tree.with_values` takes. The shape of kp
                and kd without the batch is that of PD's own: with `PD(60, 2)` twelve numbers
                are twelve samples, with `PD(np.full(12, 60), 2)` the gains of twelve joints.
            state: the controller's first state, in place of the simulator's.
            threads: the number of threads over which a batch is split.
            progress: called with the fraction of the steps that is done.
            partial: whether an interrupt (Ctrl-C) returns what was computed until then, in
                place of raising.
        """
        every = parse_count(every, "every")
        steps = step_number(seconds, self.dt)
        given = arguments_of(self._step, steps, inputs, wrenches, parameters)
        start = self._resumed_state(q, v, state) if isinstance(q, Run) else self._first(q, v, state)
        batch = broadcast_batches([*batches_of(start, self._shapes), *given.batches()])
        scan = self._scan(given)
        check_memory(scan, batch, steps // every, self.dtype.itemsize)

        def advance(state: Any, done: int, count: int) -> Any:
            moving = {name: array[..., done : done + count, :] for name, array in given.moving.items()}
            return scan(state, moving, given.still, steps=count, every=every, threads=threads)

        pieces, after = _run_in_pieces(advance, start, steps, every, progress, partial)
        rows = sum(piece["q"].shape[len(batch)] for piece in pieces)
        record = {name: np.concatenate([piece[name] for piece in pieces], axis=len(batch)) for name in pieces[0]}
        t = row_times(start, every, rows, self.dt)
        own = tree_values(self.tree, with_prefix(given.still, "parameter:"))
        run = Run.of(t, record, state=after, parameters=own, about=self._about, robot=self.robot)
        return with_warning(run)

    def start(self, q: ArrayLike, v: ArrayLike | None = None, state: Any = None) -> dict[str, Any]:
        """The state in which a run from q and v starts, for `step`; in a batch all of
        its entries have the batch.

        Args:
            q: (..., nq).
            v: (..., nv), by default at rest.
            state: the controller's first state, in place of the simulator's.
        """
        first = self._first(q, v, state)
        batch = broadcast_batches(batches_of(first, self._shapes))
        return broadcast_state(first, self._shapes, batch) if batch else first

    def _first(self, q: ArrayLike, v: ArrayLike | None, state: Any) -> dict[str, Any]:
        """The start, in which only what differs between samples has their batch."""
        q = check_configuration.unit_coordinates(self.tree, q)
        if self.constraints is not None and not is_traced(q):
            check_closed(self.constraints, q)
        v = np.zeros(self.tree.nv) if v is None else check_configuration.velocities(self.tree, v)
        memory = first_memory(self.controller, self.memory if state is None else state)
        return self._step.initial_state(q, v, memory, self.dtype)

    def closed(self, q: ArrayLike) -> NDArray[Any]:
        """The nearest configurations, (..., nq), that constraints allow."""
        q = check_configuration.coordinates(self.tree, q)
        return q if self.constraints is None else projected_configuration(self.tree, self.constraints, q)

    def step(
        self,
        state: dict[str, Any],
        inputs: Any = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        wrenches: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the next state and the record of one step of one sample: plain
        NumPy, for kernels and derivatives.

        Names and shapes are checked while it is traced, at no cost in the kernel.

        Args:
            state: from `start`, from the step before, or `run.state`, without a batch.
            inputs: of the controller, (n,), or a dict of these.
            parameters: by name, as a run takes them, without a batch.
            wrenches: pushes, {frame: (6,)}, as a run takes them.

        >>> import multibody as mb
        >>> simulator = Simulator(mb.load("double-pendulum"), dt=0.01, method="verlet")
        >>> after, record = simulator.step(simulator.start([0.1, 0.2]))
        >>> after["q"].shape, float(after["steps"])
        ((2,), 1.0)
        """
        given = arguments_of(self._step, None, inputs, wrenches, parameters)
        if any(batches_of(state, self._shapes)):
            raise InputError(
                f"state: expected one sample, got a batch, q of shape {np.shape(state['q'])}; mb.compile and "
                "mb.compile_scan make kernels of the step that take batches"
            )
        state = broadcast_state(state, self._shapes, ())  # also plain lists, as arrays
        check_configuration.unit_coordinates(self.tree, state["q"], "state, q")
        after, record = self._step(state, given.still)
        if "jump" in after and not is_traced(after["jump"]) and state["jump"][0] < 0:
            height_jump.warn(after, self._about, stacklevel=2)
        return after, record

    def advice(self, run: Run | None = None, *, q: ArrayLike | None = None, inputs: Any = None) -> tuple[str, ...]:
        """Return sentences on steps that are too long for the forces, and on faults
        of a run; none if there are none.

        Args:
            run: of this simulator.
            q: (nq,), where rates are computed; by default along the run, or at the robot's
                home.
            inputs: one of the controller's, where it takes them.

        >>> import multibody as mb
        >>> robot, damper = mb.load("double-pendulum"), lambda t, q, v: -1e3 * v
        >>> stiff = Simulator(robot, dt=0.01, method="euler", controller=damper)
        >>> stiff.advice()[0].split(":")[0]
        'the controller is explicit and decays at 1.11e+04/s, which times 0.01 s is 1.1e+02'
        """
        if run is not None and run.about.get("digest") != self._about["digest"]:
            name = run.about.get("robot")
            same = ", of other numbers" if name == self.robot.name else ""
            raise InputError(f"run: expected one of the robot {self.robot.name!r}, got one of {name!r}{same}")
        states = states_of(run) if run is not None and q is None else []
        at = check_configuration.coordinates(self.tree, self.robot.home() if q is None else q)
        told = before(self._step, states or [(0.0, at, np.zeros(self.tree.nv))], inputs, self.memory)
        return (*told, *(() if run is None else after(self._step, run)))

    _about = cached_property(about)

    # ---- inside ------------------------------------------------------------------------------------------------------

    @cached_property
    def _shapes(self) -> dict[str, Any]:
        """The state's shapes, without the batch."""
        return shapes_of(self._step.initial_state(self.robot.home(), np.zeros(self.tree.nv), self.memory, self.dtype))

    def _scan(self, given: Arguments) -> Scan:
        """The kernel for inputs and parameters of these shapes, compiled once."""
        if given.key not in self._scans:

            def step(state: Any, moving: Any, still: Any) -> Any:
                return self._step(state, moving | still)

            step.__name__ = f"{self.robot.name}_{self.method}"
            parts = ([{name: given.cores[name] for name in part}] for part in (given.moving, given.still))
            self._scans[given.key] = compile_scan(step, self._shapes, *parts, dtype=self.dtype)
        return self._scans[given.key]

    def _resumed_state(self, run: Run, v: Any, state: Any) -> dict[str, Any]:
        if v is not None or state is not None:
            raise InputError("a run that continues has its own v and state: expected neither of them")
        run.check_simulator(self._about, self._shapes)
        state = {"jump": np.array(height_jump.START), **run.state}  # files of before have none
        rest = {name: x for name, x in state.items() if name in self._shapes}
        return rest | clock_at(step_count(run.state), self._shapes, self.control_every)

    def __repr__(self) -> str:
        parts = [self.robot.name, f"dt={self.dt:g}", f"method={self.method!r}"]
        parts += [f"{len(x)} {name}" for name in ("contacts", "pairs", "constraints") if (x := getattr(self, name))]
        parts += [name for name in ("passive", "limits", "effort") if getattr(self, name)]
        return f"<Simulator {', '.join(parts)}>"


def _run_in_pieces(
    advance: Callable[[Any, int, int], Any], state: Any, steps: int, every: int, progress: Any, partial: bool
) -> tuple[list[Any], Any]:
    """The records and the last state of all steps: in one piece, or in several for progress and interrupts.

    `advance(state, done, count)` takes `count` steps after `done`; it returns the state and the record.
    """
    pieces: list[Any] = []
    done, size = 0, steps if progress is None and not partial else every
    while True:
        count = min(max(every, size - size % every), steps - done)
        begun = time.perf_counter()
        try:
            state, record = advance(state, done, count)
        except KeyboardInterrupt:
            if not partial or not pieces:
                raise
            return pieces, state
        pieces.append(record)
        done += count
        if progress is not None:
            progress(done / max(1, steps))
        if done >= steps:
            return pieces, state
        size = int(count * min(8.0, PIECE_SECONDS / max(1e-6, time.perf_counter() - begun)))
