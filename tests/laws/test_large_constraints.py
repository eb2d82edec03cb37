"""The laws of constraints on large trees: eight to twelve joints of any kinds, up to six constraints, and their copies.

Joints that follow another do so on curves among the constraints, and in the tree as mimic joints.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from multibody.algorithms.constraints import JointCoupling
from multibody.model import configuration

from ..algorithms.states import State
from ..model.trees import random_model
from . import test_random_constraints as laws

ROWS = (laws.test_rows_are_rates, laws.test_errors_of_what_is_held_vanish)
MOTION = (
    laws.test_accelerations_keep_the_constraints,
    laws.test_forces_are_in_the_force_basis,
    laws.test_other_forms_agree,
    laws.test_the_projector,
    laws.test_the_exact_method,
    laws.test_plastic_impacts,
)


@st.composite
def sets(draw):
    """A large robot in a random state, and constraints with at least one coupling on a curve."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = {"floating": draw(st.booleans()), "mimic": draw(st.sampled_from([0.0, 0.3]))}
    model = random_model(rng, draw(st.integers(8, 12)), velocity=draw(st.sampled_from(("kindr", "left"))), **options)
    assert len(model.bodies) >= 8
    s = State(model, configuration.random(model.tree, rng), *rng.standard_normal((2, model.nv)), rng)
    names = [joint.name for joint in model.joints if joint.nv == 1]
    assume(len(names) > 1)
    drawn = [laws.constraint(draw, s, f"constraint{k}") for k in range(draw(st.integers(1, 5)))]
    found = [one for one in drawn if one is not None]
    one, two = draw(st.permutations(names))[:2]
    found.append(JointCoupling("curve", one, two, *rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 3)))
    if draw(st.booleans()):
        found += laws.copies(found)
    return s, laws.ConstraintSet(s.model, found)


@pytest.mark.slow
@pytest.mark.parametrize("law", ROWS, ids=lambda law: law.__name__)
@given(case=sets())
def test_rows(law, case):
    law.hypothesis.inner_test(case)


@pytest.mark.slow
@pytest.mark.parametrize("law", MOTION, ids=lambda law: law.__name__)
@given(case=sets())
def test_motion(law, case):
    law.hypothesis.inner_test(laws.settled(*case))
