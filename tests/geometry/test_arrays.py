"""Wrong arguments raise an InputError that says what was given and what was expected; NaN and Inf are data.

Docs: decision 7. Every public function is in the table of `surface.py`; the first test proves it.
"""

import inspect
import re

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, Pose, Rotation, SpatialInertia, Twist, Wrench
from multibody.geometry import derivatives, groups, operators, points, quaternions, rates, representations, so3

from ..every_law import check, each_case
from ..surface import KINDS, TABLE

MODULES = (derivatives, operators, points, quaternions, rates, representations, so3)
VALUES = (Rotation, Pose, Twist, Wrench, SpatialInertia)
TAKES_NO_ARRAYS = {
    *("identity", "random", "zero", "stack", "reshape", "shape", "mean", "check", "problems", "check_whole_turns"),
    "orientation_name",
    *("dim", "size", "H", "selection", "structure", "abelian", "axis", "axes", "pitch", "representation"),
}


def test_no_public_function_is_missing_from_the_table():
    names = {
        f"{module.__name__.rsplit('.')[-1]}.{name}"
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
    }
    names |= {f"{cls.__name__}.{name}" for cls in VALUES for name in dir(cls)}
    names |= {f"groups.{name}" for group in groups.__all__ for name in dir(getattr(groups, group))}
    tested = {label.split("[")[0] for label in TABLE}
    public = {name for name in names if "._" not in name and name.split(".")[1] not in TAKES_NO_ARRAYS}
    assert not public - tested


def refusal(call, *arguments):
    """The message of the InputError that a call raises. Another error, or none, is a failure."""
    with pytest.raises(InputError) as error:
        call(*arguments)
    return str(error.value)


# ---- wrong arrays ----------------------------------------------------------------------------------------------------


def wrong_arrays(good, core):
    """What is no array of real floats of the right shape."""
    yield "a string", "dtype <U8"
    yield None, "got NoneType"
    yield good.astype(np.complex128), "dtype complex128"
    yield good.astype(np.float16), "dtype float16"
    yield good.astype(object), "dtype object"
    yield good.astype(str), "dtype <U"
    yield [[1.0, 2.0], [3.0]], "ragged"
    yield np.full(good.shape, "2020-01-01", "datetime64[D]"), "dtype datetime64"
    if core:
        yield 1.0, "shape ()"
        yield [], "shape (0,)"
        yield good[..., :-1], f"shape {good[..., :-1].shape}"
        yield good[..., 0], f"shape {good[..., 0].shape}"
        yield np.concatenate([good, good], axis=-1), f"shape {np.concatenate([good, good], axis=-1).shape}"


def arrays_of_the_wrong_type_or_shape_are_refused(function):
    arrays = function.draw(np.random.default_rng(0), (5,))
    for k, kind in enumerate(function.kinds):
        if kind[0].isupper():
            continue
        for wrong, said in wrong_arrays(arrays[k], KINDS[kind].core):
            text = refusal(function, *arrays[:k], wrong, *arrays[k + 1 :])
            assert said in text, f"argument {k}: {text}"
            assert "expected" in text


def batches_that_do_not_broadcast_are_refused(function):
    for odd in range(len(function.kinds)):
        batches = [(2,) if k == odd else (3,) for k in range(len(function.kinds))]
        arrays = function.draw(np.random.default_rng(0), *batches)
        text = refusal(function, *arrays)
        assert "(2," in text
        assert "(3," in text


# ---- wrong values, names and numbers ---------------------------------------------------------------------------------

