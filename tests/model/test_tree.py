"""Trees as values: frozen, on numbers of their own, apart from the model; masses that vary."""

from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import coriolis, crba, energy, kinematics, rnea
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.geometry.value import Value
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joints import Fixed, Kind, Prismatic, Revolute
from multibody.model.link import Link
from multibody.model.parameters import Parameters
from multibody.model.shapes import Box, Sphere
from multibody.model.surgery import attach
from multibody.textbook import projected_newton_euler

from ..every_law import each_case
from ..laws.tools import near

VARIED = {
    "inertias": lambda tree: 2.0 * tree.parameters(),
    "placements": lambda tree: tree.placements() + np.eye(7)[0],
    "positions": lambda tree: 1.5 * tree.positions(),
    "frame_placements": lambda tree: tree.frame_placements() + np.eye(7)[1],
    "gravity": lambda tree: tree.gravity + 1.0,
    "masses": lambda tree: 3.0 * tree.parameters()[:, 0],
}
NUMBERS = ("parameters", "placements", "frame_placements")


def numbers_of(tree):
    return [*(getattr(tree, name)() for name in NUMBERS), tree.gravity.copy(), tree.armature.copy()]


def same(ours, theirs):
    return all(map(np.array_equal, ours, theirs))


# ---- frozen ----------------------------------------------------------------------------------------------------------


def parts(x):
    """Every object inside a frozen value."""
    yield x
    if isinstance(x, tuple):
        inside = x
    elif isinstance(x, Value):
        inside = x._arrays()
    elif is_dataclass(x):
        inside = [getattr(x, f.name) for f in fields(x)]
    else:
        inside = ()
    for each in inside:
        yield from parts(each)


@each_case("name", ["quadruped", "panda", "humanoid"])
@each_case("varied", [False, True])
def test_nothing_in_a_model_or_a_tree_can_be_written(name, varied):
    model = mb.load(name).model
    tree = model.tree
    if varied:
        tree = tree.with_values(**{key: VARIED[key](tree) for key in VARIED if key not in ("inertias", "positions")})
    for whole in (tree, model):
        for part in parts(whole):
            assert not isinstance(part, dict | list | set)
            if isinstance(part, np.ndarray):
                assert not part.flags.writeable
            elif is_dataclass(part) or isinstance(part, Value):
                attribute = part.__slots__[0] if isinstance(part, Value) else next((f.name for f in fields(part)), "x")
                with pytest.raises((FrozenInstanceError, AttributeError)):
                    setattr(part, attribute, None)


@each_case("attribute", ["frames", "frame_poses", "gravity", "bodies", "mass", "lower", "joints", "anything"])
def test_attributes_of_models_and_trees_cannot_be_set(attribute):
    model = mb.load("planar-arm").model
    for whole in (model, model.tree, model.tree.with_values(gravity=np.ones(3))):
        with pytest.raises(FrozenInstanceError):
            setattr(whole, attribute, 1)
        with pytest.raises(FrozenInstanceError):
            delattr(whole, attribute)


def test_shapes_of_parameters_are_the_readers_own():
    tree = mb.load("planar-arm").tree
    tree.parameter_shapes["gravity"] = (4,)
    assert tree.parameter_shapes["gravity"] == (3,)


# ---- apart from the model --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", VARIED)
def test_other_values_leave_the_model_as_it_is(what):
    robot = mb.load("quadruped")
    fresh = mb.load("quadruped")
    before = numbers_of(robot.tree)
    tree = robot.tree.with_values(**{what: VARIED[what](robot.tree)})
    assert not same(numbers_of(tree), before)
    assert same(numbers_of(robot.tree), before)
    assert robot.tree is robot.model.tree
    assert (robot.model, hash(robot.model), robot.model.digest) == (fresh.model, hash(fresh.model), fresh.model.digest)
    assert robot.model.tree_digest == fresh.model.tree_digest
    assert tree != robot.tree
    assert not hasattr(tree, "digest")


