"""Checks of arguments that several controllers take: robots, frames, targets, numbers, gains, contacts."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints import Constraint
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import check_values, finite_point, floats, is_traced
from multibody.model.actuation import floating_joints
from multibody.model.tree import Tree
from multibody.robot import Robot


def check_robot(robot: Any, frame: str) -> None:
    """Refuse other types than Robot, and unknown frames."""
    expect_robot(robot).tree.frame(frame)


def check_pose(target: Any, *, finite: bool = False) -> Pose:
    """The target, if it is a pose, and finite where that is asked for."""
    if not isinstance(target, Pose):
        raise InputError(f"target: expected a Pose, got {type(target).__name__}")
    if finite:
        check_values(target.position, "target", np.isfinite, "a pose of finite numbers", core=1)
        check_values(target.rotation.matrix, "target", np.isfinite, "a pose of finite numbers", core=2)
    return target


def refuse_traced(what: str, *values: Any) -> None:
    """Refuse poses and arrays that are traced, where iterations and branches depend on numbers."""
    arrays = [array for x in values for array in (x._arrays() if isinstance(x, Pose) else [x])]
    if any(is_traced(array) for array in arrays):
        raise InputError(
            f"{what} cannot be a part of a kernel, since its iterations depend on numbers: call it outside, and hand "
            "its answer over; VelocityControl and track_pose move toward a pose within one"
        )


def expect_robot(robot: Any) -> Robot:
    """The robot, if it is one that can move."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected a Robot, got {type(robot).__name__}")
    if not robot.nv:
        raise InputError(f"robot: expected one with joints, got {robot.name!r}")
    return robot


def is_number(x: Any) -> bool:
    """Whether x is a real number, Python's or NumPy's, and no truth value."""
    return isinstance(x, Real) and not isinstance(x, bool)


def check_number(x: Any, what: str, expected: str, *, zero: bool = False) -> float:
    """The number x, if it is positive and finite, or zero where that is allowed; the message has what is expected."""
    if not is_number(x) or not 0 <= x < np.inf or (x == 0 and not zero):
        raise InputError(f"{what}: expected {expected}, got {x!r}")
    return float(x)


def check_whole(x: Any, what: str, least: int = 0) -> int:
    """The whole number x, if it is at least as large as it is to be."""
    if not isinstance(x, int | np.integer) or isinstance(x, bool) or x < least:
        raise InputError(f"{what}: expected a whole number from {least} on, got {x!r}")
    return int(x)


def check_weight(task: Any) -> None:
    """Refuse weights of tasks that are not positive and finite."""
    check_number(task.weight, f"task {task.name!r}", "a positive weight")


def known_rows(count: int | None, what: str, call: str) -> int:
    """The number of rows of a task or a limit that depends on the robot."""
    if count is None:
        raise InputError(f"{what}: the number of rows depends on the robot: ask {call}")
    return count


def check_needed(values: Mapping[str, Any], **needs: str) -> None:
    """Refuse inputs that have no effect, as those that they need are absent."""
    for name, needed in needs.items():
        if values[name] is not None and values[needed] is None:
            raise InputError(f"{name}: expected {needed}=..., without which it has no effect")


def check_positive(x: NDArray[Any], what: str, unit: str) -> NDArray[Any]:
    """x, if its concrete numbers are positive and finite."""
    return check_values(x, what, lambda x: (x > 0) & (x < np.inf), f"a positive number, {unit}")


def check_gain(x: NDArray[Any], what: str) -> NDArray[Any]:
    """x, if its concrete numbers are finite and not negative."""
    return check_values(x, what, lambda x: (x >= 0) & (x < np.inf), "finite numbers that are not negative")


def check_name(name: Any, what: str) -> None:
    """Refuse names that are empty, or no text."""
    if not isinstance(name, str) or not name:
        raise InputError(f"{what}: expected a name, a text that is not empty, got {name!r}")


def check_gains(inputs: Mapping[str, Any], names: AbstractSet[str]) -> None:
    """Refuse gains that are negative or not finite, and a "dt" in s that is not positive."""
    for name in names & inputs.keys():
        value = inputs[name]
        plain = value.item() if type(value) is np.ndarray and not value.ndim else value
        if value is None or (type(plain) is float and 0 < plain < np.inf) or is_traced(value):
            continue
        if name == "dt":
            check_positive(floats(value, name), name, "a time in s")
        else:
            check_gain(floats(value, name), name)


def check_parts(parts: Any, kinds: Any, what: str, example: str) -> tuple[Any, ...]:
    """A tuple of values of some kinds, from several or one alone."""
    parts = tuple(parts) if isinstance(parts, Iterable) else (parts,)
    for part in parts:
        if not isinstance(part, kinds):
            raise InputError(f"{what}: expected {example}, got {part!r}")
    return parts


def check_names(parts: Iterable[Any], what: str) -> None:
    """Refuse parts of which two have one name."""
    names = [part.name for part in parts]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise InputError(f"{what}: expected different names, got {twice[0]!r} twice")


def check_contacts(robot: Robot, contacts: Any, *, needed: bool = False) -> tuple[Constraint, ...]:
    """Contacts with different names that fit the robot; at least one where one is needed."""
    parts = check_parts(contacts, Constraint, "contacts", "constraints such as PointContact")
    if needed and not parts:
        raise InputError(
            "contacts: expected at least one constraint, as robots on a floating base or without motors need, got none"
        )
    for part in parts:
        part.check(robot.tree)
    check_names(parts, "contacts")
    check_frozen(parts, "contact")
    return parts


def branches_with(tree: Tree, frame: str) -> tuple[int, ...]:
    """The index of the first body of the branch with a frame; of all branches for a frame of the world."""
    return tree.support(tree.frame(frame)[0])[:1] or tree.children(0)


def supporting_contacts(robot: Robot, contacts: Any, frame: str | None = None) -> tuple[Constraint, ...]:
    """Constraints that fit the robot; at least one if a joint floats, anywhere or in the branch with a frame."""
    tree = robot.tree
    roots = tree.children(0) if frame is None else branches_with(tree, frame)
    branches = {tree.bodies[i - 1].joint.name for root in roots for i in tree.subtree(root)}
    return check_contacts(robot, contacts, needed=any(joint.name in branches for joint in floating_joints(tree)))


def check_frozen(parts: Iterable[Any], what: str) -> None:
    """Refuse tasks or contacts that cannot be hashed: kernels of functions are kept by their content."""
    for part in parts:
        try:
            hash(part)
        except TypeError as error:
            raise InputError(
                f"{what} {part.name!r}: expected a frozen value that can be hashed, with tuples in place of lists and "
                f"arrays, got one of {type(part).__name__} ({error})"
            ) from None


def check_direction(x: Any, what: str) -> tuple[float, float, float]:
    """A unit vector of three finite numbers that are not all zero."""
    array = np.array(finite_point(x, what))
    length = np.linalg.norm(array)
    if not 0 < length < np.inf:
        raise InputError(f"{what}: expected three finite numbers, not all zero, got {x!r}")
    return tuple((array / length).tolist())
