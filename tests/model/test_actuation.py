"""Selection matrices, and passive forces against MuJoCo, energy and power."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multibody as mb
from multibody.errors import InputError
from multibody.model import base_velocity, configuration
from multibody.model.actuation import motors, passive, selection
from multibody.model.builder import Builder
from multibody.model.joint import Mimic, Passive
from multibody.model.joints import Continuous, Floating, Prismatic, Revolute, Spherical
from multibody.model.surgery import change

from .trees import MOVING, models, random_model, random_state

SEEDS = st.integers(0, 2**32 - 1)


def quadruped(**actuators):
    b = Builder("legs").body("trunk").body("ball")
    for k in range(2):
        b.body(f"leg{k}").joint(f"hip{k}", Revolute("y"), parent="trunk", child=f"leg{k}")
        b.body(f"foot{k}").joint(
            f"ankle{k}", Revolute("y"), parent=f"leg{k}", child=f"foot{k}", mimic=Mimic(f"hip{k}", -1)
        )
    b.joint("neck", Spherical(), parent="trunk", child="ball")
    for name, joint in actuators.items():
        b.actuator(name, joint, gear=20.0, rotor_inertia=1e-3)
    return b


def test_by_default_all_but_the_base_and_followers_have_motors():
    model = quadruped().model(floating=True)
    S = selection(model)
    np.testing.assert_array_equal(S, np.eye(11)[6:])
    assert [each.name for each in motors(model)] == ["hip0", "hip1", "neck"]


def test_actuators_have_rows_in_their_order_with_gears():
    model = quadruped(a="neck", b="hip0").model(floating=True)
    S = selection(model)
    expected = np.zeros((4, 11))
    expected[:3, model.joint("neck").v] = 20.0 * np.eye(3)
    expected[3, model.joint("hip0").v] = 20.0
    np.testing.assert_array_equal(S, expected)
    # the rotors' energy, seen from the motors and from the joints
    v = np.random.default_rng(0).standard_normal(11)
    assert 1e-3 * np.sum((S @ v) ** 2) == pytest.approx(v @ np.diag(model.armature) @ v)
    assert selection(quadruped().unactuated().model()).shape == (0, 5)


@given(models(most=6), SEEDS)
def test_power_of_damping_and_friction_is_negative(model, seed):
    rng = np.random.default_rng(seed)
    acts = {j.name: Passive(*rng.uniform(0.1, 1.0, 2)) for j in model.description if j.kind.nv}
    model = change(model, passive=acts)
    q, v = random_state(model, rng, (20,))
    power = np.sum(passive(model.tree, q, v) * v, axis=-1)
    assert power.shape == (20,)
    if model.nv:
        assert (power < 0).all()
    np.testing.assert_array_equal(passive(model.tree, q, 0 * v), np.zeros((20, model.nv)))


def stored(model, q):
    """The energy of the springs, from the poses of the joints."""
    total = np.zeros(q.shape[:-1])
    for joint in model.joints:
        kind, x = joint.kind, joint.coordinates(q)
        rest = kind.neutral() if joint.passive.rest is None else np.array(joint.passive.rest)
        if "m" in kind.rates and kind.quaternion is not None:
            way = kind.pose(rest).inverse() @ kind.pose(x)
            parts = [way.position, way.rotation.log()]
        elif kind.quaternion is not None:
            parts = [(kind.pose(rest).rotation.inverse() @ kind.pose(x).rotation).log()]
        elif isinstance(kind, Continuous):
            parts = [np.angle(np.exp(1j * (x - rest)))]
        else:
            parts = [x - rest]
        total = total + joint.passive.stiffness / 2 * sum(np.sum(part**2, axis=-1) for part in parts)
    return total


@given(models(most=6), SEEDS)
def test_springs_give_back_what_they_store(model, seed):
    rng = np.random.default_rng(seed)
    acts = {}
    for joint in model.joints:
        rest = joint.kind.random(rng, *(np.full(joint.kind.nq, x) for x in (-0.5, 0.5)), ())
        acts[joint.name] = Passive(stiffness=rng.uniform(0.5, 2.0), rest=tuple(rest) if rng.random() < 0.7 else None)
    model = change(model, passive=acts)
    q, v = random_state(model, rng)
    q = configuration.integrate(model.tree, configuration.neutral(model.tree), 0.4 * rng.standard_normal(model.nv))
    h = 1e-5
    ahead, behind = (configuration.integrate(model.tree, q, sign * h * v) for sign in (1, -1))
    rate = (stored(model, ahead) - stored(model, behind)) / (2 * h)
    np.testing.assert_allclose(passive(model.tree, q, v * 0) @ v, -rate, atol=1e-8, rtol=1e-7)


XML = """
<mujoco><worldbody>
  <body name="box" pos="0 0 1"><joint name="base" type="free" damping="0.7" stiffness="1.3"/><geom size="0.1"/>
    <body name="ball" pos="0.1 0.2 0.3"><joint name="socket" type="ball" damping="0.4" stiffness="2.5"/>
      <geom size="0.1"/>
      <body name="slider" pos="0 0 0.2"><geom size="0.1"/>
        <joint name="slide" type="slide" axis="0 1 0" damping="0.3" stiffness="4" springref="0.2"/>
        <body name="arm" pos="0 0 0.2"><geom size="0.1"/>
          <joint name="hinge" axis="1 0 1" damping="0.2" stiffness="3" springref="-0.4"/>
        </body>
      </body>
    </body>
  </body>