def test_a_tree_is_no_model():
    robot = mb.load("planar-arm")
    tree = robot.tree.with_values(gravity=np.zeros(3))
    with pytest.raises(InputError, match="Robot: expected a Model or a Builder, got Tree"):
        mb.Robot(tree)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"expected the Model of a robot, such as robot\.model, got Tree"):
        attach(robot.model, tree, frame="tool")  # type: ignore[arg-type]
    with pytest.raises(InputError):
        robot.attach(tree, frame="tool")  # type: ignore[arg-type]


# ---- whose numbers they are ------------------------------------------------------------------------------------------


@each_case("what", VARIED)
def test_a_tree_keeps_its_numbers_when_the_caller_writes(what):
    tree = mb.load("quadruped").tree
    x = VARIED[what](tree)
    other = tree.with_values(**{what: x})
    before = numbers_of(other)
    x[...] = 0.5
    assert same(numbers_of(other), before)


@each_case("what", VARIED)
def test_values_of_a_tree_may_be_lists_and_have_a_shape(what):
    tree = mb.load("planar-arm").tree
    x = VARIED[what](tree)
    assert same(numbers_of(tree.with_values(**{what: x.tolist()})), numbers_of(tree.with_values(**{what: x})))
    for wrong in (x[:-1], "text", x.astype(complex)):
        with pytest.raises(InputError, match=f"^{what}: expected"):
            tree.with_values(**{what: wrong})


@pytest.fixture
def held():
    """A pose on arrays of the caller, which are returned, too."""
    robot = mb.load("planar-arm")
    arrays = np.zeros((3, 3)), np.zeros(3)
    return robot.pose("tool", np.array([0.3, -0.2, 0.5]), out=arrays), arrays


def arm(pose):
    return (
        Builder("arm")
        .body("base")
        .body("upper", shape=Box([0.1, 0.2, 0.3]), mass=2.0, pose=pose)
        .load("upper", SpatialInertia(mass=1.0, com=[0, 0, 0.1], inertia=0.1 * np.eye(3)), pose=pose)
        .shape("upper", Sphere(0.1), pose=pose)
        .joint("hinge", Revolute("y"), parent="base", child="upper", placement=pose)
        .frame("tool", "upper", pose)
    )


def changed(pose):
    return mb.load("planar-arm").change(placements={"joint2": pose}).model


def attached(pose):
    return mb.load("planar-arm").attach(mb.load("cart-pendulum"), frame="tool", pose=pose, prefix="other_").model


def loaded(pose):
    load = SpatialInertia(mass=1.0, com=[0, 0, 0.1], inertia=0.1 * np.eye(3))
    return mb.load("planar-arm").payload("tool", load, pose).model


def parts_replaced(pose):
    """Without the builder: dataclasses keep what they are given, and the model is the door."""
    model = arm(None).model()
    base, upper = model.links
    return model.with_(
        links=(base, replace(upper, visuals=(replace(upper.visuals[0], pose=pose),))),
        description=(replace(model.description[0], placement=pose),),
        extra_frames=(replace(model.extra_frames[0], pose=pose),),
    )


@pytest.mark.parametrize("make", [lambda pose: arm(pose).model(), changed, attached, loaded, parts_replaced])
def test_a_model_keeps_its_numbers_when_the_caller_writes(held, make):
    pose, (R, p) = held
    model, expected = make(pose), make(Pose(Rotation(R.copy()), p.copy()))
    before, q = numbers_of(model.tree), configuration.neutral(model.tree) + 0.1
    placed = kinematics.pose(model.tree, "tool", q).matrix
    R[...], p[...] = np.eye(3), [5.0, 6.0, 7.0]
    assert same(numbers_of(model.tree), before)
    again = make(Pose(Rotation(pose.rotation.matrix.copy()), p.copy()))
    assert again != model
    # what is worked out only now is of the old numbers, too
    assert (model.digest, model.tree_digest) == (expected.digest, expected.tree_digest)
    assert model == expected
    assert model.with_() == expected
    near(kinematics.pose(model.with_().tree, "tool", q).matrix, placed, 0.0)


