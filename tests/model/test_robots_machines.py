"""The embedded arms, legged robots and the quadrotor against their sources and against Pinocchio."""

import math

import numpy as np
import pinocchio as pin
import pytest

from multibody.model import configuration
from multibody.model.joints import Revolute
from multibody.model.model import Model
from multibody.model.robots import humanoid, quadrotor, quadruped

from ..oracles.robot_data import urdf
from .by_hand import Array, gravity_forces, mass_matrix, model_of, pose
from .trees import world_poses


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


# ---- arms ------------------------------------------------------------------------------------------------------------

PUMA_NOMINAL = np.array([0.0, math.pi / 4, math.pi, 0.0, math.pi / 4, 0.0])


def test_puma_forward_kinematics() -> None:
    """The poses that Corke prints for the wrist, moved up to the mounting surface."""
    model = model_of("puma-560")
    zero = pose(model, "wrist", np.zeros(6))
    assert zero.position == pytest.approx([0.4521, -0.15005, 0.672 + 0.4318])
    assert zero.rotation.matrix == pytest.approx(np.eye(3), abs=1e-15)
    nominal = pose(model, "wrist", PUMA_NOMINAL)
    assert nominal.position == pytest.approx([0.5963, -0.1501, 0.672 - 0.01435], abs=6e-5)
    assert nominal.rotation.matrix == pytest.approx(np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]), abs=1e-12)
    assert model.home is not None
    assert pose(model, "wrist", model.home).position == pytest.approx(nominal.position, abs=1e-12)


def test_puma_dynamics() -> None:
    """Gravity load and mass matrix at the nominal pose, as Corke prints them.

    The first diagonal entry holds the moment of link 3 that had to be raised.
    """
    model = model_of("puma-560")
    printed = [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0]
    assert gravity_forces(model, PUMA_NOMINAL) == pytest.approx(printed, abs=5e-5)
    M = mass_matrix(model, PUMA_NOMINAL)
    assert M[0, 0] == pytest.approx(3.6594, abs=0.0076)
    rest = [
        [0.0, -0.4044, 0.1006, -0.0025, 0.0, 0.0],
        [-0.4044, 4.4137, 0.3509, 0.0, 0.0024, 0.0],
        [0.1006, 0.3509, 0.9378, 0.0, 0.0015, 0.0],
        [-0.0025, 0.0, 0.0, 0.1925, 0.0, 0.0],
        [0.0, 0.0024, 0.0015, 0.0, 0.1713, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.1941],
    ]
    M[0, 0] = 0.0
    assert pytest.approx(np.array(rest), abs=5.1e-5) == M
    assert model.tree.mass - model.link("link1").inertia.mass == pytest.approx(23.45)  # type: ignore[union-attr]


def test_puma_wrist_axes_meet_in_one_point(rng: np.random.Generator) -> None:
    model = model_of("puma-560")
    for q in configuration.random(model.tree, rng, (5,)):
        wrist = pose(model, "wrist", q).position
        for body, W_H_i in zip(model.bodies[3:], world_poses(model, q)[4:], strict=True):
            axis = W_H_i.rotation @ np.array(body.joint.kind.axis)  # type: ignore[attr-defined]
            assert np.cross(wrist - W_H_i.position, axis) == pytest.approx(np.zeros(3), abs=1e-14)


def test_panda_agrees_with_pinocchio(rng: np.random.Generator) -> None:
    """Poses, inertias and limits are those of the robot file that Pinocchio's collection holds."""
    peer = pin.buildModelFromUrdf(str(urdf("panda_description/urdf/panda.urdf")))
    workspace = peer.createData()
    model = model_of("panda")
    for q in configuration.random(model.tree, rng, (10,)):
        pin.framesForwardKinematics(peer, workspace, np.concatenate([q, np.zeros(2)]))
        for ours, theirs in [(f"link{k}", f"panda_link{k}") for k in range(1, 8)] + [("tool", "panda_link8")]:
            oMf = workspace.oMf[peer.getFrameId(theirs)]
            assert pose(model, ours, q).matrix == pytest.approx(oMf.homogeneous, abs=1e-12)
    for k in range(1, 7):  # the hand is part of their seventh body
        inertia, theirs = model.bodies[k - 1].inertia, peer.inertias[k]
        assert inertia.mass == pytest.approx(theirs.mass)
        assert inertia.com == pytest.approx(theirs.lever)
        assert inertia.inertia == pytest.approx(theirs.inertia)
    assert model.tree.lower == pytest.approx(peer.lowerPositionLimit[:7])
    assert model.tree.upper == pytest.approx(peer.upperPositionLimit[:7])
    assert model.tree.velocity_limits == pytest.approx(peer.velocityLimit[:7])
    assert model.tree.effort_limits == pytest.approx(peer.effortLimit[:7])


def test_panda_at_zero() -> None:
    model = model_of("panda")
    assert pose(model, "tool", np.zeros(7)).position == pytest.approx([0.088, 0.0, 0.333 + 0.316 + 0.384 - 0.107])
    assert model.tree.mass == pytest.approx(16.062, abs=5e-4)


# ---- legs and rotors -------------------------------------------------------------------------------------------------

OTHER_SIDE = {"left": "right", "right": "left", "lf": "rf", "rf": "lf", "lh": "rh", "rh": "lh"}


