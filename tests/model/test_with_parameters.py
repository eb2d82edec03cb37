"""Robots rebuilt from the numbers of kernels: those come back, and so does every result of the kernel."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, log_cholesky
from multibody.model.surgery import with_parameters
from multibody.robot.request import Evaluation

from ..every_law import each_case
from ..laws.tools import near
from ..oracles.robot_data import urdf
from ..robot.robots import parts
from ..sampling import sampled
from .mjcf_texts import JOINTS
from .trees import random_model

pytestmark = pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")  # of files of others
FILES = {
    "panda": "panda_description/urdf/panda.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "icub": "icub_description/robots/icub_reduced.urdf",
}
"""Robots with joints on links that are fixed to others, turned and away from the body's origin."""
COUNT = 3
BALL = [2.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]


def robot_of(name):
    if name == "mjcf":
        return mb.load(JOINTS)
    if name == "tree":
        return mb.Robot(random_model(np.random.default_rng(5), 6))
    return mb.load(urdf(FILES[name]), floating=name in ("anymal", "talos"))


def numbers(robot, rng):
    """Of a few robots near this one."""
    inertias = np.tile(robot.parameters(), (COUNT, 1, 1))
    solid = np.linalg.eigvalsh(log_cholesky.pseudo_inertia(inertias[0]))[:, 0] > 1e-9  # others are no thick bodies
    theta = log_cholesky.from_parameters(inertias[:, solid])
    inertias[:, solid] = log_cholesky.parameters(theta + rng.uniform(-0.2, 0.2, theta.shape))
    places, frames = (np.tile(own, (COUNT, 1, 1)) for own in (robot.placements(), robot.frame_placements()))
    places = moved(places, rng)
    fixed = {joint.child for joint in robot.model.description if joint.kind.nv == 0}
    free = [name in fixed or name not in {link.name for link in robot.model.links} for name in robot.frames]
    frames[:, free] = moved(frames[:, free], rng)
    return {
        "inertias": inertias,
        "placements": places,
        "frame_placements": frames,
        "gravity": rng.normal(size=(COUNT, 3)),
    }


def moved(places, rng):
    pose = Pose(Rotation.from_quaternion(places[..., 3:]), places[..., :3]) @ Pose.exp(
        rng.uniform(-0.1, 0.1, (*places.shape[:-1], 6))
    )
    return np.concatenate([pose.position, pose.rotation.quaternion], axis=-1)


def same_places(found, expected):
    """Equal poses: a quaternion and its negative are one rotation."""
    near(found[:, :3], expected[:, :3], 1e-12)
    near(np.abs(np.einsum("ij,ij->i", found[:, 3:], expected[:, 3:])), np.ones(len(found)), 1e-12)


@pytest.mark.parametrize("name", [*FILES, "mjcf", "tree"])
def test_the_own_numbers_change_nothing(name):
    robot = robot_of(name)
    for rebuilt in (
        robot.with_parameters(),
        robot.with_parameters(robot.parameters()),
        robot.with_parameters(positions=robot.positions()),
        robot.with_parameters(placements=robot.placements()),
        robot.with_parameters(frame_placements=robot.frame_placements()),
    ):
        near(rebuilt.parameters(), robot.parameters(), 1e-12)
        same_places(rebuilt.placements(), robot.placements())
        same_places(rebuilt.frame_placements(), robot.frame_placements())
    assert robot.with_parameters() == robot


@pytest.mark.parametrize("name", [*FILES, "mjcf", "tree"])
def test_other_numbers_come_back(name):
    robot = robot_of(name)
    given = {what: x[0] for what, x in numbers(robot, np.random.default_rng(2)).items()}
    rebuilt = robot.with_parameters(**given)
    near(rebuilt.parameters(), given["inertias"], 1e-11)
    same_places(rebuilt.placements(), given["placements"])
    same_places(rebuilt.frame_placements(), given["frame_placements"])
    assert rebuilt.model.gravity == tuple(given["gravity"])
    longer = robot.with_parameters(positions=given["placements"][:, :3])
    near(longer.positions(), given["placements"][:, :3], 1e-12)
    near(
        np.abs(np.sum(longer.placements()[:, 3:] * robot.placements()[:, 3:], axis=1)),
        np.ones(len(robot.bodies)),
        1e-12,
    )
    near(longer.parameters(), robot.parameters(), 1e-12)


