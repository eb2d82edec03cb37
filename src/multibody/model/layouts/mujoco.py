"""MuJoCo's qpos, qvel, qacc and generalized forces."""

from collections.abc import Sequence
from typing import Any

from multibody.model.joint import Joint
from multibody.model.joints import Continuous, Floating, Kind, Planar, Prismatic, Revolute, Spherical
from multibody.model.layouts._joint_maps import Free, Part, Turned, index_range
from multibody.model.layouts._layout import Layout
from multibody.model.loaders.mjcf_names import JOINTS, joint_names

_KINDS: dict[str, tuple[type[Kind], ...]] = {
    "free": (Floating,),
    "ball": (Spherical,),
    "slide": (Prismatic,),
    "hinge": (Revolute, Continuous),
}
_PLANE = ("_TX", "_TY", "_RZ")
"""Suffixes of the three joints that MuJoCo makes of a planar joint of a URDF file."""


class MujocoLayout(Layout):
    """Between a model of ours and a `mujoco.MjModel`.

    Joints are paired by their names; those without a name in MuJoCo have the one that our loader gives them. A free
    joint of MuJoCo has the pose in the world for coordinates, the velocity of the origin in the world and the angular
    velocity in the body. Quaternions have w first, as ours.

    >>> import mujoco
    >>> from multibody.model.loaders import mjcf
    >>> text = "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    >>> layout = MujocoLayout(mjcf.read(text).model(velocity="left"), mujoco.MjModel.from_xml_string(text))
    >>> quarter = [0.0, 0.0, 1.0, 0.5**0.5, 0.0, 0.0, 0.5**0.5]  # about z
    >>> layout.v_to(quarter, [1.0, 0.0, 0.0, 0.0, 0.0, 2.0]).round(9) + 0.0
    array([0., 1., 0., 0., 0., 2.])
    """

    peer_name = "MuJoCo"

    def _pair(self, ours: Sequence[Joint], peer: Any) -> list[Part]:
        names = joint_names(peer)
        numbers = {name: k for k, name in enumerate(names)}
        planes = {
            joint.name: [numbers[joint.name + end] for end in _PLANE]
            for joint in ours
            if isinstance(joint.kind, Planar) and all(joint.name + end in numbers for end in _PLANE)
        }
        inner = {k for group in planes.values() for k in group}
        single = [name for k, name in enumerate(names) if k not in inner]
        free = [name for name in single if peer.jnt_type[numbers[name]] == JOINTS.index("free")]
        parts: list[Part] = []
        for name, joint in self._matched(ours, [*single, *planes], free).items():
            group = planes.get(name, [numbers.get(name, 0)])
            types = [JOINTS[peer.jnt_type[k]] for k in group]
            if name in planes and types != ["slide", "slide", "hinge"]:
                raise self._differ(joint, " and ".join(types))
            if name not in planes and not isinstance(joint.kind, _KINDS[types[0]]):
                raise self._differ(joint, types[0])
            part = Turned if name in planes else Free if types == ["free"] else Part
            first_q, first_v = int(peer.jnt_qposadr[group[0]]), int(peer.jnt_dofadr[group[0]])
            parts.append(part(joint, index_range(first_q, joint.kind.nq), index_range(first_v, joint.kind.nv)))
        return parts
