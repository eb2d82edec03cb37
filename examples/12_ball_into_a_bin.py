"""Throw a ball into a bin, with a bounce on the way: gradient descent on the throw, through the impact.

The ball leaves the hand with a velocity and a spin, falls, and bounces, where friction makes it slip or roll. After a
second it is to be at the middle of the bin. The gradient of that distance goes back through all steps.
"""

import sys

import numpy as np

import multibody as mb
from multibody import simulate
from multibody.model.shapes import Sphere

RADIUS, BIN, SECONDS = 0.03, np.array([1.6, 0.4, 0.3]), 1.0  # m, m, s
builder = mb.Builder("ball").body("ball", shape=Sphere(RADIUS), mass=0.06)
robot = mb.Robot(builder.model(floating=True))
simulator = simulate.Simulator(
    robot,
    dt=0.005,
    contacts=[simulate.SphereContact("ball", radius=RADIUS)],
    ground=simulate.Ground(friction=0.4, restitution=0.8),
)


def distance(q, v):
    """From the ball to the middle of the bin, squared, in m²; it shall come from above."""
    return np.sum((q[:3] - BIN) ** 2) + 0.0 * v[0]


slope = simulate.gradient(simulator, distance)
hand = robot.neutral()
hand[2] = 1.0
throw = np.array([0.8, 0.0, -1.0, 0.0, 0.0, 0.0])  # m/s, rad/s
throws, distances = [throw], []
for _ in range(80):
    answer = slope(hand, throw, seconds=SECONDS)
    distances.append(float(np.sqrt(answer.value)))
    if distances[-1] < 1e-4:
        break
    throw = throw - np.array([0.4, 0.4, 4.0, 20.0, 20.0, 20.0]) * answer.v
    throws.append(throw)
print(f"misses by {distances[0]:.2f} m at first, by {1e3 * distances[-1]:.2g} mm after {len(distances)} throws")
print(f"velocity {np.round(throw[:3], 3)} m/s, spin {np.round(throw[3:], 2)} rad/s")
assert distances[-1] < 1e-3

run = simulator(hand, throw, seconds=SECONDS)
bounce = run.t[np.argmax(run.forces[:, 0, 2])]
print(f"bounces at {bounce:.3f} s; rolls off with {run.last[1][3:].round(1)} rad/s")
assert np.linalg.norm(run.last[0][:3] - BIN) < 1e-3
assert 0.0 < bounce < SECONDS

small = 1e-6  # the gradient beside a central difference, along all six numbers of the throw at once
ahead = [slope(hand, throws[0] + side * small, seconds=SECONDS).value for side in (1, -1)]
difference = (ahead[0] - ahead[1]) / (2 * small)
along = slope(hand, throws[0], seconds=SECONDS).v.sum()
print(f"slope {along:.6f}, by central differences {difference:.6f}")
assert abs(along - difference) < 1e-5 * abs(difference)

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2, 1])
    several = throws[:: max(1, len(throws) // 8)]
    paths = simulator(hand, np.array([*several, throw]), seconds=SECONDS).q
    for path, shade in zip(paths[:-1], np.linspace(0.85, 0.4, len(several)), strict=True):
        left.plot(path[:, 0], path[:, 2], color=str(shade), lw=1)
    left.plot(paths[-1, :, 0], paths[-1, :, 2], color="tab:blue", lw=2, label="the last throw")
    left.plot(hand[0], hand[2], "ko", ms=5, label="hand")
    left.plot(BIN[0] + 0.12 * np.array([-1, -0.8, 0.8, 1]), BIN[2] + 0.1 * np.array([1, -2.8, -2.8, 1]), "k", lw=2)
    left.axhline(0.0, color="0.6", lw=1)
    left.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    left.legend(loc="upper right")
    right.semilogy(distances, ".-")
    right.set(xlabel="throw", ylabel="distance from the bin [m]")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
