"""Every function of geometry can be traced: it runs on an array that refuses all but the agreed idioms.

The probe below stands for the traced array of the compiler. It computes, so that results can be compared with the eager
ones, but it has no `__array__`, no truth value, no `float()`, no item assignment, and knows only the NumPy
functions that design.md allows.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

from multibody import geometry
from multibody.geometry import Pose, Rotation, SpatialInertia, Twist, Wrench, groups, rates, representations

UFUNCS = """add subtract multiply divide negative positive absolute sign sqrt sin cos tan arcsin arccos arctan2 exp log
    tanh hypot power minimum maximum less less_equal greater greater_equal equal not_equal matmul
    logical_and logical_or logical_not bitwise_and bitwise_or invert""".split()
FUNCTIONS = """where clip stack concatenate block zeros_like ones_like cross dot einsum trace outer sum prod norm solve
    inv cholesky reshape transpose swapaxes moveaxis broadcast_to""".split()


class Probe(NDArrayOperatorsMixin):
    """A stand-in for a traced array."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value
        self.shape, self.ndim, self.dtype = value.shape, value.ndim, value.dtype

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> "Probe":
        assert method == "__call__", f"{ufunc.__name__}.{method} is not traceable"
        assert ufunc.__name__ in UFUNCS, f"{ufunc.__name__} is not traceable"
        with np.errstate(all="ignore"):
            return wrap(ufunc(*unwrap(inputs), **unwrap(kwargs)))

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        assert function.__name__ in FUNCTIONS, f"np.{function.__name__} is not traceable"
        return wrap(function(*unwrap(args), **unwrap(kwargs)))

    def __getitem__(self, index: Any) -> "Probe":
        index = index if isinstance(index, tuple) else (index,)
        assert all(i is None or i is Ellipsis or isinstance(i, int | slice) for i in index), f"index {index}"
        return Probe(np.asarray(self.value[index]))

    def reshape(self, *shape: Any) -> "Probe":
        return Probe(self.value.reshape(*shape))

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("traced code asked for a value")

    __array__ = __bool__ = __float__ = __int__ = __iter__ = __setitem__ = _refuse


def unwrap(x: Any) -> Any:
    if isinstance(x, Probe):
        return x.value
    if isinstance(x, list | tuple):
        return type(x)(unwrap(y) for y in x)
    return {key: unwrap(y) for key, y in x.items()} if isinstance(x, dict) else x


def wrap(x: Any) -> Any:
    return Probe(np.asarray(x))


def numbers(result: Any) -> list[Any]:
    """The arrays that a result is made of."""
    if isinstance(result, tuple):
        return [array for part in result for array in numbers(part)]
    return list(result._arrays()) if isinstance(result, Rotation | Pose | Twist | Wrench | SpatialInertia) else [result]


rng = np.random.default_rng(5)
BATCH = (3,)
x3, y3, z3, u3 = (rng.uniform(0.2, 1.0, (*BATCH, 3)) for _ in range(4))
x4, x6, y6, z6 = (rng.uniform(0.2, 1.0, (*BATCH, n)) for n in (4, 6, 6, 6))
x33, x44 = rng.uniform(-1, 1, (*BATCH, 3, 3)), rng.uniform(-1, 1, (*BATCH, 4, 4))
R1, R2 = (np.array(Rotation.random(rng, BATCH).matrix) for _ in range(2))
H1, H2 = (np.array(Pose.random(rng, BATCH).matrix) for _ in range(2))
mass, com, inertia = rng.uniform(1, 2, BATCH), x3, x33 @ np.swapaxes(x33, -1, -2) + np.eye(3)
inertia = (inertia + np.swapaxes(inertia, -1, -2)) / 2
t = rng.uniform(0, 1, BATCH)


def body(m: Any, c: Any, I: Any) -> SpatialInertia:
    return SpatialInertia(mass=m, com=c, inertia=I)


