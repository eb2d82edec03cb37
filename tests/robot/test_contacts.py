"""Constraints through the face: kernels of sets of constraints are the NumPy, in batches, or say why not."""

import pickle
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import constraint_projection as projection
from multibody.algorithms import impact as impacts
from multibody.algorithms.constrained_dynamics_derivatives import constrained_dynamics_derivatives
from multibody.algorithms.constraints import (
    Constraint,
    ConstraintSet,
    JointCoupling,
    NoSlip,
    PointClosure,
    PointContact,
    SurfaceContact,
)
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.model.builder import Builder
from multibody.model.joint import Passive
from multibody.model.joints import Revolute
from multibody.model.shapes import Sphere

from ..algorithms.test_constraints import four_bar
from ..laws.tools import near
from .robots import identical
from .test_errors import says

LEGGED = mb.load("quadruped")
LEGGED = LEGGED.lock({j.name: 0.3 for j in LEGGED.joints[1:] if not j.name.startswith("lf")})
EDGE = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0))  # two points of a rigid foot: six rows of rank five
MACHINES = {
    "floating": (LEGGED, [SurfaceContact("sole", "foot-lf", EDGE), PointContact("knee", "lf-shank", (0.05, 0.0, 0.1))]),
    "fixed": (mb.Robot(four_bar()), [PointClosure("loop", "end", "pin")]),
}
COUNT = 6


@pytest.fixture(params=MACHINES)
def case(request):
    """A robot, constraints with redundant rows, and states that they do not all allow."""
    robot, constraints = MACHINES[request.param]
    rng = np.random.default_rng(0)
    v, tau = rng.standard_normal((2, COUNT, robot.nv))
    return robot, robot.constraints(constraints), robot.random(rng, (COUNT,)), v, tau


mostly_fixed = pytest.mark.parametrize(
    "case", ["fixed", pytest.param("floating", marks=pytest.mark.slow)], indirect=True
)
"""Large kernels, of which by default the machine without a base is the sample."""


def same(found, expected, within=1e-9):
    for one, two in zip(found, expected, strict=True):
        near(one, two, within)


def test_every_method_is_the_algorithm(case):
    robot, held, q, v, tau = case
    M, J = robot.mass_matrix(q), held.jacobian(q)
    same(robot.constrained_dynamics(held, q, v, tau), dynamics.constrained_dynamics(held.tree, held, q, v, tau), 1e-7)
    same(robot.impact(held, q, v), impacts.impact(held.tree, held, q, v), 1e-7)
    same([robot.null_space_projector(held, q)], [projection.null_space_projector(M, J)], 1e-7)
    task, wanted = robot.jacobian(robot.frames[-1], q)[..., :2, :], np.ones((COUNT, 2))
    found = robot.support_consistent_velocity(held, q, task, wanted)
    same([found], [projection.support_consistent_velocity(J, task, wanted)], 1e-7)
    near(np.einsum("krn,kn->kr", J, found), np.zeros(J.shape[:-1]), 1e-9)


@mostly_fixed
def test_derivatives(case):
    """The recursion, and automatic differentiation of the whole solution, which the rows' rank does not disturb."""
    robot, held, q, v, tau = case
    found = robot.constrained_dynamics_derivatives(held, q, v, tau)
    same(found, constrained_dynamics_derivatives(held.tree, held, q, v, tau), 1e-6)
    assert found._fields[0] == "acceleration_by_q"
    if robot is not LEGGED:
        whole = robot.derivatives("constrained_dynamics", q, v, tau, constraints=held)
        same(found, [x for part in whole for x in part], 1e-6)
        wrenches = {robot.frames[-1]: np.random.default_rng(1).standard_normal((COUNT, 6))}
        options = {"active": np.array([[1, 1, 0]] * COUNT), "baumgarte": (50.0, 7.0)}
        found = robot.constrained_dynamics_derivatives(held, q, v, tau, wrenches, **options)
        plain = constrained_dynamics_derivatives(held.tree, held, q, v, tau, wrenches, **options)
        same(found, plain, 1e-6)


