"""The normal form: the same value, one form for what is equal, and exact answers to "is it zero?"."""

import random
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from multibody.derive.algebra import trigonometric_polynomials as forms
from multibody.derive.algebra.differentiation import Derivative
from multibody.derive.algebra.factoring import factors
from multibody.derive.algebra.normal_form import is_zero, jacobian, normal
from multibody.derive.algebra.trigonometric_polynomials import entry, pack, unpack
from multibody.derive.system.symbols import rotation_x, rotation_y, rotation_z

a, b, c, m, l, v = sp.symbols("a b c m l v_dot", real=True)
w, x, y, z = QUATERNION = sp.symbols("w x y z", real=True)
SYMBOLS = (a, b, c, m, l, v)

cos, sin = sp.cos, sp.sin
angles = st.builds(
    lambda i, j, k, n: (i * a + j * b + k * c) / n, *[st.integers(-2, 2)] * 3, st.sampled_from([1, 1, 2, 3])
)
exact = st.one_of(
    st.sampled_from(SYMBOLS),
    st.integers(-3, 3).map(sp.Integer),
    st.sampled_from([sp.Rational(1, 3), sp.sqrt(2), 1 / m]),
    angles.map(sin),
    angles.map(cos),
    angles.map(lambda t: cos(t + sp.pi / 3)),
)
leaves = st.one_of(exact, st.sampled_from([sp.Float(0.1), sp.Float(9.81), sp.Float(1.0123456789)]))


def larger(children):
    return st.one_of(
        st.builds(lambda e, f: e + f, children, children),
        st.builds(lambda e, f: e * f, children, children),
        st.builds(lambda e, n: e**n, children, st.integers(0, 3)),
        st.builds(lambda e: sp.sqrt(1 + e**2), children),
        st.builds(lambda e: 1 / (2 + e**2), children),
    )


expressions = st.recursive(leaves, larger, max_leaves=6)


def sums_and_products(children):
    return st.one_of(st.builds(sp.Add, children, children), st.builds(sp.Mul, children, children))


polynomials = st.recursive(exact, sums_and_products, max_leaves=6)
polynomials_with_floats = st.recursive(leaves, sums_and_products, max_leaves=8)


def values(seed=0):
    rng = random.Random(seed)
    return {s: sp.Rational(rng.randint(200, 900), 700) for s in SYMBOLS}


def number(e, digits=30):
    return sp.N(sp.sympify(e).subs(values()), digits)


@settings(max_examples=60, deadline=None)
@given(expressions)
def test_the_value_stays(e):
    expected = number(e)
    assert abs(number(normal(e)) - expected) < 1e-10 * (1 + abs(expected))


@settings(max_examples=40, deadline=None)
@given(polynomials_with_floats)
def test_a_normal_form_is_its_own(e):
    once = normal(e)
    assert normal(once) == once


@settings(max_examples=40, deadline=None)
@given(polynomials, polynomials, polynomials)
def test_equal_polynomials_have_equal_forms(e, f, g):
    assert normal(e * (f + g)) == normal(g * e + e * f)
    assert is_zero((e + f) * (e - f) - e**2 + f**2)
    assert is_zero(e * (f + g) - e * f - e * g + m) is False


@settings(max_examples=40, deadline=None)
@given(expressions, st.sampled_from([a, b, m]))
def test_derivatives_are_those_of_sympy(e, s):
    expected = number(sp.diff(e, s))
    assert abs(number(jacobian(e, [s])[0]) - expected) < 1e-10 * (1 + abs(expected))


