"""The equations that From prints for each group, from derivatives of S and from Boltzmann–Hamel, symbol by symbol."""

from dataclasses import replace

import pytest
import sympy as sp

import multibody as mb
from multibody.derive import equations, from_robot, on_group, rate, symbols
from multibody.derive.methods.bodies_on_groups import ad, derivatives, inertia
from multibody.geometry import groups

m, I_x, I_y, I_z = symbols("m I_x I_y I_z")
u, v, w, p, q, r = TWIST = symbols("u v w p q r")
du, dv, dw, dp, dq, dr = map(rate, TWIST)


def same(rows, printed):
    assert len(rows) == len(printed)
    for row, line in zip(rows, printed, strict=True):
        assert sp.expand(row - line) == 0, f"{row} is not {line}"


def symmetric(n, letter="M"):
    """Any inertia."""
    return sp.Matrix(n, n, lambda i, j: sp.Symbol(f"{letter}_{min(i, j)}{max(i, j)}", real=True))


def hat(x):
    """[From 6]"""
    return sp.Matrix([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


EULER = (
    I_x * dp - (I_y - I_z) * q * r,  # [From 2]
    I_y * dq - (I_z - I_x) * r * p,  # [From 3]
    I_z * dr - (I_x - I_y) * p * q,  # [From 4]
)
FREE = (  # [From §4.2], the last with the p that the print has as r: From13 in docs/errata.md
    m * du - m * r * v + m * q * w,
    m * dv + m * r * u - m * p * w,
    m * dw - m * q * u + m * p * v,
    I_x * dp - I_y * r * q + I_z * q * r,
    I_y * dq + I_x * r * p - I_z * p * r,
    I_z * dr - I_x * q * p + I_y * p * q,
)
PLANAR = (m * du - m * r * v, m * dv + m * r * u, I_z * dr)  # [From 87]
SCHOENFLIES = (m * du - m * r * v, m * dv + m * r * u, m * dw, I_z * dr)  # [From 96]
TRANSLATION = (m * du, m * dv, m * dw)  # [From §4.5]
PRINTED = {
    "so3": (groups.SO3(), "p q r", EULER),
    "se3": (groups.SE3(), "u v w p q r", FREE),
    "se2": (groups.SE2(), "u v r", PLANAR),
    "schoenflies": (groups.Schoenflies("z"), "u v w r", SCHOENFLIES),
    "r3": (groups.R3(), "u v w", TRANSLATION),
    "r2": (groups.R2(), "u v", TRANSLATION[:2]),  # [From §4.6]
    "r1": (groups.R1(), "w", TRANSLATION[2:]),
    "so2": (groups.SO2(), "r", (I_z * dr,)),
}


@pytest.mark.parametrize("name", PRINTED)
def test_each_group_as_it_is_printed(name):
    """[From 2-4, 57, 69, 75, 84, 87, 94, 96, 104, §4.2, §4.5, §4.6]: M v' + C(v) v = τ, row by row."""
    group, names, printed = PRINTED[name]
    dynamics = on_group(group)
    assert dynamics.v == symbols(names)
    same([row.lhs for row in dynamics.rows], printed)
    assert [row.rhs for row in dynamics.rows] == list(symbols(" ".join(f"tau_{x}" for x in names.split())))


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("method", ["boltzmann-hamel", "lie-groups"])
def test_the_same_from_a_robot(name, method):
    """[From 27, 38, 57]: a robot with one joint on the group, by the methods for whole trees."""
    _, names, printed = PRINTED[name]
    robot = mb.load(f"free-body-{name}")
    if name == "se3":
        robot = mb.Robot(replace(robot.model, velocity="left"))  # the twist of the body
    system = from_robot(robot, "all", velocities=names.split(), gravity=(0, 0, 0))
    dynamics = equations(system, method)
    ours = dict(zip(symbols("I_xx I_yy I_zz m_2"), (I_x, I_y, I_z, m), strict=True))  # R² has two joints
    accelerations = sp.Matrix([rate(x) for x in system.v])
    same(list((dynamics.M * accelerations + dynamics.b).subs(ours)), printed)


def test_the_screw_has_no_coriolis_forces():
    """[From §4.6]: H, with the inertia of both its motions."""
    dynamics = on_group(groups.Helical(0.25))
    assert dynamics.inertial[0] == (I_z + m / 16) * dr
    assert sp.zeros(1) == dynamics.C


def test_eulers_equations_for_any_inertia():
    """[From 5, 68-71]: C = -(Mv)^, M w' + w × M w = τ and its form without torque (1)."""
    M = symmetric(3)
    dynamics = on_group(groups.SO3(), M)
    w_ = sp.Matrix([p, q, r])
    assert sp.expand(dynamics.C + hat(M * w_)) == sp.zeros(3)
    same(dynamics.inertial, M * sp.Matrix([dp, dq, dr]) + hat(w_) * M * w_)
    same(dynamics.b, -(M * w_).cross(w_))


@pytest.mark.slow
def test_kirchhoffs_equations_for_any_inertia():
    """[From 7-11, 73-76]: in the momenta ∂K/∂v and ∂K/∂w of any 6 × 6 inertia, added mass too."""
    M = symmetric(6)
    V, A = sp.Matrix(TWIST), sp.Matrix([du, dv, dw, dp, dq, dr])
    K = (V.T * M * V)[0] / 2
    momentum = sp.Matrix([K]).jacobian(TWIST).T
    linear, angular = momentum[:3, :], momentum[3:, :]
    change = momentum.jacobian(TWIST) * A
    v_, w_ = V[:3, :], V[3:, :]
    dynamics = on_group(groups.SE3(), M)
    same(dynamics.inertial[:3, :], change[:3, :] + hat(w_) * linear)  # [From 9]
    same(dynamics.inertial[3:, :], change[3:, :] + hat(v_) * linear + hat(w_) * angular)  # [From 10]
    ad_V = sp.Matrix(sp.BlockMatrix([[hat(w_), hat(v_)], [sp.zeros(3), hat(w_)]]))  # [From 8]
    assert ad(groups.SE3(), TWIST) == ad_V
    same(dynamics.inertial, change - ad_V.T * momentum)  # [From 7, 11, 76]
    x = M * V
    tilde = [  # [From 73]
        [0, 0, 0, 0, x[2], -x[1]],
        [0, 0, 0, -x[2], 0, x[0]],
        [0, 0, 0, x[1], -x[0], 0],
        [0, x[2], -x[1], 0, x[5], -x[4]],
        [-x[2], 0, x[0], -x[5], 0, x[3]],
        [x[1], -x[0], 0, x[4], -x[3], 0],
    ]
    assert sp.expand(dynamics.C - sp.Matrix(tilde)) == sp.zeros(6)


def test_planar_motion_for_any_inertia():
    """[From 77-86]: H, ad, S_r with the minus sign that the print lost (From10), both derivatives and C."""
    group, M = groups.SE2(), symmetric(3)
    dynamics = on_group(group, M)
    assert ad(group, (u, v, r)) == sp.Matrix([[0, -r, v], [r, 0, -u], [0, 0, 0]])  # [From 78]
    f = symbols("varphi_1 varphi_2 varphi_3")
    S_r = dict(dynamics.steps[1].results)["S_r"]
    assert S_r == -sp.Matrix([[0, -f[2], f[1]], [f[2], 0, -f[0]], [0, 0, 0]]) / 2  # [From 79]
    x = M * sp.Matrix([u, v, r])
    tilde = sp.Matrix([[0, 0, -x[1]], [0, 0, x[0]], [x[1], -x[0], 0]])  # [From 83]
    dS, n = derivatives(group), range(3)
    first = sp.Matrix(3, 3, lambda i, j: sum(dS[j][k, i] * x[k] for k in n))
    second = sp.Matrix(3, 3, lambda i, j: sum(dS[i][k, j] * x[k] for k in n))
    assert sp.expand(first - tilde / 2) == sp.zeros(3)  # [From 80]
    assert sp.expand(second + tilde / 2) == sp.zeros(3)  # [From 81]
    assert sp.expand(dynamics.C - tilde) == sp.zeros(3)  # [From 82]
    printed = -sp.Matrix([[0, r, 0], [-r, 0, 0], [v, -u, 0]]) * sp.Matrix([m * u, m * v, I_z * r])  # [From 86]
    same(on_group(group).b, printed)
    same(dynamics.inertial, M * sp.Matrix([du, dv, dr]) - ad(group, (u, v, r)).T * x)  # [From 85]


def test_the_schoenflies_group_for_any_inertia():
    """[From 88-95]: the same of X(z)."""
    group, M = groups.Schoenflies("z"), symmetric(4)
    dynamics = on_group(group, M)
    four = (u, v, w, r)
    assert ad(group, four) == sp.Matrix([[0, -r, 0, v], [r, 0, 0, -u], [0, 0, 0, 0], [0, 0, 0, 0]])  # [From 89]
    x = M * sp.Matrix(four)
    tilde = sp.Matrix([[0, 0, 0, -x[1]], [0, 0, 0, x[0]], [0, 0, 0, 0], [x[1], -x[0], 0, 0]])  # [From 91-92]
    assert sp.expand(dynamics.C - tilde) == sp.zeros(4)  # [From 93]
    same(dynamics.inertial, M * sp.Matrix([du, dv, dw, dr]) - ad(group, four).T * x)  # [From 95]


def test_the_inertia_that_a_group_feels():
    """[From 60, 63]: H^T I H of a 6 × 6 inertia."""
    M = symmetric(6)
    assert inertia(groups.SE2(), M) == M.extract([0, 1, 5], [0, 1, 5])
    assert inertia(groups.SO3()) == sp.diag(I_x, I_y, I_z)
    with pytest.raises(mb.InputError, match=r"inertia on SE2: expected 3 × 3 or 6 × 6 symmetric expressions"):
        inertia(groups.SE2(), sp.eye(4))
    with pytest.raises(mb.InputError, match="symmetric"):
        inertia(groups.SE2(), [[1, 2, 0], [0, 1, 0], [0, 0, 1]])