R, P, B = Rotation.from_matrix, Pose.from_matrix, body
CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "Rotation": (Rotation, (R1,)),
    "Rotation.from_matrix": (R, (R1,)),
    "Rotation.from_matrix project": (lambda m: R(m, project=True), (R1 + 0.1 * x33,)),
    "Rotation.from_quaternion": (Rotation.from_quaternion, (x4,)),
    "Rotation.from_xyzw": (Rotation.from_xyzw, (x4,)),
    "Rotation.from_angle_axis": (Rotation.from_angle_axis, (t, x3)),
    "Rotation.from_rotation_vector": (Rotation.from_rotation_vector, (x3,)),
    "Rotation.exp": (Rotation.exp, (x3,)),
    "Rotation.elementary": (lambda a: Rotation.elementary("y", a), (t,)),
    "Rotation.matrix": (lambda q: Rotation.from_quaternion(q).matrix, (x4,)),
    "Rotation.quaternion": (lambda m: R(m).quaternion, (R1,)),
    "Rotation.xyzw": (lambda m: R(m).xyzw, (R1,)),
    "Rotation.angle_axis": (lambda m: R(m).angle_axis, (R1,)),
    "Rotation.rotation_vector": (lambda m: R(m).rotation_vector, (R1,)),
    "Rotation.log": (lambda m: R(m).log(), (R1,)),
    "Rotation.inverse": (lambda m: R(m).inverse(), (R1,)),
    "Rotation.boxplus": (lambda m, v: R(m).boxplus(v), (R1, x3)),
    "Rotation.boxminus": (lambda m, n: R(m).boxminus(R(n)), (R1, R2)),
    "Rotation.interpolate": (lambda m, n, t: R(m).interpolate(R(n), t), (R1, R2, t)),
    "Rotation.integrate": (lambda m, w, t: (R(m).integrate(w, t), R(m).integrate(w, t, "B")), (R1, x3, t)),
    "Rotation.angular_velocity": (lambda m, n, t: R(m).angular_velocity(R(n), t, "B"), (R1, R2, t)),
    "Rotation.angle_to": (lambda m, n: R(m).angle_to(R(n)), (R1, R2)),
    "Rotation.mean": (lambda m: R(m).mean(), (R1,)),
    "Rotation @": (lambda m, n, v: (R(m) @ R(n), R(m) @ v), (R1, R2, x3)),
    "Pose": (lambda m, p: Pose(R(m), p), (R1, x3)),
    "Pose.from_matrix": (P, (H1,)),
    "Pose.exp": (Pose.exp, (x6,)),
    "Pose.matrix": (lambda h: P(h).matrix, (H1,)),
    "Pose.adjoint": (lambda h: P(h).adjoint, (H1,)),
    "Pose.dual_adjoint": (lambda h: P(h).dual_adjoint, (H1,)),
    "Pose.inverse": (lambda h: P(h).inverse(), (H1,)),
    "Pose.log": (lambda h: P(h).log(), (H1,)),
    "Pose.boxplus": (lambda h, v: P(h).boxplus(v), (H1, x6)),
    "Pose.boxminus": (lambda h, k: P(h).boxminus(P(k)), (H1, H2)),
    "Pose.interpolate": (
        lambda h, k, t: (P(h).interpolate(P(k), t), P(h).interpolate(P(k), t, "decoupled")),
        (H1, H2, t),
    ),
    "Pose.integrate": (
        lambda h, v, t: tuple(P(h).integrate(v, t, r) for r in ("left", "right", "mixed")),
        (H1, x6, t),
    ),
    "Pose @": (
        lambda h, k, p, v: (P(h) @ P(k), P(h) @ p, P(h) @ Twist.from_vector(v), P(h) @ Wrench.from_vector(v)),
        (H1, H2, x3, x6),
    ),
    "Twist": (Twist, (x3, y3)),
    "Twist.vector": (lambda v, w: Twist(v, w).vector, (x3, y3)),
    "Twist.hat": (lambda v: Twist.from_vector(v).hat(), (x6,)),
    "Twist.ad": (lambda v: Twist.from_vector(v).ad(), (x6,)),
    "Twist.cross": (
        lambda v, u: (
            Twist.from_vector(v).cross(Twist.from_vector(u)),
            Twist.from_vector(v).cross(Wrench.from_vector(u)),
        ),
        (x6, y6),
    ),
    "Twist.power": (lambda v, f: Twist.from_vector(v).power(Wrench.from_vector(f)), (x6, y6)),
    "Twist algebra": (
        lambda v, u, t: 2.0 * Twist.from_vector(v) - Twist.from_vector(u) * t + -Twist.from_vector(v),
        (x6, y6, t),
    ),
    "Wrench": (Wrench, (x3, y3)),
    "Wrench.power": (lambda v, f: Wrench.from_vector(f).power(Twist.from_vector(v)), (x6, y6)),
    "Wrench.vector": (lambda v, w: Wrench(v, w).vector, (x3, y3)),
    "SpatialInertia": (body, (mass, com, inertia)),
    "SpatialInertia.from_matrix": (SpatialInertia.from_matrix, (body(mass, com, inertia).matrix,)),
    "SpatialInertia.from_parameters": (SpatialInertia.from_parameters, (body(mass, com, inertia).parameters(),)),
    "SpatialInertia.parameters": (lambda m, c, I: B(m, c, I).parameters(), (mass, com, inertia)),
    "SpatialInertia.about_origin": (lambda m, c, I: B(m, c, I).about_origin, (mass, com, inertia)),
    "SpatialInertia.matrix": (lambda m, c, I: B(m, c, I).matrix, (mass, com, inertia)),
    "SpatialInertia.transformed": (lambda m, c, I, h: B(m, c, I).transformed(P(h)), (mass, com, inertia, H1)),
    "SpatialInertia.momentum": (lambda m, c, I, v: B(m, c, I).momentum(v), (mass, com, inertia, x6)),
    "SpatialInertia.kinetic_energy": (lambda m, c, I, v: B(m, c, I).kinetic_energy(v), (mass, com, inertia, x6)),
    "SpatialInertia.newton_euler": (
        lambda m, c, I, v, a: B(m, c, I).newton_euler(v, a),
        (mass, com, inertia, x6, y6),
    ),
    "SpatialInertia.acceleration": (
        lambda m, c, I, v, f: B(m, c, I).acceleration(v, f),
        (mass, com, inertia, x6, y6),
    ),
    "SpatialInertia.newton_euler_at_com": (
        lambda m, c, I, w, a, p: B(m, c, I).newton_euler_at_com(w, a, p),
        (mass, com, inertia, x3, y3, z3),
    ),
    "SpatialInertia @ +": (
        lambda m, c, I, v, h: (B(m, c, I) @ Twist.from_vector(v), P(h) @ B(m, c, I) + B(m, c, I)),
        (mass, com, inertia, x6, H1),
    ),
    "kirchhoff": (geometry.kirchhoff, (x6, y6, z6)),
    "operators.hat3": (geometry.operators.hat3, (x3,)),
    "operators.vee3": (geometry.operators.vee3, (x33,)),
    "operators.hat6": (geometry.operators.hat6, (x6,)),
    "operators.vee6": (geometry.operators.vee6, (x44,)),
    "operators.cross3": (geometry.operators.cross3, (x3, y3)),
    "operators.ad": (geometry.operators.ad, (x6,)),
    "operators.ad_dual": (geometry.operators.ad_dual, (x6,)),
    "operators.cross6": (geometry.operators.cross6, (x6, y6)),
    "operators.cross6_dual": (geometry.operators.cross6_dual, (x6, y6)),
    "quaternions.multiply": (geometry.quaternions.multiply, (x4, x4)),
    "quaternions.rotate": (geometry.quaternions.rotate, (x4, x3)),
    "quaternions.pure": (geometry.quaternions.pure, (x3,)),
    "quaternions.from_matrix": (geometry.quaternions.from_matrix, (R1,)),
    "quaternions.from_rotation_vector": (geometry.quaternions.from_rotation_vector, (x3,)),
    "quaternions.of_nearest_rotation": (geometry.quaternions.of_nearest_rotation, (R1,)),
    "quaternions.dominant": (geometry.quaternions.dominant, (x44 @ np.swapaxes(x44, -1, -2),)),
    **{
        f"quaternions.{name}": (getattr(geometry.quaternions, name), (x4,))
        for name in """canonical conjugate left_matrix right_matrix rate_matrix rate_matrix_bar normalize to_matrix
            to_rotation_vector to_angle_axis""".split()
    },
    "so3.from_angle_axis": (geometry.so3.from_angle_axis, (t, x3)),
    "so3.log": (geometry.so3.log, (R1,)),
    "so3.left_jacobian_dot": (geometry.so3.left_jacobian_dot, (x3, y3)),
    **{
        f"so3.{name}": (getattr(geometry.so3, name), (x3,))
        for name in "exp left_jacobian left_jacobian_inverse right_jacobian right_jacobian_inverse".split()
    },
    "derivatives.of_rotated_vector": (lambda m, r: geometry.derivatives.of_rotated_vector(R(m), r), (R1, x3)),
    "derivatives.of_inverse": (lambda m: geometry.derivatives.of_inverse(R(m)), (R1,)),
    "derivatives.of_composition_left": (lambda m, n: geometry.derivatives.of_composition_left(R(m), R(n)), (R1, R2)),
    "derivatives.of_composition_right": (lambda m, n: geometry.derivatives.of_composition_right(R(m), R(n)), (R1, R2)),
    "derivatives.of_exponential": (geometry.derivatives.of_exponential, (x3,)),
    "derivatives.of_logarithm": (lambda m: geometry.derivatives.of_logarithm(R(m)), (R1,)),
    "points.velocity": (geometry.points.velocity, (x3, y3, z3)),
    "points.acceleration": (geometry.points.acceleration, (x3, y3, z3, u3)),
    "points.derivative": (geometry.points.derivative, (x3, y3, z3)),
    "points.velocity_of_moving_point": (geometry.points.velocity_of_moving_point, (x3, y3, z3, u3)),
    "representations.in_frame": (lambda h, v: representations.in_frame(P(h), v), (H1, x6)),
    "representations.apparent_in_frame": (
        lambda h, v, u, a: representations.apparent_in_frame(P(h), v, u, a),
        (H1, x6, y6, z6),
    ),
    "representations.intrinsic": (representations.intrinsic, (x6, y6, z6)),
    "representations.apparent": (representations.apparent, (x6, y6, z6)),
}
for source in representations.REPRESENTATIONS:
    for target in representations.REPRESENTATIONS:
        pair = {"source": source, "target": target}
        name = f" {source} to {target}"
        CASES["representations.transform" + name] = (lambda h, k=pair: representations.transform(P(h), **k), (H1,))
        CASES["representations.velocity" + name] = (
            lambda h, v, k=pair: representations.velocity(P(h), v, **k),
            (H1, x6),
        )
        CASES["representations.wrench" + name] = (lambda h, f, k=pair: representations.wrench(P(h), f, **k), (H1, x6))
        CASES["representations.acceleration" + name] = (
            lambda h, v, a, k=pair: representations.acceleration(P(h), v, a, **k),
            (H1, x6, y6),
        )