chi, v6, R, H = np.zeros(3), np.zeros(6), Rotation.identity(), Pose.identity()
body = SpatialInertia(mass=1.0, com=chi, inertia=np.eye(3))
VALUES_IN = {
    "Rotation.boxminus": (R.boxminus, "Rotation"),
    "Rotation.interpolate": (lambda x: R.interpolate(x, 0.5), "Rotation"),
    "Rotation.angular_velocity A": (lambda x: R.angular_velocity(x, 0.5), "Rotation"),
    "Rotation.angular_velocity B": (lambda x: R.angular_velocity(x, 0.5, "B"), "Rotation"),
    "Rotation.angle_to": (R.angle_to, "Rotation"),
    "Pose": (lambda x: Pose(x, chi), "Rotation"),
    "Pose.boxminus": (H.boxminus, "Pose"),
    "Pose.interpolate screw": (lambda x: H.interpolate(x, 0.5), "Pose"),
    "Pose.interpolate decoupled": (lambda x: H.interpolate(x, 0.5, "decoupled"), "Pose"),
    "SpatialInertia.transformed": (body.transformed, "Pose"),
    "SpatialInertia @": (lambda x: body @ x, "Twist"),
    "Twist.power": (Twist.zero().power, "Wrench"),
    "Wrench.power": (Wrench.zero().power, "Twist"),
    "Twist.cross": (Twist.zero().cross, "Twist or a Wrench"),
    "rates.parameters": (lambda x: rates.parameters("quaternion", x), "Rotation"),
    "derivatives.of_rotated_vector": (lambda x: derivatives.of_rotated_vector(x, chi), "Rotation"),
    "derivatives.of_inverse": (derivatives.of_inverse, "Rotation"),
    "derivatives.of_composition_left": (lambda x: derivatives.of_composition_left(R, x), "Rotation"),
    "derivatives.of_composition_right": (lambda x: derivatives.of_composition_right(x, R), "Rotation"),
    "derivatives.of_logarithm": (derivatives.of_logarithm, "Rotation"),
    "representations.transform": (lambda x: representations.transform(x, "left", "right"), "Pose"),
    "representations.velocity": (lambda x: representations.velocity(x, v6, "left", "right"), "Pose"),
    "representations.velocity, the same": (lambda x: representations.velocity(x, v6, "left", "left"), "Pose"),
    "representations.wrench": (lambda x: representations.wrench(x, v6, "right", "mixed"), "Pose"),
    "representations.acceleration": (lambda x: representations.acceleration(x, v6, v6, "left", "kindr"), "Pose"),
    "representations.in_frame": (lambda x: representations.in_frame(x, v6), "Pose"),
    "representations.apparent_in_frame": (lambda x: representations.apparent_in_frame(x, v6, v6, v6), "Pose"),
}


@each_case("what", VALUES_IN)
def test_what_is_no_value_of_the_right_type_is_refused(what):
    call, kind = VALUES_IN[what]
    for wrong in (None, "text", 1.0, np.eye(3), np.eye(4), R, H, Twist.zero(), Wrench.zero(), body):
        if type(wrong).__name__ in kind:
            continue
        text = refusal(call, wrong)
        assert re.search(rf"expected an? {kind}", text), text
        assert type(wrong).__name__ in text


def test_operators_refuse_what_they_cannot_combine():
    """Products with an InputError; sums, as Python does, with a TypeError."""
    for right in (None, "text", H, Twist.zero(), Wrench.zero(), body):
        with pytest.raises(InputError):
            R @ right
    for right in (None, "text", R):
        with pytest.raises(InputError):
            H @ right
    for left, right in ((Twist.zero(), Wrench.zero()), (Twist.zero(), v6), (Wrench.zero(), 1.0), (body, body.matrix)):
        with pytest.raises(TypeError):
            left + right
    for left, right in ((Twist.zero(), Twist.zero()), (Twist.zero(), R)):
        with pytest.raises((TypeError, InputError)):
            left * right


