"""The graph: hash-consing, every simplification, and what it tells about itself."""

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from multibody.tracing.graph.graph import Graph, flops
from multibody.tracing.graph.loop_nodes import Loop
from multibody.tracing.graph.ops import COMMUTATIVE, OPS
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..compiler.cases import INSTRUCTIONS, program
from ..every_law import each_case


class Writer:
    """Nodes as expressions, to write rules as they are read."""

    def __init__(self):
        self.graph = Graph()
        self.x, self.y, self.z = (self.graph.leaf("input", 0, k) for k in range(3))
        self.p, self.q = self("lt", self.x, self.y), self("lt", self.y, self.z)

    def __call__(self, op, *args):
        return self.graph.apply(op, *(a if isinstance(a, int) else self.graph.const(a) for a in args))

    def c(self, number):
        return self.graph.const(number)


RULES = {
    # sums
    "0 + x = x": lambda w: (w("add", 0.0, w.x), w.x),
    "x + 0 = x": lambda w: (w("add", w.x, 0.0), w.x),
    "x + (-y) = x - y": lambda w: (w("add", w.x, w("neg", w.y)), w("sub", w.x, w.y)),
    "(-x) + y = y - x": lambda w: (w("add", w("neg", w.x), w.y), w("sub", w.y, w.x)),
    "x - 0 = x": lambda w: (w("sub", w.x, 0.0), w.x),
    "0 - x = -x": lambda w: (w("sub", 0.0, w.x), w("neg", w.x)),
    "x - x = 0": lambda w: (w("sub", w.x, w.x), w.c(0.0)),
    "x - (-y) = x + y": lambda w: (w("sub", w.x, w("neg", w.y)), w("add", w.x, w.y)),
    "(-x) - y = -(x + y)": lambda w: (w("sub", w("neg", w.x), w.y), w("neg", w("add", w.x, w.y))),
    "--x = x": lambda w: (w("neg", w("neg", w.x)), w.x),
    "-(x - y) = y - x": lambda w: (w("neg", w("sub", w.x, w.y)), w("sub", w.y, w.x)),
    # products
    "0 x = 0": lambda w: (w("mul", 0.0, w.x), w.c(0.0)),
    "x 0 = 0": lambda w: (w("mul", w.x, 0.0), w.c(0.0)),
    "1 x = x": lambda w: (w("mul", 1.0, w.x), w.x),
    "-1 x = -x": lambda w: (w("mul", -1.0, w.x), w("neg", w.x)),
    "-3 x = -(3 x)": lambda w: (w("mul", -3.0, w.x), w("neg", w("mul", 3.0, w.x))),
    "2 (3 x) = 6 x": lambda w: (w("mul", 2.0, w("mul", 3.0, w.x)), w("mul", 6.0, w.x)),
    "(x 3) 2 = 6 x": lambda w: (w("mul", w("mul", w.x, 3.0), 2.0), w("mul", 6.0, w.x)),
    "-2 (-3 x) = 6 x": lambda w: (w("mul", -2.0, w("mul", -3.0, w.x)), w("mul", 6.0, w.x)),
    "(-x) (-y) = x y": lambda w: (w("mul", w("neg", w.x), w("neg", w.y)), w("mul", w.x, w.y)),
    "(-x) y = -(x y)": lambda w: (w("mul", w("neg", w.x), w.y), w("neg", w("mul", w.x, w.y))),
    "x (-y) = -(x y)": lambda w: (w("mul", w.x, w("neg", w.y)), w("neg", w("mul", w.x, w.y))),
    "x / 4 = x 0.25": lambda w: (w("div", w.x, 4.0), w("mul", w.x, 0.25)),
    "x / 1 = x": lambda w: (w("div", w.x, 1.0), w.x),
    "0 / x = 0": lambda w: (w("div", 0.0, w.x), w.c(0.0)),
    "x / (-y) = -(x / y)": lambda w: (w("div", w.x, w("neg", w.y)), w("neg", w("div", w.x, w.y))),
    "(-x) / y = -(x / y)": lambda w: (w("div", w("neg", w.x), w.y), w("neg", w("div", w.x, w.y))),
    # functions
    **{
        f"{op}(-x) = -{op}(x)": lambda w, op=op: (w(op, w("neg", w.x)), w("neg", w(op, w.x)))
        for op in ("sin", "tan", "asin", "tanh")
    },
    "cos(-x) = cos(x)": lambda w: (w("cos", w("neg", w.x)), w("cos", w.x)),
    "|-x| = |x|": lambda w: (w("abs", w("neg", w.x)), w("abs", w.x)),
    "||x|| = |x|": lambda w: (w("abs", w("abs", w.x)), w("abs", w.x)),
    "|sqrt x| = sqrt x": lambda w: (w("abs", w("sqrt", w.x)), w("sqrt", w.x)),
    "x^0 = 1": lambda w: (w("pow", w.x, 0.0), w.c(1.0)),
    "x^1 = x": lambda w: (w("pow", w.x, 1.0), w.x),
    "x^2 = x x": lambda w: (w("pow", w.x, 2.0), w("mul", w.x, w.x)),
    "x^5 = x (x²)²": lambda w: (
        w("pow", w.x, 5.0),
        w("mul", w.x, w("mul", w("mul", w.x, w.x), w("mul", w.x, w.x))),
    ),
    "x^-1 = 1 / x": lambda w: (w("pow", w.x, -1.0), w("div", 1.0, w.x)),
    "x^0.5 = sqrt x": lambda w: (w("pow", w.x, 0.5), w("sqrt", w.x)),
    "min(x, x) = x": lambda w: (w("min", w.x, w.x), w.x),
    "max(x, x) = x": lambda w: (w("max", w.x, w.x), w.x),
    # choices
    "p ? x : x = x": lambda w: (w("select", w.p, w.x, w.x), w.x),
    "true ? x : y = x": lambda w: (w("select", w.graph.truth(True), w.x, w.y), w.x),
    "false ? x : y = y": lambda w: (w("select", w.graph.truth(False), w.x, w.y), w.y),
    "!p ? x : y = p ? y : x": lambda w: (w("select", w("not", w.p), w.x, w.y), w("select", w.p, w.y, w.x)),
    "p & false = false": lambda w: (w("and", w.p, w.graph.truth(False)), w.graph.truth(False)),
    "false & p = false": lambda w: (w("and", w.graph.truth(False), w.p), w.graph.truth(False)),
    "p & true = p": lambda w: (w("and", w.p, w.graph.truth(True)), w.p),
    "true & p = p": lambda w: (w("and", w.graph.truth(True), w.p), w.p),
    "p & p = p": lambda w: (w("and", w.p, w.p), w.p),
    "p | true = true": lambda w: (w("or", w.p, w.graph.truth(True)), w.graph.truth(True)),
    "true | p = true": lambda w: (w("or", w.graph.truth(True), w.p), w.graph.truth(True)),
    "p | false = p": lambda w: (w("or", w.p, w.graph.truth(False)), w.p),
    "false | p = p": lambda w: (w("or", w.graph.truth(False), w.p), w.p),
    "p | p = p": lambda w: (w("or", w.p, w.p), w.p),
    "!!p = p": lambda w: (w("not", w("not", w.p)), w.p),
}


