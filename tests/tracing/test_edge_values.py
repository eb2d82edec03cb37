"""NaN, infinities, both zeros, ties and huge numbers: kernels have what NumPy has."""

import itertools
import warnings

import mpmath as mp
import numpy as np
import pytest

import multibody as mb

NUMBERS = np.array([
    np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.0, -7.0, 0.1, 1e-310, 1e15, -1e17,
    1e300,
])  # fmt: skip
PAIRS = np.array(list(itertools.product(NUMBERS, repeat=2)))
both_formats = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def sampled(functions, rows, dtype=np.float64):
    """By name, one kernel of all functions on rows, and the plain function on each of them."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = rows.astype(dtype)
        kernel = mb.compile(lambda x: {name: f(x) for name, f in functions.items()}, rows.shape[1], dtype=dtype)
        expected = {name: np.array([f(row) for row in rows], dtype=float) for name, f in functions.items()}
    return [(name, computed, expected[name]) for name, computed in kernel(rows).items()]


EXACT = {
    "floor": lambda x: np.floor(x),
    "ceil": lambda x: np.ceil(x),
    "trunc": lambda x: np.trunc(x),
    "rint": lambda x: np.rint(x),
    "round": lambda x: np.round(x),
    "signbit": lambda x: np.where(np.isnan(x), 0.0, np.signbit(x)),
    "isnan": lambda x: np.isnan(x),
    "isinf": lambda x: np.isinf(x),
    "isfinite": lambda x: np.isfinite(x),
    "astype": lambda x: np.where(np.isfinite(x) & (np.abs(x) < 1e16), x, 0.0).astype(int),
    "select": lambda x: np.select([np.isnan(x), x > 1.0], [0.0, 1.0], x),
    "cumsum": lambda x: np.cumsum(x),
}
OF_TWO = {
    "%": lambda x: x[0] % x[1],
    "fmod": lambda x: np.fmod(x[0], x[1]),
    "//": lambda x: x[0] // x[1],
    "copysign": lambda x: np.copysign(x[0], np.where(np.isnan(x[1]), 1.0, x[1])),
    "heaviside": lambda x: np.heaviside(x[0], x[1]),
    "fmin": lambda x: np.fmin(x[0], x[1]),
    "fmax": lambda x: np.fmax(x[0], x[1]),
    "isclose": lambda x: np.isclose(x[0], x[1]),
}


def same_bits(name, computed, expected, dtype):
    signs = np.where(np.isnan(expected), False, np.signbit(expected))
    np.testing.assert_array_equal(computed, expected.astype(dtype), err_msg=name)
    np.testing.assert_array_equal(np.where(np.isnan(computed), False, np.signbit(computed)), signs, err_msg=name)


@both_formats
def test_functions_of_one_number_have_the_bits_of_numpy(dtype):
    for name, computed, expected in sampled(EXACT, NUMBERS[:, None], dtype):
        if name == "astype":  # there is no integer -0
            computed = computed + 0.0
        same_bits(name, computed, expected, dtype)


@both_formats
def test_functions_of_two_numbers_have_the_values_of_numpy(dtype):
    for name, computed, expected in sampled(OF_TWO, PAIRS, dtype):
        if name in ("//", "fmin", "fmax"):  # whose zeros have a sign of their own in NumPy
            computed, expected = computed + 0.0, expected + 0.0
        same_bits(name, computed, expected, dtype)


@both_formats
def test_remainders_of_random_numbers_are_exact(dtype):
    rng = np.random.default_rng(2)
    sizes = np.exp2(rng.uniform(-40, 40, (400, 2)))
    rows = np.concatenate([rng.normal(size=(400, 2)) * sizes, rng.integers(-9, 9, (400, 2)) + np.array([0.0, 0.5])])
    for name, computed, expected in sampled({name: OF_TWO[name] for name in ("%", "fmod", "//")}, rows, dtype):
        assert np.isfinite(expected).all()
        np.testing.assert_array_equal(computed, expected.astype(dtype), err_msg=name)


ROWS = np.array(list(itertools.product([np.nan, np.inf, -1.0, 2.0], repeat=4)))
ORDERS = {
    "sort": lambda x: np.sort(x),
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "argmin": lambda x: np.argmin(x),
    "argmax": lambda x: np.argmax(x),
    "min": lambda x: np.min(x),
    "searchsorted": lambda x: np.searchsorted([-1.0, 0.0, 2.0], x),
    "searchsorted right": lambda x: np.searchsorted([-1.0, 0.0, 2.0], x, side="right"),
    "halving": lambda x: np.searchsorted(np.arange(-9.0, 12.0), x),
    "halving right": lambda x: np.searchsorted(np.arange(-9.0, 12.0), x, side="right"),
    "interp": lambda x: np.interp(x, [-1.0, 0.0, 2.0], [3.0, 4.0, 9.0]),
    "interp outside": lambda x: np.interp(x, [-0.5, 0.0, 1.0], [3.0, 4.0, 9.0], left=-1.0, right=-2.0),
    "lookup": lambda x: mb.lookup([5.0, 6.0, 7.0], x),
    "lookup rows": lambda x: mb.lookup([[5.0, 6.0], [7.0, 8.0]], x).ravel(),
    "lookup in data": lambda x: mb.lookup(2.0 * x, [0.0, 3.0, -5.0, 9.0, 1.5]),
    "norm 1": lambda x: np.linalg.norm(x, 1),
}


def test_orders_and_look_ups_with_nan_and_ties():
    for name, computed, expected in sampled(ORDERS, ROWS):
        np.testing.assert_array_equal(computed, expected, err_msg=name)


def test_a_network_sorts_every_sequence_of_zeros_and_ones():
    """So it sorts all sequences (Knuth, The Art of Computer Programming 3, 5.3.4, theorem Z)."""
    for n in (2, 3, 5, 8, 11):
        rows = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
        np.testing.assert_array_equal(mb.compile(np.sort, n)(rows), np.sort(rows, axis=-1))


@both_formats
def test_long_tables_are_looked_up_in_the_kernel(dtype):
    rng = np.random.default_rng(4)
    points = np.sort(rng.uniform(-1, 1, 1000))
    values = rng.normal(size=1000)
    x = rng.uniform(-1.1, 1.1, (501,))
    kernel = mb.compile(lambda x: np.interp(x, points, values), (), dtype=dtype)
    assert sum(kernel.ops.values()) < 100
    if dtype == np.float64:
        np.testing.assert_allclose(kernel(x), np.interp(x, points, values), rtol=1e-12, atol=1e-12)
    nearest = mb.compile(lambda x: mb.lookup(values, np.rint(100 * x)), (), dtype=dtype)
    places = np.clip(np.rint(np.float32(100) * x.astype(dtype)).astype(int), 0, 999)
    np.testing.assert_array_equal(nearest(x.astype(dtype)), values[places].astype(dtype))


@pytest.mark.parametrize(
    ("ufunc", "low", "high", "bound"),
    [
        (np.log2, 1e-9, 1e9, 4), (np.log10, 1e-9, 1e9, 4), (np.exp2, -900.0, 900.0, 2), (np.arctanh, -1.0, 1.0, 8),
        (np.arcsinh, -1e9, 1e9, 8), (np.arccosh, 1.0, 1e9, 8),
    ],
)  # fmt: skip
def test_composed_functions_are_accurate(ufunc, low, high, bound):
    """In units in the last place of mpmath's values; small arguments and those near 1 too."""
    name = {"arctanh": "atanh", "arcsinh": "asinh", "arccosh": "acosh"}.get(ufunc.__name__)
    rng = np.random.default_rng(8)
    scales = [rng.uniform(low, high, 150), rng.uniform(max(low, -2.0), min(high, 2.0), 150)]
    scales += [np.exp2(-rng.uniform(2, 40, 150)), 1.0 + np.exp2(-rng.uniform(2, 40, 150))]
    x = np.concatenate(scales)
    x = x[(x > low) & (x < high)]
    with mp.workdps(40):
        by_base = {"log2": lambda v: mp.log(v, 2), "log10": mp.log10, "exp2": lambda v: mp.mpf(2) ** v}
        exact = np.array([float((getattr(mp, name) if name else by_base[ufunc.__name__])(mp.mpf(v))) for v in x])
    np.testing.assert_array_max_ulp(mb.compile(ufunc, ())(x), exact, bound)


