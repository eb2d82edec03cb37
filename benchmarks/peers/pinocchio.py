"""Pinocchio as a peer."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.model import joints
from multibody.model.layouts import PinocchioLayout
from peers.peer import Call, Library


class Pinocchio(Library):
    """Pinocchio, called from Python."""

    name = "Pinocchio"
    package = "pinocchio"

    def _built(self) -> dict[str, Call]:
        pin: Any = import_module("pinocchio")
        model = pin.Model()
        model.gravity.linear = np.array(self.model.gravity)
        for _, parent, body in self.model.tree.outward():
            placement = pin.SE3(*_parts(body.joint.placement))
            k = model.addJoint(parent, self._joint(pin, body.joint.kind), placement, body.joint.name)
            inertia = body.inertia
            model.appendBodyToJoint(
                k, pin.Inertia(float(inertia.mass), inertia.com, inertia.inertia), pin.SE3.Identity()
            )
        model.armature[:] = self.model.armature
        i, i_H_F = self.model.tree.frame(self.frame)
        frame = model.addFrame(pin.Frame(f"frame {self.frame}", i, 0, pin.SE3(*_parts(i_H_F)), pin.OP_FRAME))
        self.layout = PinocchioLayout(self.model, model)
        data = model.createData()
        q, v = self.layout.q_to(self.q), self.layout.v_to(self.q, self.v)
        a, tau = self.layout.a_to(self.q, self.v, self.a), self.layout.tau_to(self.q, self.a)
        mixed = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

        def pose() -> Any:
            pin.forwardKinematics(model, data, q)
            return pin.updateFramePlacement(model, data, frame)

        calls: dict[str, Call] = {
            "pose": pose,
            "jacobian": lambda: pin.computeFrameJacobian(model, data, q, frame, mixed),
            "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
            "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
            "forward_dynamics": lambda: pin.aba(model, data, q, v, tau),
            "mass_matrix": lambda: pin.crba(model, data, q),
        }
        if any(isinstance(joint.kind, joints.Universal) for joint in self.model.joints):
            del calls["inverse_dynamics_derivatives"]
            self.remarks.append(
                "Its derivatives are left out: with a universal joint they are not those of its own inverse dynamics."
            )
        return calls

    def _array(self, name: str, result: Any) -> NDArray[Any]:
        return result.homogeneous if name == "pose" else super()._array(name, result)

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


def _parts(pose: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.array(pose.rotation.matrix), np.array(pose.position)


def _along(pin: Any, axis: Any, aligned: str, otherwise: Any) -> Any:
    """The joint of Pinocchio about or along an axis: those along x, y and z are its fastest."""
    for k, letter in enumerate("XYZ"):
        if np.array_equal(axis, np.eye(3)[k]):
            return getattr(pin, aligned + letter)()
    return otherwise(np.array(axis, dtype=float))
