"""Inverse kinematics in closed form, of six joints with a spherical wrist.  [RD §2.9.3]

At the point where the axes of the wrist meet, its three joints move nothing: where that point is, is the business of
the other three joints alone. Then the wrist makes what is missing of the rotation.
"""

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import check_pose, check_robot, refuse_traced
from multibody.control.inverse_kinematics.analytic.screws import Chain, Matrix, Vector, chain, inverse, transform
from multibody.control.inverse_kinematics.analytic.spherical_wrist import add, angles, positions, wrist
from multibody.control.pose_error import pose_error
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import matvec, truth
from multibody.model.check_configuration import LIMIT_TOLERANCE
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.robot import Robot

STEPS, ACCEPTED = 4, 1e-10
"""Steps of Newton after the closed form, for axes that meet but nearly; how far off a solution may be, in m and rad."""


def analytic_solutions(robot: Robot, frame: str, target: Pose, *, limits: bool = False) -> NDArray[Any]:
    """All configurations that bring a frame to a pose, (branches, nq): up to
    eight, for arms as they are built.

    The frame is moved by six joints, hinges or slides, of which three neighbours are hinges
    whose axes meet: at the end, as wrists are, or anywhere else. The other three are any: a
    polynomial of degree four gives their coordinates (Pieper). Where infinitely many
    configurations do, as when two axes of the wrist align, some of them stand for all.

    Args:
        robot: joints that do not move the frame are at home.
        frame: one of its frames.
        target: one pose, finite.
        limits: keep those within the limits of the joints, where hinges may be whole turns
            away; otherwise angles are in (-π, π] and limits do not matter.

    Returns:
        (branches, nq); (0, nq) when the target is out of reach.

    Raises:
        InputError: when the arm has no such wrist, or the target is not a finite pose.

    >>> import multibody as mb
    >>> robot = mb.load("puma-560")
    >>> target = robot.pose("tool", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> branches = analytic_solutions(robot, "tool", target)
    >>> branches.shape
    (8, 6)
    >>> bool(abs(robot.pose("tool", branches).matrix - target.matrix).max() < 1e-9)
    True
    """
    check_robot(robot, frame)
    refuse_traced("analytic_solutions", target)
    check_pose(target, finite=True)
    truth(limits, "limits")
    if target.shape:
        raise InputError(f"target: expected one pose, got a batch of shape {target.shape}")
    links = _links(robot.model, frame)
    if len(links.joints) != 6:
        raise InputError(
            f"{robot.name}: {len(links.joints)} joints move {frame!r}; there is an analytic solution for six, three of "
            "which are a spherical wrist"
        )
    home, places = robot.home().astype(np.float64), [joint.q.start for joint in links.joints]
    turns = [screw.turns for screw in links.screws]
    solutions: list[Vector] = []
    for q in _polish(robot, frame, target, home, links.joints, _candidates(robot.name, frame, links, target.matrix)):
        add(solutions, q, turns)
    if limits:
        lower, upper = robot.tree.lower[places], robot.tree.upper[places]
        solutions = [copy for q in solutions for copy in _copies(q, lower, upper, turns)]
    branches = np.tile(home, (len(solutions), 1))
    if solutions:
        branches[:, places] = solutions
    return branches.astype(robot.dtype)


@lru_cache(maxsize=64)
def _links(model: Model, frame: str) -> Chain:
    return chain(model.tree, frame)


def _candidates(name: str, frame: str, links: Chain, target: Matrix) -> list[Vector]:
    """Coordinates of the six joints, from the closed form."""
    place = wrist(links.screws)
    if place is None:
        raise InputError(
            f"{name}: {frame!r} has no spherical wrist: no three neighbouring hinges on the way to it have axes that "
            "meet in one point; control.iterate and control.InverseKinematics do without"
        )
    k, point = place
    before, three, after = links.screws[:k], links.screws[k : k + 3], links.screws[k + 3 :]
    # E_before X E_after = G, and X, that of the wrist, leaves its point alone: E_before^-1 G E_after^-1 point = point
    G = target @ inverse(links.rest)
    others = [*(s.reversed() for s in before[::-1]), *(s.seen_from(G).reversed() for s in after[::-1])]
    candidates = []
    for q in positions(others, transform(G, point), point):
        rest = {**dict(zip(reversed(range(k)), q, strict=False)), **dict(zip((5, 4, 3)[: 3 - k], q[k:], strict=True))}
        X = G
        for i in range(k):
            X = inverse(links.screws[i].matrix(rest[i])) @ X
        for i in range(5, k + 2, -1):
            X = X @ inverse(links.screws[i].matrix(rest[i]))
        for t in angles(three, X[:3, :3]):
            rest |= {k: t[0], k + 1: t[1], k + 2: t[2]}
            candidates.append(np.array([rest[i] for i in range(6)]))
    return candidates


def _polish(
    robot: Robot, frame: str, target: Pose, home: Vector, joints: tuple[Joint, ...], candidates: list[Vector]
) -> list[Vector]:
    """Candidates after a few steps of Newton, without those that miss; singular directions are left alone."""
    if not candidates:
        return []
    robot = robot if robot.dtype == np.float64 else robot.astype("float64")
    q, places, columns = np.tile(home, (len(candidates), 1)), [j.q.start for j in joints], [j.v.start for j in joints]
    q[:, places] = candidates
    best, least = q, np.full(len(q), np.inf)
    for _ in range(STEPS):
        e = pose_error(target, robot.pose(frame, q))
        off = np.linalg.norm(e, axis=-1)
        best, least = np.where((off < least)[:, None], q, best), np.minimum(off, least)
        J = robot.jacobian(frame, q)[..., columns]
        q = q.copy()
        q[:, places] += matvec(np.linalg.pinv(J, rcond=1e-7), e)
    return list(best[least < ACCEPTED * (1 + np.linalg.norm(target.position))][:, places])


def _copies(q: Vector, lower: Vector, upper: Vector, turns: list[bool]) -> list[Vector]:
    """q with hinges turned by whole turns, in all ways that are within limits."""
    options = []
    for x, low, high, turning in zip(q, lower, upper, turns, strict=True):
        near = [x]
        if turning and np.isfinite([low, high]).all():
            first, last = (low - LIMIT_TOLERANCE - x) / (2 * np.pi), (high + LIMIT_TOLERANCE - x) / (2 * np.pi)
            near = [x + 2 * np.pi * turn for turn in np.arange(np.ceil(first), np.floor(last) + 1)]
        options.append([np.clip(x, low, high) for x in near if low - LIMIT_TOLERANCE <= x <= high + LIMIT_TOLERANCE])
    return [np.array(choice) for choice in product(*options)]
