"""Other libraries, when they are installed, as peers: the same robot, built from our model, and what they compute."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.model import joints
from multibody.model.layouts import MujocoLayout, PinocchioLayout
from multibody.model.layouts._layout import Layout
from multibody.model.model import Model

Call = Callable[[], Any]


class Peer(ABC):
    """A peer at one state: `calls` are evaluations to be timed, by the names of our quantities."""

    name: str
    package: str
    """To be imported."""
    layout: Layout

    def __init__(self, model: Model, frame: str, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]) -> None:
        for joint in model.joints:
            if joint.mimic is not None:
                raise InputError(f"is given no coupled joints, such as {joint.name!r}")
        self.model, self.frame, self.q, self.v, self.a = model, frame, q, v, a
        self.calls = self._built()

    @classmethod
    def installed(cls) -> bool:
        """Whether the package can be imported."""
        try:
            return find_spec(cls.package) is not None
        except ValueError:
            return False

    @abstractmethod
    def _built(self) -> dict[str, Call]:
        """Build the robot and its layout; the evaluations, each returning numbers in the peer's own coordinates."""

    def _unknown(self, kind: joints.Kind) -> InputError:
        return InputError(f"has no {kind.name} joint that this command knows")

    def disagreement(self, ours: dict[str, Any]) -> float:
        """The largest difference between the peer's results and ours, relative to the size of each.

        Args:
            ours: results by the names of quantities; "pose" is a matrix (4, 4).
        """
        T = np.stack([self.layout.v_to(self.q, column) for column in np.eye(self.model.nv)], axis=-1)
        peer_q = self.layout.q_to(self.q)
        peer_v = self.layout.v_to(self.q, self.v)
        same: dict[str, Callable[[Any], Any]] = {
            "inverse_dynamics": lambda tau: self.layout.tau_from(peer_q, tau),
            "forward_dynamics": lambda a: self.layout.a_from(peer_q, peer_v, a),
            "mass_matrix": lambda M: T.T @ M @ T,
            "jacobian": lambda J: J @ T,
            "pose": lambda H: H,
        }
        worst = 0.0
        for name, convert in same.items():
            theirs = convert(np.array(self.calls[name]()))
            worst = max(worst, float(np.abs(theirs - ours[name]).max() / max(np.abs(ours[name]).max(), 1e-9)))
        return worst


class Pinocchio(Peer):
    """Pinocchio, called from Python."""

    name = "Pinocchio"
    package = "pinocchio"

    def _built(self) -> dict[str, Call]:
        pin: Any = import_module("pinocchio")
        model = pin.Model()
        model.gravity.linear = np.array(self.model.gravity)
        for _, parent, body in self.model.outward():
            placement = pin.SE3(*_parts(body.joint.placement))
            k = model.addJoint(parent, self._joint(pin, body.joint.kind), placement, body.joint.name)
            inertia = body.inertia
            model.appendBodyToJoint(
                k, pin.Inertia(float(inertia.mass), inertia.com, inertia.inertia), pin.SE3.Identity()
            )
        model.armature[:] = self.model.armature
        i, i_H_F = self.model.frame(self.frame)
        frame = model.addFrame(pin.Frame(f"frame {self.frame}", i, 0, pin.SE3(*_parts(i_H_F)), pin.OP_FRAME))
        self.layout = PinocchioLayout(self.model, model)
        data = model.createData()
        q, v = self.layout.q_to(self.q), self.layout.v_to(self.q, self.v)
        a, tau = self.layout.a_to(self.q, self.v, self.a), self.layout.tau_to(self.q, self.a)
        mixed = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

        def pose() -> Any:
            pin.forwardKinematics(model, data, q)
            pin.updateFramePlacement(model, data, frame)
            return data.oMf[frame].homogeneous

        return {
            "pose": pose,
            "jacobian": lambda: pin.computeFrameJacobian(model, data, q, frame, mixed),
            "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
            "forward_dynamics": lambda: pin.aba(model, data, q, v, tau),
            "mass_matrix": lambda: pin.crba(model, data, q),
            "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        }

    def _joint(self, pin: Any, kind: joints.Kind) -> Any:
        if isinstance(kind, joints.Revolute | joints.Continuous):
            return _along(pin, kind.axis, "JointModelR", pin.JointModelRevoluteUnaligned)
        if isinstance(kind, joints.Prismatic):
            return _along(pin, kind.axis, "JointModelP", pin.JointModelPrismaticUnaligned)
        if isinstance(kind, joints.Universal):
            return pin.JointModelUniversal(np.array(kind.first), np.array(kind.second))
        plain = {
            joints.Floating: pin.JointModelFreeFlyer,
            joints.Spherical: pin.JointModelSpherical,
            joints.Planar: pin.JointModelPlanar,
            joints.Translational: pin.JointModelTranslation,
        }
        if type(kind) not in plain:
            raise self._unknown(kind)
        return plain[type(kind)]()


class Mujoco(Peer):
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
            H = np.eye(4)
            H[:3, :3], H[:3, 3] = data.site_xmat[site].reshape(3, 3), data.site_xpos[site]
            return H

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

    def _compiled(self, mj: Any) -> Any:
        spec = mj.MjSpec()
        spec.option.gravity = self.model.gravity
        kinds = {
            joints.Revolute: mj.mjtJoint.mjJNT_HINGE,
            joints.Continuous: mj.mjtJoint.mjJNT_HINGE,
            joints.Prismatic: mj.mjtJoint.mjJNT_SLIDE,
            joints.Spherical: mj.mjtJoint.mjJNT_BALL,
            joints.Floating: mj.mjtJoint.mjJNT_FREE,
        }
        bodies = [spec.worldbody]
        for i, parent, body in self.model.outward():
            joint, inertia = body.joint, body.inertia
            if type(joint.kind) not in kinds:
                raise self._unknown(joint.kind)
            p_H_i = joint.placement
            made = bodies[parent].add_body(name=f"body {i}", pos=p_H_i.position, quat=p_H_i.rotation.quaternion)
            axis = {"axis": joint.kind.axis} if isinstance(joint.kind, _Axial) else {}
            made.add_joint(name=joint.name, type=kinds[type(joint.kind)], **axis)
            I = inertia.inertia
            made.mass, made.ipos = float(inertia.mass), inertia.com
            made.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
            made.explicitinertial = True
            bodies.append(made)
        i, i_H_F = self.model.frame(self.frame)
        bodies[i].add_site(name="frame", pos=i_H_F.position, quat=i_H_F.rotation.quaternion)
        try:
            model = spec.compile()
        except ValueError as error:
            raise InputError(f"does not take this robot: {error}") from None
        for joint in self.model.joints:
            first = model.jnt_dofadr[model.joint(joint.name).id]
            model.dof_armature[first : first + joint.kind.nv] = self.model.armature[joint.v]
        return model


PEERS: tuple[type[Peer], ...] = (Pinocchio, Mujoco)

_Axial = joints.Revolute | joints.Continuous | joints.Prismatic


def _parts(pose: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.array(pose.rotation.matrix), np.array(pose.position)


def _along(pin: Any, axis: Any, aligned: str, otherwise: Any) -> Any:
    """The joint of Pinocchio about or along an axis: those along x, y and z are its fastest."""
    for k, letter in enumerate("XYZ"):
        if np.array_equal(axis, np.eye(3)[k]):
            return getattr(pin, aligned + letter)()
    return otherwise(np.array(axis, dtype=float))
