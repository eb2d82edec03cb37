"""What to know of a simulator or a run before its numbers are believed: short sentences, none where all is well."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.crba import crba
from multibody.geometry._arrays import floats
from multibody.model import configuration
from multibody.model.actuation import actuated_indices, with_zero_base
from multibody.simulate.contact.contact_rows import contact_rows, gaps, laws
from multibody.simulate.contact.problem import slow_speed
from multibody.simulate.contact.restitution import SLOW
from multibody.simulate.controllers import PD, Function
from multibody.simulate.implicit_forces import spring_stiffness
from multibody.simulate.methods.soft import ground_values
from multibody.simulate.run import Run
from multibody.simulate.stepping import Stepping

COARSE = 1.0
"""Of rates times dt: explicit steps are unstable from 2 on (2.8 in "rk4"), and coarse from here on."""
SOFT = 2.0
"""Of the ground's frequency times dt: from here on a bounce is the step's more than the ground's."""
SMALL = 1e-6
"""Of finite differences."""
RESIDUAL = 1e-4
"""In m/s: below it nobody sees that impulses do not agree."""
TAKEN = 0.05
"""Of the largest kinetic energy: what may be taken away where no force had put it in."""
FAST = 0.5
"""In m/s: impacts that are to bounce where there is restitution."""
STATES = 20_000
"""Of a run, whose depths and energies are looked at."""


def before(stepping: Stepping, q: NDArray[Any], inputs: Any, memory: Any) -> list[str]:
    """Steps that are too long for what acts at a configuration q (nq,)."""
    tree, dt, method, rule = stepping.tree, stepping.dt, stepping.method, stepping.rule
    M = crba(tree, q)
    told = []
    if isinstance(stepping.controller, PD) and not rule.has_contacts:
        count = len(actuated_indices(tree))
        K, D = (
            np.diag(with_zero_base(tree, np.broadcast_to(k, (count,))))
            for k in (stepping.controller.kp, stepping.controller.kd)
        )
        words = f"PD is explicit in method {method!r}"
        told += _explicit(M, K, D, dt, words, 'or method="contact", which has it implicit')
    if isinstance(stepping.controller, Function) and (stepping.controller.count == 3 or inputs is not None):
        every = stepping.control_every
        held = f", held over {every} steps," if every > 1 else ""
        gains = _gains(stepping, q, inputs, memory)
        told += _explicit(
            M, *gains, dt * every, f"the controller{held} is explicit", 'or simulate.PD, which is implicit in "contact"'
        )
    if stepping.passive and not rule.has_contacts:
        springs = np.diag(spring_stiffness(tree))
        words = f"springs and damping of joints are explicit in method {method!r}"
        told += _explicit(
            M, springs, np.diag(np.broadcast_to(tree.damping, (tree.nv,))), dt, words, 'or method="contact"'
        )
    if rule.has_soft_ground:
        told += _soft(stepping, q)
    return told + _bounces(stepping)


def after(stepping: Stepping, run: Run) -> list[str]:
    """What went wrong in a run."""
    told = list(run.failures)
    if run.residual is not None and run.residual.size:
        bad = run.residual > max(RESIDUAL, 10.0 * stepping.scene.tolerance)
        if bad.any():
            worst = np.nanmax(run.residual)
            told.append(
                f"impulses of contacts did not agree in {bad.sum()} of {bad.size} rows, by {worst:.1g} m/s at worst: "
                "more sweeps=, a shorter dt, or fewer contacts on one link"
            )
    told += _taken(stepping, run)
    told += _depth(stepping, run)
    return told


def _explicit(M: NDArray[Any], K: NDArray[Any], D: NDArray[Any], dt: float, what: str, way_out: str) -> list[str]:
    """A sentence where M a + D v + K q = 0 is too fast for explicit steps of dt."""
    rate = float(np.max(np.linalg.eigvals(np.linalg.solve(M, D)).real, initial=0.0))
    frequency = float(np.sqrt(np.max(np.linalg.eigvals(np.linalg.solve(M, K)).real, initial=0.0)))
    fastest = max(rate, frequency)
    if fastest * dt <= COARSE:
        return []
    kind = f"decays at {rate:.3g}/s" if rate >= frequency else f"swings at {frequency:.3g} rad/s"
    return [
        f"{what} and {kind}, which times {dt:g} s is {fastest * dt:.2g}: unstable from about 2 on; expected steps of "
        f"at most {COARSE / fastest:.1g} s, {way_out}"
    ]


