"""Names for what MuJoCo's models hold: their own, or for what has none, one that nothing else has.

`m` is a mujoco.MjModel; MuJoCo itself is not needed here.
"""

from collections.abc import Iterable
from typing import Any

JOINTS = ("free", "ball", "slide", "hinge")
"""MuJoCo's types of joints, by number."""


class Names:
    """Names that are given out once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def new(self, name: str) -> str:
        """The name, or where it is taken the same with a number."""
        free, count = name, 2
        while free in self._taken:
            free, count = f"{name}_{count}", count + 1
        self._taken.add(free)
        return free


def body_names(m: Any) -> tuple[str, ...]:
    """The names of all bodies, the world first; those without a name are body1, body2, ..."""
    own = [m.body(k).name for k in range(m.nbody)]
    names = Names(own)
    return tuple(name or names.new(f"body{k}") for k, name in enumerate(own))


def joint_names(m: Any) -> tuple[str, ...]:
    """The names of all joints; those without a name are called by their body and type, such as thigh_hinge."""
    own = [m.joint(k).name for k in range(m.njnt)]
    names, bodies = Names(own), body_names(m)
    return tuple(name or names.new(f"{bodies[m.jnt_bodyid[k]]}_{JOINTS[m.jnt_type[k]]}") for k, name in enumerate(own))
