"""Recursive Newton–Euler: the library's own `rnea`, traced with symbols for its numbers.  [QT §7; RD §3.3]"""

from typing import Any

import numpy as np

from multibody.algorithms import rnea
from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system.generalized_forces import spring_energy
from multibody.derive.system.kinematics import gradient, tidy
from multibody.derive.system.symbolic_tree import LARGE_SYSTEM, Tree
from multibody.derive.system.symbols import TIME
from multibody.derive.system.system import System
from multibody.derive.system.traced_formulas import formulas
from multibody.model.tree import Tree as Walked


def why_not(system: System) -> str:
    """Why the method does not fit a system; empty when it does."""
    if system.tree is None:
        return "it needs the tree of joints of a robot: take derive.from_robot, or give the system a tree"
    if system.moved_bodies or TIME in system.rates.free_symbols:
        moving = f"the places of {', '.join(system.moved_bodies)}" if system.moved_bodies else "the rates"
        return f"its joints rest in their parents, but {moving} depend on the time t: take 'projected-newton-euler'"
    return ""


def recursive_newton_euler(system: System) -> Equations:
    """M, b and g from the torques τ(q, v, v') of the recursion at well-chosen motions.  [QT 72-85; RD 3.1]

    Motion from the world outward, then forces inward: τ is linear in v' and in gravity, so that g is τ(q, 0, 0), b is
    τ(q, v, 0) without gravity, and the columns of M are τ(q, 0, e_k) without gravity.
    """
    assert system.tree is not None
    tree, n = system.tree, len(system.v)

    def parts(walked: Walked, q: Any, v: Any) -> tuple[Any, ...]:
        rest = np.zeros(n)
        columns = [rnea.rnea(walked, q, rest, e, gravity=False) for e in np.eye(n)]
        b = rnea.rnea(walked, q, v, rest, gravity=False)
        return np.stack(columns, axis=-1), b, rnea.rnea(walked, q, rest, rest)

    M, b, g = _of_tree(tree, parts, system.q, system.v)
    springs = spring_energy(system)
    steps = [
        *(_passes(system, tree) if n < LARGE_SYSTEM else ()),
        Step(
            "The torques of the recursion, at rest, at constant velocity, and at unit accelerations",
            "QT 72-85",
            (),
            r"g(q) = \tau(q, 0, 0), \quad b(q, v) = \tau(q, v, 0)|_{g = 0}, \quad M(q) e_k = \tau(q, 0, e_k)|_{g = 0}",
        ),
    ]
    return finish(system, "recursive-newton-euler", (M, b, g + gradient(system, springs).T), steps)


def _passes(system: System, tree: Tree) -> list[Step]:
    """The passes over the bodies, along the axes of each: motion outward, joint wrenches inward.  [QT 72-85]"""

    def passes(walked: Walked, q: Any, v: Any, a: Any) -> tuple[Any, ...]:
        motion = rnea.outward_motion(walked, q, v, a)
        parts = zip(motion.i_w[1:], motion.i_w_dot[1:], motion.i_o[1:], strict=True)
        return *(x for body in parts for x in body), rnea.joint_wrenches(walked, q, v, a)

    *motion, wrenches = (tidy(system, x) for x in _of_tree(tree, passes, system.q, system.v, system.a))
    steps, carried = [], []
    for k, body in enumerate(tree.robot.bodies):
        name = rf"\mathrm{{{body.name}}}".replace("_", r"\_")
        symbols = (rf"\omega_{{{name}}}", rf"\dot\omega_{{{name}}}", rf"a_{{{name}}}")
        results = tuple(zip(symbols, motion[3 * k : 3 * k + 3], strict=True))
        steps.append(Step(f"Outward: the motion of {body.name}, accelerations less gravity", "QT 76-85", results))
        carried[:0] = [(f"f_{{{name}}}", wrenches[k, :3].T), (f"n_{{{name}}}", wrenches[k, 3:].T)]
    inward = Step("Inward: the force and the torque that each joint carries", "QT 72-73", tuple(carried))
    return [*steps, inward]


def _of_tree(tree: Tree, function: Any, *states: Any) -> list[Any]:
    """Evaluate a function of a robot's tree and its state, with expressions for the numbers of the tree."""
    walked = tree.robot.tree

    def compute(inertias: Any, positions: Any, gravity: Any, *state: Any) -> Any:
        return function(walked.with_values(inertias, positions=positions, gravity=gravity), *state)

    return formulas(compute, tree.inertias, tree.positions, tree.gravity, *states)
