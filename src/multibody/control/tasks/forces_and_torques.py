"""Tasks of forces: of contacts, of joints."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from multibody.algorithms import rows
from multibody.algorithms.constraints import Constraint
from multibody.control._checks import check_weight, known_rows
from multibody.control.tasks.posture import PostureTask
from multibody.errors import InputError
from multibody.model.actuation import floating_joints
from multibody.model.tree import Tree


class LoadTask(ABC):
    """Something that forces are to be, a row for each: for `WholeBody`, whose
    unknowns are tau and f.  [RD 3.109]

    Frozen data, with a name and a weight as other tasks have. A subclass says which entries it
    is about.
    """

    name: str
    weight: float = 1.0
    places: tuple[int, ...] | None = None
    """Which entries of (tau, f); `on` sets it, since it depends on the robot and its contacts."""
    needs_target: bool = True

    @property
    def rows(self) -> int:
        """The number of rows."""
        count = None if self.places is None else len(self.places)
        return known_rows(count, f"task {self.name!r}", "task.on(tree, contacts)")

    @abstractmethod
    def on(self, tree: Tree, contacts: Sequence[Constraint]) -> Self:
        """The task, with the entries that it is about; tau has nv of them, those of a
        floating base included.

        Raises:
            InputError: when the task does not fit the robot, or its weight is not positive.
        """


@dataclass(frozen=True)
class ForceTask(LoadTask):
    """A contact that pushes with a force: rows, units and axes are those of the
    contact, on the robot.  [RD 3.112]

    >>> import multibody as mb
    >>> feet = [mb.constraints.PointContact(name, name) for name in ("foot-lf", "foot-rf")]
    >>> ForceTask("push", "foot-rf").on(mb.load("quadruped").tree, feet).places
    (21, 22, 23)
    """

    name: str
    contact: str
    weight: float = 1.0
    places: tuple[int, ...] | None = None

    def on(self, tree: Tree, contacts: Sequence[Constraint]) -> "ForceTask":
        check_weight(self)
        slices = rows.slices(contacts)
        if self.contact not in slices:
            known = ", ".join(repr(name) for name in slices) or "none"
            raise InputError(f"task {self.name!r}: no contact is called {self.contact!r}; there are {known}")
        place = slices[self.contact]
        return replace(self, places=tuple(range(tree.nv + place.start, tree.nv + place.stop)))


@dataclass(frozen=True)
class TorqueTask(LoadTask):
    """Joints with given forces, zero where a call states none: least torque.  [RD 3.113]

    >>> import multibody as mb
    >>> TorqueTask("knee", ("lf-knee",)).on(mb.load("quadruped").tree, ()).places
    (8,)
    """

    name: str
    joints: tuple[str, ...] | None = None
    """All actuated ones by default."""
    weight: float = 1.0
    places: tuple[int, ...] | None = None
    needs_target = False

    def on(self, tree: Tree, contacts: Sequence[Constraint]) -> "TorqueTask":
        check_weight(self)
        places = tuple(PostureTask(self.name, self.joints).places(tree))
        floating = [joint.name for joint in floating_joints(tree) if joint.name in (self.joints or ())]
        if floating or not places:
            raise InputError(f"task {self.name!r}: expected actuated joints, got {floating or 'none'}")
        return replace(self, places=places)