@each_case("rule", RULES)
def test_what_is_equal_for_all_numbers_is_one_node(rule):
    left, right = RULES[rule](Writer())
    assert left == right


@each_case("op", sorted(op for op in COMMUTATIVE if op not in ("and", "or")))
def test_the_order_of_commuting_arguments_does_not_matter(op):
    w = Writer()
    assert w(op, w.x, w.y) == w(op, w.y, w.x)
    assert w("and", w.p, w.q) == w("and", w.q, w.p)
    assert w("or", w.p, w.q) == w("or", w.q, w.p)


@each_case("op", ["sub", "div", "min", "max", "atan2", "pow", "lt", "le"])
def test_the_order_of_other_arguments_does(op):
    w = Writer()
    assert w(op, w.x, w.y) != w(op, w.y, w.x)


def test_the_same_operation_on_the_same_nodes_is_the_same_node():
    w = Writer()
    size = len(w.graph)
    first = w("add", w("sin", w.x), w("mul", w.y, 2.0))
    grown = len(w.graph)
    assert w("add", w("sin", w.x), w("mul", w.y, 2.0)) == first
    assert len(w.graph) == grown > size


def test_constants_of_different_bits_are_different_nodes():
    graph = Graph()
    assert graph.const(0.0) != graph.const(-0.0)
    assert graph.const(0.1) != graph.const(np.nextafter(0.1, 1))
    assert graph.const(math.nan) == graph.const(math.nan)
    assert math.copysign(1, graph.value[graph.const(-0.0)]) == -1


def test_a_comparison_of_a_node_with_itself_stays_since_nan_differs_from_itself():
    w = Writer()
    assert w.graph.op[w("ne", w.x, w.x)] == "ne"
    assert w.graph.op[w("eq", w.x, w.x)] == "eq"


