"""Equilibria: coordinates at which all forces balance without velocity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.derive.algebra.trigonometric_equations import solutions
from multibody.derive.system.constraints import Holonomic, Motion
from multibody.derive.system.generalized_forces import potential_energy
from multibody.derive.system.kinematics import tidy
from multibody.derive.system.symbols import TIME
from multibody.derive.system.values import expect_equations, named, whole_number
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.derive.results.equations import Equations

CLOSE, SAME = 1e-10, 1e-6
Equilibrium = dict[sp.Symbol, Any]


def equilibria(
    equations: "Equations",
    inputs: Mapping[Any, Any] | None = None,
    parameters: Mapping[Any, Any] | None = None,
    box: Mapping[Any, tuple[float, float]] | None = None,
    starts: int = 200,
    seed: int = 0,
) -> tuple[Equilibrium, ...]:
    """All coordinates at which b + g = τ + J^T λ without velocities, that were found.

    Forces that are linear in sines, cosines and coordinates, or products of such terms, are
    solved exactly, with parameters as symbols: a solution such as asin(F/k) is one where it is
    real. All others need the values of all parameters, and are solved by Newton's method from
    many places in a box. A coordinate that is not in an answer may have any value. Angles are
    between -π and π. Where equilibria are not isolated, as those of a body that may turn about
    its own axis, one of each potential energy is given.

    Args:
        equations: with or without constraints.
        inputs: their values, by symbol or name; zero by default.
        parameters: values of parameters; they are needed where there is no exact solution.
        box: lowest and highest value of coordinates, from -π to π by default, where Newton's
            method starts and ends.
        starts: the number of places where Newton's method starts.
        seed: the seed of these places.

    Raises:
        InputError: when parameters without values are left, and there is no exact solution; or
            time matters.
    """
    expect_equations(equations)
    starts, seed, limits = whole_number(starts, "starts", 1), whole_number(seed, "seed"), _box(equations, box)
    system = equations.system
    values: dict[Any, Any] = dict.fromkeys((*system.v, *system.inputs), 0)
    values |= named(system, inputs, "inputs", "inputs") | named(system, parameters, "parameters", "parameters")
    h = tidy(system, (equations.b + equations.g - equations.tau).subs(values))
    J = equations.J.subs(values)
    configuration = [r.f.subs(values) for r in system.restrictions if isinstance(r, Holonomic)]
    if TIME in sp.Matrix([*h, *J, *configuration]).free_symbols:
        raise InputError(f"{system.name}: the equations depend on the time t, and have no equilibria")
    if not system.restrictions and not system.units:
        exact = solutions([x for x in h if x != 0], system.q)
        if exact is not None:
            return tuple({x: solution[x] for x in system.q if x in solution} for solution in exact)
    if any(r.velocity.subs(values) != 0 for r in system.restrictions if isinstance(r, Motion)):
        return ()  # a constraint that asks for velocity
    f = configuration + [sum(x**2 for x in unit) - 1 for unit in system.units]
    multipliers = [sp.Dummy() for _ in range(J.rows)]
    whole = sp.Matrix([*(h - J.T * sp.Matrix(J.rows, 1, multipliers)), *f])
    unknown = [x for x in system.q if x in whole.free_symbols]
    missing = sorted(whole.free_symbols - {*unknown, *multipliers}, key=str)
    if missing:
        raise InputError(
            f"{system.name}: there is no exact solution, and numbers are missing for {', '.join(map(str, missing))}: "
            "give them as `parameters`"
        )
    energy = potential_energy(system).subs(values)
    search = _Search(whole, unknown, multipliers, [list(unit) for unit in system.units], energy, limits)
    return tuple(
        dict(zip(unknown, map(float, q), strict=True)) for q in search.solutions(starts, np.random.default_rng(seed))
    )


def _box(equations: "Equations", box: Mapping[Any, tuple[float, float]] | None) -> dict[sp.Symbol, tuple[float, float]]:
    system, ranges, bounds = equations.system, {}, {} if box is None else box
    if not isinstance(bounds, Mapping):
        raise InputError(f"box: expected limits by name, such as {{'x': (-1, 1)}}, got {box!r}")
    named(system, dict.fromkeys(bounds, 0), "box", "q")
    for key, limits in bounds.items():
        try:
            low, high = map(float, limits)
        except (TypeError, ValueError):
            low, high = 0.0, 0.0
        if not -np.inf < low < high < np.inf:
            raise InputError(f"box: expected a lower and a higher value of {key}, both finite, got {limits!r}")
        ranges[key.name if isinstance(key, sp.Symbol) else key] = (low, high)
    return {x: ranges.get(x.name, (-np.pi, np.pi)) for x in system.q}


@dataclass(frozen=True)
class _Search:
    """Newton's method for coordinates and multipliers, from many places."""

    whole: sp.Matrix
    unknown: Sequence[sp.Symbol]
    multipliers: Sequence[sp.Symbol]
    units: Sequence[Sequence[sp.Symbol]]
    energy: sp.Expr
    box: Mapping[sp.Symbol, tuple[float, float]]

    def solutions(self, starts: int, rng: np.random.Generator) -> list[NDArray[np.float64]]:
        """Different equilibria in the box, in order."""
        symbols = [*self.unknown, *self.multipliers]
        function = sp.lambdify([symbols], [self.whole, self.whole.jacobian(symbols)], modules="numpy", cse=True)
        energy = sp.lambdify([list(self.unknown)], self.energy, modules="numpy")
        low, high = (np.array([self.box[x][k] for x in self.unknown]) for k in (0, 1))
        angles = self._angles(function, rng)
        solutions: list[tuple[NDArray[np.float64], bool, float]] = []
        for _ in range(starts):
            x = np.concatenate([rng.uniform(low, high), rng.uniform(-1, 1, len(self.multipliers))])
            x = self._newton(function, x)
            if x is None:
                continue
            n = len(self.unknown)
            isolated = np.linalg.matrix_rank(np.asarray(function(x)[1], dtype=float), tol=SAME) == len(x)
            q = self._standard(x[:n], angles)
            if (q < low - SAME).any() or (q > high + SAME).any():
                continue
            U = float(energy(q)) if self.energy.free_symbols <= set(self.unknown) else 0.0
            if not any(self._same(q, isolated, U, other, angles) for other in solutions):
                solutions.append((q, isolated, U))
        return [q for q, _, _ in sorted(solutions, key=lambda entry: tuple(np.round(entry[0], 6)))]

    def _newton(self, function: Any, x: NDArray[Any]) -> NDArray[Any] | None:
        for _ in range(60):
            with np.errstate(all="ignore"):
                error, slope = (np.asarray(part, dtype=float) for part in function(x))
            if not (np.isfinite(error).all() and np.isfinite(slope).all()):
                return None
            step = np.linalg.lstsq(slope, error[:, 0], rcond=1e-10)[0]
            if np.abs(error).max() < CLOSE and np.linalg.norm(step) < SAME:
                return x - step
            x = x - step / max(1.0, float(np.linalg.norm(step)))
        return None

    def _angles(self, function: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Which coordinates can go round once, and nothing changes."""
        n, m = len(self.unknown), len(self.multipliers)
        at = rng.uniform(-1, 1, n + m)
        return np.array(
            [np.allclose(function(at)[0], function(at + 2 * np.pi * np.eye(n + m)[k])[0], atol=1e-9) for k in range(n)]
        )

    def _standard(self, q: NDArray[Any], angles: NDArray[np.bool_]) -> NDArray[Any]:
        """Angles between -π and π, quaternions with a first entry that is not negative."""
        q = np.where(angles, np.pi - np.mod(np.pi - q, 2 * np.pi), q)
        q = np.where(angles & (q < SAME - np.pi), q + 2 * np.pi, q)
        for unit in self.units:
            places = [self.unknown.index(x) for x in unit if x in self.unknown]
            first = next((q[k] for k in places if abs(q[k]) > SAME), 1.0)
            q[places] *= np.sign(first)
        return np.where(np.abs(q) < CLOSE, 0.0, q)

    def _same(self, q: NDArray[Any], isolated: bool, U: float, other: Any, angles: NDArray[np.bool_]) -> bool:
        difference = q - other[0]
        difference = np.where(angles, np.mod(difference + np.pi, 2 * np.pi) - np.pi, difference)
        if np.abs(difference).max(initial=0.0) < 1e-5:
            return True
        return not isolated and not other[1] and abs(U - other[2]) < SAME * max(1.0, abs(U))
