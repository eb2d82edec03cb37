"""The smallest robots: nothing that moves, one link only; every quantity has its shape, or says why there is none."""

from functools import cache

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.model.builder import Builder
from multibody.model.joints import Fixed
from multibody.robot.quantities import QUANTITIES

from ..every_law import each_case
from .robots import inputs_of, parts

MASS = mb.SpatialInertia(mass=2.0, com=[0.1, 0.0, 0.0], inertia=np.diag([1.0, 2.0, 2.5]))
NEEDS_MASS = {name for name in QUANTITIES if name.startswith(("center_of", "com_", "centroidal")) or name == "momentum"}
SHAPES = {
    "velocity": (6,),
    "acceleration": (6,),
    "jacobian": (6, 0),
    "jacobian_dot": (6, 0),
    "relative_jacobian": (6, 0),
    "jacobian_in": (6, 0),
    "point_jacobian": (3, 0),
    "point_velocity": (3,),
    "point_acceleration": (3,),
    "analytical_jacobian": (6, 0),
    "end_effector": (6,),
    "hessian": (0, 6, 0),
    "joint_wrenches": (0, 6),
    "mass_matrix": (0, 0),
    "coriolis": (0, 0),
    "rate_matrix": (0, 0),
    "rate_inverse": (0, 0),
    "regressor": (0, 0),
    "kinetic_energy": (),
    "potential_energy": (),
    "power": (),
}


@cache
def rock(links=1):
    """Links fixed to the world."""
    b = Builder("rock").body("stone", MASS)
    for k in range(1, links):
        b.body(f"stone{k}", MASS).joint(f"weld{k}", Fixed(), parent="stone", child=f"stone{k}")
    return mb.Robot(b)


@each_case("links", [1, 3])
@each_case("name", QUANTITIES)
def test_a_robot_that_does_not_move(name, links):
    robot = rock(links)
    assert (robot.nq, robot.nv, robot.bodies) == (0, 0, ())
    entry = QUANTITIES[name]
    options = {"reference": "stone"} if "reference" in entry.options else {}
    frame = robot.frames[-1] if entry.frame else None
    if name in NEEDS_MASS:
        with pytest.raises(InputError, match="rock: no moving body has mass"):
            robot.kernel(name, frame, **options)
        return
    kernel = robot.kernel(name, frame, **options)
    for batch in ((), (4,), (0,)):
        args = [np.zeros((*batch, *x.shape)) for x in inputs_of(robot, name)]
        found = parts(kernel(*args))
        with mb.eager():
            plain = parts(kernel(*args))
        for one, other in zip(found, plain, strict=True):
            np.testing.assert_array_equal(one, other)
            assert np.isfinite(one).all()
        if len(found) == 1:
            assert found[0].shape == batch + SHAPES.get(name, (0,))


def test_the_face_of_a_robot_that_does_not_move():
    robot = rock()
    q = robot.neutral()
    assert q.shape == robot.random(np.random.default_rng(0)).shape == (0,)
    assert robot.random(np.random.default_rng(0), (3,)).shape == (3, 0)
    assert robot.parameters().shape == (0, 10)
    assert robot.selection.shape == (0, 0)
    assert robot.mass == 0.0
    assert robot.pose("stone", q) == mb.Pose.identity()
    assert robot.point_jacobian("stone", q, np.ones(3)).shape == (3, 0)
    assert robot.interpolate(q, q, 0.5).shape == (0,)
    assert robot.inverse_dynamics(q, q, q, {"stone": np.ones(6)}).shape == (0,)
    assert robot.forward_dynamics(q, q, q, passive=True).shape == (0,)
    assert set(robot.evaluate(q, q, ["mass_matrix", "bias"])) == {"mass_matrix", "bias"}
    assert robot.singular_values("stone", q).shape == (0,)
    assert robot.rank("stone", q) == 0
    assert robot.manipulability("stone", q) == 1.0  # of no singular values
    assert "rock" in repr(robot)
    assert "stone" in str(robot)


def test_one_floating_link():
    """Newton and Euler for one body."""
    b = Builder("brick").body("brick", MASS)
    robot = mb.Robot(b.model(floating=True))
    q = robot.neutral()
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(M, MASS.matrix, atol=1e-14)
    np.testing.assert_allclose(robot.gravity(q), [0, 0, 19.62, 0, -1.962, 0], atol=1e-13)
    a = robot.forward_dynamics(q, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(a, [0, 0, -9.81, 0, 0, 0], atol=1e-13)


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_link_that_is_a_point(name):
    """Mass without extent on a slide: nothing divides by zero."""
    b = (
        Builder("bead")
        .body("wire")
        .body("bead", mb.SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.zeros((3, 3))))
    )
    b.joint("slide", mb.model.joints.Prismatic("z"), parent="wire", child="bead")
    robot = mb.Robot(b)
    entry = QUANTITIES[name]
    options = {"reference": "wire"} if "reference" in entry.options else {}
    kernel = robot.kernel(name, "bead" if entry.frame else None, **options)
    for array in parts(kernel(*(np.full(x.shape, 0.3) for x in inputs_of(robot, name)))):
        assert np.isfinite(array).all()
