"""Remove a link and its subtree."""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from multibody.errors import InputError
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint, Mimic
from multibody.model.model import Model
from multibody.model.surgery._shared import fixed_at, without_joints


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
    freed, notes = _regrouped_mimics(model, gone)
    return without_joints(
        model,
        gone,
        f"went with the link {link!r}",
        notes,
        frames_gone=lost,
        links=links,
        description=tuple(freed.get(j.name, j) for j in model.description if j.name not in gone),
        extra_frames=tuple(frame for frame in model.extra_frames if frame.link not in lost),
    )


def _regrouped_mimics(model: Model, gone: set[str]) -> tuple[dict[str, Joint], list[Diagnostic]]:
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
        return fixed_at(joint, np.array([mimic.offset]))
    name, lead = first
    return replace(joint, mimic=None if joint.name == name else mimic.relative_to(lead, name))
