"""Tracing: whole functions are recorded as they compute; what cannot be recorded is told, with a way out."""

import math

import numpy as np
import pytest

from multibody import InputError, Pose, Rotation
from multibody.tracing.array.traced import TracedArray, TraceError
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..compiler.cases import SUITE, arrays
from ..every_law import each_case
from ..laws.tools import near
from ..surface import KINDS, TABLE

# ---- whole functions -------------------------------------------------------------------------------------------------


@each_case("name", SUITE)
def test_functions_of_many_operations(name):
    case = SUITE[name]
    inputs = case.draw(4)
    computed = arrays(evaluate(trace(case.function, case.shapes), *inputs))
    for result, expected in zip(computed, arrays(case.function(*inputs)), strict=True):
        near(result, expected, 1e-13)


@each_case("name", TABLE)
def test_functions_of_geometry(name):
    function = TABLE[name]
    inputs = function.draw(np.random.default_rng(2), (3,))
    recorded = trace(
        lambda *x: function.call(*(KINDS[k].value(a) for k, a in zip(function.kinds, x, strict=True))),
        [array.shape[1:] for array in inputs],
    )
    computed = arrays(evaluate(recorded, *inputs))
    for result, expected in zip(computed, function(*inputs), strict=True):
        near(result, np.broadcast_to(expected, result.shape), 1e-12)


def test_results_are_nested_as_the_function_returns_them():
    x = np.array([0.1, 0.2, 0.3])
    result = evaluate(trace(lambda x: {"a": (x, [x * 2]), "r": Rotation.exp(x), "p": Pose(Rotation.exp(x), x)}, [3]), x)
    assert list(result) == ["a", "r", "p"]
    assert isinstance(result["a"], tuple)
    assert isinstance(result["a"][1], list)
    assert isinstance(result["r"], Rotation)
    near(result["p"].matrix, Pose(Rotation.exp(x), x).matrix, 1e-15)


def test_constants_and_inputs_may_be_results():
    near(evaluate(trace(lambda x: (x, 3.0, np.arange(2), x > 0), [2]), [[1.0, -1.0]] * 4)[3], [[1.0, 0.0]] * 4)
    assert evaluate(trace(lambda x: 3.0, [2]), np.ones((4, 2))).shape == (4,)  # noqa: ARG005


def test_batches_broadcast_and_single_samples_stay_single():
    f = trace(lambda x, y: x * y[0], [(), 2])
    assert isinstance(evaluate(f, 2.0, [3.0, 4.0]), np.float64)
    assert evaluate(f, np.ones((4, 1)), np.ones((5, 2))).shape == (4, 5)
    assert evaluate(f, np.ones((0,)), np.ones(2)).shape == (0,)


def test_single_precision_stays_single():
    f = trace(lambda x: np.sin(x) * 0.1 + (x > 0), [2], dtype=np.float32)
    result = evaluate(f, [1.0, 2.0])
    assert result.dtype == np.float32
    near(result, np.sin([1.0, 2.0]) * 0.1 + 1, 1e-6)


def test_nan_stays_in_its_sample():
    result = evaluate(trace(lambda x: np.sqrt(x) / x, [1]), [[-1.0], [0.0], [4.0]])[:, 0]
    assert np.isnan(result[:2]).all()
    assert result[2] == 0.5


# ---- what cannot be recorded -----------------------------------------------------------------------------------------