</worldbody></mujoco>
"""


@pytest.mark.parametrize("velocity", ["kindr", "left", "right", "mixed"])
def test_forces_are_those_of_mujoco(velocity):
    theirs = mujoco.MjModel.from_xml_string(XML.replace('springref="-0.4"', f'springref="{np.degrees(-0.4)}"'))
    data = mujoco.MjData(theirs)
    b = Builder("legs").body("box").body("ball").body("slider").body("arm")
    b.joint("base", Floating(), parent=None, child="box", passive=Passive(0.7, 0.0, 1.3, (0, 0, 1, 1, 0, 0, 0)))
    b.joint("socket", Spherical(), parent="box", child="ball", passive=Passive(0.4, 0.0, 2.5))
    b.joint("slide", Prismatic("y"), parent="ball", child="slider", passive=Passive(0.3, 0.0, 4.0, (0.2,)))
    b.joint("hinge", Revolute((1, 0, 1)), parent="slider", child="arm", passive=Passive(0.2, 0.0, 3.0, (-0.4,)))
    kindr, model = b.model(), b.model(velocity=velocity)
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v = random_state(kindr, rng)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        own_v = base_velocity.from_left(model.tree, q, base_velocity.to_left(kindr.tree, q, v))
        left = base_velocity.force_to_left(model.tree, q, passive(model.tree, q, own_v))
        np.testing.assert_allclose(base_velocity.force_from_left(kindr.tree, q, left), data.qfrc_passive, atol=1e-12)


def test_coupled_joints_act_through_their_ratio():
    acts = Passive(damping=0.5, friction=0.2, stiffness=3.0, rest=(0.1,))
    b = Builder("pair").body("base").body("a").body("b")
    b.joint("ja", Revolute("y"), parent="base", child="a", passive=acts)
    b.joint("jb", Revolute("y"), parent="base", child="b", passive=acts, mimic=Mimic("ja", -2.0, 0.3))

    def alone(x, v):
        return -0.5 * v - 0.2 * np.sign(v) - 3.0 * (x - 0.1)

    q, v = 0.4, -0.7
    expected = alone(q, v) - 2.0 * alone(-2.0 * q + 0.3, -2.0 * v)
    np.testing.assert_allclose(passive(b.model().tree, [q], [v]), [expected], rtol=1e-14)


@pytest.mark.parametrize("kind", MOVING)
def test_compiled_equals_eager(kind):
    rng = np.random.default_rng(5)
    model = random_model(rng, 2, kinds=[kind], floating=True, velocity="right")
    q, v = random_state(model, rng, (7,))
    kernel = mb.compile(lambda q, v: passive(model.tree, q, v), model.nq, model.nv)
    np.testing.assert_allclose(kernel(q, v), passive(model.tree, q, v), atol=1e-12)
    assert np.abs(passive(model.tree, q, v)).max() > 0.01


def test_batches_broadcast_and_wrong_shapes_are_told():
    rng = np.random.default_rng(0)
    model = random_model(rng, 4, floating=True)
    q, v = random_state(model, rng)
    many_q, many_v = random_state(model, rng, (5,))
    assert passive(model.tree, many_q, v).shape == (5, model.nv)
    assert passive(model.tree, q, many_v[:, None]).shape == (5, 1, model.nv)
    np.testing.assert_array_equal(passive(model.tree, many_q, v)[3], passive(model.tree, many_q[3], v))
    with pytest.raises(InputError, match=f"q needs the shape \\(..., {model.nq}\\)"):
        passive(model.tree, v, v)
    assert passive(Builder("rock").body("rock").model().tree, np.zeros(0), np.zeros((3, 0))).shape == (3, 0)
