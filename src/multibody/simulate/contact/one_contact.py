"""The exact impulse of one contact: it opens, sticks, or slips.  [Kindr §Dynamics]

Velocities at the contact are u = b + W P, along two directions of the surface and its normal, where b is the velocity
by all other impulses and P the own impulse. P obeys Signorini's condition and Coulomb's law with a circular cone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import vector
from multibody.tracing.ad.custom import custom
from multibody.tracing.record.loop import loop

NEWTON_STEPS = 5
"""Newton steps for the direction of slip; from that of the sticking impulse the error is about 1e-10."""
MIN_TURN = 1e-8
"""The turn by a Newton step below which iterations end, in rad; the error is its square."""
MIN_NORMAL_RESPONSE = 0.05
"""The smallest response d to a normal impulse with friction, relative to W_nn; it vanishes in Painlevé's paradox."""
SMALLEST_DIVISOR = 1e-30


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
    # where the sticking impulse would pull, the direction is that of the slip without friction
    pulls = stick[2] <= 0.0
    e1 = np.where(pulls, W1n * bn - b1 * Wnn, stick[0])
    e2 = np.where(pulls, W2n * bn - b2 * Wnn, stick[1])

    def newton_step(direction: Any) -> Any:
        """Take a step of Newton's method; returns its turn, too."""
        e1, e2, _ = direction
        d = Wnn + mu * (W1n * e1 + W2n * e2)
        g1 = b1 * d - bn * (W1n + mu * (W11 * e1 + W12 * e2))
        g2 = b2 * d - bn * (W2n + mu * (W12 * e1 + W22 * e2))
        f = e1 * g2 - e2 * g1
        lengthened = mu * (e1 * W2n - e2 * W1n)  # the change of d along e⊥
        curved = e1 * (e1 * W22 - e2 * W12) - e2 * (e1 * W12 - e2 * W11)
        slope = lengthened * (e1 * b2 - e2 * b1) - mu * bn * curved - (e1 * g1 + e2 * g2)
        turn = np.clip(f / np.maximum(slope, SMALLEST_DIVISOR), -1.0, 1.0)
        return *_unit(e1 + turn * e2, e2 - turn * e1), turn

    # contacts that open or stick have no direction of slip
    start = (*_unit(e1, e2), np.where((bn < 0.0) & ~sticks, 1.0, 0.0))
    e1, e2, turn = loop(NEWTON_STEPS, newton_step, start, until=lambda direction: np.abs(direction[2]) <= MIN_TURN)
    if exact:
        e1, e2, _ = newton_step((_constant(e1), _constant(e2), turn))
    d = Wnn + mu * (W1n * e1 + W2n * e2)
    Pn = -bn / np.maximum(d, MIN_NORMAL_RESPONSE * Wnn)
    slip = vector(mu * Pn * e1, mu * Pn * e2, Pn)
    return np.where(bn >= 0.0, 0.0, np.where(sticks, stick, slip))


def _unit(x: Any, y: Any) -> tuple[Any, Any]:
    scale = 1.0 / np.sqrt(x * x + y * y + SMALLEST_DIVISOR)
    return x * scale, y * scale


_constant = custom(lambda x: x, jvp=lambda _, dx: 0.0 * dx)
