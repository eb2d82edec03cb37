"""Every public function of geometry that takes arrays, with the kinds of its arguments: one table for many tests.

A test that must hold for all of them (shapes, dtypes, NaN, wrong arguments, memory layouts) runs over `TABLE`; another
one proves that no public name is missing from it. Arguments are drawn as arrays of any batch shape; the kinds with a
capital letter become values (a Rotation, a Pose, ...) on the way in.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import multibody as mb
from multibody.geometry import (
    derivatives,
    euler,
    groups,
    kirchhoff,
    log_cholesky,
    operators,
    points,
    quaternions,
    rates,
    representations,
    so3,
)

GROUPS = {
    "SO2": groups.SO2(),
    "SO3": groups.SO3(),
    "SE2": groups.SE2(),
    "SE3": groups.SE3(),
    "Schoenflies-x": groups.Schoenflies("x"),
    "Schoenflies-y": groups.Schoenflies("y"),
    "Schoenflies-z": groups.Schoenflies("z"),
    "R1": groups.R1(),
    "R2": groups.R2(),
    "R3": groups.R3(),
    "Helical-0.2": groups.Helical(pitch=0.2),
    "Helical--1.5": groups.Helical(pitch=-1.5),
}
SEQUENCES = (*euler.SEQUENCES, *(euler.EXTRINSIC + s for s in euler.SEQUENCES))
PARAMETERISATIONS = (*rates.ORIENTATIONS, *("euler-extrinsic-" + s for s in euler.SEQUENCES))
TYPICAL = [p for p in PARAMETERISATIONS if not p.startswith("euler") or p[-3:] in ("zyx", "zxz")]
POSITIONS = ("cartesian", "cylindrical", "spherical")
REPRESENTATIONS = ("left", "right", "mixed", "kindr")


# ---- the kinds of arguments ------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """How an argument is drawn, the number of its core axes, and what it becomes on the way in."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
    core: int
    value: Callable[[np.ndarray], Any] = lambda array: array


def vectors(n, low=-1.0, high=1.0):
    return lambda rng, batch: rng.uniform(low, high, (*batch, n))


def scalars(low, high):
    return lambda rng, batch: np.asarray(rng.uniform(low, high, batch))


def unit_vectors(n):
    def draw(rng, batch):
        x = rng.standard_normal((*batch, n))
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    return draw


def rotation_matrices(rng, batch=()):
    """Uniform rotations by a QR decomposition."""
    Q, R = np.linalg.qr(rng.standard_normal((*batch, 3, 3)))
    Q = Q * np.sign(np.einsum("...ii->...i", R))[..., None, :]
    Q[..., 0] *= np.linalg.det(Q)[..., None]
    return Q


def homogeneous_matrices(rng, batch=()):
    H = np.zeros((*batch, 4, 4))
    H[..., :3, :3] = rotation_matrices(rng, batch)
    H[..., :3, 3] = rng.uniform(-1, 1, (*batch, 3))
    H[..., 3, 3] = 1
    return H


def positive_definite(n):
    def draw(rng, batch):
        A = rng.uniform(-1, 1, (*batch, n, n))
        return A @ np.swapaxes(A, -1, -2) + np.eye(n)

    return draw


def particles(rng, batch=(), count=6):
    """A rigid body that exists: masses (..., n) and places (..., n, 3) of particles."""
    return rng.uniform(0.2, 1.0, (*batch, count)), rng.uniform(-1, 1, (*batch, count, 3))


def rotational_inertia(masses, places):
    """Σ m (r·r 1 - r r^T), about the origin."""
    r2 = np.einsum("...n,...ni,...ni->...", masses, places, places)
    return r2[..., None, None] * np.eye(3) - np.einsum("...n,...ni,...nj->...ij", masses, places, places)


