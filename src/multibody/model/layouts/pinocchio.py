"""Pinocchio's q, v, a and generalized forces."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from multibody.model.joint import Joint
from multibody.model.joints import (
    Continuous,
    Cylindrical,
    Floating,
    Helical,
    Kind,
    Planar,
    Prismatic,
    Revolute,
    Schoenflies,
    Spherical,
    Translational,
    Universal,
)
from multibody.model.layouts._joint_maps import Circle, Part, Turned, Xyzw, index_range
from multibody.model.layouts._layout import Layout

_ROTATIONS = ("RX", "RY", "RZ", "RevoluteUnaligned")
_CIRCLES = ("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned")
_SLIDERS = ("PX", "PY", "PZ", "PrismaticUnaligned")
_SCREWS = ("HX", "HY", "HZ", "HelicalUnaligned")

_KINDS: dict[str, tuple[tuple[type[Kind], ...], type[Part]]] = {
    **dict.fromkeys(_ROTATIONS, ((Revolute, Continuous), Part)),
    **dict.fromkeys(_CIRCLES, ((Revolute, Continuous), Circle)),
    **dict.fromkeys(_SLIDERS, ((Prismatic,), Part)),
    **dict.fromkeys(_SCREWS, ((Helical,), Part)),
    "Planar": ((Planar,), Circle),
    "Spherical": ((Spherical,), Xyzw),
    "FreeFlyer": ((Floating,), Xyzw),
    "Translation": ((Translational,), Part),
    "Universal": ((Universal,), Part),
}
"""For each of Pinocchio's kinds: ours, and how their numbers relate."""

_LETTERS = {**dict.fromkeys(_ROTATIONS, "r"), **dict.fromkeys(_SLIDERS, "p"), "Translation": "ppp"}
_COMPOSED: dict[tuple[type[Kind], str], tuple[type[Part], tuple[int, ...]]] = {
    (Cylindrical, "pr"): (Part, (0, 1)),
    (Cylindrical, "rp"): (Part, (1, 0)),
    (Universal, "rr"): (Part, (0, 1)),
    (Translational, "ppp"): (Part, (0, 1, 2)),
    (Planar, "ppr"): (Turned, (0, 1, 2)),
    (Schoenflies, "pppr"): (Turned, (0, 1, 2, 3)),
}
"""Our kinds that Pinocchio composes of rotations r and translations p: how, and where each number is."""

_COMPOSITE = "Composite_"
"""The prefix of Pinocchio's MJCF reader for the first of several joints on a body."""


@dataclass(frozen=True)
class _Theirs:
    """A joint of Pinocchio: its name, its kind, and where its numbers are."""

    name: str
    kind: str
    q: tuple[int, ...]
    v: tuple[int, ...]
    composed: tuple[str, ...] = ()


class PinocchioLayout(Layout):
    """Between a model of ours and a `pinocchio.Model`.

    Joints are paired by their names, a floating base whatever its name. Pinocchio has quaternions as x, y, z, w, the
    cosine and sine of joints without limits and of planar ones, and left-trivialised velocities. A composite joint is
    one of ours (cylindrical, universal, translational, planar, Schoenflies), its stages in the order of our
    coordinates; or, from Pinocchio's MJCF reader, several of ours, one after the other.
    """

    peer_name = "Pinocchio"

    def _pair(self, ours: Sequence[Joint], peer: Any) -> list[Part]:
        order = [joint.name for joint in ours]
        theirs = {joint.name: joint for their in _joints(peer) for joint in _split(their, order)}
        free = [name for name, joint in theirs.items() if joint.kind == "FreeFlyer"]
        pairs = self._matched(ours, list(theirs), free)
        return [self._part(joint, theirs[name]) for name, joint in pairs.items()]

    def _part(self, joint: Joint, their: _Theirs) -> Part:
        if their.kind == "Composite":
            letters = "".join(_LETTERS.get(kind, "?") for kind in their.composed)
            if (type(joint.kind), letters) not in _COMPOSED:
                raise self._differ(joint, f"Composite of {', '.join(their.composed)}")
            part, where = _COMPOSED[type(joint.kind), letters]
            return part(joint, tuple(their.q[k] for k in where), tuple(their.v[k] for k in where))
        kinds, part = _KINDS.get(their.kind, ((), Part))
        if not isinstance(joint.kind, kinds):
            raise self._differ(joint, their.kind)
        return part(joint, their.q, their.v)


def _joints(peer: Any) -> list[_Theirs]:
    """The joints with coordinates of their own; the universe comes first."""
    theirs = []
    for name, joint in list(zip(peer.names, peer.joints, strict=True))[1:]:
        if joint.nv:
            q, v = index_range(joint.idx_q, joint.nq), index_range(joint.idx_v, joint.nv)
            inner = [stage.shortname() for stage in joint.extract().joints] if _kind(joint) == "Composite" else []
            theirs.append(_Theirs(name, _kind(joint), q, v, tuple(x.removeprefix("JointModel") for x in inner)))
    return theirs


def _kind(joint: Any) -> str:
    return joint.shortname().removeprefix("JointModel")


def _split(their: _Theirs, order: Sequence[str]) -> list[_Theirs]:
    """A composite joint whose stages are joints of ours, as those."""
    first = their.name.removeprefix(_COMPOSITE)
    if their.kind != "Composite" or first == their.name or first not in order:
        return [their]
    at, q, v = order.index(first), 0, 0
    stages = []
    for name, kind in zip(order[at : at + len(their.composed)], their.composed, strict=False):
        nq, nv = _SIZES.get(kind, (1, 1))
        stages.append(_Theirs(name, kind, their.q[q : q + nq], their.v[v : v + nv]))
        q, v = q + nq, v + nv
    return stages


_SIZES = {"Spherical": (4, 3), "FreeFlyer": (7, 6), "Translation": (3, 3)} | dict.fromkeys(_CIRCLES, (2, 1))