for name in ("cartesian", "cylindrical", "spherical"):
    for function in (rates.position, rates.position_inverse, rates.linear, rates.linear_inverse):
        CASES[f"rates.{function.__name__} {name}"] = (lambda chi, f=function, n=name: f(n, chi), (x3,))
    CASES[f"rates.linear_dot {name}"] = (lambda chi, d, n=name: rates.linear_dot(n, chi, d), (x3, y3))
    CASES[f"rates.linear_inverse {name} damped"] = (
        lambda chi, n=name: rates.linear_inverse(n, chi, damping=0.1),
        (x3,),
    )
for name in (*rates.ORIENTATIONS, "euler-extrinsic-xyz", "euler-extrinsic-zyz"):
    chi = np.array(rates.parameters(name, R(R1)))
    CASES[f"rates.rotation {name}"] = (lambda c, n=name: rates.rotation(n, c), (chi,))
    CASES[f"rates.parameters {name}"] = (lambda m, n=name: rates.parameters(n, R(m)), (R1,))
    CASES[f"rates.angular_inverse {name} damped"] = (lambda c, n=name: rates.angular_inverse(n, c, damping=0.1), (chi,))
    for frame in "AB":
        CASES[f"rates.angular {name} {frame}"] = (lambda c, n=name, f=frame: rates.angular(n, c, f), (chi,))
        CASES[f"rates.angular_inverse {name} {frame}"] = (
            lambda c, n=name, f=frame: rates.angular_inverse(n, c, f),
            (chi,),
        )
        CASES[f"rates.angular_dot {name} {frame}"] = (
            lambda c, d, n=name, f=frame: rates.angular_dot(n, c, d, f),
            (chi, chi[::-1].copy()),
        )
