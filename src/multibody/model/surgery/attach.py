"""Changes to a robot: each function takes a model and returns a new one.

Coordinates of the new robot belong to joints by name: where joints are added or taken away, those that stay keep their
meaning, but can have another place in q. `lock` and `remove` are in `cutting.py`, `scale` in `scaling.py`,
`with_parameters` in `rebuilding.py`.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model.actuation import motors
from multibody.model.actuator import Equality
from multibody.model.builder import as_pose
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint, Limits, Passive
from multibody.model.joints import Fixed
from multibody.model.model import Model, expect_model
from multibody.model.surgery.lock import at_home, lock, note, remove, with_home
from multibody.model.surgery.scale import scale
from multibody.model.surgery.with_parameters import with_parameters
from multibody.model.tree import unknown

__all__ = ["attach", "beside", "change", "lock", "payload", "remove", "rename", "scale", "with_parameters"]

Names = Mapping[str, str]
FIELDS = ("gravity", "velocity", "home", "actuators")
"""Fields of a model that `change` takes as they are."""


def attach(
    model: Model,
    other: Model,
    *,
    frame: str,
    other_frame: str | None = None,
    pose: Pose | ArrayLike | None = None,
    prefix: str = "",
) -> Model:
    """The robot with another one fixed to one of its frames, as a gripper to a flange.

    Args:
        model: the robot; its name, gravity and way to write velocities stay.
        other: what to attach. A floating base of it is taken away.
        frame: a frame of the robot.
        other_frame: the frame of the other, fixed to its base, that comes to lie there; by default its root link.
        pose: frame_H_other_frame, a Pose or a position; by default they coincide.
        prefix: is put before the names of the other's links, joints, frames and actuators.
    """
    link, link_H_frame = _on_link(model, frame)
    expect_model(other)
    if not isinstance(prefix, str):
        raise InputError(f"attach {other.name}, prefix: expected a text, got {prefix!r}")
    if other_frame is not None:
        other.tree.frame(other_frame)
    notes = list(other.diagnostics)
    bases = {base.name for base in other.tree.bases}
    if bases:
        other = lock(other, {base.name: base.kind.neutral() for base in other.tree.bases})
        notes.append(note(f"{other.name} has no floating base any more: it is attached to {frame!r}", "attached"))
    if prefix:
        other = _prefixed(other, prefix)
        bases = {prefix + name for name in bases}
        other_frame = None if other_frame is None else prefix + other_frame
    base_H_frame = _base_frame(other, other_frame)
    link_H_base = link_H_frame @ as_pose(pose) @ base_H_frame.inverse()
    joints = [_attachment(frame, link, name, link_H_base) for name in _roots(other)]
    for joint in other.description:
        if joint.parent is not None:
            joints.append(joint)
        elif joint.name in bases:
            joints.append(_attachment(frame, link, joint.child, link_H_base @ joint.placement))
        else:
            joints.append(replace(joint, parent=link, placement=link_H_base @ joint.placement))
    return _joined(model, other, joints, notes)


def beside(model: Model, other: Model, *, prefix: str = "") -> Model:
    """The robot and another one, each on its own base in one world, as a leg and the ball that it kicks.

    Args:
        model: the robot; its name, gravity and way to write velocities stay, and its coordinates come first.
        other: what is beside it. A floating base of it stays, and its root stays fixed to the world where it is.
        prefix: is put before the names of the other's links, joints, frames and actuators.
    """
    expect_model(other)
    if prefix:
        other = _prefixed(other, prefix)
    world = next(iter(_roots(model)), None)  # a root that is fixed is the world
    fixed = [_attachment("world", world, name, Pose.identity()) for name in _roots(other)]
    own = [replace(joint, parent=world) if joint.parent is None else joint for joint in other.description]
    return _joined(model, other, fixed + own, list(other.diagnostics))


def _roots(model: Model) -> list[str]:
    """The link that no joint carries, if there is one."""
    children = {joint.child for joint in model.description}
    return [link.name for link in model.links if link.name not in children]


def _joined(model: Model, other: Model, joints: list[Joint], notes: list[Diagnostic]) -> Model:
    """Both robots as one, with joints in place of the other's."""
    stated = model.actuators is not None or other.actuators is not None
    _refuse_clashes("link or frame", model.frames, other.frames, other)
    _refuse_clashes("joint", [j.name for j in model.description], [j.name for j in joints], other)
    if stated:
        _refuse_clashes("actuator", [a.name for a in motors(model)], [a.name for a in motors(other)], other)
    new = model.with_(
        links=model.links + other.links,
        description=model.description + tuple(joints),
        extra_frames=model.extra_frames + other.extra_frames,
        actuators=motors(model) + motors(other) if stated else None,
        equalities=model.equalities + other.equalities,
        home=None,
        diagnostics=(*model.diagnostics, *notes),
    )
    known = model.home is not None or other.home is not None
    return with_home(new, {**at_home(model), **at_home(other)}) if known else new


