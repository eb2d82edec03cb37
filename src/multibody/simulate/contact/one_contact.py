"""The impulse of one contact, exactly: it opens, sticks, or slips.  [Kindr §Dynamics]

Velocities at the contact are u = b + W P, along two directions of the surface and its normal, where b is what all
others leave and P the own impulse. Signorini's condition and Coulomb's law with the circular cone decide.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import vector
from multibody.tracing.ad.custom import custom
from multibody.tracing.record.loop import loop

NEWTON_STEPS = 5
"""For the direction of slip: from that of the sticking impulse they leave some 1e-10 of it."""
TURN = 1e-8
"""In rad: after a step that is smaller, what is left is its square."""
LEAST_RESPONSE = 0.05
"""Of W_nn: how little a normal impulse that drags friction along may change the normal velocity (Painlevé)."""
TINY = 1e-30


def contact_impulse(
    W: NDArray[Any], W_inv: NDArray[Any], b: NDArray[Any], mu: Any, exact: bool = False
) -> NDArray[Any]:
    """P, (3,), of a contact with W, (3, 3), its inverse, and the velocity b, (3,), without it.

    A slip has P_t = μ P_n e against the slip velocity -s e, at u_n = 0: with d(e) = W_nn + μ W_nt · e, the velocity
    along the surface is g(e)/d, g(e) = b_t d - b_n (W_tn + μ W_tt e), and the direction e a root of f(e) = e⊥ · g(e).
    `exact` impulses have the derivative of the root, not that of the steps to it.
    """
    b1, b2, bn = b[0], b[1], b[2]
    W11, W12, W22, W1n, W2n, Wnn = W[0, 0], W[0, 1], W[1, 1], W[0, 2], W[1, 2], W[2, 2]
    stick = -np.matmul(W_inv, b)
    across = np.sqrt(stick[0] * stick[0] + stick[1] * stick[1])
    sticks = across <= mu * stick[2]
    # where the sticking impulse would pull, the slip without friction tells the direction
    pulls = stick[2] <= 0.0
    e1 = np.where(pulls, W1n * bn - b1 * Wnn, stick[0])
    e2 = np.where(pulls, W2n * bn - b2 * Wnn, stick[1])

    def turned(direction: Any) -> Any:
        """A step of Newton's method, with the angle of its turn."""
        e1, e2, _ = direction
        d = Wnn + mu * (W1n * e1 + W2n * e2)
        g1 = b1 * d - bn * (W1n + mu * (W11 * e1 + W12 * e2))
        g2 = b2 * d - bn * (W2n + mu * (W12 * e1 + W22 * e2))
        f = e1 * g2 - e2 * g1
        lengthened = mu * (e1 * W2n - e2 * W1n)  # the change of d along e⊥
        curved = e1 * (e1 * W22 - e2 * W12) - e2 * (e1 * W12 - e2 * W11)
        slope = lengthened * (e1 * b2 - e2 * b1) - mu * bn * curved - (e1 * g1 + e2 * g2)
        turn = np.clip(f / np.maximum(slope, TINY), -1.0, 1.0)
        return *_unit(e1 + turn * e2, e2 - turn * e1), turn

    # contacts that open or stick have no direction to look for
    start = (*_unit(e1, e2), np.where((bn < 0.0) & ~sticks, 1.0, 0.0))
    e1, e2, turn = loop(NEWTON_STEPS, turned, start, until=lambda direction: np.abs(direction[2]) <= TURN)
    if exact:
        e1, e2, _ = turned((_constant(e1), _constant(e2), turn))
    d = Wnn + mu * (W1n * e1 + W2n * e2)
    Pn = -bn / np.maximum(d, LEAST_RESPONSE * Wnn)
    slip = vector(mu * Pn * e1, mu * Pn * e2, Pn)
    return np.where(bn >= 0.0, 0.0, np.where(sticks, stick, slip))


def _unit(x: Any, y: Any) -> tuple[Any, Any]:
    scale = 1.0 / np.sqrt(x * x + y * y + TINY)
    return x * scale, y * scale


_constant = custom(lambda x: x, jvp=lambda _, dx: 0.0 * dx)
