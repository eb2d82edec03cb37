"""Keys of kernels cover all that a result depends on: wrong numbers that a cache once gave, each in two processes."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.constraints.contacts import PointContact
from multibody.compiler.runtime import native
from multibody.errors import InputError
from multibody.model.joint import Limits
from multibody.model.joints import Prismatic, Revolute
from multibody.model.shapes import Box
from multibody.robot.quantities import TABLE, register
from multibody.robot.quantity import Quantity
from multibody.robot.request import Request

from ..laws.tools import near

ROOT = Path(__file__).parent.parent.parent


def run(cache: Path, *arguments: str, **environment: str) -> str:
    """What Python prints, with kernels in a cache."""
    cache.mkdir(mode=0o700, exist_ok=True)
    variables = {**os.environ, "MULTIBODY_CACHE_MODE": "on", "MULTIBODY_CACHE_DIR": str(cache), **environment}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PREAMBLE = """
import numpy as np
import multibody as mb
from dataclasses import dataclass
from multibody.model import joints
robot = mb.load("planar-arm")
q = np.array([0.3, 0.5, -0.2])
"""


def test_a_varied_tree_leaves_no_trace_in_the_cache(tmp_path):
    """A patched arm's poses were served to the plain one in the next process: its tool was 13 m off."""
    varied = (
        PREAMBLE
        + """
from multibody.algorithms import kinematics
longer = robot.tree.with_values(positions=5 * robot.positions(), frame_placements=robot.frame_placements())
print(mb.compile(lambda q: kinematics.pose(longer, "tool", q).position, 3)(q).tolist())
print(robot.kernel("pose", "tool", parameters="positions")(q, 5 * robot.positions())[1].tolist())
"""
    )
    plain = PREAMBLE + "print(robot.pose('tool', q).position.tolist())"
    far, far_too = map(eval, run(tmp_path / "cache", "-c", varied).splitlines())
    here = eval(run(tmp_path / "cache", "-c", plain))
    assert here == eval(run(tmp_path / "empty", "-c", plain))
    near(far, far_too, 1e-12)
    assert np.linalg.norm(np.subtract(far, here)) > 1


def test_a_model_does_not_move_with_the_callers_arrays(tmp_path):
    """The caller writes its buffer, the frozen model moved, its digest did not; the next process got 61.4 for 34.3."""
    script = (
        PREAMBLE
        + """
import sys
R, p = np.empty((3, 3)), np.empty(3)
pose = robot.pose("tool", q, out=(R, p))
moved = robot.change(placements={"joint2": pose})
before = moved.model.digest
if sys.argv[1] == "write":
    p[...], R[...] = 7.0, np.eye(3)
assert moved.model.digest == before == mb.Robot(moved.model.with_()).model.digest
print(moved.gravity(q).tolist())
"""
    )
    written = run(tmp_path / "cache", "-c", script, "write")
    assert written == run(tmp_path / "cache", "-c", script, "leave") == run(tmp_path / "empty", "-c", script, "leave")


JOINT = (
    PREAMBLE
    + """
import sys
GEAR = float(sys.argv[1])

@dataclass(frozen=True, init=False)
class Revolute(joints.Prismatic):
    @property
    def screw(self):
        return GEAR, 0.0

def made(kind):
    b = mb.Builder("slide").body("base").body("cart", mb.SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.eye(3)))
    return mb.Robot(b.joint("slide", kind, parent="base", child="cart"))
print(made(Revolute("x")).pose("cart", [1.0]).position[0], made(joints.Revolute("x")).pose("cart", [1.0]).position[0])
"""
)


def test_a_users_joint_is_told_by_its_code(tmp_path):
    """GEAR is in no source text of the class: the first process' kernel must not be the second's."""
    assert [run(tmp_path / "cache", "-c", JOINT, gear).split() for gear in ("1", "2", "3")] == [
        ["1.0", "0.0"],
        ["2.0", "0.0"],
        ["3.0", "0.0"],
    ]


def test_a_class_of_the_users_with_a_name_of_the_librarys_is_another():
    class Own(Prismatic):
        @property
        def screw(self):
            return 2.0, 0.0

    Own.__name__ = Own.__qualname__ = "Prismatic"
    Own.__module__ = Prismatic.__module__

    def made(kind):
        inertia = mb.SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.eye(3))
        b = mb.Builder("hinge").body("base").body("arm", inertia)
        return mb.Robot(b.joint("hinge", kind, parent="base", child="arm"))

    ours, theirs = made(Prismatic("z")), made(Own("z"))
    assert ours != theirs
    assert theirs.model.tree_digest is None
    for _ in range(2):
        near([ours.mass_matrix([0.1])[0, 0], theirs.mass_matrix([0.1])[0, 0]], [1.0, 4.0], 1e-12)
        with mb.eager():
            near([ours.mass_matrix([0.1])[0, 0], theirs.mass_matrix([0.1])[0, 0]], [1.0, 4.0], 1e-12)


