"""Rotation, Pose, Twist, Wrench, SpatialInertia as values: frozen, copied, compared by their numbers (decision 6)."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import multibody as mb
from multibody import Pose, Rotation, SpatialInertia, Twist, Wrench
from multibody.geometry import groups
from multibody.geometry.pose import pose_of
from multibody.geometry.value import Value

from ..every_law import each_case
from ..surface import KINDS, TABLE, inertial_parameters, plain


def rotation(batch=(), seed=0):
    return Rotation.random(np.random.default_rng(seed), batch)


def pose(batch=(), seed=0):
    return Pose.random(np.random.default_rng(seed), batch)


def twist(batch=(), seed=0):
    return Twist.from_vector(np.random.default_rng(seed).uniform(-1, 1, (*batch, 6)))


def wrench(batch=(), seed=0):
    return Wrench.from_vector(np.random.default_rng(seed).uniform(-1, 1, (*batch, 6)))


def inertia(batch=(), seed=0):
    return SpatialInertia.from_parameters(inertial_parameters(np.random.default_rng(seed), batch))


MAKERS = (rotation, pose, twist, wrench, inertia)
every_value = each_case("make", MAKERS, ids=lambda make: make.__name__)
NAMES = {
    "rotation": ("matrix",),
    "pose": ("rotation", "position"),
    "twist": ("linear", "angular"),
    "wrench": ("force", "torque"),
    "inertia": ("mass", "com", "inertia"),
}


def rebuilt(value, change=lambda array: array):
    """The same value through its public constructor, from changed arrays."""
    arrays = [change(np.array(array)) for array in plain(value)]
    match value:
        case Rotation():
            return Rotation(arrays[0])
        case Pose():
            return Pose(Rotation(arrays[0]), arrays[1])
        case SpatialInertia():
            return SpatialInertia(mass=arrays[0], com=arrays[1], inertia=arrays[2])
    return type(value)(*arrays)


# ---- frozen ----------------------------------------------------------------------------------------------------------


@every_value
def test_attributes_cannot_be_set_deleted_or_added(make):
    value = make()
    before = copy.deepcopy(value)
    for name in (*NAMES[make.__name__], "shape", "something"):
        with pytest.raises(AttributeError, match=f"a {type(value).__name__} is frozen: '{name}' cannot be set"):
            setattr(value, name, np.zeros(3))
        with pytest.raises(AttributeError, match="frozen"):
            delattr(value, name)
    assert value == before


@every_value
@each_case("batch", [(), (4,)])
def test_the_arrays_of_a_value_cannot_be_written(make, batch):
    """However the value was made: by a constructor, by indexing, by arithmetic, from a pickle."""
    value = make(batch)
    family = [value, rebuilt(value), pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)]
    family += [value.reshape(*batch, 1), type(value).stack([value, value])]
    family += [value[1], value[::2], value[[0, 1]], value[None], *value] if batch else []
    family += [value.inverse(), value @ value] if make in (rotation, pose) else [value + value]
    family += [Pose.identity() @ value] if make in (twist, wrench, inertia) else []
    for member in family:
        for array in plain(member):
            if isinstance(array, np.ndarray) and array.ndim:
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0


@each_case("function", TABLE.values(), ids=TABLE.keys())
def test_arguments_and_results_share_no_numbers(function):
    """Constructors, methods and functions alike: writing to the arguments, or to the result, changes nothing else."""
    for batch in ((), (1,), (3,)):
        _share_no_numbers(function, batch)


def _share_no_numbers(function, batch):
    arrays = function.draw(np.random.default_rng(0), batch)
    arguments = [KINDS[kind].value(array) for kind, array in zip(function.kinds, arrays, strict=True)]
    result = function.call(*arguments)
    inputs, outputs = copy.deepcopy((arguments, plain(result)))
    for array in arrays:
        array[...] = 7
    np.testing.assert_equal(plain(result), outputs)
    for argument, kind, before in zip(arguments, function.kinds, inputs, strict=True):
        if kind[0].isupper():  # a value
            assert argument == before
    arguments = copy.deepcopy(inputs)
    result = function.call(*arguments)
    for array in plain(result):
        if array.flags.writeable:
            assert not isinstance(result, Value) or not array.ndim
            array[...] = 7
    np.testing.assert_equal([plain(x) for x in arguments], [plain(x) for x in inputs])


def test_a_pose_copies_the_matrix_of_its_rotation():
    """The matrix of `robot.pose(..., out=...)` is the caller's to write."""
    buffer, position = np.eye(3), np.zeros(3)
    made = Pose(pose_of(buffer.view(), position.view()).rotation, position)
    buffer[...] = position[...] = 7
    assert made == Pose.identity()


