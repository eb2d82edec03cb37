"""Numbers of the model as inputs: a batch of different robots is each of them, rebuilt with its numbers."""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import multibody as mb
from multibody.geometry import Pose, Rotation, SpatialInertia, log_cholesky
from multibody.robot.quantities import QUANTITIES
from multibody.robot.request import Evaluation, parameter_names

from ..every_law import each_case
from ..laws.tools import near
from ..model.trees import random_model
from ..sampling import sampled
from .robots import inputs_of, parts

BOTH = ("inertias", "placements")
LENGTHS = ("inertias", "positions")
COUNT = 200
NO_NUMBERS = ("passive", "integrate", "difference", "normalize", "rate_matrix", "rate_inverse")
"""Quantities that no inertia and no placement enters."""
SHORT = ("pose", "jacobian", "inverse_dynamics", "forward_dynamics", "mass_matrix", "center_of_mass", "kinetic_energy")
OTHERS = [name for name in QUANTITIES if name not in (*SHORT, *NO_NUMBERS)]
MACHINES = ("fixed", "floating", "mimic")


@cache
def machine(name: str) -> mb.Robot:
    """A small tree with hinges, sliders and balls; links that are welded to others among them."""
    kinds = ("revolute", "prismatic") if name == "mimic" else ("revolute", "prismatic", "spherical", "universal")
    options = {"floating": {"floating": True, "velocity": "mixed"}, "mimic": {"mimic": 1.0}}.get(name, {})
    return mb.Robot(random_model(np.random.default_rng(5), 2 if name == "floating" else 3, kinds=kinds, **options))