SUPPORT = (
    PREAMBLE
    + """
import sys
from multibody.algorithms import kinematics, jacobian
GEAR = float(sys.argv[1])

@dataclass(frozen=True)
class Rail(mb.constraints.Constraint):
    name: str
    rows = 1

    def jacobian(self, tree, q):
        J = jacobian.jacobian(tree, "tool", q)
        return J[..., 0:1, :] + GEAR * J[..., 2:3, :]

    def bias(self, tree, q, v):
        a = kinematics.acceleration(tree, "tool", q, v, np.zeros_like(v))
        return a[..., 0:1] + GEAR * a[..., 2:3]

held = robot.constraints([Rail("rail")])
v = robot.support_consistent_velocity(held, q, robot.jacobian("tool", q)[:1], [1.0])
a, _ = robot.constrained_dynamics(held, q, v, np.zeros(3))
print(abs(held.jacobian(q) @ v).max() < 1e-9, abs(held.jacobian(q) @ a + held.bias(q, v)).max() < 1e-9)
"""
)


def test_a_users_constraint_is_told_by_its_code(tmp_path):
    """`support_consistent_velocity` was −4.24 for −0.66."""
    for gear in ("0", "1", "-2"):
        assert run(tmp_path / "cache", "-c", SUPPORT, gear).split() == ["True", "True"]


@dataclass(frozen=True)
class Gear(mb.constraints.Constraint):
    """A user's constraint that leaves a field out of its own comparison, and computes with it."""

    name: str
    ratio: float = field(compare=False, default=1.0)
    rows = 1

    def jacobian(self, tree, q):
        del tree
        return np.broadcast_to(np.array([[1.0, -self.ratio, 0.0]]), (*q.shape[:-1], 1, 3))

    def bias(self, tree, q, v):
        del tree, q
        return 0 * v[..., :1]


def test_constraints_that_call_themselves_equal_are_told_apart():
    robot = mb.load("planar-arm")
    q = np.full(3, 0.3)
    for ratio in (1.0, 5.0):
        a = robot.constrained_dynamics([Gear("gear", ratio)], q, 0 * q, np.ones(3)).acceleration
        near(a[0], ratio * a[1], 1e-9)
        with mb.eager():
            near(robot.constrained_dynamics([Gear("gear", ratio)], q, 0 * q, np.ones(3)).acceleration, a, 1e-9)


def test_robots_are_frozen():
    robot = mb.load("planar-arm")
    for name, value in (("model", mb.load("panda").model), ("tree", None), ("dtype", np.float32), ("speed", 1.0)):
        with pytest.raises(AttributeError):
            setattr(robot, name, value)
    with pytest.raises(AttributeError):
        robot.tree.gravity = (0, 0, 0)
    assert isinstance(robot.tree.frames, tuple)
    assert isinstance(robot.tree.frame_poses, tuple)
    with pytest.raises(InputError, match="expected a Model or a Builder, got Tree"):
        mb.Robot(robot.tree)


def test_one_request_whatever_door_it_comes_through():
    robot = mb.load("planar-arm")
    q = robot.neutral()
    robot.jacobian("tool", q)
    robot.jacobian("tool", q, "mixed", threads=1)
    with_default = robot.kernel("jacobian", "tool")
    assert with_default is robot.kernel("jacobian", "tool", representation="mixed")
    assert len(robot._calls._kernels) == 1
    assert Request.of(robot.model, "acceleration", "tool") == Request.of(
        robot.model, "acceleration", "tool", intrinsic=np.False_, representation=None
    )


def kinetic(tree, q, v):
    """A user's quantity."""
    del tree
    return (q * v * kinetic.factor).sum(axis=-1)


kinetic.factor = 1.0


def test_quantities_of_the_library_pass_the_checks_of_users_quantities():
    before = dict(TABLE)
    register(before)
    assert before == TABLE


def test_a_users_quantity_joins_the_table_and_has_no_first_key():
    register({"test_quantity": Quantity(kinetic, {"q": "configuration", "v": "velocity"})})
    try:
        robot = mb.load("planar-arm")
        request = Request.of(robot.model, "test_quantity")
        assert request.key(robot.model) is None
        assert Request.of(robot.model, "kinetic_energy").key(robot.model) is not None
        assert robot.kernel("test_quantity")([1, 2, 3], [1, 1, 1]) == 6
        kinetic.factor = 2.0
        assert mb.load("planar-arm").kernel("test_quantity")([1, 2, 3], [1, 1, 1]) == 12
        with pytest.raises(InputError, match="a quantity is named 'test_quantity' already"):
            register({"test_quantity": Quantity(lambda _, q: q, {"q": "configuration"})})
    finally:
        kinetic.factor = 1.0
        del TABLE["test_quantity"]


