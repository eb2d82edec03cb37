"""Joints that stop moving and links that go away: `lock` and `remove` of `surgery`."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.model import configuration
from multibody.model.actuator import Actuator
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint, Mimic
from multibody.model.joints import Fixed
from multibody.model.model import Model


def lock(model: Model, values: Mapping[str, ArrayLike]) -> Model:
    """The robot with joints that do not move any more, and whose links become parts of their parents.

    Joints that mimic a locked one are locked with it; a joint that mimics cannot be locked on its own. A floating base
    can be locked too: it is then fixed to the world.

    Args:
        model: the robot.
        values: for each joint its coordinate, in rad or m, or its (nq,) coordinates.

    >>> from multibody.model.builder import Builder
    >>> from multibody.model.joints import Revolute
    >>> b = Builder("arm").body("base").body("upper").body("lower")
    >>> _ = b.joint("shoulder", Revolute("y"), parent="base", child="upper")
    >>> _ = b.joint("elbow", Revolute("y"), parent="upper", child="lower", placement=[0.0, 0.0, 1.0])
    >>> lock(b.model(), {"elbow": 0.5}).nq
    1
    """
    if not isinstance(values, Mapping):
        raise InputError(f"lock {model.name}: expected {{joint: value}}, got {type(values).__name__}")
    at = {name: _coordinates(model, name, value) for name, value in values.items()}
    for joint in model.joints:
        if joint.mimic is not None and joint.mimic.joint in at:
            at[joint.name] = at[joint.mimic.joint] * joint.mimic.ratio + joint.mimic.offset
    notes = [note for name, x in at.items() for note in _past_limits(model.joint(name), x)]
    joints = tuple(_fixed(joint, at[joint.name]) if joint.name in at else joint for joint in model.description)
    return _without(model, set(at), "is locked", notes, description=joints)


def remove(model: Model, link: str) -> Model:
    """The robot without a link and all that hangs on it.

    Frames, actuators and equalities of what is gone go with it. Where a joint is gone that others mimic, the first of
    those that stay gets its own coordinate, and the rest follow that one.
    """
    model.link(link)
    below: dict[str | None, list[Joint]] = defaultdict(list)
    for joint in model.description:
        below[joint.parent].append(joint)
    branch = [link]
    for name in branch:
        branch.extend(joint.child for joint in below[name])
    lost = set(branch)
    links = tuple(each for each in model.links if each.name not in lost)
    if not links:
        raise InputError(f"{model.name}: removing {link!r} leaves no link; expected a link that is not the root")
    gone = {joint.name for joint in model.description if joint.child in lost}
    freed, notes = _freed(model, gone)
    return _without(
        model,
        gone,
        f"went with the link {link!r}",
        notes,
        frames_gone=lost,
        links=links,
        description=tuple(freed.get(j.name, j) for j in model.description if j.name not in gone),
        extra_frames=tuple(frame for frame in model.extra_frames if frame.link not in lost),
    )


def _coordinates(model: Model, name: str, value: ArrayLike) -> NDArray[Any]:
    """The coordinates (nq,) at which a joint is to be locked."""
    joint = model.joint(name)
    where = f"{model.name}: lock joint {name!r}"
    if joint.kind.nv == 0:
        raise InputError(f"{where}: expected a joint that moves, this one is fixed")
    if joint.mimic is not None:
        leader, ratio, offset = joint.mimic.joint, joint.mimic.ratio, joint.mimic.offset
        raise InputError(
            f"{where}: expected a joint with a coordinate of its own, this one is {ratio:g} times that of {leader!r} "
            f"plus {offset:g}; lock {leader!r}, and this one is locked with it"
        )
    try:
        x = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError, OverflowError):
        x = np.zeros(0)
    if x.shape != (joint.kind.nq,) or not np.isfinite(x).all():
        raise InputError(f"{where}: expected {joint.kind.nq} finite coordinates, got {value!r}")
    turn = joint.kind.quaternion
    if turn is not None:
        length = np.linalg.norm(x[turn])
        if abs(length - 1) > configuration.UNIT_WITHIN:
            raise InputError(f"{where}: expected a unit quaternion (w, x, y, z), got one of length {length:.9g}")
        x = np.concatenate([x[: turn.start], x[turn] / length, x[turn.stop :]])
    return x


def _past_limits(joint: Joint, x: NDArray[Any]) -> list[Diagnostic]:
    within = configuration.LIMIT_WITHIN
    if (x >= np.array(joint.limits.lower) - within).all() and (x <= np.array(joint.limits.upper) + within).all():
        return []
    bounds = f"{joint.limits.lower} and {joint.limits.upper}"
    return [Diagnostic("warning", "limits", f"joint {joint.name!r} is locked at {x.tolist()}, past {bounds}")]


def _fixed(joint: Joint, x: NDArray[Any]) -> Joint:
    """The joint, held at its coordinates."""
    return Joint(joint.name, Fixed(), joint.parent, joint.child, joint.placement @ joint.kind.pose(x))


def _freed(model: Model, gone: set[str]) -> tuple[dict[str, Joint], list[Diagnostic]]:
    """The joints that stay and mimicked one that is gone, in a new form that keeps their ratios."""
    groups: dict[str, list[tuple[Joint, Mimic]]] = defaultdict(list)
    for joint in model.description:
        if joint.mimic is not None and joint.name not in gone:
            in_the_end = model.joint(joint.name).mimic
            assert in_the_end is not None
            groups[in_the_end.joint].append((joint, in_the_end))
    freed: dict[str, Joint] = {}
    notes: list[Diagnostic] = []
    for leader, followers in groups.items():
        if leader not in gone:
            # in a chain of mimics, one in the middle may be gone
            freed.update((j.name, replace(j, mimic=m)) for j, m in followers if j.mimic and j.mimic.joint in gone)
            continue
        first = next(((joint.name, mimic) for joint, mimic in followers if mimic.ratio), None)
        freed.update((joint.name, _following(joint, mimic, first)) for joint, mimic in followers)
        told = "hold still" if first is None else f"have {first[0]!r} to lead them"
        names = ", ".join(repr(joint.name) for joint, _ in followers)
        notes.append(
            Diagnostic("warning", "coupled", f"joint {leader!r} is gone: those that mimic it, {names}, {told}")
        )
    return freed, notes


def _following(joint: Joint, mimic: Mimic, first: tuple[str, Mimic] | None) -> Joint:
    """A joint that followed one that is gone, and how; now it follows the first of its kin, or is that one."""
    if first is None:
        return _fixed(joint, np.array([mimic.offset]))
    name, lead = first
    ratio = mimic.ratio / lead.ratio
    return replace(joint, mimic=None if joint.name == name else Mimic(name, ratio, mimic.offset - ratio * lead.offset))


def _without(
    model: Model,
    joints: set[str],
    why: str,
    notes: list[Diagnostic],
    *,
    frames_gone: set[str] | None = None,
    **changes: Any,
) -> Model:
    """The model with the changes, without what needs the joints (and frames) that are gone."""
    kept: list[Actuator] = []
    for actuator in model.actuators or ():
        if actuator.joint not in joints:
            kept.append(actuator)
        else:
            notes.append(note(f"actuator {actuator.name!r} is gone: its joint {actuator.joint!r} {why}", "dropped"))
    equalities = list(model.equalities)
    if frames_gone is not None:
        frames_gone = frames_gone | {frame.name for frame in model.extra_frames if frame.link in frames_gone}
        for each in model.equalities:
            if {each.first, each.second} & (joints if each.kind == "joint" else frames_gone):
                equalities.remove(each)
                notes.append(note(f"equality {each.name!r} ({each.kind}) is gone: a part of it {why}", "dropped"))
    new = model.with_(
        actuators=None if model.actuators is None else tuple(kept),
        equalities=tuple(equalities),
        home=None,
        diagnostics=(*model.diagnostics, *notes),
        **changes,
    )
    return new if model.home is None else with_home(new, at_home(model))


def at_home(model: Model) -> dict[str, NDArray[Any]]:
    """The coordinates of each joint at the robot's home."""
    q = configuration.neutral(model.tree) if model.home is None else np.array(model.home)
    return {joint.name: joint.coordinates(q) for joint in model.joints}


def with_home(model: Model, values: Mapping[str, NDArray[Any]]) -> Model:
    """The model with a home where each joint has its coordinates of `values`."""
    parts = [values[joint.name] for joint in model.joints if joint.mimic is None]
    return model.with_(home=tuple(np.concatenate([np.zeros(0), *parts]).tolist()))


def note(message: str, code: str) -> Diagnostic:
    """A diagnostic of something that is fine."""
    return Diagnostic("note", code, message)
