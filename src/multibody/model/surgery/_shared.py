"""Helpers of several operations: home configurations, removed joints, checks of mappings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.actuator import Actuator
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint
from multibody.model.joints import Fixed
from multibody.model.model import Model


def without_joints(
    model: Model,
    joints: set[str],
    why: str,
    notes: list[Diagnostic],
    *,
    removed_frames: set[str] | None = None,
    **changes: Any,
) -> Model:
    """Return the model with changes, without actuators and equalities of removed joints and frames."""
    actuators: list[Actuator] = []
    for actuator in model.actuators or ():
        if actuator.joint not in joints:
            actuators.append(actuator)
        else:
            notes.append(note(f"actuator {actuator.name!r} is removed: its joint {actuator.joint!r} {why}", "dropped"))
    equalities = list(model.equalities)
    if removed_frames is not None:
        removed_frames = removed_frames | {frame.name for frame in model.extra_frames if frame.link in removed_frames}
        for each in model.equalities:
            if {each.first, each.second} & (joints if each.kind == "joint" else removed_frames):
                equalities.remove(each)
                notes.append(note(f"equality {each.name!r} ({each.kind}) is removed: a part of it {why}", "dropped"))
    new = model.with_(
        actuators=None if model.actuators is None else tuple(actuators),
        equalities=tuple(equalities),
        home=None,
        diagnostics=(*model.diagnostics, *notes),
        **changes,
    )
    return new if model.home is None else with_home(new, home_coordinates(model))


def home_coordinates(model: Model) -> dict[str, NDArray[Any]]:
    """The coordinates of each joint in the home configuration."""
    q = configuration.neutral(model.tree) if model.home is None else np.array(model.home)
    return {joint.name: joint.coordinates(q) for joint in model.joints}


def with_home(model: Model, values: Mapping[str, NDArray[Any]]) -> Model:
    """Return the model with a home configuration from the coordinates of each joint."""
    parts = [values[joint.name] for joint in model.joints if joint.mimic is None]
    return model.with_(home=tuple(np.concatenate([np.zeros(0), *parts]).tolist()))


def fixed_at(joint: Joint, x: NDArray[Any]) -> Joint:
    """The joint fixed at coordinates x."""
    return Joint(joint.name, Fixed(), joint.parent, joint.child, joint.placement @ joint.kind.pose(x))


def link_of_frame(model: Model, frame: str) -> tuple[str, Pose]:
    """The link that a frame is on, and link_H_frame."""
    model.tree.frame(frame)
    return next(((f.link, f.pose) for f in model.extra_frames if f.name == frame), (frame, Pose.identity()))


def checked_mapping(what: str, values: Mapping[str, Any] | None, value: str) -> dict[str, Any]:
    """Return a copy of a mapping from names; raise an InputError for other types."""
    if values is not None and not isinstance(values, Mapping):
        raise InputError(f"{what}: expected {{name: {value}}}, got {values!r}")
    return dict(values or {})


def note(message: str, code: str) -> Diagnostic:
    """A diagnostic of the level "note"."""
    return Diagnostic("note", code, message)
