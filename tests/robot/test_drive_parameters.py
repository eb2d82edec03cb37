"""Damping, dry friction, armature and offsets of joints as inputs, beside robots that were built with these numbers."""

from functools import cache

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import multibody as mb
from multibody.model.joint import Limits, Mimic, Passive
from multibody.model.joints import Prismatic, Revolute, Spherical
from multibody.model.shapes import Box

from ..laws.tools import near
from ..sampling import sampled

NAMES = ("damping", "friction", "armature", "offsets")
COUNT = 6


@cache
def machine(name: str) -> mb.Robot:
    """Hinges, a slider with a spring, a joint that mimics; a ball, and a floating base with motors of its own."""
    b = mb.Builder(name)
    for k in range(5):
        b.body(f"link{k}", shape=Box([0.1, 0.2, 0.3]), mass=1.0 + k, pose=[0.05, 0.02, 0.1])
    b.joint("hip", Revolute("y"), parent="link0", child="link1", placement=[0, 0, 0.1], passive=Passive(0.1, 0.2))
    spring = Passive(damping=0.3, stiffness=20.0, rest=(0.1,), armature=0.2)
    b.joint("slide", Prismatic("x"), parent="link1", child="link2", placement=[0.2, 0, 0], passive=spring)
    if name == "mimic":
        follower = Passive(damping=0.5, friction=0.7, armature=0.3)
        b.joint(
            "follow", Revolute([1, 2, 3]), parent="link2", child="link3", passive=follower, mimic=Mimic("hip", -2.0)
        )
    else:
        b.joint("ball", Spherical(), parent="link2", child="link3", passive=Passive(damping=0.4, friction=0.1))
    b.joint("wrist", Revolute("z"), parent="link3", child="link4", placement=[0, 0.1, 0.2], limits=Limits(-1, 1))
    return mb.Robot(b.model(floating=name == "floating", velocity="mixed"))


def numbers(robot: mb.Robot) -> dict[str, np.ndarray]:
    """Numbers of several robots: one for each joint, as a robot can have them."""
    rng = np.random.default_rng(3)
    each = {name: np.zeros((COUNT, robot.nv)) for name in NAMES[:3]}
    for joint in robot.joints:
        if joint.mimic is None:
            for values in each.values():
                values[:, joint.v] = rng.uniform(0.1, 2.0, (COUNT, 1))
    offsets = rng.uniform(-0.5, 0.5, (COUNT, len(robot.bodies)))
    offsets[:, [joint.kind.nq != 1 for joint in robot.joints]] = 0
    return {**each, "offsets": offsets}


def states(robot: mb.Robot) -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    return [robot.random(rng, (COUNT,)), *rng.standard_normal((2, COUNT, robot.nv))]


def results(robot: mb.Robot, q, v, a, **options):
    """A quantity of every sort."""
    frame = robot.frames[-1]
    return {
        "passive": robot.passive(q, v, **options),
        "inverse": robot.inverse_dynamics(q, v, a, passive=True, **options),
        "forward": robot.forward_dynamics(q, v, a, passive=True, **options),
        "mass": robot.mass_matrix(q, **options),
        "energy": robot.kinetic_energy(q, v, **options),
        "position": robot.pose(frame, q, **options).position,
        "jacobian": robot.jacobian(frame, q, **options),
        "derivatives": robot.inverse_dynamics_derivatives(q, v, a, **options)[0],
    }


ALONE = [pytest.param((each,), marks=pytest.mark.slow) for each in NAMES]


@pytest.mark.parametrize("name", ["fixed", "mimic", pytest.param("floating", marks=pytest.mark.slow)])
@pytest.mark.parametrize("varied", [*ALONE, NAMES])
def test_every_sample_is_the_robot_built_with_its_numbers(name, varied):
    robot = machine(name)
    values = {each: numbers(robot)[each] for each in varied}
    args = states(robot)
    batch = results(robot, *args, parameters=values)
    for k in range(0, COUNT, 5):
        built = robot.with_parameters(**{each: x[k] for each, x in values.items()})
        with mb.eager():
            alone = results(built, *(x[k] for x in args))
        for what, expected in alone.items():
            near(batch[what][k], expected, 1e-9)


