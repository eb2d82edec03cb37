"""What users of other libraries type first: it works, or the error says the right word."""

import copy
import inspect
import pickle
import re
import sys

import numpy as np
import pytest

import multibody as mb
from multibody import control, simulate
from multibody._foreign_names import CLASSES, MODULES, ForeignName

from ..every_law import each_case
from ..laws.tools import near
from .robots import robot_of
from .test_errors import says

ROBOT = robot_of("double-pendulum")
Q, V = np.array([0.3, -0.2]), np.array([1.0, 2.0])


# ---- words of other libraries ----------------------------------------------------------------------------------------


@each_case(
    "word, ours",
    [
        ("rnea", "robot.inverse_dynamics(q, v, a)"),
        ("aba", "robot.forward_dynamics(q, v, tau)"),
        ("crba", "robot.mass_matrix(q)"),
        ("forward_kinematics", "robot.pose(frame, q)"),
        ("fk", "robot.pose(frame, q)"),
        ("com", "robot.center_of_mass(q)"),
        ("nle", "robot.bias(q, v)"),
        ("dof", "robot.nv"),
        ("ik", "robot.inverse_kinematics"),
        ("createData", "a robot has no state"),
        ("lower_limits", "robot.limits"),
        ("energy", "robot.kinetic_energy(q, v) + robot.potential_energy(q)"),
        ("gravity_compensation", "robot.gravity(q)"),
        ("plot", "mb.view.show(robot, q)"),
        ("getTransform", "robot.pose(frame, q)"),
        ("geometricJacobian", "robot.jacobian(frame, q)"),
        ("velocityProduct", "robot.coriolis(q, v) @ v"),
        ("CalcMassMatrix", "robot.mass_matrix(q)"),
        ("CalcGravityGeneralizedForces", "robot.gravity(q), with the opposite sign"),
        ("CalcRelativeTransform", "robot.pose(reference, q).pull(robot.pose(frame, q))"),
        ("mj_jacSite", "robot.jacobian(frame, q)"),
        ("subtree_com", "robot.center_of_mass(q)"),
        ("computeMinverse", "np.linalg.inv(robot.mass_matrix(q))"),
        ("buildReducedModel", "robot.lock({joint: value})"),
    ],
)
def test_words_of_others_name_ours(word, ours):
    for owner in (ROBOT, mb.Robot):
        with pytest.raises(AttributeError) as caught:
            getattr(owner, word)
        assert f"Robot has no {word!r}; use " in str(caught.value)
        assert ours in str(caught.value)
        assert not hasattr(owner, word)


OWNERS = {
    "Robot": ROBOT,
    "Rotation": mb.Rotation.identity(),
    "Pose": mb.Pose.identity(),
    "Twist": mb.Twist.zero(),
    "Wrench": mb.Wrench.zero(),
    "SpatialInertia": mb.SpatialInertia(1.0, np.zeros(3), np.eye(3)),
}
HERE = {"robot": ROBOT, "mb": mb, "control": control, "simulate": simulate, **OWNERS}
HERE |= {"rotation": HERE["Rotation"], "pose": HERE["Pose"], "twist": HERE["Twist"], "inertia": HERE["SpatialInertia"]}
HERE |= {"wrench": HERE["Wrench"], "np": np}
TABLES = {**{OWNERS[name]: table for name, table in CLASSES.items()}}
TABLES |= {HERE[name.removeprefix("multibody.").replace("multibody", "mb")]: table for name, table in MODULES.items()}


