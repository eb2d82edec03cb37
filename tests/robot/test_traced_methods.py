"""Every method of a robot inside a function that is traced: it records the algorithm, and compiles nothing."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.cache import code_cache
from multibody.compiler.runtime import native
from multibody.tracing.array.traced import TracedArray
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..laws.tools import near

ROBOT = mb.load("quadruped")
FRAME, OTHER = "foot-lf", "trunk"
FEET = ROBOT.constraints([mb.constraints.PointContact(foot, foot) for foot in ("foot-lf", "foot-rh")])
PUSH = {OTHER: np.arange(6.0)}
POINT = np.array([0.1, 0.2, 0.3])

METHODS = {
    "pose": lambda r, s: r.pose(FRAME, s.q).position,
    "poses": lambda r, s: r.poses(s.q)[FRAME].position,
    "velocity": lambda r, s: r.velocity(FRAME, s.q, s.v, "left"),
    "acceleration": lambda r, s: r.acceleration(FRAME, s.q, s.v, s.a, intrinsic=True),
    "jacobian": lambda r, s: r.jacobian(FRAME, s.q),
    "jacobian left": lambda r, s: r.jacobian(FRAME, s.q, "left"),
    "jacobian_dot": lambda r, s: r.jacobian_dot(FRAME, s.q, s.v),
    "hessian": lambda r, s: r.hessian(OTHER, s.q),
    "analytical_jacobian": lambda r, s: r.analytical_jacobian(FRAME, s.q, "quaternion"),
    "analytical_jacobian damped": lambda r, s: r.analytical_jacobian(FRAME, s.q, damping=0.1),
    "end_effector": lambda r, s: r.end_effector(FRAME, s.q, coordinates=[0, 2]),
    "relative_jacobian": lambda r, s: r.relative_jacobian(FRAME, OTHER, s.q),
    "jacobian_in": lambda r, s: r.jacobian_in(FRAME, s.q, written_in=OTHER),
    "jacobian_in a pose": lambda r, s: r.jacobian_in(FRAME, s.q, written_in=mb.Pose.identity()),
    "moving_contact_velocity": lambda r, s: r.moving_contact_velocity(
        FRAME, s.q, s.v, mb.Pose(mb.Rotation.identity(), POINT), np.ones(6)
    ),
    "point_jacobian": lambda r, s: r.point_jacobian(FRAME, s.q, POINT),
    "point_velocity": lambda r, s: r.point_velocity(FRAME, s.q, s.v, POINT),
    "point_acceleration": lambda r, s: r.point_acceleration(FRAME, s.q, s.v, s.a, POINT),
    "inverse_dynamics": lambda r, s: r.inverse_dynamics(s.q, s.v, s.a),
    "inverse_dynamics pushed": lambda r, s: r.inverse_dynamics(s.q, s.v, s.a, PUSH, passive=True),
    "forward_dynamics": lambda r, s: r.forward_dynamics(s.q, s.v, s.a),
    "forward_dynamics pushed": lambda r, s: r.forward_dynamics(s.q, s.v, s.a, PUSH, passive=True),
    "mass_matrix": lambda r, s: r.mass_matrix(s.q),
    "mass_matrix_product": lambda r, s: r.mass_matrix_product(s.q, s.a),
    "bias": lambda r, s: r.bias(s.q, s.v),
    "gravity": lambda r, s: r.gravity(s.q),
    "coriolis": lambda r, s: r.coriolis(s.q, s.v),
    "passive": lambda r, s: r.passive(s.q, s.v),
    "equations_of_motion": lambda r, s: r.equations_of_motion(s.q, s.v, "mixed")[1],
    "joint_wrenches": lambda r, s: r.joint_wrenches(s.q, s.v, s.a, PUSH),
    "center_of_mass": lambda r, s: r.center_of_mass(s.q),
    "com_jacobian": lambda r, s: r.com_jacobian(s.q),
    "com_velocity": lambda r, s: r.com_velocity(s.q, s.v),
    "momentum": lambda r, s: r.momentum(s.q, s.v),
    "centroidal_momentum": lambda r, s: r.centroidal_momentum(s.q, s.v),
    "centroidal_momentum_rate": lambda r, s: r.centroidal_momentum_rate(s.q, s.v, s.a),
    "centroidal_momentum_matrix": lambda r, s: r.centroidal_momentum_matrix(s.q),
    "centroidal_momentum_matrix_dot": lambda r, s: r.centroidal_momentum_matrix_dot(s.q, s.v),
    "centroidal_inertia": lambda r, s: r.centroidal_inertia(s.q),
    "kinetic_energy": lambda r, s: r.kinetic_energy(s.q, s.v),
    "potential_energy": lambda r, s: r.potential_energy(s.q),
    "power": lambda r, s: r.power(s.q, s.v, s.a),
    "regressor": lambda r, s: r.regressor(s.q, s.v, s.a),
    "integrate": lambda r, s: r.integrate(s.q, s.v),
    "difference": lambda r, s: r.difference(s.q, r.integrate(s.q, 0.1 * s.v)),
    "interpolate": lambda r, s: r.interpolate(s.q, r.integrate(s.q, 0.1 * s.v), 0.5),
    "normalize": lambda r, s: r.normalize(s.q),
    "rate_matrix": lambda r, s: r.rate_matrix(s.q),
    "rate_inverse": lambda r, s: r.rate_inverse(s.q),
    "impact": lambda r, s: r.impact(FEET, s.q, s.v, 0.5).velocity,
    "constrained_dynamics": lambda r, s: (
        r.constrained_dynamics(FEET, s.q, s.v, s.a, method="exact", active=[1, 0], baumgarte=[4.0, 2.0]).acceleration
    ),
    "null_space_projector": lambda r, s: r.null_space_projector(FEET, s.q),
    "support_consistent_velocity": lambda r, s: r.support_consistent_velocity(
        FEET, s.q, r.jacobian(OTHER, s.q)[..., :2, :], np.ones(2)
    ),
    "evaluate": lambda r, s: r.evaluate(s.q, s.v, ["bias", ("pose", FRAME)])["pose", FRAME].position,
    "derivatives": lambda r, s: r.derivatives("center_of_mass", s.q)[0],
}
SLOW = (
    "constrained_dynamics",
    "support_consistent_velocity",
    "null_space_projector",
    "hessian",
    "regressor",
    "coriolis",
)


class State(NamedTuple):
    q: Any
    v: Any
    a: Any


def state(*batch):
    rng = np.random.default_rng(4)
    return State(ROBOT.random(rng, batch), *rng.standard_normal((2, *batch, ROBOT.nv)))


@pytest.fixture
def compilations(monkeypatch):
    """Grows when native code is made, or a kernel that would make some at its first call."""
    counted, compile_objects, code = [], native.compile_objects, code_cache.code
    monkeypatch.setattr(native, "compile_objects", lambda *a, **k: counted.append(1) or compile_objects(*a, **k))
    monkeypatch.setattr(code_cache, "code", lambda *a, **k: counted.append(1) or code(*a, **k))
    return counted


@pytest.mark.parametrize("name", [pytest.param(m, marks=pytest.mark.slow) if m in SLOW else m for m in METHODS])
@pytest.mark.parametrize("batch", [pytest.param((), marks=pytest.mark.slow), (2,)])
def test_methods_record_and_compile_nothing(name, batch, compilations):
    """The values of what is recorded are those of the plain source."""
    method, arrays = METHODS[name], state(*batch)
    fresh = mb.Robot(ROBOT.model)
    recorded = trace(lambda q, v, a: method(fresh, State(q, v, a)), [x.shape for x in arrays])
    assert not compilations
    with mb.eager():
        expected = method(fresh, arrays)
    near(evaluate(recorded, *arrays), expected, 1e-9 * max(1.0, np.abs(expected).max()))
    assert not compilations


@pytest.mark.parametrize("name", [m for m in METHODS if m not in SLOW])
def test_constants_stay_plain_inside_a_trace(name, compilations):
    """`robot.pose` of a constant q gives floats."""
    fresh = mb.Robot(ROBOT.model)
    kept = []

    def function(x):
        kept.append(METHODS[name](fresh, state()))
        return x + 1.0

    trace(function, [()])
    assert isinstance(kept[0], np.ndarray | np.floating)
    assert not isinstance(kept[0], TracedArray)
    assert not compilations


def test_kernels_that_are_there_already_take_batches_too():
    robot = mb.load("planar-arm")
    q, v = np.random.default_rng(0).standard_normal((2, 4, 3))
    plain = robot.forward_dynamics(q, v, 0 * v).sum(axis=-1)  # compiles the kernel
    kernel = mb.compile(lambda q, v: robot.forward_dynamics(q, v, np.zeros(3)).sum(axis=-1), (4, 3), (4, 3))
    near(kernel(q, v), plain, 1e-12 * np.abs(plain).max())


def test_traced_parameters():
    robot = mb.load("planar-arm")
    rng = np.random.default_rng(1)
    q, v, tau = rng.standard_normal((3, 5, 3))
    masses = rng.uniform(0.5, 2.0, (5, 3))
    kernel = mb.compile(lambda q, v, tau, m: robot.forward_dynamics(q, v, tau, parameters={"masses": m}), 3, 3, 3, 3)
    expected = np.stack(
        [
            robot.with_parameters(robot.tree.with_values(masses=m).parameters()).forward_dynamics(*x)
            for *x, m in zip(q, v, tau, masses, strict=True)
        ]
    )
    near(kernel(q, v, tau, masses), expected, 1e-10)
    near(robot.forward_dynamics(q, v, tau, parameters={"masses": masses}), expected, 1e-10)
    with mb.eager():
        near(robot.forward_dynamics(q, v, tau, parameters={"masses": masses}), expected, 1e-10)
    by_mass = mb.compile(
        mb.jacobian(lambda m: robot.gravity(np.ones(3), parameters={"masses": m})), 3
    )  # gravity is linear in masses
    near(by_mass(masses[0]) @ masses[0], robot.gravity(np.ones(3), parameters={"masses": masses[0]}), 1e-12)
