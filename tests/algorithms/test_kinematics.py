"""Poses, velocities and accelerations of frames and points of random robots, against finite differences."""

import numpy as np

from multibody.algorithms import kinematics
from multibody.geometry.operators import ad
from multibody.model import configuration

from ..laws.tools import mul, near
from ..model.trees import world_poses
from .covering import law
from .states import REPRESENTATIONS, rate, twist


@law()
def test_pose_is_the_product_of_the_joints_poses(s):
    bodies = world_poses(s.model, s.q)
    found = kinematics.frame_poses(s.tree, s.q)
    assert tuple(found) == s.model.frames
    for name, pose in found.items():
        i, i_H_F = s.tree.frame(name)
        near(pose.matrix, (bodies[i] @ i_H_F).matrix, 1e-13)
        near(kinematics.pose(s.tree, name, s.q).matrix, pose.matrix, 1e-13)


@law()
def test_velocity_is_the_rate_of_the_pose(s):
    for frame in s.some_frames:
        H = kinematics.pose(s.tree, frame, s.q).matrix
        H_dot = rate(s, lambda q, _, frame=frame: kinematics.pose(s.tree, frame, q).matrix)
        for representation in REPRESENTATIONS:
            found = kinematics.velocity(s.tree, frame, s.q, s.v, representation)
            near(found, twist(H, H_dot, representation), 1e-8)


@law()
def test_acceleration_is_the_rate_of_the_velocity(s):
    """Apparent: of the numbers.  [MDN 44]"""
    for frame in s.some_frames:
        for name in REPRESENTATIONS:
            expected = rate(s, lambda q, v, f=frame, name=name: kinematics.velocity(s.tree, f, q, v, name))
            near(kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, name), expected, 1e-8)


@law()
def test_intrinsic_acceleration_is_one_vector_in_three_frames(s):
    """Seen from the world, where it is the apparent one, taken to each frame by its own map.  [MDN 47]"""
    frame = s.frame
    right = kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, "right")
    near(kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, "right", intrinsic=True), right, 1e-10)
    pose = kinematics.pose(s.tree, frame, s.q)
    left = kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, "left", intrinsic=True)
    near(mul(pose.adjoint, left), right, 1e-9)
    near(kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, "left", intrinsic=np.bool_(1)), left, 1e-15)
    mixed = kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, "mixed", intrinsic=True)
    near(mixed, np.concatenate([pose.rotation @ left[:3], pose.rotation @ left[3:]]), 1e-10)
    apparent = kinematics.acceleration(s.tree, frame, s.q, s.v, s.a, "mixed")
    omega = kinematics.velocity(s.tree, frame, s.q, s.v, "mixed")
    turning = np.concatenate([[0.0, 0.0, 0.0], omega[3:]])
    near(apparent - mixed, ad(turning) @ np.concatenate([omega[:3], np.zeros(3)]), 1e-9)


@law()
def test_points_move_as_the_frame_that_carries_them(s):
    r = s.rng.standard_normal(3)

    def place(q, _):
        return kinematics.pose(s.tree, s.frame, q) @ r

    def velocity(q, v):
        return kinematics.point_velocity(s.tree, s.frame, q, v, r)

    near(velocity(s.q, s.v), rate(s, place), 1e-8)
    near(kinematics.point_acceleration(s.tree, s.frame, s.q, s.v, s.a, r), rate(s, velocity), 1e-8)


@law(pairs=False)
def test_batches_are_their_samples(s):
    q = configuration.random(s.tree, s.rng, (2, 1))
    v = np.stack([s.v, 2 * s.v, -s.v])
    for representation in REPRESENTATIONS:
        found = kinematics.velocity(s.tree, s.frame, q, v, representation)
        assert found.shape == (2, 3, 6)
        for i, k in np.ndindex(2, 3):
            near(found[i, k], kinematics.velocity(s.tree, s.frame, q[i, 0], v[k], representation), 1e-12)