@pytest.mark.parametrize("owner", TABLES, ids=lambda owner: getattr(owner, "__name__", type(owner).__name__))
def test_foreign_names_point_to_existing_attributes(owner):
    """Every `robot.name`, `mb.name` and so on of a table exists, and no name hides an attribute or occurs twice."""
    table = TABLES[owner]
    for ours in table:
        for place, path in re.findall(r"\b(\w+)\.((?:[A-Za-z_]+\.?)+)", ours):
            value = HERE.get(place)
            for name in path.split(".") if place in HERE else ():
                assert hasattr(value, name), ours
                value = getattr(value, name)
    names = [name for group in table.values() for name in group.split()]
    assert len(set(names)) == len(names)
    assert not set(names) & set(dir(owner))
    for name in names:
        with pytest.raises(AttributeError, match=rf"has no (attribute )?'{name}'; use \w"):
            getattr(owner, name)
        assert not hasattr(owner, name)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: mb.Rotation.from_quat, "Rotation.from_xyzw(q)"),
        (lambda: mb.Rotation.identity().as_matrix, "rotation.matrix"),
        (lambda: mb.Rotation.identity(3).inv, "rotation.inverse()"),
        (lambda: mb.Pose.identity().translation, "pose.position"),
        (lambda: mb.Twist.zero().w, "twist.angular"),
        (lambda: mb.Wrench.zero().moment, "wrench.torque"),
        (lambda: mb.Wrench.se3Action, "pose @ wrench"),
        (lambda: OWNERS["SpatialInertia"].lever, "inertia.com"),
        (lambda: control.pinv, "control.pseudo_inverse(J)"),
        (lambda: simulate.mj_step, "simulate.Simulator(robot, dt=0.002).step"),
    ],
)
def test_values_and_rooms_name_ours(call, hint):
    with pytest.raises(AttributeError) as caught:
        call()
    assert f"; use {hint}" in str(caught.value)


def test_words_of_others_for_quantities():
    for call in (
        lambda: ROBOT.kernel("rnea"),
        lambda: ROBOT.evaluate(Q, V, ["rnea"]),
        lambda: ROBOT.derivatives("rnea", Q, V, V),
    ):
        says(call, "no quantity is named 'rnea'; it is 'inverse_dynamics' here")
    says(lambda: ROBOT.kernel("fk"), "it is 'pose' here")
    says(lambda: ROBOT.kernel("dof"), "no quantity is named 'dof'; ")
    says(lambda: ROBOT.kernel(["rnea"]), "no quantity is named ['rnea']")


def test_words_are_not_listed():
    members = vars(mb.Robot)
    words = {name for name in members if isinstance(members[name], ForeignName)}
    assert "rnea" in words
    assert not words & {*dir(ROBOT), *dir(mb.Robot)}
    assert set(dir(ROBOT)) == set(object.__dir__(ROBOT)) - words
    for value in OWNERS.values():
        assert not {name for name in dir(value) if isinstance(inspect.getattr_static(value, name), ForeignName)}
        assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value
    assert {"jacobian", "nq", "__eq__", "_with"} <= set(dir(ROBOT))


def test_robots_with_words_are_values_still():
    assert pickle.loads(pickle.dumps(ROBOT)) == ROBOT
    assert copy.deepcopy(ROBOT) == ROBOT == copy.copy(ROBOT)
    with pytest.raises(AttributeError):
        ROBOT.anything = 1


@pytest.mark.parametrize(
    ("name", "proposal"),
    [("jacobain", "Did you mean: 'jacobian'?"), ("mass_matrx", "Did you mean: 'mass_matrix'?"), ("rne", None)],
)
def test_misspellings_are_mended_by_python(name, proposal, capsys):
    """It proposes what `dir` lists; words of others have a sentence of their own, and no second proposal."""
    with pytest.raises(AttributeError) as caught:
        getattr(ROBOT, name)
    sys.__excepthook__(type(caught.value), caught.value, None)
    shown = capsys.readouterr().err
    assert ("Did you mean" not in shown) if proposal is None else proposal in shown


@pytest.mark.parametrize(("word", "ours"), [("grad", "gradient"), ("jit", "compile"), ("SE3", "Pose")])
def test_words_of_the_module(word, ours):
    with pytest.raises(AttributeError, match=f"; use mb.{ours}$"):
        getattr(mb, word)
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        getattr(mb, "nothing")  # noqa: B009


# ---- representations, and the order of arguments ---------------------------------------------------------------------


class ReferenceFrame:
    """As Pinocchio's enumeration shows itself."""

    def __str__(self):
        return "LOCAL_WORLD_ALIGNED"