@pytest.mark.parametrize(
    ("quantity", "words"),
    [
        (kinetic, "expected a Quantity, got function"),
        (Quantity(kinetic, {"q": "pose"}), "expected arrays, got the kind 'pose'"),
        (Quantity(kinetic, {"q": "configuration"}, options={"speed": str}), "its function has no argument 'speed'"),
    ],
)
def test_what_is_no_quantity_is_refused(quantity, words):
    with pytest.raises(InputError, match=words):
        register({"test_refused": quantity})
    assert "test_refused" not in TABLE


ROBOTS = 12
MANY = 300


def test_many_robots_in_one_cache(tmp_path):
    """Surgery, parameters, users' joints and constraints: every kernel equals its plain source, in three processes."""
    counts = [many(tmp_path, ROBOTS, gear) for gear in ("1", "2", "2")]
    assert counts[0][0] == counts[1][0] == counts[2][0] > ROBOTS
    assert counts[0][1] > counts[1][1] > 0  # users' joints and constraints with another gear are compiled anew
    assert counts[2][1] == 0


@pytest.mark.slow
def test_many_more_robots_in_one_cache(tmp_path):
    counts = [many(tmp_path, MANY, gear) for gear in ("1", "2", "3")]
    assert counts[0][0] == counts[1][0] == counts[2][0] > MANY


@pytest.mark.slow
def test_many_robots_under_verification(tmp_path):
    for gear in ("1", "2"):
        many(tmp_path, 2 * ROBOTS, gear, MULTIBODY_CACHE_MODE="verify")


def many(place: Path, robots: int, gear: str, **environment: str) -> tuple[int, int]:
    kernels, compilations = run(
        place / "cache", "-m", "tests.robot.many_robots", "0", str(robots), gear, **environment
    ).split()
    return int(kernels), int(compilations)


def test_a_wrong_key_is_caught_by_verification(tmp_path):
    """An entry under the key of another request, as a key that forgets something would have it."""
    plant = (
        PREAMBLE
        + """
from multibody.robot.request import Request
key = Request.key
Request.key = lambda self, model: "forgetful" if self.evaluations[0].name in ("gravity", "bias") else key(self, model)
print(robot.gravity(q)[0])
"""
    )
    use = plant.replace("robot.gravity(q)", "robot.kernel('center_of_mass')(q)").replace(
        '("gravity", "bias")', '("gravity", "center_of_mass")'
    )
    run(tmp_path / "cache", "-c", plant)
    run(tmp_path / "cache", "-c", use)  # a wrong number that nobody notices
    with pytest.raises(AssertionError, match="center_of_mass"):
        run(tmp_path / "cache", "-c", use, MULTIBODY_CACHE_MODE="verify")


def test_native_compilations_are_counted_at_one_door(monkeypatch):
    counted = []
    compile_objects = native.compile_objects
    monkeypatch.setattr(native, "compile_objects", lambda *a, **k: counted.append(1) or compile_objects(*a, **k))
    monkeypatch.setattr(mb.config, "cache", False)
    mb.load("planar-arm").change(gravity=(0.0, 0.1234, 0.0)).gravity([0.1, 0.2, 0.3])
    assert len(counted) == 1


def test_equal_graphs_are_compiled_once(tmp_path, monkeypatch):
    """Names and limits of joints are no part of a graph, nor is the anchor of a contact without stabilization."""
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(mb.config, "verify", False)
    counts, original = [], native.compile_objects
    monkeypatch.setattr(native, "compile_objects", lambda *args: counts.append(1) or original(*args))

    def arm(name, upper):
        builder = mb.Builder("arm").body("hand", mass=1.234, shape=Box([0.1, 0.2, 0.3]))
        limits = Limits(-1.0, upper)
        return mb.Robot(builder.joint(name, Revolute("y"), parent=None, child="hand", limits=limits).model())

    for robot in (arm("elbow", 1.0), arm("shoulder", 1.0), arm("elbow", 2.0)):
        robot.forward_dynamics([0.1], [0.2], [0.3])
    assert len(counts) == 1
    robot = mb.load("planar-arm")
    for k in range(4):
        contact = PointContact("foot", "tool", anchor=[0.1 * k, 0.0, 0.0])
        robot.constrained_dynamics([contact], np.ones(3), np.zeros(3), np.zeros(3))
    assert len(counts) == 2
