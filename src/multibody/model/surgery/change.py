"""Change inertias, placements, limits, passive elements or global fields of a robot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from multibody.errors import InputError, unknown
from multibody.geometry import Pose, SpatialInertia
from multibody.model.builder import as_pose
from multibody.model.joint import Limits, Passive
from multibody.model.model import Model
from multibody.model.surgery._shared import checked_mapping

FIELDS = ("gravity", "velocity", "home", "actuators")
"""Fields of a model that `change` takes as they are."""


def change(
    model: Model,
    *,
    inertias: Mapping[str, SpatialInertia | None] | None = None,
    placements: Mapping[str, Pose | ArrayLike] | None = None,
    limits: Mapping[str, Limits] | None = None,
    passive: Mapping[str, Passive] | None = None,
    **fields: Any,
) -> Model:
    """Return the robot with other inertias, placements, limits, passive elements or fields.

    Args:
        model: the robot.
        inertias: of links, each in its frame; None for a link without mass.
        placements: of joints in their parent links.
        limits: of joints.
        passive: damping, friction, springs and armature of joints.
        **fields: `gravity`, `velocity`, `home` or `actuators` of the model.

    >>> from multibody.model.builder import Builder
    >>> change(Builder("stone").body("stone").model(), gravity=(0.0, 0.0, -1.62)).gravity
    (0.0, 0.0, -1.62)
    """
    for name in fields:
        if name not in FIELDS:
            of_parts = ("inertias", "placements", "limits", "passive")
            raise InputError(unknown("parameter", name, (*of_parts, *FIELDS), "change"))
    inertias = checked_mapping("change, inertias", inertias, "SpatialInertia")
    placements = checked_mapping("change, placements", placements, "Pose")
    limits = checked_mapping("change, limits", limits, "Limits")
    passive = checked_mapping("change, passive", passive, "Passive")
    links = {name: replace(model.link(name), inertia=inertia) for name, inertia in inertias.items()}
    changes: dict[str, dict[str, Any]] = defaultdict(dict)
    for field, changed in (("placement", placements), ("limits", limits), ("passive", passive)):
        for name, value in changed.items():
            model.joint(name)
            changes[name][field] = as_pose(value) if field == "placement" else value
    for what, values, kind in (
        ("inertia", [link.inertia for link in links.values() if link.inertia is not None], SpatialInertia),
        ("limits", list(limits.values()), Limits),
        ("passive", list(passive.values()), Passive),
    ):
        for value in values:
            if not isinstance(value, kind):
                raise InputError(f"change, {what}: expected {kind.__name__}, got {value!r}")
    return model.with_(
        links=tuple(links.get(link.name, link) for link in model.links),
        description=tuple(replace(joint, **changes.get(joint.name, {})) for joint in model.description),
        **fields,
    )
