"""Layouts against the peers themselves: poses, steps on the manifold, rates of velocities, forces, names."""

from collections import deque

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from multibody.algorithms.rnea import rnea
from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joints import (
    Continuous,
    Cylindrical,
    Floating,
    Helical,
    Kind,
    Planar,
    Prismatic,
    Revolute,
    Schoenflies,
    Spherical,
    Translational,
    Universal,
)
from multibody.model.layouts import MujocoLayout, PinocchioLayout
from multibody.model.layouts._layout import Layout
from multibody.model.load import load
from multibody.model.loaders import mjcf
from multibody.model.model import Model

from ..model.mjcf_texts import MODELS
from .robot_data import REFUSED, urdf, urdfs
from .smooth_mujoco import smooth

REPRESENTATIONS = ("kindr", "left", "right", "mixed")
SAMPLE = (
    "anymal_c_simple_description/urdf/anymal.urdf",
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "pr2_description/urdf/pr2.urdf",
    "talos_data/robots/talos_full_v2.urdf",
)


def composite(*stages: object) -> pin.JointModelComposite:
    joint = pin.JointModelComposite()
    for stage in stages:
        joint.addJoint(stage)
    return joint


A, B = (1 / 3, 2 / 3, -2 / 3), (0.6, 0.0, 0.8)
KINDS: dict[str, tuple[Kind, object]] = {
    "revolute": (Revolute(A), pin.JointModelRevoluteUnaligned(np.array(A))),
    "continuous": (Continuous("y"), pin.JointModelRUBY()),
    "bounded": (Continuous("x"), pin.JointModelRX()),
    "prismatic": (Prismatic(B), pin.JointModelPrismaticUnaligned(np.array(B))),
    "helical": (Helical("z", pitch=0.3), pin.JointModelHZ(0.3)),
    "universal": (Universal("x", "y"), pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))),
    "two hinges": (Universal("x", "y"), composite(pin.JointModelRX(), pin.JointModelRY())),
    "spherical": (Spherical(), pin.JointModelSpherical()),
    "planar": (Planar(), pin.JointModelPlanar()),
    "stages of a plane": (Planar(), composite(pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ())),
    "translational": (Translational(), pin.JointModelTranslation()),
    "floating": (Floating(), pin.JointModelFreeFlyer()),
    "cylindrical": (Cylindrical("z"), composite(pin.JointModelPZ(), pin.JointModelRZ())),
    "cylindrical, turned first": (Cylindrical("x"), composite(pin.JointModelRX(), pin.JointModelPX())),
    "schoenflies": (Schoenflies("z"), composite(pin.JointModelTranslation(), pin.JointModelRZ())),
}


def se3(pose: Pose) -> pin.SE3:
    return pin.SE3(pose.rotation.matrix.copy(), pose.position.copy())


def every_kind(velocity: str, *, floating: bool) -> tuple[Model, pin.Model]:
    """A tree with every kind of joint twice, and the same in Pinocchio, whose joints are in another order."""
    rng = np.random.default_rng(3)
    b = Builder("kinds", gravity=(1.0, 2.0, -3.0)).body("root", inertia(rng))
    links = ["root"]
    for name in [*KINDS, *(f"{name} again" for name in KINDS)]:
        parent = str(rng.choice(links))
        links.append(f"link {name}")
        b.body(links[-1], inertia(rng)).joint(
            name, KINDS[name.removesuffix(" again")][0], parent=parent, child=links[-1], placement=Pose.random(rng)
        )
    model = b.model(floating=floating, velocity=velocity)
    peer, index = pin.Model(), {0: 0}
    peer.gravity.linear = np.array(model.gravity)
    waiting = deque(model.tree.children(0))  # breadth first, where ours is depth first
    while waiting:
        body = model.bodies[waiting.popleft() - 1]
        joint = body.joint
        root = joint.name not in KINDS and joint.name.removesuffix(" again") not in KINDS
        theirs = pin.JointModelFreeFlyer() if root else KINDS[joint.name.removesuffix(" again")][1]
        name = "root_joint" if root else joint.name
        index[body.index] = peer.addJoint(index[body.parent], theirs, se3(joint.placement), name)
        I = body.inertia
        peer.appendBodyToJoint(
            index[body.index], pin.Inertia(float(I.mass), I.com.copy(), I.inertia.copy()), pin.SE3.Identity()
        )
        waiting.extend(model.tree.children(body.index))
    return model, peer


def inertia(rng: np.random.Generator) -> SpatialInertia:
    return Pose.random(rng) @ SpatialInertia(mass=rng.uniform(1, 3), com=np.zeros(3), inertia=np.diag([0.3, 0.4, 0.5]))