@each_case(
    "word, ours",
    [
        ("LOCAL", "left"),
        ("local", "left"),
        ("body", "left"),
        ("WORLD", "right"),
        ("spatial", "right"),
        ("LOCAL_WORLD_ALIGNED", "mixed"),
        ("hybrid", "mixed"),
        (ReferenceFrame(), "mixed"),
    ],
)
def test_representations_of_others(word, ours):
    for call in (
        lambda: ROBOT.jacobian("tip", Q, word),
        lambda: ROBOT.velocity("tip", Q, V, word),
        lambda: ROBOT.acceleration("tip", Q, V, V, word),
        lambda: ROBOT.jacobian_dot("tip", Q, V, word),
        lambda: ROBOT.hessian("tip", Q, word),
        lambda: ROBOT.relative_jacobian("tip", "base", Q, representation=word),
        lambda: ROBOT.kernel("jacobian", "tip", representation=word),
        lambda: mb.geometry.representations.transform(mb.Pose.identity(), "left", word),
    ):
        says(call, "representation", f"is called {ours!r} here")
    with mb.eager():
        says(lambda: ROBOT.jacobian("tip", Q, word), f"is called {ours!r} here")


def test_world_has_two_meanings_and_is_told_both():
    says(lambda: ROBOT.jacobian("tip", Q, "world"), "'right'", "Pinocchio's WORLD", "is 'mixed'")
    says(lambda: ROBOT.jacobian("tip", Q, "up"), "expected one of 'left', 'right', 'mixed', got 'up'")
    says(lambda: ROBOT.jacobian("tip", Q, 3), "expected one of 'left', 'right', 'mixed', got 3")


@pytest.mark.parametrize("q", [Q, Q.tolist(), tuple(Q.tolist())])
def test_a_frame_behind_the_state(q):
    says(lambda: ROBOT.jacobian(q, "tip"), "jacobian: expected the frame first, robot.jacobian('tip', q, ...)")
    says(lambda: ROBOT.pose(q, "tip"), "robot.pose('tip', q, ...)")
    says(lambda: ROBOT.velocity(q, V, "tip"), "robot.velocity('tip', q, ...)")
    says(lambda: ROBOT.point_jacobian(q, np.zeros(3), "tip"), "robot.point_jacobian('tip', q, ...)")
    says(lambda: ROBOT.jacobian(q, "nothing"), "no frame is named")


# ---- configurations --------------------------------------------------------------------------------------------------


def test_random():
    """Without a generator every call differs; a bare number is refused, since it could be a seed or a batch."""
    assert ROBOT.random().shape == (2,)
    assert not np.array_equal(ROBOT.random(batch=3), ROBOT.random(batch=3))
    near(ROBOT.random(np.random.default_rng(4), 5), ROBOT.random(np.random.default_rng(4), (5,)), 0.0)
    assert ROBOT.random(batch=(2, 3)).shape == (2, 3, 2)
    assert mb.Rotation.random(np.random.default_rng(0), 4).shape == (4,)
    assert mb.Twist.zero(3).shape == mb.Pose.identity(3).shape == (3,)
    says(lambda: ROBOT.random(5), "a seed or a number of samples", "random(np.random.default_rng(5))", "random(rng, 5)")
    says(lambda: ROBOT.random((5,)), "a seed or a number of samples")
    says(lambda: ROBOT.random("x"), "rng: expected a numpy.random.Generator, got str")
    for bad in (-1, 2.0, True, "x", (-1,)):
        says(lambda bad=bad: ROBOT.random(batch=bad), "batch: expected a number of samples or a tuple of lengths")


