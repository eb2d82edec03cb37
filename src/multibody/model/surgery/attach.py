"""Join two robots into one model: `attach` fixes one to a frame of the other, `beside` puts both into one world."""

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model.actuation import motors
from multibody.model.builder import as_pose
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint
from multibody.model.joints import Fixed
from multibody.model.model import Model, expect_model
from multibody.model.surgery._shared import home_coordinates, link_of_frame, note, with_home
from multibody.model.surgery.lock import lock
from multibody.model.surgery.rename import add_prefix


def attach(
    model: Model,
    other: Model,
    *,
    frame: str,
    other_frame: str | None = None,
    pose: Pose | ArrayLike | None = None,
    prefix: str = "",
) -> Model:
    """Return the robot with another one, such as a gripper, fixed to one of its frames.

    Args:
        model: the robot; its name, gravity and velocity representation stay.
        other: the robot to attach. Its floating base, if any, is removed.
        frame: a frame of the robot.
        other_frame: the frame of the other, fixed to its base, to place there; by default its root link.
        pose: frame_H_other_frame, a Pose or a position; by default they coincide.
        prefix: is put before the names of the other's links, joints, frames and actuators.
    """
    link, link_H_frame = link_of_frame(model, frame)
    expect_model(other)
    if other_frame is not None:
        other.tree.frame(other_frame)
    notes = list(other.diagnostics)
    bases = {base.name for base in other.tree.bases}
    if bases:
        other = lock(other, {base.name: base.kind.neutral() for base in other.tree.bases})
        notes.append(note(f"{other.name} has no floating base any more: it is attached to {frame!r}", "attached"))
    other = add_prefix(other, prefix)
    if prefix:
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
    """Return the robot and another one, each on its own base, in one model.

    Args:
        model: the robot; its name, gravity and velocity representation stay, and its coordinates come first.
        other: the second robot. Its floating base stays, and a fixed root stays where it is.
        prefix: is put before the names of the other's links, joints, frames and actuators.
    """
    expect_model(other)
    other = add_prefix(other, prefix)
    world = next(iter(_roots(model)), None)  # a root that is fixed is the world
    fixed = [_attachment("world", world, name, Pose.identity()) for name in _roots(other)]
    own = [replace(joint, parent=world) if joint.parent is None else joint for joint in other.description]
    return _joined(model, other, fixed + own, list(other.diagnostics))


def _roots(model: Model) -> list[str]:
    """The link that no joint carries, if there is one."""
    children = {joint.child for joint in model.description}
    return [link.name for link in model.links if link.name not in children]


def _joined(model: Model, other: Model, joints: list[Joint], notes: list[Diagnostic]) -> Model:
    """Both robots as one model; `joints` replace those of the other."""
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
    return with_home(new, {**home_coordinates(model), **home_coordinates(other)}) if known else new


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


def _refuse_clashes(what: str, ours: Any, theirs: Any, other: Model) -> None:
    both = sorted(set(ours) & set(theirs))
    if both:
        raise InputError(
            f"{other.name}: both robots have a {what} named {', '.join(map(repr, both[:5]))}"
            f"{', ...' if len(both) > 5 else ''}; give a prefix, such as prefix={other.name + '_'!r}"
        )