def test_rules_that_would_lose_numbers_are_not_used():
    w = Writer()
    assert w.graph.op[w("div", w.x, 1e-310)] == "div"  # 1e310 is no double
    assert w.graph.op[w("div", w.x, 1e305)] == "div"
    assert w.graph.op[w("pow", w.x, 0.3)] == "pow"
    assert w.graph.op[w("pow", w.x, 17.0)] == "pow"
    assert w.graph.op[w("pow", w.x, w.y)] == "pow"
    for c in (1e200, 1e-200):  # 1e200 (1e200 x) is finite for x = 1e-300
        product = w("mul", c, w("mul", c, w.x))
        assert [w.graph.number(a) for a in w.graph.args[product]].count(c) == 1


CONSTANTS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-320, 1e300, -1e300, math.inf, -math.inf, math.nan)
NUMPY = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "exp": np.exp, "log": np.log, "tanh": np.tanh, "add": np.add,
    "expm1": np.expm1, "log1p": np.log1p, "sinh": np.sinh, "cosh": np.cosh, "floor": np.floor, "rint": np.rint,
    "fmod": np.fmod, "mod": np.mod,
    "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum, "max": np.maximum,
    "atan2": np.arctan2, "hypot": np.hypot, "pow": np.power, "lt": np.less, "le": np.less_equal, "eq": np.equal,
    "ne": np.not_equal,
}  # fmt: skip


@each_case("op", NUMPY)
def test_constants_fold_to_what_numpy_computes(op):
    cases = [(a,) for a in CONSTANTS] if OPS[op].arity == 1 else [(a, b) for a in CONSTANTS for b in CONSTANTS]
    for args in cases:
        if (op, *args) == ("pow", -math.inf, 0.5):  # where NumPy takes the square root, and C does not
            continue
        graph = Graph()
        node = graph.apply(op, *map(graph.const, args))
        with np.errstate(all="ignore"):
            expected = NUMPY[op](*map(np.float64, args))
        if OPS[op].boolean:
            assert graph.op[node] == str(bool(expected)).lower(), args
        else:
            np.testing.assert_allclose(graph.number(node), expected, rtol=1e-15, err_msg=f"{op}{args}")


def test_other_operations_fold_too():
    w = Writer()
    true, false = w.graph.truth(True), w.graph.truth(False)
    assert w("fma", 2.0, 3.0, 4.0) == w.c(10.0)
    assert w("fms", 2.0, 3.0, 4.0) == w.c(2.0)
    assert w("fnma", 2.0, 3.0, 4.0) == w.c(-2.0)
    assert w("select", true, 1.0, 2.0) == w.c(1.0)
    assert w("lookup", 1.0, 5.0, 6.0) == w.c(6.0)
    assert w("and", true, false) == false
    assert w("or", true, false) == true
    assert w("not", true) == false
    assert set(OPS) == {
        *NUMPY, "fma", "fms", "fnma", "select", "lookup", "and", "or", "not", "true", "false", "const", "input",
        "carry", "scan_input", "result", "stacked_output", "trip_count", "custom_derivative", "dense", "entry",
    }  # fmt: skip


def test_live_nodes_are_those_that_the_outputs_need_in_the_order_of_creation():
    w = Writer()
    dead = w("exp", w.z)
    a = w("mul", w.x, 2.0)
    b = w("sin", a)
    two = w.c(2.0)
    assert w.graph.live([b]) == sorted([w.x, two, a, b])
    assert dead not in w.graph.live([b, a])
    assert w.graph.live([]) == []
    assert w.graph.live([w.x, w.x]) == [w.x]


def test_counts_are_of_operations_and_flops_of_arithmetic():
    w = Writer()
    node = w("add", w("mul", w.x, w.y), w("sin", w("div", w.x, w.z)))
    counts = w.graph.count(w.graph.live([node]))
    assert counts == Counter(add=1, mul=1, sin=1, div=1)
    assert flops(counts) == 3
    assert flops(w.graph.count([w("fma", w.x, w.y, w.z)])) == 2


def test_owners_are_those_of_the_graph_as_it_is_now():
    w = Writer()
    assert w.graph.owners() == [-1] * len(w.graph)
    w.graph.loops.append(Loop(-1, (), (), (), -1))
    inside = w("add", w.graph.leaf("carry", 0, 0), w.x)
    assert w.graph.owners()[inside] == 0
    assert len(w.graph.owners()) == len(w.graph)
    again = w("mul", inside, w.y)
    assert w.graph.owners()[again] == 0


@given(INSTRUCTIONS, st.integers(0, 2**32 - 1))
def test_simplified_programs_compute_what_numpy_computes(instructions, seed):
    x = np.random.default_rng(seed).uniform(-2, 2, (5, 3))
    function = program(instructions)
    computed = evaluate(trace(function, [3]), x)
    np.testing.assert_allclose(computed, [function(row) for row in x], rtol=1e-11, atol=1e-11)