def test_a_builder_keeps_its_numbers_when_the_caller_writes(held):
    pose, (R, p) = held
    expected = arm(Pose(Rotation(R.copy()), p.copy())).model()
    builder = arm(pose)
    R[...], p[...] = np.eye(3), [5.0, 6.0, 7.0]
    assert builder.model() == expected


def test_inertias_and_shapes_are_copied_too():
    mass, com, moments = np.array(1.0), np.array([0.1, 0.2, 0.3]), np.eye(3)
    inertia = SpatialInertia._trusted(mass.view(), com.view(), moments.view())
    model = Builder("stone").add(Link("stone", inertia)).model(floating=True)
    builder = Builder("stone").body("stone", inertia)
    digest = model.digest
    com[...], moments[...], mass[...] = 7.0, 8.0 * np.eye(3), 9.0
    assert model.tree.mass == 1.0
    assert builder.model(floating=True).digest == digest == model.with_().digest


@dataclass(frozen=True)
class Cam(Prismatic):
    """A slider whose lift is a table, an array of its own."""

    axis: tuple = (0.0, 0.0, 1.0)
    table: np.ndarray = field(default_factory=lambda: np.ones(3))

    @property
    def screw(self):
        return float(self.table[0]), 0.0


def test_arrays_in_a_kind_of_joint_are_copied_too():
    table = np.array([2.0, 3.0, 4.0])
    kind = Cam(table=table)
    assert isinstance(kind, Kind)
    model = Builder("cam").body("a").body("b").joint("j", kind, parent="a", child="b").model()
    assert kinematics.pose(model.tree, "b", np.ones(1)).position[2] == 2.0
    table[0] = 9.0
    assert kinematics.pose(model.tree, "b", np.ones(1)).position[2] == 2.0
    assert model.digest != model.with_(description=(replace(model.description[0], kind=Cam(table=table)),)).digest


# ---- masses ----------------------------------------------------------------------------------------------------------


def scaled(tree, masses):
    """The tree whose bodies are scaled by hand."""
    bodies = []
    for body, m in zip(tree.bodies, masses, strict=True):
        i = body.inertia
        factor = m / i.mass if i.mass else 1.0
        heavier = SpatialInertia(mass=factor * i.mass, com=i.com, inertia=factor * i.inertia)
        bodies.append(replace(body, inertia=heavier))
    return replace(tree, bodies=tuple(bodies))


@pytest.fixture
def state():
    rng = np.random.default_rng(5)
    tree = mb.load("quadruped").tree
    masses = tree.parameters()[:, 0] * rng.uniform(0.5, 2.0, (4, len(tree.bodies)))
    return tree, masses, configuration.random(tree, rng, (4,)), *rng.standard_normal((2, 4, tree.nv))


def test_masses_scale_bodies(state):
    tree, masses, q, v, a = state
    for k, m in enumerate(masses):
        ours, theirs = tree.with_values(masses=m), scaled(tree, m)
        near(ours.parameters(), theirs.parameters(), 1e-14)
        near(ours.parameters()[:, 0], m, 1e-15)
        near(crba.crba(ours, q[k]), crba.crba(theirs, q[k]), 1e-12)
        near(rnea.rnea(ours, q[k], v[k], a[k]), rnea.rnea(theirs, q[k], v[k], a[k]), 1e-11)
        assert ours.mass == pytest.approx(m.sum(), rel=1e-14)


def test_own_masses_change_nothing(state):
    tree = state[0]
    near(tree.with_values(masses=tree.parameters()[:, 0]).parameters(), tree.parameters(), 1e-16)


def test_a_batch_of_masses_is_its_samples(state):
    tree, masses, q, v, a = state
    batch = tree.with_values(masses=masses)
    assert batch.parameters().shape == (4, len(tree.bodies), 10)
    near(batch.mass, masses.sum(-1), 1e-13)
    for k, m in enumerate(masses):
        single = tree.with_values(masses=m)
        near(rnea.rnea(batch, q, v, a)[k], rnea.rnea(single, q[k], v[k], a[k]), 1e-12)
        near(energy.potential_energy(batch, q)[k], energy.potential_energy(single, q[k]), 1e-12)


