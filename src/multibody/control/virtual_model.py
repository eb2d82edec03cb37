"""Virtual model control: torques that act as if wrenches did, while contacts carry the robot.  [RD §3.11]"""

from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from multibody.algorithms import coriolis, rows
from multibody.algorithms.constraints import Constraint
from multibody.algorithms.friction import FrictionCone
from multibody.algorithms.jacobian import jacobian
from multibody.control._checks import check_number, supporting_contacts
from multibody.control._robot_controller import RobotController, robot_function
from multibody.control.floating_base_inverse_dynamics import active_jacobian
from multibody.errors import InputError
from multibody.geometry._arrays import Array, floats, matvec, transpose
from multibody.model.actuation import actuated_indices, base_velocity_indices, with_zero_base
from multibody.model.tree import Tree
from multibody.robot import Robot
from multibody.robot.inputs import WRENCH, Kind
from multibody.solvers.hierarchical_least_squares import Equations, lexicographic
from multibody.solvers.program import Bounds
from multibody.solvers.strict_levels.projection import solve_within


@final
class VirtualModel(RobotController):
    """Torques with which a robot at rest behaves as if wrenches pulled at its
    frames, gravity taken off.

    Virtual work must vanish for every motion of the base and the joints. The rows of the base
    tell which contact forces balance gravity and the wrenches [RD 3.117-3.118]: those of least
    norm are taken [RD 3.120]. The rows of the joints tell the torques [RD 3.119, 3.121]:

        S^T τ + J_c^T f = g + J_v^T F.

    f is on the robot: RD's F_c has the opposite sign. Inertia and velocity do not count: it is
    for slow motion.

    Args:
        robot: floating, on contacts; or fixed, with or without them.
        contacts: constraints, as `mb.constraints.PointContact`, that carry it.
        friction: μ, or a `multibody.algorithms.friction.FrictionCone` with a normal of its own,
            at every point of the contacts: forces stay within a pyramid inside that cone. Where
            none of these balance the wrenches, what the base lacks is of least norm. None has
            no such limits.
        minimum: with friction, the least normal force at every point, in N.
        sides: of the pyramid.

    Raises:
        InputError: when a floating robot has no contacts, or an argument does not fit.

    >>> import multibody as mb
    >>> dog = mb.load("quadruped")
    >>> feet = [mb.constraints.PointContact(f, f) for f in dog.frames if f.startswith("foot")]
    >>> model = VirtualModel(dog, feet)
    >>> tau, f = model(dog.home(), wrenches={"trunk": [0.0, 0.0, 30.0, 0.0, 0.0, 0.0]})
    >>> round(float(f[2::3].sum() - 9.81 * dog.mass), 9)  # the ground carries weight and wrench
    30.0
    """

    __slots__ = ("_contacts", "_cone", "_function", "_minimum")

    def __init__(
        self,
        robot: Robot,
        contacts: Iterable[Constraint],
        friction: float | FrictionCone | None = None,
        minimum: float = 0.0,
        sides: int = 8,
    ) -> None:
        super().__init__(robot)
        self._contacts = supporting_contacts(robot, contacts)
        self._cone = self._pyramids(friction, sides)
        self._minimum = check_number(minimum, "minimum", "a force that is not negative", zero=True)
        if minimum and self._cone is None:
            raise InputError(f"minimum: expected a force with friction=..., got {minimum!r} alone")
        frames: dict[str, Kind] = {WRENCH + frame: "wrench" for frame in robot.frames}
        optional = {**frames, "active": len(self._contacts)} if self._contacts else frames
        pyramid = None if self._cone is None else self._cone.tolist()
        content = "control.VirtualModel", self._contacts, pyramid, self._minimum
        self._function = robot_function(robot, self._balanced, {"q": "configuration"}, optional, *content)

    @property
    def contacts(self) -> tuple[Constraint, ...]:
        """The contacts that carry the robot."""
        return self._contacts

    def __call__(
        self,
        q: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        active: ArrayLike | None = None,
        out: Any = None,
        threads: int | None = None,
    ) -> tuple[Array, Array]:
        """τ, (..., nv), zero on the base, and f, (..., rows), on the robot, in the
        order of the contacts.

        Args:
            q: (..., nq).
            wrenches: {frame: (..., 6)}, the net effect that is wanted on the robot: force and
                moment at the frame's origin, along the world's axes.
            active: (..., contacts) of ones, and zeros for contacts that carry nothing now.
            out: arrays for the results.
            threads: over which a batch is split.
        """
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise InputError(f"wrenches: expected {{frame: (..., 6)}}, got {type(wrenches).__name__}")
        values: dict[str, Any] = {}
        for frame, wrench in (wrenches or {}).items():
            self._robot.tree.frame(frame)
            values[WRENCH + frame] = floats(wrench, f"the wrench at {frame!r}", 6)
        if active is not None:
            rows.mask(self._contacts, active)  # ones and zeros
            values["active"] = active
        return self._function(q, out=out, threads=threads, **values)

    def _pyramids(self, friction: float | FrictionCone | None, sides: int) -> Array | None:
        """A, (m, rows), with A f ≥ 0 within the cones, the normals last."""
        if friction is None:
            return None
        grips = [contact.grip() for contact in self._contacts]
        if rows.count(self._contacts) % 3 or not all(grip is not None and not grip.turning for grip in grips):
            raise InputError("friction: expected contacts of points alone, such as PointContact and SurfaceContact")
        one = (friction if isinstance(friction, FrictionCone) else FrictionCone(friction)).pyramid(sides)
        points = np.eye(rows.count(self._contacts) // 3)
        return np.concatenate([np.kron(points, one[:-1]), np.kron(points, one[-1:])])

    def _balanced(self, q: Array, active: Array | None = None, **wrenches: Array) -> tuple[Array, Array]:
        tree: Tree = self._robot.tree
        bases, y = base_velocity_indices(tree), coriolis.gravity(tree, q)
        for name, wrench in wrenches.items():
            y = y + matvec(transpose(jacobian(tree, name.removeprefix(WRENCH), q, "mixed")), wrench)
        if not self._contacts:
            return y, np.zeros_like(y[..., :0])
        J_T = transpose(active_jacobian(tree, self._contacts, q, active))
        f = self._least((J_T[..., bases, :], y[..., bases]), active) if bases else np.zeros_like(J_T[..., 0, :])
        return with_zero_base(tree, (y - matvec(J_T, f))[..., actuated_indices(tree)]), f

    def _least(self, balance: Equations, active: Array | None) -> Array:
        """The forces of least norm that balance the base; those within the cones, where there are some.  [RD 3.120]"""
        if self._cone is None:
            return lexicographic([balance])[0]
        batch, dtype, count = balance[1].shape[:-1], balance[1].dtype, self._cone.shape[1] // 3
        push = np.full((*batch, count), self._minimum, dtype)
        if active is not None:
            push = push * rows.mask(self._contacts, active)[..., ::3]
        cone = np.broadcast_to(self._cone.astype(dtype), (*batch, *self._cone.shape))
        lower = np.concatenate([np.zeros_like(cone[..., count:, 0]), push], axis=-1)
        return solve_within([balance], Bounds(cone, lower, np.full_like(cone[..., 0], np.inf)))

    def __repr__(self) -> str:
        carried = ", ".join(contact.name for contact in self._contacts) or "nothing"
        cones = "" if self._cone is None else ", within friction cones"
        return f"<VirtualModel of {self._robot.name!r} on {carried}{cones}>"
