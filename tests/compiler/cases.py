"""What the tests of the compiler share: traces of single operations, random programs, a suite of functions, threads."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from multibody import Pose, Rotation, SpatialInertia, Twist
from multibody.compiler.compile import compile  # noqa: A004
from multibody.compiler.config import config
from multibody.geometry import so3
from multibody.geometry.value import Value
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.ops import OPS
from multibody.tracing.record.trace import Input, Trace


def arrays(result: Any) -> list[np.ndarray]:
    """The arrays of a nested result."""
    if isinstance(result, Value):
        result = result._arrays()
    if isinstance(result, dict):
        result = list(result.values())
    return [a for part in result for a in arrays(part)] if isinstance(result, list | tuple) else [np.asarray(result)]


def cut_into(length: int, function: Callable[..., Any], *shapes: Any) -> Any:
    """The kernel of a function, in segments and modules of so many nodes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "cache", False)
        for name in ("ir.segments.SEGMENT_NODES", "ir.segments.MAX_UNCUT_NODES", "codegen.module.MODULE_NODES"):
            patch.setattr(f"multibody.compiler.{name}", length)
        return compile(function, *shapes)


# ---- one operation ---------------------------------------------------------------------------------------------------

DOMAINS = {
    "sqrt": (0.1, 3.0),
    "log": (0.1, 3.0),
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "tan": (-1.2, 1.2),
    "log1p": (-0.9, 2.0),
}
"""Where the operations that are not defined everywhere are; elsewhere (-2, 2)."""
OPERATIONS = [op for op, kind in OPS.items() if kind.arity > 0]
FLOAT_OPERATIONS = [op for op in OPERATIONS if not OPS[op].boolean]
LOGICAL = {"and", "or", "not"}


def single(op: str) -> Trace:
    """The trace of x -> op(x[0], x[1], ...); truth values go in as x > 0 and come out as 2 and 3."""
    return traces((op,))._replace(layout="array")


def traces(ops: Sequence[str]) -> Trace:
    """The trace of several operations, each with an argument and a result of its own; see `single`."""
    graph, outputs = Graph(), []
    for position, op in enumerate(ops):
        x = [graph.leaf("input", position, k) for k in range(OPS[op].arity)]
        truths = [graph.apply("lt", graph.const(0.0), k) for k in x] if op in LOGICAL or op == "select" else x
        node = graph.apply(op, *(truths if op in LOGICAL else [truths[0], *x[1:]]))
        if OPS[op].boolean:
            node = graph.apply("select", node, graph.const(2.0), graph.const(3.0))
        outputs.append(np.array(node))
    inputs = tuple(Input(f"x_{op}" if len(ops) > 1 else "x", (OPS[op].arity,)) for op in ops)
    return Trace(graph, inputs, tuple(outputs), ("tuple", *["array"] * len(ops)), np.dtype(np.float64))


def samples(op: str, count: int = 64) -> np.ndarray:
    """Arguments for `single(op)`, some of them equal, so that comparisons see ties."""
    low, high = DOMAINS.get(op, (-2.0, 2.0))
    x = np.random.default_rng(3).uniform(low, high, (count, OPS[op].arity))
    if op == "pow":
        x[:, 0] = np.abs(x[:, 0]) + 0.1
    if op in ("lt", "le", "eq", "ne", "min", "max"):
        x[::3, 1] = x[::3, 0]
    return x


# ---- random programs -------------------------------------------------------------------------------------------------

STEPS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: np.sin(a) * b,
    "minus": lambda a, *_: -a,
    "zero": lambda a, *_: a * 0.0,
    "twice": lambda a, *_: 2.0 * np.sin(a),
    "back": lambda a, *_: -1.5 * np.cos(a) + 0.0,
    "div": lambda a, b, _: a / (2.0 + np.sin(b)),
    "sin": lambda a, *_: np.sin(a),
    "cos": lambda a, *_: np.cos(a),
    "tanh": lambda a, *_: np.tanh(a),
    "exp": lambda a, *_: np.exp(np.sin(a)),
    "log": lambda a, *_: np.log(2.0 + np.cos(a)),
    "sqrt": lambda a, *_: np.sqrt(1.0 + np.sin(a) ** 2),
    "pow": lambda a, *_: np.cos(a) ** 3,
    "constant": lambda a, *_: a * 0.0 + 0.7,
}
CORNERS: dict[str, Callable[..., Any]] = {
    "abs": lambda a, *_: np.abs(a),
    "min": lambda a, b, _: np.minimum(a, b),
    "max": lambda a, b, _: np.maximum(a, b),
    "atan2": lambda a, b, _: np.arctan2(np.sin(a), 2.0 + np.cos(b)),
    "hypot": lambda a, b, _: np.hypot(np.sin(a), 1.0 + np.cos(b) ** 2),
    "where": lambda a, b, c: np.where(a < b, c, np.sin(a)),
    "both": lambda a, b, c: np.where((a < b) & (b < c), a, b),
}


def _instructions(names: list[str]) -> Any:
    place = st.integers(0, 30)
    return st.lists(st.tuples(st.sampled_from(names), place, place, place), min_size=1, max_size=25)


INSTRUCTIONS = _instructions([*STEPS, *CORNERS])
SMOOTH = _instructions([*STEPS])


