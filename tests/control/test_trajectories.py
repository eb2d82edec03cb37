"""Trajectories: their ends, derivatives, limits, batches, traces, against SciPy's spline, and bad input."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import multibody as mb
from multibody import control
from multibody.control import trajectories

RNG = np.random.default_rng(1)
A, B = mb.Pose.random(RNG), mb.Pose.random(RNG)
X, Y = RNG.standard_normal((2, 4))
WAY = mb.Pose.random(RNG, (5,))
TIMES = np.array([0.3, 1.0, 1.5, 3.0, 3.7])
ENDS = {"vectors": (X, Y), "numbers": (0.2, -1.0), "rotations": (A.rotation, B.rotation), "poses": (A, B)}
RATES = {name: RNG.standard_normal((4, *shape)) for name, shape in zip(ENDS, ((4,), (), (3,), (6,)), strict=True)}


def off(a, b):
    """The difference of two values, as a vector in the axes of the world."""
    if isinstance(a, mb.Pose):
        return np.concatenate([a.position - b.position, a.rotation.boxminus(b.rotation)], axis=-1)
    return a.boxminus(b) if isinstance(a, mb.Rotation) else a - b


def check_derivatives(way, t, eps=1e-5, atol=2e-7):
    (_, rate, acceleration), before, after = way(t), way(t - eps), way(t + eps)
    assert_allclose(rate, off(after.value, before.value) / (2 * eps), atol=atol)
    assert_allclose(acceleration, (after.rate - before.rate) / (2 * eps), atol=atol)


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("law", ["cubic", "quintic", "minimum_jerk"])
def test_polynomials(law, kind):
    """There and at rest at both ends; rates and accelerations are derivatives; held outside."""
    a, b = ENDS[kind]
    way = getattr(trajectories, law)(a, b, 2.0)
    assert way.duration == 2.0
    for t, end in ((0.0, a), (2.0, b), (-1.0, a), (9.0, b)):
        value, rate, acceleration = way(t)
        assert_allclose(off(value, end), 0, atol=1e-13)
        assert_allclose(rate, 0, atol=1e-13)
        if law != "cubic" or t not in (0.0, 2.0):
            assert_allclose(acceleration, 0, atol=1e-12)
    check_derivatives(way, np.linspace(0.05, 1.95, 20))
    t = np.linspace(0, 2, 6).reshape(2, 3)
    for part, alone in zip(way(t)[1:], way(t[1, 2])[1:], strict=True):
        assert_allclose(part[1, 2], alone, atol=1e-15)


@pytest.mark.parametrize("kind", ENDS)
def test_rates_at_the_ends(kind):
    """Cubic polynomials have the rates that they are given, quintic ones the accelerations too."""
    (a, b), (r0, r1, a0, a1) = ENDS[kind], RATES[kind]
    way = trajectories.quintic(a, b, 1.5, rates=(r0, r1), accelerations=(a0, a1))
    for t, value, rate, acceleration in ((0.0, a, r0, a0), (1.5, b, r1, a1)):
        assert_allclose(off(way(t).value, value), 0, atol=1e-12)
        assert_allclose(way(t).rate, rate, atol=1e-12)
        assert_allclose(way(t).acceleration, acceleration, atol=1e-11)
    check_derivatives(way, np.linspace(0.05, 1.45, 10), atol=1e-6)
    way = trajectories.cubic(a, b, 1.5, rates=(r0, r1))
    assert_allclose(way(0.0).rate, r0, atol=1e-12)
    assert_allclose(way(1.5).rate, r1, atol=1e-12)
    check_derivatives(way, np.linspace(0.05, 1.45, 10))


def test_minimum_jerk():
    """Of all that are at rest at both ends it has the least integral of squared jerk: a test of its Euler equation."""
    way = trajectories.minimum_jerk(0.0, 1.0, 2.0)
    s = np.linspace(0, 1, 11)
    assert_allclose(way(2 * s).value, 10 * s**3 - 15 * s**4 + 6 * s**5, atol=1e-14)

    def jerk(bump):
        t = np.linspace(0, 2, 4001)
        x = way(t).acceleration + bump * np.gradient(np.gradient((t * (2 - t)) ** 3, t), t)
        return np.sum(np.diff(x) ** 2) / (t[1] - t[0])

    assert jerk(0.0) < min(jerk(1e-2), jerk(-1e-2))


@pytest.mark.parametrize("kind", ["vectors", "rotations", "poses"])
@pytest.mark.parametrize("law", ["cubic", "quintic", "minimum_jerk", "trapezoidal"])
def test_limits(law, kind):
    """The shortest time in which neither rate nor acceleration is past its limits: one of them is reached."""
    a, b = ENDS[kind]
    for speed, bend in ((0.5, 10.0), (10.0, 0.5)):
        limits = {
            "velocity": (speed, 0.8 * speed) if kind == "poses" else speed,
            "acceleration": (bend, bend) if kind == "poses" else bend,
        }
        way = getattr(trajectories, law)(a, b, **limits)
        _, rate, acceleration = way(np.linspace(0, way.duration, 20001))
        parts = [slice(0, 3), slice(3, 6)] if kind == "poses" else [slice(None)]
        size = np.abs if kind == "vectors" else lambda x: np.linalg.norm(x, axis=-1)
        shares = []
        for k, part in enumerate(parts):
            shares += [
                size(x[:, part]).max() / np.ravel(bound)[min(k, np.size(bound) - 1)]
                for x, bound in ((rate, limits["velocity"]), (acceleration, limits["acceleration"]))
            ]
        assert 1 - 1e-6 < max(shares) <= 1 + 1e-9


def test_trapezoid():
    """Speeds that rise, stay and fall; all parts begin and end together; the same place takes no time."""
    way = trajectories.trapezoidal([0.0, 0.0], [3.0, -1.0], velocity=1.0, acceleration=2.0)
    assert way.duration == 3.5
    t = np.array([0.25, 0.5, 1.7, 3.0, 3.25])
    assert_allclose(way(t).rate[:, 0], [0.5, 1, 1, 1, 0.5], atol=1e-14)
    assert_allclose(way(t).rate[:, 1], way(t).rate[:, 0] / -3, atol=1e-14)
    assert_allclose(way(t).acceleration[[0, 2, 4], 0], [2, 0, -2], atol=1e-14)
    short = trajectories.trapezoidal(0.0, 0.5, velocity=1.0, acceleration=2.0)  # never at full speed
    assert_allclose(short.duration, 1.0)
    assert_allclose(short(0.5).value, 0.25)
    still = trajectories.trapezoidal(A, A, velocity=1.0, acceleration=1.0)
    assert still.duration == 0
    assert_allclose(still(0.3).value.matrix, A.matrix)
    assert trajectories.cubic(X, X, velocity=1.0).duration == 0
    batch = trajectories.trapezoidal(np.zeros((2, 3)), [[1.0, 2, 3], [0, 0, 0]], velocity=1.0, acceleration=1.0)
    assert batch.duration.tolist() == [4.0, 0.0]
    assert batch(np.linspace(0, 4, 5)[:, None]).value.shape == (5, 2, 3)


def test_spline_of_vectors():
    """SciPy's cubic spline with rates of zero at its ends."""
    points = RNG.standard_normal((5, 3))
    way, true = trajectories.spline(TIMES, points), CubicSpline(TIMES, points, bc_type="clamped")
    t = np.linspace(0.3, 3.7, 50)
    for k, part in enumerate(way(t)):
        assert_allclose(part, true(t, k), atol=1e-11)
    assert_allclose(way(0.0).value, points[0], atol=1e-14)
    assert_allclose(
        trajectories.spline([0.0, 2.0], points[:2])(0.7).value, trajectories.cubic(*points[:2], 2.0)(0.7).value
    )
    assert_allclose(way.duration, 3.4)