@every_value
def test_results_do_not_reach_into_the_value(make):
    """What a value computed is the caller's own, or refuses to be written: the value stays, and computes the same."""
    value = make((3,))
    properties = {
        rotation: ("quaternion", "xyzw", "rotation_vector"),
        pose: ("matrix", "adjoint", "dual_adjoint"),
        twist: ("vector",),
        wrench: ("vector",),
        inertia: ("matrix", "about_origin"),
    }[make]
    before = copy.deepcopy(value)
    for name in properties:
        first = getattr(value, name)
        expected = first.copy()
        if first.flags.writeable:
            first[...] = 7
        np.testing.assert_array_equal(getattr(value, name), expected)
    assert value == before


def test_what_groups_hand_out_does_not_change_them():
    G = groups.SE2()
    selection = G.H
    selection[...] = 7
    np.testing.assert_array_equal(G.H, groups.SE2().selection())
    with pytest.raises(ValueError, match="read-only"):
        G.structure[...] = 7
    with pytest.raises(AttributeError):
        G.dim = 4
    with pytest.raises(AttributeError):
        groups.Helical(pitch=1.0).pitch = 2.0


# ---- equality and hashing --------------------------------------------------------------------------------------------


@every_value
@each_case("batch", [(), (0,), (2, 3)])
def test_equal_numbers_make_equal_values_and_hashes(make, batch):
    value = make(batch)
    other = rebuilt(value)
    assert value == other
    assert hash(value) == hash(other)
    assert (value != other) is False
    assert len({value, other}) == 1
    assert {value: 1}[other] == 1


@every_value
def test_other_numbers_types_or_shapes_are_not_equal(make):
    value = make((2,))
    assert value != make((2,), seed=1)
    assert value != value[0]
    assert value[0] != value[1]
    assert value != make((1, 2))
    for other in (None, 1, "text", plain(value)[0], *(m((2,)) for m in MAKERS if m is not make)):
        assert value != other
        assert (value == other) is False


def test_one_ulp_is_a_difference():
    value = twist()
    assert rebuilt(value, np.nextafter(1, 2).__mul__) != value


@every_value
def test_minus_zero_equals_zero_and_hashes_alike(make):
    value = {
        rotation: Rotation.identity(),
        pose: Pose.identity(),
        twist: Twist.zero(),
        wrench: Wrench.zero(),
        inertia: SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.eye(3)),
    }[make]
    other = rebuilt(value, lambda array: np.where(array == 0, -0.0, array))
    assert np.signbit(plain(other)[-1]).any()
    assert value == other
    assert hash(value) == hash(other)


@every_value
def test_float32_equals_the_same_numbers_in_float64(make):
    narrow = rebuilt(make((3,)), lambda array: array.astype(np.float32))
    wide = rebuilt(narrow, lambda array: array.astype(np.float64)) if make is not rotation else Rotation.from_matrix(
        narrow.matrix.astype(np.float64), tolerance=1e-4
    )  # fmt: skip
    assert plain(narrow)[0].dtype == np.float32
    assert plain(wide)[0].dtype == np.float64
    assert narrow == wide
    assert hash(narrow) == hash(wide)