GROUPS = (
    groups.SO2(), groups.SO3(), groups.SE2(), groups.SE3(), groups.Schoenflies("x"), groups.Schoenflies("y"),
    groups.Schoenflies("z"), groups.R1(), groups.R2(), groups.R3(), groups.Helical(0.3),
)  # fmt: skip
for G in GROUPS:
    x, y = rng.uniform(0.2, 1.0, (2, *BATCH, G.dim))
    g, M = np.array(G.exp(x)), np.eye(G.dim) + 0.1
    for method in ("hat", "exp", "ad", "ad_swapped", "S", "S_inverse"):
        CASES[f"{G}.{method}"] = (getattr(G, method), (x,))
    for method in ("log", "vee", "Ad", "inverse", "pose"):
        CASES[f"{G}.{method}"] = (getattr(G, method), (g,))
    CASES[f"{G}.C"] = (G.C, (M, x))
    CASES[f"{G}.inertia"] = (G.inertia, (np.eye(6) + 0.1,))
    CASES[f"{G}.spatial_inertia"] = (G.spatial_inertia, (g, M))
    CASES[f"{G}.inverse_dynamics"] = (G.inverse_dynamics, (M, x, y))
    CASES[f"{G}.forward_dynamics"] = (G.forward_dynamics, (M, x, y))