def test_masses_can_be_traced(state):
    tree, masses, q, v, a = state
    function = mb.compile(
        lambda m, q, v, a: rnea.rnea(tree.with_values(masses=m), q, v, a), len(tree.bodies), tree.nq, tree.nv, tree.nv
    )
    for k, m in enumerate(masses):
        near(function(m, q[k], v[k], a[k]), rnea.rnea(scaled(tree, m), q[k], v[k], a[k]), 1e-11)
    near(function(masses, q, v, a), rnea.rnea(tree.with_values(masses=masses), q, v, a), 1e-11)


def test_masses_after_inertias(state):
    tree, masses, *_ = state
    twice = tree.with_values(inertias=2.0 * tree.parameters())
    near(twice.with_values(masses=masses).parameters(), tree.with_values(masses=masses).parameters(), 1e-14)
    with pytest.raises(InputError, match="expected 'inertias' or 'masses', got both"):
        tree.with_values(inertias=tree.parameters(), masses=masses[0])


def test_a_body_without_mass_stays_as_it_is():
    """It may have moments all the same, such as a rotor's; no mass gives them another shape."""
    rotor = SpatialInertia(mass=0.0, com=np.zeros(3), inertia=0.2 * np.eye(3))
    model = (
        Builder("drive")
        .body("base")
        .body("carriage")
        .body("rotor", rotor)
        .body("arm", SpatialInertia(mass=2.0, com=[0, 0, 0.5], inertia=0.1 * np.eye(3)))
        .joint("slide", Prismatic("x"), parent="base", child="carriage")
        .joint("spin", Revolute("z"), parent="carriage", child="rotor")
        .joint("swing", Revolute("y"), parent="rotor", child="arm")
        .body("sensor")
        .joint("screw", Fixed(), parent="arm", child="sensor")
        .model()
    )
    masses = [0.0, 0.0, 3.0]
    tree = model.tree.with_values(masses=masses)
    near(tree.parameters(), scaled(model.tree, masses).parameters(), 1e-15)
    assert not tree.parameters()[0].any()
    near(tree.bodies[1].inertia.parameters(), rotor.parameters(), 0.0)
    near(model.tree.with_values(masses=[4.0, 5.0, 3.0]).parameters(), tree.parameters(), 0.0)
    Parameters(masses=masses).check(model.tree)
    with pytest.raises(InputError, match=r"masses: expected a positive mass for the body 'arm', got 0\.0"):
        Parameters(masses=np.zeros(3)).check(model.tree)
    with pytest.raises(InputError, match=r"masses \(sample 1\): expected finite numbers for the body 'arm'"):
        Parameters(masses=[masses, [0.0, 0.0, np.nan]]).check(model.tree)


def test_a_varied_tree_has_what_a_robots_own_has():
    """`projected_newton_euler` asks for centres of mass, which the numbers of a varied tree do not name."""
    robot = mb.load("quadruped")
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, (4,)), rng.standard_normal((4, robot.nv))
    inertias = robot.parameters() * rng.uniform(0.5, 2.0, (4, 1, 1))
    varied = robot.tree.with_values(inertias=inertias, gravity=rng.standard_normal((4, 3)))
    assert isinstance(robot.tree.gravity, np.ndarray)
    assert isinstance(varied.gravity, np.ndarray)
    M, b, g = projected_newton_euler.projected_newton_euler(varied, q, v)
    near(M, crba.crba(varied, q), 1e-10)
    near(b + g, coriolis.bias(varied, q, v), 1e-10)
    for ours, theirs in zip(varied.bodies, robot.tree.bodies, strict=True):
        near(ours.inertia.com, np.broadcast_to(theirs.inertia.com, (4, 3)), 1e-12)
        near(ours.inertia.inertia[0] * theirs.inertia.mass, theirs.inertia.inertia * ours.inertia.mass[0], 1e-12)
