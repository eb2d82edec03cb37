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
    """Return the robot without a link and its subtree.

    Its frames, actuators and equalities are removed, too. If others mimic a removed joint, the first of them becomes
    independent and the others mimic it.
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
    removed = {joint.name for joint in model.description if joint.child in lost}
    changed, notes = _regrouped_mimics(model, removed)
    return without_joints(
        model,
        removed,
        f"went with the link {link!r}",
        notes,
        removed_frames=lost,
        links=links,
        description=tuple(changed.get(j.name, j) for j in model.description if j.name not in removed),
        extra_frames=tuple(frame for frame in model.extra_frames if frame.link not in lost),
    )


def _regrouped_mimics(model: Model, removed: set[str]) -> tuple[dict[str, Joint], list[Diagnostic]]:
    """The remaining joints that mimicked a removed one, with new leaders and the same ratios."""
    groups: dict[str, list[tuple[Joint, Mimic]]] = defaultdict(list)
    for joint in model.description:
        if joint.mimic is not None and joint.name not in removed:
            composed = model.joint(joint.name).mimic
            assert composed is not None
            groups[composed.joint].append((joint, composed))
    changed: dict[str, Joint] = {}
    notes: list[Diagnostic] = []
    for leader, followers in groups.items():
        if leader not in removed:
            # one in the middle of a chain of mimic joints may be removed
            changed.update((j.name, replace(j, mimic=m)) for j, m in followers if j.mimic and j.mimic.joint in removed)
            continue
        first = next(((joint.name, mimic) for joint, mimic in followers if mimic.ratio), None)
        changed.update((joint.name, _following(joint, mimic, first)) for joint, mimic in followers)
        new_lead = "hold still" if first is None else f"have {first[0]!r} to lead them"
        names = ", ".join(repr(joint.name) for joint, _ in followers)
        notes.append(
            Diagnostic("warning", "coupled", f"joint {leader!r} is removed: joints that mimic it, {names}, {new_lead}")
        )
    return changed, notes


def _following(joint: Joint, mimic: Mimic, first: tuple[str, Mimic] | None) -> Joint:
    """A joint that mimicked a removed one: it now mimics the first of its siblings, or is that one."""
    if first is None:
        return fixed_at(joint, np.array([mimic.offset]))
    name, lead = first
    return replace(joint, mimic=None if joint.name == name else mimic.relative_to(lead, name))
