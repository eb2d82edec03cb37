"""MuJoCo as a peer."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model import joints
from multibody.model.layouts import MujocoLayout
from multibody.model.tree import Body
from peers.peer import Call, Library

_Axial = joints.Revolute | joints.Continuous | joints.Prismatic


class Mujoco(Library):
    """MuJoCo, called from Python; it always goes through its whole pipeline, contacts aside: there are no shapes."""

    name = "MuJoCo"
    package = "mujoco"

    def _built(self) -> dict[str, Call]:
        mj: Any = import_module("mujoco")
        model = self._compiled(mj)
        self.layout = MujocoLayout(self.model, model)
        data = mj.MjData(model)
        data.qpos[:], data.qvel[:] = self.layout.q_to(self.q), self.layout.v_to(self.q, self.v)
        a, tau = self.layout.a_to(self.q, self.v, self.a), self.layout.tau_to(self.q, self.a)
        site, M, J = model.site("frame").id, np.empty((model.nv, model.nv)), np.empty((6, model.nv))

        def pose() -> Any:
            mj.mj_kinematics(model, data)
            return data.site_xmat[site], data.site_xpos[site]

        def jacobian() -> Any:
            mj.mj_kinematics(model, data)
            mj.mj_comPos(model, data)
            mj.mj_jacSite(model, data, J[:3], J[3:], site)
            return J

        def mass_matrix() -> Any:
            mj.mj_kinematics(model, data)
            mj.mj_comPos(model, data)
            mj.mj_makeM(model, data)
            mj.mj_fullM(model, data, M)
            return M

        def inverse() -> Any:
            data.qacc[:] = a
            mj.mj_inverse(model, data)
            return data.qfrc_inverse

        def forward() -> Any:
            data.qfrc_applied[:] = tau
            mj.mj_forward(model, data)
            return data.qacc

        return {
            "pose": pose,
            "jacobian": jacobian,
            "inverse_dynamics": inverse,
            "forward_dynamics": forward,
            "mass_matrix": mass_matrix,
        }

    def _array(self, name: str, result: Any) -> NDArray[Any]:
        if name != "pose":
            return super()._array(name, result)
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = result[0].reshape(3, 3), result[1]
        return H

    def _compiled(self, mj: Any) -> Any:
        spec = mj.MjSpec()
        spec.option.gravity = self.model.gravity
        made = {0: spec.worldbody}
        joints_of = self._joints_of_bodies()
        for i, _, body in self.model.tree.outward():
            if i in joints_of:
                made[i] = self._body(mj, made, body, joints_of[i])
        i, i_H_F = self.model.tree.frame(self.frame)
        if i not in made:
            raise InputError(f"has no body for the frame {self.frame!r}, which is on a link without mass")
        made[i].add_site(name="frame", pos=i_H_F.position, quat=i_H_F.rotation.quaternion)
        try:
            model = spec.compile()
        except ValueError as error:
            reason = " ".join(str(error).split()).removeprefix("Error: ").rstrip(".")
            raise InputError(f"does not take this robot: {reason}") from None
        for joint in self.model.joints:
            first = model.jnt_dofadr[model.joint(joint.name).id]
            model.dof_armature[first : first + joint.kind.nv] = self.model.armature[joint.v]
        return model

    def _joints_of_bodies(self) -> dict[int, list[Body]]:
        """For each body of MuJoCo, our bodies whose joints move it: itself last, those without mass on the way first.

        MuJoCo takes no body without mass, but several joints on one body, which our loader takes apart.
        """
        children: dict[int, list[int]] = {}
        for i, parent, _ in self.model.tree.outward():
            children.setdefault(parent, []).append(i)
        waiting: dict[int, list[Body]] = {}
        chains: dict[int, list[Body]] = {}
        for i, parent, body in self.model.tree.outward():
            chain = [*waiting.get(parent, []), body]
            empty = not body.inertia.mass and not np.any(body.inertia.inertia)
            if empty and len(children.get(i, [])) == 1:
                waiting[i] = chain
            else:
                chains[i] = chain
        return chains

    def _body(self, mj: Any, made: dict[int, Any], body: Body, chain: list[Body]) -> Any:
        """A body with the joints of a chain. Frames: P the body before the chain, j a body of it, i its last."""
        kinds = {
            joints.Revolute: mj.mjtJoint.mjJNT_HINGE,
            joints.Continuous: mj.mjtJoint.mjJNT_HINGE,
            joints.Prismatic: mj.mjtJoint.mjJNT_SLIDE,
            joints.Spherical: mj.mjtJoint.mjJNT_BALL,
            joints.Floating: mj.mjtJoint.mjJNT_FREE,
        }
        P_H_i, i_H_j = chain[0].joint.placement, [Pose.identity()]
        for each in chain[1:]:
            P_H_i = P_H_i @ each.joint.placement
        for each in reversed(chain[1:]):
            i_H_j.insert(0, i_H_j[0] @ each.joint.placement.inverse())
        parent = made[chain[0].parent]
        result = parent.add_body(name=f"link {body.name}", pos=P_H_i.position, quat=P_H_i.rotation.quaternion)
        for each, i_H in zip(chain, i_H_j, strict=True):
            kind = each.joint.kind
            if type(kind) not in kinds:
                raise self._unknown(kind)
            if isinstance(kind, joints.Spherical) and not np.allclose(i_H.rotation.matrix, np.eye(3), atol=1e-12):
                raise InputError(f"has no ball joint turned in its body, as {each.joint.name!r} would be")
            axis = {"axis": i_H.rotation @ np.array(kind.axis)} if isinstance(kind, _Axial) else {}
            result.add_joint(name=each.joint.name, type=kinds[type(kind)], pos=i_H.position, **axis)
        I = body.inertia.inertia
        result.mass, result.ipos = float(body.inertia.mass), body.inertia.com
        result.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        result.explicitinertial = True
        return result
