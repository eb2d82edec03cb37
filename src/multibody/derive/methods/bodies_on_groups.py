"""One body on a Lie group: M v' + C(v) v = τ, with C from the derivatives of S(φ) at φ = 0.  [From §3-5]"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from multibody.derive.results.steps import Step
from multibody.derive.system.symbols import matrix, rate, symbols
from multibody.derive.system.traced_formulas import exact
from multibody.errors import InputError
from multibody.geometry.groups import Group

TWIST = ("u", "v", "w", "p", "q", "r")
"""The names of the entries of a twist, linear first.  [From §4.2]"""


@dataclass(frozen=True, eq=False)
class GroupEquations:
    """M v' + C(v) v = τ of one body whose configurations are a Lie group.
    [From 48, 104; From Prop. 3.1]

    Args:
        method: the name of the formula of C.
        group: the group.
        v: the velocities, left-trivialised: those of the body along its own axes.
        M: the inertia, constant.
        C: the Coriolis matrix, linear in v.
        tau: the forces, symbols.
        steps: the derivation.
    """

    method: str
    group: Group
    v: tuple[sp.Symbol, ...]
    M: sp.ImmutableMatrix
    C: sp.ImmutableMatrix
    tau: sp.ImmutableMatrix
    steps: tuple[Step, ...]

    @property
    def a(self) -> tuple[sp.Symbol, ...]:
        """The accelerations, v'."""
        return tuple(map(rate, self.v))

    @property
    def b(self) -> sp.ImmutableMatrix:
        """C(v) v."""
        return sp.ImmutableMatrix((self.C * sp.Matrix(self.v)).applyfunc(_collected(self.v)))

    @property
    def inertial(self) -> sp.ImmutableMatrix:
        """M v' + C(v) v."""
        return sp.ImmutableMatrix(self.M * sp.Matrix(self.a) + self.b)

    @property
    def rows(self) -> tuple[Any, ...]:
        """The equations one by one, as From prints them."""
        return tuple(sp.Eq(self.inertial[k], self.tau[k], evaluate=False) for k in range(len(self.v)))


def on_group(group: Group, M: Any = None) -> GroupEquations:
    """The equations of one body on a group.  [From 57, 104-109; From Prop. 3.1; From Prop. 5.1]

    C_ij = Σ_k (∂S_ki/∂φ_j - ∂S_kj/∂φ_i) (M v)_k at φ = 0, where S = 1 - ad_φ/2 + ad_φ²/6 - ...
    takes rates of exponential coordinates to velocities.

    Args:
        group: any of `multibody.geometry.groups`.
        M: its inertia, as many rows as the group has velocities; or a 6 × 6 inertia, of which
            the group takes its part [From 60]. By default that of a body about its centre of
            mass along principal axes, in m, I_x, I_y, I_z.

    Raises:
        InputError: when it is no group, or M is not symmetric or of another size.

    >>> from multibody.geometry import groups
    >>> on_group(groups.SE2()).rows[0]
    Eq(-m*r*v + m*u_dot, tau_u)
    """
    _check(group)
    v, M = velocities(group), inertia(group, M)
    C = coriolis(group, M * sp.Matrix(v))
    return _made("boltzmann-hamel", group, M, C, "From 57")


def duindam(group: Group, M: Any = None) -> GroupEquations:
    """Equations with the Coriolis matrix that was published first, and is wrong: -ad_(Mv)^T.
    [From 33, 35-37]

    C_ij = Σ_k (∂S_ji/∂φ_k - ∂S_jk/∂φ_i) (M v)_k at φ = 0: the indices j and k have changed
    places. It gives the right forces on abelian groups, where there are none, and for M = m 1,
    where the momentum is a multiple of the velocity, so that it does not matter which of them
    is in ad: on SO(3) a ball; with translations, an accident of the units.
    """
    _check(group)
    v, M = velocities(group), inertia(group, M)
    dS, p, n = derivatives(group), M * sp.Matrix(v), range(group.dim)
    C = sp.Matrix(group.dim, group.dim, lambda i, j: sum((dS[k][j, i] - dS[i][j, k]) * p[k] for k in n))
    return _made("duindam", group, M, C, "From 33, 35-37")


def coriolis(group: Group, p: Any, side: int = 1) -> sp.Matrix:
    """C_ij = Σ_k (∂S_ki/∂φ_j - ∂S_kj/∂φ_i) p_k at φ = 0, of a momentum p.  [From 51, 57, 105, 109]"""
    dS, n = derivatives(group, side), range(group.dim)
    return sp.Matrix(group.dim, group.dim, lambda i, j: sum((dS[j][k, i] - dS[i][k, j]) * p[k] for k in n))