@pytest.mark.parametrize("name", [*FILES, "mjcf", "tree"])
@pytest.mark.parametrize("quantity", sampled(["inverse_dynamics", "pose", "mass_matrix"]))
def test_samples_are_the_rebuilt_robots(name, quantity):
    """The source of the kernel, on the numbers of each sample, and that of the robot rebuilt with them."""
    robot, rng = robot_of(name), np.random.default_rng(3)
    given = numbers(robot, rng)
    q, v, a = robot.random(rng, (COUNT,)), *rng.standard_normal((2, COUNT, robot.nv))
    args = (q, v, a) if quantity == "inverse_dynamics" else (q,)
    request = Evaluation.of(robot.model, quantity, robot.frames[-1] if quantity == "pose" else None)
    for k in range(COUNT):
        one, state = {what: x[k] for what, x in given.items()}, [x[k] for x in args]
        found = request.function(robot.tree.with_values(**one))(*state)
        expected = request.function(with_parameters(robot.model, **one).tree)(*state)
        for part, other in zip(parts(found), parts(expected), strict=True):
            near(part, other, 1e-9)


@pytest.mark.parametrize("name", ["panda", "mjcf"])
def test_kernels_of_samples_are_the_rebuilt_robots(name):
    robot, rng = robot_of(name), np.random.default_rng(4)
    given = numbers(robot, rng)
    q, v, a = robot.random(rng, (COUNT,)), *rng.standard_normal((2, COUNT, robot.nv))
    kernel = robot.kernel("inverse_dynamics", parameters=("inertias", "positions", "gravity"))
    tau = kernel(q, v, a, given["inertias"], given["placements"][..., :3], given["gravity"])
    for k in range(COUNT):
        positions, gravity = given["placements"][k, :, :3], given["gravity"][k]
        with mb.eager():
            one = robot.with_parameters(given["inertias"][k], positions=positions, gravity=gravity)
            near(tau[k], one.inverse_dynamics(q[k], v[k], a[k]), 1e-9)


def test_a_body_may_lose_its_mass_and_its_precision_stays():
    robot = mb.load("planar-arm").astype("float32")
    inertias = robot.parameters()
    inertias[1] = 0
    light = robot.with_parameters(inertias.astype(np.float32))
    assert light.model.link(robot.bodies[1].name).inertia is None
    assert light.dtype == np.float32
    near(light.parameters(), inertias, 1e-6)


@each_case(
    "given, words",
    [
        ({"inertias": np.tile(BALL, (4, 3, 1))}, r"inertias: expected the numbers of one robot, of shape"),
        ({"inertias": np.tile(BALL, (2, 1))}, r"inertias: expected an array of real floats of shape \(..., 3, 10\)"),
        ({"inertias": "a"}, "inertias: expected an array"),
        ({"inertias": np.full((3, 10), np.nan)}, "inertias: expected finite numbers for the body 'link1'"),
        ({"inertias": [BALL, [0, 1, *BALL[2:]], BALL]}, "the body 'link2', with a mass where it has a first moment"),
        (
            {"positions": np.zeros((3, 3)), "placements": np.zeros((3, 7))},
            "expected 'placements' or 'positions', got both",
        ),
        ({"positions": np.full((3, 3), np.inf)}, "positions: expected finite numbers for the joint 'joint1'"),
        ({"placements": np.ones((3, 7))}, "the joint 'joint1' has the length 2, expected 1"),
        ({"frame_placements": np.zeros((3, 7))}, "frame_placements: expected an array"),
        ({"gravity": [0, 0, np.nan]}, "gravity: expected three finite numbers"),
        ({"gravity": 5}, "gravity: expected an array of real floats"),
    ],
)
def test_bad_numbers(given, words):
    with pytest.raises(InputError, match=words):
        mb.load("planar-arm").with_parameters(**given)


def test_the_frame_of_a_body_stays():
    robot = mb.load("planar-arm")
    for link in ("link2", robot.frames[0]):
        frames = robot.frame_placements()
        frames[robot.frames.index(link), 2] = 0.1
        with pytest.raises(InputError, match=f"frame_placements: {link!r} is the frame of its body"):
            robot.with_parameters(frame_placements=frames)


def test_masses_rebuild_bodies_of_the_same_shape():
    robot = mb.load("quadruped")
    masses = np.linspace(1.0, 2.0, len(robot.bodies))
    rebuilt = robot.with_parameters(masses=masses)
    near(rebuilt.parameters(), robot.tree.with_values(masses=masses).parameters(), 1e-12)
    near(rebuilt.mass, masses.sum(), 1e-12)
    with pytest.raises(mb.InputError, match="expected 'inertias' or 'masses', got both"):
        robot.with_parameters(robot.parameters(), masses=masses)
