"""Fit the friction of a pendulum through 2,000 steps of time: the gradient of a simulation, in one kernel.

A pendulum swings for ten seconds; its angle is measured with noise. Damping and dry friction are unknown. The squared
distance between the measured and the simulated angles is a function of both, with the whole simulation inside; its
gradient is a loop that goes back over the steps. Newton's method with Hessian products, also loops, finds them.
"""

import sys
import time

import numpy as np

import multibody as mb

LENGTH, GRAVITY, DT, STEPS = 0.8, 9.81, 0.005, 2000  # m, m/s², s
TRUE = np.array([0.12, 0.25])  # 1/s, rad/s²: damping, and dry friction


def step(state, friction):
    """One step: friction is (damping, dry friction), smooth around standstill."""
    angle, rate = state
    slowing = friction[0] * rate + friction[1] * np.tanh(20 * rate)
    rate = rate + DT * (-GRAVITY / LENGTH * np.sin(angle) - slowing)
    angle = angle + DT * rate
    return (angle, rate), angle


scan = mb.compile_scan(step, [(), ()], parameters=[2])
start = (1.2, 0.0)
_, path = scan(start, TRUE, steps=STEPS)
measured = path + 0.01 * np.random.default_rng(0).normal(size=STEPS)


def distance(friction, measured):
    """Mean squared distance to what was measured: summed as time goes on, so that no code is made for each step."""

    def compare(carry, seen):
        state, total = carry
        state, angle = step(state, friction)
        return state, total + (angle - seen) ** 2

    return mb.loop(STEPS, compare, (start, 0.0), xs=measured)[1] / STEPS


begun = time.perf_counter()
value = mb.compile(distance, 2, STEPS)
gradient = mb.compile(mb.gradient(distance), 2, STEPS)
product = mb.compile(mb.hessian_vector(distance), 2, STEPS, 2)
print(f"compiled in {time.perf_counter() - begun:.2f} s: {gradient}")

friction = np.array([0.2, 0.4])
history = [friction]
for _ in range(20):
    slope = gradient(friction, measured)
    H = product(friction, measured, np.eye(2))  # one call for both columns
    curvature, axes = np.linalg.eigh(H)
    change = -axes @ ((axes.T @ slope) / np.abs(curvature))  # downhill also where the function is not convex
    size = min(1.0, 0.1 / np.linalg.norm(change))
    while value(friction + size * change, measured) > value(friction, measured) and size > 1e-6:
        size /= 2
    friction = friction + size * change
    history.append(friction)
print(f"damping {friction[0]:.4f} (true {TRUE[0]}), dry friction {friction[1]:.4f} (true {TRUE[1]})")
assert np.allclose(friction, TRUE, atol=5e-3)

many = np.tile(friction, (256, 1))
times = []
for kernel in (value, gradient):
    times.append(np.inf)
    for _ in range(5):
        begun = time.perf_counter()
        kernel(many, measured)
        times[-1] = min(times[-1], time.perf_counter() - begun)
print(f"256 simulations: {1e3 * times[0]:.1f} ms; their gradients {times[1] / times[0]:.1f} times as long")

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    t = DT * np.arange(STEPS)
    left.plot(t, measured, ".", ms=1, color="0.7", label="measured")
    for parameters, label in ((history[0], "first guess"), (friction, "fitted")):
        left.plot(t, scan(start, parameters, steps=STEPS)[1], lw=1, label=label)
    left.set(xlabel="time [s]", ylabel="angle [rad]")
    left.legend(loc="upper right")
    grid = np.stack(np.meshgrid(np.linspace(0, 0.25, 90), np.linspace(0, 0.5, 90)), axis=-1)
    right.contour(grid[..., 0], grid[..., 1], np.log10(value(grid, measured)), 25, linewidths=0.7)
    right.plot(*np.transpose(history), "o-", color="tab:red", ms=4, label="Newton's method")
    right.plot(*TRUE, "k+", ms=12, label="true")
    right.set(xlabel="damping [1/s]", ylabel="dry friction [rad/s²]")
    right.legend(loc="upper right")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