@mostly_fixed
def test_optional_inputs(case):
    """Wrenches, masks by constraint or by row, and gains: each as in the algorithm, sample by sample."""
    robot, held, q, v, tau = case
    rng = np.random.default_rng(1)
    wrenches = {robot.frames[-1]: rng.standard_normal((COUNT, 6)), robot.frames[1]: rng.standard_normal(6)}
    by_row = rng.integers(0, 2, (COUNT, held.rows)).astype(bool)
    by_one = rng.integers(0, 2, (COUNT, len(held.constraints)))
    for options in ({"active": by_row}, {"active": by_one, "baumgarte": (50.0, 7.0)}, {"wrenches": wrenches}):
        found = robot.constrained_dynamics(held, q, v, tau, **options)
        same(found, dynamics.constrained_dynamics(held.tree, held, q, v, tau, **options), 1e-7)
    assert not found.force[..., 0].any() or "active" not in options
    off = robot.constrained_dynamics(held, q, v, tau, active=np.zeros(held.rows))
    near(off.acceleration, robot.forward_dynamics(q, v, tau), 1e-9 * np.abs(off.acceleration).max())
    assert not off.force.any()
    bounce = np.linspace(0.0, 1.0, COUNT)
    found = robot.impact(held, q, v, bounce, active=by_row)
    same(found, impacts.impact(held.tree, held, q, v, bounce[:, None], active=by_row), 1e-7)
    same(robot.impact(held, q, v, 0.5), impacts.impact(held.tree, held, q, v, 0.5), 1e-7)


@mostly_fixed
def test_passive_forces(case):
    robot, held, q, v, tau = case
    damped = robot.change(passive={robot.joints[-1].name: Passive(damping=2.0)})
    same = damped.constrained_dynamics(held.constraints, q, v, tau, passive=True)
    other = robot.constrained_dynamics(held, q, v, tau + damped.passive(q, v))
    near(same.acceleration, other.acceleration, 1e-9 * np.abs(other.acceleration).max())


def test_single_batch_threads_out_and_eager_agree(case):
    robot, held, q, v, tau = case
    batch = robot.constrained_dynamics(held, q, v, tau)
    identical(tuple(robot.constrained_dynamics(held, q[2], v[2], tau[2])), tuple(x[2] for x in batch))
    identical(tuple(robot.constrained_dynamics(held, q, v, tau, threads=2)), tuple(batch))
    out = tuple(np.zeros_like(x) for x in batch)
    assert robot.constrained_dynamics(held, q, v, tau, out=out).force is out[1]
    identical(out, tuple(batch))
    spread = robot.constrained_dynamics(held, q, v[0], tau[0])
    identical(tuple(x[3] for x in spread), tuple(robot.constrained_dynamics(held, q[3], v[0], tau[0])))
    with mb.eager():
        same(robot.constrained_dynamics(held, q, v, tau), batch, 1e-7)
        same(robot.impact(held, q, v, 0.5, active=np.ones(held.rows)), robot.impact(held, q, v, 0.5), 1e-7)


def test_lists_and_sets_share_code(case):
    robot, held, q, v, tau = case
    identical(
        tuple(robot.constrained_dynamics(list(held.constraints), q, v, tau)),
        tuple(robot.constrained_dynamics(held, q, v, tau)),
    )
    again = ConstraintSet(robot.model, held.constraints)
    assert again == held
    assert hash(again) == hash(held)
    kernels = robot.kernel("impact", constraints=held), mb.Robot(robot.model).kernel("impact", constraints=again)
    assert kernels[0]._code is kernels[1]._code
    assert again.digest == held.digest
    assert ConstraintSet(robot.model, held.constraints[:1]).digest != held.digest or len(held.constraints) == 1


@mostly_fixed
def test_kernels_and_evaluate(case):
    robot, held, q, v, _ = case
    kernel = robot.kernel("constrained_dynamics", constraints=held, optional=("active",), method="exact")
    assert [one.name for one in kernel.signature.inputs] == ["q", "v", "tau", "active"]
    found = robot.evaluate(q, v, ["mass_matrix", ("constraint_jacobian", held), ("constraint_bias", held)])
    near(found["constraint_jacobian", held], held.jacobian(q), 1e-12)
    near(found["constraint_bias", held], held.bias(q, v), 1e-10)
    near(robot.kernel("constraint_error", constraints=held)(q), held.error(q), 1e-12)


@dataclass(frozen=True)
class Gear(Constraint):
    """A constraint of a user: the first velocity is a multiple of the second."""

    name: str
    ratio: float

    @property
    def rows(self):
        return 1

    def jacobian(self, model, q):
        row = np.zeros((1, model.nv))
        row[0, :2] = 1.0, -self.ratio
        return np.broadcast_to(row, (*q.shape[:-1], 1, model.nv))

    def bias(self, model, q, v):
        del model, v
        return np.zeros((*q.shape[:-1], 1))


