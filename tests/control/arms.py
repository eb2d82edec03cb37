"""Random arms of six joints with a spherical wrist, for tests of inverse kinematics."""

import numpy as np

import multibody as mb
from multibody.model.joints import Prismatic, Revolute


def arm(rng, kinds="RRR", before=3, straight=False):
    """Six joints, of which three that meet have `before` others before them; their kinds are R or P.

    A straight arm has axes along x, y or z, and offsets of which some are zero, as those of industry.
    """
    b = mb.Builder("arm")
    b.body("base")
    parent, others = "base", iter(kinds)
    for k in range(6):
        inside = before < k < before + 3
        child = f"link{k}"
        kind = Revolute if before <= k < before + 3 else {"R": Revolute, "P": Prismatic}[next(others)]
        offset = np.zeros(3) if inside else rng.uniform(-1, 1, 3) * (rng.integers(0, 2, 3) if straight else 1)
        turn = mb.Rotation.identity() if straight else mb.Rotation.random(rng)
        axis = "xyz"[(k if inside else rng.integers(3)) % 3]
        if k == before and straight:
            axis = "xyz"[k % 3]
        b.body(child)
        b.joint(f"joint{k}", kind(axis), parent=parent, child=child, placement=mb.Pose(turn, offset))
        parent = child
    b.frame("tool", parent, mb.Pose(mb.Rotation.random(rng), rng.uniform(-0.3, 0.3, 3)))
    return mb.Robot(b)
