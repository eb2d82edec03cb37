"""A batch is as good as a single one: every public function, in every batch shape, precision and memory layout."""

import numpy as np
import pytest

import multibody as mb
from multibody.geometry._arrays import BLOCK

from ..every_law import check
from ..surface import KINDS, TABLE
from .tools import TOLERANCE, near


def all_near(found, expected, tolerance=1e-14):
    for one, other in zip(found, expected, strict=True):
        near(one, other, tolerance)


def a_sample_is_the_same_alone_and_in_a_batch(function):
    arrays = function.draw(np.random.default_rng(1), (4,))
    batch = function(*arrays)
    for k in range(4):
        all_near(function(*(array[k] for array in arrays)), [result[k] for result in batch])


def a_batch_of_two_axes_is_the_flat_batch_reshaped(function):
    arrays = function.draw(np.random.default_rng(2), (2, 3))
    flat = function(*(array.reshape(6, *array.shape[2:]) for array in arrays))
    all_near(function(*arrays), [result.reshape(2, 3, *result.shape[1:]) for result in flat])


def a_batch_of_no_samples_gives_no_samples(function):
    rng = np.random.default_rng(3)
    for single, empty in zip(function(*function.draw(rng, ())), function(*function.draw(rng, (0,))), strict=True):
        assert empty.shape == (0, *single.shape)


def batches_broadcast(function):
    """Shapes (2, 1) and (3,) give (2, 3), whichever argument has which; and they are the samples written out."""
    for odd in range(len(function.kinds)):
        batches = [(2, 1) if k == odd else (3,) for k in range(len(function.kinds))]
        arrays = function.draw(np.random.default_rng(4), *batches)
        full = [
            np.broadcast_to(array, (2, 3, *array.shape[array.ndim - KINDS[kind].core :]))
            for array, kind in zip(arrays, function.kinds, strict=True)
        ]
        all_near(function(*arrays), function(*full))


def float32_stays_float32_and_is_close_to_float64(function):
    for batch in ((), (3,)):
        arrays = function.draw(np.random.default_rng(5), batch, dtype=np.float32)
        for single, double in zip(function(*arrays), function(*(a.astype(np.float64) for a in arrays)), strict=True):
            assert (single.dtype, double.dtype) == (np.float32, np.float64)
            near(single, double, TOLERANCE[np.float32])


def a_python_number_does_not_change_float32(function):
    """A factor, a time or a mass that is written 0.5 is of no precision of its own, as in NumPy."""
    numbers = [not KINDS[kind].core for kind in function.kinds]
    arrays = function.draw(np.random.default_rng(5), (3,), dtype=np.float32)
    mixed = [0.5 if number else array for array, number in zip(arrays, numbers, strict=True)]
    assert {result.dtype for result in function(*mixed)} == {np.dtype(np.float32)}


def test_lists_integers_and_booleans_are_floats():
    quarter = [[0, -1, 0], [1, 0, 0], [False, False, True]]
    R = mb.Rotation.from_matrix(quarter)
    for result in (R.matrix, R @ [1, 2, 3], mb.Pose(R, (1, 2, 3)).matrix, mb.Twist([1, 0, 0], [0, 0, 1]).vector):
        assert result.dtype == np.float64
    assert mb.Rotation.from_matrix(np.array(quarter, np.int8)) == R
    near(mb.Rotation.from_quaternion([1, 0, 0, 1]).matrix, quarter)


LAYOUTS = {
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "Fortran order": np.asfortranarray,
    "batch axis last in memory": lambda a: np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, -1)), -1, 0),
    "not aligned": lambda a: np.frombuffer(b"." + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
}


def the_memory_layout_does_not_matter(function):
    """Also of arrays that may not be written."""
    arrays = function.draw(np.random.default_rng(6), (4,))
    expected = function(*arrays)
    for layout in LAYOUTS.values():
        odd = [layout(array) for array in arrays]
        for array in odd:
            array.flags.writeable = False
        all_near(function(*odd), expected)


def arguments_stay_as_they_are_and_writeable(function):
    """A value that is made of an array takes a copy: it does not freeze the array of the caller."""
    arrays = function.draw(np.random.default_rng(7), (4,))
    copies = [array.copy() for array in arrays]
    function(*arrays)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert array.flags.writeable


LAWS = (
    a_sample_is_the_same_alone_and_in_a_batch,
    a_batch_of_two_axes_is_the_flat_batch_reshaped,
    a_batch_of_no_samples_gives_no_samples,
    float32_stays_float32_and_is_close_to_float64,
    the_memory_layout_does_not_matter,
    arguments_stay_as_they_are_and_writeable,
)


@pytest.mark.parametrize("label", TABLE)
def test_every_law_of_batches(label):
    function = TABLE[label]
    several = len(function.kinds) > 1
    numbers = several and {"t", "mass", "angle"} & set(function.kinds)
    laws = [*LAWS, *[batches_broadcast] * several, *[a_python_number_does_not_change_float32] * bool(numbers)]
    check(label, laws, function)


BLOCKED = [
    label
    for label in TABLE
    if label.startswith(("Rotation", "Pose", "so3."))
    and not any(odd in label for odd in ("xyz", "xzy", "yxz", "zxy", "yzx", "yxy", "yzy", "xyx", "xzx", "zyz"))
]


@pytest.mark.parametrize("label", BLOCKED)
def test_a_large_batch_is_worked_on_in_blocks_without_a_seam(label):
    """All samples of a large batch, also those at the ends of its blocks, are those of small batches."""
    function = TABLE[label]
    for count in (2 * BLOCK, 2 * BLOCK + 1, 3 * BLOCK + 1):
        samples = function.draw(np.random.default_rng(8), (61,))  # 61 divides no block
        arrays = [np.resize(array, (count, *array.shape[1:])) for array in samples]
        small = function(*(array[:61] for array in arrays))
        for large, pattern in zip(function(*arrays), small, strict=True):
            near(large, np.resize(pattern, large.shape), 1e-14)


def test_a_large_batch_of_several_axes_keeps_its_shape():
    chi = np.random.default_rng(9).uniform(-1.5, 1.5, (3, 5, 1000, 3))
    R = mb.Rotation.from_euler("zyx", chi)
    assert R.shape == (3, 5, 1000)
    near(R.matrix[2, 4, 990:], mb.Rotation.from_euler("zyx", chi[2, 4, 990:]).matrix, 1e-15)
    near(R.euler("zyx"), chi)


def test_a_wrong_sample_of_a_large_batch_is_named_with_its_index():
    matrices = np.broadcast_to(np.eye(3), (3 * BLOCK, 3, 3)).copy()
    matrices[2 * BLOCK + 17] *= 2
    with pytest.raises(mb.InputError, match=rf"sample {2 * BLOCK + 17}\b"):
        mb.Rotation.from_matrix(matrices)