def test_constraints_of_the_user():
    """Their code is not the library's: such a kernel is known by its graph, not by its name."""
    robot = mb.load("double-pendulum")
    one, two = robot.joints
    mine, ours = robot.constraints([Gear("gear", 2.0)]), [JointCoupling("gear", one.name, two.name, 2.0)]
    assert mine.digest is None
    state = robot.random(np.random.default_rng(0)), np.ones(2), np.zeros(2)
    same(robot.constrained_dynamics(mine, *state), robot.constrained_dynamics(ours, *state))


def test_float32():
    robot, constraints = MACHINES["floating"]
    rng = np.random.default_rng(0)
    q, v, tau = robot.random(rng), *rng.standard_normal((2, robot.nv))
    found = robot.astype("float32").constrained_dynamics(constraints, q, v, tau)
    expected = robot.constrained_dynamics(constraints, q, v, tau)
    assert found.acceleration.dtype == np.float32
    near(found.acceleration, expected.acceleration, 2e-3 * np.abs(expected.acceleration).max())


def test_eager_float32_tells_rows_that_cannot_move():
    """Parallel hinges along a skew axis: a tool neither slides along it nor turns across it, but for rounding."""
    axis = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    along = np.linalg.qr(np.column_stack([axis, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))[0]
    b = Builder("skew").body("ground")
    for parent, child in (("ground", "upper"), ("upper", "lower")):
        b.body(child, shape=Sphere(0.1), mass=1.0, pose=Pose(Rotation.identity(), [0.3, 0.2, 0.1]))
        b.joint(child, Revolute(axis), parent=parent, child=child, placement=[0.5, 0.1, 0.2])
    b.frame("tool", "lower", Pose(Rotation.from_matrix(along * np.linalg.det(along)), [0.4, 0.1, 0.0]))
    robot = mb.Robot(b.model())
    held, rng = robot.constraints([NoSlip("tool", "tool", (0, 4, 5))]), np.random.default_rng(0)
    state = [x.astype(np.float32) for x in (robot.random(rng, (COUNT,)), *rng.standard_normal((2, COUNT, 2)))]
    single, expected = robot.astype("float32"), robot.forward_dynamics(*state)
    kernel = single.kernel("constrained_dynamics", constraints=held)
    with mb.eager():
        found = single.constrained_dynamics(held, *state), kernel(*state)
    for a, f in (*found, kernel(*state)):
        assert a.dtype == f.dtype == np.float32
        near(a, expected, 1e-4 * np.abs(expected).max())
        assert not f.any()


def test_a_set_from_another_process_is_the_same_value(case, tmp_path):
    """Texts have another hash in every process; that of the set is made again."""
    held = case[1]
    assert held in {held}  # it knows its hash now
    path = tmp_path / "held.pickle"
    path.write_bytes(pickle.dumps(held))
    code = (
        "import pickle, sys; from multibody.algorithms.constraints import ConstraintSet; "
        "found = pickle.load(open(sys.argv[1], 'rb')); again = ConstraintSet(found.model, found.constraints); "
        "print(found == again, hash(found) == hash(again), found.digest)"
    )
    told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "True", held.digest]


def support(robot, held, q, task, wanted):
    """[RD 2.273-2.276] as it is written, by singular values."""
    J = held.jacobian(q)
    N = np.eye(robot.nv) - np.linalg.pinv(J, rcond=1e-9) @ J
    return (N @ np.linalg.pinv(task @ N, rcond=1e-9) @ wanted[..., None])[..., 0]


