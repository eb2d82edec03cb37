"""The laws of constraints on random robots: every kind of row, redundant sets, fixed and floating, coupled joints.

A set is one to three constraints of any kinds, with copies under other names, hinges where a weld is already, and up to
four points of a surface, twelve rows of rank six. Some are more than the robot has velocities: it then stands still.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import constraint_projection as projection
from multibody.algorithms import coriolis, crba, energy, kinematics
from multibody.algorithms import impact as impacts
from multibody.algorithms.constraints import (
    Constraint,
    ConstraintSet,
    Distance,
    FrameContact,
    HingeClosure,
    JointCoupling,
    NoSlip,
    PointClosure,
    PointContact,
    RollingContact,
    SurfaceContact,
    Weld,
)
from multibody.geometry import Pose, Rotation
from multibody.model import base_velocity

from ..algorithms.states import REPRESENTATIONS, State, few, rate, states, twist
from .tools import near

CONTACTS = ("point", "surface", "frame", "no slip", "rolling")
LOOPS = ("point loop", "weld", "hinge", "distance")
SHIFT = np.array([0.3, -0.2, 0.1])
"""From where points are to where anchors want them: the same for all, so that anchors of one body agree."""


class Held(NamedTuple):
    """Constraints on a robot whose velocity v they allow, and u they do not."""

    s: State
    set: ConstraintSet
    v: np.ndarray
    u: np.ndarray
    tau: np.ndarray
    M: np.ndarray
    J: np.ndarray

    @property
    def inner(self) -> np.ndarray:
        """J M^-1 J^T."""
        return self.J @ np.linalg.solve(self.M, self.J.T)


def constraint(draw, s: State, name: str) -> Constraint | None:
    """One that suits the robot, or None where what was drawn needs more joints than there are."""
    moving = [frame for frame in s.model.frames if s.tree.frame(frame)[0]]
    single = [joint.name for joint in s.model.joints if joint.nv == 1]
    first, second = draw(st.sampled_from(moving)), draw(st.sampled_from((None, *s.model.frames)))
    kind = draw(st.sampled_from((*CONTACTS, *LOOPS, "coupling")))
    one, two = map(tuple, s.rng.uniform(-0.5, 0.5, (2, 3)))
    looped = second is None or s.tree.chain(first, second)
    if (kind in LOOPS and not looped) or (kind == "coupling" and len(single) < 2):
        return None
    here = kinematics.pose(s.tree, first, s.q)
    place = here @ np.array(one) + SHIFT
    match kind:
        case "point":
            return PointContact(name, first, one, tuple(place))
        case "surface":
            points = s.rng.uniform(-0.5, 0.5, (draw(st.integers(1, 4)), 3))
            anchors = here @ points + SHIFT if draw(st.booleans()) else None
            return SurfaceContact(name, first, points, anchors)
        case "frame":
            return FrameContact(name, first, Pose(here.rotation, here.position + SHIFT))
        case "no slip":
            return NoSlip(name, first, tuple(draw(st.sets(st.integers(0, 5), min_size=1))))
        case "rolling":
            normal, axle = (tuple(x / np.linalg.norm(x)) for x in s.rng.standard_normal((2, 3)))
            radius, offset = s.rng.uniform(0.1, 0.5, 2)
            return RollingContact(name, first, radius, normal, offset, draw(st.sampled_from((None, axle))))
        case "point loop":
            return PointClosure(name, first, second, one, two if second else tuple(place))
        case "weld" | "hinge":
            own = draw(st.sampled_from((Pose.identity(), Pose.random(s.rng))))
            other = own if second else Pose(Rotation.identity(), SHIFT) @ here @ own
            return (Weld if kind == "weld" else HingeClosure)(name, first, second, own, other)
        case "distance":
            return Distance(name, first, second, 0.5, one, two)
    ratio, offset, *higher = s.rng.uniform(-2, 2, 2 + draw(st.integers(0, 3)))
    return JointCoupling(name, *draw(st.permutations(single))[:2], ratio, offset, higher)


def copies(constraints: list[Constraint]) -> list[Constraint]:
    """The same rows once more, by the same kind or, for a weld, by a hinge."""
    found: list[Constraint] = []
    for one in constraints:
        if isinstance(one, Weld):
            found.append(HingeClosure(**(vars(one) | {"name": f"{one.name} again"})))
        else:
            found.append(type(one)(**(vars(one) | {"name": f"{one.name} again"})))
    return found


@st.composite
def sets(draw, again=None, most=3, **options):
    """A robot in a random state, and constraints; `again` adds copies or not, None leaves it to the draw."""
    s = draw(states(most=most, **options))
    assume(s.model.nv > 0)
    drawn = [constraint(draw, s, f"constraint{k}") for k in range(draw(st.integers(1, 3)))]
    found = [one for one in drawn if one is not None]
    assume(found)
    if draw(st.booleans()) if again is None else again:
        found += copies(found)
    return s, ConstraintSet(s.model, found)


def settled(s: State, found: ConstraintSet, gap: float = 1e-3) -> Held:
    """With a velocity that the constraints allow, when their rank is beyond doubt.

    The scaled rows J L^-T, M = L L^T, have no singular values between 1e-9 and the gap, relative to the largest.
    """
    M, J = crba.crba(s.tree, s.q), found.jacobian(s.q)
    assume(np.linalg.cond(M) < 1e5)
    values = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(M), J.T), compute_uv=False)
    assume(values.max() > gap)  # rows of rounding errors alone hold nothing
    assume(not ((values > 1e-9 * values.max()) & (values < gap * values.max())).any())
    allowed = s.v - np.linalg.pinv(J, rcond=1e-9) @ (J @ s.v)
    return Held(s, found, allowed, s.v, s.rng.standard_normal(s.model.nv), M, J)


@st.composite
def held(draw, gap=1e-3, **options):
    return settled(*draw(sets(**options)), gap)


def moved(model, one: Constraint, s: State) -> np.ndarray:
    """J v of a constraint by its meaning: rates of poses and coordinates, by differences."""

    def of(frame, representation="mixed"):
        H = kinematics.pose(model.tree, frame, s.q).matrix
        return twist(H, rate(s, lambda q, _: kinematics.pose(model.tree, frame, q).matrix), representation)

    def at_point(frame, point, mixed):
        arm = kinematics.pose(model.tree, frame, s.q).rotation @ point
        return mixed + np.concatenate([np.cross(mixed[3:], arm), np.zeros(3)])

    match one:
        case SurfaceContact():
            return np.concatenate(
                [rate(s, lambda q, _, p=p: kinematics.pose(model.tree, one.frame, q) @ np.array(p)) for p in one.points]
            )
        case FrameContact():
            return of(one.frame)
        case NoSlip():
            return of(one.frame, "left")[list(one.axes)]
        case Weld():
            ends = ((one.first, one.first_pose), (one.second, one.second_pose))
            first, second = (np.zeros(6) if f is None else at_point(f, pose.position, of(f)) for f, pose in ends)
            return first - second
        case RollingContact():  # of the matter at the contact, which is another from moment to moment
            centre, up = of(one.frame), np.array(one.normal)
            if one.axle is not None:  # the direction in the disc that points up the most
                axle = kinematics.pose(model.tree, one.frame, s.q).rotation @ np.array(one.axle)
                up = np.cross(np.cross(axle, up), axle)
                up /= np.linalg.norm(up)
            return centre[:3] - one.radius * np.cross(centre[3:], up)
    return rate(s, lambda q, _: one.error(model.tree, q))


@given(sets())
def test_rows_are_rates(case):
    """J v is the rate of what is held, and J' v that of J along v.  [RD 2.269-2.270, 3.59-3.61]"""
    s, found = case
    steady = s._replace(a=0 * s.a)
    J = found.jacobian(s.q)
    near(J @ s.v, np.concatenate([moved(s.model, one, steady) for one in found.constraints]), 1e-8)
    near(found.bias(s.q, s.v), rate(steady, lambda q, _: found.jacobian(q)) @ s.v, 1e-7)