def state(model: Model, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> tuple[np.ndarray, ...]:
    q = np.fmod(configuration.random(model.tree, rng, batch), 10.0)  # some files have limits of 1e16
    return q, *(rng.normal(size=(*batch, model.nv)) for _ in range(3))


def check_round_trips(layout: Layout, rng: np.random.Generator) -> None:
    q, v, a, tau = state(layout.model, rng, (2, 3))
    y, w, b, f = layout.q_to(q), layout.v_to(q, v), layout.a_to(q, v, a), layout.tau_to(q, tau)
    for found, x in (
        (layout.q_from(y), q),
        (layout.v_from(y, w), v),
        (layout.a_from(y, w, b), a),
        (layout.tau_from(y, f), tau),
    ):
        np.testing.assert_allclose(found, x, atol=1e-11)
    np.testing.assert_allclose(np.sum(f * w, axis=-1), np.sum(tau * v, axis=-1), rtol=1e-9, err_msg="power")
    broadcast = layout.a_to(q, v[0], a[1, 2])
    np.testing.assert_allclose(broadcast[1, 0], layout.a_to(q[1, 0], v[0, 0], a[1, 2]), atol=1e-12)


def check_rates(layout: Layout, rng: np.random.Generator) -> None:
    """a_to is the rate of v_to along a motion."""
    model, h = layout.model, 1e-5
    q, v, a, _ = state(model, rng)

    def at(t: float) -> np.ndarray:
        # two half steps keep the velocity to second order on any group
        middle = configuration.integrate(model.tree, q, t / 2 * (v + t / 4 * a))
        return layout.v_to(configuration.integrate(model.tree, middle, t / 2 * (v + 3 / 4 * t * a)), v + t * a)

    np.testing.assert_allclose(layout.a_to(q, v, a), (at(h) - at(-h)) / (2 * h), atol=1e-6)


def check_pinocchio(model: Model, peer: pin.Model, rng: np.random.Generator) -> None:
    layout, data = PinocchioLayout(model, peer), peer.createData()
    check_round_trips(layout, rng)
    check_rates(layout, rng)
    q, v, a, _ = state(model, rng)
    y, w, b = layout.q_to(q), layout.v_to(q, v), layout.a_to(q, v, a)
    assert pin.isNormalized(peer, y, 1e-9)

    h = 1e-6
    steps = [layout.q_to(configuration.integrate(model.tree, q, t * v)) for t in (-h, h)]
    np.testing.assert_allclose(pin.difference(peer, *steps) / (2 * h), w, atol=1e-7 * np.abs(w).max(initial=1.0))

    tau = pin.rnea(peer, data, y, w, b)
    ours = rnea(model.tree, q, v, a)
    np.testing.assert_allclose(layout.tau_from(y, tau), ours, atol=1e-10 * np.abs(ours).max(initial=1.0))
    np.testing.assert_allclose(layout.tau_to(q, ours), tau, atol=1e-10 * np.abs(ours).max(initial=1.0))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("velocity", REPRESENTATIONS)
def test_pinocchio_has_every_kind_of_joint(velocity: str, floating: bool) -> None:
    check_pinocchio(*every_kind(velocity, floating=floating), np.random.default_rng(1))


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path in SAMPLE else pytest.mark.slow, id=path.rsplit("/", 1)[1])
        for path in urdfs()
        if path not in REFUSED
    ],
)
def test_pinocchio_reads_the_same_urdf(path: str, floating: bool) -> None:
    rng = np.random.default_rng(2)
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    peer = pin.buildModelFromUrdf(str(urdf(path)), *root)
    model = load(
        urdf(path), floating=floating, mimic="independent", snap=0.0, velocity=str(rng.choice(REPRESENTATIONS))
    )
    peer.armature[:] = PinocchioLayout(model, peer).tau_to(configuration.neutral(model.tree), model.armature)
    check_pinocchio(model, peer, rng)


def test_pinocchio_reads_the_same_mjcf(tmp_path) -> None:
    text = """<mujoco><worldbody><body name='a' pos='0 0 1'><joint name='x' type='slide' axis='1 0 0'/>
    <joint name='y' axis='0 1 0'/><geom size='.1'/><body name='b'><joint name='z' axis='0 1 0'/><geom size='.1'/></body>
    </body></worldbody></mujoco>"""
    (tmp_path / "m.xml").write_text(text)
    peer = pin.buildModelFromMJCF(str(tmp_path / "m.xml"))
    assert "Composite_x" in list(peer.names)
    check_pinocchio(mjcf.read(text).model(), peer, np.random.default_rng(4))


def check_mujoco(model: Model, peer: mujoco.MjModel, rng: np.random.Generator) -> None:
    layout, data = MujocoLayout(model, peer), mujoco.MjData(peer)
    check_round_trips(layout, rng)
    check_rates(layout, rng)
    q, v, a, _ = state(model, rng)
    y, w, b = layout.q_to(q), layout.v_to(q, v), layout.a_to(q, v, a)
    h, way = 1e-6, np.zeros(peer.nv)
    steps = [layout.q_to(configuration.integrate(model.tree, q, t * v)) for t in (-h, h)]
    mujoco.mj_differentiatePos(peer, way, 2 * h, *steps)
    np.testing.assert_allclose(way, w, atol=1e-7 * np.abs(w).max(initial=1.0))
    data.qpos[:], data.qvel[:], data.qacc[:] = y, w, b
    mujoco.mj_inverse(peer, data)
    ours = rnea(model.tree, q, v, a)
    np.testing.assert_allclose(layout.tau_from(y, data.qfrc_inverse), ours, atol=1e-10 * np.abs(ours).max(initial=1.0))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("velocity", REPRESENTATIONS)
