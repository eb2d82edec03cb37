"""Contacts: methods of Robot about constraints, their forces, and impacts."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms.constrained_dynamics import Constrained, Impact
from multibody.algorithms.constrained_dynamics_derivatives import ConstrainedDerivatives
from multibody.algorithms.constraints import Constraint, ConstraintSet
from multibody.errors import InputError
from multibody.geometry._arrays import at, batch_shape, first, floats, is_traced
from multibody.model import configuration
from multibody.robot._dynamics import Wrenches, wrench_arrays
from multibody.robot._face import Face
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
        if passive:
            tau = configuration.sized(self.model, tau, "tau") + self._run("passive", (q, v))
        held = constraints_on(self.model, constraints)
        optional = _given(held, active, baumgarte=baumgarte)
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

        Arguments as in `constrained_dynamics`; external wrenches are held.
        """
        held = constraints_on(self.model, constraints)
        optional = _given(held, active, baumgarte=baumgarte)
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
        optional = _given(held, active, restitution=None if restitution is None else _restitution(restitution))
        return Impact(*self._run(("impact", (), held, tuple(optional)), (q, v, *optional.values()), out, threads))

    def null_space_projector(self, constraints: Constraints, q: ArrayLike, *, out: Any = None) -> NDArray[Any]:
        """N_c, (..., nv, nv): of any velocity, the part that the constraints allow.  [RD 3.63]"""
        return self._run(("null_space_projector", (), constraints_on(self.model, constraints), ()), (q,), out)

    def support_consistent_velocity(
        self, constraints: Constraints, q: ArrayLike, task: ArrayLike, wanted: ArrayLike
    ) -> NDArray[Any]:
        """(..., nv): the v that gives a task J_t v = w_t, as nearly as can be, and does not move the support.

        [RD 2.273-2.276]

        Args:
            constraints: the support.
            q: (..., nq).
            task: J_t, (..., m, nv).
            wanted: w_t, (..., m).
        """
        J = self._run(("constraint_jacobian", (), constraints_on(self.model, constraints), ()), (q,))
        J_t = floats(task, "task")
        if J_t.ndim < 2 or J_t.shape[-1] != self.model.nv:
            raise InputError(f"task: expected a Jacobian (..., m, {self.model.nv}), got shape {J_t.shape}")
        w_t = floats(wanted, "wanted", J_t.shape[-2])
        batch_shape("q, task, wanted", (J, 2), (J_t, 2), (w_t, 1))
        for what, x in (("q", J), ("task", J_t)):
            bad = np.zeros(1, bool) if is_traced(x) else ~np.isfinite(x)
            if bad.any():
                raise InputError(f"{what}{at(first(bad)[:-2])}: expected a finite Jacobian, got {x[bad][0]} in it")
        return dynamics.support_consistent_velocity(J, J_t, w_t).astype(self.dtype, copy=False)

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


def _restitution(given: ArrayLike) -> Any:
    """(..., 1), when all are from 0 to 1."""
    e = floats(given, "restitution")
    if not is_traced(e):
        bad = ~((e >= 0) & (e <= 1))
        if bad.any():
            raise InputError(f"restitution{at(first(bad))}: expected 0, plastic, to 1, without loss, got {e[bad][0]}")
    return e[..., None]


def _given(held: ConstraintSet, active: ArrayLike | None, **others: ArrayLike | None) -> dict[str, Any]:
    """The optional inputs that are given, by name."""
    optional = {"active": None if active is None else held.mask(active), **others}
    return {name: value for name, value in optional.items() if value is not None}