REFUSALS = {
    "if": (lambda x: x if x[0] > 0 else -x, r"write np\.where"),
    "max": (lambda x: max(x[0], x[1]), r"write np\.where"),
    "float": (lambda x: float(x[0]), r"drop float\(\)"),
    "math": (lambda x: math.sin(x[0]), r"no number yet"),
    "int": (lambda x: list(range(x[0])), r"no number yet"),
    "array": (lambda x: np.array([x[0], x[1]], dtype=float), r"leave dtype= out"),
    "asarray": (lambda x: np.asarray(x, dtype=np.float32), r"leave dtype= out"),
    "float64": (lambda x: np.float64(x[0]), r"leave dtype= out"),
    "setitem": (lambda x: x.__setitem__(0, 1.0), r"work on a copy, as in y = x\.copy\(\)"),
    "zeros": (lambda x: np.zeros(3).__setitem__(0, x[0]), r"begin with np\.zeros_like\(x, shape="),
    "zeros slice": (lambda x: np.zeros(3).__setitem__(slice(0, 2), x[:2]), r"begin with np\.zeros_like\(x, shape="),
    "number": (lambda x: x[0].__setitem__((), 1.0), r"traced number cannot be written into"),
    "place": (lambda x: x.copy().__setitem__(x[0], 1.0), r"a place to write must not depend"),
    "broadcast": (lambda x: np.broadcast_to(x, (2, 3)).__setitem__((0, 0), 1.0), r"np\.broadcast_to"),
    "asarray written": (lambda x: np.asarray(x).__setitem__(0, 1.0), r"write np\.array\(x\) or x\.copy\(\)"),
    "objects inv": (lambda x: np.linalg.inv(np.array([[x[0], 0], [0, x[1]]])), r"make it with np\.stack"),
    "objects nan": (lambda x: np.isnan(np.array([x[0], x[1]])), r"make it with np\.stack"),
    "objects compared": (lambda x: np.array([x[0], x[1]]) > 0, r"write np\.where"),
    "objects maximum": (lambda x: np.maximum(np.array([x[0], x[1]]), 0), r"write np\.where"),
    "objects with numbers": (lambda x: np.sin(np.array([x[0], 0.5])), r"make it with np\.stack"),
    "numbers of objects": (lambda x: np.arctan2(np.array([0.5, 0.5], dtype=object), np.array([x[0], 1])), r"np\.stack"),
    "objects of arrays": (lambda x: np.array([x, None], dtype=object)[:1] + x, r"join them with np\.stack"),
    "index": (lambda x: x[x > 0], r"write np\.where over the candidates"),
    "ufunc": (lambda x: np.cbrt(x), r"np\.cbrt cannot be traced"),
    "operator": (lambda x: x << 2, r"np\.left_shift cannot be traced"),
    "function": (lambda x: np.linalg.svd(x[:, None] * x), r"np\.linalg\.svd cannot be traced; traceable are abs"),
    "method": (lambda x: np.add.accumulate(x), r"np\.add\.accumulate cannot be traced"),
    "out": (lambda x: np.add(x, 1.0, out=np.zeros(3)), r"in place of out="),
    "in place": (lambda x: x.__iadd__(1.0), r"write y = y \+ \.\.\. in place of y \+="),
    "in place of floats": (lambda x: np.zeros(3).__iadd__(x), r"write z = z \+ \.\.\. in place of z \+="),
    "option": (lambda x: np.sin(x, where=[True, False, True]), r"np\.sin with where cannot be traced"),
    "initial": (lambda x: np.add.reduce(x, initial=2.0), r"np\.add\.reduce with initial cannot be traced"),
    "argument": (lambda x: np.sum(x, dtype=float), r"np\.sum is traced with the arguments x, axis, keepdims only"),
    "stack dtype": (lambda x: np.stack([x, x], dtype=float), r"np\.stack with dtype= or out= cannot be traced"),
    "where alone": (lambda x: np.where(x > 0), r"write np\.where\(condition, this, that\)"),
    "where floats": (lambda x: np.where(x, 1.0, 2.0), r"compare them, as in x != 0"),
    "and floats": (lambda x: np.where((x > 0) & x, 1.0, 2.0), r"compare them"),
    "all floats": (lambda x: np.all(x), r"compare them"),
    "complex": (lambda x: x * 1j, r"array of complex128: only real numbers"),
    "strings": (lambda x: x + np.array(["a", "b", "c"]), r"only real numbers"),
    "astype": (lambda x: x.astype(complex), r"cannot become complex128"),
    "zeros_like": (lambda x: np.zeros_like(x, dtype=int), r"only floats are"),
    "matmul": (lambda x: x @ np.ones(2), r"shapes \(3,\) and \(2,\): the inner lengths differ"),
    "matmul number": (lambda x: np.matmul(x, 2.0), r"write \* for numbers"),
    "dot": (lambda x: np.dot(np.ones((2, 2, 3)), x), r"write np\.matmul or np\.einsum"),
    "cross": (lambda x: np.cross(x[:2], x[:2]), r"three elements"),
    "norm": (lambda x: np.linalg.norm(x, 3), r"the Euclidean norm, 1 and inf are"),
    "norm of matrices": (lambda x: np.linalg.norm(x[:, None] * x, 2), r"the Euclidean norm, 1 and inf are"),
    "norm of axes": (lambda x: np.linalg.norm(x[:, None] * x, 2, axis=(0, 1)), r"the Euclidean norm, 1 and inf are"),
    "einsum": (lambda x: np.einsum("ij,j->i", np.ones((3, 2)), x), r"the lengths 2 and 3 of 'j' differ"),
    "einsum output": (lambda x: np.einsum("i->k", x), r"must have letters of the arrays"),
    "einsum ellipsis": (lambda x: np.einsum("...->", x), r"their ellipsis"),
    "einsum count": (lambda x: np.einsum("i,j", x), r"got 1 arrays"),
    "min of none": (lambda x: np.min(x[:0]), r"the min of no elements"),
    "solve": (lambda x: np.linalg.solve(x[:, None], x), r"np\.linalg\.solve of shapes"),
    "inv": (lambda x: np.linalg.inv(x), r"np\.linalg\.inv of shape \(3,\)"),
    "cholesky": (lambda x: np.linalg.cholesky(x), r"np\.linalg\.cholesky of shape \(3,\)"),
}  # fmt: skip


