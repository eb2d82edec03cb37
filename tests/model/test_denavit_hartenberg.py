"""Denavit-Hartenberg tables against the product of their matrices, and against published kinematics of the PUMA 560."""

import numpy as np
import pytest

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model.denavit_hartenberg import Row, classical, modified
from multibody.model.joint import Limits

from ..every_law import each_case
from .trees import random_inertia, world_poses

RNG = np.random.default_rng(560)


def classical_matrix(a, alpha, d, theta):
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])


def modified_matrix(a, alpha, d, theta):
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s, 0, a], [s * ca, c * ca, -sa, -sa * d], [s * sa, c * sa, ca, ca * d], [0, 0, 0, 1]])


def frame_poses(model, q):
    W_H_i = world_poses(model, q)
    return {
        name: (W_H_i[index] @ pose).matrix
        for name, (index, pose) in zip(model.frames, model.tree.frame_poses, strict=True)
    }


@each_case("convention", [(classical, classical_matrix), (modified, modified_matrix)])
@each_case("seed", range(5))
def test_frames_are_the_product_of_the_matrices(convention, seed):
    make, matrix = convention
    rng = np.random.default_rng(seed)
    rows = [(*rng.uniform(-2, 2, 4), str(rng.choice(["revolute", "prismatic"]))) for _ in range(6)]
    base, tool = Pose.random(rng), Pose.random(rng)
    model = make("random", rows, base=base, tool=tool).model()
    q = rng.uniform(-3, 3, 6)
    poses, T = frame_poses(model, q), base.matrix
    for k, (a, alpha, d, theta, kind) in enumerate(rows):
        turning = kind == "revolute"
        T = T @ matrix(a, alpha, d + (not turning) * q[k], theta + turning * q[k])
        np.testing.assert_allclose(poses[f"frame{k + 1}"], T, atol=1e-13)
    np.testing.assert_allclose(poses["tool"], T @ tool.matrix, atol=1e-13)


@pytest.mark.parametrize("make", [classical, modified])
def test_inertias_are_given_in_the_frames_of_the_table(make):
    rng = np.random.default_rng(1)
    loads = [random_inertia(rng) for _ in range(3)]
    rows = [Row(*rng.uniform(-1, 1, 4), inertia=load) for load in loads]
    model = make("arm", rows).model()
    q = rng.uniform(-1, 1, 3)
    poses, W_H_i = frame_poses(model, q), world_poses(model, q)
    for k, load in enumerate(loads, start=1):
        expected = Pose.from_matrix(poses[f"frame{k}"]) @ load
        got = W_H_i[k] @ model.bodies[k - 1].inertia
        np.testing.assert_allclose(got.parameters(), expected.parameters(), atol=1e-12)


# The table and the poses are those that Corke's Robotics Toolbox publishes for its p560, to four digits.
PUMA = [
    (0.0, np.pi / 2, 0.0),
    (0.4318, 0.0, 0.0),
    (0.0203, -np.pi / 2, 0.15005),
    (0.0, np.pi / 2, 0.4318),
    (0.0, -np.pi / 2, 0.0),
    (0.0, 0.0, 0.0),
]
PUBLISHED = {
    "zero": ([0, 0, 0, 0, 0, 0], np.eye(3), [0.4521, -0.1500, 0.4318]),
    "ready": ([0, np.pi / 2, -np.pi / 2, 0, 0, 0], np.eye(3), [0.0203, -0.1500, 0.8636]),
    "nominal": (
        [0, np.pi / 4, np.pi, 0, np.pi / 4, 0],
        np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]),
        [0.5963, -0.1501, -0.01435],
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_puma_560_stands_where_it_is_published(name):
    q, R, position = PUBLISHED[name]
    T = frame_poses(classical("puma", PUMA).model(), np.array(q, dtype=float))["tool"]
    np.testing.assert_allclose(T[:3, :3], R, atol=1e-12)
    np.testing.assert_allclose(T[:3, 3], position, atol=1.1e-4)


def test_puma_560_has_the_closed_form_of_craig():
    a2, a3, d3, d4 = 0.4318, 0.0203, 0.1254, 0.4318
    quarter = np.pi / 2
    rows = [(0, 0, 0), (0, -quarter, 0), (a2, 0, d3), (a3, -quarter, d4), (0, quarter, 0), (0, -quarter, 0)]
    model = modified("puma", rows).model()
    q = RNG.uniform(-3, 3, 6)
    T = frame_poses(model, q)["tool"]
    c, s = np.cos(q), np.sin(q)
    c23, s23 = np.cos(q[1] + q[2]), np.sin(q[1] + q[2])
    reach = a2 * c[1] + a3 * c23 - d4 * s23
    position = [c[0] * reach - d3 * s[0], s[0] * reach + d3 * c[0], -a3 * s23 - a2 * s[1] - d4 * c23]
    # the approach vector, the third column
    r13 = -c[0] * (c23 * c[3] * s[4] + s23 * c[4]) - s[0] * s[3] * s[4]
    r23 = -s[0] * (c23 * c[3] * s[4] + s23 * c[4]) + c[0] * s[3] * s[4]
    r33 = s23 * c[3] * s[4] - c23 * c[4]
    np.testing.assert_allclose(T[:3, 3], position, atol=1e-14)
    np.testing.assert_allclose(T[:3, 2], [r13, r23, r33], atol=1e-14)


def test_right_angles_are_exact():
    model = classical("puma", PUMA).model()
    for joint in model.joints:
        R = joint.placement.rotation.matrix
        np.testing.assert_array_equal(R, np.round(R))


def test_limits_and_names():
    model = classical("one", [Row(1.0, 0.0, 0.0, kind="prismatic", limits=Limits(0.0, 2.0))]).model()
    assert model.tree.upper.tolist() == [2.0]
    assert [joint.name for joint in model.joints] == ["joint1"]


@each_case(
    "rows, message",
    [
        ([], "expected at least one Denavit-Hartenberg row, got none"),
        ([(0, 0, 0), (1.0,)], r"bad: row 2: expected \(a, alpha, d, theta, kind\), got \(1.0,\)"),
        ([(0, 0, float("nan"))], "row 1: .* d of a Denavit-Hartenberg row: expected a finite number, got nan"),
        ([(0, 0, "1")], "expected a finite number, got '1'"),
        ([(0, 0, 0, 0, "screw")], "expected one of 'revolute', 'prismatic', got 'screw'"),
    ],
)
def test_bad_tables(rows, message):
    for make in (classical, modified):
        with pytest.raises(InputError, match=message):
            make("bad", rows)
