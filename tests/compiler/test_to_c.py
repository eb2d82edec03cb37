"""Emitted C, NumPy source and SymPy expressions compute what the plain function computes."""

import ctypes
import itertools
import math
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multibody import InputError
from multibody.compiler.export import to_c as emit_c
from multibody.compiler.export import to_numpy as emit_numpy
from multibody.compiler.export import to_sympy as emit_sympy
from multibody.compiler.export.to_c import to_c
from multibody.compiler.export.to_numpy import to_numpy
from multibody.compiler.export.to_sympy import symbols_of, to_sympy, to_sympy_steps
from multibody.compiler.ir.passes import fuse_products
from multibody.errors import MissingPackageError
from multibody.tracing import interpret
from multibody.tracing.ad import traces
from multibody.tracing.array.traced import TraceError
from multibody.tracing.emission import optional
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.ops import OPS
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import Trace, trace

from ..every_law import each_case
from ..laws.tools import near
from .cases import INSTRUCTIONS, OPERATIONS, SUITE, arrays, program, samples, single

sympy = pytest.importorskip("sympy")
COMPILER = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]


def arguments(traced, inputs):
    return [np.broadcast_to(x, (len(inputs[0]), *i.shape)) for x, i in zip(inputs, traced.inputs, strict=True)]


# ---- C ---------------------------------------------------------------------------------------------------------------