NAMES = {
    "from_euler": (lambda name: Rotation.from_euler(name, chi), "xyx, xyz, xzx"),
    "euler": (lambda name: R.euler(name), "xyx, xyz, xzx"),
    "elementary": (lambda name: Rotation.elementary(name, 0.1), "'x', 'y', 'z'"),
    "integrate": (lambda name: R.integrate(chi, 0.1, name), "'A', 'B'"),
    "angular_velocity": (lambda name: R.angular_velocity(R, 0.1, name), "'A', 'B'"),
    "Pose.interpolate": (lambda name: H.interpolate(H, 0.1, name), "'screw', 'decoupled'"),
    "Pose.integrate": (lambda name: H.integrate(v6, 0.1, name), "'left', 'right', 'mixed'"),
    "rates.position": (lambda name: rates.position(name, chi), "'cartesian', 'cylindrical', 'spherical'"),
    "rates.position_inverse": (lambda name: rates.position_inverse(name, chi), "'cartesian'"),
    "rates.linear": (lambda name: rates.linear(name, chi), "'cartesian'"),
    "rates.linear_inverse": (lambda name: rates.linear_inverse(name, chi), "'cartesian'"),
    "rates.linear_dot": (lambda name: rates.linear_dot(name, chi, chi), "'cartesian'"),
    "rates.rotation": (lambda name: rates.rotation(name, chi), "'quaternion', 'angle-axis'"),
    "rates.parameters": (lambda name: rates.parameters(name, R), "'quaternion', 'angle-axis'"),
    "rates.angular": (lambda name: rates.angular(name, chi), "'quaternion', 'angle-axis'"),
    "rates.angular_inverse": (lambda name: rates.angular_inverse(name, chi), "'quaternion', 'angle-axis'"),
    "rates.angular_dot": (lambda name: rates.angular_dot(name, chi, chi), "'quaternion', 'angle-axis'"),
    "rates.angular frame": (lambda name: rates.angular("euler-zyx", chi, name), "'A', 'B'"),
    "rates.angular_inverse frame": (lambda name: rates.angular_inverse("euler-zyx", chi, name), "'A', 'B'"),
    "rates.angular_dot frame": (lambda name: rates.angular_dot("euler-zyx", chi, chi, name), "'A', 'B'"),
    "representations.transform": (lambda name: representations.transform(H, name, "left"), "'left', 'right'"),
    "representations.velocity": (lambda name: representations.velocity(H, v6, "left", name), "'left', 'right'"),
    "representations.wrench": (lambda name: representations.wrench(H, v6, name, "left"), "'left', 'right'"),
    "representations.acceleration": (
        lambda name: representations.acceleration(H, v6, v6, "left", name),
        "'left', 'right', 'mixed', 'kindr'",
    ),
    "Schoenflies": (groups.Schoenflies, "'x', 'y', 'z'"),
}


@each_case("what", NAMES)
@each_case("name", ["no-such-name", "", "Left", None, 7, ["x"]], ids=repr)
def test_unknown_names_are_refused_with_the_known_ones(what, name):
    call, known = NAMES[what]
    text = refusal(call, name)
    assert known in text
    assert repr(name) in text


@pytest.mark.parametrize("name", ["ZYX", "XYZ", "ZXZ"])
def test_capital_letters_are_explained(name):
    for call in (
        lambda: Rotation.from_euler(name, chi),
        lambda: R.euler(name),
        lambda: rates.angular("euler-" + name, chi),
    ):
        with pytest.raises(InputError, match=f"SciPy's intrinsic '{name}' is '{name.lower()}' here"):
            call()


@each_case("name", ["zzx", "zyy", "zy", "zyxz", "xyw", "extrinsic-zzx", "extrinsic_xyz", "intrinsic-xyz"])
def test_what_is_no_euler_sequence_is_refused(name):
    with pytest.raises(InputError, match=f"expected one of xyx, xyz, .* got '{name}'"):
        Rotation.from_euler(name, chi)


# ---- wrong values ----------------------------------------------------------------------------------------------------

