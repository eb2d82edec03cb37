"""The embedded robots: built, consistent, and with the figures and formulas that their sources print."""

import inspect
import math
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.geometry import groups
from multibody.model import check_configuration, configuration, robots
from multibody.model.joints import Floating

from ..every_law import each_case
from .by_hand import gravity_forces, jacobians, mass_matrix, model_of, pose, position_jacobian

DOFS = {
    "planar-arm": (3, 3),
    "scara": (4, 4),
    "zyx-wrist": (3, 3),
    "cart-pendulum": (2, 2),
    "double-pendulum": (2, 2),
    "branching-figure": (8, 7),
    "puma-560": (6, 6),
    "panda": (7, 7),
    "quadruped": (7 + 12, 6 + 12),
    "humanoid": (7 + 29, 6 + 29),
    "quadrotor": (7, 6),
    "free-body-r1": (1, 1),
    "free-body-r2": (2, 2),
    "free-body-r3": (3, 3),
    "free-body-so2": (1, 1),
    "free-body-so3": (4, 3),
    "free-body-se2": (3, 3),
    "free-body-se3": (7, 6),
    "free-body-helical": (1, 1),
    "free-body-schoenflies": (4, 4),
}
FREE_BODIES = {
    "r1": groups.R1(),
    "r2": groups.R2(),
    "r3": groups.R3(),
    "so2": groups.SO2(),
    "so3": groups.SO3(),
    "se2": groups.SE2(),
    "se3": groups.SE3(),
    "helical": groups.Helical(0.05),
    "schoenflies": groups.Schoenflies("z"),
}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


# ---- all of them -----------------------------------------------------------------------------------------------------


def test_names() -> None:
    assert robots.names() == tuple(DOFS)


@pytest.mark.parametrize("name", DOFS)
def test_every_robot_builds_and_is_consistent(name: str, rng: np.random.Generator) -> None:
    model = model_of(name)
    assert model.name == name
    assert (model.nq, model.nv) == DOFS[name]
    assert model == model_of(name)
    for link in model.links:
        if link.inertia is not None:
            link.inertia.check()
    q = configuration.random(model.tree, rng)
    assert np.linalg.eigvalsh(mass_matrix(model, q)).min() > 1e-5
    assert any(link.visuals for link in model.links)
    for shape in (shape for link in model.links for shape in link.visuals):
        assert shape.color is not None
        assert all(0.0 <= c <= 1.0 for c in shape.color)


@each_case("name", DOFS)
def test_home_and_neutral_are_within_the_limits(name: str) -> None:
    model = model_of(name)
    if model.home is not None:
        check_configuration.check(model.tree, model.home)
    if name == "panda":
        with pytest.raises(InputError, match="joint4"):
            check_configuration.check(model.tree, configuration.neutral(model.tree))
    else:
        check_configuration.check(model.tree, configuration.neutral(model.tree))


@each_case("name", DOFS)
def test_a_floating_base_goes_in_front(name: str) -> None:
    fixed = model_of(name)
    rooted = [joint for joint in fixed.description if joint.parent is None]  # they say themselves what holds them
    if rooted and not isinstance(rooted[0].kind, Floating):
        with pytest.raises(InputError, match=r"cannot float, the joint '.*' holds it to the world"):
            robots.build(name).model(floating=True)
        return
    floating = robots.build(name).model(floating=True)
    assert floating.nv == fixed.nv + (0 if rooted else 6)
    if fixed.home is not None:
        assert floating.home is not None
        assert floating.home[len(floating.home) - fixed.nq :] == fixed.home
        check_configuration.check(floating.tree, floating.home)


@each_case("name", DOFS)
def test_descriptions(name: str) -> None:
    about = robots.describe(name)
    assert about.name == name
    assert about.summary.endswith(".")
    assert "\n" not in str(about)
    assert about.source.endswith(".")


@pytest.mark.parametrize("name", ["quadruped", "humanoid", "quadrotor", "free-body-se3"])
def test_robots_without_ground_float_by_themselves(name: str) -> None:
    assert model_of(name).tree.floating


def test_wrong_names_and_options() -> None:
    with pytest.raises(InputError, match="'planar-amr'; did you mean 'planar-arm'"):
        robots.build("planar-amr")
    with pytest.raises(InputError, match="no robot is named 7"):
        robots.describe(7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="planar-arm: expected options out of: lengths, masses; got length"):
        robots.build("planar-arm", length=2.0)
    with pytest.raises(InputError, match=r"puma-560: expected options out of: none; got lengths"):
        robots.build("puma-560", lengths=2.0)
    with pytest.raises(InputError, match="lengths: expected 4 positive finite numbers"):
        robots.build("planar-arm", lengths=(1.0, 1.0, 0.0, 1.0))
    with pytest.raises(InputError, match="mass: expected 1 positive finite number, got nan"):
        robots.build("humanoid", mass=math.nan)
    with pytest.raises(InputError, match="pitch"):
        robots.build("free-body-helical", pitch=math.inf)


