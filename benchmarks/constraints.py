"""Dynamics under contacts: python benchmarks/constraints.py [--budget S]

ANYmal on its four feet: constrained forward dynamics, accelerations and contact forces, as a kernel for a batch beside
Pinocchio's constraintDynamics called from Python. Both are checked against each other before they are timed. Times are
least ones of turns on one core. The claim: ours is at least eight times as fast. Exit status 1 when it is not.
"""

import argparse
import sys
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from _python_peers import pinocchio_model
from _robots import least, load, one_core

import multibody as mb
from multibody.algorithms.constrained_dynamics import constrained_dynamics
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


def ours(robot: mb.Robot, feet: ConstraintSet, batch: Batch) -> tuple[Callable[[], object], tuple[np.ndarray, ...]]:
    """A batch into arrays that are reused, and these arrays."""
    kernel = mb.compile(
        lambda q, v, tau: tuple(constrained_dynamics(feet, q, v, tau, method="exact")), robot.nq, robot.nv, robot.nv
    )
    out = kernel(*batch)
    return lambda: kernel(*batch, out=out), out


def pinocchios(robot: mb.Robot, batch: Batch, expected: tuple[np.ndarray, ...]) -> Callable[[], object]:
    """The first sample in Pinocchio, after a check of several."""
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
        f = np.concatenate([one.contact_force.linear for one in contact_data])
        for found, wanted in ((expected[0][k], a), (expected[1][k], f)):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
    q, v, tau = states[0]
    return lambda: pin.constraintDynamics(model, data, q, v, tau, contacts, contact_data)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=float, default=2.0, help="seconds for each figure")
    options = parser.parse_args()
    one_core()
    robot = load(NAME)
    feet = ConstraintSet(robot.model, [PointContact(foot, foot) for foot in FEET])
    batch = standing(robot, feet, np.random.default_rng(0))
    call, results = ours(robot, feet, batch)
    times = least({"ours": call, "Pinocchio": pinocchios(robot, batch, results)}, options.budget)
    one, peer = times["ours"] / COUNT, times["Pinocchio"]
    speedup = peer / one
    print(f"{NAME} on four feet, µs: ours, a sample of {COUNT}, {one * 1e6:.3f}   ", end="")
    print(f"Pinocchio from Python {peer * 1e6:.2f} ({speedup:.1f}x)")
    holds = speedup >= LEAST_SPEEDUP
    print(f"at least {LEAST_SPEEDUP:g}x: {'holds' if holds else 'DOES NOT HOLD'}")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