def inertial_parameters(rng, batch=()):
    masses, places = particles(rng, batch)
    J = rotational_inertia(masses, places)
    entries = [J[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    moment = np.einsum("...n,...ni->...i", masses, places)
    return np.concatenate([masses.sum(-1)[..., None], moment, np.stack(entries, axis=-1)], axis=-1)


def parameters_of(name):
    """Parameters well away from every singularity."""
    if name == "quaternion":
        return unit_vectors(4)
    if name == "matrix":
        return lambda rng, batch: rotation_matrices(rng, batch).reshape(*batch, 9)
    if name == "angle-axis":
        axis = unit_vectors(3)
        return lambda rng, batch: np.concatenate([rng.uniform(0.3, 3, (*batch, 1)), axis(rng, batch)], axis=-1)
    return vectors(3, 0.3, 1.2)


KINDS = {
    "matrix3": Kind(rotation_matrices, 2),
    "matrix4": Kind(homogeneous_matrices, 2),
    "any-3x3": Kind(lambda rng, batch: rng.uniform(-1, 1, (*batch, 3, 3)), 2),
    "any-4x4": Kind(lambda rng, batch: rng.uniform(-1, 1, (*batch, 4, 4)), 2),
    "outer-4x4": Kind(lambda rng, batch: np.einsum("...i,...j->...ij", *[unit_vectors(4)(rng, batch)] * 2), 2),
    "quaternion": Kind(unit_vectors(4), 1),
    "axis": Kind(unit_vectors(3), 1),
    "vector3": Kind(vectors(3), 1),
    "vector6": Kind(vectors(6), 1),
    "vector10": Kind(vectors(10), 1),
    "angle": Kind(scalars(-3, 3), 0),
    "t": Kind(scalars(0.1, 0.9), 0),
    "mass": Kind(scalars(0.5, 2), 0),
    "inertia3": Kind(lambda rng, batch: rotational_inertia(*particles(rng, batch)), 2),
    "parameters10": Kind(inertial_parameters, 1),
    "inertia6": Kind(
        lambda rng, batch: mb.SpatialInertia.from_parameters(inertial_parameters(rng, batch)).matrix, 2
    ),
    "Rotation": Kind(rotation_matrices, 2, mb.Rotation.from_matrix),
    "Pose": Kind(homogeneous_matrices, 2, mb.Pose.from_matrix),
    "Twist": Kind(vectors(6), 1, mb.Twist.from_vector),
    "Wrench": Kind(vectors(6), 1, mb.Wrench.from_vector),
    "SpatialInertia": Kind(inertial_parameters, 1, mb.SpatialInertia.from_parameters),
    **{f"parameters of {name}": Kind(parameters_of(name), 1) for name in PARAMETERISATIONS},
    **{f"rates of {name}": Kind(vectors(np.shape(parameters_of(name)(np.random.default_rng(0), ()))[-1]), 1)
       for name in PARAMETERISATIONS},
    **{f"parameters of {name}": Kind(vectors(3, 0.3, 1.2), 1) for name in POSITIONS},
    **{f"vector of {name}": Kind(vectors(G.dim), 1) for name, G in GROUPS.items()},
    **{f"element of {name}": Kind(lambda rng, batch, G=G: G.exp(rng.uniform(-1, 1, (*batch, G.dim))), 2)
       for name, G in GROUPS.items()},
    **{f"inertia of {name}": Kind(positive_definite(G.dim), 2) for name, G in GROUPS.items()},
}  # fmt: skip


# ---- the functions ---------------------------------------------------------------------------------------------------


class Function(NamedTuple):
    """A public function and the kinds of its arguments."""

    call: Callable[..., Any]
    kinds: tuple[str, ...]

    def draw(self, rng, *batches, dtype=np.float64):
        """Arrays for all arguments: of one batch shape, or of one each."""
        batches = batches if len(batches) == len(self.kinds) else batches[:1] * len(self.kinds)
        return [KINDS[k].draw(rng, b).astype(dtype) for k, b in zip(self.kinds, batches, strict=True)]

    def __call__(self, *arrays):
        """The results as a tuple of plain arrays."""
        return plain(self.call(*(KINDS[k].value(a) for k, a in zip(self.kinds, arrays, strict=True))))


def plain(result):
    """The arrays of a result: one, several, or those of a value."""
    if isinstance(result, tuple):
        return tuple(array for part in result for array in plain(part))
    match result:
        case mb.Rotation():
            return (result.matrix,)
        case mb.Pose():
            return result.rotation.matrix, result.position
        case mb.Twist():
            return result.linear, result.angular
        case mb.Wrench():
            return result.force, result.torque
        case mb.SpatialInertia():
            return np.asarray(result.mass), result.com, result.inertia
    return (np.asarray(result),)


def _table():
    R, H, I = mb.Rotation, mb.Pose, mb.SpatialInertia
    yield "Rotation", R, "matrix3"
    yield "Rotation.from_matrix", R.from_matrix, "matrix3"
    yield "Rotation.from_matrix[project]", lambda M: R.from_matrix(M, project=True), "any-3x3"
    yield "Rotation.from_quaternion", R.from_quaternion, "quaternion"
    yield "Rotation.from_xyzw", R.from_xyzw, "quaternion"
    yield "Rotation.from_angle_axis", R.from_angle_axis, "angle", "axis"
    yield "Rotation.from_rotation_vector", R.from_rotation_vector, "vector3"
    yield "Rotation.exp", R.exp, "vector3"
    for axis in "xyz":
        yield f"Rotation.elementary[{axis}]", lambda angle, axis=axis: R.elementary(axis, angle), "angle"
    for s in SEQUENCES:
        yield f"Rotation.from_euler[{s}]", lambda chi, s=s: R.from_euler(s, chi), "vector3"
        yield f"Rotation.euler[{s}]", lambda r, s=s: r.euler(s), "Rotation"
    for name in ("matrix", "quaternion", "xyzw", "angle_axis", "rotation_vector"):
        yield f"Rotation.{name}", lambda r, name=name: getattr(r, name), "Rotation"
    yield "Rotation.log", R.log, "Rotation"
    yield "Rotation.inverse", R.inverse, "Rotation"
    yield "Rotation.__matmul__[Rotation]", R.__matmul__, "Rotation", "Rotation"
    yield "Rotation.__matmul__[vectors]", R.__matmul__, "Rotation", "vector3"
    yield "Rotation.boxplus", R.boxplus, "Rotation", "vector3"
    yield "Rotation.boxminus", R.boxminus, "Rotation", "Rotation"
    yield "Rotation.interpolate", R.interpolate, "Rotation", "Rotation", "t"
    for frame in "AB":
        turn = lambda r, w, dt, frame=frame: r.integrate(w, dt, frame)
        yield f"Rotation.integrate[{frame}]", turn, "Rotation", "vector3", "t"
        rate = lambda r, s, dt, frame=frame: r.angular_velocity(s, dt, frame)
        yield f"Rotation.angular_velocity[{frame}]", rate, "Rotation", "Rotation", "t"
    yield "Rotation.angle_to", R.angle_to, "Rotation", "Rotation"

    yield "Pose", H, "Rotation", "vector3"
    yield "Pose.from_matrix", H.from_matrix, "matrix4"
    yield "Pose.exp", H.exp, "vector6"
    for name in ("rotation", "position", "matrix", "adjoint", "dual_adjoint"):
        yield f"Pose.{name}", lambda h, name=name: getattr(h, name), "Pose"
    yield "Pose.log", H.log, "Pose"
    yield "Pose.inverse", H.inverse, "Pose"
    yield "Pose.pull[Pose]", lambda H, G: H.pull(G), "Pose", "Pose"
    yield "Pose.pull[points]", H.pull, "Pose", "vector3"
    yield "Pose.__matmul__[Pose]", H.__matmul__, "Pose", "Pose"
    yield "Pose.__matmul__[points]", H.__matmul__, "Pose", "vector3"
    for kind in ("Twist", "Wrench", "SpatialInertia"):
        yield f"Pose.__matmul__[{kind}]", lambda h, x: h @ x, "Pose", kind
    yield "Pose.boxplus", H.boxplus, "Pose", "vector6"
    yield "Pose.boxminus", H.boxminus, "Pose", "Pose"
    for method in ("screw", "decoupled"):
        between = lambda a, b, t, method=method: a.interpolate(b, t, method)
        yield f"Pose.interpolate[{method}]", between, "Pose", "Pose", "t"
    for name in ("left", "right", "mixed"):
        yield f"Pose.integrate[{name}]", lambda h, v, t, name=name: h.integrate(v, t, name), "Pose", "vector6", "t"

    for name, cls in (("Twist", mb.Twist), ("Wrench", mb.Wrench)):
        yield name, cls, "vector3", "vector3"
        yield f"{name}.from_vector", cls.from_vector, "vector6"
        yield f"{name}.vector", lambda x: x.vector, name
        yield f"{name}.__add__", lambda x, y: x + y, name, name
        yield f"{name}.__sub__", lambda x, y: x - y, name, name
        yield f"{name}.__neg__", lambda x: -x, name
        yield f"{name}.__mul__", lambda x, t: x * t, name, "t"
        yield f"{name}.__rmul__", lambda x, t: t * x, name, "t"
        for part in cls.__slots__:
            yield f"{name}.{part}", lambda x, part=part: getattr(x, part), name
    yield "Twist.hat", mb.Twist.hat, "Twist"
    yield "Twist.ad", mb.Twist.ad, "Twist"
    yield "Twist.cross[Twist]", mb.Twist.cross, "Twist", "Twist"
    yield "Twist.cross[Wrench]", mb.Twist.cross, "Twist", "Wrench"
    yield "Twist.power", mb.Twist.power, "Twist", "Wrench"
    yield "Wrench.power", mb.Wrench.power, "Wrench", "Twist"

    yield "SpatialInertia", lambda m, c, J: I(mass=m, com=c, inertia=J), "mass", "vector3", "inertia3"
    yield "SpatialInertia.from_matrix", I.from_matrix, "inertia6"
    yield "SpatialInertia.from_parameters", I.from_parameters, "parameters10"
    for name in ("mass", "com", "inertia", "first_moment", "about_origin", "matrix"):
        yield f"SpatialInertia.{name}", lambda body, name=name: getattr(body, name), "SpatialInertia"
    yield "SpatialInertia.parameters", I.parameters, "SpatialInertia"
    yield "log_cholesky.parameters", log_cholesky.parameters, "vector10"
    yield "log_cholesky.from_parameters", log_cholesky.from_parameters, "parameters10"
    yield "log_cholesky.pseudo_inertia", log_cholesky.pseudo_inertia, "parameters10"
    yield "SpatialInertia.transformed", I.transformed, "SpatialInertia", "Pose"
    yield "SpatialInertia.__matmul__", I.__matmul__, "SpatialInertia", "Twist"
    yield "SpatialInertia.__add__", lambda a, b: a + b, "SpatialInertia", "SpatialInertia"
    yield "SpatialInertia.momentum", I.momentum, "SpatialInertia", "vector6"
    yield "SpatialInertia.kinetic_energy", I.kinetic_energy, "SpatialInertia", "vector6"
    yield "SpatialInertia.newton_euler", I.newton_euler, "SpatialInertia", "vector6", "vector6"
    yield "SpatialInertia.acceleration", I.acceleration, "SpatialInertia", "vector6", "vector6"
    at_com = I.newton_euler_at_com
    yield "SpatialInertia.newton_euler_at_com", at_com, "SpatialInertia", "vector3", "vector3", "vector3"
    yield "kirchhoff", kirchhoff, "vector6", "vector6", "vector6"

    for name, kinds in {
        "hat3": ("vector3",), "vee3": ("any-3x3",), "hat6": ("vector6",), "vee6": ("any-4x4",),
        "cross3": ("vector3", "vector3"), "ad": ("vector6",), "ad_dual": ("vector6",),
        "cross6": ("vector6", "vector6"), "cross6_dual": ("vector6", "vector6"),
    }.items():  # fmt: skip
        yield f"operators.{name}", getattr(operators, name), *kinds
    for name, count in {"velocity": 3, "acceleration": 4, "derivative": 3, "velocity_of_moving_point": 4}.items():
        yield f"points.{name}", getattr(points, name), *["vector3"] * count
    for name, kinds in {
        "conjugate": ("quaternion",), "multiply": ("quaternion", "quaternion"), "left_matrix": ("quaternion",),
        "right_matrix": ("quaternion",), "pure": ("vector3",), "rotate": ("quaternion", "vector3"),
        "rate_matrix": ("quaternion",), "rate_matrix_bar": ("quaternion",), "normalize": ("quaternion",),
        "to_matrix": ("quaternion",), "from_matrix": ("matrix3",), "from_rotation_vector": ("vector3",),
        "to_rotation_vector": ("quaternion",), "canonical": ("quaternion",), "to_angle_axis": ("quaternion",),
        "of_nearest_rotation": ("any-3x3",),
    }.items():  # fmt: skip
        yield f"quaternions.{name}", getattr(quaternions, name), *kinds
    yield "quaternions.dominant", quaternions.dominant, "outer-4x4"
    for name in ("exp", "left_jacobian", "left_jacobian_inverse", "right_jacobian", "right_jacobian_inverse"):
        yield f"so3.{name}", getattr(so3, name), "vector3"
    yield "so3.log", so3.log, "matrix3"
    yield "so3.from_angle_axis", so3.from_angle_axis, "angle", "axis"
    yield "so3.left_jacobian_dot", so3.left_jacobian_dot, "vector3", "vector3"
    yield "derivatives.of_rotated_vector", derivatives.of_rotated_vector, "Rotation", "vector3"
    yield "derivatives.of_inverse", derivatives.of_inverse, "Rotation"
    yield "derivatives.of_composition_left", derivatives.of_composition_left, "Rotation", "Rotation"
    yield "derivatives.of_composition_right", derivatives.of_composition_right, "Rotation", "Rotation"
    yield "derivatives.of_exponential", derivatives.of_exponential, "vector3"
    yield "derivatives.of_logarithm", derivatives.of_logarithm, "Rotation"

    for name in POSITIONS:
        chi = f"parameters of {name}"
        yield f"rates.position[{name}]", lambda c, n=name: rates.position(n, c), chi
        yield f"rates.position_inverse[{name}]", lambda r, n=name: rates.position_inverse(n, r), "vector3"
        yield f"rates.linear[{name}]", lambda c, n=name: rates.linear(n, c), chi
        yield f"rates.linear_inverse[{name}]", lambda c, n=name: rates.linear_inverse(n, c), chi
        damped = lambda c, n=name: rates.linear_inverse(n, c, damping=0.1)
        yield f"rates.linear_inverse[{name}, damped]", damped, chi
        yield f"rates.linear_dot[{name}]", lambda c, d, n=name: rates.linear_dot(n, c, d), chi, "vector3"
    for name in TYPICAL:
        chi, dchi = f"parameters of {name}", f"rates of {name}"
        yield f"rates.rotation[{name}]", lambda c, n=name: rates.rotation(n, c), chi
        yield f"rates.parameters[{name}]", lambda r, n=name: rates.parameters(n, r), "Rotation"
        for f in "AB":
            yield f"rates.angular[{name}, {f}]", lambda c, n=name, f=f: rates.angular(n, c, f), chi
            yield f"rates.angular_inverse[{name}, {f}]", lambda c, n=name, f=f: rates.angular_inverse(n, c, f), chi
            damped = lambda c, n=name, f=f: rates.angular_inverse(n, c, f, damping=0.1)
            yield f"rates.angular_inverse[{name}, {f}, damped]", damped, chi
            dot = lambda c, d, n=name, f=f: rates.angular_dot(n, c, d, f)
            yield f"rates.angular_dot[{name}, {f}]", dot, chi, dchi
    for s in REPRESENTATIONS:
        for t in REPRESENTATIONS:
            to = f"{s} to {t}"
            yield f"representations.transform[{to}]", lambda h, s=s, t=t: representations.transform(h, s, t), "Pose"
            move = lambda h, v, s=s, t=t: representations.velocity(h, v, s, t)
            yield f"representations.velocity[{to}]", move, "Pose", "vector6"
            move = lambda h, f, s=s, t=t: representations.wrench(h, f, s, t)
            yield f"representations.wrench[{to}]", move, "Pose", "vector6"
            move = lambda h, v, a, s=s, t=t: representations.acceleration(h, v, a, s, t)
            yield f"representations.acceleration[{to}]", move, "Pose", "vector6", "vector6"
    yield "representations.in_frame", representations.in_frame, "Pose", "vector6"
    in_frame = representations.apparent_in_frame
    yield "representations.apparent_in_frame", in_frame, "Pose", "vector6", "vector6", "vector6"
    yield "representations.intrinsic", representations.intrinsic, "vector6", "vector6", "vector6"
    yield "representations.apparent", representations.apparent, "vector6", "vector6", "vector6"

    for name in ("SO2", "SO3", "SE2", "SE3", "Schoenflies-y", "R1", "R2", "R3", "Helical-0.2"):
        G = GROUPS[name]
        x, g, M = f"vector of {name}", f"element of {name}", f"inertia of {name}"
        for method, kinds in {
            "hat": (x,), "vee": (g,), "exp": (x,), "log": (g,), "Ad": (g,), "pose": (g,), "inverse": (g,), "ad": (x,),
            "ad_swapped": (x,), "S": (x,), "S_inverse": (x,), "C": (M, x), "inertia": ("inertia6",),
            "spatial_inertia": (g, M), "inverse_dynamics": (M, x, x), "forward_dynamics": (M, x, x),
        }.items():  # fmt: skip
            yield f"groups.{method}[{name}]", getattr(G, method), *kinds


TABLE = {label: Function(call, kinds) for label, call, *kinds in _table()}