@given(sets())
def test_errors_of_what_is_held_vanish(case):
    """An error of rotation has the rate J v where it is zero."""
    s, found = case
    for one in found.constraints:
        if isinstance(one, FrameContact) or (isinstance(one, Weld) and one.second is None):
            near(one.error(s.tree, s.q), np.append(-SHIFT, np.zeros(3)), 1e-12)
            near(rate(s, lambda q, _, one=one: one.error(s.tree, q)), one.jacobian(s.tree, s.q) @ s.v, 1e-8)


@given(held())
def test_accelerations_keep_the_constraints(c):
    """J a + J' v = 0 and M a + h = τ + J^T f; forces do no work, so that τ alone gives power.  [RD 3.54, 3.57-3.62]"""
    a, f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau)
    near(c.J @ a + c.set.bias(c.s.q, c.v), np.zeros(c.set.rows), 1e-8 * max(1.0, np.abs(a).max()))
    near(c.M @ a + coriolis.bias(c.s.tree, c.s.q, c.v), c.tau + c.J.T @ f, 1e-8)
    given_power = c.tau @ c.v
    near(energy.power(c.s.tree, c.s.q, c.v, a), given_power, 1e-7 * max(1.0, np.abs(f).max()))


@given(held())
def test_forces_are_in_the_force_basis(c):
    """W = J^T spans them, and W f gives no power to a velocity that the rows allow.  [Kindr §Dynamics; RD 3.57]"""
    W, f = c.set.force_basis(c.s.q), c.s.rng.standard_normal(c.set.rows)
    near(W, c.J.T, 1e-14)
    near(c.v @ (W @ f), 0.0, 1e-8 * max(1.0, np.abs(W @ f).max()))


