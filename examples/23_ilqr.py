"""Swing-up of a cart's pole by iLQR, with the simulator's step as the model.

The iterative linear-quadratic regulator repeats three steps: derivatives along the path, a backward pass for feedback
gains, and a forward pass with a line search. One kernel differentiates `Simulator.step` at all times at once; another
runs the forward passes of all step lengths as one batch. The motor is too weak to swing the pole up at once, and its
limit always holds, because inputs pass through a tanh. Give a path to save a plot.
"""

import sys
import time

import numpy as np

import multibody as mb
from multibody import simulate

DT, STEPS, FORCE = 0.02, 150, 8.0
"""The time step in s, the length of the path in steps, the motor's largest force in N."""
GOAL = np.array([0.0, np.pi, 0.0, 0.0])
RUNNING, FINAL, EFFORT = 1e-2 * np.array([1.0, 1.0, 0.1, 0.1]), 200.0 * np.array([1.0, 1.0, 0.3, 0.3]), 1e-2
"""Weights of the squared deviation from the goal, in each step and at the end, and of the squared input."""

robot = mb.load("cart-pendulum")  # x = (position, angle, and their rates); the pole hangs at an angle of 0


def drive(t, q, v, u):
    """The motor pushes the cart, within its limit for any u; nothing turns the pole."""
    del t, q, v
    return np.concatenate([FORCE * np.tanh(u), np.zeros(1)])


simulator = simulate.Simulator(robot, dt=DT, method="rk4", controller=drive)


def dynamics(x, u):
    """The state (4,) after a step."""
    after, _ = simulator.step(simulator.start(x[:2], x[2:]), u)
    return np.concatenate([after["q"], after["v"]])


def follow(x, u, x_old, k, K, length):
    """A step of the forward pass: the old input, with a step along k and feedback; the cost, and where it went."""
    u = u + length * k + K @ (x - x_old)
    return dynamics(x, u), {"x": x, "u": u, "cost": np.sum(RUNNING * (x - GOAL) ** 2) / 2 + EFFORT * np.sum(u * u) / 2}


def backward(x, u, A, B, damping):
    """Gains k, (steps, 1), and K, (steps, 1, 4), from the end to the start; the gradient with respect to u."""
    k, K, gradient = np.zeros((STEPS, 1)), np.zeros((STEPS, 1, 4)), np.zeros((STEPS, 1))
    V_x, V_xx, p = FINAL * (x[-1] - GOAL), np.diag(FINAL), FINAL * (x[-1] - GOAL)
    for t in reversed(range(STEPS)):
        Q_x, Q_u = RUNNING * (x[t] - GOAL) + A[t].T @ V_x, EFFORT * u[t] + B[t].T @ V_x
        Q_xx, Q_ux = np.diag(RUNNING) + A[t].T @ V_xx @ A[t], B[t].T @ V_xx @ A[t]
        Q_uu = EFFORT + damping + B[t].T @ V_xx @ B[t]
        gains = -np.linalg.solve(Q_uu, np.column_stack([Q_u, Q_ux]))
        k[t], K[t] = gains[:, 0], gains[:, 1:]
        V_x = Q_x + K[t].T @ (Q_uu @ k[t] + Q_u) + Q_ux.T @ k[t]
        V_xx = Q_xx + K[t].T @ Q_uu @ K[t] + K[t].T @ Q_ux + Q_ux.T @ K[t]
        gradient[t] = EFFORT * u[t] + B[t].T @ p
        p = RUNNING * (x[t] - GOAL) + A[t].T @ p
    return k, K, gradient


before = time.process_time()
linearize = mb.compile(mb.jacobian(dynamics, (0, 1)), 4, 1)
forward = mb.compile_scan(follow, 4, [1, 4, 1, (1, 4)], [()])
print(f"two kernels are compiled in {time.process_time() - before:.1f} s of CPU time")


def run(start, u, x_old, k, K, lengths):
    """Paths (lengths, steps + 1, 4), inputs and costs of forward passes."""
    last, path = forward(start, u, x_old, k, K, lengths)
    cost = path["cost"].sum(axis=-1) + np.sum(FINAL * (last - GOAL) ** 2, axis=-1) / 2
    return np.concatenate([path["x"], last[:, None]], axis=1), path["u"], cost


def off(x):
    """The angle at the end of a path from upright, in degrees."""
    return float(np.degrees(np.abs(x[-1, 1] - np.pi)))


