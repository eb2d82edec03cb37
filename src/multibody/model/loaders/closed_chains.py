"""Closed chains in robot files: the joints that make the tree, and constraints for the joints that close loops."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from multibody.geometry import Pose
from multibody.model.actuator import Equality
from multibody.model.joint import Joint
from multibody.model.joints import Continuous, Fixed, Revolute, Spherical
from multibody.model.joints._axes import shortest_turn_of_z
from multibody.model.link import Link
from multibody.model.loaders.xml import Document, Element

PREFERENCE = (Spherical, Fixed, Continuous, Revolute)
"""The kinds of joints that a constraint can replace, first those that are cut first."""
CLASSES = {"connect": "PointClosure", "weld": "Weld", "hinge": "HingeClosure"}
"""The classes of `mb.constraints` for the kinds of equalities."""


@dataclass(frozen=True)
class FileJoint:
    """A joint of a file, as the joints of the tree that it stands for, from the parent outward."""

    element: Element
    joints: tuple[Joint, ...]
    """One, or the joint and a fixed one to the child."""

    @property
    def joint(self) -> Joint:
        """The joint itself, without the fixed one to its child."""
        return self.joints[0]

    @property
    def parent(self) -> str | None:
        """The parent link; None is the world."""
        return self.joint.parent

    @property
    def child(self) -> str:
        """The child link."""
        return self.joints[-1].child


def cut_loops(
    document: Document, links: Sequence[Link], joints: Sequence[FileJoint], base: str
) -> tuple[list[FileJoint], list[FileJoint]]:
    """The joints of a tree, and those that close its loops, each in the order of the file.

    A link with several parents keeps one: that whose joint has no constraint in its place, a spring, or the most to
    say. `base` is the root where every link has a parent.

    Raises:
        RobotFileError: when a joint that has to be cut is of a kind without a constraint.
    """
    parents = Counter(each.child for each in joints)
    roots = [link.name for link in links if link.name not in parents]
    has_start = roots or any(each.parent is None for each in joints)
    if has_start and max(parents.values(), default=0) < 2:
        return list(joints), []
    coupled = {each.joint.mimic.joint for each in joints if each.joint.mimic is not None}
    roots = roots if has_start else [base]

    def value(each: FileJoint) -> tuple[bool, ...]:
        joint = each.joint
        kept = joint.mimic is not None or joint.name in coupled or not isinstance(joint.kind, PREFERENCE)
        rank = [isinstance(joint.kind, kind) for kind in reversed(PREFERENCE)]
        # a free model that the world holds, too, keeps its free base
        return (parents[each.child] == 1, not (roots and each.parent is None), kept, joint.passive.stiffness > 0, *rank)

    reached: set[str | None] = {None, *roots}
    tree: list[FileJoint] = []
    while frontier := [each for each in joints if each.parent in reached and each.child not in reached]:
        tree.append(max(frontier, key=value))
        reached.add(tree[-1].child)
    loops = [each for each in joints if each.child in reached and each.parent in reached and each not in tree]
    for each in loops:
        note_closure(document, each)
    return [each for each in joints if each not in loops], loops


def note_closure(document: Document, each: FileJoint) -> None:
    """Note the constraint in place of a joint; warn of what it leaves out."""
    joint, kind = each.joint, each.joint.kind.name
    if not isinstance(joint.kind, PREFERENCE) or joint.mimic is not None:
        raise document.error(
            each.element,
            f"the joint closes a loop at the link {each.child!r}, and no constraint stands for a {kind} joint or one "
            "that mimics another: expected a ball, fixed or revolute joint of the loop to be that of its second parent",
        )
    made = CLASSES[closure(each).kind]
    document.note(
        each.element,
        "closure",
        f"the joint closes a loop at the link {each.child!r}: it is the constraint mb.constraints.{made} in "
        "robot.closures, which robot.constrained_dynamics(robot.closures, q, v, tau) holds",
    )
    passive = joint.passive
    left = {"a spring": passive.stiffness, "damping": passive.damping, "friction": passive.friction}
    left["limits"] = float(np.isfinite((joint.limits.lower, joint.limits.upper)).any())
    names = [name for name, number in left.items() if number]
    if names:
        document.warn(
            each.element,
            "dropped",
            f"the joint closes a loop and has no coordinate: {' and '.join(names)} are left out",
        )


def closure(each: FileJoint) -> Equality:
    """The constraint of a joint that closes a loop.

    Frames: p the parent link, i the child link, j the joint on both.
    """
    joint = each.joint
    i_H_j = Pose.identity() if len(each.joints) == 1 else each.joints[1].placement.inverse()
    kind, data = "hinge", []
    match joint.kind:
        case Spherical():
            data = [*i_H_j.position, *joint.placement.position]
            kind = "connect"
        case Fixed():
            # the pose of the parent in the child, after the anchor: as MuJoCo keeps it
            data = [0.0, 0.0, 0.0, *_numbers((joint.placement @ i_H_j.inverse()).inverse())]
            kind = "weld"
        case Revolute() | Continuous() as hinge:
            j_H_z = Pose(shortest_turn_of_z(np.array(hinge.axis)), np.zeros(3))
            data = [*_numbers(i_H_j @ j_H_z), *_numbers(joint.placement @ j_H_z)]
    return Equality(kind, each.child, each.parent, tuple(float(x) for x in data), joint.name)


def constraint_text(equality: Equality) -> str:
    """A constraint ready to paste, for those that `closure` makes."""
    data = [f"{x + 0.0:.9g}" for x in equality.data]
    if equality.kind == "connect":
        places = [f"({', '.join(data[k : k + 3])})" for k in (0, 3)]
    else:
        starts = (3, None) if equality.kind == "weld" else (0, 7)
        places = ["mb.Pose.identity()" if k is None else _pose_text(data[k : k + 7]) for k in starts]
    names = ", ".join(map(repr, (equality.name, equality.first, equality.second)))
    return f"mb.constraints.{CLASSES[equality.kind]}({names}, {', '.join(places)})"


def _pose_text(data: Sequence[str]) -> str:
    return f"mb.Pose(mb.Rotation.from_quaternion([{', '.join(data[3:])}]), [{', '.join(data[:3])}])"


def _numbers(pose: Pose) -> list[float]:
    """Position and quaternion w, x, y, z."""
    return [*pose.position.tolist(), *pose.rotation.quaternion.tolist()]