@given(held(), st.data())
def test_rows_that_are_switched_off(c, data):
    """A mask of constraints is the set of the others; rows apart hold alone, and what is off has no force."""
    chosen = data.draw(st.lists(st.booleans(), min_size=len(c.set.constraints), max_size=len(c.set.constraints)))
    a, f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau, active=chosen)
    hit = impacts.impact(c.set.tree, c.set, c.s.q, c.u, active=chosen)
    on = np.repeat(chosen, [one.rows for one in c.set.constraints])
    assert not f[~on].any()
    assert not hit.impulse[~on].any()
    if any(chosen):
        rest = ConstraintSet(c.s.model, [one for one, kept in zip(c.set.constraints, chosen, strict=True) if kept])
        other = dynamics.constrained_dynamics(rest.tree, rest, c.s.q, c.v, c.tau)
        near(a, other.acceleration, 1e-6)
        near(f[on], other.force, 1e-6)
        near(hit.velocity, impacts.impact(rest.tree, rest, c.s.q, c.u).velocity, 1e-7)
    else:
        near(a, np.linalg.solve(c.M, c.tau - coriolis.bias(c.s.tree, c.s.q, c.v)), 1e-8)
        near(hit.velocity, c.u, 1e-12)


@given(held(), st.data())
def test_single_rows_that_hold(c, data):
    """J a + J' v = 0 on the rows that are on, and the equation of motion with their forces alone."""
    on = np.array(data.draw(st.lists(st.booleans(), min_size=c.set.rows, max_size=c.set.rows)))
    values = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(c.M), c.J[on].T), compute_uv=False)
    assume(values.min(initial=1.0) > 1e-3 * values.max(initial=1.0) or values.min(initial=1.0) < 1e-9)
    a, f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau, active=on)
    near((c.J @ a + c.set.bias(c.s.q, c.v))[on], np.zeros(on.sum()), 1e-7 * max(1.0, np.abs(a).max()))
    near(c.M @ a + coriolis.bias(c.s.tree, c.s.q, c.v), c.tau + c.J.T @ f, 1e-7)
    assert not f[~on].any()


@given(held(), st.floats(1.0, 30.0), st.floats(1.0, 30.0))
def test_baumgarte(c, stiffness, damping):
    """J a + J' v = -stiffness error - damping J v, for a velocity that is not allowed; nearest, if rows disagree."""
    a, f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.u, c.tau, baumgarte=(stiffness, damping))
    wanted = -stiffness * c.set.error(c.s.q) - damping * (c.J @ c.u)
    left = c.J @ a + c.set.bias(c.s.q, c.u) - wanted
    size = max(1.0, np.abs(a).max(), np.abs(wanted).max())
    near(c.inner @ left, np.zeros(c.set.rows), 1e-7 * size * max(1.0, np.abs(c.inner).max()))
    if np.linalg.matrix_rank(c.J, tol=1e-8) == c.set.rows:
        near(left, np.zeros(c.set.rows), 1e-7 * size)
    near(c.M @ a + coriolis.bias(c.s.tree, c.s.q, c.u), c.tau + c.J.T @ f, 1e-7)


@given(held())
def test_other_forms_agree(c):
    """The projected one, and a dense solution of [[M, -J^T], [J, 0]] [a, f] = [τ - h, -J' v].  [RD 3.63-3.65]"""
    a, f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau)
    near(projection.projected_equations(c.set.tree, c.set, c.s.q, c.v, c.tau), a, 1e-7)
    n, rows = c.s.model.nv, c.set.rows
    K = np.block([[c.M, -c.J.T], [c.J, np.zeros((rows, rows))]])
    right = np.concatenate([c.tau - coriolis.bias(c.s.tree, c.s.q, c.v), -c.set.bias(c.s.q, c.v)])
    solution = np.linalg.lstsq(K, right, rcond=1e-11)[0]  # of all, that of least norm, which has the least forces
    near(solution[:n], a, 1e-6)
    near(solution[n:], f, 1e-6)


