"""Jumps of a ground's height under a contact, such as the risers of stairs.

A contact touches a landscape at one place with one normal, so that a riser is no obstacle: the surface is suddenly
elsewhere. The path of each contact in a step is bisected towards the largest change of the height. A smooth surface is
flat there; a jump is not. The first jump of a run that matters is kept in its state, and reported.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import dot, vector
from multibody.model.tree import Tree
from multibody.simulate.contact.gaps import center
from multibody.simulate.contact.ground import Ground
from multibody.simulate.contact.scene import Scene
from multibody.simulate.divergence import SimulationWarning
from multibody.tracing.record.loop import loop

BISECTIONS = 10
"""Of the path: what is left of it is a thousandth."""
MIN_JUMP = 1e-4
"""The smallest change of the height that is reported, in m."""
MAX_SLOPE = 50.0
"""The steepest slope that is no jump: 89 degrees."""
START = (-1.0, 0.0, 0.0, 0.0)
"""No jump: the step at whose end it is, the contact, the change of the height and the depth of the contact in m."""


def has_heights(scene: Scene) -> bool:
    """Whether some ground is a landscape."""
    return any(ground.height is not None for _, ground in scene.grounded)


def first_jump(
    tree: Tree, scene: Scene, first: NDArray[Any], count: Any, q: NDArray[Any], after: NDArray[Any], forces: Any
) -> NDArray[Any]:
    """Return the first jump of a run, (4,) as `START`, after a step.

    Args:
        tree: the robot.
        scene: its contacts.
        first: (4,), before the step.
        count: the number of steps, with this one.
        q: (nq,), before the step.
        after: (nq,), after it.
        forces: (contacts, 3), in the step.
    """
    grounds = len(scene.grounded) // scene.contacts
    for k, (contact, ground) in enumerate(scene.grounded):
        if ground.height is None:
            continue
        start, end = center(tree, contact, q), center(tree, contact, after)
        change, length = _steepest_change(ground, start[:2], end[:2])
        clearance = end[2] - ground.point_at(end[:2])[2]
        jumps = (np.abs(change) > MIN_JUMP) & (np.abs(change) > MAX_SLOPE * length)
        push = forces[k // grounds]
        matters = jumps & ((clearance < contact.radius + MIN_JUMP) | (dot(push, push) > 0.0))
        if contact.radius:
            matters = matters | (clearance < 0.0)  # the centre is below the surface
        depth = np.maximum(contact.radius - clearance, 0.0)
        new = vector(count, float(k // grounds), np.where(jumps, change, 0.0), depth)
        first = np.where((first[0] < 0.0) & matters, new, first)
    return first


def _steepest_change(ground: Ground, start: NDArray[Any], end: NDArray[Any]) -> tuple[Any, Any]:
    """The change of the height over the steepest part of a path between places (2,), and the length of that part."""

    def halve(carry: Any) -> Any:
        a, b = carry
        middle = ground.point_at((a + b) / 2)
        first = np.abs(middle[2] - a[2]) > np.abs(b[2] - middle[2])
        return np.where(first, a, middle), np.where(first, middle, b)

    a, b = loop(BISECTIONS, halve, (ground.point_at(start), ground.point_at(end)))
    return b[2] - a[2], np.sqrt(dot(b[:2] - a[:2], b[:2] - a[:2]))


def sentences(state: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each sample of a state with a jump: which contact of `Run.about`, when, how deep."""
    jumps = np.asarray(state.get("jump", START))
    for index in np.argwhere(jumps[..., 0] >= 0).tolist():
        step, contact, change, depth = jumps[tuple(index)].tolist()
        which = f"sample {', '.join(map(str, index))}: " if index else ""
        jump = f"the ground's height jumps by {change:.3g} m under" if change else "the ground is above the centre of"
        yield (
            f"{which}{jump} contact {contact:.0f}, {about['contacts'][int(contact)]!r}, "
            f"at t = {step * about['dt']:g} s; it is {1e3 * depth:.3g} mm deep"
        )


def warn(state: Mapping[str, Any], about: Mapping[str, Any], place: str = "", *, stacklevel: int) -> None:
    """Warn of jumps: the first sentence, and the number of the others and the place where they are."""
    if found := list(sentences(state, about)):
        others = f" (and {len(found) - 1} more{place})" if found[1:] else ""
        warnings.warn(
            f"{found[0]}{others}. Contacts pass through risers: use a height that rises over at least the "
            "contact's radius, or half-spaces (a list of Ground)",
            SimulationWarning,
            stacklevel=stacklevel + 1,
        )
