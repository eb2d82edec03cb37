"""Robots and inertias that the ready-made systems share."""

from typing import Any

import sympy as sp

from multibody.model.builder import Builder
from multibody.model.joints import Kind
from multibody.model.robots import build
from multibody.robot import Robot


def embedded(name: str, **options: Any) -> Robot:
    """One of the robots that the library has."""
    return Robot(build(name).model(**options))


def chain(name: str, *joints: tuple[str, Kind]) -> Robot:
    """Joints one after the other, named after their coordinates; only the last body is to have mass."""
    b, parent = Builder(name), None
    for k, (coordinate, kind) in enumerate(joints, start=1):
        child = name if k == len(joints) else f"{coordinate}-carriage"
        b.body(child)
        b.joint(coordinate, kind, parent=parent, child=child)
        parent = child
    return Robot(b.model())


def principal(*moments: Any) -> sp.ImmutableMatrix:
    """An inertia along principal axes."""
    return sp.ImmutableMatrix(sp.diag(*moments))