@mostly_fixed
def test_support(case):
    """One kernel: single, in batches, over threads, into an array, eager, within a kernel; NaN stays where it is."""
    robot, held, q, *_ = case
    rng = np.random.default_rng(3)
    task, wanted = rng.standard_normal((COUNT, 1, robot.nv)), rng.standard_normal((COUNT, 1))
    batch = robot.support_consistent_velocity(held, q, task, wanted)
    near(batch, support(robot, held, q, task, wanted), 1e-9 * np.abs(batch).max())
    identical(robot.support_consistent_velocity(held, q[2], task[2], wanted[2]), batch[2])
    identical(robot.support_consistent_velocity(held, q, task, wanted, threads=2), batch)
    out = np.zeros_like(batch)
    assert robot.support_consistent_velocity(held.constraints, q, task, wanted, out=out) is out
    identical(out, batch)
    spread = robot.support_consistent_velocity(held, q, task[0].tolist(), wanted[0].tolist())
    identical(spread[3], robot.support_consistent_velocity(held, q[3], task[0], wanted[0]))
    with mb.eager():
        near(robot.support_consistent_velocity(held, q, task, wanted), batch, 1e-9 * np.abs(batch).max())
    kernel = mb.compile(lambda w: robot.support_consistent_velocity(held, q[0], task[0], w), 1)
    near(kernel(wanted[0]), batch[0], 1e-9 * np.abs(batch).max())
    for k, given in enumerate((q, task, wanted)):
        spoilt = [q, task, wanted]
        spoilt[k] = given.copy()
        spoilt[k][1, ..., -1] = np.nan
        found = robot.support_consistent_velocity(held, *spoilt)
        assert np.isnan(found[1]).any()
        identical(np.delete(found, 1, axis=0), np.delete(batch, 1, axis=0))


@pytest.mark.parametrize(
    ("dtype", "within"), [("float64", 1e-9), pytest.param("float32", 2e-3, marks=pytest.mark.slow)]
)
def test_support_that_holds_the_task(dtype, within):
    """What no allowed motion moves gives no velocity, in single precision too; the rest of the task is met."""
    robot, constraints = MACHINES["floating"]
    held = robot.constraints(constraints[:1])
    q = robot.random(np.random.default_rng(0), (COUNT,))
    still = robot.jacobian("foot-lf", q)[..., :3, :]
    task, wanted = np.concatenate([still, robot.com_jacobian(q)], axis=-2), np.array([0.0, 0.0, 0.0, 0.1, 0.0, 0.0])
    expected = support(robot, held, q, task, wanted)
    one = robot.astype(dtype)
    assert np.abs(one.support_consistent_velocity(held, q, still, [1.0, 2.0, 3.0])).max() < within
    found = one.support_consistent_velocity(held, q, task, wanted)
    assert found.dtype == dtype
    near(found, expected, within * np.abs(expected).max())


# ---- bad input -------------------------------------------------------------------------------------------------------


class Wrong(Gear):
    """It says that it has more rows than it has."""

    @property
    def rows(self):
        return 2


def test_bad_sets():
    robot, q, v = MACHINES["fixed"][0], np.zeros(3), np.zeros(3)

    def call(constraints):
        return lambda: robot.constrained_dynamics(constraints, q, v, v)

    says(call([]), "expected at least one constraint, got none")
    says(call(PointContact("a", "end")), "expected a list of constraints, got PointContact")
    says(call(["end"]), "expected constraints, got str")
    says(call([PointContact("a", "pin")]), "the frame 'pin' is fixed to the world and cannot move")
    says(call([PointContact("a", "ende")]), "no frame is named 'ende'; did you mean 'end'")
    says(call([PointContact("a", "end")] * 2), "two constraints are named 'a'")
    says(call([Gear("a", [1.0])]), "expected frozen data, got unhashable")
    says(call(mb.load("quadruped").constraints([PointContact("a", "foot-lf")])), "another robot, 'quadruped'")
    says(call([PointContact(3, "end")]), "expected a constraint with a name, got 3")
    says(call([Wrong("a", 1.0)]), "constraint 'a'", "a Jacobian (2, 3), got one of shape (1, 3)")
    says(lambda: PointContact("a", "end", (0.0, 1.0)), "constraint 'a'", "3", "(2,)")
    says(lambda: PointContact("a", "end", (0.0, 1.0, np.nan)), "three finite numbers")


