"""External wrenches: inverse dynamics with them is that without, less J^T f."""

import numpy as np
from hypothesis import given

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.rnea import joint_wrenches, rnea

from ..laws.tools import near
from .covering import law
from .states import states


@law()
def test_external_wrenches_are_jacobian_transposed_forces(s):
    """[RD 3.55; MDN 80]"""
    wrenches = {frame: s.rng.standard_normal(6) for frame in s.model.frames}
    pushed = sum(jacobian.jacobian(s.tree, frame, s.q, "mixed").T @ f for frame, f in wrenches.items())
    found = rnea(s.tree, s.q, s.v, s.a, wrenches)
    near(found, rnea(s.tree, s.q, s.v, s.a) - pushed, 1e-9)


@law()
def test_power_of_a_wrench_is_that_with_the_frames_velocity(s):
    f = s.rng.standard_normal(6)
    less = rnea(s.tree, s.q, s.v, s.a) - rnea(s.tree, s.q, s.v, s.a, {s.frame: f})
    near(s.v @ less, f @ kinematics.velocity(s.tree, s.frame, s.q, s.v, "mixed"), 1e-9)


@law(pairs=False)
def test_wrenches_in_batches(s):
    f = s.rng.standard_normal((2, 3, 6))
    found = rnea(s.tree, s.q, s.v, s.a, {s.frame: f})
    assert found.shape == (2, 3, s.model.nv)
    through = joint_wrenches(s.tree, s.q, s.v, s.a, {s.frame: f})
    assert through.shape == (2, 3, len(s.model.bodies), 6)
    near(found[1, 2], rnea(s.tree, s.q, s.v, s.a, {s.frame: f[1, 2]}), 1e-12)


@given(states(floating=False))
def test_a_wrench_on_the_world_does_nothing(s):
    fixed = next(name for name in s.model.frames if s.tree.frame(name)[0] == 0)
    found = rnea(s.tree, s.q, s.v, s.a, {fixed: np.ones(6)})
    assert np.array_equal(found, rnea(s.tree, s.q, s.v, s.a))
