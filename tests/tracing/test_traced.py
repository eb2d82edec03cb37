"""Writing into traced arrays: what plain NumPy does, its views included, is what the kernel does."""

import copy

import numpy as np
import pytest

import multibody as mb

from ..every_law import each_case


def assembled(x):
    z = np.zeros_like(x, shape=(2, 3))
    z[0] = x
    z[1, 0] = x[2]
    z[1, 1:] = 5.0
    return z


def through_views(x):
    A = np.outer(x, x)
    row, column, block = A[0], A.T[2], A[1:, 1:]
    row[1] = 7.0
    column[:] = x
    block += 1.0
    return A, row, column, block


def not_through_copies(x):
    A = np.outer(x, x)
    for other in (
        A.copy(),
        A.flatten(),
        A[[0, 1]],
        A.astype(float),
        +A,
        A * 1.0,
        np.copy(A),
        copy.copy(A),
        copy.deepcopy(A),
        A[A.shape[0] - 1 :].copy(),
    ):
        other[0] = 9.0
    return A


def in_place(x):
    y = 2.0 * x
    same = y
    y += 1.0
    y[0] *= 3.0
    y **= 2
    y -= x
    y /= 2.0
    y %= 0.7
    return y, same


def numbers_are_no_places(x):
    a = x[0]
    b = a
    a += 1.0
    total = 0.0
    for element in x:
        total += element
    return a, b, total, x


def by_masks(x):
    y = x - 0.5
    y[y < 0.0] = 0.0
    A = np.outer(x, x)
    A[x > 0.5] = x
    m = x > 0.3
    m &= x < 0.8
    m[0] = True
    return y, A, 1.0 * m


def by_lists(x):
    y = np.ones_like(x)
    y[[2, 0]] = x[:2]
    y[np.array([False, True, False])] = x[2]
    return y


def with_out(x):
    y = np.zeros_like(x)
    np.add(x, 1.0, out=y)
    np.multiply(y, y, out=y)
    return y


def in_a_loop(x):
    def body(c):
        y = c.copy()
        y[0] += c[1]
        return y

    return mb.loop(4, body, x)


FUNCTIONS = [
    assembled, through_views, not_through_copies, in_place, numbers_are_no_places, by_masks, by_lists, with_out,
    in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_kernel_writes_as_numpy_does(function):
    x = np.random.default_rng(5).uniform(0.1, 0.9, (9, 3))
    computed = mb.compile(function, 3)(x)
    rows = [function(row.copy()) for row in x]
    if not isinstance(computed, tuple):
        computed, rows = (computed,), [(row,) for row in rows]
    for batch, *each in zip(computed, *rows, strict=True):
        np.testing.assert_allclose(batch, np.array(each), rtol=1e-12, atol=1e-13)


def test_the_gradient_goes_through_what_is_written():
    np.testing.assert_allclose(mb.gradient(lambda x: np.sum(assembled(x) ** 2))([1.0, 2.0, 3.0]), [2.0, 4.0, 12.0])


def test_arguments_are_not_changed():
    with pytest.raises(mb.TraceError, match=r"an argument of a traced function.*work on a copy.*test_traced"):  # a view
        mb.compile(lambda x: x[1:].__iadd__(1.0), 3)
    with pytest.raises(mb.TraceError, match="a mask of the shape of y and a number"):
        mb.compile(lambda x: x.copy().__setitem__(x > 0.5, x), 3)


@pytest.mark.parametrize(
    "function",
    [lambda x: x.reshape(3, 2, order="F"), lambda x: x.ravel("F"), lambda x: x.flatten("F"), lambda x: x.T.ravel()],
)
def test_the_order_of_elements(function):
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(mb.compile(function, (2, 3))(x), function(x))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: x[0].item(), r"write x\[0\]"),
        (lambda x: x.tolist(), r"list\(x\)"),
        (lambda x: [2 * y for y in x.flat], r"write x.ravel\(\)"),
    ],
)
def test_what_a_traced_array_lacks_is_told(function, told):
    with pytest.raises(mb.TraceError, match=told):
        mb.compile(function, 3)


@each_case(
    "write",
    [
        lambda z: z.__setitem__(1, z[1] + 1.0),
        lambda z: z[1:].__setitem__(0, 4.0),
        lambda z: z.reshape(3, 1).__setitem__((0, 0), 4.0),
        lambda z: np.transpose(z).__setitem__(0, 4.0),
        lambda z: np.add(z, 1.0, out=z),
    ],
    ids=["element", "view", "reshaped", "transposed", "out"],
)
def test_the_body_of_a_loop_writes_into_no_array_from_outside(write):
    def function(x):
        z = np.zeros_like(x)

        def body(c):
            write(z)
            return c + z

        return mb.loop(3, body, x)

    with pytest.raises(mb.TraceError, match="let the loop carry what changes"):
        mb.compile(function, 3)


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize(
    "make", [lambda x: np.array([x[0], x[1], x[2]]), lambda _: np.zeros(3)], ids=["traced", "plain"]
)
def test_nor_into_arrays_of_objects_or_plain_numbers(make, rounds):
    def function(x):
        z = make(x)

        def body(c):
            z[1] = z[1] * 2.0 + 1.0
            return c + z

        return mb.loop(3, body, x, rounds=rounds)

    with pytest.raises(mb.TraceError, match="let the loop carry what changes"):
        mb.compile(function, 3)


def test_the_body_of_a_loop_reads_plain_arrays_and_arrays_of_objects_from_outside():
    table = np.array([1.0, np.nan, 3.0])

    def function(x):
        z = np.array([x[0], 2.0, x[2]])
        return mb.loop(3, lambda c: c * table[0] + z * table[2], x)

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(mb.compile(function, 3)(x), function(x), rtol=1e-15)


def test_the_body_of_a_loop_writes_into_its_own_arrays_and_into_copies_of_others():
    def function(x):
        z = np.zeros_like(x)

        def body(c):
            y, own, rows = z.copy(), np.zeros_like(x, shape=(2, 3)), z[[2, 1, 0]]
            y[1] = c[0]
            own[1:][0] = c
            rows += mb.loop(2, lambda inner: inner + y, c)
            return c + y + own[1] + rows

        z[2] = x[0]
        result = mb.loop(3, body, z).copy()
        result[0] += 1.0
        return result

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(mb.compile(function, 3)(x), function(x), rtol=1e-15)