@pytest.mark.parametrize("name", CASES)
def test_a_trace_computes_what_the_eager_run_computes(name: str) -> None:
    function, inputs = CASES[name]
    eager, traced = numbers(function(*inputs)), numbers(function(*map(Probe, inputs)))
    for e, p in zip(eager, traced, strict=True):
        p = p.value if isinstance(p, Probe) else p  # a result that does not depend on the values stays a constant
        assert p.shape == e.shape
        np.testing.assert_allclose(p, e, rtol=1e-13, atol=1e-14)  # einsum may sum in another order


def test_no_function_of_geometry_is_left_out() -> None:
    covered = {name.split(" ")[0] for name in CASES}
    modules = {m: getattr(geometry, m) for m in geometry.__all__ if inspect.ismodule(getattr(geometry, m))}
    missing = [
        f"{name}.{attribute}"
        for name, module in modules.items()
        for attribute, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not attribute.startswith("_")
        if f"{name}.{attribute}" not in covered
    ]
    classes = {name: getattr(geometry, name) for name in geometry.__all__ if inspect.isclass(getattr(geometry, name))}
    concrete_only = {
        "stack",
        "identity",
        "random",
        "zero",
        "problems",
        "check",
        "reshape",
        "shape",
        "euler",
        "from_euler",
    }
    missing += [
        f"{name}.{attribute}"
        for name, cls in classes.items()
        for attribute in vars(cls)
        if not attribute.startswith("_") and attribute not in cls.__slots__ and attribute not in concrete_only
        if f"{name}.{attribute}" not in covered
    ]
    assert missing == ["so3.check_whole_turns"]  # which is a check of concrete values
