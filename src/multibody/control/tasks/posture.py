"""Joints at their coordinates."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import known_rows
from multibody.control.tasks._task import Task
from multibody.errors import InputError
from multibody.model import check_configuration, configuration
from multibody.model.actuation import actuated_joints
from multibody.model.tree import Tree


@dataclass(frozen=True)
class PostureTask(Task):
    """Joints at their coordinates: a row for each of their velocities; by default
    of all joints that do not float.

    The target is a whole configuration, (..., nq), whose other coordinates do not matter.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> PostureTask("rest").on(robot.tree).rows
    7
    >>> elbow = PostureTask("elbow", joints=("joint4",))
    >>> elbow.error(robot.tree, robot.home(), robot.home() + 0.1).round(12)
    array([0.1])
    """

    name: str
    joints: tuple[str, ...] | None = None
    weight: float = 1.0
    count: int | None = None
    """The number of rows; `on` sets it, since it depends on the robot."""

    def __post_init__(self) -> None:
        if self.joints is None:
            return
        named = () if isinstance(self.joints, str) else tuple(self.joints)
        if not named or not all(isinstance(name, str) for name in named) or len(set(named)) < len(named):
            raise InputError(f"task {self.name!r}: expected different names of joints, got {self.joints!r}")
        object.__setattr__(self, "joints", named)

    @property
    def rows(self) -> int:
        return known_rows(self.count, f"task {self.name!r}", "task.on(robot.tree)")

    def on(self, tree: Tree) -> "PostureTask":
        return replace(self, count=len(self.places(tree)))._checked(tree)

    def target_kind(self, tree: Tree) -> str:
        return "configuration"

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        goal = check_configuration.coordinates(tree, target, f"the target of task {self.name!r}")
        return configuration.difference(tree, q, goal)[..., self.places(tree)]

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        rows = np.eye(tree.nv, dtype=q.dtype)[self.places(tree)]
        return np.broadcast_to(rows, (*q.shape[:-1], *rows.shape))

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return np.zeros_like(v[..., self.places(tree)])

    def places(self, tree: Tree) -> list[int]:
        """The indices in v of the joints, in the order of their names."""
        own = {joint.name: joint for joint in tree.joints if joint.mimic is None}
        joints = actuated_joints(tree)
        if self.joints is not None:
            for name in self.joints:
                if name not in own:
                    raise InputError(
                        f"task {self.name!r}: {tree.name} has no joint {name!r} with a coordinate of its own; there "
                        f"are {', '.join(own)}"
                    )
            joints = [own[name] for name in self.joints]
        return [k for joint in joints for k in range(joint.v.start, joint.v.stop)]
