"""Identification of inertial parameters from measured torques.

Inverse dynamics is linear in the ten parameters of each body, τ = Y(q, v, a) π + armature a.
Only some combinations have an effect, the *base parameters*. Directions without data stay as
near as possible to a prior.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._reprs import short_fields
from multibody._signatures import readable_names
from multibody._spelling import accept_arguments
from multibody.algorithms.regressor import PARAMETERS, parameters, regressor
from multibody.errors import InputError
from multibody.geometry import log_cholesky
from multibody.geometry._arrays import at, batch_shape, first, floats, truth
from multibody.geometry.inertia import is_physical
from multibody.model import check_configuration, configuration
from multibody.model.tree import Tree, expect_tree

NAMES = ("m", "m cx", "m cy", "m cz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
MAX_STEPS = 300
"""Newton steps per stage of the physically consistent search."""
MIN_STEP_LENGTH = 1e-10
"""The line search ends below this fraction of a Newton step."""
STAGE_TOLERANCE = 1e-6
"""A stage ends if the predicted decrease of the dimensionless function is smaller."""
COEFFICIENT_NOISE = 1e-13
"""A coefficient with a smaller effect, relative to its column of the regressor, is a rounding error."""
MAX_FINAL_DECREASE = 1e-2
"""A stage that ends with a larger predicted decrease has not converged."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The combinations of parameters that inverse dynamics depends on: Y π =
    Y[..., indices] (combination π).
    """

    indices: NDArray[Any]
    """(count,): columns of the regressor, ascending, that are independent."""
    combination: NDArray[Any]
    """(count, 10 bodies): from π, the rows of `parameters` one after the other, to the base parameters."""
    names: tuple[str, ...]
    """The names of the parameters that stand for the combinations, such as "m cx of forearm"."""

    __repr__ = short_fields

    @property
    def count(self) -> int:
        """The number of base parameters."""
        return len(self.indices)


@dataclass(frozen=True, eq=False)
class Identified:
    """The result of an identification."""

    parameters: NDArray[Any]
    """m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body about its origin, as (bodies, 10)."""
    residual: float
    """The root mean square of the (weighted) residual torques, in N m and N."""
    physical: NDArray[Any]
    """(bodies,): whether the parameters are physically consistent."""
    steps: int
    """The number of steps of the search; 0 for linear least squares."""
    converged: bool
    """Whether the search converged. If not, the prior is too far from the data: take another, or regularise more."""

    __repr__ = short_fields


def base_parameters(tree: Tree, *, samples: int = 0, seed: int = 0, tolerance: float = 1e-9) -> BaseParameters:
    """The base parameters, by a QR decomposition with pivots of regressors at random states.

    Args:
        tree: the robot.
        samples: the number of states, which give nv equations each, as many as parameters or
            more; by default three times as many.
        seed: of the random states.
        tolerance: a column whose part that is independent of others is smaller, relative to the
            largest, counts as dependent.

    Raises:
        InputError: when the samples are fewer than the parameters need.

    >>> import multibody as mb
    >>> base_parameters(mb.load("cart-pendulum").tree).names
    ('m of cart', 'm cx of pendulum', 'm cz of pendulum', 'Iyy of pendulum')
    """
    n = PARAMETERS * len(expect_tree(tree).bodies)
    for what, number in (("number of samples", samples), ("seed >= 0", seed)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise InputError(f"base_parameters of {tree.name}: expected a {what}, got {number!r}")
    least = floats(tolerance, f"base_parameters of {tree.name}, tolerance")
    if least.shape or not 0 < least < 1:
        raise InputError(f"base_parameters of {tree.name}: expected a tolerance in (0, 1), got {tolerance!r}")
    rng = np.random.default_rng(seed)
    count, needed = samples or 3 * n // max(tree.nv, 1) + 10, -(-n // max(tree.nv, 1))
    if count < needed:
        raise InputError(
            f"base_parameters of {tree.name}: expected at least {needed} samples, got {samples}, which give "
            f"{samples * tree.nv} equations for {n} parameters"
        )
    q = configuration.random(tree, rng, (count + 1,))
    v, a = (rng.standard_normal((count + 1, tree.nv)) for _ in range(2))
    Y = regressor(tree, q, v, a).reshape(count + 1, tree.nv, n)
    R: Any = np.linalg.qr(Y[:-1].reshape(count * tree.nv, n), mode="r")
    indices = _independent(R, tolerance)
    combination = np.linalg.lstsq(R[:, indices], R, rcond=None)[0]
    left = np.linalg.norm(Y[-1] - Y[-1][:, indices] @ combination, axis=0)  # at one more state
    if left.max(initial=0.0) > tolerance * np.linalg.norm(R, axis=0).max(initial=0.0):
        raise InputError(
            f"base_parameters of {tree.name}: {count} samples do not determine all combinations; "
            f"expected more samples, such as {max(2 * count, n)}"
        )
    felt = np.linalg.norm(R, axis=0)  # what a coefficient does is judged, not its size: columns have other units
    rounding = np.maximum(COEFFICIENT_NOISE * felt, 4 * np.finfo(float).eps * felt.max(initial=0.0))
    combination[felt[indices, None] * np.abs(combination) < rounding] = 0.0
    combination[:, indices] = np.eye(len(indices))
    names = tuple(f"{NAMES[k % PARAMETERS]} of {tree.bodies[k // PARAMETERS].name}" for k in indices.tolist())
    return BaseParameters(indices, combination, names)


@accept_arguments(regularisation="regularization")
def identify(
    tree: Tree,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau: ArrayLike,
    *,
    consistent: bool = False,
    prior: ArrayLike | None = None,
    regularization: float = 1e-10,
    weights: ArrayLike | None = None,
) -> Identified:
    """Inertial parameters from motions and torques.

    Minimises |Y π - τ|² / |τ|² + regularization D(π, prior). D is |π - prior|², or with
    `consistent` the divergence of the bodies' pseudo-inertias, which no choice of units or
    frames changes, and which is infinite where a body cannot exist (Lee, Wensing and Park,
    Geometric Robot Dynamic Identification, 2020).

    Args:
        tree: the robot; joints with friction: take `passive` off the torques first.
        q: (..., nq).
        v: (..., nv).
        a: (..., nv).
        tau: (..., nv), in N m and N; rows of a floating base are those of the forces that act
            on it, zero in flight.
        consistent: whether every body must have a positive mass and moments of inertia that a
            body can have.
        prior: (bodies, 10), the initial guess, and the result in directions without data; by
            default the parameters of the tree.
        regularization: positive; without `consistent` it can be zero, for the solution nearest
            to the prior.
        weights: (nv,), factors of the rows, such as the inverse standard deviations of the
            torques.

    Raises:
        InputError: if shapes differ, values are not finite, or `consistent` is set and a prior
            is not physical.

    >>> import multibody as mb
    >>> robot, rng = mb.load("cart-pendulum"), np.random.default_rng(0)
    >>> q, v, a = rng.standard_normal((3, 50, 2))
    >>> tau, true = robot.inverse_dynamics(q, v, a), robot.parameters()
    >>> fit = identify(robot.tree, q, v, a, tau, prior=0.5 * true)
    >>> base = base_parameters(robot.tree).combination
    >>> bool(np.allclose(base @ fit.parameters.ravel(), base @ true.ravel(), atol=1e-6))
    True
    """
    where = f"identify {expect_tree(tree).name}"
    Y, t = _equations(tree, where, q, v, a, tau, weights)
    start = parameters(tree) if prior is None else floats(prior, f"{where}, prior", len(tree.bodies), PARAMETERS)
    if start.ndim != 2 or not np.isfinite(start).all():
        raise InputError(f"{where}, prior: expected finite numbers of shape {(len(tree.bodies), PARAMETERS)}")
    truth(consistent, f"{where}, consistent")
    weight = floats(regularization, f"{where}, regularization")
    if weight.shape or not (0 <= weight < np.inf and (weight or not consistent)):
        raise InputError(
            f"{where}, regularization: expected a number {'>' if consistent else '>='} 0, got {regularization!r}"
        )
    rows, scale = len(t), np.linalg.norm(t) or 1.0
    R: Any = np.linalg.qr(np.concatenate([Y, t[:, None]], axis=1) / scale, mode="r")
    A, b = R[:, :-1], R[:, -1]  # |A π - b| = |Y π - t| / scale, in as many rows as there are parameters
    if consistent:
        _check_prior(tree, where, start)
        pi, steps, converged = _consistent(A, b, start, float(weight))
    else:
        pi, steps, converged = _linear(A, b, start, np.sqrt(float(weight))), 0, True
    residual = float(np.linalg.norm(A @ pi.ravel() - b) * scale / np.sqrt(rows))
    return Identified(pi, residual, is_physical(pi), steps, converged)


def _equations(tree: Tree, where: str, q: Any, v: Any, a: Any, tau: Any, weights: Any) -> tuple[Any, Any]:
    """The regressor and the torques without those of the armature, weighted, with a row for each torque."""
    if not tree.bodies:
        raise InputError(f"{where}: it has no moving bodies")
    arrays = [check_configuration.check(tree, q, limits=False)]
    for name, x in (("v", v), ("a", a), ("tau", tau)):
        array = check_configuration.velocities(tree, x, name)
        if not np.isfinite(array).all():
            index = first(~np.isfinite(array).all(axis=-1))
            raise InputError(f"{where}, {name}{at(index)}: expected finite numbers, got {array[index].tolist()}")
        arrays.append(array)
    batch = batch_shape(f"{where}, q, v, a, tau", *((array, 1) for array in arrays))
    if 0 in batch:
        raise InputError(f"{where}: expected at least one sample, got the batch shape {batch}")
    q, v, a, tau = (np.broadcast_to(array, (*batch, array.shape[-1])) for array in arrays)
    w = np.ones(tree.nv) if weights is None else floats(weights, f"{where}, weights", tree.nv)
    if w.ndim != 1 or not (np.isfinite(w) & (w >= 0)).all():
        raise InputError(f"{where}, weights: expected {tree.nv} numbers >= 0, got {np.asarray(weights).tolist()}")
    Y = w[:, None] * regressor(tree, q, v, a)
    return Y.reshape(-1, Y.shape[-1]), (w * (tau - tree.armature * a)).ravel()


def _linear(A: NDArray[Any], b: NDArray[Any], start: NDArray[Any], weight: float) -> NDArray[Any]:
    rest = b - A @ start.ravel()
    if weight:
        A = np.concatenate([A, weight * np.eye(start.size)])
        rest = np.concatenate([rest, np.zeros(start.size)])
    return start + np.linalg.lstsq(A, rest, rcond=None)[0].reshape(start.shape)


def _consistent(A: NDArray[Any], b: NDArray[Any], start: NDArray[Any], weight: float) -> tuple[NDArray[Any], int, bool]:
    """The least |A π - b|² + weight Σ D over bodies that can exist, by Newton's method; the function is convex.

    Returns π, the number of steps, and whether they converged.

    D = -log det(J J0^-1) + tr(J J0^-1) - 4 grows without bound where a pseudo-inertia J stops being positive definite.
    The weight begins large, where the prior is the answer, and goes down in stages.
    """
    units = log_cholesky.pseudo_inertia(np.eye(PARAMETERS))  # J = Σ π_k units[k]
    J0_inverse = np.linalg.inv(log_cholesky.pseudo_inertia(start))
    entries = np.arange(start.size).reshape(start.shape)

    def value(pi: NDArray[Any], w: float) -> float:
        J, e = log_cholesky.pseudo_inertia(pi), A @ pi.ravel() - b
        try:
            C = np.linalg.cholesky(J)
        except np.linalg.LinAlgError:
            return np.inf
        return e @ e / w + np.einsum("bij,bji->", J0_inverse, J) - 2 * np.log(np.einsum("bii->bi", C)).sum()

    def newton(pi: NDArray[Any], w: float) -> tuple[NDArray[Any], float]:
        """The step, and how much lower the function would be if it were a parabola.

        With J = C C^T, the second derivative of D is B^T B, with the columns C^-1 units[k] C^-T of B, and the first is
        B^T (C^T J0^-1 C - 1): the step is that of a least-squares problem, whose squares need not be formed.
        """
        C = np.linalg.cholesky(log_cholesky.pseudo_inertia(pi))
        C_inverse = np.linalg.inv(C)[:, None]
        B = C_inverse @ units @ np.swapaxes(C_inverse, -1, -2)
        rest = np.swapaxes(C, -1, -2) @ J0_inverse @ C - np.eye(4)
        own = np.zeros((len(pi), 16, start.size))
        for body, columns in enumerate(entries):
            own[body][:, columns] = B[body].reshape(PARAMETERS, 16).T
        M = np.concatenate([np.sqrt(2 / w) * A, own.reshape(-1, start.size)])
        c = np.concatenate([np.sqrt(2 / w) * (A @ pi.ravel() - b), rest.ravel()])
        size = np.linalg.norm(M, axis=0)
        Q, R = np.linalg.qr(M / size)
        along = Q.T @ c
        return -(np.linalg.solve(R, along) / size).reshape(pi.shape), float(along @ along) / 2

    pi, steps, decrease = start, 0, np.inf
    stages = 1 + max(0, int(np.ceil(-np.log10(weight))))
    for w in np.geomspace(max(1.0, weight), weight, stages):
        for _ in range(MAX_STEPS):
            step, decrease = newton(pi, w)
            before, length = value(pi, w), 1.0
            while length > MIN_STEP_LENGTH and not value(pi + length * step, w) < before - 0.1 * length * decrease:
                length /= 2
            if length > MIN_STEP_LENGTH:
                pi, steps = pi + length * step, steps + 1
            if decrease < STAGE_TOLERANCE or length <= MIN_STEP_LENGTH:
                break
        if decrease > MAX_FINAL_DECREASE:
            return pi, steps, False
    return pi, steps, True


def _check_prior(tree: Tree, where: str, pi: NDArray[Any]) -> None:
    for body, own in zip(tree.bodies, pi, strict=True):
        if not np.linalg.eigvalsh(log_cholesky.pseudo_inertia(own))[0] > 0:
            raise InputError(
                f"{where}, prior of the body {body.name!r}: expected a positive mass and moments of inertia that a "
                f"body with some thickness has, got {own.tolist()}"
            )


def _independent(R: NDArray[Any], tolerance: float) -> NDArray[Any]:
    """Indices, ascending, of independent columns: each time the one that is farthest from the span of those before."""
    rest, chosen = R.copy(), list[int]()
    largest = np.linalg.norm(R, axis=0).max(initial=0.0)
    for _ in range(min(R.shape)):
        norms = np.linalg.norm(rest, axis=0)
        k = int(norms.argmax())
        if not norms[k] > tolerance * largest:
            break
        chosen.append(k)
        direction = rest[:, k] / norms[k]
        rest = rest - np.outer(direction, direction @ rest)
        rest[:, k] = 0.0
    return np.array(sorted(chosen), dtype=int)


readable_names(__name__)