def _gains(stepping: Stepping, q: NDArray[Any], inputs: Any, memory: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """(nv, nv) twice: by how much a controller's forces fall with the configuration and with the velocity, at rest."""
    tree, still, controller = stepping.tree, np.zeros(stepping.tree.nv), stepping.controller
    assert isinstance(controller, Function)
    given = {key: floats(x, key) for key, x in inputs.items()} if isinstance(inputs, Mapping) else inputs
    given = floats(given, "inputs") if isinstance(given, list | tuple) else given

    def tau(q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(controller(0.0, q, v, given, memory)[0])

    ways = SMALL * np.eye(tree.nv)
    by_q = [
        tau(configuration.integrate(tree, q, -way), still) - tau(configuration.integrate(tree, q, way), still)
        for way in ways
    ]
    by_v = [tau(q, -way) - tau(q, way) for way in ways]
    return np.stack(by_q, axis=-1) / (2 * SMALL), np.stack(by_v, axis=-1) / (2 * SMALL)


def _soft(stepping: Stepping, q: NDArray[Any]) -> list[str]:
    """A sentence where the springs of the ground swing faster than steps can follow."""
    scene, dt = stepping.scene, stepping.dt
    M = crba(replace(stepping.tree, velocity="left"), q)
    frequency = 0.0
    for (_, ground), touch in zip(scene.grounded, contact_rows(stepping.tree, scene.grounded, q), strict=True):
        n = touch.R[2]
        _, k, _ = ground_values(ground, {})
        frequency = max(frequency, float(np.sqrt(k * (n @ np.linalg.solve(M, n)))))
    if frequency * dt <= SOFT:
        return []
    return [
        f"contacts swing on the ground's springs at up to {frequency:.3g} rad/s, which times {dt:g} s is "
        f"{frequency * dt:.2g}: steps damp bounces more than the ground does; expected steps of at most "
        f"{SOFT / frequency:.1g} s, or a softer ground"
    ]


def _bounces(stepping: Stepping) -> list[str]:
    """A sentence where steps are too long for restitution to be seen."""
    slow = float(slow_speed(stepping.tree, stepping.dt))
    if slow <= FAST or not any(float(e) for _, e in laws(stepping.scene.pairs, {})):
        return []
    return [
        f"approaches below {slow:.2g} m/s, what gravity changes in {SLOW:g} steps of {stepping.dt:g} s, do not bounce: "
        f"expected steps of at most {FAST / slow * stepping.dt:.1g} s for restitution"
    ]


def _taken(stepping: Stepping, run: Run) -> list[str]:
    """A sentence where the balance of energy had much to do."""
    share = np.where(np.isfinite(run.share_taken), run.share_taken, 0.0)
    if not share.size or share.max() <= TAKEN:
        return []
    worst = np.unravel_index(share.argmax(), share.shape)
    return [
        f"{run.taken[worst]:.2g} J that no force had put in were taken away, {share[worst]:.2g} of the largest kinetic "
        f"energy: links turn too far in a step of {stepping.dt:g} s, expected a shorter one"
    ]


def _states(run: Run) -> tuple[NDArray[Any], NDArray[Any]]:
    """Those of all samples that are finite, or some of very many."""
    q, v = run.q.reshape(-1, run.q.shape[-1]), run.v.reshape(-1, run.v.shape[-1])
    some = slice(None, None, max(1, -(-len(q) // STATES)))
    finite = np.isfinite(q[some]).all(axis=-1) & np.isfinite(v[some]).all(axis=-1)
    return q[some][finite], v[some][finite]


def _depth(stepping: Stepping, run: Run) -> list[str]:
    """A sentence where contacts are deep in the ground."""
    rule, scene = stepping.rule, stepping.scene
    q, _ = _states(run)
    if not scene.grounded or not len(q):
        return []
    depth = -float(np.min(gaps(stepping.tree, scene.grounded, q)))
    if depth <= rule.max_penetration:
        return []
    told = "a stiffer ground" if rule.has_soft_ground else "a shorter dt"
    return [f"a contact is {1e3 * depth:.2g} mm deep in the ground: expected {told}, or a start above the ground"]
