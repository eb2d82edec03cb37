"""The bodies, joints and sites of a compiled MuJoCo model.

`m` is a mujoco.MjModel. MuJoCo puts any number of joints on a body, each about a point and from a reference of its own;
here every joint has a link, and those in between have no mass. Frames: L the body as the joints so far have moved it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.model.builder import Builder
from multibody.model.joint import INFINITY, Limits, Passive
from multibody.model.joints import Fixed, Floating, Kind, Prismatic, Revolute, Spherical
from multibody.model.loaders.mjcf_names import JOINTS, Names, body_names, joint_names
from multibody.model.loaders.mjcf_poses import Poses

_CENTRED = 1e-13
"""How far from the body's origin, in m, an axis may pass and count as through it."""


class Bodies:
    """Adds the tree of a compiled model to a builder."""

    def __init__(self, m: Any, poses: Poses) -> None:
        self.m, self.poses = m, poses
        self.names = body_names(m)
        self.joints = joint_names(m)
        self.sites: dict[int, str] = {}
        self._motor_damping = np.zeros(m.njnt)
        for a in driving(m):
            self._motor_damping[m.actuator_trnid[a, 0]] += m.actuator_gear[a, 0] ** 2 * m.actuator_damping[a]
        self._links = Names([*self.names, *(m.site(k).name for k in range(m.nsite))])
        self._all_joints = Names(self.joints)

    def add_to(self, builder: Builder) -> None:
        """Links, joints and frames, in MuJoCo's order, so that coordinates are in its order too."""
        m = self.m
        builder.body(self.names[0])
        for b in range(1, m.nbody):
            self._body(builder, b)
            if m.body_mass[b] > 0:
                builder.load(self.names[b], self._inertia(b))
        taken = set(self.names)
        for k in range(m.nsite):
            link = self.names[m.site_bodyid[k]]
            own = m.site(k).name
            self.sites[k] = own if own and own not in taken else self._links.new(f"{own or link}_site")
            builder.frame(self.sites[k], link, self.poses.pose(m.site_pos[k], m.site_quat[k]))

    def _body(self, builder: Builder, b: int) -> None:
        m, name = self.m, self.names[b]
        at = self.names[m.body_parentid[b]]
        at_H_L = self.poses.pose(m.body_pos[b], m.body_quat[b])
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            kind, L_o_j, reference = self._motion(j)
            if JOINTS[m.jnt_type[j]] == "free":  # its coordinates are the pose in the world
                at_H_L = Pose.identity()
            final = j == m.body_jntadr[b] + m.body_jntnum[b] - 1 and not L_o_j.any()
            child = name if final else self._links.new(f"{name}_{self.joints[j]}")
            builder.body(child).joint(
                self.joints[j],
                kind,
                parent=at,
                child=child,
                placement=at_H_L @ _moved(L_o_j) @ reference,
                limits=self._limits(j),
                passive=self._passive(j),
            )
            at, at_H_L = child, _moved(-L_o_j)
        if at != name:
            builder.body(name).joint(
                self._all_joints.new(f"{name}_fixed"), Fixed(), parent=at, child=name, placement=at_H_L
            )

    def _motion(self, j: int) -> tuple[Kind, NDArray[Any], Pose]:
        """The kind of a joint, the point of the body that it leaves in its place, and where its zero is."""
        m = self.m
        kind, o = JOINTS[m.jnt_type[j]], np.array(m.jnt_pos[j], dtype=float)
        none = Pose.identity()
        if kind == "free":
            return Floating(), np.zeros(3), none
        if kind == "ball":
            return Spherical(), o, none
        axis, zero = self.poses.axis(m.jnt_axis[j]), float(m.qpos0[m.jnt_qposadr[j]])
        if kind == "slide":
            return Prismatic(axis), np.zeros(3), _moved(-zero * np.array(axis))
        o -= np.dot(o, axis) * np.array(axis)  # a point along the axis stays where it is
        turned = Pose(Rotation.from_angle_axis(-zero, axis), np.zeros(3)) if zero else none
        return Revolute(axis), o if np.abs(o).max() > _CENTRED else np.zeros(3), turned

    def _limits(self, j: int) -> Limits:
        m = self.m
        lower, upper, effort = -INFINITY, INFINITY, INFINITY
        if m.jnt_limited[j] and JOINTS[m.jnt_type[j]] in ("slide", "hinge"):
            lower, upper = map(float, m.jnt_range[j])
        if m.jnt_actfrclimited[j]:
            effort = float(np.abs(m.jnt_actfrcrange[j]).max())
        return Limits(lower, upper, effort=effort)

    def _passive(self, j: int) -> Passive:
        m = self.m
        dof, at = m.jnt_dofadr[j], m.jnt_qposadr[j]
        rest = m.qpos_spring[at : at + coordinates(m, j)].tolist()
        return Passive(
            damping=m.dof_damping[dof] + self._motor_damping[j],
            friction=m.dof_frictionloss[dof],
            stiffness=m.jnt_stiffness[j],
            rest=tuple(rest) if m.jnt_stiffness[j] else None,
            armature=m.dof_armature[dof],
        )

    def _inertia(self, b: int) -> SpatialInertia:
        L_H_c = self.poses.pose(self.m.body_ipos[b], self.m.body_iquat[b])
        principal = np.diag(np.array(self.m.body_inertia[b], dtype=float))
        return L_H_c @ SpatialInertia(mass=float(self.m.body_mass[b]), com=np.zeros(3), inertia=principal)


def driving(m: Any) -> list[int]:
    """The actuators that drive one coordinate of a joint."""
    on_joints = (a for a in range(m.nactuator) if m.actuator_trntype[a] in (0, 1))  # the joint, from child or parent
    return [a for a in on_joints if JOINTS[m.jnt_type[m.actuator_trnid[a, 0]]] in ("slide", "hinge")]


def coordinates(m: Any, j: int) -> int:
    """The number of coordinates of a joint."""
    return (7, 4, 1, 1)[m.jnt_type[j]]


def neutral(m: Any) -> NDArray[Any]:
    """(nq,): zeros, and quaternions that do not turn."""
    q = np.zeros(m.nq)
    for j in range(m.njnt):
        if JOINTS[m.jnt_type[j]] in ("free", "ball"):
            q[m.jnt_qposadr[j] + coordinates(m, j) - 4] = 1.0
    return q


def _moved(position: NDArray[Any]) -> Pose:
    return Pose(Rotation.identity(), position)
