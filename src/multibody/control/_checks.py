"""Checks of common arguments of control: robots, frames, targets, gains, contacts, levels of tasks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints import Constraint
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import at, check_values, first, floats, is_traced
from multibody.model.actuation import floating_joints
from multibody.model.digest import library_digest
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
        bad = ~(np.isfinite(target.rotation.matrix).all(axis=(-1, -2)) & np.isfinite(target.position).all(axis=-1))
        if bad.any():
            raise InputError(f"target{at(first(bad))}: expected a pose of finite numbers, got one that is not")
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
    """The robot, if it is one."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected a Robot, got {type(robot).__name__}")
    return robot


def is_number(x: Any) -> bool:
    """Whether x is a real number, Python's or NumPy's, and no truth value."""
    return isinstance(x, Real) and not isinstance(x, bool)


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


def check_gains(inputs: Mapping[str, Any], names: frozenset[str]) -> None:
    """Refuse gains that are negative or not finite, and a "dt" in s that is not positive."""
    for name in names & inputs.keys():
        value = inputs[name]
        if value is None or is_traced(value) or (type(value) is float and 0 < value < np.inf):
            continue
        if name == "dt":
            check_positive(floats(value, name), name, "a time in s")
        else:
            check_gain(floats(value, name), name)


def check_contacts(robot: Robot, contacts: Any) -> tuple[Constraint, ...]:
    """Constraints that fit the robot."""
    parts = list(contacts) if isinstance(contacts, Iterable) else [contacts]
    for part in parts:
        if not isinstance(part, Constraint):
            raise InputError(f"contacts: expected constraints such as PointContact, got {part!r}")
        part.check(robot.tree)
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise InputError(f"contacts: expected different names, got {names}")
    return tuple(parts)


def branches_with(tree: Tree, frame: str) -> tuple[int, ...]:
    """The index of the first body of the branch with a frame; of all branches for a frame of the world."""
    return tree.support(tree.frame(frame)[0])[:1] or tree.children(0)


def supporting_contacts(robot: Robot, contacts: Any, frame: str | None = None) -> tuple[Constraint, ...]:
    """Constraints that fit the robot; at least one if a joint floats, anywhere or in the branch with a frame."""
    parts, tree = check_contacts(robot, contacts), robot.tree
    roots = tree.children(0) if frame is None else branches_with(tree, frame)
    branches = {tree.bodies[i - 1].joint.name for root in roots for i in tree.subtree(root)}
    if not parts and any(joint.name in branches for joint in floating_joints(tree)):
        raise InputError("contacts: expected at least one, on which the floating base stands, got none")
    return parts


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


def content_key(*content: Any) -> str | None:
    """A text that stands for tasks, limits and contacts, where all of their code is the library's."""
    try:
        return library_digest(*content)
    except InputError:  # not fingerprintable: no cache on disk
        return None


def check_levels(
    levels: Any, kinds: Any, on: Callable[[Any], Any], ends: Sequence[str], reserved: Sequence[str]
) -> tuple[tuple[Any, ...], ...]:
    """Lists of tasks on a robot, of which no two have one name for an input.

    Args:
        levels: as they were given.
        kinds: the classes of tasks that are known here.
        on: puts a task on the robot.
        ends: of names of inputs, after that of a task.
        reserved: names that no input of a task may have.
    """
    lists = list(levels) if isinstance(levels, Iterable) else []
    if not lists:
        raise InputError(f"levels: expected lists of tasks, one at least, got {levels!r}")
    checked: list[tuple[Any, ...]] = []
    for k, level in enumerate(lists, start=1):
        tasks = list(level) if isinstance(level, Iterable) else []
        if not tasks or not all(isinstance(task, kinds) for task in tasks):
            raise InputError(f"level {k}: expected a list of tasks, one at least, got {level!r}")
        for task in tasks:
            check_name(task.name, f"task {type(task).__name__}")
        checked.append(tuple(on(task) for task in tasks))
    inputs = dict.fromkeys(reserved, "an input of its own")
    for task in (task for level in checked for task in level):
        for name in (task.name + end for end in ("", *ends)):
            if name in inputs:
                raise InputError(
                    f"task {task.name!r}: expected another name: the input {name!r} is already {inputs[name]}"
                )
            inputs[name] = f"that of task {task.name!r}"
    return tuple(checked)
