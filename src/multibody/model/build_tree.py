"""Build the tree of moving bodies from links and joints: order, merged links, coordinates."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model.diagnostics import StructureError
from multibody.model.joint import Joint, Limits
from multibody.model.link import Frame, Link
from multibody.model.mimic import resolve
from multibody.model.tree import Body


@dataclass(frozen=True)
class Structure:
    """Links and joints as moving bodies with coordinates."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    """All joints, with their coordinates, in the order of the tree; fixed ones too."""
    frames: tuple[str, ...]
    frame_poses: tuple[tuple[int, Pose], ...]
    """For every link and frame: its body and the pose i_H_frame in it."""


def assemble(links: Sequence[Link], joints: Sequence[Joint], frames: Sequence[Frame]) -> Structure:
    """The tree of moving bodies: depth first, children in the order in which their joints are given."""
    by_name = _named("link", links)
    _named("joint", joints)
    for joint in joints:
        _check_joint(joint)
    root, order = tree_order(by_name, joints)
    placed = _coordinates(order)

    place: dict[str | None, tuple[int, Pose]] = {None: (0, _ORIGIN)}
    parts: list[list[tuple[str, Pose]]] = [[]]
    if root is not None:
        place[root] = (0, _ORIGIN)
        parts[0].append((root, _ORIGIN))
    moved: list[tuple[int, Joint]] = []
    for joint in placed:
        parent, p_H_link = place[joint.parent]
        p_H_j = p_H_link @ joint.placement if p_H_link is not _ORIGIN else joint.placement
        if joint.kind.nv == 0:
            place[joint.child] = (parent, p_H_j)
            parts[parent].append((joint.child, p_H_j))
            continue
        parts.append([(joint.child, _ORIGIN)])
        place[joint.child] = (len(parts) - 1, _ORIGIN)
        moved.append((parent, replace(joint, placement=p_H_j)))
    bodies = tuple(
        Body(k, parent, joint.child, joint, _merged(by_name, parts[k]), tuple(name for name, _ in parts[k]))
        for k, (parent, joint) in enumerate(moved, start=1)
    )
    table = {link.name: place[link.name] for link in links}
    for frame in frames:
        if frame.name in table:
            raise StructureError(f"two links or frames are named {frame.name!r}", "frame", frame.name)
        if frame.link not in place:
            raise StructureError(
                f"frame {frame.name!r} is on the link {frame.link!r}, which does not exist", "frame", frame.name
            )
        index, i_H_link = place[frame.link]
        table[frame.name] = (index, i_H_link @ frame.pose)
    return Structure(bodies, placed, tuple(table), tuple(table.values()))


def body_inertia(links: Sequence[Link], joints: Sequence[Joint], link: str) -> SpatialInertia:
    """The inertia of the body that a link is part of, or of all links fixed to the world, in the frame of the body."""
    structure = assemble(links, joints, ())
    poses = dict(zip(structure.frames, structure.frame_poses, strict=True))
    members = [(name, pose) for name, (index, pose) in poses.items() if index == poses[link][0]]
    return _merged({each.name: each for each in links}, members)


_ORIGIN = Pose.identity()


def _named(kind: str, items: Iterable[Link] | Iterable[Joint]) -> dict[str, Link]:
    table: dict[str, Link] = {}
    for item in items:
        if not item.name:
            raise StructureError(f"a {kind} has an empty name", kind, item.name)
        if item.name in table:
            raise StructureError(f"two {kind}s are named {item.name!r}", kind, item.name)
        table[item.name] = item  # type: ignore[assignment]
    return table


def _check_joint(joint: Joint) -> None:
    """Raise an error for impossible numbers of a joint."""
    at, rest = joint.placement, joint.passive.rest
    if at.shape or not (np.isfinite(at.position).all() and np.isfinite(at.rotation.matrix).all()):
        raise StructureError.at_joint(joint.name, f": expected one placement of finite numbers, got {at}")
    if rest is not None and (len(rest) != joint.kind.nq or not np.isfinite(rest).all()):
        spring = f": expected {joint.kind.nq} finite numbers where its spring is at rest, got {rest}"
        raise StructureError.at_joint(joint.name, spring)


def tree_order(links: dict[str, Link], joints: Sequence[Joint]) -> tuple[str | None, list[Joint]]:
    """The link that is fixed to the world, if any, and the joints from the world outward."""
    if not links:
        raise StructureError("a robot has at least one link, this one has none", "robot", "")
    above: dict[str, Joint] = {}
    below: dict[str | None, list[Joint]] = defaultdict(list)
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links and not (role == "parent" and name is None):
                raise StructureError.at_joint(joint.name, f" has the {role} link {name!r}, which does not exist")
        if joint.parent == joint.child:
            raise StructureError.at_joint(joint.name, f" joins the link {joint.child!r} to itself")
        if joint.child in above:
            raise StructureError(
                f"link {joint.child!r} has two parents: it is the child of the joints {above[joint.child].name!r} and "
                f"{joint.name!r}",
                "joint",
                joint.name,
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise StructureError(
            f"a robot has one root, but {len(roots)} links have no parent: {', '.join(map(repr, roots[:8]))}",
            "link",
            roots[1],
        )
    starts = list(below[None])
    if not roots and not starts:
        raise _cycle_error(above, joints[0].child)
    if roots:
        starts += below[roots[0]]
    order: list[Joint] = []
    waiting = starts[::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(below[joint.child]))
    if len(order) < len(joints):
        reached = {joint.name for joint in order}
        raise _cycle_error(above, next(joint.child for joint in joints if joint.name not in reached))
    return (roots[0] if roots else None), order


def _cycle_error(above: dict[str, Joint], link: str) -> StructureError:
    """The error for the cycle above a link, with parents first."""
    seen: dict[str, None] = {}
    while link not in seen:
        seen[link] = None
        parent = above[link].parent
        assert parent is not None
        link = parent
    way = list(seen)
    cycle = [link, *reversed(way[way.index(link) :])]
    names = cycle if len(cycle) <= 9 else [*cycle[:8], "..."]
    return StructureError(f"joints form a cycle through the links {' -> '.join(names)}", "joint", above[link].name)


def _coordinates(order: Sequence[Joint]) -> tuple[Joint, ...]:
    """The joints with their indices in q and v; mimic joints share those of their leaders."""
    nq = nv = 0
    placed: dict[str, Joint] = {}
    for joint in order:
        if joint.mimic is None:
            kind = joint.kind
            own = replace(
                joint,
                limits=_spread(joint),
                q=slice(nq, nq + kind.nq),
                v=slice(nv, nv + kind.nv),
            )
            nq, nv = nq + kind.nq, nv + kind.nv
            placed[joint.name] = own
    names = {joint.name: joint for joint in order}
    for joint in order:
        if joint.mimic is not None:
            leader = resolve(joint, names)
            first = placed[leader.joint]
            placed[joint.name] = replace(joint, limits=_spread(joint), mimic=leader, q=first.q, v=first.v)
    return tuple(placed[joint.name] for joint in order)


def _spread(joint: Joint) -> Limits:
    try:
        return joint.limits.spread(joint.kind)
    except InputError as error:
        raise StructureError.at_joint(joint.name, f": {error}") from None


def _merged(links: dict[str, Link], parts: Sequence[tuple[str, Pose]]) -> SpatialInertia:
    """The inertia of links that are fixed to each other, in the frame of their body."""
    total: SpatialInertia | None = None
    for name, i_H_link in parts:
        own = links[name].inertia
        if own is None:
            continue
        here = own if i_H_link is _ORIGIN else i_H_link @ own
        total = here if total is None else total + here
    if total is not None and total.mass < 0:
        name = parts[0][0]
        raise StructureError(f"the links fixed to {name!r} weigh {float(total.mass):g} kg together", "link", name)
    return MASSLESS if total is None else total


MASSLESS = SpatialInertia(mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3)))