@pytest.mark.parametrize("name", ["fixed", "floating"])
def test_eager_compiled_and_traced_agree(name):
    robot = machine(name)
    values, (q, v, a) = numbers(robot), states(robot)
    expected = robot.forward_dynamics(q, v, a, passive=True, parameters=values)
    with mb.eager():
        near(robot.forward_dynamics(q, v, a, passive=True, parameters=values), expected, 1e-9)
    own = robot.kernel("passive", parameters=NAMES)(q, v, *values.values())
    near(robot.kernel("forward_dynamics", parameters=NAMES)(q, v, a + own, *values.values()), expected, 1e-10)

    def fall(q, damping, offsets):
        own = {"damping": damping, "offsets": offsets}
        return robot.forward_dynamics(q, v[0], a[0], passive=True, parameters=own)

    traced = mb.compile(fall, robot.nq, robot.nv, len(robot.bodies))
    near(
        traced(q, values["damping"], values["offsets"]),
        robot.forward_dynamics(
            q, v[0], a[0], passive=True, parameters={"damping": values["damping"], "offsets": values["offsets"]}
        ),
        1e-9,
    )


def test_one_state_of_many_robots():
    robot = machine("fixed")
    values, args = numbers(robot), [x[0] for x in states(robot)]
    with mb.eager():
        plain = results(robot, *args, parameters=values)
    for what, x in results(robot, *args, parameters=values).items():
        assert x.shape[0] == COUNT, what
        near(plain[what], x, 1e-9)


@pytest.mark.parametrize("velocity", sampled(["kindr", "left", "right", "mixed"], 2))
def test_armature_of_a_base_that_differs_from_axis_to_axis(velocity):
    """It is on the diagonal of M in the robot's own representation, for every algorithm."""
    robot = machine("floating").change(velocity=velocity)
    rng = np.random.default_rng(0)
    armature, (q, v, tau) = rng.uniform(0.1, 3.0, (COUNT, robot.nv)), states(robot)
    own = {"armature": armature}
    M = robot.mass_matrix(q, parameters=own)
    near(M - robot.mass_matrix(q, parameters={"armature": 0 * armature}), np.eye(robot.nv) * armature[:, None], 1e-9)
    a = robot.forward_dynamics(q, v, tau, parameters=own)
    near(robot.inverse_dynamics(q, v, a, parameters=own), tau, 1e-8)


@pytest.mark.parametrize("quantity", ["forward_dynamics", "passive"])
def test_derivatives_by_the_numbers_are_finite_differences(quantity):
    robot = machine("fixed")
    values, (q, v, a) = numbers(robot), (x[0] for x in states(robot))
    own = [x[0] for x in values.values()]
    args = (q, v, a) if quantity == "forward_dynamics" else (q, v)
    slopes = robot.derivatives(quantity, *args, *own, parameters=NAMES)[len(args) :]
    kernel, step = robot.kernel(quantity, parameters=NAMES), 1e-6
    for k, slope in enumerate(slopes):
        for n in range(len(own[k])):
            if NAMES[k] == "offsets" and robot.joints[n].kind.nq != 1:
                continue
            ahead, behind = ([x.copy() for x in own] for _ in range(2))
            ahead[k][n] += step
            behind[k][n] -= step
            difference = (kernel(*args, *ahead) - kernel(*args, *behind)) / (2 * step)
            near(slope[:, n], difference, 1e-5)


