"""InverseKinematics: configurations in which frames have wanted poses.  [RD §2.9.3, Alg. 1]"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from inspect import Parameter, signature
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.compiler.runtime.workers import thread_count
from multibody.control._checks import check_number, check_whole, refuse_traced
from multibody.control._robot_controller import RobotController
from multibody.control.inverse_kinematics import damped_least_squares as iterations
from multibody.control.inverse_kinematics import multi_start, seeds
from multibody.control.inverse_kinematics.analytic.analytic_solutions import analytic_solutions
from multibody.control.inverse_kinematics.answer import Answer
from multibody.control.inverse_kinematics.frame_goals import Goal, goals_of
from multibody.control.inverse_kinematics.seeds import middle
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.geometry._arrays import batch_shape, choice, floats, truth
from multibody.model import check_configuration
from multibody.model.digest import digest
from multibody.robot import Robot

CHUNK = 4096
"""Targets that are searched together, so that memory does not grow with the batch and signals interrupt it."""
RUNS = iterations.damped_least_squares, iterations.levenberg_marquardt, iterations.reference_step
TRUE: Any = np.True_
FALSE: Any = np.False_
KERNELS = {run.__name__: run for run in RUNS}


@final
class InverseKinematics(RobotController):
    """A solver for the configurations in which a frame, or several, have wanted poses.

    Damped least squares from a first guess within the limits of the joints, then from the
    nearest of many configurations, then with ever more of them. A target's answer depends on
    nothing but the target, its first guess and the seed: not on the batch that it is in, nor on
    threads.

    Args:
        robot: fixed or floating.
        frame: the name of a frame, or a list of names.
        position_tolerance: in m.
        rotation_tolerance: in rad.
        limits: whether joints stay within their limits.
        axes: what is wanted of the pose: "xyzrpy", all of it; letters of "xyz" for positions,
            "rpy" for the rotation, and "x-axis", "y-axis" or "z-axis" for the direction of one
            axis of the frame alone, as in "xyz z-axis"; with a list of frames a text for all,
            or a list.
        reference: a frame of the robot in which the targets are written; the world by default.
        posture: (nq,), a configuration to be near to as far as the goals allow.
        base: whether a floating base is "free" to move, or "fixed" where the first guess has
            it.
        seeds: how many configurations are tried at most after the first guess; 255 by default.
            "analytic" begins from the nearest branch of `analytic_solutions`, which takes
            milliseconds a target, for arms that have them.
        follow: whether solutions are continued from `q0`, which every call then takes: without
            seeds and without jumps. A target off the robot's reach ends at a near
            configuration, and not on another branch.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> ik = InverseKinematics(robot, "tool")
    >>> answer = ik(robot.pose("tool", robot.home()))
    >>> bool(answer.success), answer.q.shape
    (True, (7,))
    """

    __slots__ = ("_first", "_kernels", "_listed", "_mode", "_postures", "_problem", "_seeds", "_tables", "_tolerances")

    def __init__(
        self,
        robot: Robot,
        frame: str | Sequence[str],
        *,
        position_tolerance: float = 1e-4,
        rotation_tolerance: float = 1e-3,
        limits: bool = True,
        axes: str | Sequence[str] = "xyzrpy",
        reference: str | None = None,
        posture: ArrayLike | None = None,
        base: str = "free",
        seeds: int | str | None = None,
        follow: bool = False,
    ) -> None:
        super().__init__(robot)
        tree = robot.tree
        self._listed = not isinstance(frame, str)
        goals = goals_of(tree, frame, axes, reference)
        self._tolerances = (
            check_number(position_tolerance, "position_tolerance", "a positive number"),
            check_number(rotation_tolerance, "rotation_tolerance", "a positive number"),
        )
        self._mode = "follow" if truth(follow, "follow") else "analytic" if seeds == "analytic" else "search"
        if seeds == "analytic" and goals != (Goal(goals[0].frame),):
            raise InputError("seeds: expected 'analytic' with one frame and all axes of its pose in the world alone")
        self._seeds = MAX_SEEDS if seeds is None or seeds == "analytic" else check_whole(seeds, "seeds")
        if self._mode == "follow" and seeds is not None:
            raise InputError(f"seeds: expected None with follow=True, which tries none, got {seeds!r}")
        self._postures = () if posture is None else (robot.check(posture, limits=False).astype(robot.dtype),)
        moving = np.ones(tree.nv)
        if choice(base, "base", ("free", "fixed")) == "fixed":
            for joint in tree.bases:
                moving[joint.v] = 0.0
        none = np.full(tree.nq, np.inf)
        lower, upper = (tree.lower, tree.upper) if truth(limits, "limits") else (-none, none)
        lower, upper = -_round_inward(-lower, robot.dtype), _round_inward(upper, robot.dtype)
        self._problem = iterations.Reaching(tree, goals, lower, upper, moving)
        self._first = middle(tree, lower, upper).astype(robot.dtype), self._settings(multi_start.FIRST_ITERATIONS)
        self._kernels: dict[str, Kernel] = {}
        self._tables: dict[int, tuple[NDArray[Any], ...]] = {}

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the frames that have targets."""
        return tuple(each.frame for each in self._problem.goals)

    def __call__(
        self,
        target: Pose | Sequence[Any] | NDArray[Any],
        q0: ArrayLike | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
    ) -> Answer:
        """Solve for one target, or for a batch of any shape.

        Args:
            target: a Pose in the world, or in the reference frame, with the batch shape (...);
                with a list of frames, a list of them. Where no rotation is wanted, as with
                axes="xyz", also positions, (..., 3). A target with NaN fails alone.
            q0: (..., nq) the first guess, clipped to the limits; by default the middle of the
                limits. The solution nearest to it is preferred.
            seed: of the configurations that are tried when the first guess does not lead to the
                goal.
            threads: over which a batch is split.
        """
        if threads is not None:
            thread_count(threads)
        seed = check_whole(seed, "seed")
        refuse_traced("InverseKinematics", q0, *(target if isinstance(target, list | tuple) else [target]))
        if self._mode == "follow" and q0 is None:
            raise InputError("q0: expected the configuration that follow=True continues from, got None")
        plain = q0 is None and not self._listed and self._mode == "search"
        if plain and isinstance(target, Pose) and target.position.ndim == 1:
            return self._one(target, seed, threads)
        targets = self._targets(target)
        guesses = self._first[0] if q0 is None else self._guesses(q0)
        batch = batch_shape("target, q0", *((pose.position, 1) for pose in targets), (guesses, 1))
        arrays = [
            np.broadcast_to(array, batch + core).reshape(-1, *core).astype(self._robot.dtype, copy=False)
            for pose in targets
            for array, core in ((pose.rotation.matrix, (3, 3)), (pose.position, (3,)))
        ]
        starts = np.broadcast_to(guesses, (*batch, self._robot.nq)).reshape(-1, self._robot.nq)
        if self._mode == "analytic":
            starts = self._branches(starts, *arrays)
        attempts = self._attempts(seed, threads)
        run = multi_start.follow if self._mode == "follow" else partial(multi_start.search, near=q0 is not None)
        chunks = (slice(at, at + CHUNK) for at in range(0, max(len(starts), 1), CHUNK))
        parts = [run(attempts, starts[chunk], [x[chunk] for x in arrays]) for chunk in chunks]
        state = parts[0] if len(parts) == 1 else multi_start.State(*map(np.concatenate, zip(*parts, strict=True)))
        return self._answer(state, batch)

    def _one(self, target: Pose, seed: int, threads: int | None) -> Answer:
        """The answer for one target without a first guess: the arithmetic is that of a batch, with less around it."""
        R, p = target.rotation.matrix, target.position
        q, positions, rotations, rounds = self.kernel("damped_least_squares")(*self._first, R, p, *self._postures)
        if positions[0] <= self._tolerances[0] and rotations[0] <= self._tolerances[1]:
            return Answer(q, TRUE, positions[0], rotations[0], rounds, FALSE)
        targets = [x[None].astype(self._robot.dtype, copy=False) for x in (R, p)]
        attempts, start = self._attempts(seed, threads), self._first[0][None]
        end = multi_start.from_nearest(attempts, start, targets)
        if end is not None:
            return Answer(end.q, TRUE, end.positions[0], end.rotations[0], rounds + end.rounds, TRUE)
        state = multi_start.State(q[None], positions[None], rotations[None], np.array([rounds]), np.zeros(1, bool))
        return self._answer(multi_start.resume(attempts, state, np.zeros(1, np.intp), start, targets, near=False), ())

    def _branches(self, starts: NDArray[Any], R: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
        """(n, nq): for each target the branch nearest to its first guess, or that guess where there is none."""
        nearest = starts.copy()
        limits = bool(np.isfinite(self._problem.lower).any())
        for k in np.flatnonzero(np.isfinite(p).all(axis=-1) & np.isfinite(R).all(axis=(-1, -2))):
            target = Pose._from_arrays(R[k].astype(np.float64), p[k].astype(np.float64))
            branches = analytic_solutions(self._robot, self.frames[0], target, limits=limits)
            if len(branches):
                nearest[k] = branches[np.square(branches - starts[k]).sum(axis=-1).argmin()]
        return np.clip(nearest, self._problem.lower, self._problem.upper).astype(self._robot.dtype, copy=False)

    def _answer(self, state: multi_start.State, batch: tuple[int, ...]) -> Answer:
        positions, rotations = state.positions, state.rotations
        success = multi_start.within_tolerances(self._tolerances, positions, rotations)
        if not self._listed:
            positions, rotations = positions[:, 0], rotations[:, 0]
        parts = (state.q, success, positions, rotations, state.rounds, state.restarted)
        return Answer(*(x.reshape(batch + x.shape[1:])[()] for x in parts))

    # ---- checks ------------------------------------------------------------------------------------------------------

    def _targets(self, target: Any) -> list[Pose]:
        goals = self._problem.goals
        parts = list(target) if self._listed and isinstance(target, tuple | list) else [target]
        if self._listed and len(parts) != len(goals):
            raise InputError(f"target: expected a list of {len(goals)} poses, got {type(target).__name__}")
        return [self._pose_of(each, part) for each, part in zip(goals, parts, strict=True)]

    def _pose_of(self, goal: Goal, target: Any) -> Pose:
        """A target as a pose; positions alone where no rotation is wanted."""
        if isinstance(target, Pose):
            return target
        if goal.turns or isinstance(target, Rotation):
            raise InputError(
                f"target: expected a Pose, got {type(target).__name__}; mb.Pose(rotation, position) or "
                "mb.Pose.from_matrix(H) makes one. Positions (..., 3) alone are targets of a solver with axes='xyz'"
            )
        return Pose(Rotation.identity(), floats(target, "target", 3))

    def _guesses(self, q0: ArrayLike) -> NDArray[Any]:
        guesses = check_configuration.check(self._robot.tree, q0, "q0", limits=False)
        return np.clip(guesses, self._problem.lower, self._problem.upper).astype(self._robot.dtype, copy=False)

    # ---- kernels -----------------------------------------------------------------------------------------------------

    def _attempts(self, seed: int, threads: int | None) -> multi_start.Attempts:
        """The kernels of a search, with the table of seeds of a number."""
        tree, problem = self._robot.tree, self._problem
        if seed not in self._tables:
            table = seeds.table(tree, problem.lower, problem.upper, seed)
            rows = seeds.features(self._problem.goals, [each.pose(tree, table) for each in self._problem.goals])
            drawn = np.ascontiguousarray(rows[: seeds.RANDOM], self._robot.dtype)
            self._tables[seed] = np.ascontiguousarray(table, self._robot.dtype), rows, drawn
        table, rows, drawn = self._tables[seed]
        options = {} if threads is None else {"threads": threads}

        def run(name: str, postures: Any, q: Any, rounds: int, *targets: Any, careful: bool = False) -> Any:
            settings = self._settings(rounds, careful=careful)
            return self.kernel(name)(q, settings, *targets, *postures, **options)

        def reference(starts: Any, *targets: Any) -> Any:
            return self.kernel("reference_step")(starts, *targets, **options)

        def nearest(starts: Any, *targets: Any) -> Any:
            shapes = [drawn.shape, (self._robot.nq,), *[(3, 3), (3,)] * len(self._problem.goals)]
            kernel = self._kernel("nearest", lambda rows, *x: seeds.nearest(rows, self._features(*x)), *shapes)
            return kernel(drawn, starts, *targets, **options).astype(np.intp)

        def order(starts: Any, *targets: Any) -> Any:
            return seeds.order(rows, self._features(starts, *targets), nearest(starts, *targets))

        both = partial(run, "damped_least_squares", self._postures), partial(run, "levenberg_marquardt", ())
        limits = self._tolerances, self._seeds
        return multi_start.Attempts(*both, reference, nearest, order, table, self._with_bases, *limits)

    def _settings(self, rounds: int, *, careful: bool = False) -> NDArray[Any]:
        """(4,): the tolerances, the largest number of iterations, and the least damping."""
        least = iterations.MIN_PATH_DAMPING if careful else iterations.MIN_DAMPING
        return np.array([*self._tolerances, rounds, least], self._robot.dtype)

    def _features(self, starts: NDArray[Any], *arrays: NDArray[Any]) -> NDArray[Any]:
        """The features of targets, relative to the base: seeds have theirs at the origin."""
        goals = self._problem.goals
        targets = [Pose._from_arrays(*arrays[2 * k : 2 * k + 2]) for k in range(len(goals))]
        for base in self._robot.tree.bases[:1]:
            B_H_W = base.pose(starts).inverse()
            targets = [pose if each.reference else B_H_W @ pose for each, pose in zip(goals, targets, strict=True)]
        return seeds.features(goals, targets)

    def _with_bases(self, configurations: NDArray[Any], starts: NDArray[Any]) -> NDArray[Any]:
        """New configurations with the bases of first guesses."""
        for base in self._robot.tree.bases:
            configurations[..., base.q] = starts[..., base.q]
        return configurations

    def kernel(self, name: str) -> Kernel:
        """The kernel of one of KERNELS, of q, settings (4,) except for the reference
        step, and targets.
        """
        if name in self._kernels:
            return self._kernels[name]
        run = KERNELS[name]
        more, count = [] if name == "reference_step" else [(4,)], 2 * len(self._problem.goals)

        def solve(q: Any, *arrays: Any) -> Any:
            settings, poses, rest = arrays[: len(more)], arrays[len(more) :][:count], arrays[len(more) + count :]
            targets = [Pose._from_arrays(*poses[k : k + 2]) for k in range(0, count, 2)]
            return run(self._problem, q, targets, *settings, *rest)

        shapes = [(self._robot.nq,), *more, *[(3, 3), (3,)] * len(self._problem.goals)]
        shapes += [(self._robot.nq,) for _ in self._postures if name == "damped_least_squares"]
        return self._kernel(name, solve, *shapes)

    def _kernel(self, name: str, function: Callable[..., Any], *shapes: Any) -> Kernel:
        if name not in self._kernels:
            problem, tree_digest = self._problem, self._robot.model.tree_digest
            content = (name, self._problem.goals, problem.lower, problem.upper, problem.moving, len(self._postures))
            key = None if tree_digest is None else digest("inverse kinematics", tree_digest, *content)
            names = [f"x{k}" for k in range(len(shapes))]
            self._kernels[name] = compile_kernel(function, *shapes, names=names, dtype=self._robot.dtype, key=key)
        return self._kernels[name]

    def __repr__(self) -> str:
        return f"<InverseKinematics of {self._robot.name!r}: {', '.join(map(repr, self.frames))}>"


MAX_SEEDS = seeds.COUNT - 1


def kept_solver(robot: Robot, frame: str | Sequence[str], options: Mapping[str, Any]) -> InverseKinematics:
    """A solver that is made once for equal robots, frames and options."""
    try:
        frames = frame if isinstance(frame, str | Pose) else tuple(frame)
        return _cached(robot, frames, **dict(sorted(options.items())))
    except TypeError:  # a posture that is an array, or what the solver refuses
        parameters = signature(InverseKinematics).parameters.values()
        names = [parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
        for name in options:
            if name not in names:
                message = f"inverse_kinematics: no option is named {name!r}; there are {', '.join(names)}"
                raise InputError(message) from None
        return InverseKinematics(robot, frame, **options)


_cached = lru_cache(maxsize=64)(InverseKinematics)


def _round_inward(upper: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The largest numbers of a dtype that are not above limits."""
    rounded = upper.astype(dtype)
    return np.where(rounded > upper, np.nextafter(rounded, dtype.type(-np.inf)), rounded).astype(np.float64)
