"""Contacts of a robot that a command simulates: its feet, or the spheres of its collision shapes."""

import numpy as np
from numpy.typing import NDArray

from multibody.cli._messages import print_note
from multibody.robot import Robot
from multibody.simulate import Ground, Run, SphereContact, contacts_of
from multibody.simulate.contact.gaps import gaps

FOOT = "foot-"
"""The beginning of the names of frames on feet."""
SOLE_THICKNESS = 1e-3
"""The height above the lowest point of a foot up to which it touches, in m."""
MAX_CONTACTS = 28
"""Contacts of shapes: code grows with their square."""
MAX_SUNK = 1e-3
"""The depth of other shapes in the ground that is not reported, in m."""


def contacts_at(robot: Robot, q: NDArray, ground: Ground, shapes: bool) -> tuple[SphereContact, ...]:
    """Return the contacts of the feet if the robot has frames on feet, otherwise those nearest to the ground.

    Args:
        robot: the robot; on a fixed base it swings freely, without contacts.
        q: where it starts.
        ground: the ground.
        shapes: whether all collision shapes touch, not only the feet.
    """
    if not robot.tree.bases:
        return ()
    feet = {frame.link for frame in robot.model.extra_frames if frame.name.startswith(FOOT)}
    contacts = contacts_of(robot)
    heights = _heights(robot, contacts, robot.home(), ground)
    lowest = {link: min(z for each, z in zip(contacts, heights, strict=True) if each.frame == link) for link in feet}
    soles = [
        contact
        for contact, z in zip(contacts, heights, strict=True)
        if z <= lowest.get(contact.frame, -np.inf) + SOLE_THICKNESS
    ]
    if soles and not shapes:
        return tuple(soles)
    if len(contacts) <= MAX_CONTACTS:
        return contacts
    near = np.argsort(_heights(robot, contacts, q, ground))[:MAX_CONTACTS]
    print_note(
        f"of {len(contacts)} points of the robot's shapes, the {MAX_CONTACTS} nearest to the ground can touch it"
    )
    return tuple(contacts[k] for k in sorted(near.tolist()))


def print_sunk(run: Run, robot: Robot, ground: Ground) -> None:
    """Say which shape without a contact is in the ground at the end of a run."""
    contacts = contacts_of(robot)
    heights = _heights(robot, contacts, run.q[-1], ground)
    k = int(np.argmin(heights))
    if heights[k] < -MAX_SUNK:
        deep = f"{contacts[k].frame} ends {-heights[k]:.2g} m below the ground"
        print_note(f"{deep}: only feet touch it; --shapes lets all collision shapes touch")


def _heights(robot: Robot, contacts: tuple[SphereContact, ...], q: NDArray, ground: Ground) -> NDArray:
    """The distances of contacts from the ground, in m."""
    return gaps(robot.tree, [(contact, ground) for contact in contacts], q) if contacts else np.zeros(0)
