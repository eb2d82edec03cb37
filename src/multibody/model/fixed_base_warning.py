"""The warning about a fixed base that should probably float, and the mass fixed to the world."""

import numpy as np

from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.diagnostics import Diagnostic
from multibody.model.joints import Continuous, Revolute
from multibody.model.model import Model
from multibody.model.tree import Body, Tree

MIN_LEG_JOINTS = 2
"""Joints of a leg: at least a hip and a knee."""
MIN_ROTORS = 3
"""Propellers of a flying robot; with fewer, a turning shaft is as likely a wheel or a fan."""
UNLIMITED_ANGLE = 1e3
"""Limits beyond this angle, in rad, mean none: files write 1e16."""
MAX_HIP_HEIGHT = 0.15
"""Maximum height of a hip above the base's origin, relative to the leg's reach; shoulders of arms are higher."""
MIN_DESCENT = 0.5
"""Minimum descent of a leg in the neutral configuration, relative to its reach."""


def fixed_mass(model: Model) -> float:
    """Return the mass of all links fixed to the world, in kg; it does not affect the dynamics.

    >>> from multibody.model.builder import Builder
    >>> from multibody.model.shapes import Sphere
    >>> fixed_mass(Builder("stone").body("stone", shape=Sphere(0.1), mass=2.0).model())
    2.0
    """
    return float(sum((mass for _, mass in _fixed_links(model)), 0.0))


def fixed_base(model: Model, file: str | None = None, *, meant: bool = False) -> Diagnostic | None:
    """Return a diagnostic about mass that is fixed to the world; None if there is none.

    A note for manipulators and machines; a warning for a robot that looks as if it walks or flies:

    - nothing moves at all;
    - two or more chains of two or more joints hang from the base, equally many joints each, each beginning about as
      high as the base's origin or lower, and reaching down: legs. What is bolted to the floor has its origin there,
      arms begin at shoulders, and fingers of a hand point up or forward;
    - three or more propellers are all that moves: unlimited hinges on the base whose axes are vertical.

    Args:
        model: of the robot.
        file: where it was read from.
        meant: whether the caller stated that the base is fixed; then it is always a note.
    """
    mass = fixed_mass(model)
    if not mass > 0:
        return None
    names = [name for name, _ in _fixed_links(model)]
    listed = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
    message = (
        f"{mass:.4g} kg are fixed to the world and take no part in the dynamics ({listed}), "
        f"{model.tree.mass:.4g} kg move"
    )
    looks = None if meant else _looks(model.tree)
    if looks is None:
        return Diagnostic("note", "fixed", f"{message}; floating=True lets the base move", file)
    return Diagnostic(
        "warning", "fixed", f"{message}, but {looks}: load it with floating=True, or say floating=False", file
    )


def _fixed_links(model: Model) -> list[tuple[str, float]]:
    """The names and masses of the links with mass that are fixed to the world."""
    heavy = ((link.name, float(link.inertia.mass)) for link in model.links if link.inertia is not None)
    return [(name, mass) for name, mass in heavy if mass and model.tree.frame(name)[0] == 0]


def _looks(tree: Tree) -> str | None:
    """The reason why a fixed base should probably float; None if there is none."""
    if not tree.bodies:
        return "nothing moves: the robot has no joint"
    branches = [tree.subtree(k) for k in tree.children(0)]
    firsts = [tree.bodies[branch[0] - 1] for branch in branches]
    if len(branches) >= MIN_ROTORS and len(tree.bodies) == len(branches) and all(map(_is_rotor, firsts)):
        return f"it seems to fly: all that moves is {len(branches)} propellers"
    if len(branches) < 2:
        return None
    W_H = _poses(tree)
    counts = [len(branch) for branch in branches if _is_leg(tree, branch, W_H)]
    alike = max((counts.count(n) for n in counts), default=0)
    if alike < 2:
        return None
    return f"it seems to walk: {alike} chains of joints hang down from the base like legs"


def _is_rotor(body: Body) -> bool:
    """Whether a body turns without limits about an axis that is vertical."""
    kind = body.joint.kind
    if not isinstance(kind, Continuous | Revolute) or np.min(np.abs(body.joint.limits.upper)) < UNLIMITED_ANGLE:
        return False
    axis = body.joint.placement.rotation.matrix @ np.asarray(kind.axis)
    return bool(abs(axis[2]) > 0.9 * np.linalg.norm(axis))


def _is_leg(tree: Tree, branch: tuple[int, ...], W_H: list[Pose]) -> bool:
    """Whether a branch of bodies on the world begins about as high as the origin, and reaches down."""
    if len(branch) < MIN_LEG_JOINTS:
        return False
    hip = W_H[branch[0]].position
    inside = set(branch)
    ends = [W_H[i].position for i in branch] + [W_H[i] @ i_H.position for i, i_H in tree.frame_poses if i in inside]
    foot = min(ends, key=lambda p: p[2])
    reach = float(np.linalg.norm(foot - hip))
    return reach > 0 and hip[2] <= MAX_HIP_HEIGHT * reach and hip[2] - foot[2] >= MIN_DESCENT * reach


def _poses(tree: Tree) -> list[Pose]:
    """W_H_i of all bodies in the neutral configuration; the world first."""
    q, W_H = configuration.neutral(tree), [Pose.identity()]
    for _, p, body in tree.outward():
        W_H.append(W_H[p] @ body.joint.pose(q))
    return W_H