def build(folder, source):
    (folder / "code.c").write_text(source)
    subprocess.run([COMPILER, *FLAGS, "code.c", "-o", "code.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "code.so"))


def call(library, name, traced, inputs):
    """The batch function and, sample by sample, the single one: their results must be the same bits."""
    count = len(inputs[0])
    real = traced.dtype
    inputs = [np.ascontiguousarray(x, dtype=real) for x in inputs]
    batch, ones = ([np.full((count, *ids.shape), np.nan, dtype=real) for ids in traced.outputs] for _ in range(2))
    pointer = lambda array: ctypes.c_void_p(array.ctypes.data)
    getattr(library, name + "_batch")(ctypes.c_size_t(count), *map(pointer, [*inputs, *batch]))
    for k in range(count):
        getattr(library, name)(*(pointer(array[k : k + 1]) for array in [*inputs, *ones]))
    for one, other in zip(batch, ones, strict=True):
        np.testing.assert_array_equal(one, other)
    return batch


@pytest.fixture(scope="module")
def operations_in_c(tmp_path_factory):
    """All single operations in one library."""
    source = "".join(to_c(single(op), f"op_{op}").source for op in OPERATIONS)
    return build(tmp_path_factory.mktemp("operations"), source)


@needs_compiler
@pytest.mark.parametrize("op", OPERATIONS)
def test_c_of_one_operation(op, operations_in_c):
    x = samples(op)
    (found,) = call(operations_in_c, f"op_{op}", single(op), [x])
    near(found, evaluate(single(op), x), 1e-15)


CONSTANTS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-320, 1e300, -1e300, math.inf, -math.inf, math.nan)


@needs_compiler
@pytest.mark.parametrize(
    "op", [op for op in OPERATIONS if op not in ("and", "or", "not", "select", "fma", "fms", "fnma")]
)
def test_c_and_the_interpreter_treat_nan_inf_and_zero_as_folding_does(op, operations_in_c):
    x = np.array(list(itertools.product(CONSTANTS, repeat=OPS[op].arity)))
    evaluate_one = OPS[op].evaluate
    assert evaluate_one
    expected = np.array([evaluate_one(*map(float, row)) for row in x])
    expected = np.where(expected, 2.0, 3.0) if OPS[op].boolean else expected
    (found,) = call(operations_in_c, f"op_{op}", single(op), [x])
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    whole = ~((x[:, 0] == -np.inf) & (x[:, -1] == 0.5))  # where NumPy's power is a square root
    np.testing.assert_allclose(evaluate(single(op), x)[whole], expected[whole], rtol=1e-15)


@needs_compiler
@pytest.mark.parametrize("name", SUITE)
def test_c_of_functions(name, tmp_path):
    case = SUITE[name]
    traced = trace(case.function, case.shapes)
    inputs = case.draw(6)
    expected = arrays(case.function(*inputs))
    graph, roots = fuse_products(traced.graph, traced.roots)
    parts = np.split(np.array(roots), np.cumsum([ids.size for ids in traced.outputs])[:-1])
    fused = traced._replace(
        graph=graph, outputs=tuple(part.reshape(ids.shape) for part, ids in zip(parts, traced.outputs, strict=True))
    )
    library = build(tmp_path, to_c(traced, "plain").source + to_c(fused, "fused").source)
    for label, version in (("plain", traced), ("fused", fused)):
        for one, other in zip(call(library, label, version, inputs), expected, strict=True):
            near(one, np.broadcast_to(other, one.shape), 1e-13)


@needs_compiler
def test_c_of_single_precision(tmp_path):
    traced = trace(SUITE["functions"].function, [()], dtype=np.float32)
    source = to_c(traced, "f").source
    assert "sinf(" in source
    assert "double" not in source
    inputs = [np.random.default_rng(1).uniform(0.2, 0.9, 8)]
    near(call(build(tmp_path, source), "f", traced, inputs)[0], SUITE["functions"].function(inputs[0]), 2e-6)


@needs_compiler
def test_c_header_declares_what_the_source_defines_for_c_and_cpp(tmp_path):
    code = to_c(trace(lambda q, new: (q * new, q[0]), [3, ()]), "law")
    (tmp_path / "law.h").write_text(code.header)
    build(tmp_path, '#include "law.h"\n#include "law.h"\n' + code.source)
    if shutil.which("g++"):
        (tmp_path / "law.cpp").write_text('#include "law.h"\nint main() { law_batch(0, 0, 0, 0, 0); return 0; }\n')
        subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", "-c", "law.cpp"], cwd=tmp_path, check=True)


@needs_compiler
def test_c_reads_all_inputs_before_it_writes(tmp_path):
    library = build(tmp_path, to_c(trace(lambda x: x[::-1], [3]), "turn").source)
    x = np.array([1.0, 2.0, 3.0])
    library.turn(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(x.ctypes.data))
    assert x.tolist() == [3.0, 2.0, 1.0]


@needs_compiler
def test_c_of_a_large_graph_compiles(tmp_path):
    def grow(x):
        for k in range(900):
            x = np.stack([np.sin(x[1]) * x[0] + k, x[2] * x[0] - x[1], x[1] / (2 + x[0] * x[0])]) * 0.1
        return x

    traced = trace(grow, [3])
    assert len(traced.graph) > 10_000
    x = np.ones((2, 3))
    near(call(build(tmp_path, to_c(traced, "grow").source), "grow", traced, [x])[0], [grow(row) for row in x], 1e-13)


@needs_compiler
def test_functions_without_arguments(tmp_path):
    traced = trace(lambda: np.array([1.5, 2.5]), [])
    library = build(tmp_path, to_c(traced, "two").source)
    y = np.zeros(2)
    library.two(ctypes.c_void_p(y.ctypes.data))
    assert y.tolist() == [1.5, 2.5]
    assert run_source(traced, [])[0].tolist() == [1.5, 2.5]
    assert list(to_sympy(traced)) == [1.5, 2.5]


def test_c_constants_keep_all_digits():
    source = to_c(trace(lambda x: x * (0.1 + 0.2) + 1e22 - 5e-324 / x, [()])).source
    assert f"{0.1 + 0.2!r}" in source
    assert "1e+22" in source


# ---- NumPy source ----------------------------------------------------------------------------------------------------


def run_source(traced, inputs, name="f"):
    scope = {}
    exec(to_numpy(traced, name), scope)
    with np.errstate(all="ignore"):
        result = scope[name](*inputs)
    return list(result) if isinstance(result, tuple) else [result]


@each_case("op", OPERATIONS)
def test_numpy_source_of_one_operation(op):
    x = samples(op)
    np.testing.assert_array_equal(run_source(single(op), [x])[0], evaluate(single(op), x))
    assert run_source(single(op), [x[0]])[0].shape == ()


@each_case("name", SUITE)
def test_numpy_source_of_functions(name):
    case = SUITE[name]
    traced = trace(case.function, case.shapes)
    for batch in ((), (4,), (2, 3)):
        inputs = case.draw(*batch)
        for one, other in zip(run_source(traced, inputs), arrays(case.function(*inputs)), strict=True):
            near(one, np.broadcast_to(other, one.shape), 1e-13)


@given(INSTRUCTIONS, st.integers(0, 2**32 - 1))
def test_numpy_source_of_random_programs_is_the_interpreter_bit_by_bit(instructions, seed):
    x = np.random.default_rng(seed).uniform(-2, 2, (5, 3))
    traced = trace(program(instructions), [3])
    np.testing.assert_array_equal(run_source(traced, [x])[0], evaluate(traced, x))


def test_numpy_source_reads_well():
    def f(q, m):
        a = np.sin(q[..., 0]) * 2 - (q[..., 1] - m * (q[..., 0] + 1)) ** -1.5
        return np.stack([a, np.where((a < 0) | ~(m > 1), -(a + m) / (q[..., 1] / m), 0.0)], axis=-1)

    assert to_numpy(trace(f, [2, ()]), "law") == (
        "import numpy as np\n"
        "\n"
        "\n"
        "def law(q, m):\n"
        "    q = np.asarray(q, dtype=np.float64)\n"
        "    m = np.asarray(m, dtype=np.float64)\n"
        "    batch = np.broadcast_shapes(q.shape[:-1], m.shape)\n"
        "    q_0 = q[..., 0]\n"
        "    q_1 = q[..., 1]\n"
        "    t0 = np.sin(q_0) * 2.0 - (q_1 - m * (q_0 + 1.0)) ** -1.5\n"
        "    y0 = np.zeros((*batch, 2), dtype=np.float64)\n"
        "    y0[..., 0] = t0\n"
        "    y0[..., 1] = np.where((t0 < 0.0) | ~(1.0 < m), -((m + t0) / (q_1 / m)), 0.0)\n"
        "    return y0\n"
    )


def test_numpy_source_of_deep_expressions_stays_within_what_python_parses():
    def deep(x):
        for _ in range(500):
            x = np.sin(x) + 1.0 / (2.0 + np.cos(x * 0.5))
        return x

    traced = trace(deep, [()])
    assert max(map(len, to_numpy(traced).splitlines())) < 200
    near(run_source(traced, [0.3])[0], deep(0.3), 1e-13)


def test_numpy_source_keeps_the_precision():
    traced = trace(lambda x: x * 0.1, [2], dtype=np.float32)
    assert run_source(traced, [[1.0, 2.0]])[0].dtype == np.float32


# ---- SymPy -----------------------------------------------------------------------------------------------------------


def lambdified(traced, inputs, steps=False):
    """The expressions as functions of the symbols' numbers, sample by sample."""
    definitions, result = to_sympy_steps(traced) if steps else ([], to_sympy(traced))
    symbols = [[s] if isinstance(s, sympy.Symbol) else list(s) for s in symbols_of(traced).values()]
    expressions = [
        list(e) if isinstance(e, sympy.NDimArray | sympy.MatrixBase) else [e] for e in expressions_of(result)
    ]
    function = sympy.lambdify(symbols, expressions, "numpy", cse=lambda e: (definitions, e))
    with np.errstate(all="ignore"):
        rows = [function(*(x[k].ravel() for x in inputs)) for k in range(len(inputs[0]))]
    return [
        np.array([row[n] for row in rows], dtype=float).reshape(len(rows), *ids.shape)
        for n, ids in enumerate(traced.outputs)
    ]


def expressions_of(result):
    if isinstance(result, dict | tuple):
        return [x for part in (result.values() if isinstance(result, dict) else result) for x in expressions_of(part)]
    return [result]


@each_case("op", OPERATIONS)
def test_sympy_of_one_operation(op):
    x = samples(op)
    near(lambdified(single(op), [x])[0], evaluate(single(op), x), 1e-14)


LARGE = ("chain", "rotation", "elimination", "matrix")
"""Functions with choices that depend on choices, or with many sums: they are written in steps."""


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        *((name, True) for name in SUITE),
        *(
            pytest.param(name, False, marks=pytest.mark.slow if name == "tensor" else ())
            for name in SUITE
            if name not in LARGE
        ),
    ],
)
def test_sympy_of_functions(name, steps):
    case = SUITE[name]
    inputs = case.draw(3)
    expected = arrays(case.function(*inputs))
    for one, other in zip(lambdified(trace(case.function, case.shapes), inputs, steps), expected, strict=True):
        near(one, np.broadcast_to(other, one.shape), 1e-13)


