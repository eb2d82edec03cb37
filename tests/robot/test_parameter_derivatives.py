"""Derivatives by the numbers of the model: against finite differences, along the velocities of what is placed."""

import numpy as np
import pytest

import multibody as mb
from multibody.geometry import quaternions
from multibody.model.parameters import placement_rates

from ..laws.tools import near
from .robots import parts
from .test_parameters import machine, states

OWN = {
    "inertias": mb.Robot.parameters,
    "placements": mb.Robot.placements,
    "positions": mb.Robot.positions,
    "frame_placements": mb.Robot.frame_placements,
    "gravity": lambda robot: np.array(robot.model.gravity),
}
TURNED = ("placements", "frame_placements")
H = 1e-6


def moved(given: str, x: np.ndarray, index: tuple[int, ...], step: float) -> np.ndarray:
    """The numbers after one of them has changed; of placements, after a move or a turn about an axis of their own."""
    other = x.copy()
    if given not in TURNED:
        other[index] += step
        return other
    row, k = index
    if k < 3:
        other[row, k] += step
    else:
        turn = quaternions.from_rotation_vector(step * np.eye(3)[k - 3])
        other[row, 3:] = quaternions.multiply(x[row, 3:], turn)
    return other


def shape_of(given: str, x: np.ndarray) -> tuple[int, ...]:
    return (len(x), 6) if given in TURNED else x.shape


def compare(robot: mb.Robot, quantity: str, given: str, *, frame: str | None = None, **options: object) -> None:
    args, x = [one[0] for one in states(robot, quantity, 1)], OWN[given](robot)
    kernel = robot.kernel(quantity, frame, parameters=given, **options)
    found = robot.derivatives(quantity, *args, x, frame=frame, parameters=given, **options)
    several = isinstance(found[0], tuple)
    for part, results in enumerate(found if several else [found]):
        assert len(results) == len(args) + 1
        exact = results[-1]
        for index in np.ndindex(*shape_of(given, x)):
            ends = [parts(kernel(*args, moved(given, x, index, step)))[part] for step in (H, -H)]
            near(exact[(..., *index)], (ends[0] - ends[1]) / (2 * H), 1e-6)
        assert exact.shape == (*ends[0].shape, *shape_of(given, x))
        plain = robot.derivatives(quantity, *args, frame=frame, **options)
        for one, two in zip(results, plain[part] if several else plain, strict=False):
            near(one, two, 1e-9)


@pytest.mark.parametrize("given", OWN)
def test_of_torques(given):
    compare(machine("fixed"), "inverse_dynamics", given)


@pytest.mark.parametrize("given", ["gravity", pytest.param("placements", marks=pytest.mark.slow)])
def test_of_torques_on_a_floating_base(given):
    compare(machine("floating"), "inverse_dynamics", given)


def test_of_torques_with_a_wrench_at_a_frame():
    robot = machine("fixed")
    tool, x, wrench = robot.frames[-1], robot.frame_placements(), np.arange(6.0)
    args = [one[0] for one in states(robot, "inverse_dynamics", 1)]
    options = {"wrenches": [tool], "parameters": "frame_placements"}
    *_, by_places = robot.derivatives("inverse_dynamics", *args, wrench, x, **options)
    kernel = robot.kernel("inverse_dynamics", **options)
    assert by_places[:, -1].any()
    for index in np.ndindex(len(x), 6):
        ends = [kernel(*args, wrench, moved("frame_placements", x, index, step)) for step in (H, -H)]
        near(by_places[(..., *index)], (ends[0] - ends[1]) / (2 * H), 1e-6)


@pytest.mark.parametrize("given", ["placements", "positions", "frame_placements"])
@pytest.mark.parametrize("quantity", [pytest.param("pose", marks=pytest.mark.slow), "jacobian"])
def test_of_a_frame(given, quantity):
    robot = machine("fixed")
    compare(robot, quantity, given, frame=robot.frames[-1])


@pytest.mark.parametrize("given", ["inertias", pytest.param("placements", marks=pytest.mark.slow)])
def test_of_accelerations(given):
    compare(machine("fixed"), "forward_dynamics", given)