def test_integrate_for_some_time():
    robot, rng = robot_of("free-body-se3"), np.random.default_rng(1)
    q, v, dt = robot.random(rng, 4), rng.standard_normal((4, 6)), rng.uniform(0, 1, 4)
    near(robot.integrate(q, v, 0.1), robot.integrate(q, 0.1 * v), 1e-15)
    near(robot.integrate(q, v, dt), robot.integrate(q, dt[:, None] * v), 1e-15)
    near(robot.integrate(q[0], v[0], dt)[2], robot.integrate(q[0], dt[2] * v[0]), 1e-15)
    step = mb.compile(lambda q, v, dt: robot.integrate(q, v, dt), 7, 6, ())
    near(step(q, v, dt), robot.integrate(q, v, dt), 1e-14)
    out = np.zeros_like(q)
    assert robot.integrate(q, v, 0.1, out=out) is out
    says(lambda: robot.integrate(q, v, "long"), "dt", "float")
    says(lambda: robot.integrate(q, v, np.zeros(3)), "dv, dt: batch shapes (4,), (3,) do not broadcast")
    says(lambda: robot.integrate(q, q, 0.1), "dv needs the shape (..., 6)")


# ---- surgery ---------------------------------------------------------------------------------------------------------


def test_a_payload_of_a_mass_is_a_point():
    point = mb.SpatialInertia(mass=1.5, com=np.zeros(3), inertia=np.zeros((3, 3)))
    for mass in (1.5, np.float64(1.5), np.float32(1.5)):
        assert ROBOT.payload("tip", mass) == ROBOT.payload("tip", point)
    loaded = ROBOT.payload("tip", 2, [0.0, 0.1, 0.0])
    near(loaded.mass, ROBOT.mass + 2, 1e-12)
    extra = loaded.potential_energy(Q) - ROBOT.potential_energy(Q)
    near(extra, 2 * 9.81 * (ROBOT.pose("tip", Q) @ np.array([0.0, 0.1, 0.0]))[2], 1e-10)
    for bad in ("heavy", None, True, [1.0]):
        says(
            lambda bad=bad: ROBOT.payload("tip", bad), "expected one SpatialInertia of finite numbers, or a mass in kg"
        )
    for bad in (-1.0, 0, np.nan):
        says(lambda bad=bad: ROBOT.payload("tip", bad), "payload on 'tip': expected a positive mass in kg, got")
    says(lambda: ROBOT.payload("tip", np.inf), "finite")


def test_a_frame_of_a_tool():
    """The pose of a new frame is that of its parent times the given one, on links and on frames of links."""
    robot, rng = robot_of("panda"), np.random.default_rng(3)
    q, T = robot.random(rng, 4), mb.Pose.random(rng)
    tooled = robot.with_frame("tcp", "tool", T).with_frame("tip", "tcp", [0.0, 0.0, 0.1])
    wanted = robot.pose("tool", q) @ T
    near(tooled.pose("tcp", q).matrix, wanted.matrix, 1e-12)
    near(tooled.pose("tip", q).position, wanted @ np.array([0.0, 0.0, 0.1]), 1e-12)
    assert set(tooled.frames) - set(robot.frames) == {"tcp", "tip"}
    assert tooled.mass == robot.mass
    scene = robot.beside(mb.load("free-body-se3"), prefix="ball/").with_frame("tcp", "tool", T)
    near(scene.pose("tcp", scene.home()).matrix, (robot.pose("tool", robot.home()) @ T).matrix, 1e-12)
    says(lambda: robot.with_frame("tool", "tool"), "with_frame: 'panda' has a link or frame 'tool' already")
    says(lambda: robot.with_frame("tcp", "hand_of_nobody"), "no frame is named 'hand_of_nobody'")
    says(lambda: robot.with_frame("", "tool"), "with_frame, name: expected a text that is not empty")
    says(lambda: robot.with_frame("tcp", "tool", np.zeros(2)), "a position of three finite numbers")
    with pytest.raises(AttributeError, match=r"use robot.with_frame\(name, parent, pose\)"):
        robot.add_frame  # noqa: B018


