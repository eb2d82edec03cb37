"""Trees whose numbers are arrays: what is refused, and the numbers that a tree gives."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import coriolis, kinematics
from multibody.errors import InputError
from multibody.geometry import Rotation, quaternions
from multibody.model.parameters import Parameters, check_inertias, placement_rates

from ..every_law import each_case
from ..laws.tools import near


def test_numbers_that_no_body_has_are_named_by_sample_and_body():
    robot = mb.load("panda")
    P = np.broadcast_to(robot.parameters(), (3, 2, 7, 10)).copy()
    assert check_inertias(robot.tree, P) is not None
    P[2, 1, 4, 4] *= 50.0  # one moment beyond the sum of the others
    with pytest.raises(InputError, match=r"inertias \(sample 2, 1\): the body 'link5' cannot have"):
        check_inertias(robot.tree, P)
    with pytest.raises(InputError, match=r"inertias: expected an array of real floats of shape \(..., 7, 10\)"):
        check_inertias(robot.tree, P[..., :3, :])


@each_case("poison", [np.nan, np.inf, -np.inf])
@each_case("where", [0, 9, slice(None)])
def test_inertias_that_are_not_finite_are_named_by_sample_and_body(poison, where):
    robot = mb.load("panda")
    P = np.tile(robot.parameters(), (3, 1, 1))
    P[1, 4, where] = poison
    with pytest.raises(InputError, match=r"inertias \(sample 1\): expected finite numbers for the body 'link5'"):
        check_inertias(robot.tree, P)
    with pytest.raises(InputError, match=r"inertias: expected finite numbers for the body 'link5'"):
        robot.check_parameters(P[1])


@each_case("name", mb.robots.names())
@each_case("dtype", [np.float64, np.float32])
def test_every_robot_can_have_its_own_numbers(name, dtype):
    robot = mb.load(name)
    robot.check_parameters(
        robot.parameters().astype(dtype),
        placements=robot.placements().astype(dtype),
        positions=robot.positions().astype(dtype),
        frame_placements=robot.frame_placements().astype(dtype),
        gravity=robot.model.gravity,
    )


def test_thin_rods_are_bodies_and_negative_masses_are_not():
    """Rounding must not make impossible what is at the limit; zeros are for bodies that have no mass in the robot."""
    robot = mb.load("double-pendulum")
    rng = np.random.default_rng(0)
    for _ in range(100):
        x = Rotation.random(rng).matrix @ [0.5, -0.3, 0.2]
        J = 2.0 * (x @ x * np.eye(3) - np.outer(x, x))  # of two balls without size, at x and -x
        rod = [2.0, 0, 0, 0, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]]
        robot.check_parameters(np.tile(rod, (2, 1)))
    for mass, moment in ((0.0, 0.0), (-1.0, 0.1), (0.0, 0.1)):
        bad = np.tile([mass, 0, 0, 0, moment, 0, moment, 0, 0, moment], (2, 1))
        with pytest.raises(InputError, match="the body 'upper' cannot have"):
            robot.check_parameters(bad)
    slider = mb.load("free-body-r2")
    assert not slider.parameters()[0].any()
    slider.check_parameters(slider.parameters())
    with pytest.raises(InputError, match=r"\(sample 3\): the body '.*' cannot have \[0.0, "):
        slider.check_parameters(np.concatenate([np.tile(slider.parameters(), (3, 1, 1)), np.zeros((1, 2, 10))]))


def test_places_that_no_joint_or_frame_has_are_named():
    robot = mb.load("quadruped")
    joints, frames = (np.tile(x, (3, 1, 1)) for x in (robot.placements(), robot.frame_placements()))
    foot = robot.frames.index("foot-lf")
    joints[2, 3, 3:] *= 1.01
    joint = robot.joints[3].name
    with pytest.raises(InputError, match=rf"placements \(sample 2\): the quaternion .* of the joint '{joint}' .* 1.01"):
        Parameters(placements=joints).check(robot.tree)
    joints[1, 0, 4] = np.nan
    with pytest.raises(InputError, match=r"placements \(sample 1\): expected finite numbers for the joint"):
        robot.check_parameters(placements=joints)
    with pytest.raises(InputError, match=r"positions \(sample 2\): .* the joint"):
        robot.check_parameters(positions=np.where(np.arange(3)[:, None, None] == 2, np.inf, joints[..., :3]))
    frames[1, foot, 3:] = 0.0
    with pytest.raises(InputError, match=r"frame_placements \(sample 1\): the quaternion .* the frame 'foot-lf'"):
        robot.check_parameters(frame_placements=frames)
    frames[0, foot, 0] = -np.inf
    with pytest.raises(InputError, match="frame_placements: expected finite numbers for the frame 'foot-lf'"):
        robot.check_parameters(frame_placements=frames[0])
    with pytest.raises(InputError, match=r"gravity \(sample 1\): expected finite numbers"):
        robot.check_parameters(gravity=[[0.0, 0.0, 1.0], [0.0, np.nan, 0.0]])
    with pytest.raises(InputError, match=r"frame_placements: expected .* \(..., 17, 7\)"):
        robot.check_parameters(frame_placements=robot.placements())


def test_a_model_with_its_own_numbers_moves_as_before():
    robot = mb.load("quadruped")
    same = robot.tree.with_values(robot.parameters(), robot.placements(), gravity=np.array(robot.model.gravity))
    q, v = robot.random(np.random.default_rng(0)), np.ones(robot.nv)
    np.testing.assert_allclose(coriolis.bias(same, q, v), coriolis.bias(robot.tree, q, v), atol=1e-11)
    assert robot.tree is not same
    assert abs(same.mass - robot.mass) < 1e-12


def test_positions_move_joints_and_do_not_turn_them():
    robot = mb.load("quadruped")
    longer = 1.5 * robot.positions()
    moved = robot.tree.with_values(positions=longer).placements()
    np.testing.assert_array_equal(moved[:, :3], longer)
    np.testing.assert_array_equal(moved[:, 3:], robot.placements()[:, 3:])


def test_frame_placements_move_frames_alone():
    robot = mb.load("quadruped")
    places, foot = robot.frame_placements(), robot.frames.index("foot-lf")
    places[foot, :3] *= 1.5
    longer = robot.tree.with_values(frame_placements=places)
    near(longer.frame_placements(), places, 1e-15)
    near(longer.placements(), robot.placements(), 0.0)
    q = robot.random(np.random.default_rng(0))
    for name, (i, i_H_F) in zip(robot.model.frames, robot.tree.frame_poses, strict=True):
        assert longer.frame(name)[0] == i
        expected = kinematics.pose(robot.tree, robot.bodies[i - 1].name, q)
        factor = 1.5 if name == "foot-lf" else 1.0
        near(kinematics.pose(longer, name, q).position, expected @ (factor * i_H_F.position), 1e-14)


def test_rates_of_placements():
    """Along the parent's axes, and about the axes of what is placed."""
    rng, h = np.random.default_rng(0), 1e-6
    x = np.concatenate([rng.standard_normal((5, 3)), Rotation.random(rng, (5,)).quaternion], axis=-1)
    F = placement_rates(x)
    assert F.shape == (5, 7, 6)

    def moved(d):
        turned = quaternions.multiply(x[:, 3:], quaternions.from_rotation_vector(d[3:]))
        return np.concatenate([x[:, :3] + d[:3], turned], axis=-1)

    for k in range(6):
        step = h * np.eye(6)[k]
        near((moved(step) - moved(-step)) / (2 * h), F[..., k], 1e-9)
