"""Mimic joints, whose coordinate is a linear function of another joint's: q = G y + g for all joints together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from multibody.errors import InputError
from multibody.model.diagnostics import StructureError

if TYPE_CHECKING:
    from multibody.model.joint import Joint


@dataclass(frozen=True)
class Mimic:
    """A mimic joint's coordinate follows another's: q = ratio q_other + offset (q = G y + g for all joints)."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ("ratio", "offset"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number):
                raise InputError(f"mimic of {self.joint!r}: expected a number as its {name}, got {value!r}")
            object.__setattr__(self, name, float(value))

    def follow(self, q: Any) -> Any:
        """The coordinate of the mimic joint at a coordinate q of the other: ratio q + offset."""
        return q * self.ratio + self.offset

    def compose(self, inner: "Mimic") -> "Mimic":
        """The map from the joint that the other one mimics in turn: ratio (inner.ratio q + inner.offset) + offset."""
        return Mimic(inner.joint, self.ratio * inner.ratio, self.offset + self.ratio * inner.offset)

    def relative_to(self, sibling: "Mimic", name: str) -> "Mimic":
        """The map from a sibling, the joint `name`, which mimics the same joint with a ratio that is not 0."""
        ratio = self.ratio / sibling.ratio
        return Mimic(name, ratio, self.offset - ratio * sibling.offset)


def resolve(joint: "Joint", joints: Mapping[str, "Joint"]) -> Mimic:
    """The independent joint at the end of a chain of mimic joints, with the composed ratio and offset.

    Raises:
        StructureError: if a factor is not finite, a joint does not exist, the chain is a circle, or a joint at its ends
            has not exactly one coordinate.
    """
    total, seen, at = Mimic(joint.name), [joint.name], joint
    while at.mimic is not None:
        for name, value in (("ratio", at.mimic.ratio), ("offset", at.mimic.offset)):
            if not np.isfinite(value):
                raise StructureError.at_joint(at.name, f" mimics with the {name} {value}")
        total = total.compose(at.mimic)
        if at.mimic.joint not in joints:
            raise StructureError.at_joint(at.name, f" mimics the joint {at.mimic.joint!r}, which does not exist")
        at = joints[at.mimic.joint]
        if at.name in seen:
            circle = "itself" if len(seen) == 1 else f"in a circle: {' -> '.join([*seen, at.name])}"
            raise StructureError.at_joint(joint.name, f" mimics {circle}")
        seen.append(at.name)
    for end in (joint, at):
        if end.kind.nq != 1:
            ends = f" mimics {at.name!r}: both need one coordinate, and {end.name!r} is {end.kind.name}"
            raise StructureError.at_joint(joint.name, ends)
    return total
