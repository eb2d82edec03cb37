"""All methods on one system, side by side: how long they take, how large the results are, how well they agree."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from multibody.algorithms import rnea
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.methods import METHODS, equations
from multibody.derive.results.comparison import equal, relative_difference
from multibody.derive.results.equations import Equations
from multibody.derive.system.generalized_forces import spring_energy
from multibody.derive.system.kinematics import gradient
from multibody.derive.system.random_states import random_values
from multibody.derive.system.system import System
from multibody.errors import InputError

STATES = 3
RUNS = 3
"""How often a derivation is timed. The fastest run counts: the first loads parts of SymPy."""
SLOW = 4.0
"""Seconds from which on one run is enough."""


@dataclass(frozen=True)
class Entry:
    """Result of one method, or the reason that it does not fit.

    Args:
        method: its name.
        why_not: why it does not fit the system; empty when it does.
        equations: what it found.
        seconds: until then.
        terms: how many M, b and g have as they are written, the entries of M across the diagonal once.
        operations: how many inverse dynamics takes as a kernel.
        deviation: from the first method, relative, at random states.
        from_algorithms: the relative deviation of M v' + b + g from the library's recursive Newton–Euler; None where
            that does not fit.
    """

    method: str
    why_not: str = ""
    equations: Equations | None = None
    seconds: float = 0.0
    terms: int = 0
    operations: int = 0
    deviation: float = 0.0
    from_algorithms: float | None = None


def method_table(
    system: System,
    methods: Sequence[str] = (),
    track: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> list[Entry]:
    """Derive by several methods, all by default, and compare.

    Args:
        system: the system.
        methods: their names.
        track: called with the names, gives them one by one: for a progress bar.

    Raises:
        InputError: for a name that is not that of a method.
    """
    for name in methods:
        if name not in METHODS:
            raise InputError(f"no method {name!r}: there are {', '.join(METHODS)}")
    table: list[Entry] = []
    first: Equations | None = None
    for name in track(tuple(methods) or tuple(METHODS)):
        why_not = METHODS[name].why_not(system)
        if why_not:
            table.append(Entry(name, why_not))
            continue
        result, seconds = _timed(system, name)
        first = first or result
        apart = 0.0 if result is first else equal(first, result, symbolic=False).numeric
        table.append(Entry(name, "", result, seconds, terms(result), result.ops, apart, from_algorithms(result)))
    return table


def _timed(system: System, method: str) -> tuple[Equations, float]:
    """The equations, and the seconds to them: of a fresh system, so that no method finds what others left in caches."""
    result, best = None, float("inf")
    for _ in range(RUNS):
        fresh, begun = replace(system), time.perf_counter()
        result = equations(fresh, method)
        best = min(best, time.perf_counter() - begun)
        if best > SLOW:
            break
    assert result is not None
    return result, best


def terms(equations: Equations) -> int:
    """Terms of M, its entries across the diagonal once, of b and of g, as they are written."""
    M = equations.M
    entries: list[Any] = (
        [M[i, j] for i in range(M.rows) for j in range(i + 1)] + equations.b.flat() + equations.g.flat()
    )
    return sum(len(sp.Add.make_args(x)) for x in entries if x != 0)


def from_algorithms(equations: Equations) -> float | None:
    """How far M v' + b + g is from the library's recursive Newton–Euler, at random states.  [QT 72-85]"""
    system = equations.system
    if system.tree is None or METHODS["recursive-newton-euler"].why_not(system):
        return None
    robot = system.tree.robot
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(STATES):
        values = random_values(system, rng)
        inertias, positions, gravity = (
            numeric(x, values) for x in (system.tree.inertias, system.tree.positions, system.tree.gravity)
        )
        model = robot.tree.with_values(inertias, positions=positions, gravity=gravity[:, 0])
        q, v, a = (np.array([values[x] for x in part]) for part in (system.q, system.v, system.a))
        expected = rnea.rnea(model, q, v, a) + numeric(gradient(system, spring_energy(system)).T, values)[:, 0]
        actual = numeric(equations.inertial, values)[:, 0]
        worst = max(worst, relative_difference(actual, expected))
    return worst