def test_sympy_gives_expressions_in_the_nesting_of_the_function():
    def f(q, A, t):
        return {"number": t * q[0], "column": A @ q, "matrix": (A, 2 * A), "cube": A[None] * 1.0}

    result = to_sympy(trace(f, [2, (2, 2), ()]))
    q = sympy.Matrix(sympy.symbols("q_0 q_1", real=True))
    A = sympy.Matrix(2, 2, sympy.symbols("A_0_0 A_0_1 A_1_0 A_1_1", real=True))
    assert result["number"] == sympy.Symbol("t", real=True) * q[0]
    assert result["column"] == sympy.ImmutableMatrix(A * q)
    assert result["matrix"] == (A, 2 * A)
    assert result["cube"].shape == (1, 2, 2)


def test_sympy_takes_the_users_expressions():
    x, y = sympy.symbols("x y")
    traced = trace(lambda q, A: A @ q, [2, (2, 2)])
    expected = sympy.ImmutableMatrix([x * y, x + 2])
    assert to_sympy(traced, [x, 1], [[y, 0], [1, 2]]) == expected
    assert to_sympy(traced, sympy.Matrix([x, 1]), sympy.Matrix([[y, 0], [1, 2]])) == expected
    with pytest.raises(InputError, match="expected one for each of 2 inputs, got 1"):
        to_sympy(traced, [x, y])
    with pytest.raises(InputError, match=r"symbols of q: expected shape \(2,\), got \(1,\)"):
        to_sympy(traced, [x], [[y, 0], [1, 2]])