@pytest.mark.parametrize("points", [WAY, WAY.rotation], ids=["poses", "rotations"])
def test_spline_on_groups(points):
    """Through the way points, twice continuously differentiable, at rest at the ends; it turns with its way points."""
    way = trajectories.spline(TIMES, points)
    assert_allclose(off(way(TIMES).value, points), 0, atol=1e-12)
    for part in (way(TIMES[[0, -1]]).rate, way(TIMES[1:-1] - 1e-9).acceleration - way(TIMES[1:-1] + 1e-9).acceleration):
        assert_allclose(part, 0, atol=1e-5)
    check_derivatives(way, np.linspace(0.31, 3.69, 40), atol=2e-6)
    turn = mb.Rotation.random(np.random.default_rng(2))
    turn = mb.Pose(turn, [0.0, 0, 0]) if isinstance(points, mb.Pose) else turn
    turned = trajectories.spline(TIMES, turn @ points)
    assert_allclose(off(turned(1.2).value, turn @ way(1.2).value), 0, atol=1e-12)


def test_spline_about_one_axis():
    """Of rotations about one axis it is the spline of the angle."""
    angles = np.array([0.0, 2.0, 3.5, 1.0, 2.0])
    way = trajectories.spline(TIMES, mb.Rotation.elementary("y", angles))
    true = CubicSpline(TIMES, angles, bc_type="clamped")
    t = np.linspace(0.3, 3.7, 30)
    assert_allclose(way(t).value.matrix, mb.Rotation.elementary("y", true(t)).matrix, atol=1e-12)
    assert_allclose(way(t).acceleration[:, 1], true(t, 2), atol=1e-10)