def payload(model: Model, frame: str, inertia: SpatialInertia | float, pose: Pose | ArrayLike | None = None) -> Model:
    """The robot with a load fixed to one of its frames.

    Args:
        model: the robot.
        frame: where the load is.
        inertia: of the load, in a frame of its own; a number is the mass of a point at its origin, in kg.
        pose: of that frame in the robot's, a Pose or a position; by default they coincide.
    """
    link, link_H_frame = _on_link(model, frame)
    if isinstance(inertia, int | float | np.number) and not isinstance(inertia, bool):
        if not inertia > 0:
            raise InputError(f"payload on {frame!r}: expected a positive mass in kg, got {inertia!r}")
        inertia = SpatialInertia(mass=inertia, com=np.zeros(3), inertia=np.zeros((3, 3)))
    if not isinstance(inertia, SpatialInertia) or inertia.shape or not np.isfinite(inertia.parameters()).all():
        raise InputError(
            f"payload on {frame!r}: expected one SpatialInertia of finite numbers, or a mass in kg, got {inertia!r}"
        )
    load = link_H_frame @ as_pose(pose) @ inertia
    old = model.link(link).inertia
    new = change(model, inertias={link: load if old is None else old + load})
    if model.tree.frame(frame)[0]:
        return new
    fixed = Diagnostic("warning", "payload", f"the payload on {frame!r} has no effect: that frame does not move")
    return new.with_(diagnostics=(*new.diagnostics, fixed))


def rename(
    model: Model,
    names: Names | None = None,
    *,
    frames: Names | None = None,
    joints: Names | None = None,
    name: str | None = None,
) -> Model:
    """The robot with other names.

    Args:
        model: the robot.
        names: {old: new} of links, frames and joints.
        frames: the same of links and frames alone, where a joint has the name too.
        joints: the same of joints alone.
        name: of the robot.
    """
    names = _by_name("rename, names", names, "new name")
    frames = _by_name("rename, frames", frames, "new name")
    joints = _by_name("rename, joints", joints, "new name")
    of_joints = {joint.name for joint in model.description}
    for old, new in names.items():
        if old in of_joints and old in model.frames:
            raise InputError(f"{model.name}: {old!r} is a link or frame and a joint; rename with frames= or joints=")
        if old not in of_joints and old not in model.frames:
            every = (*model.frames, *(joint.name for joint in model.description))
            raise InputError(unknown("link, frame or joint", old, every, model.name))
        (joints if old in of_joints else frames)[old] = new
    for old in frames:
        model.tree.frame(old)
    for old in joints:
        model.joint(old)
    for old, new in (*frames.items(), *joints.items(), *([(model.name, name)] if name is not None else [])):
        if not isinstance(new, str) or not new:
            raise InputError(f"{model.name}: the new name of {old!r}: expected a text that is not empty, got {new!r}")

    def link(old: Any) -> Any:
        return frames.get(old, old)

    def joint(old: Any) -> Any:
        return joints.get(old, old)

    return model.with_(
        name=model.name if name is None else name,
        links=tuple(replace(each, name=link(each.name)) for each in model.links),
        description=tuple(
            replace(
                each,
                name=joint(each.name),
                parent=link(each.parent),
                child=link(each.child),
                mimic=each.mimic and replace(each.mimic, joint=joint(each.mimic.joint)),
            )
            for each in model.description
        ),
        extra_frames=tuple(replace(each, name=link(each.name), link=link(each.link)) for each in model.extra_frames),
        actuators=model.actuators and tuple(replace(each, joint=joint(each.joint)) for each in model.actuators),
        equalities=tuple(_renamed(each, link, joint) for each in model.equalities),
    )


