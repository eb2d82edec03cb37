"""What only the whole tree of a URDF file tells: the order of coordinates, merged links, joints that move no mass."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from multibody.geometry import Pose, SpatialInertia
from multibody.model.joint import Joint
from multibody.model.link import Link
from multibody.model.loaders.xml import Document


@dataclass(frozen=True)
class Outline:
    """The tree, before the model makes its bodies."""

    links: Mapping[str, Link]
    order: Sequence[Joint]
    """The joints from the root outward, depth first, children in the order of the file: the model's order."""
    above: Mapping[str, Joint]
    """The joint above each link but the root."""
    below: Mapping[str, Sequence[Joint]]

    def body_inertia(self, link: str) -> SpatialInertia:
        """The inertia of all links that are fixed to a link, which has some, in the frame of one of them."""
        while link in self.above and self.above[link].kind.nv == 0:
            parent = self.above[link].parent
            assert parent is not None
            link = parent
        waiting, parts = [(link, Pose.identity())], []
        while waiting:
            name, pose = waiting.pop()
            inertia = self.links[name].inertia
            if inertia is not None:
                parts.append(pose @ inertia)
            waiting += [(j.child, pose @ j.placement) for j in self.below.get(name, ()) if j.kind.nv == 0]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total


def outline(links: Sequence[Link], joints: Sequence[Joint]) -> Outline | None:
    """The tree; None when links and joints do not make one, for then the model tells why."""
    above: dict[str, Joint] = {}
    below: dict[str, list[Joint]] = defaultdict(list)
    for joint in joints:
        if joint.parent is None or joint.child in above:
            return None
        above[joint.child] = joint
        below[joint.parent].append(joint)
    names = {link.name: link for link in links}
    roots = [name for name in names if name not in above]
    if len(roots) != 1:
        return None
    order: list[Joint] = []
    waiting = below[roots[0]][::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(below.get(joint.child, ())))
    complete = len(order) == len(joints) and names.keys() >= above.keys()
    return Outline(names, order, above, below) if complete else None


def note_tree(document: Document, tree: Outline, joints: Sequence[Joint]) -> None:
    """Note merged links and reordered joints, warn of joints that move nothing with mass."""
    has_inertia = {name: link.inertia is not None for name, link in tree.links.items()}
    for joint in tree.order:
        if joint.kind.nv == 0:
            what = "is a part of its body" if has_inertia[joint.child] else "has no mass and is a frame of its body"
            document.note(
                document.places["link", joint.child],
                "merged",
                f"the link is fixed to {joint.parent!r} by the joint {joint.name!r}: it {what}",
            )
    for joint in reversed(tree.order):
        if joint.kind.nv and joint.mimic is None and not has_inertia[joint.child]:
            document.warn(
                document.places["joint", joint.name],
                "inertia",
                f"nothing that the joint moves has inertia, for the link {joint.child!r} has none: forward dynamics "
                "will have no answer",
            )
        has_inertia[joint.parent or ""] |= has_inertia[joint.child]
    ours = [joint.name for joint in tree.order if joint.kind.nv]
    files = [joint.name for joint in joints if joint.kind.nv]
    if ours != files:
        at = next(k for k, (a, b) in enumerate(zip(ours, files, strict=True)) if a != b)
        document.note(
            document.places["joint", files[at]],
            "reordered",
            f"coordinates follow the tree and not the file, in which {files[at]!r} comes before {ours[at]!r}",
        )