def test_names_of_euler_angles_with_and_without_their_prefix():
    rng = np.random.default_rng(4)
    R, w = mb.Rotation.random(rng, 5), rng.standard_normal((5, 3))
    rates = mb.geometry.rates
    for name in ("zyx", "xyz", "zxz", "extrinsic-xyz"):
        full = f"euler-{name}"
        near(R.euler(full), R.euler(name), 0.0)
        assert mb.Rotation.from_euler(full, R.euler(name)) == mb.Rotation.from_euler(name, R.euler(name))
        chi = rates.parameters(name, R)
        near(chi, rates.parameters(full, R), 0.0)
        near(rates.angular(name, chi), rates.angular(full, chi), 0.0)
        near(rates.angular_inverse(name, chi) @ w[..., None], rates.angular_inverse(full, chi) @ w[..., None], 0.0)
    robot, q = mb.load("panda"), mb.load("panda").random(rng)
    near(robot.analytical_jacobian("tool", q, "zyx"), robot.analytical_jacobian("tool", q, "euler-zyx"), 0.0)
    says(lambda: rates.parameters("zyy", R), "euler-zyx")
    says(lambda: R.euler("euler-ZYX"), "Euler sequence: expected one of")
    for call in (
        lambda: robot.analytical_jacobian("tool", q, "ZYX"),
        lambda: robot.rate_matrix(q, "ZYX"),
        lambda: control.iterate(robot, "tool", robot.pose("tool", q), q, error="ZYX"),
    ):
        says(call, "SciPy's intrinsic 'ZYX' is 'zyx' here")


def test_poses_of_matrices_say_how():
    says(lambda: mb.Pose(np.eye(4)), "got ndarray first; use Pose.from_matrix(matrix)")
    says(lambda: mb.Pose(np.eye(3), [1, 2, 3]), "use Pose(Rotation.from_matrix(matrix), position)")
    says(lambda: mb.Pose([1.0, 0, 0, 0], [1, 2, 3]), "use Pose(Rotation.from_quaternion(q), position), with w first")
    says(lambda: mb.Pose([[1.0], [0, 0]], [1, 2, 3]), "expected a Rotation and a position, got list first")
    assert mb.Pose(mb.Rotation.identity()) == mb.Pose.identity()


def methods_with(*names):
    """The public methods of robots whose first argument has one of these names, and their required arguments."""
    for name in dir(mb.Robot):
        method = getattr(mb.Robot, name)
        if name.startswith("_") or not callable(method):
            continue
        required = [
            x.name for x in inspect.signature(method).parameters.values() if x.default is x.empty and x.kind == 1
        ]
        if len(required) > 2 and required[1] in names:
            yield name, required[1:]


ARGUMENTS = {
    "frame": "tip",
    "reference": "base",
    "constraints": [mb.constraints.PointContact("foot", "tip")],
    "q": Q,
    "v": V,
    "a": V,
    "tau": V,
    "point": np.zeros(3),
    "placement": mb.Pose.identity(),
    "twist": np.zeros(6),
    "target": mb.Pose.identity(),
    "inertia": 1.0,
    "task": np.zeros((1, 2)),
    "wanted": np.zeros(1),
}


@pytest.mark.parametrize(("name", "required"), list(methods_with("frame")))
def test_every_method_names_a_frame_behind_the_state(name, required):
    first, *rest = (ARGUMENTS[argument] for argument in required)
    if name == "inverse_kinematics":
        says(lambda: ROBOT.inverse_kinematics(*rest, first), "expected the name of a frame first")
        return
    frames = "frames" if "reference" in required else "frame"
    says(lambda: getattr(ROBOT, name)(*rest, first), f"expected the {frames} first, robot.{name}(")


@pytest.mark.parametrize(("name", "required"), list(methods_with("constraints")))
def test_every_method_names_constraints_behind_the_state(name, required):
    first, *rest = (ARGUMENTS[argument] for argument in required)
    for state in (rest, [x.tolist() for x in rest]):
        says(
            lambda state=state: getattr(ROBOT, name)(*state, first), f"expected constraints first, as in robot.{name}("
        )


def test_a_new_frame_behind_its_parent():
    says(lambda: ROBOT.with_frame("tip", "tcp"), "expected the new name first, robot.with_frame('tcp', 'tip', pose)")


def test_constraints_behind_the_state():
    feet = [mb.constraints.PointContact("tip", "tip")]
    says(lambda: ROBOT.constrained_dynamics(Q, V, V, feet), "expected constraints first", "(constraints, q, v, tau)")