def test_bad_arguments():
    robot, constraints = MACHINES["floating"]
    held = robot.constraints(constraints)
    q, v = robot.home(), np.zeros(robot.nv)
    says(lambda: robot.constrained_dynamics(held, q, q, v), f"v needs the shape (..., {robot.nv})")
    says(lambda: robot.constrained_dynamics(held, q, v, v, active=np.ones(3)), "active", "(..., 2)", "(..., 9)")
    says(lambda: robot.constrained_dynamics(held, q, v, v, baumgarte=3.0), "baumgarte", "2")
    for gains, told in (
        ((-1.0, 2.0), "baumgarte: expected a finite stiffness, not negative, got -1.0"),
        ([[1.0, 2.0], [1.0, np.nan]], "baumgarte (sample 1): expected a finite damping, not negative, got nan"),
        ((1.0, np.inf), "baumgarte: expected a finite damping, not negative, got inf"),
    ):
        says(lambda gains=gains: robot.constrained_dynamics(held, q, v, v, baumgarte=gains), told)
        says(lambda gains=gains: robot.constrained_dynamics_derivatives(held, q, v, v, baumgarte=gains), told)
        says(lambda gains=gains: dynamics.constrained_dynamics(held.tree, held, q, v, v, baumgarte=gains), told)
    says(lambda: robot.constrained_dynamics(held, q, v, v, method="newton"), "'least-norm', 'exact', got 'newton'")
    says(lambda: robot.constrained_dynamics(held, q, v, v, {"foot-lf": np.ones(3)}), "wrench at 'foot-lf'", "6")
    says(lambda: robot.constrained_dynamics(held, q, v, v, {"fot": np.ones(6)}), "no frame is named 'fot'")
    says(lambda: robot.impact(held, q, v, "high"), "restitution", "float")
    says(lambda: robot.impact(held, q, v, [0.5, 2.0]), "restitution (sample 1): expected 0, plastic, to 1", "2.0")
    says(lambda: robot.impact(held, q, v, np.nan), "restitution: expected 0, plastic, to 1, without loss, got nan")
    says(
        lambda: impacts.impact(held.tree, held, q, v, -0.1),
        "restitution: expected 0, plastic, to 1, without loss, got -0.1",
    )
    says(lambda: robot.impact(held, q, v, active=[[1, 0], [1, np.nan]]), "active (sample 1): expected ones and zeros")
    says(lambda: robot.support_consistent_velocity(held, q, np.ones((2, 3)), np.ones(2)), "task", str(robot.nv))
    many, task = np.stack([q] * 3), np.ones((2, robot.nv))
    says(
        lambda: robot.support_consistent_velocity(held, many, task, np.ones((4, 2))), "do not broadcast", "(3,)", "(4,)"
    )
    says(lambda: robot.support_consistent_velocity(held, q, task, np.ones(3)), "wanted", "(..., 2)", "(3,)")
    says(lambda: robot.support_consistent_velocity(held, q, np.ones((0, robot.nv)), []), "task", "(..., m, ")
    says(lambda: robot.kernel("impact"), "needs constraints=")
    says(lambda: robot.kernel("constrained_dynamics", constraints=held, wrenches=5), "a list of frames, got 5")
    says(lambda: robot.kernel("constrained_dynamics", constraints=held, optional=5), "a list of inputs, got 5")
    says(lambda: robot.kernel("mass_matrix", constraints=held), "takes no constraints")
    says(lambda: robot.kernel("impact", constraints=held, optional="baumgarte"), "expected active, restitution")
    says(lambda: robot.evaluate(q, v, [("impact", list(held.constraints))]), "expected a name or a tuple")


def test_rows_that_contradict_each_other_are_met_as_nearly_as_can_be():
    """Redundant, at a velocity that they forbid: no motion meets all, and least squares is what is left."""
    robot, constraints = MACHINES["floating"]
    held = robot.constraints(constraints)
    q, v = robot.home(), np.random.default_rng(0).standard_normal(robot.nv)
    a, f = robot.constrained_dynamics(held, q, v, np.zeros(robot.nv))
    J = held.jacobian(q)
    left = J @ a + held.bias(q, v)
    assert np.abs(left).max() > 1e-3
    inner = J @ np.linalg.solve(robot.mass_matrix(q), J.T)
    near(inner @ left, np.zeros(held.rows), 1e-8 * np.abs(inner).max())
    near(robot.mass_matrix(q) @ a + robot.bias(q, v), J.T @ f, 1e-7 * np.abs(f).max())


def test_a_constraint_that_needs_more_than_the_robot_has():
    robot, _ = MACHINES["fixed"]
    far = robot.constraints([PointContact("far", "end", anchor=(9.0, 0.0, 0.0))])
    message = "cannot be met from here, an error of .* is left in the row 'far.x'"
    with pytest.raises(InputError, match=message):
        projection.projected_configuration(far.tree, far, np.array([0.1, 0.2, 0.3]))
    with pytest.raises(InputError, match=f"{message}.*sample 1"):
        projection.projected_configuration(far.tree, far, np.array([[0.1, 0.2, 0.3], [3.0, 0.2, 0.3]]))