@lru_cache(maxsize=64)
def derivatives(group: Group, side: int = 1) -> tuple[sp.ImmutableMatrix, ...]:
    """∂S/∂φ_j at φ = 0, for each j.  [From 65-67, 79-81, 90-92, 112]"""
    phi = symbols(" ".join(f"varphi_{k + 1}" for k in range(group.dim)))
    S, zero = S_series(group, phi, side), dict.fromkeys(phi, 0)
    slopes: list[Any] = [sp.diff(S, x) for x in phi]
    return tuple(sp.ImmutableMatrix(slope.subs(zero)) for slope in slopes)


def S_series(group: Group, phi: Sequence[Any], side: int = 1) -> sp.Matrix:
    """S(φ) = 1 - ad_φ/2 + ad_φ²/6, v = S φ' up to φ².  [From 28-29, 34, 55, 64, 72, 100]

    Args:
        group: the group.
        phi: exponential coordinates around some element ḡ.
        side: 1 when g = ḡ exp φ and v are velocities along the axes of the body; -1 when g = exp(φ) ḡ and v are those
            along the axes of the world, which turns φ around.
    """
    a = ad(group, phi)
    return sp.eye(group.dim) - side * a / 2 + a * a / 6


def ad(group: Group, x: Sequence[Any]) -> sp.Matrix:
    """ad_x of the group in symbols, from its structure constants.  [From 8, 78, 89; From Table 1]"""
    c, n = group.structure, range(group.dim)
    return sp.Matrix(group.dim, group.dim, lambda k, j: sum(exact(c[k, i, j]) * x[i] for i in n if c[k, i, j]))


def velocities(group: Group) -> tuple[sp.Symbol, ...]:
    """The velocities by their names in a twist: the last entry that each moves.  [From 58]"""
    H = group.H
    return symbols(" ".join(TWIST[max(i for i in range(6) if H[i, k])] for k in range(group.dim)))


def inertia(group: Group, M: Any = None) -> sp.ImmutableMatrix:
    """M of a group from its own or a 6 × 6 inertia; see `on_group`.  [From 60, 63]"""
    if M is None:
        m, I_x, I_y, I_z = symbols("m I_x I_y I_z")
        M = sp.diag(m, m, m, I_x, I_y, I_z)
    name, n = f"inertia on {type(group).__name__}", group.dim
    try:
        rows = sp.ImmutableMatrix(M)
    except (TypeError, ValueError, sp.SympifyError):
        rows = sp.ImmutableMatrix(0, 0, [])
    if rows.shape not in ((n, n), (6, 6)) or rows != rows.T:
        got = rows.tolist() if rows else repr(M)
        raise InputError(f"{name}: expected {n} × {n} or 6 × 6 symmetric expressions, got {got}")
    M = matrix(M, name, rows.shape)
    if M.shape == (n, n):
        return M
    H = sp.Matrix(6, n, lambda i, k: exact(float(group.H[i, k])))
    return sp.ImmutableMatrix(H.T * M * H)


def _check(group: Any) -> None:
    if not isinstance(group, Group):
        hint = ": call it to make one" if isinstance(group, type) and issubclass(group, Group) else ""
        raise InputError(f"expected a group of multibody.geometry.groups, such as groups.SE3(), got {group!r}{hint}")


def _made(method: str, group: Group, M: sp.ImmutableMatrix, C: sp.Matrix, tag: str) -> GroupEquations:
    v = velocities(group)
    phi = symbols(" ".join(f"varphi_{k + 1}" for k in range(group.dim)))
    tau = sp.ImmutableMatrix(symbols(" ".join(f"tau_{x.name}" for x in v)))
    reduced = S_series(group, phi) - sp.eye(group.dim) - ad(group, phi) ** 2 / 6
    index = r"C_{ij} = \sum_k \left(\frac{\partial S_{%s}}{\partial \varphi_%s} - \frac{\partial S_{%s}}"
    index += r"{\partial \varphi_i}\right)\Big|_{\varphi=0} (Mv)_k"
    steps = (
        Step("The inertia that the group feels", "From 60, 63", (("M", M), ("Mv", M * sp.Matrix(v))), r"M = H^T I_b H"),
        Step(
            "The part of S that counts at φ = 0",
            "From 65, 79, 90, 112",
            ((r"\mathrm{ad}_\varphi", ad(group, phi)), ("S_r", reduced)),
            r"S(\varphi) = 1 - \frac{1}{2}\mathrm{ad}_\varphi + \frac{1}{6}\mathrm{ad}_\varphi^2 - \ldots",
        ),
        Step(
            "Its derivatives, with the momentum",
            tag,
            (("C", C),),
            index % (("ki", "j", "kj") if method == "boltzmann-hamel" else ("ji", "k", "jk")),
        ),
    )
    return GroupEquations(method, group, v, M, sp.ImmutableMatrix(C), tau, steps)


def _collected(v: tuple[sp.Symbol, ...]) -> Any:
    products = [x * y for k, x in enumerate(v) for y in v[k:]]
    return lambda x: sp.collect(sp.expand(x), products)
