"""Derivatives of traces: of every operation, in both modes, dense and sparse."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multibody import InputError, Rotation
from multibody.tracing.ad import jacobian as sweeps
from multibody.tracing.ad import traces
from multibody.tracing.ad.api import gradient, jacobian
from multibody.tracing.ad.partials import CHOICES, PARTIALS
from multibody.tracing.graph.ops import OPS
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..compiler.cases import FLOAT_OPERATIONS, INSTRUCTIONS, SMOOTH, SUITE, arrays, program, samples, single
from ..every_law import each_case
from ..laws.tools import difference, near

# ---- every operation -------------------------------------------------------------------------------------------------

EXACT = {
    "neg": lambda a: -a, "abs": abs, "sign": mp.sign, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "asin": mp.asin, "acos": mp.acos, "exp": mp.exp, "log": mp.log, "tanh": mp.tanh, "add": lambda a, b: a + b,
    "expm1": mp.expm1, "log1p": mp.log1p, "sinh": mp.sinh, "cosh": mp.cosh, "floor": mp.floor, "rint": mp.nint,
    "fmod": lambda a, b: a - b * (mp.floor if a * b > 0 else mp.ceil)(a / b),
    "mod": lambda a, b: a - b * mp.floor(a / b),
    "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "min": min, "max": max,
    "atan2": mp.atan2, "hypot": mp.hypot, "pow": mp.power, "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c, "fnma": lambda a, b, c: c - a * b, "select": lambda p, a, b: a if p > 0 else b,
}  # fmt: skip


def test_every_operation_has_a_derivative():
    assert set(EXACT) == set(FLOAT_OPERATIONS) == {*PARTIALS, *CHOICES}
    for op, partials in PARTIALS.items():
        assert len(partials) == OPS[op].arity


def exact_gradient(op, x):
    with mp.workdps(60):
        x = [mp.mpf(float(a)) for a in x]
        h = mp.mpf(10) ** -20
        step = lambda k, s: [a + s * h if k == n else a for n, a in enumerate(x)]
        return [float((EXACT[op](*step(k, 1)) - EXACT[op](*step(k, -1))) / (2 * h)) for k in range(len(x))]


@each_case("op", FLOAT_OPERATIONS)
def test_the_derivatives_of_an_operation(op):
    x = samples(op, 24)
    x = x[[k for k in range(len(x)) if len(set(x[k])) == x.shape[1]]]  # away from the corners of min and max
    exact = np.array([exact_gradient(op, row) for row in x])
    near(evaluate(traces.gradient(single(op)), x), exact, 4e-15)
    forward = traces.jvp(single(op))
    for k in range(x.shape[1]):
        near(evaluate(forward, x, np.eye(x.shape[1])[k])[1], exact[:, k], 4e-15)


@pytest.mark.parametrize("x", [0.9999999, -0.99999999, 1 - 2e-16])
def test_the_derivatives_of_the_inverse_functions_keep_their_digits_near_one(x):
    with mp.workdps(40):
        exact = float(1 / mp.sqrt(1 - mp.mpf(x) ** 2))
    for op, sign in (("asin", 1), ("acos", -1)):
        assert evaluate(traces.gradient(single(op)), [x])[0] == pytest.approx(sign * exact, rel=1e-15)


CORNERS = {
    "abs": ([0.0], [0.0]),
    "sign": ([0.0], [0.0]),
    "sqrt": ([0.0], [np.inf]),
    "min": ([1.0, 1.0], [0.0, 1.0]),
    "max": ([1.0, 1.0], [0.0, 1.0]),
    "asin": ([1.0], [np.inf]),
    "acos": ([1.0], [-np.inf]),
    "log": ([0.0], [np.inf]),
    "pow": ([0.0, 2.0], [0.0, 0.0]),
    "atan2": ([0.0, -1.0], [-1.0, 0.0]),
}


@each_case("op", CORNERS)
def test_the_derivatives_at_corners_and_poles(op):
    x, expected = CORNERS[op]
    np.testing.assert_array_equal(evaluate(traces.gradient(single(op)), x), expected)
    for k, value in enumerate(expected):
        forward = evaluate(traces.jvp(single(op)), x, np.eye(len(x))[k])[1]
        np.testing.assert_array_equal(forward, value)


POWERS = [-3, -2.5, -1, -0.5, 0, 0.5, 1, 2, 2.5, 3, 17, 20.5]


@each_case("exponent", POWERS)
def test_powers_with_constant_exponents(exponent):
    computed = gradient(lambda x: x**exponent, shapes=[()])(np.array([0.3, 1.0, 2.0]))
    near(computed, exponent * np.array([0.3, 1.0, 2.0]) ** (exponent - 1), 1e-13)


def test_a_power_of_a_negative_number_has_a_derivative_when_the_exponent_is_whole():
    near(gradient(lambda x: x**3, shapes=[()])(-2.0), 12.0)
    near(gradient(lambda x: x**18, shapes=[()])(-1.0), -18.0)


# ---- choices ---------------------------------------------------------------------------------------------------------

SAFE = {
    "branch": lambda x: np.where(x > 0, np.sqrt(x), 0.0),
    "two branches": lambda x: np.where(x > 0, np.sqrt(x), 0.0) + np.where(x > 1, np.sqrt(x) - 1.0, 0.0),
    "nested": lambda x: np.where(x > 0, np.where(x > 1, np.sqrt(x), x / x), 0.0),
    "inside": lambda x: np.sqrt(np.where(x > 0, x, 0.0)),
    "else": lambda x: np.where(x <= 0, 0.0, 1 / x),
    "maximum": lambda x: np.maximum(np.where(x > 0, np.log(x), -5.0), -1.0),
    "negated": lambda x: -2.0 * np.where(~(x > 0), 0.0, np.sqrt(x) * x),
}


@each_case("name", SAFE)
@each_case("x", [0.0, -1.0, 0.25, 4.0])
def test_the_branch_that_is_not_taken_adds_nothing_however_steep_it_is(name, x):
    function = SAFE[name]
    traced = trace(function, [()])
    with np.errstate(all="ignore"):
        expected = difference(lambda t: function(np.float64(x) + t)) if x else 0.0
    near(evaluate(traces.gradient(traced), x), expected, 1e-9)
    near(evaluate(traces.jvp(traced), x, 1.0)[1], expected, 1e-9)


def test_conditions_have_no_derivative():
    traced = trace(lambda x: np.where(x[0] > 0, x[1], x[2]) + (x[0] > x[1]), [3])
    (row,) = sweeps.jacobian_rows(traced.graph, traced.roots, traces.leaves(traced)[0].tolist())
    assert sorted(row) == [1, 2]


# ---- modes -----------------------------------------------------------------------------------------------------------


@given(SMOOTH, st.integers(0, 2**32 - 1))
def test_random_smooth_programs_against_the_complex_step(instructions, seed):
    function = program(instructions)
    x = np.random.default_rng(seed).uniform(-2, 2, (4, 3))
    steps = [np.imag(function(x + 1e-30j * np.eye(3)[k])) / 1e-30 for k in range(3)]
    near(jacobian(function, shapes=[3])(x), np.stack(steps, axis=-1), 1e-11)


@given(INSTRUCTIONS, st.integers(0, 2**32 - 1))
def test_all_modes_agree_on_random_programs(instructions, seed):
    traced = trace(program(instructions), [3])
    rng = np.random.default_rng(seed)
    x, dx, ybar = rng.uniform(-2, 2, (3, 4, 3))
    graph, roots, wrt = traced.graph, traced.roots, traced.graph.live([graph_input(traced, k) for k in range(3)])
    one = graph.const(1.0)
    ahead = sweeps.forward(graph, roots, {node: {j: one} for j, node in enumerate(wrt)})
    back = sweeps.reverse(graph, roots, [{i: one} for i in range(3)], wrt)
    by_rows = dense(traced, {(i, j): node for i, row in enumerate(ahead) for j, node in row.items()}, x)
    by_columns = dense(traced, {(i, j): node for j, column in enumerate(back) for i, node in column.items()}, x)
    near(by_rows, by_columns, 1e-11)
    J = evaluate(traces.jacobian(traced), x)
    near(J, by_rows, 1e-11)
    y, dy = evaluate(traces.jvp(traced), x, dx)
    near(y, evaluate(traced, x), 0)
    near(dy, np.einsum("nij,nj->ni", J, dx), 1e-11)
    y, xbar = evaluate(traces.vjp(traced), x, ybar)
    near(y, evaluate(traced, x), 0)
    near(xbar, np.einsum("nij,ni->nj", J, ybar), 1e-11)


def graph_input(traced, k):
    return traced.graph.leaf("input", 0, k)


def dense(traced, entries, x):
    """The matrix of some nodes, zero elsewhere."""
    full = np.full((3, 3), traced.graph.const(0.0))
    for place, node in entries.items():
        full[place] = node
    return evaluate(traced._replace(outputs=(full,), layout="array"), x)


@pytest.mark.parametrize("name", [name for name in SUITE if name not in ("names", "constants", "unused")])
def test_jacobians_of_functions_against_differences(name):
    case = SUITE[name]
    inputs = case.draw()

    def moved(n, k, direction):
        """Result n along a direction of argument k."""
        return lambda t: arrays(case.function(*inputs[:k], inputs[k] + t * direction, *inputs[k + 1 :]))[n]

    for k, x in enumerate(inputs):
        directions = np.eye(x.size).reshape(-1, *x.shape)
        for n, J in enumerate(arrays(jacobian(case.function, argument=k, shapes=case.shapes)(*inputs))):
            columns = [difference(moved(n, k, direction)) for direction in directions]
            near(J, np.stack(columns, axis=-1).reshape(J.shape), 1e-8)


def test_the_cheaper_mode_is_taken():
    wide = trace(lambda x: sum(np.sin(x[k]) for k in range(40)) ** 3, [40])
    tall = trace(lambda x: np.stack([np.sin(np.sin(x[0]) * k) for k in range(1, 41)]), [1])
    assert not sweeps.forward_is_cheaper(wide.graph, wide.roots, wide.graph.live(list(range(40))))
    assert sweeps.forward_is_cheaper(tall.graph, tall.roots, [0])
    for traced in (wide, tall):
        before = sum(traced.graph.count(traced.graph.live(traced.roots)).values())
        after = traces.jacobian(traced)
        assert sum(after.graph.count(after.graph.live(after.roots)).values()) < 4 * before


# ---- structure -------------------------------------------------------------------------------------------------------


def test_structural_zeros_stay_zeros():
    def f(x):
        return np.stack([x[0] * x[1], np.cos(x[2]), x[3] * 0.0 + 2.0, 3 * x[0] - x[3]])

    traced = trace(f, [4])
    J = traces.jacobian(traced)
    zero = traced.graph.const(0.0)
    pattern = [[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 1]]
    np.testing.assert_array_equal(J.outputs[0] != zero, pattern)
    assert traced.graph.number(J.outputs[0][3, 0]) == 3.0
    rows = sweeps.jacobian_rows(traced.graph, traced.roots, traces.leaves(traced)[0].tolist())
    assert [sorted(row) for row in rows] == [np.flatnonzero(row).tolist() for row in np.array(pattern)]
    assert all(row[j] == J.outputs[0][i, j] for i, row in enumerate(rows) for j in row)


def test_no_work_is_done_for_structural_zeros():
    traced = trace(lambda x: np.sin(x) * np.exp(x), [50])
    before = len(traced.graph)
    rows = sweeps.jacobian_rows(traced.graph, traced.roots, traces.leaves(traced)[0].tolist())
    assert [list(row) for row in rows] == [[k] for k in range(50)]
    assert len(traced.graph) - before < 50 * 8


def test_traces_name_their_inputs_and_nest_their_results():
    traced = trace(lambda q, dq: {"r": Rotation.exp(q), "both": (q, dq)}, [3, 3])
    forward = traces.jvp(traced)
    assert [i.name for i in forward.inputs] == ["q", "dq", "dq_", "ddq"]
    y, dy = evaluate(forward, *np.ones((4, 3)))
    assert isinstance(y["r"], Rotation)
    assert dy["r"].shape == (3, 3)
    assert dy["both"][1].shape == (3,)
    backward = traces.vjp(traced)
    assert [i.name for i in backward.inputs] == ["q", "dq", "ybar0", "ybar1", "ybar2"]
    assert [i.shape for i in backward.inputs] == [(3,), (3,), (3, 3), (3,), (3,)]
    J = evaluate(traces.jacobian(traced, "q"), np.ones(3), np.ones(3))
    assert J["r"].shape == (3, 3, 3)
    both = evaluate(traces.jacobian(traced, ["dq", "q"]), np.ones(3), np.ones(3))
    near(both["both"][1][0], np.eye(3))
    near(both["both"][1][1], np.zeros((3, 3)))


@pytest.mark.parametrize("wrt", ["w", ["q", "w"], []])
def test_unknown_inputs_are_refused(wrt):
    with pytest.raises(InputError, match=r"expected names of inputs \(q, v\)"):
        traces.jacobian(trace(lambda q, v: q * v, [3, 3]), wrt)


def test_gradients_need_one_number():
    for wrong in (lambda x: x, lambda x: (x[0], x[1])):
        with pytest.raises(InputError, match="needs a function that returns one number"):
            traces.gradient(trace(wrong, [3]))