# ---- the examples of the lecture notes and the tutorial --------------------------------------------------------------


def test_planar_arm_forward_kinematics(rng: np.random.Generator) -> None:
    """[RD 2.141-2.142, 2.149, 2.171]"""
    l0, l1, l2, l3 = lengths = (0.5, 1.1, 0.8, 0.3)
    model = model_of("planar-arm", lengths=lengths)
    for q in configuration.random(model.tree, rng, (10,)):
        a, b, c = np.cumsum(q)
        x = l1 * np.sin(a) + l2 * np.sin(b) + l3 * np.sin(c)
        z = l0 + l1 * np.cos(a) + l2 * np.cos(b) + l3 * np.cos(c)
        W_H_tool = pose(model, "tool", q)
        assert W_H_tool.position == pytest.approx([x, 0.0, z], abs=1e-14)
        C_I3 = [[np.cos(c), 0, np.sin(c)], [0, 1, 0], [-np.sin(c), 0, np.cos(c)]]
        assert W_H_tool.rotation.matrix == pytest.approx(np.array(C_I3), abs=1e-14)
        c1, s1, c12, s12, c123, s123 = np.cos(a), np.sin(a), np.cos(b), np.sin(b), np.cos(c), np.sin(c)
        J = [
            [l1 * c1 + l2 * c12 + l3 * c123, l2 * c12 + l3 * c123, l3 * c123],
            [-l1 * s1 - l2 * s12 - l3 * s123, -l2 * s12 - l3 * s123, -l3 * s123],
        ]
        assert position_jacobian(model, "tool", q)[[0, 2]] == pytest.approx(np.array(J), abs=1e-8)


def test_planar_arm_has_unit_lengths() -> None:
    assert pose(model_of("planar-arm"), "tool", np.zeros(3)).position == pytest.approx([0.0, 0.0, 4.0])


def test_scara_has_the_coordinates_of_the_example(rng: np.random.Generator) -> None:
    """q = (alpha, beta, gamma, zeta), and x, y, z, phi are its operational space.  [RD 2.132, 2.136]"""
    model = model_of("scara", upper=0.4, fore=0.3, height=0.5)
    assert [joint.name for joint in model.joints] == ["alpha", "beta", "gamma", "zeta"]
    for alpha, beta, gamma, zeta in configuration.random(model.tree, rng, (10,)):
        W_H_tool = pose(model, "tool", [alpha, beta, gamma, zeta])
        x = 0.4 * np.cos(alpha) + 0.3 * np.cos(alpha + beta)
        y = 0.4 * np.sin(alpha) + 0.3 * np.sin(alpha + beta)
        assert W_H_tool.position == pytest.approx([x, y, 0.5 + zeta], abs=1e-14)
        turn = W_H_tool.rotation.rotation_vector - [0.0, 0.0, alpha + beta + gamma]
        assert turn[:2] == pytest.approx([0.0, 0.0], abs=1e-12)
        assert math.remainder(turn[2], 2 * math.pi) == pytest.approx(0.0, abs=1e-12)


def test_zyx_wrist_has_euler_angles_as_coordinates(rng: np.random.Generator) -> None:
    """[RD 2.41, 2.245-2.247]"""
    model = model_of("zyx-wrist", length=0.2)
    assert model.home == (-0.7, 0.0, 1.5)
    for q in rng.uniform(-1.5, 1.5, (10, 3)):
        W_H_tool = pose(model, "tool", q)
        assert W_H_tool.rotation.euler("zyx") == pytest.approx(q, abs=1e-12)
        assert W_H_tool.position == pytest.approx(0.2 * W_H_tool.rotation.matrix[:, 0], abs=1e-15)
        z, y, _ = q
        J = [
            [0, -np.sin(z), np.cos(y) * np.cos(z)],
            [0, np.cos(z), np.cos(y) * np.sin(z)],
            [1, 0, -np.sin(y)],
        ]
        W_J = W_H_tool.rotation.matrix @ jacobians(model, q)[-1][3:]
        assert pytest.approx(np.array(J), abs=1e-14) == W_J