def test_slowed():
    way = trajectories.spline(TIMES, WAY)
    slow = way.slowed(2.0)
    assert_allclose(slow.duration, 2 * way.duration)
    assert_allclose(off(slow(2.6).value, way(1.3).value), 0, atol=1e-12)
    assert_allclose(slow(2.6).rate, way(1.3).rate / 2, atol=1e-12)
    assert_allclose(slow(2.6).acceleration, way(1.3).acceleration / 4, atol=1e-12)


def test_inside_of_kernels():
    """Times, ends and durations may be traced."""

    def motion(a, b, T, t):
        ways = trajectories.quintic(a, b, T), trajectories.trapezoidal(a, b, velocity=0.5, acceleration=1.0)
        pose = trajectories.spline(TIMES, WAY)(t)
        return (*(x for way in ways for x in way(t)), pose.value.position, pose.rate, pose.acceleration)

    kernel = mb.compile(motion, 3, 3, (), ())
    for t in (-0.2, 0.4, 1.1, 5.0):
        for mine, true in zip(kernel(X[:3], Y[:3], 1.7, t), motion(X[:3], Y[:3], np.array(1.7), t), strict=True):
            assert_allclose(mine, true, atol=1e-13)


def test_frozen_and_not_a_number():
    way = control.trajectories.cubic(X, Y, 1.0)
    with pytest.raises(AttributeError, match="frozen"):
        way.duration = 2.0  # type: ignore[misc]
    assert all(np.isnan(part).all() for part in way(np.nan))
    assert_allclose(pickle.loads(pickle.dumps(way))(0.3).value, way(0.3).value)
    assert repr(way) == "<Trajectory of vectors: 1 piece in 1 s>"


def test_bad_input():
    o = np.zeros(3)
    for message, call in (
        (r"duration: expected a positive number, in s, got 0.0", lambda: trajectories.cubic(o, o, 0.0)),
        (r"duration \(sample 1\)", lambda: trajectories.cubic(np.zeros((2, 3)), np.ones((2, 3)), [1.0, -1.0])),
        (r"one shape, got the shapes \(3,\) and \(4,\)", lambda: trajectories.quintic(o, X, 1.0)),
        ("one kind, got Pose and Rotation", lambda: trajectories.quintic(A, B.rotation, 1.0)),
        ("duration: expected a duration, or limits", lambda: trajectories.cubic(o, o)),
        ("duration: expected either", lambda: trajectories.cubic(o, o, 1.0, velocity=1.0)),
        (
            "duration: expected one, since only from rest",
            lambda: trajectories.cubic(o, o, rates=(o, None), velocity=1.0),
        ),
        ("rates: expected", lambda: trajectories.cubic(A, B, 1.0, rates=(o, None))),
        ("velocity: expected a positive", lambda: trajectories.trapezoidal(o, o, velocity=0.0, acceleration=1.0)),
        (
            r"velocity: expected a number or \(..., 2\)",
            lambda: trajectories.trapezoidal(A, B, velocity=o + 1, acceleration=1.0),
        ),
        ("times: expected them to increase", lambda: trajectories.spline([0.0, 1.0, 1.0], np.zeros((3, 2)))),
        ("times: expected as many as points", lambda: trajectories.spline([0.0, 1.0], np.zeros((3, 2)))),
        ("points: expected several", lambda: trajectories.spline([0.0, 1.0], A)),
        ("points: expected several", lambda: trajectories.spline([0.0], 1.0)),
        ("factor", lambda: trajectories.cubic(o, o + 1, 1.0).slowed(0.0)),
        ("batch shapes", lambda: trajectories.cubic(np.zeros((2, 3)), np.ones((2, 3)), 1.0)(np.zeros((3,)))),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bad):
    turn, lost = A.rotation, mb.Rotation(np.full((3, 3), np.nan))
    for call in (
        lambda: trajectories.cubic(bad, 1.0, 1.0),
        lambda: trajectories.minimum_jerk(X, bad * Y, 1.0),
        lambda: trajectories.trapezoidal(mb.Pose(turn, [0.0, bad, 0.0]), A, velocity=1.0, acceleration=1.0),
        lambda: trajectories.cubic(0.0, 1.0, 1.0, rates=(None, bad)),
        lambda: trajectories.quintic(0.0, 1.0, 1.0, accelerations=(bad, None)),
        lambda: trajectories.spline([0.0, 1.0], [0.0, bad]),
        lambda: trajectories.spline([0.0, bad], [0.0, 1.0]),
        lambda: trajectories.cubic(turn, lost, 1.0),
    ):
        with pytest.raises(mb.InputError, match="expected finite numbers"):
            call()
