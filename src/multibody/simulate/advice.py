"""Advice on a simulator or a run: short sentences, none if all is well."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.crba import crba
from multibody.geometry._arrays import floats
from multibody.model import configuration
from multibody.model.actuation import actuated_indices, with_zero_base
from multibody.simulate.contact.contact_rows import contact_rows
from multibody.simulate.contact.gaps import gaps
from multibody.simulate.contact.restitution import THRESHOLD_STEPS, bounce_threshold
from multibody.simulate.controllers import Function
from multibody.simulate.methods.soft import ground_values
from multibody.simulate.pd import PD
from multibody.simulate.run import Run
from multibody.simulate.step import Step
from multibody.simulate.step_forces import spring_stiffness

COARSE = 1.0
"""Of rates times dt: explicit steps are unstable from 2 on (2.8 in "rk4"), and coarse from here on."""
SOFT = 2.0
"""Of the ground's frequency times dt: from here on a bounce is the step's more than the ground's."""
DIFFERENCES = (1e-6, 1e-4)
"""The lengths of finite differences, in rad or m, and in rad/s or m/s."""
RATE_STATES = 8
"""The states of a run whose rates are computed."""
State = tuple[Any, NDArray[Any], NDArray[Any]]
"""A time, a configuration (nq,) and a velocity (nv,)."""
RESIDUAL = 1e-4
"""In m/s: below it nobody sees that impulses do not agree."""
TAKEN = 0.05
"""Of the largest kinetic energy: what may be taken away where no force had put it in."""
FAST = 0.5
"""In m/s: impacts that are to bounce where there is restitution."""
DEPTH_STATES = 20_000
"""The states of a run whose penetration is computed."""


def states_of(run: Run, most: int = RATE_STATES) -> list[State]:
    """Times and states, (nq,) and (nv,), that are spread over the rows and samples of a run; only finite ones."""
    q, v = run.q.reshape(-1, run.q.shape[-1]), run.v.reshape(-1, run.v.shape[-1])
    finite = np.flatnonzero(np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1))
    chosen = finite[np.unique(np.linspace(0, len(finite) - 1, most).astype(int))] if len(finite) else finite
    return [(run.t[k % len(run.t)], q[k].astype(float), v[k].astype(float)) for k in chosen]


def before(step: Step, states: list[State], inputs: Any, memory: Any) -> Iterator[str]:
    """Steps that are too long for what acts at some of these times, configurations (nq,) and velocities (nv,)."""
    tree, dt, method = step.tree, step.dt, step.method
    masses = [crba(tree, q) for _, q, _ in states]
    if isinstance(step.controller, PD) and not method.has_contacts:
        count = len(actuated_indices(tree))
        gains = step.controller.kp, step.controller.kd
        K, D = (np.diag(with_zero_base(tree, np.broadcast_to(k, (count,)))) for k in gains)
        words = f"PD is explicit in method {method.name!r}"
        yield from _explicit([(M, K, D) for M in masses], dt, words, 'or method="contact", which has it implicit')
    if isinstance(step.controller, Function) and (step.controller.count == 3 or inputs is not None):
        every = step.control_every
        held = f", held over {every} steps," if every > 1 else ""
        systems = [(M, *_gains(step, state, inputs, memory)) for M, state in zip(masses, states, strict=True)]
        words = f"the controller{held} is explicit"
        yield from _explicit(systems, dt * every, words, 'or simulate.PD, which is implicit in "contact"')
    if step.passive and not method.has_contacts:
        springs, damping = np.diag(spring_stiffness(tree)), np.diag(np.broadcast_to(tree.damping, (tree.nv,)))
        words = f"springs and damping of joints are explicit in method {method.name!r}"
        yield from _explicit([(M, springs, damping) for M in masses], dt, words, 'or method="contact"')
    if method.has_soft_ground:
        yield from _soft(step, [q for _, q, _ in states])
    yield from _bounces(step)


def after(step: Step, run: Run) -> Iterator[str]:
    """The faults of a run."""
    yield from (*run.failures, *run.warnings)
    if run.residual is not None and run.residual.size:
        bad = run.residual > max(RESIDUAL, 10.0 * step.scene.tolerance)
        if bad.any():
            worst = np.nanmax(run.residual)
            yield (
                f"impulses of contacts did not agree in {bad.sum()} of {bad.size} rows, by {worst:.1g} m/s at worst: "
                "more sweeps=, a shorter dt, or fewer contacts on one link"
            )
    yield from (*_taken(step, run), *_depth(step, run))


