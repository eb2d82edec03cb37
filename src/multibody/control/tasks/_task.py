"""The contract of tasks: rows of a robot's velocity, and what their targets are."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.rows import Rows
from multibody.control._checks import check_weight
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.geometry._arrays import floats, is_traced
from multibody.geometry.value import Value
from multibody.model import configuration
from multibody.model.tree import Tree
from multibody.robot.inputs import Kind

Axis = tuple[float, float, float]
WORLD_AXES = ("x", "y", "z", "rx", "ry", "rz")


class Task(Rows):
    """Something that a robot is to reach: rows with error(q) = target - actual,
    and J v, the rate of what is actual.

    The derivative of the error along v is -J v, for errors of rotation as far as they are
    small. A task is frozen data: a subclass is a frozen dataclass with a `name`. All functions
    take batches, and traced arrays; J is for the velocities of the tree, whatever its base
    representation.

    >>> from dataclasses import dataclass
    >>> import multibody as mb
    >>> from multibody.algorithms import jacobian, kinematics
    >>> @dataclass(frozen=True)
    ... class Height(Task):
    ...     name: str
    ...     frame: str
    ...     rows = 1
    ...
    ...     def error(self, tree, q, target):
    ...         return target - kinematics.pose(tree, self.frame, q).position[..., 2:]
    ...
    ...     def jacobian(self, tree, q):
    ...         return jacobian.jacobian(tree, self.frame, q)[..., 2:3, :]
    ...
    ...     def bias(self, tree, q, v):
    ...         return kinematics.acceleration(tree, self.frame, q, v, 0 * v)[..., 2:3]
    >>> robot = mb.load("panda")
    >>> task = Height("up", "tool").on(robot.tree)
    >>> task.error(robot.tree, robot.home(), np.array([1.0])).shape
    (1,)
    >>> task.jacobian(robot.tree, robot.home()).shape
    (1, 7)
    """

    weight: float = 1.0
    """Of the squared error, among the tasks of one level.  [RD 2.215]"""
    of_velocity: bool = False
    """Whether the target is a value of J v itself: then q is not off from anything, and there is no error or gain."""

    def target_kind(self, tree: Tree) -> Kind:
        """The kind of the target, as of an input of `robot.function`; by default a
        vector, a number for each row.
        """
        return self.rows

    @property
    def needs_target(self) -> bool:
        """Whether the task states no target of its own."""
        return True

    @abstractmethod
    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:  # type: ignore[override]
        """(..., rows): target - actual, in m or rad."""

    def jacobian_toward(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        """J, (..., rows, nv), of rows that depend on where the target is; of others as `jacobian`."""
        return self.jacobian(tree, q)

    def bias_toward(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], target: Any) -> NDArray[Any]:
        """J' v, (..., rows), at a target that stands still; of rows that do not
        depend on it as `bias`.
        """
        return self.bias(tree, q, v)

    def on(self, tree: Tree) -> Self:
        """The task, with all that depends on the robot, such as the number of rows of a posture.

        Raises:
            InputError: when the task does not fit the robot, or its weight is not positive.
        """
        return self._checked(tree)

    def _checked(self, tree: Tree) -> Self:
        check_weight(self)
        target = self.example_target(tree)
        J = self.jacobian_toward(tree, configuration.neutral(tree), target)
        shape = J.shape
        if self.rows < 1 or shape != (self.rows, tree.nv):
            raise InputError(
                f"task {self.name!r}: expected at least one row, and a Jacobian ({self.rows}, {tree.nv}), got one of "
                f"shape {shape}"
            )
        if not is_traced(J) and not J.any():
            anywhere = configuration.random(tree, np.random.default_rng(0))
            if not self.jacobian_toward(tree, anywhere, target).any():
                raise InputError(f"task {self.name!r}: expected something that {tree.name} can move, got {self!r}")
        return self

    def example_target(self, tree: Tree) -> Any:
        """A target of the right kind, to try the task on."""
        kind = self.target_kind(tree)
        if kind == "configuration":
            return configuration.neutral(tree)
        if isinstance(kind, str):
            values: dict[str, Value] = {"pose": Pose.identity(), "rotation": Rotation.identity()}
            return values[kind]
        return np.ones(kind)


class Labelled(Task):
    """The abstract base of tasks whose rows have names of their own."""

    _labels: ClassVar[Sequence[str]]

    @property
    def labels(self) -> Sequence[str]:
        """The names of the rows."""
        return self._labels

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{label}" for label in self.labels)


def letters(axes: Any, name: str) -> list[int]:
    """The rows that letters such as "xz" name, in their order."""
    known = isinstance(axes, str) and 0 < len(axes) == len(set(axes)) and set(axes) <= set("xyz")
    if not known:
        raise InputError(f"task {name!r}: expected axes, different letters of 'xyz', got {axes!r}")
    return ["xyz".index(letter) for letter in axes]


def expected(target: Any, kind: type[Value], task: Task) -> Any:
    """The target, if it is a value of that kind."""
    if not isinstance(target, kind):
        raise InputError(f"task {task.name!r}: expected a {kind.__name__} as its target, got {type(target).__name__}")
    return target


def vector(target: Any, task: Task, size: int) -> NDArray[Any]:
    """The target as an array (..., size)."""
    return floats(target, f"the target of task {task.name!r}", size)