def test_nan_is_equal_to_nothing():
    value = Twist([np.nan, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert value != copy.deepcopy(value)
    hash(value)


def test_groups_are_equal_by_what_they_are():
    assert groups.SE3() == groups.SE3()
    assert groups.Helical(pitch=0.1) == groups.Helical(pitch=0.1) != groups.Helical(pitch=0.2)
    assert groups.Schoenflies("x") != groups.Schoenflies("y")
    assert len({groups.SO3(), groups.SO3(), groups.SE2(), groups.Schoenflies("x")}) == 3
    assert pickle.loads(pickle.dumps(groups.Helical(pitch=0.1))) == groups.Helical(pitch=0.1)


# ---- copies ----------------------------------------------------------------------------------------------------------


@every_value
@each_case("batch", [(), (2, 3)])
def test_pickle_copy_and_deepcopy_give_equal_values(make, batch):
    value = make(batch)
    copies = [copy.copy(value), copy.deepcopy(value)]
    copies += [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    for other in copies:
        assert type(other) is type(value)
        assert other == value
        assert other.shape == batch
        assert [a.dtype for a in plain(other)] == [a.dtype for a in plain(value)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_rotations_compute_the_same_however_they_were_made(dtype):
    """Also half turns, where a logarithm of either sign would be right: a copy must not choose the other one."""
    axes = np.concatenate([np.eye(3), -np.eye(3), np.random.default_rng(3).standard_normal((50, 3))])
    axes = axes / np.linalg.norm(axes, axis=-1, keepdims=True)
    for angle in (0.0, 1e-9, 1.0, np.pi - 1e-7, np.pi - 1e-15, np.pi):
        R = Rotation.exp((angle * axes).astype(dtype))
        tolerance = 1e-12 if dtype is np.float64 else 1e-6
        for other in (copy.copy(R), pickle.loads(pickle.dumps(R)), R[:], Rotation.stack(list(R)), rebuilt(R)):
            assert other == R
            np.testing.assert_allclose(other.log(), R.log(), rtol=0, atol=tolerance)
            np.testing.assert_allclose(other.quaternion, R.quaternion, rtol=0, atol=tolerance)


# ---- batches ---------------------------------------------------------------------------------------------------------

INDICES = {
    "number": 1,
    "negative": -1,
    "pair": (1, 2),
    "negative pair": (-1, -3),
    "slice": slice(None, None, -1),
    "two slices": (slice(0, 1), slice(1, None)),
    "ellipsis": ...,
    "ellipsis and number": (..., 0),
    "number and ellipsis": (1, ...),
    "new axis": (None, 1),
    "ellipsis and new axis": (..., None),
    "list": [1, 0, 1],
    "array": np.array([[0, 1], [1, 1]]),
    "mask": np.array([True, False]),
    "mask of all": np.array([[True, False, True], [False, False, True]]),
    "number and list": (0, [2, 2]),
    "empty": slice(0, 0),
    "NumPy integer": np.int64(1),
}


@every_value
@each_case("name", INDICES)
def test_indexing_is_that_of_an_array_of_the_batch_shape(make, name):
    value, index = make((2, 3)), INDICES[name]
    picked = value[index]
    order = np.arange(6).reshape(2, 3)[index]
    assert type(picked) is type(value)
    assert picked.shape == order.shape
    for item, array in zip(plain(picked), plain(value), strict=True):
        np.testing.assert_array_equal(item, np.reshape(array, (6, *array.shape[2:]))[order])


TOO_MANY = {
    "numbers": (0, 0, 0),
    "number out of range": 2,
    "negative out of range": -3,
    "slices": (slice(None), slice(None), slice(None)),
    "part of the core": (slice(None), slice(None), slice(0, 2)),
    "ellipsis": (..., 0, 0, 0),
    "number and new axis": (0, 0, 0, None),
    "mask": np.ones((2, 3, 3), bool),
    "mask of another length": np.ones(3, bool),
    "text": "a",
    "float": 1.0,
}


@every_value
@each_case("name", TOO_MANY)
def test_an_index_beyond_the_batch_is_an_index_error(make, name):
    """It must never reach into the 3 × 3 of a rotation or the 3 of a position."""
    with pytest.raises(IndexError):
        make((2, 3))[TOO_MANY[name]]


@every_value
def test_a_single_value_has_no_length_and_no_items(make):
    value = make()
    assert value.shape == ()
    for use in (len, iter, lambda x: x[0], lambda x: x[...]):
        with pytest.raises(TypeError, match=f"single {type(value).__name__}|not iterable"):
            list(use(value)) if use is iter else use(value)


@every_value
def test_every_value_is_true(make):
    """`if pose:` asks whether there is one, as for every object; it is no question about its length."""
    assert make()
    assert make((2,))


@every_value
def test_length_and_iteration_follow_the_first_axis(make):
    value = make((2, 3))
    assert len(value) == 2
    assert [item.shape for item in value] == [(3,), (3,)]
    assert type(value).stack(list(value)) == value
    assert value[1] in list(value)
    assert list(make((0,))) == []
    assert list(reversed(value)) == [value[1], value[0]]


@every_value
def test_reshape_keeps_the_order(make):
    value = make((2, 3))
    assert value.reshape(6).shape == (6,)
    assert value.reshape(6).reshape(2, 3) == value
    assert value.reshape(3, -1).shape == (3, 2)
    assert value.reshape(6)[4] == value[1, 1]
    assert value.reshape((3, 2)) == value.reshape(3, 2)
    assert make().reshape(1)[0] == make()
    assert make((1,)).reshape().shape == ()


@every_value
def test_stack_makes_a_new_first_axis(make):
    values = [make((2,), seed) for seed in range(3)]
    stacked = type(values[0]).stack(values)
    assert stacked.shape == (3, 2)
    assert [stacked[k] == values[k] for k in range(3)] == [True] * 3
    assert type(values[0]).stack(tuple(values)) == stacked
    assert type(values[0]).stack(value for value in values) == stacked


# ---- repr and threads ------------------------------------------------------------------------------------------------


@every_value
def test_repr_shows_the_numbers_of_one_and_the_shape_of_many(make):
    assert repr(make((2, 3))) == f"{type(make()).__name__}(batch of shape (2, 3))"
    text = repr(make())
    assert text.startswith(f"{type(make()).__name__}(")
    shown = ("position", "quaternion") if make is pose else NAMES[make.__name__]
    assert all(f"{name}=" in text for name in shown)
    assert "array" not in text
    assert "np." not in text


def test_repr_has_four_digits():
    assert repr(mb.Twist([1.0, 2.0, 3e-20], [0.0, -np.pi, np.nan])) == (
        "Twist(linear=[1.0, 2.0, 0.0], angular=[0.0, -3.142, nan])"
    )
    assert repr(mb.Rotation.elementary("z", np.pi / 2)) == (
        "Rotation(matrix=[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])"
    )
    for value in (twist(), wrench()):
        part = repr(value).replace("linear=", "").replace("angular=", "").replace("force=", "").replace("torque=", "")
        shown = eval(part, vars(mb).copy()).vector
        assert (abs(shown - value.vector) <= 5.1e-4 * abs(value.vector)).all()


def test_values_can_be_used_by_many_threads_at_once():
    """Each thread computes with the same values, a NaN among them, and gets what one thread gets."""
    R, H = rotation((5000,)), pose((5000,))
    matrices = np.array(R.matrix)
    matrices[17] = np.nan
    dirty = Rotation.from_matrix(matrices)

    def work(_):
        return (R @ H.rotation).quaternion, (H @ H).log(), dirty.euler("zyx"), hash(H), groups.SE3().S(H.log())

    expected = work(0)
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(work, range(24)):
            for array, wanted in zip(result, expected, strict=True):
                np.testing.assert_array_equal(array, wanted)
