"""Maximal and generalized coordinates: velocities and forces both ways, as printed, and the slips.  [QT §6-6.2]"""

import numpy as np
import pytest
from hypothesis import given, settings

import multibody as mb
from multibody.algorithms import kinematics
from multibody.algorithms.maximal_coordinates import forces, velocities
from multibody.geometry import Pose, SpatialInertia
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joints import Floating, Helical, Prismatic, Revolute, Spherical

from ..algorithms.states import rate, states, twist
from .truth import differ, hat, same

few = settings(max_examples=max(4, settings.default.max_examples // 3))


def inertia(com=(0.1, -0.2, 0.3)):
    return SpatialInertia(mass=2.0, com=com, inertia=np.diag([0.2, 0.3, 0.4]))


def chain(*kinds, seed=5, massless=()):
    """Links on joints of some kinds, one after the other."""
    rng = np.random.default_rng(seed)
    b = Builder("chain")
    for k, kind in enumerate(kinds):
        b.body(f"link{k}", None if k in massless else inertia())
        b.joint(f"joint{k}", kind, parent=f"link{k - 1}" if k else None, child=f"link{k}", placement=Pose.random(rng))
    return b.model()


def state(model, seed=7, batch=()):
    rng = np.random.default_rng(seed)
    return configuration.random(model.tree, rng, batch), *rng.normal(size=(2, *batch, model.nv))


def flat(J):
    """(m, rows, nv) as one matrix over all links."""
    return J.reshape(-1, J.shape[-1])


def near(a, b, tolerance=1e-8):
    """As `same`, also for a robot without joints."""
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max(initial=1.0))


@pytest.fixture(scope="module")
def figure():
    """The articulated system of figure 1: joints of 2, 3, 1 and 1 degrees of freedom, p(3) = p(4) = 2."""
    return mb.load("branching-figure").model


# ---- section 6.1: velocities -----------------------------------------------------------------------------------------


@few
@given(states())
def test_velocities_of_links_by_their_definition(s):
    """[QT 57-58, 60]: the rates of x_k and R_k along the motion, and J v."""
    V = velocities.link_velocities(s.model, s.q, s.v)
    names = velocities.link_names(s.model)
    assert V.shape == (len(names), 6)
    for k, name in enumerate(names):
        com = Pose(rotation=mb.Rotation.identity(), position=s.model.link(name).inertia.com)

        def place(q, _, name=name, com=com):
            return (kinematics.pose(s.tree, name, q) @ com).matrix

        same(V[k], twist(place(s.q, s.v), rate(s, place), "mixed"), 1e-8)
    near(velocities.link_jacobian(s.model, s.q) @ s.v, V, 1e-12)


@few
@given(states())
def test_velocities_back(s):
    """[QT 61, 66]: at once and joint by joint, the same v comes back; joints that share velocities too."""
    V = velocities.link_velocities(s.model, s.q, s.v)
    near(velocities.joint_velocities(s.model, s.q, V), s.v)
    near(velocities.joint_velocities_by_joint(s.model, s.q, V), s.v)
    near(velocities.check_velocities(s.model, s.q, V), s.v)


@pytest.mark.parametrize("seed", range(3))
def test_the_pseudo_inverse_is_the_least_squares_solution(seed):
    """[QT 61]: of a V that no v gives, as numpy.linalg.lstsq finds it."""
    model = mb.load("quadruped").model
    rng = np.random.default_rng(seed)
    q = configuration.random(model.tree, rng)
    V = rng.normal(size=(len(velocities.link_names(model)), 6))
    J = flat(velocities.link_jacobian(model, q))
    same(velocities.joint_velocities(model, q, V), np.linalg.lstsq(J, V.ravel(), rcond=None)[0], 1e-10)


def test_connectivity_as_printed(figure):
    """[QT 64]"""
    I, O = np.eye(3), np.zeros((3, 3))
    printed = np.block([[I, O, O, O], [-I, I, O, O], [O, -I, I, O], [O, -I, O, I]])
    np.testing.assert_array_equal(velocities.connectivity(figure), printed)


def test_relative_angular_velocities(figure):
    """[QT 62-63, 65]: D ω = R Ĵ_ω q', ω̂ = R^T D ω, Ĵ_ω = R^T D J_ω, block diagonal."""
    q, v, _ = state(figure)
    D, R = velocities.connectivity(figure), velocities.parent_rotations(figure, q)
    w, hat_J = velocities.link_velocities(figure, q, v)[:, 3:], velocities.local_jacobian(figure, q)
    full = np.zeros((12, 12))
    for k, block in enumerate(R):
        full[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    for k, name in enumerate(("link2", "link3")):
        parent = ("link1", "link2")[k]
        same(R[k + 1], kinematics.pose(figure.tree, parent, q).rotation.matrix)
        assert velocities.link_names(figure)[k + 1] == name
    same(D @ w.ravel(), full @ flat(hat_J) @ v, 1e-12)
    same(velocities.relative_angular_velocities(figure, q, w).ravel(), full.T @ D @ w.ravel(), 1e-12)
    J_w = velocities.link_jacobian(figure, q)[:, 3:]
    same(flat(hat_J), full.T @ D @ flat(J_w), 1e-12)
    own = [{0, 1}, {2, 3, 4}, {5}, {6}]
    assert [set(np.flatnonzero(np.abs(block).max(axis=0) > 1e-12)) for block in hat_J] == own


@few
@given(states(massless=0.7))
def test_frames_of_parents(s):
    """[QT 63, 65]: R^0_p(k) is of the parent link itself, also where links are welded; Ĵ_ω = R^T D J_ω."""
    names, D = velocities.link_names(s.model), velocities.connectivity(s.model)[::3, ::3]
    R = velocities.parent_rotations(s.model, s.q)
    relative = np.einsum("kl,lij->kij", D, velocities.link_jacobian(s.model, s.q)[:, 3:])
    for k, name in enumerate(names):
        parents = [names[p] for p in np.flatnonzero(D[k] == -1)]
        expected = kinematics.pose(s.tree, parents[0], s.q).rotation.matrix if parents else np.eye(3)
        near(R[k], expected, 1e-12)
        assert D[k, k] == 1, name
    near(velocities.local_jacobian(s.model, s.q), np.einsum("kji,kjn->kin", R, relative), 1e-11)


def test_rotations_alone_tell_joints_that_turn(figure):
    """[QT 66]: J_ω^+ ω and the small pseudo-inverses give v, whatever the linear velocities are."""
    q, v, _ = state(figure)
    V = velocities.link_velocities(figure, q, v)
    J_w = flat(velocities.link_jacobian(figure, q)[:, 3:])
    same(np.linalg.pinv(J_w) @ V[:, 3:].ravel(), v, 1e-10)
    V[:, :3] = 17.0
    same(velocities.joint_velocities_by_joint(figure, q, V), v, 1e-10)


# ---- section 6.2: forces ---------------------------------------------------------------------------------------------


@few
@given(states())
def test_generalized_forces_have_the_same_power(s):
    """[QT 67]: Q v = Σ f_k v_k + τ_k ω_k; with points, the torque of f comes to τ'."""
    m = len(velocities.link_names(s.model))
    F, r = s.rng.normal(size=(m, 6)), s.rng.normal(size=(m, 3))
    V, J = velocities.link_velocities(s.model, s.q, s.v), velocities.link_jacobian(s.model, s.q)
    Q = forces.generalized_force(s.model, s.q, F)
    near(Q, np.einsum("kij,ki->j", J, F), 1e-11)
    near(Q @ s.v, (F * V).sum(), 1e-11 * max(1.0, np.abs(F * V).sum()))
    moved = forces.at_centres(s.model, s.q, F, r)
    at_points = forces.generalized_force(s.model, s.q, F, points=r)
    near(at_points, forces.generalized_force(s.model, s.q, moved), 1e-10)


@few
@given(states())
def test_forces_of_a_generalized_force(s):
    """[QT 70]: the smallest F, and that of the joints one by one, both give Q."""
    Q = s.rng.normal(size=s.model.nv)
    least = forces.least_forces(s.model, s.q, Q)
    pairs = forces.applied_forces(s.model, s.q, Q)
    for F in (least, pairs):
        near(forces.generalized_force(s.model, s.q, F), Q)
    assert np.linalg.norm(least) <= np.linalg.norm(pairs) * (1 + 1e-9)


def test_the_smallest_forces(figure):
    """[QT 70]: (J^T)^+ Q as numpy.linalg.pinv finds it; with points, f and joint torques [QT 69]."""
    q, Q, _ = state(figure)
    J = flat(velocities.link_jacobian(figure, q))
    same(forces.least_forces(figure, q, Q).ravel(), np.linalg.pinv(J.T) @ Q, 1e-10)
    points = np.random.default_rng(3).normal(size=(4, 3))
    f, torques = forces.least_forces_and_torques(figure, q, Q, points)
    F = np.concatenate([f, np.zeros((4, 3))], axis=-1)
    both = forces.generalized_force(figure, q, F, points=points)
    same(both + forces.generalized_force_of_torques(figure, q, torques), Q, 1e-10)
    by_link = J.reshape(4, 6, -1)
    J_v = by_link[:, :3] - hat(points - _centres(figure, q)) @ by_link[:, 3:]
    A = np.concatenate([flat(J_v), flat(velocities.local_jacobian(figure, q))])
    same(np.concatenate([f.ravel(), torques.ravel()]), np.linalg.pinv(A.T) @ Q, 1e-10)


def _centres(model, q):
    return np.array(
        [kinematics.pose(model.tree, n, q) @ model.link(n).inertia.com for n in velocities.link_names(model)]
    )


def test_joint_torques(figure):
    """[QT 68-69, 71]: τ̂ of Q, on link and parent, gives Q again; τ' = D^T R τ̂; torques alone are applied."""
    q, Q, _ = state(figure)
    torques = forces.joint_torques(figure, q, Q)
    for k, columns in enumerate([(0, 1), (2, 3, 4), (5,), (6,)]):
        block = velocities.local_jacobian(figure, q)[k][:, columns]
        same(torques[k], np.linalg.pinv(block.T) @ Q[list(columns)], 1e-10)
    R, D = velocities.parent_rotations(figure, q), velocities.connectivity(figure)
    body = forces.body_torques(figure, q, torques)
    same(body.ravel(), D.T @ np.einsum("kij,kj->ki", R, torques).ravel(), 1e-12)
    same(forces.generalized_force_of_torques(figure, q, torques), Q, 1e-10)
    F = np.concatenate([np.zeros((4, 3)), body], axis=-1)
    same(forces.generalized_force(figure, q, F), Q, 1e-10)
    same(forces.applied_forces(figure, q, Q), F, 1e-10)


def test_joint_torques_leave_sliding_out():
    """[QT 71]: Q_k are the components of rotational velocities; forces of a floating base and of sliders are not."""
    model = chain(Floating(), Prismatic("x"), Helical("y", pitch=0.3), Spherical())
    q, Q, _ = state(model)
    turning = np.array([0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1])
    torques = forces.joint_torques(model, q, Q)
    same(forces.generalized_force_of_torques(model, q, torques), Q * turning, 1e-10)


# ---- slips of the text -----------------------------------------------------------------------------------------------


def test_qt16_pseudo_inverses_agree_on_consistent_velocities_alone(figure):
    """[QT 66]: J_ω^+ is not Ĵ_ω^+ R^T D, for D is not orthogonal; they agree on ω that some q' gives."""
    q, v, _ = state(figure)
    V = velocities.link_velocities(figure, q, v)
    J_w = flat(velocities.link_jacobian(figure, q)[:, 3:])
    same(velocities.joint_velocities_by_joint(figure, q, V), np.linalg.pinv(J_w) @ V[:, 3:].ravel(), 1e-10)
    V[:, 3:] += np.random.default_rng(1).normal(size=(4, 3))
    differ(velocities.joint_velocities_by_joint(figure, q, V), np.linalg.pinv(J_w) @ V[:, 3:].ravel())


def test_qt17_consistent_rotations_do_not_make_linear_velocities_consistent(figure):
    """[QT 66], the note after it: q' that satisfies ω = J_ω q' satisfies v = J_v q' only if some q' gives V."""
    q, v, _ = state(figure)
    V = velocities.link_velocities(figure, q, v)
    V[2, :3] += 0.5
    found = velocities.joint_velocities_by_joint(figure, q, V)
    again = velocities.link_velocities(figure, q, found)
    same(again[:, 3:], V[:, 3:], 1e-10)
    differ(again[2, :3], V[2, :3])


def test_qt18_a_sliding_joint_needs_the_velocity_relative_to_its_parent():
    """[QT §6.1], the end: q'_k = J_vk^+ v_k holds for the root; beyond it, v_k has the parent's motion too."""
    model = chain(Prismatic("x"), Revolute("y"), Prismatic("z"))
    q, v, _ = state(model)
    V, J = velocities.link_velocities(model, q, v), velocities.link_jacobian(model, q)
    same(np.linalg.pinv(J[0, :3, :1]) @ V[0, :3], v[:1], 1e-10)
    differ(np.linalg.pinv(J[2, :3, 2:]) @ V[2, :3], v[2:])
    same(velocities.joint_velocities_by_joint(model, q, V), v, 1e-10)


def test_qt19_forces_without_known_points_act_at_the_centres(figure):
    """[QT 70]: J'_v is printed; τ that includes the torque of f goes with J_v of the centres of mass."""
    q, Q, _ = state(figure)
    F = forces.least_forces(figure, q, Q)
    points = _centres(figure, q) + 0.3
    same(forces.generalized_force(figure, q, F), Q, 1e-10)
    differ(forces.generalized_force(figure, q, F, points=points), Q)


def test_qt20_the_primes_of_jacobians_at_points(figure):
    """[QT 67] and the text after it: J_vk^T f_k on the left is that of the point, or the arm would give no torque."""
    q, _, _ = state(figure)
    rng = np.random.default_rng(4)
    F, points = np.zeros((4, 6)), rng.normal(size=(4, 3))
    F[:, :3] = rng.normal(size=(4, 3))
    at_points = forces.generalized_force(figure, q, F, points=points)
    J, arm = velocities.link_jacobian(figure, q), points - _centres(figure, q)
    printed = np.einsum("kij,ki->j", J[:, :3], F[:, :3])
    differ(printed, at_points)
    same(printed + np.einsum("kij,ki->j", J[:, 3:], np.cross(arm, F[:, :3])), at_points, 1e-11)


def test_qt21_more_rows_than_columns_are_not_enough():
    """[QT §6.1], before 61: J of 6 rows and 3 Euler angles has the rank 2 where their axes lie in a plane."""
    b = Builder("euler")
    b.body("a").body("b").body("top", inertia())
    for k, (parent, child) in enumerate(((None, "a"), ("a", "b"), ("b", "top"))):
        b.joint(f"joint{k}", Revolute("zyx"[k]), parent=parent, child=child)
    model = b.model()
    for pitch, rank in ((0.3, 3), (np.pi / 2, 2)):
        J = velocities.link_jacobian(model, np.array([0.4, pitch, 0.7]))[0]
        assert np.linalg.matrix_rank(J, tol=1e-9) == rank
