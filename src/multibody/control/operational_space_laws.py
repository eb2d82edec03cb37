"""The laws of operational space, as functions of a tree: torques that move a frame, and push with it.

[RD §3.9, §3.9.3, §3.9.4]
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from multibody.algorithms import coriolis, jacobian, kinematics
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints import Constraint
from multibody.control.floating_base_inverse_dynamics import distribute_torques
from multibody.control.pose_error import DIFFERENCE, ROTATION_VECTOR, pose_error
from multibody.control.task_space_dynamics import TaskDynamics
from multibody.geometry import Pose, Rotation, rates
from multibody.geometry._arrays import Array, eye_like, matvec, transpose
from multibody.model import base_velocity
from multibody.model.actuation import actuated_indices, with_zero_base
from multibody.model.tree import Tree


@dataclass(frozen=True)
class Laws:
    """The laws of `OperationalSpace` for one frame; fields and arguments are those of `OperationalSpace`."""

    frame: str
    chosen: slice
    contacts: tuple[Constraint, ...]
    compensation: str
    error: str
    heaviest: float

    @property
    def count(self) -> int:
        """m, the number of rows."""
        return self.chosen.stop - self.chosen.start

    def task(self, tree: Tree, q: Array) -> TaskDynamics:
        """The dynamics of the frame; the base has its velocity in "left" there."""
        return TaskDynamics(with_base(tree, "left"), self.frame, self.chosen, q, self.heaviest, self.contacts)

    def torques(self, tree: Tree, q: Array, v: Array, **wishes: Any) -> Array:
        """τ for a motion and a wrench.  [RD 3.90-3.99]"""
        task, v = self.task(tree, q), base_velocity.to_left(tree, q, v)
        axes, wanted, push = wishes.get("axes"), wishes.get("acceleration", np.zeros_like(task.J[..., 0])), None
        if "kp" in wishes:  # [RD 3.91]
            wanted = wanted + along(axes, wishes["kp"], self._pose_error(task, wishes["pose"]))
        if "kd" in wishes:
            wanted = wanted + along(axes, wishes["kd"], self._velocity_error(task, v, wishes.get("twist")))
        if "motion" in wishes:
            wanted = along(axes, wishes["motion"], wanted)
        if "wrench" in wishes:
            push = along(axes, 1.0 - wishes["motion"], wishes["wrench"])
        load = coriolis.bias(task.tree, q, v)
        return self._torques(task, wanted - task.drift(v), push, load, wishes.get("tau0"))

    def impedance(
        self, tree: Tree, q: Array, v: Array, pose: Pose, stiffness: Array, damping: Array, **wishes: Any
    ) -> Array:
        """τ of a spring and a damper at the frame, with an inertia that is wanted or its own."""
        task, v = self.task(tree, q), base_velocity.to_left(tree, q, v)
        off = pose_error(pose, kinematics.pose(task.tree, self.frame, q))[..., self.chosen]
        force = spring(stiffness, off) + matvec(damping, self._velocity_error(task, v, wishes.get("twist")))
        inertia, external, tau0 = wishes.get("inertia"), wishes.get("external"), wishes.get("tau0")
        if inertia is None:
            return self._torques(task, None, force, coriolis.gravity(task.tree, q), tau0)
        push = None
        if external is not None:
            force, push = force + external, -external
        wanted = np.linalg.solve(inertia, force[..., None])[..., 0] - task.drift(v)
        if "acceleration" in wishes:
            wanted = wanted + wishes["acceleration"]
        return self._torques(task, wanted, push, coriolis.bias(task.tree, q, v), tau0)

    def inertia(self, tree: Tree, q: Array) -> Array:
        """Λ.  [RD 3.87]"""
        return self.task(tree, q).inertia

    def bias(self, tree: Tree, q: Array, v: Array) -> Array:
        """μ.  [RD 3.88]"""
        task, v = self.task(tree, q), base_velocity.to_left(tree, q, v)
        b = coriolis.bias(task.tree, q, v) - coriolis.gravity(task.tree, q)
        return matvec(task.inertia, task.acceleration(b) - task.drift(v))

    def gravity(self, tree: Tree, q: Array) -> Array:
        """p.  [RD 3.89]"""
        task = self.task(tree, q)
        return matvec(task.inertia, task.acceleration(coriolis.gravity(task.tree, q)))

    def inverse(self, tree: Tree, q: Array) -> Array:
        """J̄, for the velocities of the tree."""
        J_bar = self.task(tree, q).inverse()
        columns = [base_velocity.from_left(tree, q, J_bar[..., :, k]) for k in range(self.count)]
        return np.stack(columns, axis=-1)

    def null_space_projector(self, tree: Tree, q: Array) -> Array:
        """1 - J^T J̄^T."""
        J = jacobian.jacobian(tree, self.frame, q, "mixed")[..., self.chosen, :]
        return eye_like(J, J.shape[-1]) - transpose(np.matmul(self.inverse(tree, q), J))

    def _pose_error(self, task: TaskDynamics, pose: Pose) -> Array:
        """Δ, (..., m), along the world's axes.  [RD 3.91-3.92]"""
        actual = kinematics.pose(task.tree, self.frame, task.q)
        if self.error == ROTATION_VECTOR:
            return pose_error(pose, actual)[..., self.chosen]
        name = ROTATION_VECTOR if self.error == DIFFERENCE else self.error
        chi = rates.parameters(name, actual.rotation)
        turn = matvec(rates.angular(name, chi), rates.parameters(name, pose.rotation) - chi)
        return np.concatenate([pose.position - actual.position, turn], axis=-1)[..., self.chosen]

    def _velocity_error(self, task: TaskDynamics, v: Array, twist: Any) -> Array:
        """w* - w, (..., m)."""
        w = kinematics.velocity(task.tree, self.frame, task.q, v, "mixed")[..., self.chosen]
        return -w if twist is None else twist - w

    def _torques(self, task: TaskDynamics, wanted: Any, push: Any, load: Array, tau0: Any) -> Array:
        """J^T (Λ wanted + push) + load + N^T τ0, or torques of least norm that do the same on contacts.  [RD 3.96]"""
        forces = [] if push is None else [push]
        accelerations = [] if wanted is None else [wanted]
        y = load
        if self.compensation == "task":  # [RD 3.90, 3.97]
            accelerations, y = [*accelerations, task.acceleration(load)], np.zeros_like(load)
        if tau0 is not None:
            own = with_zero_base(task.tree, tau0[..., actuated_indices(task.tree)])
            accelerations, y = [*accelerations, -task.acceleration(own)], y + own
        if accelerations:
            forces.append(matvec(task.inertia, sum(accelerations[1:], start=accelerations[0])))
        for force in forces:
            y = y + matvec(transpose(task.J), force)
        if self.contacts:
            return distribute_torques(task.tree, self.contacts, task.q, y)
        return with_zero_base(task.tree, y[..., actuated_indices(task.tree)])


def along(axes: Rotation | None, gains: Array, x: Array) -> Array:
    """C diag(gains) C^T x, (..., m), for each three of x: factors along axes, C = world_R_task.  [RD 3.98-3.99]"""
    if axes is None:
        return gains * x
    C = axes.matrix
    parts = [slice(k, k + 3) for k in range(0, x.shape[-1], 3)]
    turned = [matvec(C, gains[..., part] * matvec(transpose(C), x[..., part])) for part in parts]
    return np.concatenate(turned, axis=-1)


def spring(stiffness: Array, off: Array) -> Array:
    """(..., m): the pull of a spring with the energy Δ^T K Δ / 2; the last three of six are a rotation vector.

    As the frame turns, R* R^T = exp(φ) turns back from the right: φ' = -E^-T ω with the E of rotation vectors, so that
    the moment is E^-1 times the gradient by φ. For the same stiffness about all axes both are equal.
    """
    gradient = matvec(stiffness, off)
    if off.shape[-1] == 3:
        return gradient
    E_inverse = rates.angular_inverse("rotation-vector", off[..., 3:])
    return np.concatenate([gradient[..., :3], matvec(E_inverse, gradient[..., 3:])], axis=-1)
