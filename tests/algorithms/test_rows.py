"""The contract of rows, with a kind of a user's own, and how several are stacked."""

from dataclasses import dataclass

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import centroidal, rows
from multibody.errors import InputError

from ..every_law import each_case


@dataclass(frozen=True)
class Height(rows.Rows):
    """The height of the centre of mass above a target."""

    name: str
    rows = 1

    def error(self, tree, q, target=None):
        return centroidal.center_of_mass(tree, q)[..., 2:] - (0.0 if target is None else target)

    def jacobian(self, tree, q):
        return centroidal.com_jacobian(tree, q)[..., 2:, :]

    def bias(self, tree, q, v):
        return centroidal.centroidal_momentum_rate(tree, q, v, 0 * v)[..., 2:3] / tree.mass


@dataclass(frozen=True)
class Level(Height, mb.constraints.Constraint):
    """The same, held."""


ROBOT = mb.load("quadruped")
FOOT = mb.constraints.PointContact("foot", "foot-lf", anchor=(0.4, 0.2, 0.0))
BOTH = (Level("height"), FOOT)


def test_stacks_of_rows():
    rng = np.random.default_rng(0)
    q, v = ROBOT.random(rng, (2, 3)), rng.standard_normal((2, 3, ROBOT.nv))
    h = 1e-6
    ahead, behind = (ROBOT.integrate(q, s * h * v) for s in (1, -1))
    assert rows.count(BOTH) == 4
    assert rows.names(BOTH) == ("height[0]", "foot.x", "foot.y", "foot.z")
    assert rows.slices(BOTH) == {"height": slice(0, 1), "foot": slice(1, 4)}
    J = rows.jacobian(ROBOT.tree, BOTH, q)
    change = (rows.error(ROBOT.tree, BOTH, ahead) - rows.error(ROBOT.tree, BOTH, behind)) / (2 * h)
    np.testing.assert_allclose(np.einsum("...ij,...j->...i", J, v), change, atol=1e-7)
    J_dot = (rows.jacobian(ROBOT.tree, BOTH, ahead) - rows.jacobian(ROBOT.tree, BOTH, behind)) / (2 * h)
    bias = rows.bias(ROBOT.tree, BOTH, q, v)
    np.testing.assert_allclose(bias, np.einsum("...ij,...j->...i", J_dot, v), atol=1e-7)


def test_targets():
    above = Height("height").error(ROBOT.tree, ROBOT.home(), 0.25)
    np.testing.assert_allclose(above, ROBOT.center_of_mass(ROBOT.home())[2:] - 0.25, atol=1e-14)


def test_rows_on_a_tree_with_other_numbers():
    heavier = ROBOT.tree.with_values(masses=np.linspace(1.0, 2.0, len(ROBOT.tree.bodies)))
    J, own = (rows.jacobian(tree, BOTH, ROBOT.home()) for tree in (heavier, ROBOT.tree))
    np.testing.assert_array_equal(J[1:], own[1:])
    assert np.abs(J[0] - own[0]).max() > 1e-3


def test_a_set_with_a_users_class_has_no_digest():
    assert ROBOT.constraints([FOOT]).digest is not None
    assert ROBOT.constraints(BOTH).digest is None


def test_sets_are_collections_of_constraints():
    held = ROBOT.constraints(BOTH)
    assert (tuple(held), len(held), held.tree) == (BOTH, 2, ROBOT.model.tree)


def test_a_users_constraint_holds_as_a_kernel():
    q, v = ROBOT.home(), np.ones(ROBOT.nv)
    held = ROBOT.constraints([BOTH[0]])
    a, _ = ROBOT.constrained_dynamics(held, q, v, 0 * v)
    np.testing.assert_allclose(held.jacobian(q) @ a, -held.bias(q, v), atol=1e-9)


@each_case("bad", [5, None, [], "foot", [FOOT, 3]])
def test_what_is_no_rows(bad):
    with pytest.raises(InputError, match="here: expected constraints, got"):
        rows.members(bad, "here")