@cache
def numbers(name: str, count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    """Inertias and placements of that many robots, near those of the machine and far from them."""
    robot, rng = machine(name), np.random.default_rng(7)
    own = log_cholesky.from_parameters(robot.parameters())
    inertias = log_cholesky.parameters(own + rng.uniform(-0.4, 0.4, (count, *own.shape)))
    position = robot.placements()[:, :3] + rng.uniform(-0.3, 0.3, (count, len(robot.bodies), 3))
    turned = Rotation.random(rng, (count, len(robot.bodies))).quaternion
    return inertias, np.concatenate([position, turned], axis=-1)


def rebuilt(robot: mb.Robot, inertias: np.ndarray, placements: np.ndarray) -> mb.Robot:
    """The robot with links and joints of other numbers, each put where the file has it."""
    masses: dict[str, SpatialInertia | None] = {}
    places: dict[str, Pose] = {}
    for body, p, x in zip(robot.bodies, inertias, placements, strict=True):
        com = p[1:4] / p[0]
        central = p[[[4, 5, 7], [5, 6, 8], [7, 8, 9]]] - p[0] * (com @ com * np.eye(3) - np.outer(com, com))
        masses |= dict.fromkeys(body.links)
        masses[body.joint.child] = SpatialInertia(mass=p[0], com=com, inertia=central)
        parent = robot.model.joint(body.joint.name).parent
        i_H_link = Pose.identity() if parent is None else robot.tree.frame(parent)[1]
        places[body.joint.name] = i_H_link.inverse() @ Pose(Rotation.from_quaternion(x[3:]), x[:3])
    return robot.change(inertias=masses, placements=places)


def request(robot: mb.Robot, quantity: str):
    entry = QUANTITIES[quantity]
    options = {"reference": robot.frames[0]} if "reference" in entry.options else {}
    return (robot.frames[-1] if entry.frame else None), options


def states(robot: mb.Robot, quantity: str, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [
        robot.random(rng, (count,)) if x.name == "q" else rng.standard_normal((count, *x.shape))
        for x in inputs_of(robot, quantity)
    ]


def compare(name: str, quantity: str, count: int) -> None:
    """One call for all robots, beside the NumPy of each robot rebuilt."""
    robot = machine(name)
    frame, options = request(robot, quantity)
    args = states(robot, quantity, count)
    inertias, placements = (x[:count] for x in numbers(name))
    found = parts(robot.kernel(quantity, frame, parameters=BOTH, **options)(*args, inertias, placements))
    for k in range(count):
        model = rebuilt(robot, inertias[k], placements[k]).model
        function = Evaluation.of(model, quantity, frame, **options).function(model.tree)
        for one, expected in zip(found, parts(function(*(x[k] for x in args))), strict=True):
            near(one[k], expected, 1e-8)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("quantity", sampled(SHORT, 2))
def test_many_robots_are_each_of_them_rebuilt(name, quantity):
    compare(name, quantity, COUNT if quantity == "inverse_dynamics" else 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("quantity", [*SHORT, *OTHERS])
def test_every_quantity_of_many_robots(name, quantity):
    compare(name, quantity, COUNT)


@pytest.mark.parametrize("quantity", sampled(OTHERS, 2))
def test_every_quantity_of_a_few_robots(quantity):
    compare("mimic", quantity, 4)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("quantity", sampled(SHORT, 2))
def test_link_lengths_are_placements_that_keep_their_rotations(name, quantity):
    """Each sample is the robot rebuilt with its positions and with its own rotations."""
    robot = machine(name)
    frame, options = request(robot, quantity)
    args = states(robot, quantity, 20)
    inertias, placements = (x[:20] for x in numbers(name))
    placements = placements.copy()
    placements[..., 3:] = robot.placements()[:, 3:]
    found = parts(robot.kernel(quantity, frame, parameters=LENGTHS, **options)(*args, inertias, placements[..., :3]))
    for k in range(20):
        model = rebuilt(robot, inertias[k], placements[k]).model
        function = Evaluation.of(model, quantity, frame, **options).function(model.tree)
        for one, expected in zip(found, parts(function(*(x[k] for x in args))), strict=True):
            near(one[k], expected, 1e-8)


@pytest.mark.parametrize("name", ["panda", "quadruped"])
def test_link_lengths_of_real_robots_are_their_placements(name):
    robot, rng = mb.load(name), np.random.default_rng(4)
    positions = robot.positions() + rng.uniform(-0.1, 0.1, (9, len(robot.bodies), 3))
    turned = np.broadcast_to(robot.placements()[:, 3:], (9, len(robot.bodies), 4))
    args = states(robot, "inverse_dynamics", 9)
    found = robot.kernel("inverse_dynamics", parameters="positions")(*args, positions)
    places = np.concatenate([positions, turned], axis=-1)
    near(found, robot.kernel("inverse_dynamics", parameters="placements")(*args, places), 1e-10)


def test_lengths_cost_less_than_placements():
    robot = mb.load("panda")
    ops = {p: robot.kernel("inverse_dynamics", parameters=p).ops.total() for p in ("positions", "placements")}
    assert ops["positions"] < 0.75 * ops["placements"]


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("given", [("inertias",), ("placements",), ("positions",), BOTH, LENGTHS])
def test_the_own_numbers_change_nothing(name, given):
    robot = machine(name)
    own = {"inertias": robot.parameters(), "placements": robot.placements(), "positions": robot.positions()}
    args = states(robot, "inverse_dynamics", 9)
    found = robot.kernel("inverse_dynamics", parameters=given)(*args, *(own[each] for each in given))
    near(found, robot.inverse_dynamics(*args), 1e-11)


def test_the_names_can_come_in_any_order_and_one_as_a_text():
    robot = machine("fixed")
    inertias, placements = numbers("fixed")
    args = states(robot, "inverse_dynamics", COUNT)
    found = robot.kernel("inverse_dynamics", parameters=BOTH)(*args, inertias, placements)
    turned = robot.kernel("inverse_dynamics", parameters=BOTH[::-1])(*args, placements, inertias)
    near(turned, found)
    text = robot.kernel("inverse_dynamics", parameters="inertias")(*args, inertias)
    near(text, robot.kernel("inverse_dynamics", parameters=("inertias",))(*args, inertias), 0.0)


def test_one_robot_with_many_states_and_one_state_of_many_robots():
    robot = machine("fixed")
    kernel = robot.kernel("inverse_dynamics", parameters=BOTH)
    inertias, placements = numbers("fixed")
    args = states(robot, "inverse_dynamics", COUNT)
    one_state = kernel(*(x[4] for x in args), inertias, placements)
    one_robot = kernel(*args, inertias[6], placements[6])
    assert one_state.shape == one_robot.shape == (COUNT, robot.nv)
    near(one_state[6], one_robot[4], 0.0)
    grid = kernel(*(x[:5, None] for x in args), inertias[:7], placements[:7])
    near(grid[4, 6], one_robot[4], 0.0)


def test_threads_change_nothing_and_float32_little():
    robot = machine("fixed")
    args = [*states(robot, "inverse_dynamics", COUNT), *numbers("fixed")]
    kernel = robot.kernel("inverse_dynamics", parameters=BOTH)
    found = kernel(*args)
    near(kernel(*args, threads=2), found, 0.0)
    single = robot.astype("float32").kernel("inverse_dynamics", parameters=BOTH)(*args)
    assert single.dtype == np.float32
    near(single, found, 1e-4)


@pytest.mark.parametrize("quantity", ["integrate", "rate_matrix"])
def test_quantities_without_inertias_take_them_all_the_same(quantity):
    robot = machine("floating")
    args = [robot.random(np.random.default_rng(0)), np.ones(robot.nv)][: len(QUANTITIES[quantity].inputs)]
    found = robot.kernel(quantity, parameters="inertias")(*args, robot.parameters())
    near(found, robot.kernel(quantity)(*args), 1e-14)


def test_eager_and_compiled_agree():
    robot = machine("floating")
    kernel = robot.kernel("forward_dynamics", parameters=BOTH)
    args = [*states(robot, "forward_dynamics", 6), *(x[:6] for x in numbers("floating"))]
    found = kernel(*args)
    with mb.eager():
        near(kernel(*args), found, 1e-9)


def test_a_robot_without_masses_can_be_given_some():
    """Its own mass matrix is singular, which forward dynamics refuses; that of the inputs is not."""
    robot = mb.load("double-pendulum")
    empty = robot.change(inertias=dict.fromkeys(link.name for link in robot.model.links))
    args = states(robot, "forward_dynamics", 3)
    with pytest.raises(mb.InputError, match="carries no inertia"):
        empty.forward_dynamics(*args)
    found = empty.kernel("forward_dynamics", parameters="inertias")(*args, robot.parameters())
    near(found, robot.forward_dynamics(*args), 1e-9)


def test_external_wrenches_come_before_the_parameters():
    robot = machine("floating")
    tool = robot.frames[-1]
    args, wrench = states(robot, "inverse_dynamics", 5), np.arange(6.0)
    found = robot.kernel("inverse_dynamics", wrenches=[tool], parameters="inertias")(*args, wrench, robot.parameters())
    near(found, robot.inverse_dynamics(*args, wrenches={tool: wrench}), 1e-11)


def test_a_million_pandas_would_be_those_of_pinocchio():
    """200 of them: masses, inertias and placements set in Pinocchio's own model."""
    robot, rng = mb.load("panda"), np.random.default_rng(2)
    own = log_cholesky.from_parameters(robot.parameters())
    inertias = log_cholesky.parameters(own + rng.uniform(-0.5, 0.5, (COUNT, *own.shape)))
    placements = np.tile(robot.placements(), (COUNT, 1, 1))
    placements[..., :3] += rng.uniform(-0.1, 0.1, placements[..., :3].shape)
    args = states(robot, "inverse_dynamics", COUNT)
    found = robot.kernel("inverse_dynamics", parameters=BOTH)(*args, inertias, placements)
    model = pin.Model()
    for body in robot.bodies:
        model.addJoint(body.parent, pin.JointModelRZ(), pin.SE3.Identity(), body.joint.name)
    for k in range(COUNT):
        for i, (p, x) in enumerate(zip(inertias[k], placements[k], strict=True), start=1):
            model.inertias[i] = pin.Inertia.FromDynamicParameters(p)
            model.jointPlacements[i] = pin.SE3(pin.Quaternion(*x[3:]).matrix(), x[:3])
        near(found[k], pin.rnea(model, model.createData(), *(x[k] for x in args)), 1e-10)


def test_a_gradient_through_log_cholesky_finds_a_mass():
    """The derivative of a cost by the log-Cholesky numbers goes through the kernel inside."""
    robot = mb.load("double-pendulum")
    kernel = robot.kernel("inverse_dynamics", parameters="inertias")
    q, v, a = (np.array(x) for x in ([0.3, 0.4], [0.5, -1.0], [1.0, 2.0]))
    heavier = 1.5 * robot.parameters()
    goal = kernel(q, v, a, heavier)

    def cost(alpha):
        error = kernel(q, v, a, np.exp(2 * alpha[0]) * robot.parameters()) - goal
        return (error * error).sum()

    slope = mb.compile(mb.gradient(cost), 1)
    assert slope([0.0])[0] < 0 < slope([0.5])[0]
    near(slope([np.log(1.5) / 2]), np.zeros(1), 1e-10)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "gravity", "bias", "potential_energy"])
def test_gravity_can_differ_too(quantity):
    robot = machine("floating")
    args, g = states(robot, quantity, 4), np.random.default_rng(1).uniform(-10, 10, (4, 3))
    found = robot.kernel(quantity, parameters=("gravity", "inertias"))(*args, g, robot.parameters())
    for k in range(4):
        tree = robot.change(gravity=g[k]).tree
        near(found[k], QUANTITIES[quantity].function(tree, *(x[k] for x in args)), 1e-9)


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_unknown_parameters_are_refused():
    with pytest.raises(mb.InputError, match=r"parameters: expected one of 'inertias', 'placements'.*got 'weights'"):
        machine("fixed").kernel("inverse_dynamics", parameters="weights")


@pytest.mark.parametrize("bad", [5, None, {"inertias": 1}])
def test_what_is_no_name_is_refused(bad):
    with pytest.raises(mb.InputError, match="parameters: expected a name or a tuple of names"):
        parameter_names(bad)


def test_placements_and_positions_together_are_refused():
    with pytest.raises(mb.InputError, match="got both"):
        parameter_names(("placements", "positions"))


def test_the_same_parameters_twice_are_refused():
    with pytest.raises(mb.InputError, match="each kind once, got 'inertias', 'inertias'"):
        machine("fixed").kernel("inverse_dynamics", parameters=("inertias", "inertias"))


@each_case(
    "given, wrong",
    [("inertias", (3, 9)), ("inertias", (30,)), ("placements", (3, 10)), ("positions", (3, 7)), ("positions", (3,))],
)
def test_wrong_shapes_are_refused(given, wrong):
    robot = machine("fixed")
    args = states(robot, "inverse_dynamics", 2)
    with pytest.raises(mb.InputError, match=given):
        robot.kernel("inverse_dynamics", parameters=given)(*args, np.ones(wrong))


def test_batches_that_do_not_broadcast_are_refused():
    robot = machine("fixed")
    args = states(robot, "inverse_dynamics", 2)
    with pytest.raises(mb.InputError, match=r"\b3\b"):
        robot.kernel("inverse_dynamics", parameters="inertias")(*args, np.tile(robot.parameters(), (3, 1, 1)))


def test_placements_without_a_unit_quaternion_are_refused_by_their_index():
    robot = machine("fixed")
    args = states(robot, "inverse_dynamics", 4)
    placements = np.tile(robot.placements(), (4, 1, 1))
    placements[2, 1, 3:] *= 1.5
    with pytest.raises(mb.InputError, match=r"placements \(sample 2\).*quaternion"):
        robot.kernel("inverse_dynamics", parameters="placements")(*args, placements)


def test_what_is_not_a_number_stays_in_its_robot():
    robot = machine("fixed")
    args = states(robot, "inverse_dynamics", 5)
    inertias, placements = (x[:5].copy() for x in numbers("fixed"))
    kernel = robot.kernel("inverse_dynamics", parameters=BOTH)
    clean = kernel(*args, inertias, placements)
    inertias[3] = np.nan
    spoilt = kernel(*args, inertias, placements)
    others = np.arange(5) != 3
    assert np.isnan(spoilt[3]).all()
    near(spoilt[others], clean[others], 0.0)
