"""Contacts: methods of Robot about constraints, their forces, and impacts."""

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms.constrained_dynamics import Constrained, Impact
from multibody.algorithms.constrained_dynamics_derivatives import ConstrainedDerivatives
from multibody.algorithms.constraints import Constraint, ConstraintSet
from multibody.errors import InputError
from multibody.geometry._arrays import floats, truth
from multibody.model import configuration
from multibody.robot._dynamics import Wrenches, wrench_arrays
from multibody.robot._face import Face
from multibody.robot.kernels import Task
from multibody.robot.requests import constraints_on

Constraints = ConstraintSet | Iterable[Constraint]


class Contacts(Face):
    """Arguments: `constraints`, as `robot.constraints` makes them or as a list; q (..., nq), v and tau (..., nv).

    `active` are ones, and zeros for what does not hold now, (..., constraints) or (..., rows). Forces are on the robot:
    M a + h = τ + J^T f. RD's F_c [RD 3.57] is -f.
    """

    def constraints(self, constraints: Constraints) -> ConstraintSet:
        """Several constraints as one, checked: its rows, their names, ranks, error(q), jacobian(q), bias(q, v).

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> feet = robot.constraints([mb.constraints.PointContact(foot, foot) for foot in ("foot-lf", "foot-rh")])
        >>> feet.rows, feet.ranks(robot.home()).base
        (6, 5)
        """
        return constraints_on(self.model, constraints)

    def constrained_dynamics(
        self,
        constraints: Constraints,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        method: str = "least-norm",
        active: ArrayLike | None = None,
        baumgarte: ArrayLike | None = None,
        passive: bool = False,
        out: Any = None,
        threads: int | None = None,
    ) -> Constrained:
        """(acceleration, force): what the robot does and what the constraints push with.  [RD 3.57-3.62]

        The force is on the robot: RD's F_c [3.57] has the opposite sign.

        Args:
            constraints: that hold.
            q: (..., nq).
            v: (..., nv).
            tau: (..., nv).
            wrenches: further ones, {frame: (..., 6)}.
            method: "least-norm" for any rows; "exact" for fewer operations where no row is redundant.
            active: which constraints or rows hold, sample by sample.
            baumgarte: (..., 2), stiffness in 1/s² and damping in 1/s, to pull back what has drifted apart.
            passive: whether the joints' damping, dry friction and springs act, too.
            out: two arrays, for the acceleration and for the forces.
            threads: over which a batch is split.

        >>> import multibody as mb
        >>> import numpy as np
        >>> robot = mb.load("quadruped")
        >>> feet = robot.constraints([mb.constraints.PointContact(f, f) for f in robot.frames if f.startswith("foot")])
        >>> a, f = robot.constrained_dynamics(feet, robot.home(), np.zeros(18), np.zeros(18))
        >>> a.shape, f.shape
        ((18,), (12,))
        """
        if passive is not False and truth(passive, "passive"):
            tau = configuration.sized(self.model.tree, tau, "tau") + self._run("passive", (q, v), threads=threads)
        held = constraints_on(self.model, constraints)
        optional = _given(held, active, baumgarte=None if baumgarte is None else dynamics.gains_of(baumgarte))
        found = self._under("constrained_dynamics", held, (q, v, tau), wrenches, optional, method, out, threads)
        return Constrained(*found)

    def constrained_dynamics_derivatives(
        self,
        constraints: Constraints,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        method: str = "least-norm",
        active: ArrayLike | None = None,
        baumgarte: ArrayLike | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> ConstrainedDerivatives:
        """Of the acceleration by q, v and τ, (..., nv, nv), then of the forces, (..., rows, nv), in the tangent space.

        Arguments, and the sign of the forces, are as in `constrained_dynamics`; external wrenches are held.
        """
        held = constraints_on(self.model, constraints)
        optional = _given(held, active, baumgarte=None if baumgarte is None else dynamics.gains_of(baumgarte))
        name = "constrained_dynamics_derivatives"
        found = self._under(name, held, (q, v, tau), wrenches, optional, method, out, threads)
        return ConstrainedDerivatives(*found)

    def impact(
        self,
        constraints: Constraints,
        q: ArrayLike,
        v: ArrayLike,
        restitution: ArrayLike | None = None,
        *,
        active: ArrayLike | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> Impact:
        """(velocity, impulse, energy_loss) of a collision that makes J v⁺ = -restitution J v⁻.  [RD 3.66-3.72]

        The impulse is on the robot: RD's has the opposite sign, as its F_c has.

        Args:
            constraints: that begin to hold.
            q: (..., nq).
            v: (..., nv) before the impact.
            restitution: (...), from 0 to 1; None is 0, plastic.
            active: which constraints or rows are hit, sample by sample.
            out: three arrays, for the velocity, the impulses and the loss.
            threads: over which a batch is split.
        """
        held = constraints_on(self.model, constraints)
        bounce = None if restitution is None else dynamics.restitution_of(restitution)[..., None]
        optional = _given(held, active, restitution=bounce)
        return Impact(*self._run(("impact", (), held, tuple(optional)), (q, v, *optional.values()), out, threads))

    def null_space_projector(
        self, constraints: Constraints, q: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """N_c, (..., nv, nv): of any velocity, the part that the constraints allow.  [RD 3.63]"""
        return self._run(("null_space_projector", (), constraints_on(self.model, constraints), ()), (q,), out, threads)

    def support_consistent_velocity(
        self,
        constraints: Constraints,
        q: ArrayLike,
        task: ArrayLike,
        wanted: ArrayLike,
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> NDArray[Any]:
        """(..., nv): the v that gives a task J_t v = w_t, as nearly as can be, and does not move the support.

        [RD 2.273-2.276]

        Args:
            constraints: the support.
            q: (..., nq).
            task: J_t, (..., m, nv).
            wanted: w_t, (..., m).
            out: an array for the result.
            threads: over which a batch is split.
        """
        held = constraints_on(self.model, constraints)
        J_t = floats(task, "task")
        if J_t.ndim < 2 or not J_t.shape[-2] or J_t.shape[-1] != self.model.nv:
            raise InputError(f"task: expected a Jacobian (..., m, {self.model.nv}), got shape {J_t.shape}")
        key = ("support_consistent_velocity", held, J_t.shape[-2])
        if key not in self._tasks:
            self._tasks[key] = _support_task(held, J_t.shape[-2])
        return self._run(key, (q, J_t, wanted), out, threads)

    def _under(
        self,
        name: str,
        held: ConstraintSet,
        args: tuple[Any, ...],
        wrenches: Wrenches | None,
        optional: dict[str, Any],
        method: str,
        out: Any,
        threads: int | None,
    ) -> Any:
        frames, given = wrench_arrays(wrenches)
        key = (name, frames, held, tuple(optional), method)
        return self._run(key, (*args, *given, *optional.values()), out, threads)


def _support_task(held: ConstraintSet, rows: int) -> Task:
    """To move a task of some rows without moving the support."""

    def support_consistent_velocity(q: Any, task: Any, wanted: Any) -> Any:
        return dynamics.support_consistent_velocity(held.jacobian(q), task, wanted)

    content = None if held.digest is None else ("support_consistent_velocity", held.digest, rows)
    inputs = {"q": held.model.nq, "task": (rows, held.model.nv), "wanted": rows}
    return Task(content, support_consistent_velocity, inputs)


def _given(held: ConstraintSet, active: ArrayLike | None, **others: ArrayLike | None) -> dict[str, Any]:
    """The optional inputs that are given, by name."""
    optional = {"active": None if active is None else held.mask(active), **others}
    return {name: value for name, value in optional.items() if value is not None}