def test_by_inertias_they_are_the_regressor():
    robot = mb.load("panda")
    q, v, a = states(robot, "inverse_dynamics", 4)
    *_, by_inertias = robot.derivatives("inverse_dynamics", q, v, a, robot.parameters(), parameters="inertias")
    assert by_inertias.shape == (4, 7, 7, 10)
    near(by_inertias.reshape(4, 7, 70), robot.regressor(q, v, a), 1e-11)


@pytest.mark.parametrize("name", ["fixed", pytest.param("floating", marks=pytest.mark.slow)])
def test_by_several_at_once_in_batches_and_eager(name):
    robot = machine(name)
    args, names = states(robot, "inverse_dynamics", 3), ("frame_placements", "inertias", "gravity", "placements")
    values = [OWN[given](robot) for given in names]
    found = robot.derivatives("inverse_dynamics", *args, *values, parameters=names)
    assert len(found) == 7
    for given, one in zip(names, found[3:], strict=True):
        alone = robot.derivatives("inverse_dynamics", *(x[1] for x in args), OWN[given](robot), parameters=given)
        near(one[1], alone[-1], 1e-10)
    with mb.eager():
        plain = mb.Robot(robot.model).derivatives("inverse_dynamics", *args, *values, parameters=names)
    for one, two in zip(plain, found, strict=True):
        near(one, two, 1e-9)


@pytest.mark.parametrize("given", ["inertias", "placements", "positions"])
def test_kernels_with_parameters_are_differentiable(given):
    """In a function of the user: by the numbers as they are, of which quaternions leave their sphere."""
    robot = machine("fixed")
    q, v, a = (x[0] for x in states(robot, "inverse_dynamics", 1))
    kernel = robot.kernel("inverse_dynamics", parameters=given)
    start = OWN[given](robot)
    exact = mb.compile(mb.jacobian(lambda x: kernel(q, v, a, x.reshape(start.shape))), start.size)(start.ravel())
    exact = exact.reshape(robot.nv, *start.shape)
    along = np.einsum("tbk,bkj->tbj", exact, placement_rates(start)) if given in TURNED else exact
    for index in np.ndindex(*shape_of(given, start)):
        ends = [kernel(q, v, a, moved(given, start, index, step)) for step in (H, -H)]
        near(along[(..., *index)], (ends[0] - ends[1]) / (2 * H), 1e-6)
    *_, found = robot.derivatives("inverse_dynamics", q, v, a, start, parameters=given)
    near(found, along, 1e-10)


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_what_is_refused():
    robot = machine("fixed")
    q, v, a = (x[0] for x in states(robot, "inverse_dynamics", 1))
    with pytest.raises(mb.InputError, match=r"parameters: expected one of 'inertias'.*got 'weights'"):
        robot.derivatives("inverse_dynamics", q, v, a, robot.parameters(), parameters="weights")
    with pytest.raises(mb.InputError, match=r"inertias: expected an array of real floats of shape \(..., 3, 10\)"):
        robot.derivatives("inverse_dynamics", q, v, a, robot.placements(), parameters="inertias")
    with pytest.raises(mb.InputError, match="missing: inertias"):
        robot.derivatives("inverse_dynamics", q, v, a, parameters="inertias")
    off, joint = robot.placements(), robot.bodies[1].joint.name
    off[1, 3:] *= 2.0
    told = rf"placements: the quaternion .* of the joint '{joint}' has the length 2, expected 1"
    with pytest.raises(mb.InputError, match=told):
        robot.derivatives("inverse_dynamics", q, v, a, off, parameters="placements")
    with mb.eager(), pytest.raises(mb.InputError, match=told):
        mb.Robot(robot.model).derivatives("inverse_dynamics", q, v, a, off, parameters="placements")


def test_a_robot_without_masses_can_be_given_some():
    robot = mb.load("double-pendulum")
    empty = robot.change(inertias=dict.fromkeys(link.name for link in robot.model.links))
    args = [x[0] for x in states(robot, "forward_dynamics", 1)]
    found = empty.derivatives("forward_dynamics", *args, robot.parameters(), parameters="inertias")
    for one, two in zip(found, robot.derivatives("forward_dynamics", *args), strict=False):
        near(one, two, 1e-8)
    with pytest.raises(mb.InputError, match="carries no inertia"):
        empty.derivatives("forward_dynamics", *args)
