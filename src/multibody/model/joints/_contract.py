"""The check that a kind of joint fulfils the contract of `Kind`, on which algorithms rely."""

from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.model.joints._kind import Kind
from multibody.model.joints.motion_subspace import Subspace

STEP = 1e-6
"""Step of central differences."""
SUBSPACE_TOLERANCE = 1e-5
"""Tolerated error of a column of S, relative to the largest entry."""


def check_kind(kind: Kind) -> None:
    """Refuse a kind whose subspace is not that of its motion, or whose columns are fixed in neither body.

    Rates of Jacobians, Coriolis matrices and derivatives take every column of S as fixed in the child, or, for those in
    `held_by_parent`, in the parent. A model looks at the joints from outside the library when it is made.

    Raises:
        InputError: that says what is missing, or which column is off.

    >>> from multibody.model.joints import Universal
    >>> check_kind(Universal("x", "y"))
    """
    rng = np.random.default_rng(0)
    unlimited = np.full(kind.nq, np.inf)
    for name, count in (("units", kind.nq), ("rates", kind.nv)):
        if len(getattr(kind, name, ())) != count:
            raise InputError(f"{kind!r}: expected {count} words in `{name}`, got {getattr(kind, name, None)!r}")
    states = [kind.random(rng, -unlimited, unlimited, ()) for _ in range(3)]
    subspaces = [kind.subspace(q) for q in states]
    for S in subspaces:
        shape = S.matrix.shape if isinstance(S, Subspace) else type(S).__name__
        if shape != (6, kind.nv):
            raise InputError(f"{kind!r}: expected a Subspace of shape {(6, kind.nv)} from `subspace`, got {shape}")
    scale = SUBSPACE_TOLERANCE * max(1.0, *(float(np.abs(S.matrix).max(initial=0.0)) for S in subspaces))
    for q, S in zip(states, subspaces, strict=True):
        for k in range(kind.nv):
            if np.abs(_twist(kind, q, k) - S.matrix[:, k]).max() > scale:
                raise InputError(f"{kind!r}: column {k} of `subspace` is not the twist of `pose` along velocity {k}")
    for k in range(kind.nv):
        held = k in kind.held_by_parent
        columns = [
            kind.pose(q).adjoint @ S.matrix[:, k] if held else S.matrix[:, k]
            for q, S in zip(states, subspaces, strict=True)
        ]
        if any(np.abs(column - columns[0]).max() > scale for column in columns):
            raise InputError(
                f"{kind!r}: column {k} of `subspace` is fixed in neither body: expected it to be fixed in the child, "
                "or in the parent for those in `held_by_parent`; rates and derivatives would be wrong"
            )


def _twist(kind: Kind, q: Any, k: int) -> Any:
    """The twist of the child in its own frame along one velocity, by central differences."""
    move = STEP * np.eye(kind.nv)[k]
    before, after = (kind.pose(kind.integrate(q, sign * move)) for sign in (-1, 1))
    return (before.inverse() @ after).log() / (2 * STEP)
