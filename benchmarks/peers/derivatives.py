"""Derivatives of inverse dynamics by a peer's coordinates, made those by ours."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.model import configuration
from multibody.model.layouts._layout import Layout
from multibody.model.model import Model

STEP = 1e-3
"""The step of differences of order four: their truncation and their rounding errors are both about 1e-13."""


def derivatives_from(
    layout: Layout, state: Sequence[NDArray[Any]], tau: NDArray[Any], peer: Sequence[NDArray[Any]]
) -> tuple[NDArray[Any], ...]:
    """(∂τ/∂q, ∂τ/∂v, ∂τ/∂a) in our coordinates.

    With p for the peer, τ(q, v, a) = T(q)^T τ_p(q_p, v_p, a_p), v_p = T(q) v and a_p = T(q) a + T'(q, v) v. The chain
    rule takes derivatives of these maps, which are cheap, by finite differences, and never those of the dynamics.

    Args:
        layout: between the robot and the peer's.
        state: our q, v and a.
        tau: the peer's forces there.
        peer: the peer's derivatives there, by its own q, v and a.
    """
    q, v, a = state
    by_q, by_v, by_a = peer
    along = np.eye(layout.model.nv)
    T = layout.v_to(q, along).T

    def slope(function: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
        return _slope(layout.model, q, function)

    turned = slope(lambda x: layout.tau_from(layout.q_to(x), tau))
    inner = by_q @ T + by_v @ slope(lambda x: layout.v_to(x, v)) + by_a @ slope(lambda x: layout.a_to(x, v, a))
    # a_p is quadratic in v, so that this difference is exact
    by_rates = (layout.a_to(q, v + along, a) - layout.a_to(q, v - along, a)).T / 2
    return turned + T.T @ inner, T.T @ (by_v @ T + by_a @ by_rates), T.T @ by_a @ T


def _slope(model: Model, q: NDArray[Any], function: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """(n, nv): the derivatives of a function (..., nq) -> (..., n) along our velocities."""

    def at(steps: float) -> NDArray[Any]:
        return function(configuration.integrate(model.tree, q, steps * STEP * np.eye(model.nv)))

    return ((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * STEP)).T
