"""Drake as a peer."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.model import joints
from multibody.model.joint import Joint
from multibody.model.layouts._joint_maps import Part, Turned
from multibody.model.layouts._layout import Layout
from peers.peer import Call, Library


class Drake(Library):
    """Drake, called from Python; it sees a new state in every call, so that its cache has nothing to give."""

    name = "Drake"
    package = "pydrake"

    def _built(self) -> dict[str, Call]:
        logging.getLogger("drake").setLevel(logging.ERROR)
        tree: Any = import_module("pydrake.multibody.tree")
        transform: Any = import_module("pydrake.math").RigidTransform
        try:
            plant, frame = self._plant(tree, transform)
        except RuntimeError as error:
            raise InputError(f"does not take this robot: {str(error).splitlines()[0].rstrip('.')}") from None
        self.layout = DrakeLayout(self.model, _Sizes(plant.num_positions(), plant.num_velocities(), plant))
        context, forces = plant.CreateDefaultContext(), tree.MultibodyForces(plant)
        q, v = self.layout.q_to(self.q), self.layout.v_to(self.q, self.v)
        a = self.layout.a_to(self.q, self.v, self.a)
        plant.get_applied_generalized_force_input_port().FixValue(context, self.layout.tau_to(self.q, self.a))
        accelerations, world = plant.get_generalized_acceleration_output_port(), plant.world_frame()
        by_v, origin = tree.JacobianWrtVariable.kV, np.zeros(3)

        def fresh() -> None:
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)

        def pose() -> Any:
            fresh()
            return frame.CalcPoseInWorld(context)

        def jacobian() -> Any:
            fresh()
            return plant.CalcJacobianSpatialVelocity(context, by_v, frame, origin, world, world)

        def inverse() -> Any:
            fresh()
            forces.SetZero()
            plant.CalcForceElementsContribution(context, forces)
            return plant.CalcInverseDynamics(context, a, forces)

        def forward() -> Any:
            fresh()
            return accelerations.Eval(context)

        def mass_matrix() -> Any:
            fresh()
            return plant.CalcMassMatrix(context)

        return {
            "pose": pose,
            "jacobian": jacobian,
            "inverse_dynamics": inverse,
            "forward_dynamics": forward,
            "mass_matrix": mass_matrix,
        }

    def _array(self, name: str, result: Any) -> NDArray[Any]:
        if name == "pose":
            return result.GetAsMatrix4()
        array = super()._array(name, result)
        return array[[3, 4, 5, 0, 1, 2]] if name == "jacobian" else array

    def _plant(self, tree: Any, transform: Any) -> tuple[Any, Any]:
        """The robot, and the frame whose pose is asked for."""
        plant = import_module("pydrake.multibody.plant").MultibodyPlant(0.0)
        plant.mutable_gravity_field().set_gravity_vector(np.array(self.model.gravity))
        bodies = [plant.world_body()]
        for i, parent, body in self.model.tree.outward():
            joint = body.joint
            bodies.append(plant.AddRigidBody(f"link {body.name}", _inertia(tree, body.inertia)))
            p_H_i = transform(joint.placement.matrix)
            place = plant.AddFrame(tree.FixedOffsetFrame(f"place {i}", bodies[parent].body_frame(), p_H_i))
            made = plant.AddJoint(self._joint(tree, joint, place, bodies[i].body_frame()))
            drives = self.model.armature[joint.v]
            if joint.kind.nv == 1 and drives[0]:
                plant.AddJointActuator(joint.name, made).set_default_rotor_inertia(float(drives[0]))
            elif np.any(drives):
                raise InputError(f"has no armature for a {joint.kind.name} joint")
        i, i_H_F = self.model.tree.frame(self.frame)
        frame = plant.AddFrame(tree.FixedOffsetFrame("frame", bodies[i].body_frame(), transform(i_H_F.matrix)))
        plant.Finalize()
        return plant, frame

    def _joint(self, tree: Any, joint: Joint, place: Any, body: Any) -> Any:
        kind = joint.kind
        if isinstance(kind, joints.Revolute | joints.Continuous):
            return tree.RevoluteJoint(joint.name, place, body, np.array(kind.axis, dtype=float))
        if isinstance(kind, joints.Prismatic):
            return tree.PrismaticJoint(joint.name, place, body, np.array(kind.axis, dtype=float))
        if isinstance(kind, joints.Floating):
            return tree.QuaternionFloatingJoint(joint.name, place, body)
        raise self._unknown(kind)


def _inertia(tree: Any, inertia: Any) -> Any:
    I = inertia.inertia
    central = tree.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    if not inertia.mass:
        return tree.SpatialInertia.Zero()
    return tree.SpatialInertia.MakeFromCentralInertia(float(inertia.mass), np.array(inertia.com), central)


class _Sizes(NamedTuple):
    nq: int
    nv: int
    plant: Any


class DrakeLayout(Layout):
    """Between a model of ours and a `MultibodyPlant` with joints of the same names."""

    peer_name = "Drake"

    def _pair(self, ours: Sequence[Joint], peer: _Sizes) -> list[Part]:
        parts = []
        for joint in ours:
            their = peer.plant.GetJointByName(joint.name)
            q, v = their.position_start(), their.velocity_start()
            part = InParent if isinstance(joint.kind, joints.Floating) else Part
            parts.append(part(joint, tuple(range(q, q + joint.kind.nq)), tuple(range(v, v + joint.kind.nv))))
        return parts


@dataclass(frozen=True)
class InParent(Turned):
    """Drake's floating joint: quaternion first, angular velocity first, both velocities in the frame of the joint."""

    def q_to(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([x[..., 3:], x[..., :3]], axis=-1)

    def q_from(self, y: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([y[..., 4:], y[..., :4]], axis=-1)

    def v_to(self, x: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        w = super().v_to(x, v)
        return np.concatenate([self._rotation(x) @ w[..., 3:], w[..., :3]], axis=-1)

    def v_from(self, x: NDArray[Any], w: NDArray[Any]) -> NDArray[Any]:
        angular = self._rotation(x).inverse() @ w[..., :3]
        linear = np.broadcast_to(w[..., 3:], angular.shape)
        return super().v_from(x, np.concatenate([linear, angular], axis=-1))
