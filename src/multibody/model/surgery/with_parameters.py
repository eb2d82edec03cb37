"""Rebuild a robot with parameters of a kernel: the counterpart of `Tree.with_values` for models.

Kernels have bodies, in which fixed links are merged, with placements in bodies. Models have links, with placements in
links.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.geometry._arrays import floats
from multibody.geometry.unit_quaternions import UNIT_QUATERNION_TOLERANCE
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.model.parameters import DRIVES, POSITION, Parameters, keywords_of, refuse_overlap


@keywords_of(Parameters)
def with_parameters(model: Model, parameters: Parameters) -> Model:
    """Return the robot rebuilt with parameters of one sample; the others stay.

    The arguments are those of `Parameters`, without a batch. Inertias of bodies go to links that joints carry; links
    fixed to these become massless. The root and the links that joints carry are the frames of their bodies and stay
    there. Damping, friction and armature go to independent joints: mimic joints and rotors of actuators then have none.
    Offsets go to placements and to rest positions of springs. Physical consistency of inertias is not checked here, but
    by `Parameters.check`.

    >>> import multibody as mb
    >>> arm = mb.load("planar-arm").model
    >>> longer = with_parameters(arm, positions=1.5 * arm.tree.positions())
    >>> longer.tree.positions()[1]
    array([0. , 0. , 1.5])
    """
    refuse_overlap(parameters.given)
    shapes = Parameters.shapes(model.tree)
    new = {name: _single(value, name, shapes[name]) for name, value in parameters.given.items()}
    if "masses" in new:
        new["inertias"] = Parameters(masses=new.pop("masses")).apply(model.tree).parameters()
    Parameters(**{name: value for name, value in new.items() if name not in ("inertias", "gravity")}).check(model.tree)
    bodies, frames = model.bodies, {name: model.tree.frame(name)[1] for name in model.frames}
    inertia_of: dict[str, Any] = {body.name: body.inertia for body in bodies}
    p_H_j = {body.joint.name: body.joint.placement for body in bodies}
    if "inertias" in new:
        inertia_of = {name: _inertia_of(row, name) for name, row in zip(inertia_of, new["inertias"], strict=True)}
    if "placements" in new:
        p_H_j = {name: _pose_of(row) for name, row in zip(p_H_j, new["placements"], strict=True)}
    if "positions" in new:
        p_H_j = {name: Pose(p_H_j[name].rotation, row) for name, row in zip(p_H_j, new["positions"], strict=True)}
    if "frame_placements" in new:
        frames = {name: _pose_of(row) for name, row in zip(frames, new["frame_placements"], strict=True)}
        _refuse_moved_bodies(model, frames)

    def placed(joint: Joint) -> Joint:
        """The joint with its placement in its parent link, from the poses of both in the parent body."""
        p_H_link = Pose.identity() if joint.parent is None else frames[joint.parent]
        return replace(joint, placement=p_H_link.inverse() @ p_H_j.get(joint.name, frames[joint.child]))

    changes: dict[str, Any] = {}
    if "inertias" in new or "frame_placements" in new:  # links that move must not carry mass along
        inside = {name for body in bodies for name in body.links}
        changes["links"] = tuple(
            replace(link, inertia=inertia_of.get(link.name)) if link.name in inside else link for link in model.links
        )
    joints = model.description
    if new.keys() & {"placements", "positions", "frame_placements"}:
        joints = tuple(map(placed, joints))
    for name in DRIVES:
        if name in new:
            joints = _driven(model, joints, name, new[name])
    if "armature" in new and model.actuators is not None:
        changes["actuators"] = tuple(replace(actuator, rotor_inertia=0.0) for actuator in model.actuators)
    if "offsets" in new:
        offset_of = {body.joint.name: offset for body, offset in zip(bodies, new["offsets"], strict=True)}
        joints = tuple(_shifted(joint, offset_of.get(joint.name, 0.0)) for joint in joints)
    if "frame_placements" in new:
        changes["extra_frames"] = tuple(
            replace(frame, pose=frames[frame.link].inverse() @ frames[frame.name]) for frame in model.extra_frames
        )
    if "gravity" in new:
        changes["gravity"] = new["gravity"]
    return model.with_(description=joints, **changes)


def _driven(model: Model, joints: tuple[Joint, ...], name: str, values: NDArray[Any]) -> tuple[Joint, ...]:
    """The joints with other damping, friction or armature, from values (nv,)."""
    new = []
    for joint in joints:
        where = model.joint(joint.name)
        value = values[where.v] if where.nv else np.zeros(1)
        if (value != value[0]).any():
            raise InputError(
                f"{name}: expected equal values for all velocities of the joint {joint.name!r}, got {value.tolist()}: "
                "a robot has one per joint, only kernels take several"
            )
        new.append(replace(joint, passive=replace(joint.passive, **{name: value[0]})))
    return tuple(new)


def _shifted(joint: Joint, offset: float) -> Joint:
    """The joint with an offset of its coordinate in its placement, subtracted from the rest of its spring."""
    if not offset:
        return joint
    rest = joint.passive.rest or tuple(joint.kind.neutral().tolist())
    passive = replace(joint.passive, rest=tuple(x - offset for x in rest)) if joint.passive.stiffness else joint.passive
    return replace(joint, placement=joint.placement @ joint.kind.pose(np.array([offset])), passive=passive)


def _single(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """The numbers of one robot, in double precision."""
    numbers = floats(values, name, *shape)
    if numbers.shape != shape:
        raise InputError(f"{name}: expected the numbers of one robot, of shape {shape}, got shape {numbers.shape}")
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
    """Raise an InputError if the frame of a body itself has another placement than the identity."""
    fixed = {joint.child for joint in model.description if joint.kind.nv == 0}
    for link in model.links:
        pose = frames[link.name]
        if link.name not in fixed and not np.allclose(pose.matrix, np.eye(4), rtol=0, atol=UNIT_QUATERNION_TOLERANCE):
            raise InputError(
                f"frame_placements: {link.name!r} is the frame of its body; expected [0, 0, 0, 1, 0, 0, 0] there, "
                f"got the position {pose.position.tolist()} and the quaternion {pose.rotation.quaternion.tolist()}"
            )
