"""Constrained dynamics and impacts of different robots in one call: each sample is the robot rebuilt."""

from functools import cache

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import impact as impacts
from multibody.algorithms.coriolis import bias
from multibody.algorithms.crba import crba
from multibody.geometry import Rotation, log_cholesky

from ..laws.tools import mul, near
from ..sampling import sampled
from .test_contacts import MACHINES
from .test_frame_placements import with_frames
from .test_parameters import rebuilt

COUNT = 5
KINDS = ["inertias", "placements", "positions", "frame_placements", "gravity"]
TOGETHER = ("inertias", "positions", "frame_placements", "gravity")


@cache
def numbers(name: str) -> dict[str, np.ndarray]:
    """Of some robots, near those of the machine; its rods get some thickness."""
    robot, rng = MACHINES[name][0], np.random.default_rng(2)
    theta = log_cholesky.from_parameters(robot.parameters() + np.array([0.0] * 4 + [1e-3, 0, 1e-3, 0, 0, 1e-3]))
    inertias = log_cholesky.parameters(theta + rng.uniform(-0.4, 0.4, (COUNT, *theta.shape)))
    positions = robot.positions() + rng.uniform(-0.1, 0.1, (COUNT, len(robot.bodies), 3))
    turned = Rotation.random(rng, (COUNT, len(robot.bodies))).quaternion
    frames = np.tile(robot.frame_placements(), (COUNT, 1, 1))
    ends = slice(len(robot.model.links), None)  # feet and pins: the frames that are no links
    frames[:, ends, :3] += rng.uniform(-0.1, 0.1, frames[:, ends, :3].shape)
    frames[:, ends, 3:] = Rotation.random(rng, frames[:, ends].shape[:2]).quaternion
    return {
        "inertias": inertias,
        "placements": np.concatenate([positions, turned], axis=-1),
        "positions": positions,
        "frame_placements": frames,
        "gravity": rng.uniform(-10, 10, (COUNT, 3)),
    }


def one(name: str, given: tuple[str, ...], k: int) -> mb.Robot:
    """The robot of a sample, from links, joints and frames with these numbers."""
    robot, own = MACHINES[name][0], {each: numbers(name)[each][k] for each in given}
    frames = with_frames(robot, own.get("frame_placements", robot.frame_placements()))
    placements = own.get("placements", robot.placements()).copy()
    placements[:, :3] = own.get("positions", placements[:, :3])
    return rebuilt(frames, own.get("inertias", robot.parameters()), placements).change(
        gravity=own.get("gravity", robot.model.gravity)
    )


@pytest.mark.parametrize(
    "given", [*(pytest.param((kind,), marks=pytest.mark.slow, id=kind) for kind in KINDS), TOGETHER], ids="+".join
)
@pytest.mark.parametrize("name", MACHINES)
def test_each_sample_is_the_robot_rebuilt(name, given):
    """Accelerations that the rows allow, and forces, and what an impact does: those of each robot alone."""
    robot, constraints = MACHINES[name]
    rng, values = np.random.default_rng(3), [numbers(name)[each] for each in given]
    q, v, tau = robot.random(rng, (COUNT,)), *rng.standard_normal((2, COUNT, robot.nv))
    others = [one(name, given, k) for k in range(COUNT)]
    sets = [other.constraints(constraints) for other in others]
    J = np.stack([held.jacobian(x) for held, x in zip(sets, q, strict=True)])
    slides = v - mul(np.linalg.pinv(J) @ J, v)  # which all rows allow: those of a rigid foot are redundant
    options = {"constraints": constraints, "parameters": given}
    a, f = robot.kernel("constrained_dynamics", **options)(q, slides, tau, *values)
    impact = robot.kernel("impact", **options)(q, v, *values)
    for k, (other, held) in enumerate(zip(others, sets, strict=True)):
        expected = dynamics.constrained_dynamics(held.tree, held, q[k], slides[k], tau[k])
        near(a[k], expected.acceleration, 1e-7)
        near(f[k], expected.force, 1e-7)
        for found, wanted in zip(impact, impacts.impact(held.tree, held, q[k], v[k]), strict=True):
            near(found[k], wanted, 1e-7)
        scale = max(1.0, np.abs(a[k]).max(), np.abs(f[k]).max())
        near(J[k] @ a[k] + held.bias(q[k], slides[k]), np.zeros(held.rows), 1e-7 * scale)
        near(
            crba(other.tree, q[k]) @ a[k] + bias(other.tree, q[k], slides[k]),
            tau[k] + J[k].T @ f[k],
            1e-7 * scale,
        )


@pytest.mark.parametrize("given", sampled(KINDS, 2))
def test_the_numbers_matter(given):
    """Of each kind: without them the accelerations are others."""
    robot, constraints = MACHINES["floating"]
    q, v, tau = robot.random(np.random.default_rng(3)), np.ones(robot.nv), np.zeros(robot.nv)
    kernel = robot.kernel("constrained_dynamics", constraints=constraints, parameters=given)
    found = kernel(q, v, tau, numbers("floating")[given])[0]
    own = robot.constrained_dynamics(constraints, q, v, tau).acceleration
    assert (np.abs(found - own).max(axis=-1) > 1e-3).all()


def test_derivatives_by_lengths():
    """Of accelerations and forces in a loop, by the places of its joints and of its pin."""
    robot, constraints = MACHINES["fixed"]
    rng, h = np.random.default_rng(3), 1e-6
    q, v, tau = robot.random(rng), *rng.standard_normal((2, robot.nv))
    values, names = [robot.positions(), robot.frame_placements()], ("positions", "frame_placements")
    found = robot.derivatives("constrained_dynamics", q, v, tau, *values, constraints=constraints, parameters=names)
    kernel = robot.kernel("constrained_dynamics", constraints=constraints, parameters=names)
    for k, exact in ((0, [part[-2] for part in found]), (1, [part[-1] for part in found])):
        assert np.abs(exact[0]).max() > 0.1
        for index in np.ndindex(len(values[k]), 3):
            ends = []
            for step in (h, -h):
                moved = [x.copy() for x in values]
                moved[k][index] += step
                ends.append(kernel(q, v, tau, *moved))
            for by, plus, minus in zip(exact, *ends, strict=True):
                near(by[(..., *index)], (plus - minus) / (2 * h), 1e-5)