def test_cart_pendulum_equations_of_motion() -> None:
    """M and g as one derives them by hand for [RD Ex. 3.3.1]."""
    mc, mp, l, theta, phi = 2.0, 0.7, 0.4, 0.05, 0.6
    model = model_of("cart-pendulum", cart_mass=mc, pendulum_mass=mp, length=l, inertia=theta)
    q = [0.3, phi]
    M = [[mc + mp, mp * l * np.cos(phi)], [mp * l * np.cos(phi), theta + mp * l**2]]
    assert mass_matrix(model, q) == pytest.approx(np.array(M))
    assert gravity_forces(model, q) == pytest.approx([0.0, mp * 9.81 * l * np.sin(phi)])
    tip = pose(model, "tip", q).position
    assert tip == pytest.approx([0.3 + 2 * l * np.sin(phi), 0.0, -2 * l * np.cos(phi)])
    assert model.actuators is not None
    assert [actuator.joint for actuator in model.actuators] == ["slider"]


def test_double_pendulum_equations_of_motion() -> None:
    (l1, l2), (m1, m2), (q1, q2) = (0.9, 0.6), (1.2, 0.8), (0.7, -0.4)
    model = model_of("double-pendulum", lengths=(l1, l2), masses=(m1, m2))
    I1, I2 = (m * l**2 * (1 / 12 + 0.02**2 / 4) for m, l in ((m1, l1), (m2, l2)))
    M22 = I2 + m2 * l2**2 / 4
    M12 = M22 + m2 * l1 * l2 / 2 * np.cos(q2)
    M11 = I1 + m1 * l1**2 / 4 + m2 * l1**2 + M22 + m2 * l1 * l2 * np.cos(q2)
    assert mass_matrix(model, [q1, q2]) == pytest.approx(np.array([[M11, M12], [M12, M22]]))
    g2 = m2 * 9.81 * l2 / 2 * np.sin(q1 + q2)
    g1 = (m1 / 2 + m2) * 9.81 * l1 * np.sin(q1) + g2
    assert gravity_forces(model, [q1, q2]) == pytest.approx([g1, g2])
    assert model.actuators == ()


def test_branching_figure_is_that_of_the_tutorial() -> None:
    """p(k), n(k), p(1, 4) and the matrix D.  [QT §5.1, QT 64]"""
    model = model_of("branching-figure")
    assert [body.name for body in model.bodies] == ["link1", "link2", "link3", "link4"]
    assert [body.parent for body in model.bodies] == [0, 1, 2, 2]
    assert [joint.nv for joint in model.joints] == [2, 3, 1, 1]
    assert model.tree.support(4) == (1, 2, 4)
    D = np.eye(4)
    for i, p, _ in model.tree.outward():
        if p:
            D[i - 1, p - 1] = -1
    assert D.tolist() == [[1, 0, 0, 0], [-1, 1, 0, 0], [0, -1, 1, 0], [0, -1, 0, 1]]


def test_there_is_a_free_body_for_every_group() -> None:
    known = {type(group) for group in FREE_BODIES.values()}
    all_groups = {g for g in vars(groups).values() if inspect.isclass(g) and issubclass(g, groups.Group)}
    assert known == all_groups - {groups.Group}
    assert {f"free-body-{key}" for key in FREE_BODIES} == {n for n in robots.names() if n.startswith("free-body")}


@pytest.mark.parametrize("key", FREE_BODIES)
def test_free_bodies_have_the_inertia_of_their_group(key: str, rng: np.random.Generator) -> None:
    """M = H^T I H everywhere.  [From 60]"""
    model = model_of(f"free-body-{key}", mass=2.5, com=(0.1, 0.0, -0.2), size=(0.3, 0.2, 0.1))
    H, I = FREE_BODIES[key].H, model.bodies[-1].inertia.matrix
    assert I[0, 0] == 2.5
    for q in configuration.random(model.tree, rng, (3,)):
        assert mass_matrix(model, q) == pytest.approx(H.T @ I @ H, abs=1e-14)


def test_free_bodies_turn_about_their_centre_of_mass_by_default() -> None:
    """diag(m, m, I_z)  [From 86]"""
    assert mass_matrix(model_of("free-body-se2"), np.zeros(3)) == pytest.approx(np.diag([6.0, 6.0, 0.065]))


def test_the_page_lists_every_robot() -> None:
    """docs/robots-embedded.md has a row for each name, with its nq and nv."""
    page = (Path(__file__).parents[2] / "docs" / "robots-embedded.md").read_text("utf-8")
    for name, (nq, nv) in DOFS.items():
        assert f"| `{name}` | {nq} / {nv} |" in page


@pytest.mark.parametrize("name", ["panda", "puma-560", "double-pendulum", "zyx-wrist"])
def test_right_angles_are_exact(name):
    """A cosine of 6e-17 where there is a zero costs operations in every kernel."""
    robot = mb.load(name)
    for body in robot.bodies:
        place = body.joint.placement
        numbers = np.concatenate([place.rotation.matrix.ravel(), place.position, body.inertia.parameters()])
        assert not ((numbers != 0) & (abs(numbers) < 1e-12)).any(), body.name