shear = np.array([[1.0, 1e-3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
rigid = np.eye(4)
WRONG = {
    "not orthogonal": (lambda: Rotation.from_matrix(shear), r"not a rotation: .* reaches 0\.001 \(tolerance 1e-06\)"),
    "too long": (lambda: Rotation(2 * np.eye(3)), r"not a rotation: .* determinant is 8 \(expected 1\); project=True"),
    "zeros": (lambda: Rotation.from_matrix(np.zeros((3, 3))), "not a rotation"),
    "reflection": (lambda: Rotation.from_matrix(-np.eye(3)), r"determinant is -1 \(expected 1\)"),
    "tolerance": (lambda: Rotation.from_matrix(shear, tolerance=1e-4), "tolerance 1e-04"),
    "float32": (lambda: Rotation.from_matrix(shear.astype(np.float32)), "tolerance 1e-04"),
    "zero quaternion": (lambda: Rotation.from_quaternion([0, 0, 0, 0]), "quaternion: expected a direction, got zero"),
    "zero xyzw": (lambda: Rotation.from_xyzw(np.zeros((2, 4))), r"quaternion \(sample 0\): expected a direction"),
    "zero axis": (lambda: Rotation.from_angle_axis(0.1, [0.0, 0.0, -0.0]), "axis: expected a direction, got zero"),
    "normalize": (lambda: quaternions.normalize(np.zeros(4)), "quaternion: expected a direction, got zero"),
    "last row": (lambda: Pose.from_matrix(rigid + 1e-3), r"last row 0, 0, 0, 1, got \[0\.001"),
    "pose of a shear": (lambda: Pose.from_matrix(np.block([[shear, chi[:, None]], [rigid[3:]]])), "not a rotation"),
    "inertia": (
        lambda: SpatialInertia(mass=1.0, com=chi, inertia=shear),
        r"expected a symmetric matrix.*differ by 0\.001",
    ),
    "6 x 6": (
        lambda: SpatialInertia.from_matrix(np.diag([1.0, 2.0, 1.0, 1.0, 1.0, 1.0])),
        r"expected \[\[m 1, -m c\^\]",
    ),
    "zero pitch": (lambda: groups.Helical(pitch=0.0), "pitch: expected a finite number of m/rad other than 0, got 0.0"),
    "text pitch": (lambda: groups.Helical(pitch="1"), "pitch: expected .* got '1'"),
    "infinite pitch": (lambda: groups.Helical(pitch=np.inf), "pitch: expected .* got inf"),
    "mean of one": (lambda: R.mean(), r"mean: axis 0 does not exist in the batch shape \(\)"),
    "mean over axis 2": (lambda: Rotation.identity((4,)).mean(axis=2), "axis 2 does not exist"),
    "mean over 'a'": (lambda: Rotation.identity((4,)).mean(axis="a"), "mean: expected .*axis"),
    "mean of none": (lambda: Rotation.identity((0,)).mean(), "no rotations along axis 0"),
    "weights of another length": (lambda: Rotation.identity((4,)).mean(weights=[1.0, 2.0]), "weights: expected"),
    "negative weights": (lambda: Rotation.identity((2,)).mean(weights=[1.0, -2.0]), "weights that are not negative"),
    "weights all zero": (lambda: Rotation.identity((2,)).mean(weights=[0.0, 0.0]), "not all zero"),
    "damping": (lambda: rates.angular_inverse("quaternion", [1, 0, 0, 0], damping="a"), "damping: expected a positive"),
    "stack of nothing": (lambda: Rotation.stack([]), "expected at least one Rotation, got none"),
    "stack of others": (lambda: Rotation.stack([R, H]), "Rotation.stack: expected Rotations, got Pose"),
    "stack of one": (lambda: Rotation.stack(5), "Rotation.stack: expected"),
    "stack of shapes": (lambda: Rotation.stack([R, Rotation.identity((2,))]), r"stack: expected .*\(\).*\(2,\)"),
    "reshape": (lambda: Rotation.identity((6,)).reshape(4), r"reshape: .*\(6,\).*\(4,\)"),
    "batch of a number": (lambda: Rotation.identity(5.0), "batch: expected a number of samples or a tuple.* got 5.0"),
    "batch below zero": (lambda: Pose.identity((-1,)), r"batch: expected .* got \(-1,\)"),
    "batch of zeros": (lambda: Twist.zero("a"), "batch: expected .* got 'a'"),
    "batch of chance": (lambda: Pose.random(np.random.default_rng(0), -3), "batch: expected a .*tuple.* got .*-3"),
    "no generator": (lambda: Rotation.random(42), "rng: expected a .*Generator, got int"),
}


@each_case("what", WRONG)
def test_wrong_values_are_refused_with_a_reason(what):
    call, reason = WRONG[what]
    text = refusal(call)
    assert re.search(reason, text), text


def test_the_wrong_sample_of_a_batch_is_named():
    matrices = np.broadcast_to(np.eye(3), (2, 3, 3, 3)).copy()
    matrices[1, 2, 0, 0] = -1
    for call in (Rotation, Rotation.from_matrix):
        with pytest.raises(InputError, match=r"matrix \(sample 1, 2\) is not a rotation"):
            call(matrices)
    for make, n in ((Rotation.from_quaternion, 4), (lambda x: Rotation.from_angle_axis(0.1, x), 3)):
        x = np.ones((4, n))
        x[3] = 0
        with pytest.raises(InputError, match=r"\(sample 3\): expected a direction, got zero"):
            make(x)


@pytest.mark.parametrize("other", [np.eye(3), 1e-120 * np.eye(3), np.full((3, 3), np.nan)], ids=["one", "tiny", "nan"])
def test_a_singular_inertia_is_a_singularity_and_names_the_sample(other):
    """A point mass has no angular acceleration; the other samples of the batch are not to blame."""
    M = np.stack([other, other, np.zeros((3, 3))])
    with pytest.raises(mb.SingularityError, match=r"sample 2\b"):
        SpatialInertia(mass=1.0, com=chi, inertia=M).acceleration(v6, np.ones(6))
    with pytest.raises(mb.SingularityError, match=r"sample 2\b"):
        groups.SE2().forward_dynamics(M, chi, np.ones(3))


@each_case("value", [R, H, Twist.zero(), Wrench.zero(), body], ids=lambda value: type(value).__name__)
@each_case("left", [np.eye(3), np.zeros(3), [[1.0]], 2.0, np.float64(2.0), None], ids=repr)
def test_an_array_on_the_left_of_a_value_is_refused(value, left):
    with pytest.raises(InputError, match=f"{type(left).__name__} @ {type(value).__name__} has no meaning"):
        left @ value


# ---- NaN and Inf are data --------------------------------------------------------------------------------------------

CONSTANT = re.compile(
    r"rates\.linear(_inverse|_dot)?\[cartesian|groups\.(S|S_inverse|Ad|ad|ad_swapped|C)\[(SO2|R\d|Helical)"
    r"|of_composition_left|transform\[(\w+) to \4\]"
)


def nan_and_inf_in_one_sample_leave_the_others_alone_and_raise_nothing(function):
    arrays = function.draw(np.random.default_rng(1), (5,))
    clean, others = function(*arrays), [0, 1, 3, 4]
    for k in range(len(arrays)):
        for poison in (np.nan, np.inf, -np.inf):
            for where in (..., 0, -1):  # all of the sample, its first number, its last number
                dirty = [array.copy() for array in arrays]
                sample = dirty[k][2:3].reshape(-1)
                sample[where] = poison
                dirty[k][2] = sample.reshape(dirty[k][2].shape)
                for result, expected in zip(function(*dirty), clean, strict=True):
                    np.testing.assert_array_equal(result[others], expected[others])


def nan_never_turns_into_a_number(function):
    """Where all arguments are NaN, so is something of every result."""
    arrays = function.draw(np.random.default_rng(2), (3,))
    for array in arrays:
        array[1] = np.nan
    results = function(*arrays)
    for result in results:
        assert np.isfinite(result[[0, 2]]).all()
    assert any(np.isnan(result[1]).any() for result in results)


@each_case("label", TABLE)
def test_every_law_of_bad_and_missing_numbers(label):
    function = TABLE[label]
    laws = [nan_and_inf_in_one_sample_leave_the_others_alone_and_raise_nothing]
    if any(kind[0].islower() for kind in function.kinds) and "damped" not in label:
        laws.append(arrays_of_the_wrong_type_or_shape_are_refused)
    if len(function.kinds) > 1:
        laws.append(batches_that_do_not_broadcast_are_refused)
    if not CONSTANT.search(label):
        laws.append(nan_never_turns_into_a_number)
    check(label, laws, function)
