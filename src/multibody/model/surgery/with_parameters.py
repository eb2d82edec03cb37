"""A robot from the numbers that kernels take as parameters: the inverse of `Tree.with_values`.

Kernels have bodies, links that are fixed to each other as one, and places in them; robots have links, and places there.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.geometry._arrays import floats
from multibody.model import parameters
from multibody.model.configuration import UNIT_WITHIN
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.model.parametric_inertia import INERTIAL
from multibody.model.tree import PLACEMENT, POSITION, refuse_both


def with_parameters(
    model: Model,
    inertias: ArrayLike | None = None,
    *,
    placements: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    frame_placements: ArrayLike | None = None,
    gravity: ArrayLike | None = None,
    masses: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    friction: ArrayLike | None = None,
    armature: ArrayLike | None = None,
    offsets: ArrayLike | None = None,
) -> Model:
    """The robot rebuilt with the numbers of one sample of a kernel with parameters; what is not given stays.

    Inertias of bodies become those of the links that joints carry; links that are fixed to these are then without mass.
    Whether a body can have an inertia is not looked at: `parameters.check_values` does.

    Args:
        model: the robot.
        inertias: (bodies, 10), m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body about its origin.
        placements: (bodies, 7), of each body's joint in its parent body: a position and a quaternion w, x, y, z.
        positions: (bodies, 3), the same with the rotations of the robot.
        frame_placements: (frames, 7), of all frames in their bodies. A link that a joint carries, or the root, is the
            frame of its body: it stays there.
        gravity: (3,).
        masses: (bodies,), of bodies that keep their shape; or inertias, not both.
        damping: (nv,), of all joints that a coordinate moves; those that mimic then have none, as with the next two.
        friction: (nv,).
        armature: (nv,), rotors of actuators included; these have none then.
        offsets: (bodies,), added to the coordinates of joints: these are placed further on, and springs with them.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").model
    >>> longer = with_parameters(arm, positions=1.5 * arm.tree.positions())
    >>> longer.tree.positions()[1]
    array([0. , 0. , 1.5])
    """
    values = {"inertias": inertias, "masses": masses, "placements": placements, "positions": positions}
    refuse_both([name for name, value in values.items() if value is not None])
    if masses is not None:
        inertias = model.tree.with_values(masses=_of_one(masses, "masses", len(model.bodies))).parameters()
    bodies, frames = model.bodies, {name: model.tree.frame(name)[1] for name in model.frames}
    inertia_of = {body.name: body.inertia for body in bodies}
    p_H_j = {body.joint.name: body.joint.placement for body in bodies}
    if inertias is not None:
        rows = _of_one(inertias, "inertias", len(bodies), INERTIAL)
        inertia_of = {name: _inertia_of(row, name) for name, row in zip(inertia_of, rows, strict=True)}
    if placements is not None:
        rows = _of_one(placements, "placements", len(bodies), PLACEMENT)
        parameters.check_values(model.tree, placements=rows)
        p_H_j = {name: _pose_of(row) for name, row in zip(p_H_j, rows, strict=True)}
    if positions is not None:
        rows = _of_one(positions, "positions", len(bodies), POSITION)
        parameters.check_values(model.tree, positions=rows)
        p_H_j = {name: Pose(p_H_j[name].rotation, row) for name, row in zip(p_H_j, rows, strict=True)}
    if frame_placements is not None:
        rows = _of_one(frame_placements, "frame_placements", len(frames), PLACEMENT)
        parameters.check_values(model.tree, frame_placements=rows)
        frames = {name: _pose_of(row) for name, row in zip(frames, rows, strict=True)}
        _refuse_moved_bodies(model, frames)

    def placed(joint: Joint) -> Joint:
        """With its place in its parent link, from those of both in the parent body."""
        p_H_link = Pose.identity() if joint.parent is None else frames[joint.parent]
        return replace(joint, placement=p_H_link.inverse() @ p_H_j.get(joint.name, frames[joint.child]))

    changes: dict[str, Any] = {}
    if inertias is not None or frame_placements is not None:  # links that move must not take mass along
        inside = {name for body in bodies for name in body.links}
        changes["links"] = tuple(
            replace(link, inertia=inertia_of.get(link.name)) if link.name in inside else link for link in model.links
        )
    description = model.description
    if placements is not None or positions is not None or frame_placements is not None:
        description = tuple(map(placed, description))
    for name, numbers in (("damping", damping), ("friction", friction), ("armature", armature)):
        if numbers is not None:
            description = _driven(model, description, name, _of_one(numbers, name, model.nv))
    if armature is not None and model.actuators is not None:
        changes["actuators"] = tuple(replace(each, rotor_inertia=0.0) for each in model.actuators)
    if offsets is not None:
        description = _offset(model, description, _of_one(offsets, "offsets", len(bodies)))
    changes["description"] = description
    if frame_placements is not None:
        changes["extra_frames"] = tuple(
            replace(each, pose=frames[each.link].inverse() @ frames[each.name]) for each in model.extra_frames
        )
    if gravity is not None:
        changes["gravity"] = gravity
    return model.with_(**changes)


def _driven(model: Model, joints: tuple[Joint, ...], name: str, values: NDArray[Any]) -> tuple[Joint, ...]:
    """The joints with other damping, friction or armature, from numbers (nv,)."""
    parameters.check_values(model.tree, **{name: values})
    new = []
    for joint in joints:
        at = model.joint(joint.name)
        own = values[at.v] if at.nv else np.zeros(1)
        if (own != own[0]).any():
            raise InputError(
                f"{name}: expected the same number for all velocities of the joint {joint.name!r}, got {own.tolist()}: "
                "a robot has one for each joint, kernels alone take several"
            )
        new.append(replace(joint, passive=replace(joint.passive, **{name: own[0]})))
    return tuple(new)


def _offset(model: Model, joints: tuple[Joint, ...], offsets: NDArray[Any]) -> tuple[Joint, ...]:
    """The joints with what is added to their coordinates in their placements, and taken off where springs rest."""
    parameters.check_values(model.tree, offsets=offsets)
    by_joint = {body.joint.name: offset for body, offset in zip(model.bodies, offsets, strict=True)}
    return tuple(_shifted(joint, by_joint[joint.name]) if by_joint.get(joint.name) else joint for joint in joints)


def _shifted(joint: Joint, offset: float) -> Joint:
    rest = joint.passive.rest or tuple(joint.kind.neutral().tolist())
    passive = replace(joint.passive, rest=tuple(x - offset for x in rest)) if joint.passive.stiffness else joint.passive
    return replace(joint, placement=joint.placement @ joint.kind.pose(np.array([offset])), passive=passive)


def _of_one(values: ArrayLike, what: str, *shape: int) -> NDArray[Any]:
    """The numbers of one robot, in double precision."""
    numbers = floats(values, what, *shape)
    if numbers.shape != shape:
        raise InputError(f"{what}: expected those of one robot, of shape {shape}, got shape {numbers.shape}")
    return numbers.astype(np.float64)


def _inertia_of(row: NDArray[Any], name: str) -> SpatialInertia | None:
    if not np.isfinite(row).all() or (row[0] == 0 and row[1:4].any()):
        raise InputError(
            f"inertias: expected finite numbers for the body {name!r}, with a mass where it has a first moment, "
            f"got {row.tolist()}"
        )
    return SpatialInertia.from_parameters(row) if row.any() else None


def _pose_of(row: NDArray[Any]) -> Pose:
    return Pose(Rotation.from_quaternion(row[POSITION:]), row[:POSITION])


def _refuse_moved_bodies(model: Model, frames: Mapping[str, Pose]) -> None:
    """Refuse a place for the frame of a body itself other than where it is."""
    fixed = {joint.child for joint in model.description if joint.kind.nv == 0}
    for link in model.links:
        pose = frames[link.name]
        if link.name not in fixed and not np.allclose(pose.matrix, np.eye(4), rtol=0, atol=UNIT_WITHIN):
            raise InputError(
                f"frame_placements: {link.name!r} is the frame of its body; expected [0, 0, 0, 1, 0, 0, 0] there, "
                f"got the position {pose.position.tolist()} and the quaternion {pose.rotation.quaternion.tolist()}"
            )
