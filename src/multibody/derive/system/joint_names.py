"""Names for the coordinates and velocities of a robot that read well in formulas."""

from collections.abc import Sequence

import sympy as sp

from multibody.derive.system.symbols import rate
from multibody.model import joints as kinds
from multibody.model.joint import Joint
from multibody.model.model import Model

_QUATERNION = ("q_w", "q_x", "q_y", "q_z")
_TURNING = ("omega_x", "omega_y", "omega_z")
_NAMES: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {
    kinds.Floating: (("x", "y", "z", *_QUATERNION), ("v_x", "v_y", "v_z", *_TURNING)),
    kinds.Spherical: (_QUATERNION, _TURNING),
    kinds.Planar: (("x", "y", "theta"), ("v_x", "v_y", "omega")),
    kinds.Schoenflies: (("x", "y", "z", "theta"), ("v_x", "v_y", "v_z", "omega")),
    kinds.Translational: (("x", "y", "z"), ()),
    kinds.Cylindrical: (("d", "theta"), ()),
    kinds.Universal: (("alpha", "beta"), ()),
}
"""Names of the coordinates of joints that have several, and of their velocities where these are no rates."""


def has_rates(joint: Joint) -> bool:
    """Whether the velocities of a joint are the rates of its coordinates."""
    return joint.kind.nq == 1 or not _NAMES[type(joint.kind)][1]


def coordinate_names(model: Model) -> list[str]:
    """q_1, q_2, ... for joints with one coordinate, counted along the tree; others by what they are.

    The number of the joint follows where there is more than one joint of that sort.
    """
    return [name for _, names, _ in _joints(model) for name in names]


def velocity_names(model: Model, q: Sequence[sp.Symbol]) -> list[str]:
    """Rates of the coordinates where they are that, and names of their own elsewhere."""
    velocities: list[str] = []
    for joint, _, names in _joints(model):
        velocities += [rate(x).name for x in q[joint.q]] if has_rates(joint) else names
    return velocities


def _joints(model: Model) -> list[tuple[Joint, list[str], list[str]]]:
    """The joints in the order of q, with names of coordinates and velocities."""
    joints = sorted((j for j in model.joints if j.mimic is None), key=lambda j: j.q.start)
    single = [j for j in joints if j.nq == 1]
    entries = []
    for k, joint in enumerate(joints, start=1):
        if joint.nq == 1:
            entries.append((joint, [f"q_{k}" if len(joints) > 1 else "q"], []))
            continue
        alone = len(joints) - len(single) == 1
        q, v = _NAMES[type(joint.kind)]
        entries.append((joint, *([_numbered(name, None if alone else k) for name in names] for names in (q, v))))
    return entries


def _numbered(name: str, k: int | None) -> str:
    if k is None:
        return name
    return f"{name}{k}" if "_" in name else f"{name}_{k}"
