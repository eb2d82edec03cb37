"""The laws meet what they promise: every kind of joint below every base, coupled joints, branches."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume

from ..every_law import each_case
from ..laws import test_random_trees as random_trees
from ..laws.tools import near
from ..model.trees import MOVING
from . import test_analytical_jacobian as analytical_jacobian
from . import test_base_representation as base_representations
from . import test_centroidal as centroidal
from . import test_jacobian as jacobian
from . import test_jacobian_in as jacobian_in
from . import test_kinematics as kinematics
from . import test_rnea as wrenches
from . import test_rnea_derivatives as derivatives
from .covering import BASES, FLOATING, base_of, branches, coupled, covering, gaps, kinds_of, law, met, way


@pytest.mark.parametrize("options", [{}, {"passive": False}])
@pytest.mark.parametrize("bases", [BASES, FLOATING])
def test_every_kind_of_joint_below_every_base(bases, options):
    cases = covering(bases, **options)
    found = Counter((base_of(s.model), kind) for s in cases if not coupled(s.model.joints) for kind in kinds_of(way(s)))
    assert found == Counter((base, kind) for base in bases for kind in MOVING)
    together = [s for s in cases if coupled(s.model.joints)]
    assert [base_of(s.model) for s in together] == list(bases)
    assert all(coupled(way(s)) and branches(s.model) for s in together)
    assert gaps(set().union(*map(met, cases)), bases, pairs=True) == []


def test_every_kind_and_every_base():
    cases = covering(FLOATING, pairs=False)
    assert [base_of(s.model) for s in cases] == list(FLOATING)
    assert gaps(set().union(*map(met, cases)), FLOATING, pairs=False) == []
    assert gaps(set().union(*map(met, cases[1:])), FLOATING, pairs=False)


def test_a_law_with_a_gap_fails():
    @law()
    def without_planar_joints_on_a_base_with_right_velocities(s):
        assume(base_of(s.model) != "right" or "planar" not in kinds_of(s.model.joints))

    with pytest.raises(AssertionError, match=r"never met: .*\('right', 'planar'\)"):
        without_planar_joints_on_a_base_with_right_velocities()


def test_a_law_has_the_same_random_numbers_every_time():
    found = []

    @law(floating=True, pairs=False)
    def random_numbers(s):
        found.append(s.rng.standard_normal(3))

    random_numbers()
    half = len(found)
    random_numbers()
    near(np.array(found[half:]), np.array(found[:half]), 0.0)


@each_case(
    "module",
    [
        random_trees,
        analytical_jacobian,
        base_representations,
        centroidal,
        derivatives,
        jacobian,
        jacobian_in,
        kinematics,
        wrenches,
    ],
)
def test_all_tests_of_random_robots_are_laws(module):
    """But for that of long chains, which is about their length, and that of the world, on which no base may float."""
    drawn = {name for name, test in vars(module).items() if getattr(test, "is_hypothesis_test", False)}
    assert drawn <= {
        "test_long_chains_go_through_the_articulated_bodies",
        "test_a_wrench_on_the_world_does_nothing",
    }
