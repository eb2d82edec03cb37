"""A controller and its plant in one kernel: 100,000 pairs of gains, each simulated for five seconds, in a moment.

A pendulum is to be held upright by a motor that can give only so much torque. The loop of controller, motor limit and
pendulum is written once in NumPy, compiled with the time loop inside, and run for a whole plane of gains at once.
"""

import sys
import time

import numpy as np

import multibody as mb

MASS, LENGTH, GRAVITY, MOST = 1.0, 0.5, 9.81, 3.0  # kg, m, m/s², N m
DT, STEPS = 0.005, 1000


def step(state, gains):
    """One step of the closed loop: state (angle from upright, its rate, cost so far), gains (k, d)."""
    angle, rate, cost = state[0], state[1], state[2]
    torque = np.clip(-gains[0] * angle - gains[1] * rate, -MOST, MOST)
    acceleration = GRAVITY / LENGTH * np.sin(angle) + torque / (MASS * LENGTH**2)
    cost = cost + DT * (angle**2 + 0.001 * torque**2)
    rate = rate + DT * acceleration  # the semi-implicit Euler method
    angle = angle + DT * rate
    return np.stack([angle, rate, cost]), None  # the next state; nothing to keep on the way


k, d = np.meshgrid(np.linspace(0.0, 40.0, 400), np.linspace(0.0, 6.0, 250))
gains = np.stack([k, d], axis=-1)  # (250, 400, 2): 100,000 pairs
start = np.array([0.4, 0.0, 0.0])  # rad, rad/s; the same for all: it is not copied

begun = time.perf_counter()
loop = mb.compile_scan(step, 3, parameters=[2])
compiled = time.perf_counter()
last, _ = loop(start, gains, steps=STEPS)
spent = time.perf_counter() - compiled
print(loop)
print(f"compiled in {compiled - begun:.2f} s; {k.size} simulations of {STEPS} steps in {spent:.2f} s:")
print(f"{k.size * STEPS / spent / 1e6:.0f} million closed-loop steps per second on one core")

# The same in plain NumPy, for one pair of gains: the numbers agree.
state = start
for _ in range(STEPS):
    state, _ = step(state, gains[100, 200])
assert np.allclose(last[100, 200], state, atol=1e-9)

cost = last[..., 2]
best = np.unravel_index(np.argmin(cost), cost.shape)
print(f"best gains: k = {k[best]:.1f} N m/rad, d = {d[best]:.2f} N m s/rad; the angle ends at {last[best][0]:.1e} rad")
assert abs(last[best][0]) < 1e-2, "the best controller holds the pendulum upright"

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    shown = axes.pcolormesh(k, d, np.log10(cost), cmap="viridis", rasterized=True)
    axes.plot(k[best], d[best], "r*", ms=12, label="best")
    figure.colorbar(shown, label="log10 of the cost")
    axes.set(xlabel="k [N m/rad]", ylabel="d [N m s/rad]", title="100,000 closed loops, one kernel")
    axes.legend()
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