def change(
    model: Model,
    *,
    inertias: Mapping[str, SpatialInertia | None] | None = None,
    placements: Mapping[str, Pose | ArrayLike] | None = None,
    limits: Mapping[str, Limits] | None = None,
    passive: Mapping[str, Passive] | None = None,
    **fields: Any,
) -> Model:
    """The robot with other parameters.

    Args:
        model: the robot.
        inertias: of links, each in its frame; None for a link without mass.
        placements: of joints in their parent links.
        limits: of joints.
        passive: damping, friction, springs and armature of joints.
        **fields: `gravity`, `velocity`, `home` or `actuators` of the model.

    >>> from multibody.model.builder import Builder
    >>> change(Builder("stone").body("stone").model(), gravity=(0.0, 0.0, -1.62)).gravity
    (0.0, 0.0, -1.62)
    """
    for name in fields:
        if name not in FIELDS:
            of_parts = ("inertias", "placements", "limits", "passive")
            raise InputError(unknown("parameter", name, (*of_parts, *FIELDS), "change"))
    inertias = _by_name("change, inertias", inertias, "SpatialInertia")
    placements = _by_name("change, placements", placements, "Pose")
    limits = _by_name("change, limits", limits, "Limits")
    passive = _by_name("change, passive", passive, "Passive")
    links = {name: replace(model.link(name), inertia=inertia) for name, inertia in inertias.items()}
    changes: dict[str, dict[str, Any]] = defaultdict(dict)
    for field, changed in (("placement", placements), ("limits", limits), ("passive", passive)):
        for name, value in changed.items():
            model.joint(name)
            changes[name][field] = as_pose(value) if field == "placement" else value
    for what, values, kind in (
        ("inertia", [link.inertia for link in links.values() if link.inertia is not None], SpatialInertia),
        ("limits", list(limits.values()), Limits),
        ("passive", list(passive.values()), Passive),
    ):
        for value in values:
            if not isinstance(value, kind):
                raise InputError(f"change, {what}: expected {kind.__name__}, got {value!r}")
    return model.with_(
        links=tuple(links.get(link.name, link) for link in model.links),
        description=tuple(replace(joint, **changes.get(joint.name, {})) for joint in model.description),
        **fields,
    )


def _by_name(what: str, values: Mapping[str, Any] | None, value: str) -> dict[str, Any]:
    """The values for some names, as a dict of its own."""
    if values is not None and not isinstance(values, Mapping):
        raise InputError(f"{what}: expected {{name: {value}}}, got {values!r}")
    return dict(values or {})


def _on_link(model: Model, frame: str) -> tuple[str, Pose]:
    """The link that a frame is on, and link_H_frame."""
    model.tree.frame(frame)
    return next(((f.link, f.pose) for f in model.extra_frames if f.name == frame), (frame, Pose.identity()))


def _base_frame(other: Model, name: str | None) -> Pose:
    """base_H_frame of a frame that is fixed to the base of a robot without a floating base."""
    if name is None:
        roots = _roots(other) or [joint.child for joint in other.description if joint.parent is None]
        index, pose = other.tree.frame(roots[0])
        return pose if index == 0 else Pose.identity()
    index, pose = other.tree.frame(name)
    if index:
        raise InputError(
            f"attach: expected an other_frame that is fixed to the base of {other.name}, {name!r} moves with the body "
            f"{other.bodies[index - 1].name!r}"
        )
    return pose


def _attachment(frame: str, link: str | None, child: str, pose: Pose) -> Joint:
    return Joint(f"{frame}_to_{child}", Fixed(), link, child, pose)


def _prefixed(model: Model, prefix: str) -> Model:
    new = rename(
        model,
        frames={name: prefix + name for name in model.frames},
        joints={joint.name: prefix + joint.name for joint in model.description},
    )
    return new.with_(
        actuators=new.actuators and tuple(replace(each, name=prefix + each.name) for each in new.actuators),
        equalities=tuple(replace(each, name=prefix + each.name) for each in new.equalities),
    )


def _refuse_clashes(what: str, ours: Any, theirs: Any, other: Model) -> None:
    both = sorted(set(ours) & set(theirs))
    if both:
        raise InputError(
            f"{other.name}: both robots have a {what} named {', '.join(map(repr, both[:5]))}"
            f"{', ...' if len(both) > 5 else ''}; give a prefix, such as prefix={other.name + '_'!r}"
        )


def _renamed(equality: Equality, link: Callable[[Any], Any], joint: Callable[[Any], Any]) -> Equality:
    new = joint if equality.kind == "joint" else link
    return replace(equality, first=new(equality.first), second=new(equality.second))
