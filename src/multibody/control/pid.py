"""PID control of every joint by itself, as industry has it, with an integral that does not wind up.  [RD §3.8]"""

from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from multibody.control._checks import check_positive
from multibody.control._robot_controller import RobotController
from multibody.control.joint_space import joint_gains
from multibody.errors import InputError
from multibody.geometry._arrays import Array, check_values, floats
from multibody.model.actuation import actuated_coordinates, actuated_indices, joint_error, with_zero_base
from multibody.robot import Robot
from multibody.simulate.controllers import Sampled


@final
class PID(RobotController, Sampled):
    """A controller with memory for `simulate`: τ = kp e + ki ∫ e dt - kd v at the
    joints behind the base.

    It knows no model: the integral learns the load, so that the error vanishes where that of a
    PD stays [RD 3.74]. Torques are clipped at their limits. While a joint's torque is at a
    limit, its integral changes only to bring it back: it does not wind up (conditional
    integration).

        simulator = simulate.Simulator(robot, dt=0.002, controller=pid, state=pid.state)
        run = simulator(q, seconds=1.0, inputs=target)

    Args:
        robot: fixed or floating; τ is zero on a floating base.
        kp: in N m/rad or N/m, not negative: a number, or one for each velocity behind the base.
        ki: in N m/(rad s), likewise.
        kd: in N m s/rad, likewise.
        dt: in s, the time between two calls; a simulator whose dt times control_every is
            another one refuses it.
        effort: the largest torques, in N m or N, a number or one for each velocity; by default
            those of the model, zero at joints without a motor.

    Raises:
        InputError: when an argument does not fit.

    >>> import multibody as mb
    >>> pid = PID(mb.load("double-pendulum"), kp=50.0, ki=100.0, kd=5.0, dt=0.01)
    >>> tau, state = pid(0.0, np.zeros(2), np.zeros(2), np.array([0.1, 0.0]), pid.state)
    >>> tau, state
    (array([5.1, 0. ]), array([0.001, 0. ]))
    """

    __slots__ = ("_dt", "_effort", "_gains", "_home")

    def __init__(
        self, robot: Robot, kp: ArrayLike, ki: ArrayLike, kd: ArrayLike, dt: float, *, effort: ArrayLike | None = None
    ) -> None:
        super().__init__(robot)
        joints = actuated_indices(robot.tree)
        n = len(joints)
        self._gains = tuple(joint_gains(x, name, n, robot.dtype) for name, x in (("kp", kp), ("ki", ki), ("kd", kd)))
        if any(gain.ndim > 1 for gain in self._gains):
            raise InputError(f"kp, ki, kd: expected finite numbers, or {n} each, one for each velocity")
        if np.ndim(dt):
            raise InputError(f"dt: expected one number, a time in s, got shape {np.shape(dt)}")
        self._dt = float(check_positive(floats(dt, "dt"), "dt", "a time in s"))
        limit = robot.tree.effort_limits[joints] if effort is None else floats(effort, "effort")
        least = limit > 0 if effort is not None else (limit >= 0) & (limit > 0).any()  # a model may have no motor here
        if limit.shape not in ((), (n,)) or not least.all():
            source = f"those of the model, {limit}" if effort is None else repr(effort)
            raise InputError(f"effort: expected positive torques, a number or {n} of them, got {source}")
        self._effort = np.broadcast_to(limit, (n,)).astype(robot.dtype)
        self._home = robot.home()[actuated_coordinates(robot.tree)]

    @property
    def dt(self) -> float:
        """In s, the time between two calls: dt times control_every of a simulator."""
        return self._dt

    @property
    def state(self) -> Array:
        """(n,): the state in which it starts, integrals of zero."""
        return np.zeros_like(self._effort)

    def __call__(self, t: Any, q: Any, v: Any, target: Any, state: Any) -> tuple[Any, Any]:
        """τ, (nv,), and the integrals of the errors after this step, (n,), in rad s or m s.

        Args:
            t: the time, which does not matter.
            q: (nq,).
            v: (nv,).
            target: (nq behind the base,), the targets of the joints; None is the robot's home.
            state: (n,), the integrals so far.
        """
        del t
        tree = self._robot.tree
        kp, ki, kd = self._gains
        joints = actuated_indices(tree)
        q, v, state = floats(q, "q", tree.nq), floats(v, "v", tree.nv), floats(state, "state", len(joints))
        goal = self._home if target is None else floats(target, "target", len(self._home))
        check_values(goal, "target", np.isfinite, "finite targets of joints", core=1)
        error = joint_error(tree, q, goal)
        base = kp * error - kd * v[..., joints]
        ahead = state + self._dt * error
        wished = base + ki * ahead
        winding = (np.abs(wished) > self._effort) & (wished * error > 0)
        integral = np.where(winding, state, ahead)
        tau = np.minimum(np.maximum(base + ki * integral, -self._effort), self._effort)
        return with_zero_base(tree, tau), integral

    def __repr__(self) -> str:
        return f"<PID of {self._robot.name!r}, every {self._dt:g} s>"