@each_case("name", REFUSALS)
def test_what_cannot_be_recorded_is_refused_with_the_line_and_what_to_write(name):
    function, message = REFUSALS[name]
    with pytest.raises(TraceError, match=message) as caught:
        trace(function, [3])
    assert f"test_trace.py:{function.__code__.co_firstlineno}: " in str(caught.value)


def test_item_assignment_names_the_refusal_as_its_cause():
    def fill(x):
        out = np.zeros(3)
        out[0] = x[0]
        return out

    with pytest.raises((ValueError, TraceError)) as caught:
        trace(fill, [3])
    errors = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert any(isinstance(error, TraceError) for error in errors)


def test_two_traces_do_not_mix():
    kept = []
    trace(lambda x: kept.append(x) or x, [3])
    with pytest.raises(TraceError, match="two different traces"):
        trace(lambda x: x + kept[0], [3])


def test_wrong_shapes_raise_as_numpy_does():
    for wrong in (lambda x: x + np.ones(2), lambda x: x.reshape(2), lambda x: np.concatenate([x, x[None]])):
        with pytest.raises(ValueError):  # noqa: PT011
            trace(wrong, [3])
    for wrong in (lambda x: np.sum(x, axis=1), lambda x: np.stack([x], axis=3)):
        with pytest.raises(np.exceptions.AxisError):
            trace(wrong, [3])
    with pytest.raises(IndexError):
        trace(lambda x: x[3], [3])


@each_case(
    "arguments, message",
    [
        ((lambda x: x, ["3"]), "expected a tuple of lengths"),
        ((lambda x: x, [(-1,)]), "expected a tuple of lengths"),
        ((lambda x: x, [3], ["a", "b"]), "expected 1 different names"),
        ((lambda x, y: x + y, [3, 3], ["a", "a"]), "expected 2 different names"),
        ((lambda x: x, [3], None, int), "dtype: expected float64 or float32, got <class 'int'>"),
        ((lambda x: x, [3], None, "double precision"), "expected float64 or float32, got 'double precision'"),
        ((lambda x: x, [3], None, 5), "expected float64 or float32, got 5"),
        ((lambda x: x, [3], None, ("f8", -1)), r"expected float64 or float32, got \('f8', -1\)"),
        ((lambda x: x, [3], None, "f8,,"), "expected float64 or float32, got 'f8,,'"),
        ((lambda x: "text", [3]), "returned str"),  # noqa: ARG005
        ((lambda x: None, [3]), "returned NoneType"),  # noqa: ARG005
        ((lambda x: {1: x}, [3]), "string keys"),
    ],
)
def test_wrong_arguments_of_trace(arguments, message):
    with pytest.raises(InputError, match=message):
        trace(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), r"expected 2 arguments \(x, y\), got 0"),
        ((np.ones(2), np.ones(2)), r"x: expected an array of shape \(\.\.\., 3\), got \(2,\)"),
        ((np.ones((2, 3)), np.ones((3, 2))), r"batch shapes do not broadcast: x \(2,\), y \(3,\)"),
    ],
)
def test_wrong_arguments_of_the_interpreter(arguments, message):
    with pytest.raises(InputError, match=message):
        evaluate(trace(lambda x, y: (x, y), [3, 2]), *arguments)


def test_names_are_those_of_the_function():
    assert [i.name for i in trace(lambda q, v: q * v, [3, 3]).inputs] == ["q", "v"]
    assert [i.name for i in trace(lambda *x: x[0] * x[1], [3, 3]).inputs] == ["x0", "x1"]
    assert [i.name for i in trace(np.add, [3, 3], ["a", "b"]).inputs] == ["a", "b"]


def test_a_traced_array_tells_its_shape():
    shown = []
    trace(lambda x: shown.append((repr(x), repr(x > 0), len(x))) or x, [(2, 3)])
    assert shown == [("TracedArray(shape=(2, 3), dtype=float64)", "TracedArray(shape=(2, 3), dtype=bool)", 2)]
    assert TracedArray.__hash__ is None
