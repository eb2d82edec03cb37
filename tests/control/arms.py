"""Random arms of six joints with a spherical wrist, for tests of inverse kinematics."""

import numpy as np

import multibody as mb
from multibody.model.joints import Prismatic, Revolute

KINDS = {"R": Revolute, "P": Prismatic}


def arm(rng, kinds="RRR", before=3, *, straight=False):
    """Six joints: three hinges that meet, `before` others before them, of kinds R and P, and the rest after them.

    A straight arm has axes along x, y or z, and offsets of which some are zero, as those of industry.
    """
    b = mb.Builder("arm")
    b.body("base")
    parent, others = "base", iter(kinds)
    for k in range(6):
        of_wrist = before <= k < before + 3
        kind = Revolute if of_wrist else KINDS[next(others)]
        offset = rng.uniform(-1, 1, 3) * (rng.integers(0, 2, 3) if straight else 1)
        turn = mb.Rotation.identity() if straight else mb.Rotation.random(rng)
        placement = mb.Pose(turn, offset if k <= before or k >= before + 3 else np.zeros(3))
        axis = "xyz"[k % 3 if of_wrist else rng.integers(3)]
        b.body(f"link{k}")
        b.joint(f"joint{k}", kind(axis), parent=parent, child=f"link{k}", placement=placement)
        parent = f"link{k}"
    b.frame("tool", parent, mb.Pose(mb.Rotation.random(rng), rng.uniform(-0.3, 0.3, 3)))
    return mb.Robot(b)