def mirror(model: Model) -> Array:
    """(nv, nv): left-trivialised velocities of the mirror image, left and right exchanged."""
    T = np.zeros((model.nv, model.nv))
    T[:6, :6] = np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    for joint in model.joints[1:]:
        side, *rest = joint.name.split("-")
        image = model.joint("-".join([OTHER_SIDE.get(side, side), *rest]))
        assert isinstance(joint.kind, Revolute)
        T[image.v, joint.v] = 1.0 if joint.kind.axis == (0.0, 1.0, 0.0) else -1.0
    return T


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_left_is_the_mirror_image_of_right(name: str, rng: np.random.Generator) -> None:
    """Kinematics, mass matrix, gravity, limits and home."""
    model = model_of(name)
    T = mirror(model)
    q = configuration.random(model.tree, rng)
    image = np.concatenate([q[:7] * [1, -1, 1, 1, -1, 1, -1], T[6:, 6:] @ q[7:]])
    frames = [frame for frame in model.frames if frame.startswith(("foot", "hand"))]
    assert len(frames) == 4
    for frame in frames:
        kind, side = frame.split("-")
        here, there = pose(model, frame, q), pose(model, f"{kind}-{OTHER_SIDE[side]}", image)
        assert there.position == pytest.approx(here.position * [1, -1, 1], abs=1e-12)
    assert mass_matrix(model, image) == pytest.approx(T @ mass_matrix(model, q) @ T.T, abs=1e-12)
    assert gravity_forces(model, image) == pytest.approx(T @ gravity_forces(model, q), abs=1e-10)
    signs = T[6:, 6:].sum(axis=1)
    low, high = np.abs(T[6:, 6:]) @ model.tree.lower[7:], np.abs(T[6:, 6:]) @ model.tree.upper[7:]
    assert model.tree.lower[7:] == pytest.approx(np.where(signs > 0, low, -high))
    home = np.array(model.home)
    assert home[7:] == pytest.approx(T[6:, 6:] @ home[7:])


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_home_stands_on_the_ground_in_balance(name: str) -> None:
    model = model_of(name)
    feet = [frame for frame in model.frames if frame.startswith("foot")]
    heights = [pose(model, foot, model.home).position[2] for foot in feet]
    assert heights == pytest.approx(np.zeros(len(feet)), abs=1e-12)
    for foot in feet if name == "humanoid" else ():
        assert pose(model, foot, model.home).rotation.matrix == pytest.approx(np.eye(3), abs=1e-12)
    # the centre of mass is above the feet: gravity's torque on the base, over the weight
    lever = gravity_forces(model, model.home)[4] / (model.tree.mass * 9.81)
    xs = [pose(model, foot, model.home).position[0] for foot in feet]
    assert min(xs) - 0.07 < -lever < max(xs) + 0.18


def test_quadruped_has_the_published_figures() -> None:
    model = model_of("quadruped")
    assert model.tree.mass == pytest.approx(3.3 + 4 * (0.54 + 0.634 + 0.064 + 3 * 0.055))
    foot = pose(model, "foot-lf", configuration.neutral(model.tree)).position
    assert foot == pytest.approx([0.19, 0.049 + 0.062, -0.384])
    assert model.armature[6:9] == pytest.approx([36 * 63e-6, 36 * 63e-6, 9.33**2 * 63e-6])
    assert model.tree.effort_limits[6:9] == pytest.approx([18.0, 18.0, 27.99])
    assert tuple(quadruped.LEGS) == ("lf", "rf", "lh", "rh")


@pytest.mark.parametrize(("mass", "height"), [(humanoid.MASS, humanoid.HEIGHT), (50.0, 1.5)])
def test_humanoid_has_the_mass_and_height_asked_for(mass: float, height: float) -> None:
    model = model_of("humanoid", mass=mass, height=height)
    assert model.tree.mass == pytest.approx(mass)
    upright = configuration.neutral(model.tree)
    vertex = pose(model, "vertex", upright).position[2]
    assert vertex - pose(model, "foot-left", upright).position[2] == pytest.approx(height)
    hip, ankle = (pose(model, link, upright).position[2] for link in ("left-thigh", "left-foot"))
    assert hip - ankle == pytest.approx((0.4222 + 0.4340) * height / 1.741)
    leg = sum(float(body.inertia.mass) for body in model.bodies if body.name.startswith("left-"))
    assert leg / mass == pytest.approx((0.1416 + 0.0433 + 0.0137) + (0.0271 + 0.0162 + 0.0061))


def test_humanoid_centre_of_mass_is_that_of_a_standing_man() -> None:
    """About 56 % of the height above the ground."""
    model = model_of("humanoid")
    q = configuration.neutral(model.tree)
    poses = world_poses(model, q)
    moment = sum(float(body.inertia.mass * (poses[i] @ body.inertia.com)[2]) for i, _, body in model.tree.outward())
    above = moment / model.tree.mass - pose(model, "foot-left", q).position[2]
    assert above / humanoid.HEIGHT == pytest.approx(0.56, abs=0.02)


def test_quadrotor_hovers() -> None:
    model = model_of("quadrotor")
    assert model.tree.mass == pytest.approx(0.716)
    A = quadrotor.allocation(model)
    assert np.linalg.matrix_rank(A) == 4
    thrust = np.linalg.lstsq(A, gravity_forces(model, model.home), rcond=None)[0]
    assert thrust == pytest.approx(np.full(4, 0.716 * 9.81 / 4))
    for rotor in quadrotor.ROTORS:
        assert rotor.thrust_constant * rotor.speed(thrust[0]) ** 2 == pytest.approx(thrust[0])
        assert thrust[0] < rotor.max_thrust


def test_quadrotor_allocation() -> None:
    """More thrust at the left rolls to the right (+x), at the front pitches up (-y), on the left-right pair yaws -z."""
    front, left, back, right = quadrotor.allocation(model_of("quadrotor")).T
    assert left - right == pytest.approx([0, 0, 0, 2 * quadrotor.ARM, 0, 0])
    assert front - back == pytest.approx([0, 0, 0, 0, -2 * quadrotor.ARM, 0])
    assert left + right - front - back == pytest.approx([0, 0, 0, 0, 0, -4 * 0.016])
