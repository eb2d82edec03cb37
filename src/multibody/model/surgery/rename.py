"""Rename links, frames, joints or the robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from multibody.errors import InputError, unknown
from multibody.model.actuator import Equality
from multibody.model.model import Model
from multibody.model.surgery._shared import checked_mapping

Names = Mapping[str, str]


def rename(
    model: Model,
    names: Names | None = None,
    *,
    frames: Names | None = None,
    joints: Names | None = None,
    name: str | None = None,
) -> Model:
    """Return the robot with other names.

    Args:
        model: the robot.
        names: {old: new} of links, frames and joints.
        frames: {old: new} of links and frames only, if a joint has the same name.
        joints: {old: new} of joints only.
        name: of the robot.
    """
    names = checked_mapping("rename, names", names, "new name")
    frames = checked_mapping("rename, frames", frames, "new name")
    joints = checked_mapping("rename, joints", joints, "new name")
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


def add_prefix(model: Model, prefix: str) -> Model:
    """Return the robot with a prefix before all names of links, frames, joints, actuators and equalities."""
    if not isinstance(prefix, str):
        raise InputError(f"{model.name}, prefix: expected a text, got {prefix!r}")
    if not prefix:
        return model
    new = rename(
        model,
        frames={name: prefix + name for name in model.frames},
        joints={joint.name: prefix + joint.name for joint in model.description},
    )
    return new.with_(
        actuators=new.actuators and tuple(replace(each, name=prefix + each.name) for each in new.actuators),
        equalities=tuple(replace(each, name=prefix + each.name) for each in new.equalities),
    )


def _renamed(equality: Equality, link: Callable[[Any], Any], joint: Callable[[Any], Any]) -> Equality:
    new = joint if equality.kind == "joint" else link
    return replace(equality, first=new(equality.first), second=new(equality.second))
