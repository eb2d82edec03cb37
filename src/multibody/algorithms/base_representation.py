"""Base representations of whole algorithms: written for "left", they accept any tree through `in_left`.  [MDN 75-76]

`in_left` converts the inputs v, a and tau of a function to "left", and its results back. No algorithm depends on the
base representation otherwise. `model.base_velocity` converts one vector, `geometry.representations` one twist.

With v_L = T v, a_L = T a + n(q, v) and τ = T^T τ_L, a matrix that takes velocities to forces becomes T^T D T. A small
motion δ of the base, left-trivialised, changes v_L by N_v δ, a_L by N_a δ and, at a fixed τ_L, τ by T^T N_f δ; a change
dv of the velocity also changes a_L by N_av T dv.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Twist
from multibody.geometry._arrays import block_matrix, diagonal, is_traced, is_zero, mirror_upper, transpose
from multibody.geometry.operators import ad, cross3, hat3
from multibody.model import base_velocity
from multibody.model.joint import Joint
from multibody.model.tree import Tree, expect_tree

P = ParamSpec("P")
R = TypeVar("R")


class State(NamedTuple):
    """The tree of the robot and its configuration, with the velocity and acceleration in "left", where it has them."""

    tree: Tree
    q: NDArray[Any]
    v: Any
    a: Any


def in_left(returns: Callable[[State, Any], Any] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function of a tree with its bases in "left" accept every tree, with its v, a and tau.

    The arguments are recognised by name: tree, q, v for velocities, a for accelerations, tau for generalized forces.

    Args:
        returns: the conversion of the result, one of the functions below; by default it does not depend on the
            representation.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def converted(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            values = bound.arguments
            tree = expect_tree(values["tree"])
            if tree.velocity == "left" or not tree.bases:
                return function(*args, **kwargs)
            own, q = dict(values), values["q"]
            values["tree"] = replace(tree, velocity="left")
            if "v" in own:
                values["v"] = base_velocity.to_left(tree, q, own["v"])
            if "a" in own:
                values["a"] = base_velocity.acceleration_to_left(tree, q, own["v"], own["a"])
            if "tau" in own:
                values["tau"] = base_velocity.force_to_left(tree, q, own["tau"])
            result = function(*bound.args, **bound.kwargs)
            return result if returns is None else returns(State(tree, q, values.get("v"), values.get("a")), result)

        return converted

    return decorate


# ---- results, from "left" to the representation of the tree ----------------------------------------------------------


def velocity(state: State, v: NDArray[Any]) -> NDArray[Any]:
    """T^-1 v: a velocity, or the difference of two accelerations."""
    return base_velocity.from_left(state.tree, state.q, v)


def force(state: State, tau: NDArray[Any]) -> NDArray[Any]:
    """T^T τ."""
    return base_velocity.force_from_left(state.tree, state.q, tau)


def forces(state: State, Y: NDArray[Any]) -> NDArray[Any]:
    """T^T Y: a matrix (..., nv, m) whose columns are generalized forces."""
    return transpose(base_velocity.force_from_left(state.tree, state.q[..., None, :], transpose(Y)))


def inertia(state: State, M: NDArray[Any]) -> NDArray[Any]:
    """T^T M T of a symmetric M; the lower triangle copies the upper one, so a kernel computes only that."""
    return mirror_upper(_both_sides(state, M))


def coriolis_and_inertia(state: State, C_M: tuple[NDArray[Any], NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """T^T (C T + M T') and T^T M T."""
    C, M = C_M
    for joint in state.tree.bases:
        N = _map_rate(state.v[..., joint.v], state.tree.velocity)
        C = _with_columns(C, joint.v, C[..., :, joint.v] + np.matmul(M[..., :, joint.v], N))
    return _both_sides(state, C), inertia(state, M)


def derivatives_and_force(
    state: State, left: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """dτ/dq, dτ/dv, dτ/da and τ."""
    dq, dv, M, tau = left
    by_q, by_v = dq, dv
    for joint in state.tree.bases:
        at = joint.v
        N_v, N_a, N_f, N_av = _change_maps(
            state.v[..., at], state.a[..., at], tau[..., at], representation=state.tree.velocity
        )
        columns = dq[..., :, at] + np.matmul(dv[..., :, at], N_v) + np.matmul(M[..., :, at], N_a)
        rows = [columns[..., : at.start, :], columns[..., at, :] + N_f, columns[..., at.stop :, :]]
        by_q = _with_columns(by_q, at, np.concatenate(rows, axis=-2))
        by_v = _with_columns(by_v, at, dv[..., :, at] + np.matmul(M[..., :, at], N_av))
    return _both_sides(state, by_q), _both_sides(state, by_v), inertia(state, M), force(state, tau)


def solve_in_left(
    tree: Tree, q: NDArray[Any], tau: NDArray[Any], solve: Callable[[NDArray[Any]], NDArray[Any]]
) -> NDArray[Any]:
    """M^-1 τ, by `solve` for the mass matrix in "left", which has the sparsity of the tree."""
    return base_velocity.from_left(tree, q, solve(base_velocity.force_to_left(tree, q, tau)))


# ---- further uses of the representation ------------------------------------------------------------------------------


def base_directions(
    tree: Tree, joint: Joint, left: Sequence[Twist], W_H_B: Pose, W_o_O: NDArray[Any]
) -> list[tuple[Twist, str]] | None:
    """The twists about O, along the world's axes, of the velocities of a base, and what carries each along.

    That is "none" for what stands still in the world, "child" for the base, and "position" for the base's first three
    velocities alone. Columns of Jacobians follow from them with fewer operations than from those in "left".

    Args:
        tree: the robot.
        joint: one of its joints.
        left: the twists of the joint's left-trivialised velocities.
        W_H_B: the pose of its child, with O at the world's origin.
        W_o_O: (..., 3), where O is in the world.

    Returns:
        None where the directions are those in "left".
    """
    if tree.velocity == "left" or not tree.is_base(joint):
        return None
    axes = [joint.placement.rotation.matrix[..., :, k] for k in range(3)]
    slides = [(Twist._trusted(e, np.zeros_like(e)), "none") for e in axes]
    if tree.velocity == "kindr":
        return [*slides, *((twist, "child") for twist in left[3:])]
    if tree.velocity == "mixed":
        return [*slides, *((_turn_about(W_H_B.position, e), "position") for e in axes)]
    return [*slides, *((_turn_about(joint.placement.position - W_o_O, e), "none") for e in axes)]


def armature(tree: Tree, joint: Joint, q: NDArray[Any]) -> NDArray[Any] | None:
    """The armature of a joint in the mass matrix for "left"; None if it is zero.

    The armature is on the diagonal of the mass matrix in the tree's own representation. A rotation does not change that
    of a base if it is equal along all axes; a change of the reference point, as in "right", does.
    """
    own = tree.armature[..., joint.v]
    if is_zero(own):
        return None
    alike = not is_traced(own) and bool((own[..., :3] == own[..., :1]).all() and (own[..., 3:] == own[..., 3:4]).all())
    if not tree.is_base(joint) or tree.velocity == "left" or (alike and tree.velocity != "right"):
        return diagonal(own)
    T = base_velocity.between(joint, q, "left", tree.velocity)
    return np.matmul(transpose(T), own[..., :, None] * T)


# ---- maps ------------------------------------------------------------------------------------------------------------


def _change_maps(
    v: NDArray[Any], a: NDArray[Any], f: NDArray[Any], *, representation: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """N_v, N_a, N_f and N_av, each (..., 6, 6), from the velocity, acceleration and force of a base in "left"."""
    zero = np.zeros((*v.shape[:-1], 3, 3), v.dtype)
    F, N = hat3(f[..., :3]), hat3(f[..., 3:])
    if representation == "right":
        return ad(v), ad(a), _blocks(zero, -F, -F, -N), _blocks(zero, zero, zero, zero)
    V, W, alpha = hat3(v[..., :3]), hat3(v[..., 3:]), hat3(a[..., 3:])
    origin = hat3(a[..., :3] + cross3(v[..., 3:], v[..., :3])) - np.matmul(W, V)
    N_av = _blocks(-W, V, zero, zero)
    if representation == "kindr":
        upper_right = _blocks(zero, V, zero, zero), _blocks(zero, origin, zero, zero), _blocks(zero, -F, zero, zero)
        return *upper_right, N_av
    turning = origin + np.matmul(V, W)
    return _blocks(zero, V, zero, W), _blocks(zero, turning, zero, alpha), _blocks(zero, -F, zero, -N), N_av


def _map_rate(v: NDArray[Any], representation: str) -> NDArray[Any]:
    """N, (..., 6, 6), with T' = N T, from the velocity of a base in "left"."""
    if representation == "right":
        return -ad(v)
    W = hat3(v[..., 3:])
    zero = np.zeros_like(W)
    return _blocks(-W, zero, zero, -W if representation == "mixed" else zero)


def _both_sides(state: State, D: NDArray[Any]) -> NDArray[Any]:
    """T^T D T."""
    D_T = base_velocity.columns_from_left(state.tree, state.q, D)
    return transpose(base_velocity.columns_from_left(state.tree, state.q, transpose(D_T)))


def _with_columns(D: NDArray[Any], at: slice, columns: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([D[..., :, : at.start], columns, D[..., :, at.stop :]], axis=-1)


def _blocks(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
    return block_matrix([[a, b], [c, d]])


def _turn_about(point: NDArray[Any], axis: NDArray[Any]) -> Twist:
    return Twist._trusted(cross3(point, axis), axis)
