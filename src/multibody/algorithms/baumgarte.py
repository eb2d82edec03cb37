"""Baumgarte stabilisation: the acceleration that constraints require, with feedback on their errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import rows
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints.constraint import Constraint
from multibody.errors import InputError
from multibody.geometry._arrays import at, first, floats, is_traced, matvec
from multibody.model import base_velocity
from multibody.model.tree import Tree


def constraint_drift(
    tree: Tree, constraints: Sequence[Constraint], q: NDArray[Any], v: NDArray[Any], baumgarte: Any = None
) -> NDArray[Any]:
    """J' v, plus Baumgarte's terms stiffness error + damping J v, (..., rows): the term that J v' cancels."""
    total = rows.bias(tree, constraints, q, v)
    if baumgarte is None:
        return total
    gains = check_gains(baumgarte)
    slip = matvec(rows.jacobian(with_base(tree, "left"), constraints, q), base_velocity.to_left(tree, q, v))
    return total + gains[..., :1] * rows.error(tree, constraints, q) + gains[..., 1:] * slip


def check_gains(baumgarte: Any) -> NDArray[Any]:
    """The gains (..., 2), stiffness and damping, if all are finite and not negative; others are unstable."""
    gains = floats(baumgarte, "baumgarte", 2)
    if is_traced(gains):
        return gains
    if gains.ndim > 1 or not all(0 <= x < np.inf for x in gains.tolist()):  # one pair is faster in Python
        bad = ~((gains >= 0) & (gains < np.inf))
        if bad.any():
            k = first(bad)
            which = ("stiffness", "damping")[k[-1]]
            raise InputError(f"baumgarte{at(k[:-1])}: expected a finite {which}, not negative, got {gains[k]}")
    return gains
