"""Diagnostics about everything in an MJCF model that the robot ignores."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from multibody.errors import RobotFileError
from multibody.model.diagnostics import Diagnostic
from multibody.model.loaders.mjcf_bodies import Bodies
from multibody.model.loaders.mjcf_includes import Location, Text
from multibody.model.loaders.mjcf_names import JOINTS
from multibody.model.loaders.xml import tag

_PARTS = {
    "tendon": ("warning", "tendons, and their forces and limits, are ignored"),
    "deformable": ("warning", "soft bodies are ignored, the bodies of their nodes aside"),
    "extension": ("warning", "plugins, and what they do, are ignored"),
    "contact": ("note", "which shapes may touch is ignored"),
    "sensor": ("note", "sensors are ignored"),
    "custom": ("note", "data of users are ignored"),
}
"""Sections whose elements are ignored."""

_SECTIONS = ("visual", "statistic", "size")
"""Sections about pictures and memory."""

_ELEMENTS = {
    "camera": ("note", "cameras are ignored"),
    "light": ("note", "lights are ignored"),
    "texture": ("note", "textures are ignored"),
    "flexcomp": ("warning", "soft bodies are ignored, the bodies of their nodes aside"),
    "plugin": ("warning", "plugins, and what they do, are ignored"),
    "skin": ("note", "skins are ignored"),
}

_CONTACT = re.compile("sol(ref|imp|mix).*|margin|gap|friction|condim|priority|fluid(shape|coef)|adhesion|surfacevel")
_USER = re.compile("user|nuser_.*")
_LINE = re.compile(r"line (\d+)")


class Notes:
    """Collects diagnostics, with their places."""

    def __init__(self, text: Text, spec: Any) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._text, self._spec = text, spec
        self._lines: dict[str, dict[int, int]] = {}

    def place(self, kind: str, k: int) -> Location:
        """The location of the k-th of the compiled "bodies", "joints", "geoms", "actuators" or "equalities"."""
        if kind not in self._lines and not self._text.models:
            lines = ((item.id, _LINE.search(item.info)) for item in getattr(self._spec, kind))
            self._lines[kind] = {number: int(match[1]) for number, match in lines if match}
        return self._text.place(self._lines.get(kind, {}).get(k, 0))

    def note(self, code: str, message: str, place: Location | None = None, *, level: str = "note") -> None:
        """Add a diagnostic."""
        at = place or self._text.place(0)
        self.diagnostics.append(Diagnostic(level, code, message, at.file, at.line, at.element))

    def warn(self, code: str, message: str, place: Location | None = None) -> None:
        """Add a warning: the robot moves differently."""
        self.note(code, message, place, level="warning")

    def error(self, message: str, kind: str, k: int) -> RobotFileError:
        """An error at the k-th of a kind, to be raised; a kind "" has no place."""
        at = self.place(kind, k) if kind else self._text.place(0)
        return RobotFileError(message, file=at.file, line=at.line, element=at.element)

    def elements(self) -> None:
        """Report ignored elements and attributes, each kind once, at its first occurrence."""
        first: dict[tuple[str, str], int] = {}
        count: dict[tuple[str, str], int] = {}
        for line, (_, element) in enumerate(self._text.elements, start=1):
            for key in _ignored(element):
                first.setdefault(key, line)
                count[key] = count.get(key, 0) + 1
        for (level, what), line in first.items():
            many = f" ({count[level, what]} times)" if count[level, what] > 1 else ""
            self.note("ignored", f"{what}{many}", self._text.place(line), level=level)

    def compiled(self, m: Any, bodies: Bodies) -> None:
        """Report features of the compiled model that the robot ignores."""
        for b, name in enumerate(bodies.names):
            if m.body_mocapid[b] >= 0:
                self.warn("ignored", f"the mocap body {name!r} is fixed where it starts", self.place("bodies", b))
            if m.body_gravcomp[b]:
                self.warn("ignored", f"gravcomp of the body {name!r} is ignored", self.place("bodies", b))
        if m.opt.density or m.opt.viscosity or np.any(m.opt.wind):
            self.warn("ignored", "forces of a fluid (density, viscosity, wind) are ignored")
        for j, name in enumerate(bodies.joints):
            place, dof = self.place("joints", j), m.jnt_dofadr[j]
            if m.jnt_limited[j] and JOINTS[m.jnt_type[j]] == "ball":
                self.warn("ignored", f"the limit of the ball joint {name!r} is ignored: it bounds no coordinate", place)
            if m.jnt_stiffnesspoly[j].any() or m.dof_dampingpoly[dof].any() or m.jnt_springyield[j]:
                self.warn("ignored", f"the joint {name!r}: only linear springs and dampers are kept", place)
            if m.jnt_actfrclimited[j] and m.jnt_actfrcrange[j].sum():
                low, high = m.jnt_actfrcrange[j]
                self.note("assumed", f"actuatorfrcrange {low:g} to {high:g}: the larger is taken for both", place)
        self._names(m, bodies)

    def _names(self, m: Any, bodies: Bodies) -> None:
        for what, kind, names in (("body", "bodies", bodies.names), ("joint", "joints", bodies.joints)):
            for k, name in enumerate(names):
                if not getattr(m, what)(k).name:
                    self.note("named", f"a {what} without a name is called {name!r}", self.place(kind, k))
        for k, name in bodies.sites.items():
            own = m.site(k).name
            if own != name:
                called = f"the site {own!r}, whose name a body has," if own else "a site without a name"
                self.note("named", f"{called} is the frame {name!r}", self.place("sites", k))


def _ignored(element: Any) -> Iterator[tuple[str, str]]:
    """Ignored attributes and sections of an element: level and message."""
    name, parent = tag(element), element.getparent()
    above = "" if parent is None else tag(parent)
    if above in _PARTS:
        yield _PARTS[above][0], f"<{name}>: {_PARTS[above][1]}"
    elif name in _SECTIONS and above == "mujoco":
        yield "note", f"<{name}> is ignored"
    elif name in _ELEMENTS and above != "default":
        yield _ELEMENTS[name]
    if name == "option" and set(element.attrib) - {"gravity"}:
        yield "note", "options of the simulation are ignored, gravity aside"
    elif any(_CONTACT.fullmatch(key) for key in element.attrib):
        yield "note", "numbers of contacts and of MuJoCo's solver are ignored"
    if any(_USER.fullmatch(key) for key in element.attrib):
        yield "note", "data of users are ignored"
