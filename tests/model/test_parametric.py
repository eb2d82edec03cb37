"""Models whose numbers are arrays: what is refused, and the numbers that a model gives."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.model.parametric import check_inertias, placements_of, positions_of, with_values


def test_numbers_that_no_body_has_are_named_by_sample_and_body():
    robot = mb.load("panda")
    P = np.broadcast_to(robot.parameters(), (3, 2, 7, 10)).copy()
    assert check_inertias(robot.model, P) is not None
    P[2, 1, 4, 4] *= 50.0  # one moment beyond the sum of the others
    with pytest.raises(InputError, match=r"inertias \(sample 2, 1\): the body 'link5' cannot have"):
        check_inertias(robot.model, P)
    with pytest.raises(InputError, match=r"inertias: expected an array of real floats of shape \(..., 7, 10\)"):
        check_inertias(robot.model, P[..., :3, :])


def test_a_model_with_its_own_numbers_moves_as_before():
    robot = mb.load("quadruped")
    same = with_values(robot.model, robot.parameters(), placements_of(robot.model), np.array(robot.model.gravity))
    q, v = robot.random(np.random.default_rng(0)), np.ones(robot.nv)
    with mb.eager():
        np.testing.assert_allclose(mb.Robot(same).bias(q, v), robot.bias(q, v), atol=1e-11)
    assert robot.model.structure is not same.structure
    assert abs(same.mass - robot.mass) < 1e-12


def test_positions_move_joints_and_do_not_turn_them():
    robot = mb.load("quadruped")
    longer = 1.5 * positions_of(robot.model)
    moved = placements_of(with_values(robot.model, positions=longer))
    np.testing.assert_array_equal(moved[:, :3], longer)
    np.testing.assert_array_equal(moved[:, 3:], placements_of(robot.model)[:, 3:])
