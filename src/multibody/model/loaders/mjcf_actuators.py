"""Actuators, equality constraints and the home configuration of a compiled MuJoCo model.

`m` is a mujoco.MjModel.
"""

import math
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from multibody.model.actuator import Equality
from multibody.model.builder import Builder
from multibody.model.loaders.mjcf_bodies import Bodies, driving, neutral
from multibody.model.loaders.mjcf_diagnostics import Notes
from multibody.model.loaders.mjcf_names import Names

_CONSTRAINTS = (
    ("connect", 6),
    ("weld", 11),
    ("joint", 5),
    ("tendon", 5),
    ("flex", 0),
    ("flexvert", 0),
    ("flexstrain", 0),
    ("distance", 11),
)
"""MuJoCo's kinds of equality constraints, by number, and how many numbers belong to each."""

_SITES = 6
"""MuJoCo's number for objects that are sites."""


def add_actuators(builder: Builder, m: Any, bodies: Bodies, notes: Notes) -> None:
    """Add motors on joints; other transmissions and control laws are reported."""
    if not m.nactuator:
        notes.note("assumed", "the model has no actuators: every joint but a floating base is taken to have a motor")
        return
    builder.unactuated()
    names, motors = Names(m.actuator(a).name for a in range(m.nactuator)), driving(m)
    for a in range(m.nactuator):
        own = m.actuator(a).name
        place = notes.place("actuators", a)
        gear = float(m.actuator_gear[a, 0])
        if a not in motors or not gear:
            why = "its gear is 0" if a in motors else "it does not drive one coordinate of a joint"
            notes.warn("ignored", f"the actuator {own or a!r} is ignored: {why}", place)
            continue
        joint = bodies.joints[m.actuator_trnid[a, 0]]
        builder.actuator(
            own or names.new(f"{joint}_motor"),
            joint,
            gear=gear,
            rotor_inertia=float(m.actuator_armature[a]),
            effort=_effort(m, a),
        )
        if not _is_motor(m, a):
            notes.note(
                "ignored", f"the actuator {own or joint!r} is kept as a motor: its control law is ignored", place
            )
        if m.actuator_forcelimited[a] and m.actuator_forcerange[a].sum():
            low, high = m.actuator_forcerange[a]
            notes.note("assumed", f"forcerange {low:g} to {high:g}: the larger is taken for both directions", place)


def _is_motor(m: Any, a: int) -> bool:
    return not (m.actuator_dyntype[a] or m.actuator_gaintype[a] or m.actuator_biastype[a])


def _effort(m: Any, a: int) -> float:
    if m.actuator_forcelimited[a]:
        return float(np.abs(m.actuator_forcerange[a]).max())
    if _is_motor(m, a) and m.actuator_ctrllimited[a]:
        return float(np.abs(m.actuator_ctrlrange[a] * m.actuator_gainprm[a, 0]).max())
    return math.inf


def add_equalities(builder: Builder, m: Any, bodies: Bodies, notes: Notes) -> None:
    """Constraints, as data: the tree does not hold them."""
    for k in range(m.neq):
        kind, count = _CONSTRAINTS[m.eq_type[k]]
        names = [_constrained(m, bodies, k, kind, n) for n in (m.eq_obj1id[k], m.eq_obj2id[k])]
        data = _data(m, k, kind, count)
        name = m.eq(k).name
        builder.equality(Equality(kind, names[0] or "", names[1], data, name, bool(m.eq_active0[k])))
        notes.note(
            "constraint",
            f"the constraint {kind!r} of {' and '.join(repr(x) for x in names if x)} is kept as data: dynamics does "
            "not hold it unless it is given, as in robot.constrained_dynamics(robot.closures, q, v, tau)",
            notes.place("equalities", k),
        )


def _data(m: Any, k: int, kind: str, count: int) -> tuple[float, ...]:
    """The numbers of a constraint: of sites, at their origins; of joints, for coordinates and not for their changes."""
    data = m.eq_data[k, :count].copy()
    if kind in ("connect", "weld") and m.eq_objtype[k] == _SITES:
        data[:10] = [0.0] * 6 if kind == "connect" else [*[0.0] * 6, 1.0, 0.0, 0.0, 0.0]
    if kind == "joint":
        first, second = (m.qpos0[m.jnt_qposadr[j]] if j >= 0 else 0.0 for j in (m.eq_obj1id[k], m.eq_obj2id[k]))
        moved = Polynomial(data)(Polynomial([-second, 1.0])) + first
        data[: len(moved.coef)] = moved.coef
    return tuple(data.tolist())


def _constrained(m: Any, bodies: Bodies, k: int, kind: str, n: int) -> str | None:
    """The name of one of the two things that a constraint holds."""
    if n < 0:
        return None
    if kind == "joint":
        return bodies.joints[n]
    if kind == "tendon":
        return m.tendon(n).name or f"tendon{n}"
    if kind in ("connect", "weld"):
        return bodies.sites[n] if m.eq_objtype[k] == _SITES else bodies.names[n]
    return f"{kind}{n}"


def home(m: Any, notes: Notes) -> tuple[float, ...] | None:
    """The keyframe named home, or the first one, or where the file draws the robot; None when it is neutral."""
    keys = [m.key(k).name for k in range(m.nkey)]
    chosen = keys.index("home") if "home" in keys else 0
    if len(keys) > 1:
        notes.note(
            "ignored", f"{len(keys)} keyframes: number {chosen} is the home of the robot, the others are ignored"
        )
    q: NDArray[Any] = m.key_qpos[chosen] if keys else m.qpos0
    return None if np.array_equal(q, neutral(m)) else tuple(q.tolist())
