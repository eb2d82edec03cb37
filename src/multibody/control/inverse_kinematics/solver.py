"""InverseKinematics: configurations in which frames have wanted poses.  [RD §2.9.3, Alg. 1]"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.control.inverse_kinematics import descent
from multibody.control.inverse_kinematics import seeds as seed_table
from multibody.control.inverse_kinematics.answer import Answer
from multibody.control.inverse_kinematics.goals import Goal, goal
from multibody.control.inverse_kinematics.search import Attempts, search
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import choice, first, floats, truth
from multibody.model import configuration
from multibody.model.digest import digest
from multibody.robot import Robot

CHUNK = 4096
"""Targets that are searched together: a signal is heard in between, and memory does not grow with the batch."""


@final
class InverseKinematics:
    """A solver for the configurations in which a frame, or several, have wanted poses.

    Damped least squares from a first guess within the limits of the joints, then from the nearest of many
    configurations, then with ever more of them. A target's answer depends on nothing but the target, its first guess and
    the seed: not on the batch that it is in, nor on threads.

    Args:
        robot: fixed or floating.
        frame: the name of a frame, or a list of names.
        position_tolerance: in m.
        rotation_tolerance: in rad.
        limits: whether joints stay within their limits.
        axes: what is wanted of the pose: "xyzrpy", all of it; letters of "xyz" for positions, "rpy" for the rotation,
            and "x-axis", "y-axis" or "z-axis" for the direction of one axis of the frame alone, as in "xyz z-axis".
        reference: a frame of the robot in which the targets are written; the world by default.
        posture: (nq,), a configuration to be near to as far as the goals allow.
        base: whether a floating base is "free" to move, or "fixed" where the first guess has it.
        seeds: how many configurations are tried at most after the first guess.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> ik = InverseKinematics(robot, "tool")
    >>> target = robot.pose("tool", robot.home())
    >>> answer = ik(target)
    >>> bool(answer.success), answer.q.shape
    (True, (7,))
    """

    __slots__ = ("_goals", "_kernels", "_listed", "_posture", "_problem", "_tables", "base", "robot", "seeds", "tolerances")

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
        seeds: int | None = None,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"InverseKinematics: expected a Robot, got {type(robot).__name__}")
        tree = robot.tree
        self.robot = robot
        self._listed = not isinstance(frame, str)
        self._goals = _goals(robot, frame, axes, reference)
        self.tolerances = np.array(
            [_positive(position_tolerance, "position_tolerance"), _positive(rotation_tolerance, "rotation_tolerance")]
        )
        self.base = choice(base, "base", ("free", "fixed"))
        self.seeds = seed_table.COUNT - 1 if seeds is None else _whole(seeds, "seeds", 0)
        moving = np.ones(tree.nv)
        if base == "fixed":
            for joint in tree.bases:
                moving[joint.v] = 0.0
        bounded = truth(limits, "limits")
        lower, upper = (_inward(limit, robot.dtype, side) if bounded else np.full(tree.nq, side * np.inf)
                        for limit, side in ((tree.lower, -1), (tree.upper, 1)))  # fmt: skip
        self._posture = None if posture is None else robot.check(posture, limits=False).astype(robot.dtype)
        self._problem = descent.Problem(tree, self._goals, lower, upper, moving)
        self._kernels: dict[str, Kernel] = {}
        self._tables: dict[int, Any] = {}

    def __call__(
        self,
        target: Pose | Sequence[Pose],
        q0: ArrayLike | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
    ) -> Answer:
        """Solve for one target, or for a batch of any shape.

        Args:
            target: a Pose in the world, or in the reference frame, with the batch shape (...); with a list of frames,
                a list of them. A target with NaN fails alone.
            q0: (..., nq) the first guess, clipped to the limits; by default the middle of the limits. The solution
                nearest to it is preferred.
            seed: of the configurations that are tried when the first guess does not lead to the goal.
            threads: over which a batch is split.

        Returns:
            The `Answer`.
        """
        targets = self._targets(target)
        guesses = None if q0 is None else self._guesses(q0)
        shapes = [pose.position.shape[:-1] for pose in targets] + ([] if guesses is None else [guesses.shape[:-1]])
        try:
            batch = np.broadcast_shapes(*shapes)
        except ValueError:
            raise InputError(f"target, q0: the batch shapes {', '.join(map(str, shapes))} do not broadcast") from None
        dtype = self.robot.dtype
        arrays = []
        for pose in targets:
            for array, core in ((pose.rotation.matrix, (3, 3)), (pose.position, (3,))):
                arrays.append(np.broadcast_to(array, batch + core).reshape(-1, *core).astype(dtype, copy=False))
        count = len(arrays[0])
        starts = np.broadcast_to(self.middle() if guesses is None else guesses, (*batch, self.robot.nq))
        starts = starts.reshape(count, self.robot.nq)
        attempts = self._attempts(seed, threads)
        parts = [
            search(attempts, starts[at : at + CHUNK], [x[at : at + CHUNK] for x in arrays], near=guesses is not None)
            for at in range(0, max(count, 1), CHUNK)
        ]
        q, positions, rotations, rounds, restarted = (
            x[0] if len(x) == 1 else np.concatenate(x) for x in zip(*parts, strict=True)
        )
        with np.errstate(invalid="ignore"):
            success = ((positions <= self.tolerances[0]) & (rotations <= self.tolerances[1])).all(axis=-1)
        if not self._listed:
            positions, rotations = positions[:, 0], rotations[:, 0]
        shaped = (x.reshape(batch + x.shape[1:])[()] for x in (q, success, positions, rotations, rounds, restarted))
        return Answer(*shaped)

    def middle(self) -> NDArray[Any]:
        """(nq,): the first guess without another: the middle of the limits, zero for joints that have none."""
        lower, upper = self._problem.lower, self._problem.upper
        finite = np.isfinite(lower) & np.isfinite(upper)
        neutral = np.clip(configuration.neutral(self.robot.tree), lower, upper)
        return np.where(finite, 0.5 * (np.where(finite, lower, 0) + np.where(finite, upper, 0)), neutral).astype(
            self.robot.dtype
        )

    # ---- checks ------------------------------------------------------------------------------------------------------

    def _targets(self, target: Any) -> list[Pose]:
        poses = list(target) if self._listed and isinstance(target, tuple | list) else [target]
        expected = f"a list of {len(self._goals)} poses" if self._listed else "a Pose"
        if len(poses) != len(self._goals) or not all(isinstance(pose, Pose) for pose in poses):
            raise InputError(f"target: expected {expected}, got {target!r:.80}; mb.Pose(rotation, position) makes one")
        return poses

    def _guesses(self, q0: ArrayLike) -> NDArray[Any]:
        guesses = configuration.coordinates(self.robot.tree, q0, "q0")
        bad = ~np.isfinite(guesses)
        if bad.any():
            *_, k = first(bad)
            raise InputError(f"q0: expected finite numbers, got {guesses[bad][0]} {configuration.coordinate(self.robot.tree, k)}")
        configuration.check_units(self.robot.tree, guesses, "q0")
        return np.clip(guesses, self._problem.lower, self._problem.upper).astype(self.robot.dtype, copy=False)

    # ---- kernels -----------------------------------------------------------------------------------------------------

    def _attempts(self, seed: int, threads: int | None) -> Attempts:
        """What a search calls, with the seeds that the number draws."""
        if seed not in self._tables:
            tree, problem = self.robot.tree, self._problem
            table = seed_table.table(tree, problem.lower, problem.upper, _whole(seed, "seed", 0))
            rows = seed_table.features(self._goals, [g.pose(tree, table) for g in self._goals])
            self._tables[seed] = np.ascontiguousarray(table, self.robot.dtype), rows
        table, rows = self._tables[seed]
        extra = () if self._posture is None else (self._posture,)

        def descend(q: Any, rounds: int, *targets: Any) -> Any:
            return self.kernel("descend")(q, self.tolerances, float(rounds), *targets, *extra, threads=threads)

        def creep(q: Any, rounds: int, *targets: Any) -> Any:
            return self.kernel("creep")(q, self.tolerances, float(rounds), *targets, threads=threads)

        def nearest(features: Any) -> Any:
            return self._kernel(f"nearest {seed}", lambda x: seed_table.nearest(rows, x), (rows.shape[1],))(features)

        return Attempts(
            descend, creep, nearest, self._features, rows, table, self._based, self.tolerances, self.seeds
        )

    def _features(self, starts: NDArray[Any], *arrays: NDArray[Any]) -> NDArray[Any]:
        """What tells how far seeds are from targets; seeds have their base at the origin."""
        targets = [Pose._from_arrays(*arrays[2 * k : 2 * k + 2]) for k in range(len(self._goals))]
        for base in self.robot.tree.bases[:1]:
            W_H_B = base.pose(starts)
            targets = [
                pose if g.reference else W_H_B.inverse() @ pose for g, pose in zip(self._goals, targets, strict=True)
            ]
        return seed_table.features(self._goals, targets)

    def _based(self, configurations: NDArray[Any], starts: NDArray[Any]) -> NDArray[Any]:
        """Configurations with the bases of first guesses."""
        for base in self.robot.tree.bases:
            configurations[..., base.q] = starts[..., base.q]
        return configurations

    def kernel(self, name: str) -> Kernel:
        """The kernel of "descend" or "creep": of q, the tolerances, the largest number of rounds, and the targets."""
        if name in self._kernels:
            return self._kernels[name]
        run = {"descend": descent.descend, "creep": descent.creep}[name]
        count = len(self._goals)

        def solve(q: Any, tolerances: Any, rounds: Any, *arrays: Any) -> Any:
            targets = [Pose._from_arrays(*arrays[2 * k : 2 * k + 2]) for k in range(count)]
            return run(self._problem, q, targets, tolerances, rounds, *arrays[2 * count :])

        shapes = [(self.robot.nq,), (2,), (), *[(3, 3), (3,)] * count]
        if name == "descend" and self._posture is not None:
            shapes.append((self.robot.nq,))
        return self._kernel(name, solve, *shapes)

    def _kernel(self, name: str, function: Callable[..., Any], *shapes: Any) -> Kernel:
        if name not in self._kernels:
            problem, tree_digest = self._problem, self.robot.model.tree_digest
            content = (name, self._goals, problem.lower, problem.upper, problem.moving, self._posture is not None)
            key = None if tree_digest is None else digest("inverse kinematics", tree_digest, *content)
            names = [f"x{k}" for k in range(len(shapes))]
            self._kernels[name] = compile_kernel(function, *shapes, names=names, dtype=self.robot.dtype, key=key)
        return self._kernels[name]

    def __repr__(self) -> str:
        frames = ", ".join(repr(g.frame) for g in self._goals)
        return f"<InverseKinematics of {self.robot.name!r}: {frames}>"


@lru_cache(maxsize=64)
def kept_solver(robot: Robot, frame: str | tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> InverseKinematics:
    """A solver that is made once for equal robots, frames and options."""
    return InverseKinematics(robot, frame, **dict(options))


def _goals(robot: Robot, frame: Any, axes: Any, reference: Any) -> tuple[Goal, ...]:
    frames = (frame,) if isinstance(frame, str) else tuple(frame) if isinstance(frame, tuple | list) else ()
    if not frames:
        raise InputError(f"frame: expected the name of a frame or a list of names, got {frame!r}")
    words = (axes,) * len(frames) if isinstance(axes, str) else tuple(axes)
    if len(words) != len(frames):
        raise InputError(f"axes: expected a text, or one for each of {len(frames)} frames, got {axes!r}")
    return tuple(goal(robot.tree, f, a, reference) for f, a in zip(frames, words, strict=True))


def _positive(value: Any, what: str) -> float:
    number = float(floats(value, what, *()))
    if not (number > 0 and np.isfinite(number)):
        raise InputError(f"{what}: expected a positive number, got {value!r}")
    return number


def _whole(value: Any, what: str, least: int) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise InputError(f"{what}: expected a whole number from {least} on, got {value!r}")
    return int(value)


def _inward(limits: NDArray[Any], dtype: np.dtype[Any], side: int) -> NDArray[Any]:
    """Limits as numbers of a dtype that are not beyond them."""
    rounded = limits.astype(dtype)
    beyond = (rounded - limits) * side > 0
    return np.where(beyond, np.nextafter(rounded, dtype.type(-side * np.inf)), rounded).astype(np.float64)