def program(instructions: list[tuple[str, int, int, int]]) -> Callable[..., Any]:
    """A function of three numbers that returns three: each step works on results of earlier ones."""

    def run(x: Any) -> Any:
        values = [x[..., 0], x[..., 1], x[..., 2]]
        for name, *places in instructions:
            values.append({**STEPS, **CORNERS}[name](*(values[k % len(values)] for k in places)))
        return np.stack(values[-3:], axis=-1)

    return run


# ---- a suite of functions --------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A function of arrays with the last axes as its samples, and the shapes of these."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    low: float = -1.0
    high: float = 1.0

    def draw(self, *batch: int) -> list[np.ndarray]:
        rng = np.random.default_rng(7)
        return [rng.uniform(self.low, self.high, batch + shape) for shape in self.shapes]


def arm(q: Any) -> Any:
    """The tip and the heading of three links in the plane."""
    a = q[..., 0]
    b = a + q[..., 1]
    c = b + q[..., 2]
    x = np.cos(a) + 0.8 * np.cos(b) + 0.3 * np.cos(c)
    y = np.sin(a) + 0.8 * np.sin(b) + 0.3 * np.sin(c)
    return np.stack([x, y, c], axis=-1)


def pendulum(q: Any, v: Any, tau: Any) -> Any:
    """The accelerations of a double pendulum: a symmetric system of equations."""
    c, s = np.cos(q[..., 1]), np.sin(q[..., 1])
    m = 0.3 + 0.5 * c
    M = np.stack([np.stack([1.7 + c, m], axis=-1), np.stack([m, np.ones_like(c) * 0.3], axis=-1)], axis=-2)
    h = np.stack([-0.5 * s * (2 * v[..., 0] + v[..., 1]) * v[..., 1], 0.5 * s * v[..., 0] ** 2], axis=-1)
    return np.linalg.solve(M, (tau - h)[..., None])[..., 0]


def chain(x: Any) -> Any:
    """A pose from a vector, and back."""
    pose = Pose.exp(x)
    return {"pose": pose, "back": (pose @ pose).log(), "moved": pose.inverse() @ x[..., :3]}


def branches(x: Any) -> Any:
    """Truth values in all their uses."""
    a, b, c = x[..., 0], x[..., 1], x[..., 2]
    inside = (a * a + b * b <= 0.5) | ~(c > a) & (b != a)
    chosen = np.where(inside, np.sqrt(np.abs(a)), np.where(a == b, 1.0, b))
    return chosen, (a < b) * c + np.clip(c, -0.5, 0.25), np.sign(a) * np.hypot(b, c)


def functions(x: Any) -> Any:
    """Every function of one number."""
    return np.stack(
        [
            np.tan(x), np.arcsin(x), np.arccos(x), np.exp(x), np.log(2 + x), np.tanh(x), np.arctan2(x, 2.0),
            np.arctan(x), np.power(2.0 + x, x), (2 + x) ** 0.3, x**7, x**-2, 1 / x, np.maximum(x, 0.1), x + 0 * x,
        ],
        axis=-1,
    )  # fmt: skip


def body(x: Any, v: Any) -> Any:
    """Momentum and energy of a body that is turned."""
    inertia = SpatialInertia.from_parameters(np.concatenate([np.exp(x[..., :1]), x[..., 1:]], axis=-1))
    return inertia @ Twist.from_vector(v), inertia.kinetic_energy(v)


SUITE = {
    "arm": Case(arm, ((3,),), -3.0, 3.0),
    "pendulum": Case(pendulum, ((2,), (2,), (2,))),
    "chain": Case(chain, ((6,),)),
    "branches": Case(branches, ((3,),)),
    "functions": Case(functions, ((),), 0.2, 0.9),
    "body": Case(body, ((10,), (6,))),
    "rotation": Case(lambda x, y: (Rotation.exp(x) @ Rotation.exp(y)).quaternion, ((3,), (3,))),
    "matrix": Case(
        lambda A, b: np.linalg.inv(A @ np.swapaxes(A, -1, -2) + np.eye(4)) @ b[..., None] * b[..., None, :],
        ((4, 4), (4,)),
    ),
    "elimination": Case(lambda A, b: np.linalg.solve(A + np.eye(3), b[..., None])[..., 0], ((3, 3), (3,))),
    "cholesky": Case(lambda A: np.linalg.cholesky(A @ np.swapaxes(A, -1, -2) + np.eye(3)), ((3, 3),)),
    "tensor": Case(lambda x: x[..., :, None, None] * so3.exp(x)[..., None, :, :], ((3,),)),
    "constants": Case(lambda x: (x[..., :1] * 0.0, np.ones_like(x) * np.array([1.5, -2.0, 1e-300])), ((3,),)),
    "names": Case(lambda t1, y0, double: t1[..., 0] * y0 + double, ((2,), (), ())),
    "unused": Case(lambda xx, x, empty: (xx[..., 1] * 2, empty), ((3,), (2,), (0,))),  # noqa: ARG005
}  # fmt: skip


def in_threads(count, work):
    """Run work(k) in many threads that start together; the first error is raised here."""
    barrier, errors = threading.Barrier(count), []

    def run(k):
        barrier.wait()
        try:
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
