"""Levels of tasks: checks of a user's lists, the names of their inputs, and weights within a level."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import check_name
from multibody.control.tasks._task import Task
from multibody.errors import InputError


def check_lists(levels: Any, entries: str, accept: Callable[[Any], bool]) -> list[list[Any]]:
    """Lists of acceptable entries, none of them empty."""
    lists = list(levels) if isinstance(levels, Iterable) else []
    if not lists:
        raise InputError(f"levels: expected lists of {entries}, one at least, got {levels!r}")
    parts = [list(level) if isinstance(level, Iterable) else [] for level in lists]
    for k, (part, level) in enumerate(zip(parts, lists, strict=True), start=1):
        if not part or not all(map(accept, part)):
            raise InputError(f"level {k}: expected a list of {entries}, one at least, got {level!r}")
    return parts


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
    lists = check_lists(levels, "tasks", lambda task: isinstance(task, kinds))
    for task in (task for level in lists for task in level):
        check_name(task.name, f"task {type(task).__name__}")
    checked = tuple(tuple(map(on, level)) for level in lists)
    inputs = dict.fromkeys(reserved, "an input of its own")
    for task in (task for level in checked for task in level):
        for name in (task.name + end for end in ("", *ends)):
            if name in inputs:
                raise InputError(
                    f"task {task.name!r}: expected another name: the input {name!r} is already {inputs[name]}"
                )
            inputs[name] = f"that of task {task.name!r}"
    return checked


def unknown_input(
    names: Iterable[str], known: Collection[str], tasks: Mapping[str, Any], gains: Sequence[str]
) -> InputError:
    """Why the first of the names that are not known is refused."""
    name = next(name for name in names if name not in known)
    for end in gains:
        task = tasks.get(name.removesuffix(end))
        if name.endswith(end) and isinstance(task, Task) and task.of_velocity:
            return InputError(f"{name}: the target of task {task.name!r} is a rate, which has no gains")
    return InputError(f"no task has an input {name!r}; expected {', '.join(known)}")


def stack_weighted(level: Sequence[Any], parts: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Any:
    """(A, b) of all tasks of a level, times the roots of their weights; of a single task unchanged.  [RD 2.215]"""
    if len(parts) == 1:
        return parts[0]
    roots = [float(np.sqrt(task.weight)) for task in level]
    A = [root * A for root, (A, _) in zip(roots, parts, strict=True)]
    b = [root * b for root, (_, b) in zip(roots, parts, strict=True)]
    return np.concatenate(A, axis=-2), np.concatenate(b, axis=-1)