start, lengths = np.zeros(4), 0.6 ** np.arange(12)
u = 0.1 * np.sin(0.1 * np.arange(STEPS))[:, None]
no_change = np.zeros((STEPS, 4)), np.zeros((STEPS, 1)), np.zeros((STEPS, 1, 4)), np.zeros(1)
paths, _, cost = run(start, u, *no_change)
x, costs, damping, tries, checks = paths[0], [float(cost[0])], 1e-2, [paths[0]], []
before = time.process_time()
for iteration in range(1, 301):
    A, B = linearize(x[:-1], u)
    k, K, gradient = backward(x, u, A, B, damping)
    if iteration in (1, 20):
        checks.append((u, gradient))
    paths, inputs, cost = run(start, u, x[:-1], k, K, lengths)
    best = int(np.argmin(cost))
    if cost[best] >= costs[-1]:
        damping *= 5
        continue
    x, u, damping = paths[best], inputs[best], max(1e-8, damping / 3)
    costs.append(float(cost[best]))
    tries.append(x)
    if costs[-2] - costs[-1] < 1e-8 * costs[-1]:
        break
force = FORCE * np.tanh(u[:, 0])
slope = np.abs(gradient).max()
print(f"{iteration} iterations in {time.process_time() - before:.1f} s of CPU time")
print(f"the cost falls from {costs[0]:.0f} to {costs[-1]:.3f}; the largest slope that is left is {slope:.1g}")
print(f"the pole ends {off(x):.2f}° from upright; the motor pushes with at most {np.abs(force).max():.2f} N")
assert (np.diff(costs) < 0).all()
assert slope < 1e-4
assert np.abs(x[-1] - GOAL).max() < 0.01, "the pole stands at rest in the middle"
assert np.abs(force).max() <= FORCE
assert np.abs(x[:, 0]).max() < robot.limits.upper[0], "the cart stays on its rail"

DELTA = 1e-5
for inputs, gradient in checks:  # next to central differences of whole paths
    moved = inputs + DELTA * np.array([1, -1])[:, None, None, None] * np.eye(STEPS)[..., None]
    ahead, back = run(start, moved.reshape(2 * STEPS, STEPS, 1), *no_change)[2].reshape(2, STEPS)
    error = np.abs((ahead - back) / (2 * DELTA) - gradient[:, 0]).max() / np.abs(gradient).max()
    print(f"gradient of {STEPS} inputs, next to central differences: relative error {error:.1g}")
    assert error < 1e-6
plan = simulator(start[:2], start[2:], seconds=STEPS * DT, inputs=u)  # plan.view() plays it in the browser
assert np.abs(np.hstack([plan.q, plan.v]) - x[1:]).max() < 1e-9, "the plan is a run of the simulator"
push = np.array([0.0, 0.0, 0.0, 0.2])  # another start: the plan alone, and with its feedback
(alone, *_), (fed, *_) = (run(push, u, x[:-1], 0 * k, gains, np.zeros(1)) for gains in (0 * K, K))
print(f"started with 0.2 rad/s, it ends {off(alone[0]):.0f}° from upright without feedback, {off(fed[0]):.2f}° with it")
assert off(alone[0]) > 20 * off(fed[0])

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 3, height_ratios=[1, 0.4])
    angle, motor, descent = (figure.add_subplot(grid[0, k]) for k in range(3))
    t = DT * np.arange(STEPS + 1)
    chosen = [0, 1, 3, 6, 12, 25]
    for k in chosen:
        angle.plot(t, np.degrees(tries[k][:, 1]), color=str(0.85 - 0.1 * chosen.index(k)), linewidth=1)
    angle.plot(t, np.degrees(x[:, 1]), color="tab:blue", linewidth=2)
    angle.axhline(180, color="0.6", linestyle="--", linewidth=0.8)
    angle.set(xlabel="time [s]", ylabel="angle of the pole [°]", title="paths of iterations; the last in blue")
    motor.step(t[:-1], force, where="post")
    for bound in (-FORCE, FORCE):
        motor.axhline(bound, color="tab:red", linestyle="--", linewidth=0.8)
    motor.set(xlabel="time [s]", ylabel="force on the cart [N]", title="the motor, within its limits")
    descent.semilogy(costs)
    descent.set(xlabel="iteration", ylabel="cost", title="every step lowers the cost")
    strip = figure.add_subplot(grid[1, :])
    for n, k in enumerate(range(0, STEPS + 1, 6)):
        place, tip = x[k, 0] + 0.4 * n, 0.5 * np.array([np.sin(x[k, 1]), -np.cos(x[k, 1])])
        strip.plot([place, place + tip[0]], [0, tip[1]], color="tab:blue", linewidth=2)
        strip.plot(place, 0, "s", color="0.3", markersize=6)
    strip.set_axis_off()
    strip.set(aspect="equal", title="cart and pole every 0.12 s, each drawn 0.4 m to the right")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
