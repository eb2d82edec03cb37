"""Robots written here from published dimensions, one file each."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from multibody._signatures import readable_names
from multibody.errors import InputError
from multibody.model.builder import Builder
from multibody.model.robots import (
    branching_figure,
    cart_pendulum,
    double_pendulum,
    free_body,
    humanoid,
    panda,
    planar_arm,
    puma_560,
    quadrotor,
    quadruped,
    scara,
    zyx_wrist,
)
from multibody.model.tree import by_name

_FILES = {
    "planar-arm": planar_arm,
    "scara": scara,
    "zyx-wrist": zyx_wrist,
    "cart-pendulum": cart_pendulum,
    "double-pendulum": double_pendulum,
    "branching-figure": branching_figure,
    "puma-560": puma_560,
    "panda": panda,
    "quadruped": quadruped,
    "humanoid": humanoid,
    "quadrotor": quadrotor,
}


@dataclass(frozen=True)
class Description:
    """A summary of an embedded robot, and the source of its numbers."""

    name: str
    summary: str
    source: str
    options: tuple[str, ...]
    """The options of `build`, with defaults."""

    def __str__(self) -> str:
        return f"{self.name}: {self.summary} Source: {self.source}"


def names() -> tuple[str, ...]:
    """The names of all embedded robots.

    >>> names()[:3]
    ('planar-arm', 'scara', 'zyx-wrist')
    """
    return (*_FILES, *free_body.MAKERS)


def build(name: str, **options: Any) -> Builder:
    """A builder that holds an embedded robot.

    Args:
        name: one of `names()`.
        **options: of this robot, such as lengths; `describe(name).options` lists them.

    >>> build("planar-arm", lengths=(0.5, 1.0, 1.0, 0.2)).model().nv
    3
    """
    make = _maker(name)
    try:
        inspect.signature(make).bind(**options)
    except TypeError:
        known = ", ".join(inspect.signature(make).parameters) or "none"
        raise InputError(f"{name}: expected options out of: {known}; got {', '.join(options)}") from None
    return make(**options)


def describe(name: str) -> Description:
    """One line about an embedded robot, and the source of its numbers.

    >>> print(describe("double-pendulum"))
    double-pendulum: Two hinged rods that hang under gravity. Source: textbook ...
    """
    make = _maker(name)
    options = tuple(str(option) for option in inspect.signature(make).parameters.values())
    if name in _FILES:
        return Description(name, _FILES[name].SUMMARY, _FILES[name].SOURCE, options)
    return Description(name, free_body.summary(name), free_body.SOURCE, options)


def _maker(name: str) -> Callable[..., Builder]:
    makers = {**{file: module.build for file, module in _FILES.items()}, **free_body.MAKERS}
    return by_name(makers, "robot", name, "embedded robots")


readable_names(__name__)