def test_slopes_of_look_ups():
    points, values = np.array([0.0, 1.0, 3.0]), np.array([2.0, 5.0, 1.0])
    slope = mb.gradient(lambda x: np.interp(x, points, values))
    assert [slope(x) for x in (0.5, 2.0, 4.0, -1.0)] == [3.0, -2.0, 0.0, 0.0]
    assert mb.gradient(lambda x: mb.lookup(points, x) * x)(1.5) == 1.0
    assert mb.gradient(lambda x: x % 0.4)(0.8) == 1.0
    assert mb.gradient(lambda y: 7.5 % y)(2.0) == -3.0
    assert mb.gradient(lambda x: x[0] * np.floor(x[1]))(np.array([2.0, 3.5])).tolist() == [3.0, 0.0]


def test_a_table_is_written_by_every_emitter():
    kernel = mb.compile(lambda x: mb.lookup([5.0, 6.0, 7.5], x), ())
    assert "5.0, 6.0, 7.5" in kernel.to_c().source
    space = {}
    exec(kernel.to_numpy(), space)
    emitted = next(f for name, f in space.items() if name not in ("np", "__builtins__"))
    np.testing.assert_array_equal(emitted(np.array([0.0, 1.2, 9.0, -3.0])), [5.0, 6.0, 7.5, 5.0])


def test_what_cannot_be_looked_up_says_so():
    with pytest.raises(mb.TraceError, match=r"multibody.lookup.*test_edge_values"):
        mb.compile(lambda k: np.take([1.0, 2.0], k), ())  # which NumPy does not hand over
    with pytest.raises(mb.TraceError, match=r"mode='clip'.*test_edge_values"):
        mb.compile(lambda x: np.take(x, x[0]), 3)
    with pytest.raises(mb.TraceError, match=r"multibody.lookup.*test_edge_values"):
        mb.compile(lambda k: np.arange(3.0)[k], ())
    with pytest.raises(mb.TraceError, match=r"multibody.lookup.*test_edge_values"):
        mb.compile(lambda x: x[x[0]], 3)
    with pytest.raises(mb.TraceError, match="at most 64"):
        mb.compile(np.sort, 65)
    with pytest.raises(mb.TraceError, match="x % period"):
        mb.compile(lambda x: np.interp(x, [0.0, 1.0], [0.0, 1.0], period=1.0), ())
    with pytest.raises(mb.InputError, match="at least one row"):
        mb.lookup([], 0)
