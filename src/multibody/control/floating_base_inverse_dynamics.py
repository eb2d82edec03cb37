"""Torques for an acceleration of a robot that stands on contacts.  [RD §3.10]

Motors at the joints behind the base, the rows of S, and the forces f of contacts make the motion together:

    S^T τ + J^T f = M a + h,   or   N_c^T S^T τ = N_c^T (M a + h) without f.  [RD 3.65]

The rows of the base have no τ: J_b^T f = (M a + h)_b says which f are possible, and the rows of the joints what τ goes
with each. In general there are many: they differ by internal forces, which load the contacts against each other and
move nothing. Neither M nor its inverse is needed for them.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.algorithms import rnea, rows
from multibody.algorithms.constraints import Constraint
from multibody.control._checks import check_contacts, expect_robot
from multibody.control._robot_controller import STATE, robot_function
from multibody.geometry._arrays import Array, matvec, transpose, truth
from multibody.model.actuation import actuated_indices, base_velocity_indices, with_zero_base
from multibody.model.tree import Tree
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import Kind
from multibody.solvers.hierarchical_least_squares import lexicographic
from multibody.solvers.program import Bounds
from multibody.solvers.strict_levels.projection import solve_within


def floating_inverse_dynamics(
    robot: Robot,
    contacts: Iterable[Constraint],
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    tau0: ArrayLike | None = None,
    forces: ArrayLike | None = None,
    limits: bool = False,
    active: ArrayLike | None = None,
    out: Any = None,
    threads: int | None = None,
) -> Array:
    """τ = (N_c^T S^T)^+ N_c^T (M a + h) + N τ0, (..., nv), zero on the base.  [RD 3.100-3.101]

    Without τ0 it is the τ of least norm that makes the robot accelerate so; with it, the
    nearest to τ0. Where contacts do not allow a, the equations of motion are met in the sense
    of least squares: the force and moment that the base lacks are of least norm, along the axes
    of the robot's velocities.

    Args:
        robot: floating, or fixed with contacts as well.
        contacts: constraints, as `mb.constraints.PointContact`, that hold.
        q: (..., nq).
        v: (..., nv).
        a: v', (..., nv).
        tau0: (..., nv), torques that are wanted as far as they leave the motion alone; the
            base's do not count.
        forces: (..., rows) on the robot, in the order of the contacts: what of them is internal
            is added to the forces that go with τ.
        limits: whether torques stay within those of the model, if need be at the cost of the
            acceleration.
        active: (..., contacts) of ones, and zeros for contacts that do not hold now.
        out: an array for the result.
        threads: over which a batch is split.

    Raises:
        InputError: when there is no contact, or an argument does not fit.

    >>> import multibody as mb
    >>> dog = mb.load("quadruped")
    >>> feet = [mb.constraints.PointContact(f, f) for f in dog.frames if f.startswith("foot")]
    >>> tau = floating_inverse_dynamics(dog, feet, dog.home(), np.zeros(18), np.zeros(18))
    >>> a, f = dog.constrained_dynamics(feet, dog.home(), np.zeros(18), tau)
    >>> bool(np.abs(a).max() < 1e-9)
    True
    """
    parts = check_contacts(expect_robot(robot), contacts, needed=True)
    if active is not None:
        rows.mask(parts, active)  # ones and zeros
    function = _function(robot, parts, truth(limits, "limits"))
    return function(q, v, a, tau0=tau0, forces=forces, active=active, out=out, threads=threads)


def distribute_torques(
    tree: Tree,
    contacts: Sequence[Constraint],
    q: Array,
    y: Array,
    tau0: Array | None = None,
    forces: Array | None = None,
    active: Array | None = None,
    *,
    limits: bool = False,
) -> Array:
    """The τ, (..., nv), with S^T τ + J^T f = y for some f, nearest to τ0 or of least norm.  [RD 3.100-3.101]

    y, (..., nv), are the generalized forces that motors and contacts make together.
    """
    joints, bases = actuated_indices(tree), base_velocity_indices(tree)
    J_T = transpose(active_jacobian(tree, contacts, q, active))
    y_joints, pull = y[..., joints], J_T[..., joints, :]
    wished = y_joints if tau0 is None else y_joints - tau0[..., joints]
    if forces is not None:
        wished = wished + matvec(pull, forces)
    levels = [(J_T[..., bases, :], y[..., bases])] if bases else []
    levels.append((pull, wished))
    if not limits:
        return with_zero_base(tree, y_joints - matvec(pull, lexicographic(levels)[0]))
    largest = np.broadcast_to(tree.effort_limits[joints], y_joints.shape)
    f = solve_within(levels, Bounds(pull, y_joints - largest, y_joints + largest))
    return with_zero_base(tree, np.minimum(np.maximum(y_joints - matvec(pull, f), -largest), largest))


def active_jacobian(tree: Tree, contacts: Sequence[Constraint], q: Array, active: Array | None = None) -> Array:
    """J, (..., rows, nv), of contacts, zero at those that do not hold."""
    J = rows.jacobian(tree, contacts, q)
    return J if active is None else J * rows.mask(contacts, active)[..., :, None]


@lru_cache(maxsize=64)
def _function(robot: Robot, contacts: tuple[Constraint, ...], limits: bool) -> RobotFunction:
    """The law as a kernel."""
    tree = robot.tree

    def torques(q: Array, v: Array, a: Array, **wishes: Any) -> Array:
        return distribute_torques(tree, contacts, q, rnea.rnea(tree, q, v, a), limits=limits, **wishes)

    inputs = STATE | {"a": "acceleration"}
    optional: dict[str, Kind] = {"tau0": "force", "forces": rows.count(contacts), "active": len(contacts)}
    return robot_function(robot, torques, inputs, optional, "control.floating_inverse_dynamics", limits, contacts)