def _explicit(systems: Sequence[tuple[Any, ...]], dt: float, what: str, way_out: str) -> Iterator[str]:
    """A sentence where M a + D v + K q = 0 is too fast for explicit steps of dt, for one of some M, K and D."""
    rate, frequency = np.max([_rates(*system) for system in systems], axis=0, initial=0.0).tolist()
    fastest = max(rate, frequency)
    kind = f"decays at {rate:.3g}/s" if rate >= frequency else f"swings at {frequency:.3g} rad/s"
    if fastest * dt > COARSE:
        yield (
            f"{what} and {kind}, which times {dt:g} s is {fastest * dt:.2g}: unstable from about 2 on; expected steps "
            f"of at most {COARSE / fastest:.1g} s, {way_out}"
        )


def _rates(M: NDArray[Any], K: NDArray[Any], D: NDArray[Any]) -> tuple[float, float]:
    """The largest rate of decay in 1/s, and the largest frequency in rad/s."""
    decay, square = (np.linalg.eigvals(np.linalg.solve(M, X)).real for X in (D, K))
    return float(np.max(decay, initial=0.0)), float(np.sqrt(np.max(square, initial=0.0)))


def _gains(step: Step, state: State, inputs: Any, memory: Any) -> list[NDArray[Any]]:
    """(nv, nv) twice: by how much a controller's forces fall with the configuration and with the velocity.

    A controller that switches has no slope there: of differences over two lengths the smaller ones are taken.
    """
    tree, controller = step.tree, step.controller
    t, q, v = state
    assert isinstance(controller, Function)
    given = {key: floats(x, key) for key, x in inputs.items()} if isinstance(inputs, Mapping) else inputs
    given = floats(given, "inputs") if isinstance(given, list | tuple) else given

    def tau(dq: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(controller(t, configuration.integrate(tree, q, dq), v + dv, given, memory)[0])

    def slopes(length: float, by_q: float, by_v: float) -> NDArray[Any]:
        ways = length * np.eye(tree.nv)
        falls = [tau(-by_q * way, -by_v * way) - tau(by_q * way, by_v * way) for way in ways]
        return np.stack(falls, axis=-1) / (2 * length)

    several = ([slopes(length, *which) for length in DIFFERENCES] for which in ((1.0, 0.0), (0.0, 1.0)))
    return [min(each, key=lambda x: float(np.abs(x).max(initial=0.0))) for each in several]


def _soft(step: Step, configurations: list[NDArray[Any]]) -> Iterator[str]:
    """A sentence where the springs of the ground swing faster than steps can follow."""
    scene, dt = step.scene, step.dt
    frequency = 0.0
    for q in configurations:
        M = crba(replace(step.tree, velocity="left"), q)
        for (_, ground), touch in zip(scene.grounded, contact_rows(step.tree, scene.grounded, q), strict=True):
            n = touch.R[2]
            _, k, _ = ground_values(ground, {})
            frequency = max(frequency, float(np.sqrt(k * (n @ np.linalg.solve(M, n)))))
    if frequency * dt > SOFT:
        yield (
            f"contacts swing on the ground's springs at up to {frequency:.3g} rad/s, which times {dt:g} s is "
            f"{frequency * dt:.2g}: steps damp bounces more than the ground does; expected steps of at most "
            f"{SOFT / frequency:.1g} s, or a softer ground"
        )


def _bounces(step: Step) -> Iterator[str]:
    """A sentence where steps are too long for restitution to be seen."""
    slow = float(bounce_threshold(step.tree, step.dt))
    if slow > FAST and any(float(e) for _, e in step.scene.laws({})):
        yield (
            f"approaches below {slow:.2g} m/s, what gravity changes in {THRESHOLD_STEPS:g} steps of {step.dt:g} s, do "
            f"not bounce: expected steps of at most {FAST / slow * step.dt:.1g} s for restitution"
        )


def _taken(step: Step, run: Run) -> Iterator[str]:
    """A sentence where the balance of energy had much to do."""
    share = np.where(np.isfinite(run.share_taken), run.share_taken, 0.0)
    if share.max(initial=0.0) > TAKEN:
        worst = np.unravel_index(share.argmax(), share.shape)
        yield (
            f"{run.taken[worst]:.2g} J that no force had put in were taken away, {share[worst]:.2g} of the largest "
            f"kinetic energy: links turn too far in a step of {step.dt:g} s, expected a shorter one"
        )


def _depth(step: Step, run: Run) -> Iterator[str]:
    """A sentence where contacts are deep in the ground."""
    method, scene = step.method, step.scene
    configurations = [q for _, q, _ in states_of(run, DEPTH_STATES)]
    if not scene.grounded or not configurations:
        return
    depth = -float(np.min(gaps(step.tree, scene.grounded, np.stack(configurations))))
    if depth > method.max_penetration:
        remedy = "a stiffer ground" if method.has_soft_ground else "a shorter dt"
        yield f"a contact is {1e3 * depth:.2g} mm deep in the ground: expected {remedy}, or a start above the ground"