def test_sympy_derivatives_agree_with_those_of_the_graph():
    traced = trace(SUITE["arm"].function, [3])
    (q,) = symbols_of(traced).values()
    assert sympy.simplify(to_sympy(traced).jacobian(q) - to_sympy(traces.jacobian(traced))) == sympy.zeros(3, 3)


def test_a_missing_package_names_the_extra():
    with pytest.raises(MissingPackageError, match=r'-m pip install .*\[symbolic\]"'):
        optional("a_package_that_does_not_exist", "symbolic")
    assert issubclass(MissingPackageError, ImportError)


# ---- all of them -----------------------------------------------------------------------------------------------------


def test_every_operation_is_in_every_table():
    operations = {
        op
        for op in OPS
        if op
        not in (
            "const",
            "input",
            "carry",
            "scan_input",
            "result",
            "stacked_output",
            "trip_count",
            "custom_derivative",
            "dense",
            "entry",
        )
    }
    for table in (interpret.TABLE, emit_c.TABLE, emit_numpy.TABLE, emit_sympy._table(sympy)):
        assert {*table, "lookup"} == operations  # which C and NumPy write with a function of its own


@each_case("emit", [to_c, to_numpy, to_sympy, evaluate])
def test_what_has_no_text_is_refused(emit):
    graph = Graph()
    unknown = Trace(graph, (), (np.array(graph.leaf("carry", 0, 0)),), "array", np.dtype(np.float64))
    with pytest.raises(TraceError, match="cannot translate the operation 'carry'"):
        emit(unknown)


@each_case("name", ["", "1f", "a b", "for"])
def test_function_names_must_be_identifiers(name):
    for emit in (to_c, to_numpy):
        with pytest.raises(InputError, match="expected an identifier"):
            emit(trace(lambda x: x, [2]), name)


@needs_compiler
@settings(max_examples=5)
@given(INSTRUCTIONS, st.integers(0, 2**32 - 1))
def test_c_of_random_programs(tmp_path_factory, instructions, seed):
    x = np.random.default_rng(seed).uniform(-2, 2, (5, 3))
    traced = trace(program(instructions), [3])
    library = build(tmp_path_factory.mktemp("random"), to_c(traced, "f").source)
    near(call(library, "f", traced, [x])[0], evaluate(traced, x), 1e-13)
