"""Drop a quadruped on its feet, 64 times, on grounds that differ; then let a gradient soften its landing.

The legs are held by PD control that acts within the steps, friction and masses differ from sample to sample, and all
steps of all samples run in one kernel. The gradient goes back through the impacts.
"""

import sys

import numpy as np

import multibody as mb
from multibody import simulate

robot = mb.load("quadruped")
feet = [frame for frame in robot.frames if frame.startswith("foot")]
simulator = simulate.Simulator(
    robot,
    dt=0.005,
    contacts=[simulate.SphereContact(foot, radius=0.02) for foot in feet],
    ground=simulate.Ground(friction=0.8),
    controller=simulate.PD(80.0, 2.0),
)
print(simulator)

rng = np.random.default_rng(0)
q = np.tile(robot.home(), (64, 1))
q[:, 7:] += rng.normal(0.0, 0.05, (64, 12))
q[:, 2] += 0.32 - np.min([robot.pose(foot, q).position[:, 2] for foot in feet], axis=0)  # 0.3 m up
varied = {"friction": rng.uniform(0.3, 1.0, 64), "mass": robot.mass * rng.uniform(0.8, 1.3, 64)}
run = simulator(q, seconds=2.0, inputs=robot.home()[7:], parameters=varied)

weight = 9.81 * varied["mass"]
push = run.forces[:, -1].sum(axis=-2)
print(f"{(run.failed < 0).sum()} of 64 landed; speeds at the end: at most {np.abs(run.last[1]).max():.1e}")
print(f"the ground pushes with the weight within {np.abs(push[:, 2] / weight - 1).max():.1e}")
print(f"largest force on a foot: {run.forces[..., 2].max():.0f} N; sweeps a step: {run.sweeps.mean():.1f}")
depth = max(0.0, 0.02 - min(robot.pose(foot, run.q).position[..., 2].min() for foot in feet))
print(f"deepest foot: {1e3 * depth:.2g} mm")
assert (run.failed < 0).all()
assert np.abs(push[:, 2] / weight - 1).max() < 1e-2

# the pose in which it should land, so that the trunk falls least: by gradient descent through the impacts
slope = simulate.gradient(simulator, lambda q, v: 0.0 * v[2] - q[2])
target = robot.home()[7:]
for turn in range(6):
    answer = slope(q[:8], None, target, seconds=0.6)
    if turn in (0, 5):
        print(f"descent {turn}: height of the trunk after 0.6 s, mean of 8: {-answer.value.mean():.4f} m")
    target = target - 0.5 * answer.inputs.mean(axis=0)

if len(sys.argv) > 1:
    run.plot(sys.argv[1], sample=0)
    print("saved", sys.argv[1])