def test_mujoco_has_every_type_of_joint(name: str, velocity: str) -> None:
    check_mujoco(mjcf.read(MODELS[name]).model(velocity=velocity), smooth(MODELS[name]), np.random.default_rng(6))


def test_our_layout_is_smooth() -> None:
    model = mjcf.read(MODELS["joints"]).model()
    layout = MujocoLayout(model, smooth(MODELS["joints"]))
    q, v, a, tau = state(model, np.random.default_rng(7))
    for theirs, ours in (
        (layout.q_to(q), q),
        (layout.v_to(q, v), v),
        (layout.a_to(q, v, a), a),
        (layout.tau_to(q, tau), tau),
    ):
        np.testing.assert_allclose(theirs, ours, atol=1e-14)


LINK = '<link name="{}"><inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/>{}</inertial></link>'
INERTIA = '<inertia ixx="0.5" iyy="0.4" izz="0.3" ixy="0.01" ixz="0" iyz="0.02"/>'
JOINT = (
    '<joint name="{0}" type="{0}"><parent link="{1}"/><child link="{2}"/>{3}'
    '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>'
)


def test_mujoco_reads_the_same_urdf() -> None:
    """A planar joint, which MuJoCo makes of three, and a free one whose place is not the world's origin."""
    text = '<robot name="r">' + "".join(LINK.format(name, INERTIA) for name in "abcd")
    axis = '<axis xyz="0 0 1"/>'
    text += JOINT.format("floating", "a", "b", "") + JOINT.format("planar", "b", "c", axis)
    text += JOINT.format("continuous", "c", "d", axis) + "</robot>"
    check_mujoco(load(text, snap=0.0, velocity="mixed"), smooth(text), np.random.default_rng(8))


def two_links(kind: Kind, name: str = "j") -> Model:
    return Builder("r").body("a").body("b").joint(name, kind, parent="a", child="b").model()


def test_joints_that_differ_are_named() -> None:
    peer = pin.Model()
    peer.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "k")
    with pytest.raises(InputError, match=r"only ours are 'j'; only those of Pinocchio are 'k'"):
        PinocchioLayout(two_links(Revolute("x")), peer)
    with pytest.raises(InputError, match=r"'k' is prismatic, but RX in Pinocchio"):
        PinocchioLayout(two_links(Prismatic("x"), "k"), peer)
    text = "<mujoco><worldbody><body><joint name='k'/><geom size='1'/></body></worldbody></mujoco>"
    with pytest.raises(InputError, match=r"only ours are 'j'; only those of MuJoCo are 'k'"):
        MujocoLayout(two_links(Revolute("x")), smooth(text))
    with pytest.raises(InputError, match=r"'k' is spherical, but hinge in MuJoCo"):
        MujocoLayout(two_links(Spherical(), "k"), smooth(text))


def test_kinds_that_pinocchio_writes_otherwise_are_refused() -> None:
    peer = pin.Model()
    peer.addJoint(0, pin.JointModelSphericalZYX(), pin.SE3.Identity(), "j")
    with pytest.raises(InputError, match="SphericalZYX"):
        PinocchioLayout(two_links(Spherical()), peer)
    peer = pin.Model()
    peer.addJoint(0, composite(pin.JointModelRX(), pin.JointModelSpherical()), pin.SE3.Identity(), "j")
    with pytest.raises(InputError, match="Composite of RX, Spherical"):
        PinocchioLayout(two_links(Universal()), peer)


def test_wrong_shapes_are_refused() -> None:
    model, peer = every_kind("left", floating=True)
    layout = PinocchioLayout(model, peer)
    with pytest.raises(InputError, match=rf"\(\.\.\., {peer.nq}\)"):
        layout.q_from(np.zeros(peer.nq + 1))
    with pytest.raises(InputError, match=rf"\(\.\.\., {model.nv}\)"):
        layout.v_to(configuration.neutral(model.tree), np.zeros(3))


@pytest.mark.parametrize("path", ["panda_description/urdf/panda.urdf", "pr2_description/urdf/pr2.urdf"])
def test_pinocchio_couples_the_same_joints(path: str) -> None:
    peer = pin.buildModelFromUrdf(str(urdf(path)), mimic=True)
    model = load(urdf(path), snap=0.0)
    layout, data = PinocchioLayout(model, peer), peer.createData()
    q, v, a, _ = state(model, np.random.default_rng(9))
    check_round_trips(layout, np.random.default_rng(10))
    pin.forwardKinematics(peer, data, layout.q_to(q), layout.v_to(q, v), layout.a_to(q, v, a))
    W_H = [Pose.identity()]
    for i, p, body in model.tree.outward():
        W_H.append(W_H[p] @ body.joint.pose(q))
        theirs = data.oMi[peer.getJointId(body.joint.name)]
        np.testing.assert_allclose(W_H[i].matrix, theirs.homogeneous, atol=1e-12)
