"""Dynamics under contacts: python benchmarks/constraints.py [--budget S]

ANYmal on its four feet: constrained forward dynamics, accelerations and contact forces, as a kernel for a batch beside
Pinocchio's constraintDynamics called from Python; with the method that takes redundant rows, and with the one for rows
that are none. With --derivatives also theirs, whose kernel compiles for a while, beside Pinocchio's
computeConstraintDynamicsDerivatives. Accelerations and forces are checked against each other before they are timed.
Times are least ones of turns on one core. The claim: each method, and so the default one, "least-norm", is at least
eight times as fast; else status 1.
"""

import argparse
import sys
from collections.abc import Callable, Collection

import numpy as np
import pinocchio as pin
from _robots import least, load, one_core, pinocchio_model

import multibody as mb
from multibody.algorithms.constrained_dynamics import METHODS
from multibody.algorithms.constraints import ConstraintSet, PointContact
from multibody.model.layouts import PinocchioLayout

NAME, FEET = "anymal", ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
COUNT = 1024
LEAST_SPEEDUP = 8.0
Batch = tuple[np.ndarray, np.ndarray, np.ndarray]


def standing(robot: mb.Robot, feet: ConstraintSet, rng: np.random.Generator) -> Batch:
    """Configurations, velocities that leave the feet where they are, and torques."""
    q = robot.random(rng, (COUNT,))
    v, tau = rng.standard_normal((2, COUNT, robot.nv))
    J = feet.jacobian(q)
    slip = np.matmul(J, v[..., None])
    return q, v - np.matmul(np.linalg.pinv(J), slip)[..., 0], tau


def ours(
    robot: mb.Robot, feet: ConstraintSet, batch: Batch, name: str = "constrained_dynamics", method: str = "least-norm"
) -> tuple[Callable[[], object], tuple[np.ndarray, ...]]:
    """A batch into arrays that are reused, and these arrays."""
    kernel = robot.kernel(name, constraints=feet, method=method)
    out = kernel(*batch)
    return lambda: kernel(*batch, out=out), out


def pinocchios(
    robot: mb.Robot, batch: Batch, expected: Collection[tuple[np.ndarray, ...]]
) -> tuple[Callable[[], object], Callable[[], object]]:
    """The first sample in Pinocchio, after a check of several samples of all results, and its derivatives."""
    model = pinocchio_model(NAME)
    data, layout = model.createData(), PinocchioLayout(robot.model, model)
    contacts, contact_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name in FEET:
        frame = model.frames[model.getFrameId(name)]
        contact = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED
        )
        contacts.append(contact)
        contact_data.append(contact.createData())
    pin.initConstraintDynamics(model, data, contacts, contact_data)
    states = [(layout.q_to(q), layout.v_to(q, v), layout.tau_to(q, tau)) for q, v, tau in zip(*batch, strict=True)]
    for k in range(0, COUNT, COUNT // 16):
        q, v, _ = states[k]
        a = layout.a_from(q, v, pin.constraintDynamics(model, data, *states[k], contacts, contact_data))
        f = np.concatenate([contact.contact_force.linear for contact in contact_data])
        for result, wanted in ((x[k], y) for each in expected for x, y in zip(each, (a, f), strict=True)):
            np.testing.assert_allclose(result, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
    q, v, tau = states[0]

    def both() -> object:
        pin.constraintDynamics(model, data, q, v, tau, contacts, contact_data)
        return pin.computeConstraintDynamicsDerivatives(model, data, contacts, contact_data)

    return lambda: pin.constraintDynamics(model, data, q, v, tau, contacts, contact_data), both


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=float, default=2.0, help="seconds for each figure")
    parser.add_argument("--derivatives", action="store_true")
    options = parser.parse_args()
    one_core()
    robot = load(NAME)
    feet = robot.constraints([PointContact(foot, foot) for foot in FEET])
    batch = standing(robot, feet, np.random.default_rng(0))
    calls = {}
    results = {}
    for method in METHODS:
        calls[method], results[method] = ours(robot, feet, batch, method=method)
    calls["Pinocchio"], both = pinocchios(robot, batch, results.values())
    times = least(calls, options.budget)
    print(f"{NAME} on four feet, µs, Pinocchio from Python: {times['Pinocchio'] * 1e6:.2f}")
    ratios = {method: times["Pinocchio"] / times[method] * COUNT for method in METHODS}
    for method, ratio in ratios.items():
        print(f"  ours, a sample of {COUNT}, {method:<10} {times[method] / COUNT * 1e6:.3f} ({ratio:.1f}x)")
    if options.derivatives:
        call, _ = ours(robot, feet, batch, "constrained_dynamics_derivatives", "exact")
        seconds = least({"ours": call, "Pinocchio": both}, options.budget)
        ratio = seconds["Pinocchio"] / seconds["ours"] * COUNT
        print(f"  derivatives too, Pinocchio from Python {seconds['Pinocchio'] * 1e6:.2f}, ", end="")
        print(f"derivatives, ours {seconds['ours'] / COUNT * 1e6:.3f} ({ratio:.1f}x)")
    for method, ratio in ratios.items():
        print(f"{method}, at least {LEAST_SPEEDUP:g}x: {'holds' if ratio >= LEAST_SPEEDUP else 'DOES NOT HOLD'}")
    return int(min(ratios.values()) < LEAST_SPEEDUP)


if __name__ == "__main__":
    sys.exit(main())
