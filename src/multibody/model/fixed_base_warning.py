"""The part of a robot that is fixed to the world: its mass, and whether it was meant to be fixed there."""

import numpy as np

from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.diagnostics import Diagnostic
from multibody.model.joints import Continuous, Revolute
from multibody.model.model import Model
from multibody.model.tree import Body, Tree

LEG_JOINTS = 2
"""Joints that a leg has at least: a hip and a knee."""
ROTORS = 3
"""Propellers that carry a robot at least; with fewer, a shaft that turns is as likely a wheel or a fan."""
MANY_TURNS = 1e3
"""An angle, in rad, that nobody means as a limit: files write 1e16 for none."""
HIP_WITHIN = 0.15
"""How far above the origin of the base a leg may begin, relative to its reach: arms begin at shoulders, further up."""
DOWNWARD = 0.5
"""The share of its reach that a leg goes down, at least, in the neutral configuration."""


def fixed_mass(model: Model) -> float:
    """The mass of all links that are fixed to the world, in kg: it takes no part in the dynamics.

    >>> from multibody.model.builder import Builder
    >>> from multibody.model.shapes import Sphere
    >>> fixed_mass(Builder("stone").body("stone", shape=Sphere(0.1), mass=2.0).model())
    2.0
    """
    return float(sum((mass for _, mass in _fixed_links(model)), 0.0))


def fixed_base(model: Model, file: str | None = None, *, meant: bool = False) -> Diagnostic | None:
    """What to say of the mass that is fixed to the world: None where there is none.

    A note for what stands on a table or on the floor; a warning for a robot that looks as if it walks or flies:

    - nothing moves at all;
    - two or more chains of two or more joints hang from the base, equally many joints each, each beginning about as
      high as the base's origin or lower, and reaching down: legs. What is bolted to the floor has its origin there,
      arms begin at shoulders, and fingers of a hand point up or forward;
    - three or more propellers are all that moves: unlimited hinges on the base whose axes are vertical.

    Args:
        model: of the robot.
        file: where it was read from.
        meant: whether somebody said that the base is fixed: then it is a note in any case.
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
    """What makes a robot on a fixed base look as if its base should float; None for nothing."""
    if not tree.bodies:
        return "nothing moves: the robot has no joint"
    branches = [tree.subtree(k) for k in tree.children(0)]
    firsts = [tree.bodies[branch[0] - 1] for branch in branches]
    if len(branches) >= ROTORS and len(tree.bodies) == len(branches) and all(map(_is_rotor, firsts)):
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
    if not isinstance(kind, Continuous | Revolute) or np.min(np.abs(body.joint.limits.upper)) < MANY_TURNS:
        return False
    axis = body.joint.placement.rotation.matrix @ np.asarray(kind.axis)
    return bool(abs(axis[2]) > 0.9 * np.linalg.norm(axis))


def _is_leg(tree: Tree, branch: tuple[int, ...], W_H: list[Pose]) -> bool:
    """Whether a branch of bodies on the world begins about as high as the origin, and reaches down."""
    if len(branch) < LEG_JOINTS:
        return False
    hip = W_H[branch[0]].position
    inside = set(branch)
    ends = [W_H[i].position for i in branch] + [W_H[i] @ i_H.position for i, i_H in tree.frame_poses if i in inside]
    foot = min(ends, key=lambda p: p[2])
    reach = float(np.linalg.norm(foot - hip))
    return reach > 0 and hip[2] <= HIP_WITHIN * reach and hip[2] - foot[2] >= DOWNWARD * reach


def _poses(tree: Tree) -> list[Pose]:
    """W_H_i of all bodies in the neutral configuration; the world first."""
    q, W_H = configuration.neutral(tree), [Pose.identity()]
    for _, p, body in tree.outward():
        W_H.append(W_H[p] @ body.joint.pose(q))
    return W_H
