"""The parts of a scene that exchange no forces, such as a robot and a ball beside it that nothing lets touch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from multibody.model.composite_inertia import CompositeInertia
from multibody.model.tree import Tree
from multibody.simulate.contact.gaps import Pair, spheres_of
from multibody.simulate.contact.joint_limits import JointRows


class Part(NamedTuple):
    """Bodies on the world that share no coordinate, pair of spheres or constraint with others."""

    bodies: list[int]
    velocities: list[int]
    rows: list[int]
    """Of the contact problem."""

    def alone(self, tree: Tree) -> Tree:
        """The tree with no other inertia than that of the part."""
        if len(self.bodies) == len(tree.bodies):
            return tree
        none = CompositeInertia(np.zeros(()), np.zeros(3), np.zeros((3, 3)))
        bodies = [body if body.index in self.bodies else replace(body, inertia=none) for body in tree.bodies]
        others = np.isin(np.arange(tree.nv), self.velocities, invert=True)
        return replace(tree, bodies=tuple(bodies), armature=np.where(others, 0.0, tree.armature))


def independent_parts(tree: Tree, pairs: Sequence[Pair], bounds: JointRows, constrained: bool) -> tuple[Part, ...]:
    """The parts, in the order of their first bodies; one part where there are constraints."""
    roots = [0]
    for i, p, _ in tree.outward():
        roots.append(roots[p] if p else i)
    touching = [[tree.frame(each.frame)[0] for each in spheres_of(pair)] for pair in pairs]
    movers = [[b.index for b in tree.bodies if k in range(b.joint.v.start, b.joint.v.stop)] for k in range(tree.nv)]
    held = [[body.index for body in tree.bodies]] if constrained else []
    for bodies in touching + movers + held:
        joined = {roots[i] for i in bodies} - {0}  # the world is no part
        roots = [min(joined) if root in joined else root for root in roots]
    velocities = [roots[bodies[0]] for bodies in movers]
    rows = [max(roots[i] for i in bodies) for bodies in touching for _ in range(3)]
    rows += [velocities[k] for k in bounds.velocities]
    return tuple(
        Part(*([k for k, root in enumerate(each) if root == part] for each in (roots, velocities, rows)))
        for part in sorted(set(roots) - {0})
    )