IDENTITIES = {
    "pythagoras": cos(a) ** 2 + sin(a) ** 2 - 1,
    "product to sum": 2 * sin(a) * cos(b) - sin(a + b) - sin(a - b),
    "double angle": cos(2 * a) - cos(a) ** 2 + sin(a) ** 2,
    "half angle": 2 * sin(a / 2) ** 2 - 1 + cos(a),
    "triple angle": sin(3 * a) - 3 * sin(a) + 4 * sin(a) ** 3,
    "shift": cos(a + sp.pi / 3) - cos(a) / 2 + sp.sqrt(3) * sin(a) / 2,
    "tangent": (1 + sp.tan(a) ** 2) * cos(a) ** 2 - 1,
    "half tangent": sp.tan(a / 2) * (1 + cos(a)) - sin(a),
    "quotient": 1 / (m + l) - (m - l) / (m**2 - l**2),
    "nested quotients": 1 / (1 + 1 / (1 + cos(a))) - (1 + cos(a)) / (2 + cos(a)),
    "root": (sp.sqrt(1 + cos(a)) + m) ** 2 - 1 - cos(a) - m**2 - 2 * m * sp.sqrt(1 + cos(a)),
    "root below": 1 / sp.sqrt(1 + m**2) - sp.sqrt(1 + m**2) / (1 + m**2),
    "cube root": (l + m) ** sp.Rational(4, 3) - (l + m) * sp.cbrt(l + m),
    "arguments": sp.exp(sin(a) * cos(a)) - sp.exp(sin(2 * a) / 2),
    "angle that turns": sin(m * (a + cos(b) ** 2)) - sin(m * a + m * cos(2 * b) / 2 + m / 2),
    "number of an angle": sin(1 + a) - sin(1) * cos(a) - cos(1) * sin(a),
    "imaginary": (cos(a) + sp.I * sin(a)) ** 2 - cos(2 * a) - sp.I * sin(2 * a),
    "floats are decimal": m * (sp.Float(0.1) * l + 1) * 3 - 3 * m - l * m * sp.Rational(3, 10),
    "powers below": (m + l) / m**2 - 1 / m - l / m**2,
    "a function of time": sp.Function("f")(a) ** 2 * (cos(b) ** 2 + sin(b) ** 2 - 1),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities_are_zero_and_near_misses_are_not(name):
    assert is_zero(IDENTITIES[name])
    assert not is_zero(IDENTITIES[name] + m * sp.Rational(1, 10**12))
    assert not is_zero(IDENTITIES[name] + sp.Float(1e-25) * m * sin(5 * b))


def test_rotations_are_orthogonal():
    R = rotation_z(a) * rotation_y(b) * rotation_x(c)
    assert is_zero(R * R.T - sp.eye(3))
    assert is_zero(sp.Matrix([R.det() - 1]))
    assert is_zero(rotation_z(a) * rotation_z(b) - rotation_z(a + b))
    assert not is_zero(rotation_z(a) * rotation_y(b) - rotation_y(b) * rotation_z(a))


def matrix_of(w, x, y, z):
    return sp.Matrix(
        [
            [w**2 + x**2 - y**2 - z**2, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w**2 - x**2 + y**2 - z**2, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w**2 - x**2 - y**2 + z**2],
        ]
    )


def test_unit_quaternions_are_known_where_they_are_said_to_be():
    R = matrix_of(*QUATERNION)
    units = [QUATERNION]
    assert is_zero(R * R.T - sp.eye(3), units=units)
    assert not is_zero(R * R.T - sp.eye(3))
    assert is_zero(R.det() - 1, units=units)
    assert is_zero((1 - x**2 - y**2 - z**2) / w - w, units=units)
    assert normal(R[0, 0], units=units) == 1 - 2 * y**2 - 2 * z**2
    assert normal(w**5, units=units).subs({w: 3, x: 0, y: 0, z: 0}) == 3


def test_derivatives_come_before_the_length_of_quaternions_is_used():
    length = w**2 + x**2 + y**2 + z**2
    assert jacobian(length, QUATERNION, units=[QUATERNION]) == 2 * sp.Matrix([QUATERNION])
    assert jacobian(w**3, [w, x], units=[QUATERNION]) == sp.Matrix([[3 - 3 * x**2 - 3 * y**2 - 3 * z**2, 0]])


def test_parameters_that_come_together_become_one_factor():
    c2, l1, l2, m2, m3 = sp.symbols("c2 l1 l2 m2 m3")
    q1_dot, q2, q2_dot = sp.symbols("q1_dot q2 q2_dot")
    scattered = sp.expand(-(c2 * m2 + l2 * m3) * l1 * q2_dot * (2 * q1_dot + q2_dot)) * sin(q2)
    assert normal(scattered) == -l1 * (c2 * m2 + l2 * m3) * q2_dot * (2 * q1_dot + q2_dot) * sin(q2)


def test_matrices_keep_their_shape_and_type():
    M = sp.ImmutableMatrix([[cos(a) ** 2 + sin(a) ** 2, m], [0, l]])
    assert normal(M) == sp.ImmutableMatrix([[1, m], [0, l]])
    assert isinstance(normal(M), sp.ImmutableMatrix)
    assert normal(sp.zeros(0, 3)).shape == (0, 3)
    assert is_zero(sp.zeros(0, 3))


def test_what_is_too_large_is_given_back():
    large = (a + b + c + m + l + v) ** 8
    assert normal(large, most=100) == large
    both = normal(sp.Matrix([large, cos(a) ** 2 + sin(a) ** 2]), most=100)
    assert both == sp.Matrix([large, 1])
    assert jacobian(large, [a], most=100)[0] == sp.diff(large, a)
    assert is_zero(large - large.subs(a, b).subs(b, a) + sp.expand(large) - large, most=100) is False
    assert is_zero((a + b) ** 30 * (cos(a) ** 2 + sin(a) ** 2) - (a + b) ** 30, most=10)


def test_floats_stay_floats_and_whole_numbers_whole():
    assert normal(sp.Float(0.5) * m * cos(a) ** 2 * 4) == m * (cos(2 * a) + 1)
    assert normal(sp.Float(0.1) * m + sp.Float(0.2) * m) == sp.Float(0.3) * m
    assert not normal(m * cos(a) ** 2).has(sp.Float)


def test_large_powers_and_unusual_numbers_stand_as_they_are():
    for e in (m**5000, m**l, sp.zoo, sp.oo, sp.Piecewise((m, l > 0), (0, True)), cos(m / 7919)):
        assert normal(e) == e


@given(st.dictionaries(st.integers(0, 9), st.integers(-1000, 1000).filter(bool)))
def test_packing_keeps_vectors(entries):
    assert unpack(pack(entries)) == entries
    assert all(entry(pack(entries), i) == entries.get(i, 0) for i in range(11))


@given(st.lists(st.integers(-3, 3), min_size=6, max_size=6).filter(lambda n: any(n[:3]) and any(n[3:])))
def test_products_of_linear_forms_are_factored(numbers):
    symbols = sp.symbols("x:3")
    first, other = (sum(n * s for n, s in zip(part, symbols, strict=True)) for part in (numbers[:3], numbers[3:]))
    product = sp.Poly(first * other, *symbols)
    _, rest = product.primitive()
    given_ = {pack(dict(enumerate(M))): int(c) for M, c in rest.terms()}
    shared = [min(M[k] for M in product.monoms()) for k in range(3)]
    given_ = {M - pack(dict(enumerate(shared))): c for M, c in given_.items()}
    if given_[max(given_)] < 0:
        given_ = {M: -c for M, c in given_.items()}
    powers = factors(given_)
    back = sp.prod(
        sum(c * sp.prod(symbols[i] ** e for i, e in unpack(M).items()) for M, c in f.items()) ** n for f, n in powers
    )
    assert sp.Poly(back, *symbols).as_dict() == {
        tuple(unpack(M).get(i, 0) for i in range(3)): c for M, c in given_.items()
    }
    degree = 2 - sum(shared)
    assert sum(n for _, n in powers) == max(degree, 1)


@pytest.mark.parametrize(
    ("polynomial", "pieces"),
    [
        (a**2 + b**2, 1),
        (a**2 - 2 * b**2, 1),
        (a * b + b * c + c * a, 1),
        (a**2 + a * b + b * c, 1),
        ((a + b * c) * (a - m), 2),
        (a * b + c * m + 1 + l, 1),
    ],
)
def test_what_has_no_factors_stays_whole(polynomial, pieces):
    terms = sp.Poly(polynomial, *SYMBOLS).terms()
    packed = {pack(dict(enumerate(M))): int(c) for M, c in terms}
    packed = packed if packed[max(packed)] > 0 else {M: -c for M, c in packed.items()}
    assert len(factors(packed)) == pieces


def test_sums_and_products_of_forms_are_exact():
    third = forms.monomial(0, Fraction(1, 3), K=1)
    assert forms.total([third, third, third]) == forms.monomial(0, 1, K=1)
    assert not forms.total([third, forms.scaled(third, -1)]).parts
    with pytest.raises(forms.TooLargeError):
        forms.product_to_sum(
            forms.total([third, forms.monomial(1)]),
            forms.total([third, forms.monomial(2)]),
            most=2,
        )


def test_derivatives_of_parts_that_occur_often_are_those_of_sympy() -> None:
    x, y = sp.symbols("x y", real=True)
    part = (x + sp.sin(x * y)) ** 3
    for e in (part * sp.cos(part) + y * part**2, sp.sqrt(part), sp.exp(-x) / part, sp.Integer(3), y, sp.atan2(x, y)):
        assert (Derivative(x)(e) - sp.diff(e, x)).subs({x: 0.7, y: 0.4}).evalf() == pytest.approx(0, abs=1e-12)
