"""Several constraints as one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import rows
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints.anchors import check_anchors
from multibody.algorithms.constraints.constraint import Constraint, checked_configuration, rank
from multibody.errors import InputError
from multibody.geometry._arrays import choice, transpose, truth
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model.digest import library_digest
from multibody.model.model import Model, expect_model
from multibody.model.tree import Tree


class Ranks(NamedTuple):
    """Ranks of constraints on a robot: integers for one configuration, (...) for a batch.
    [RD 2.271-2.272, §2.10.4]

    >>> Ranks(rows=6, rank=6, base=5, internal=1)          # two feet of a quadruped
    Ranks(rows=6, rank=6, base=5, internal=1)
    """

    rows: int
    rank: int | NDArray[Any]
    """rank(J_c): independent constraints."""
    base: int | NDArray[Any]
    """rank(J_c,b): constraints on the base."""
    internal: int | NDArray[Any]
    """Constraints between joints, rank - base."""


class Worst(NamedTuple):
    """The largest error.

    >>> Worst(0.5, "foot.z", (3,)).row
    'foot.z'
    """

    error: float
    """Its size, in m or rad."""
    row: str
    """The name of its row."""
    sample: tuple[int, ...]
    """Its index in the batch; () for one configuration."""


class ConstraintSet:
    """Constraints on one robot, stacked in their order: frozen, and compared by value.  [RD 2.271]

    Redundant rows are allowed. Contradictory rows, such as a loop that is too short, have no
    solution: with Baumgarte's terms, constrained dynamics then minimises the sum of the squares
    of the residuals, J v' + J' v + stiffness error + damping J v. Anchors that no pose of a
    body can meet are refused.

    Args:
        model: the robot.
        constraints: one or more, with different names.
        alternatives: whether to accept contradictory anchors, among which `active` chooses.

    Raises:
        InputError: when there is no constraint, two have one name, one does not fit the robot,
            or anchors disagree.

    >>> import multibody as mb
    >>> from multibody.algorithms.constraints import JointCoupling, PointContact
    >>> robot = mb.load("quadruped")
    >>> gear = JointCoupling("gear", "lf-knee", "rf-knee")
    >>> held = ConstraintSet(robot.model, [PointContact("foot", "foot-lf"), gear])
    >>> held
    <ConstraintSet on 'quadruped': 'foot', 'gear', 4 rows>
    >>> held.row_names, held.jacobian(robot.home()).shape
    (('foot.x', 'foot.y', 'foot.z', 'gear[0]'), (4, 18))
    """

    def __init__(self, model: Model, constraints: Iterable[Constraint], *, alternatives: bool = False) -> None:
        expect_model(model)
        truth(alternatives, "alternatives")
        if not isinstance(constraints, Iterable):
            raise InputError(f"{model.name}: expected a list of constraints, got {type(constraints).__name__}")
        self.model = model
        self.constraints = tuple(constraints)
        if not self.constraints:
            raise InputError(f"{model.name}: expected at least one constraint, got none")
        seen: set[str] = set()
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                raise InputError(f"{model.name}: expected constraints, got {type(constraint).__name__}")
            if not isinstance(constraint.name, str):
                raise InputError(f"{model.name}: expected a constraint with a name, got {constraint.name!r}")
            if constraint.name in seen:
                raise InputError(f"{model.name}: two constraints are named {constraint.name!r}")
            seen.add(constraint.name)
            try:
                hash(constraint)
            except TypeError as error:
                raise InputError(f"constraint {constraint.name!r}: expected frozen data, got {error}") from None
            constraint.check(self.tree)
        if not alternatives:
            check_anchors(self.tree, self.constraints)

    @property
    def tree(self) -> Tree:
        """The tree of the model."""
        return self.model.tree

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self.constraints)

    def __len__(self) -> int:
        return len(self.constraints)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return rows.count(self.constraints)

    @property
    def row_names(self) -> tuple[str, ...]:
        """One name for each row."""
        return rows.names(self.constraints)

    def slices(self) -> dict[str, slice]:
        """The slice of each constraint's rows, by name.

        >>> import multibody as mb
        >>> feet = [mb.constraints.PointContact(foot, foot) for foot in ("foot-lf", "foot-rf")]
        >>> ConstraintSet(mb.load("quadruped").model, feet).slices()
        {'foot-lf': slice(0, 3, None), 'foot-rf': slice(3, 6, None)}
        """
        return rows.slices(self.constraints)

    def error(self, q: NDArray[Any]) -> NDArray[Any]:
        """The position errors at q, (..., nq), as (..., rows), in m or rad.

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> gear = mb.constraints.JointCoupling("gear", "lf-knee", "rf-knee", offset=0.1)
        >>> ConstraintSet(robot.model, [gear]).error(robot.home()).round(6)
        array([-0.1])
        """
        return rows.error(self.tree, self.constraints, q)

    def jacobian(self, q: NDArray[Any], velocity: str | None = None) -> NDArray[Any]:
        """J_c, (..., rows, nv); the base's velocity in any representation, by default
        the robot's own.  [RD 2.271]

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> foot = ConstraintSet(robot.model, [mb.constraints.PointContact("foot", "foot-lf")])
        >>> foot.jacobian(robot.home())[:, :3]              # the base takes the foot with it
        array([[1., 0., 0.],
               [0., 1., 0.],
               [0., 0., 1.]])
        """
        tree = self.tree if velocity is None else with_base(self.tree, choice(velocity, "velocity", REPRESENTATIONS))
        return rows.jacobian(tree, self.constraints, q)

    def bias(self, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """J_c' v, (..., rows): the acceleration of the rows when v' = 0.  [RD 2.270]

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> foot = ConstraintSet(robot.model, [mb.constraints.PointContact("foot", "foot-lf")])
        >>> foot.bias(robot.home(), np.zeros(18))
        array([0., 0., 0.])
        """
        return rows.bias(self.tree, self.constraints, q, v)

    def force_basis(self, q: NDArray[Any]) -> NDArray[Any]:
        """W = J_c^T, (..., nv, rows): the generalized force of each row's unit force.
        [Kindr §Dynamics; RD 3.57]

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> foot = ConstraintSet(robot.model, [mb.constraints.PointContact("foot", "foot-lf")])
        >>> foot.force_basis(robot.home()).shape
        (18, 3)
        """
        return transpose(self.jacobian(q))

    def mask(self, active: Any) -> NDArray[Any]:
        """(..., rows) of ones and zeros, from as many, or from one for each
        constraint, which its rows share.

        >>> import multibody as mb
        >>> feet = [mb.constraints.PointContact(foot, foot) for foot in ("foot-lf", "foot-rf")]
        >>> ConstraintSet(mb.load("quadruped").model, feet).mask([1, 0])
        array([1., 1., 1., 0., 0., 0.])
        """
        return rows.mask(self.constraints, active)

    def ranks(self, q: NDArray[Any]) -> Ranks:
        """The number of independent constraints at q, (..., nq), on the base and between joints.
        [RD §2.10.4]

        Raises:
            InputError: when q is no configuration, or a row has no direction there.

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> names = ("foot-lf", "foot-rf", "foot-lh")
        >>> feet = [mb.constraints.PointContact(name, name) for name in names]
        >>> ConstraintSet(robot.model, feet).ranks(robot.home())
        Ranks(rows=9, rank=9, base=6, internal=3)
        """
        q = checked_configuration(self.tree, q)
        with np.errstate(invalid="ignore", divide="ignore"):
            J = self.jacobian(q)
        base = [k for joint in self.tree.bases for k in range(joint.v.start, joint.v.stop)]
        total, base_rank = (rank(columns, self.row_names) for columns in (J, J[..., base]))
        return Ranks(self.rows, total, base_rank, total - base_rank)

    def worst(self, q: NDArray[Any]) -> Worst:
        """The largest error at q, (..., nq), with the name of its row and its sample;
        NaN counts as largest.

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> foot = mb.constraints.PointContact("foot", "foot-lf", anchor=(0.2, 0.2, -1.0))
        >>> ConstraintSet(robot.model, [foot]).worst([robot.home(), robot.home()]).row
        'foot.z'
        """
        if not np.size(q):
            raise InputError(f"worst: expected at least one configuration, got none, of shape {np.shape(q)}")
        return worst_of(self.error(q), self.row_names)

    # ---- as a value --------------------------------------------------------------------------------------------------

    @property
    def digest(self) -> str | None:
        """Equal for equal sets in every process; None when a class of the user is in
        it, whose code could change.
        """
        return library_digest(*self.constraints)

    @cached_property
    def _hash(self) -> int:
        return hash((self.model, self.constraints))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstraintSet):
            return NotImplemented
        return self is other or (self.model == other.model and _contents(self) == _contents(other))

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash: that of a text differs from process to process."""
        return {"model": self.model, "constraints": self.constraints}

    def __repr__(self) -> str:
        names = ", ".join(repr(constraint.name) for constraint in self.constraints)
        return f"<ConstraintSet on {self.model.name!r}: {names}, {self.rows} rows>"


def worst_of(error: NDArray[Any], row_names: Sequence[str]) -> Worst:
    """The largest of errors (..., rows); NaN counts as largest.

    >>> worst_of(np.array([[0.1, -0.3]]), ["a", "b"])
    Worst(error=0.3, row='b', sample=(0,))
    """
    size = np.abs(error)
    *sample, row = (int(k) for k in np.unravel_index(np.argmax(size), size.shape))
    return Worst(float(size[(*sample, row)]), row_names[row], tuple(sample))


def _contents(constraints: ConstraintSet) -> list[tuple[Any, ...]]:
    """All that constraints hold: a user's class may leave fields out of its own `==`, and compute with them."""
    return [(type(x), *(getattr(x, f.name) for f in fields(x))) for x in constraints]  # type: ignore[arg-type]