def test_offsets_are_those_of_the_coordinates_of_pinocchio():
    """Pinocchio computes at q + offset; its armature and damping are the model's own."""
    robot, rng = mb.load("panda"), np.random.default_rng(1)
    model = pin.Model()
    for body in robot.bodies:
        place = body.joint.placement
        at = pin.SE3(place.rotation.matrix, place.position)
        joint = model.addJoint(body.parent, pin.JointModelRZ(), at, body.joint.name)
        model.appendBodyToJoint(joint, pin.Inertia.FromDynamicParameters(body.inertia.parameters()), pin.SE3.Identity())
    q, v, a, offsets = robot.random(rng), *rng.standard_normal((3, 7))
    model.armature = rng.uniform(0.1, 1.0, 7)
    own = {"offsets": offsets, "armature": model.armature}
    expected = pin.rnea(model, model.createData(), q + offsets, v, a)
    near(robot.inverse_dynamics(q, v, a, parameters=own), expected, 1e-10)


def test_damping_friction_and_armature_are_those_of_mujoco():
    text = """<mujoco><option><flag contact="disable"/></option><worldbody><body><joint name="a" axis="0 1 0"/>
    <geom type="box" size=".1 .1 .3" pos="0 0 .3"/><body pos="0 0 .6"><joint name="b" type="slide" axis="1 0 0"/>
    <geom type="box" size=".1 .1 .2"/></body></body></worldbody></mujoco>"""
    robot, peer = mb.load(text), mujoco.MjModel.from_xml_string(text)
    damping, armature = np.array([0.4, 1.5]), np.array([0.3, 2.0])
    peer.dof_damping[:], peer.dof_armature[:] = damping, armature
    data = mujoco.MjData(peer)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = [0.3, 0.1], [1.0, -2.0], [0.5, 0.7]
    mujoco.mj_forward(peer, data)
    own = {"damping": damping, "armature": armature}
    state = np.array(data.qpos), np.array(data.qvel), np.array(data.qfrc_applied)
    near(robot.forward_dynamics(*state, passive=True, parameters=own), data.qacc, 1e-9)


def test_the_own_numbers_change_nothing():
    robot = machine("mimic")
    tree, args = robot.tree, states(robot)
    own = {"damping": tree.damping, "friction": tree.friction, "armature": tree.armature}
    own["offsets"] = np.zeros(len(robot.bodies))
    with mb.eager():
        expected = results(robot, *args)
        same = results(robot, *args, parameters=own)
    for what, x in same.items():
        near(x, expected[what], 1e-11)


def test_numbers_that_nothing_uses_cost_nothing():
    robot = mb.load("panda")
    plain = robot.kernel("inverse_dynamics").ops.total()
    assert robot.kernel("inverse_dynamics", parameters=("damping", "friction")).ops.total() == plain
    assert robot.kernel("inverse_dynamics", parameters=("armature", "offsets")).ops.total() <= plain + 2 * robot.nv


def test_unknown_names_are_told_the_known_ones():
    with pytest.raises(mb.InputError, match=r"'masses', 'damping', 'friction', 'armature', 'offsets'.*got 'dampings'"):
        machine("fixed").inverse_dynamics(*states(machine("fixed")), parameters={"dampings": 1.0})


@pytest.mark.parametrize("name", NAMES)
def test_wrong_shapes_are_refused(name):
    with pytest.raises(mb.InputError, match=name):
        machine("fixed").inverse_dynamics(*states(machine("fixed")), parameters={name: np.ones(2)})


def test_numbers_that_no_robot_has_are_refused_by_the_check():
    robot = machine("fixed")
    bad = np.ones((3, robot.nv))
    bad[1, 5] = -1.0
    for name in NAMES[:3]:
        with pytest.raises(
            mb.InputError, match=rf"{name} \(sample 1\): .*not negative for the joint 'wrist', got -1.0"
        ):
            robot.check_parameters(**{name: bad})
    with pytest.raises(mb.InputError, match=r"offsets: expected 0 .* for the joint 'ball', got 1.0"):
        robot.check_parameters(offsets=np.ones(4))
    with pytest.raises(mb.InputError, match="expected equal values for all velocities of the joint 'ball'"):
        robot.with_parameters(damping=np.arange(6.0))