@given(held())
def test_the_projector(c):
    """J N_c = 0, N_c is a projector, N_c M^-1 is symmetric, and nothing that J allows is lost.  [RD 3.63]"""
    N = projection.null_space_projector(c.M, c.J)
    near(c.J @ N, np.zeros_like(c.J), 1e-8)
    near(N @ N, N, 1e-8)
    mobility = N @ np.linalg.inv(c.M)
    near(mobility, mobility.T, 1e-8)
    near(N @ c.v, c.v, 1e-8)


@given(held(again=True))
def test_redundant_rows_share_the_load(c):
    """Copies change no acceleration; no force acts against itself, and a constraint and its copy push alike."""
    a, f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau)
    once = ConstraintSet(c.s.model, c.set.constraints[: len(c.set.constraints) // 2])
    near(dynamics.constrained_dynamics(once.tree, once, c.s.q, c.v, c.tau).acceleration, a, 1e-7)
    idle = np.linalg.svd(c.J)[0][:, np.linalg.matrix_rank(c.J, tol=1e-8) :]
    size = max(1.0, np.abs(f).max())
    near(idle.T @ f, np.zeros(idle.shape[1]), 1e-8 * size)
    places = c.set.slices()
    for one in once.constraints:
        if not isinstance(one, Weld):
            near(f[places[one.name]], f[places[f"{one.name} again"]], 1e-7 * size)


@given(held())
def test_the_exact_method(c):
    """Rows without redundancy have one set of forces."""
    if np.linalg.matrix_rank(c.J, tol=1e-8) < c.set.rows:
        return
    a, f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau)
    exact = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau, method="exact")
    near(exact.acceleration, a, 1e-7)
    near(exact.force, f, 1e-7)


@given(held())
def test_plastic_impacts(c):
    """Energy never grows, and both forms of the loss agree.  [RD 3.66-3.72]"""
    after, impulse, loss = impacts.impact(c.set.tree, c.set, c.s.q, c.u)
    near(c.J @ after, np.zeros(c.set.rows), 1e-8)
    near(c.M @ (after - c.u), c.J.T @ impulse, 1e-8)
    before = energy.kinetic_energy(c.s.tree, c.s.q, c.u)
    assert loss >= -1e-12 * before
    near(energy.kinetic_energy(c.s.tree, c.s.q, after), before - loss, 1e-9)
    change, slip = after - c.u, c.J @ c.u
    near(loss, change @ c.M @ change / 2, 1e-8 * max(1.0, before))
    near(loss, slip @ np.linalg.pinv(c.inner, rcond=1e-9, hermitian=True) @ slip / 2, 1e-8 * max(1.0, before))
    near(after, projection.null_space_projector(c.M, c.J) @ c.u, 1e-8)


@given(held(), st.floats(0.0, 1.0))
def test_restitution(c, e):
    """J v⁺ = -e J v⁻, and the loss is 1 - e² of the plastic one."""
    plastic, partial = impacts.impact(c.set.tree, c.set, c.s.q, c.u), impacts.impact(c.set.tree, c.set, c.s.q, c.u, e)
    near(c.J @ partial.velocity, -e * (c.J @ c.u), 1e-8)
    near(partial.energy_loss, (1 - e**2) * plastic.energy_loss, 1e-8 * max(1.0, float(plastic.energy_loss)))


@few
@given(held(floating=True, passive=False))
def test_forces_do_not_depend_on_the_representation_of_the_base(c):
    """The same motion and torques; without armature, which is by definition on the robot's own velocities."""
    f = dynamics.constrained_dynamics(c.set.tree, c.set, c.s.q, c.v, c.tau).force
    lost = impacts.impact(c.set.tree, c.set, c.s.q, c.u).energy_loss
    v, u = (base_velocity.to_left(c.s.tree, c.s.q, x) for x in (c.v, c.u))
    tau = base_velocity.force_to_left(c.s.tree, c.s.q, c.tau)
    for velocity in ("kindr", *REPRESENTATIONS):
        other = c.s.model.with_(velocity=velocity)
        same = ConstraintSet(other, c.set.constraints)
        v_, u_ = (base_velocity.from_left(other.tree, c.s.q, x) for x in (v, u))
        tau_ = base_velocity.force_from_left(other.tree, c.s.q, tau)
        near(dynamics.constrained_dynamics(same.tree, same, c.s.q, v_, tau_).force, f, 1e-6)
        near(impacts.impact(same.tree, same, c.s.q, u_).energy_loss, lost, 1e-7)
