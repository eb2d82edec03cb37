"""Kinds of joints and random robots for tests.

`SAMPLES` has every kind of joint with several axes. `random_model` draws a tree from a seeded generator, `models` is
the same as a strategy of hypothesis. In a random tree every body has a real inertia, so that its dynamics is regular;
some links have none themselves and get it from links that are fixed to them. Links and joints are given in a random
order.
"""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from multibody.geometry import Pose, SpatialInertia
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joint import Limits, Mimic, Passive
from multibody.model.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    Floating,
    Helical,
    Kind,
    Planar,
    Prismatic,
    Revolute,
    Schoenflies,
    Spherical,
    Translational,
    Universal,
)
from multibody.model.model import Model

from ..surface import particles, rotational_inertia

SKEW = (1.0, 2.0, -2.0)
SAMPLES: dict[str, Kind] = {
    "fixed": Fixed(),
    **{f"{kind.__name__.lower()} {axis}": kind(axis) for kind in (Revolute, Continuous, Prismatic, Cylindrical)
       for axis in ("x", "-y", "z", SKEW)},
    "helical z": Helical("z", pitch=0.3),
    "helical -x": Helical("-x", pitch=-1.2),
    "helical skew": Helical(SKEW, pitch=0.05),
    "helical flat": Helical("y", pitch=0.0),
    "universal x y": Universal("x", "y"),
    "universal -z x": Universal("-z", "x"),
    "universal skew": Universal(SKEW, (0.3, -0.1, 1.0)),
    "spherical": Spherical(),
    "planar": Planar(),
    "translational": Translational(),
    **{f"schoenflies {axis}": Schoenflies(axis) for axis in "xyz"},
    "floating": Floating(),
}  # fmt: skip

ONE_COORDINATE = ("revolute", "continuous", "prismatic", "helical")
MOVING = (
    *ONE_COORDINATE,
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "translational",
    "schoenflies",
    "floating",
)


def random_axis(rng: np.random.Generator):
    """An axis of the frame, or any direction."""
    if rng.random() < 0.5:
        return str(rng.choice(["x", "y", "z", "-x", "-y", "-z"]))
    return tuple(rng.standard_normal(3))


def random_kind(rng: np.random.Generator, name: str) -> Kind:
    """A joint of the kind of that name."""
    match name:
        case "revolute" | "continuous" | "prismatic" | "cylindrical":
            return {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic,
                    "cylindrical": Cylindrical}[name](random_axis(rng))  # fmt: skip
        case "helical":
            return Helical(random_axis(rng), pitch=rng.uniform(-0.5, 0.5))
        case "universal":
            first = rng.standard_normal(3)
            return Universal(first, np.cross(first, rng.standard_normal(3)) + 0.2 * first)
        case "schoenflies":
            return Schoenflies(str(rng.choice(["x", "y", "z"])))
    return {"fixed": Fixed, "spherical": Spherical, "planar": Planar, "translational": Translational,
            "floating": Floating}[name]()  # fmt: skip


def random_inertia(rng: np.random.Generator) -> SpatialInertia:
    """Of six particles: a body that exists."""
    masses, places = particles(rng)
    com = masses @ places / masses.sum()
    return SpatialInertia(mass=masses.sum(), com=com, inertia=rotational_inertia(masses, places - com))


def random_model(
    rng: np.random.Generator,
    n: int,
    *,
    kinds: Sequence[str] = MOVING,
    floating: bool = False,
    mimic: float = 0.0,
    massless: float = 0.3,
    limits: float = 0.5,
    passive: bool = True,
    chain: bool = False,
    velocity: str = "kindr",
) -> Model:
    """A tree with n moving joints below the link "base", which stands on the world or floats.

    Args:
        rng: the source of random numbers.
        n: the number of moving joints, named "joint0", ..., without that of a floating base.
        kinds: the names of kinds to choose from.
        floating: whether the base floats.
        mimic: the probability that a joint with one coordinate follows an earlier one.
        massless: the probability that a link has no inertia of its own, but a link fixed to it has.
        limits: the probability that a joint has limits of position.
        passive: give joints damping, friction, springs and armature.
        chain: every joint on the link before, without branches.
        velocity: the representation of the velocity of the base.
    """
    b = Builder("random", gravity=rng.uniform(-10, 10, 3).tolist())
    parts = [lambda: b.body("base", random_inertia(rng))]
    ends, leaders = ["base"], []

    def link(name, parent, kind, follows=None):
        inertia = None if rng.random() < massless else random_inertia(rng)
        placement = Pose.random(rng)
        bounds, acts = Limits(), Passive()
        if kind.quaternion is None and rng.random() < limits:
            middle, half = rng.uniform(-0.5, 0.5, kind.nq), rng.uniform(0.2, 2.0, kind.nq)
            bounds = Limits(tuple(middle - half), tuple(middle + half), *rng.uniform(1, 9, 2))
        if passive:
            damping, friction, stiffness, armature = rng.uniform(0.0, 0.5, 4)
            acts = Passive(damping, friction, stiffness, None, armature)
        given = {"placement": placement, "limits": bounds, "passive": acts, "mimic": follows}
        parts.append(lambda: b.body(f"link{name}", inertia))
        parts.append(lambda: b.joint(f"joint{name}", kind, parent=parent, child=f"link{name}", **given))
        if inertia is None:
            load, place = random_inertia(rng), Pose.random(rng)
            parts.append(lambda: b.body(f"load{name}", load))
            parts.append(
                lambda: b.joint(f"weld{name}", Fixed(), parent=f"link{name}", child=f"load{name}", placement=place)
            )
        return f"link{name}" if inertia is not None or rng.random() < 0.5 else f"load{name}"

    for k in range(n):
        kind = random_kind(rng, str(rng.choice(list(kinds))))
        follows = None
        if kind.nq == 1:
            if leaders and rng.random() < mimic:
                follows = Mimic(str(rng.choice(leaders)), rng.uniform(-2, 2), rng.uniform(-0.5, 0.5))
            leaders.append(f"joint{k}")
        parent = ends[-1] if chain else str(rng.choice(ends))
        ends.append(link(str(k), parent, kind, follows))
    for k in rng.permutation(len(parts)):
        parts[k]()
    for end in ends[::2]:
        b.frame(f"{end} tool", end, Pose.random(rng))
    return b.model(floating=floating, velocity=velocity)


def random_state(model: Model, rng: np.random.Generator, batch: tuple[int, ...] = ()):
    """q within the limits, and v of order one."""
    return configuration.random(model.tree, rng, batch), rng.standard_normal((*batch, model.nv))


def world_poses(model: Model, q) -> list[Pose]:
    """W_H_i for every body, the world first, from the poses of the joints alone."""
    poses = [Pose.identity()]
    for _, p, body in model.tree.outward():
        poses.append(poses[p] @ body.joint.pose(q))
    return poses


@st.composite
def models(draw, most=6, velocities=("kindr", "left", "right", "mixed"), **options):
    """Random models with at most that many joints of every kind, fixed or floating; `options` as in random_model."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    choices = {
        "floating": draw(st.booleans()),
        "mimic": draw(st.sampled_from([0.0, 0.7])),
        "velocity": draw(st.sampled_from(velocities)),
    }
    return random_model(rng, draw(st.integers(0, most)), **(choices | options))
