"""Whether two derivations say the same: exactly, as formulas, and at random states, as numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.derive.algebra.normal_form import is_zero
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.kinematics import along
from multibody.derive.system.random_states import consistent_values, random_values
from multibody.derive.system.symbols import rate
from multibody.derive.system.values import expect_equations, whole_number
from multibody.errors import InputError
from multibody.geometry._arrays import truth

if TYPE_CHECKING:
    from multibody.derive.results.equations import Equations
    from multibody.derive.system.system import System

CLOSE = 1e-9
STATES = 5
Values = Mapping[sp.Symbol, float]


@dataclass(frozen=True, repr=False)
class Agreement:
    """How well two sets of equations agree; true when they do.

    Args:
        methods: the names of both.
        compared: what was compared.
        symbolic: True when the difference is exactly zero, False when it is not, None when that
            was not decided.
        numeric: the largest difference at random states, relative to the largest number there.
    """

    methods: tuple[str, str]
    compared: str
    symbolic: bool | None
    numeric: float

    def __bool__(self) -> bool:
        return self.symbolic is not False and self.numeric <= CLOSE

    def __repr__(self) -> str:
        said = {True: "as formulas", False: "not as formulas", None: "undecided as formulas"}[self.symbolic]
        verdict = f"{self.methods[0]} and {self.methods[1]} {'agree' if self else 'differ'} in {self.compared}"
        return f"{verdict}: {said}, to {self.numeric:.1e} as numbers"


def equal(a: "Equations", b: "Equations", *, symbolic: bool = True, seed: int = 0) -> Agreement:
    """Whether two sets of equations describe the same motion.

    With the same velocities and constraints, M and b + g - τ are compared, and the rows of the
    constraints. Otherwise, or when multipliers hide a difference of M, it is the accelerations
    q'' = F v' + F' v, where v' and λ solve M v' - J^T λ = τ - b - g and J v' = -drift, at
    random states that the constraints allow.

    Args:
        a: equations.
        b: equations of a system with the same coordinates.
        symbolic: whether to compare formulas too, which takes longer.
        seed: the seed of the random states.

    Raises:
        InputError: when the coordinates differ, or no state was found that the constraints
            allow.
    """
    expect_equations(a)
    expect_equations(b)
    formulas = truth(symbolic, "symbolic")
    if set(a.system.q) != set(b.system.q):
        raise InputError(
            f"expected equations in the same coordinates, got {a.system.q} of {a.system.name} and {b.system.q} of "
            f"{b.system.name}"
        )
    methods, states = (a.method, b.method), _states(a, b, whole_number(seed, "seed"))
    if a.system.v == b.system.v and a.system.rates == b.system.rates and a.J.shape == b.J.shape:
        pairs = ((numeric(x, state), numeric(y, state)) for x, y in _parts(a, b) for state in states)
        apart = max(relative_difference(x, y) for x, y in pairs)
        if apart <= CLOSE or not a.J.rows:
            same = all(is_zero(x - y, units=a.system.units) for x, y in _parts(a, b)) if formulas else None
            compared = "M, b + g - τ and constraints" if a.J.rows else "M and b + g - τ"
            return Agreement(methods, compared, None if same is False and apart <= CLOSE else same, apart)
    first, second = accelerations(a), accelerations(b)
    apart = max(relative_difference(first(state), _reordered(a, b, second, state)) for state in states)
    return Agreement(methods, "accelerations of the coordinates", None, apart)


def accelerations(equations: "Equations") -> Callable[[Values], NDArray[np.float64]]:
    """q'' as a function of the values of all symbols, by solving for v' and λ together."""
    system = equations.system
    F_dot = along(system, system.rates)
    parts = [equations.M, equations.b + equations.g - equations.tau, equations.J, equations.drift, system.rates, F_dot]
    symbols = sorted({x for part in parts for x in part.free_symbols} | set(system.v), key=str)
    function = sp.lambdify(symbols, [x for part in parts for x in part], modules="numpy", cse=True)

    def at(values: Values) -> NDArray[np.float64]:
        flat = np.array(function(*(values[x] for x in symbols)), dtype=float)
        ends = np.cumsum([part.rows * part.cols for part in parts])[:-1]
        M, h, J, drift, F, F_rate = (x.reshape(p.shape) for x, p in zip(np.split(flat, ends), parts, strict=True))
        n, m = len(system.v), len(J)
        whole = np.block([[M, -J.T], [J, np.zeros((m, m))]])
        a = np.linalg.solve(whole, -np.concatenate([h, drift]))[:n, 0]
        return F @ a + F_rate @ np.array([values[x] for x in system.v])

    return at


def _parts(a: "Equations", b: "Equations") -> list[tuple[Any, Any]]:
    return [(a.M, b.M), (a.b + a.g - a.tau, b.b + b.g - b.tau), (a.J, b.J), (a.drift, b.drift)]


def _states(a: "Equations", b: "Equations", seed: int) -> list[dict[sp.Symbol, float]]:
    """Values of the symbols of both, at states that the constraints allow, with the velocities of both."""
    rng, states = np.random.default_rng(seed), []
    for _ in range(STATES):
        values = consistent_values(a.system, rng)
        if values is None:
            raise InputError(f"{a.system.name}: no state was found at which the constraints hold")
        states.append(_with_velocities(b.system, random_values(b.system, rng) | values))
    return states


def _with_velocities(system: "System", values: dict[sp.Symbol, float]) -> dict[sp.Symbol, float]:
    """The velocities of a system from the rates of its coordinates, where they are others."""
    if system.holonomic_velocities:
        return values
    F = numeric(system.rates, values)
    v = np.linalg.lstsq(F, np.array([values[rate(x)] for x in system.q]), rcond=None)[0]
    return values | dict(zip(system.v, map(float, v), strict=True))


def relative_difference(x: NDArray[Any], y: NDArray[Any]) -> float:
    """The largest difference of two arrays, relative to the largest number in them."""
    return float(np.abs(x - y).max(initial=0.0) / max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0), 1e-300))


def _reordered(
    a: "Equations", b: "Equations", function: Callable[[Values], NDArray[Any]], state: Values
) -> NDArray[Any]:
    """Accelerations of b in the order of a."""
    values = dict(zip(b.system.q, function(state), strict=True))
    return np.array([values[x] for x in a.system.q])
