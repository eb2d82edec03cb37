"""Computed-torque control of the Panda: an arm follows a path well even when its model is somewhat wrong.

The controller knows the robot's mass, the real arm carries a load in the hand that it does not know of. Controller, arm
and time loop are one kernel; gains are tried in a batch. Give a path to save a plot.
"""

import sys
import time

import numpy as np

import multibody as mb

DT, SECONDS, KEEP = 0.001, 4.0, 10
STEPS = int(SECONDS / DT)

robot = mb.load("panda")
real = robot.payload("tool", mb.SpatialInertia(mass=1.5, com=[0.0, 0.0, 0.05], inertia=0.002 * np.eye(3)))
home = robot.home()
swing = np.array([0.6, 0.3, 0.4, 0.3, 0.4, 0.3, 0.5])  # rad, of each joint
pace = 2 * np.pi / SECONDS * np.array([1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0])  # rad/s


def wanted(t):
    """The path, its velocity and its acceleration at the time t, (..., 1): it starts at rest at home."""
    c, s = np.cos(pace * t), np.sin(pace * t)
    return home + swing / 2 * (1 - c), swing / 2 * pace * s, swing / 2 * pace**2 * c


def step(state, gains):
    """One step of the closed loop; gains are those of a mass on a spring: stiffness k and damping d, per kg m²."""
    q, v, t = state
    goal, goal_v, goal_a = wanted(t)
    a = goal_a + gains[1] * (goal_v - v) + gains[0] * robot.difference(q, goal)
    tau = robot.inverse_dynamics(q, v, a)  # by the model that the controller has
    v = v + DT * real.forward_dynamics(q, v, tau)  # by the arm as it is
    return (real.integrate(q, DT * v), v, t + DT), (goal - q, tau)


begun = time.perf_counter()
loop = mb.compile_scan(step, [7, 7, 1], parameters=[2])
compiled = time.perf_counter()
stiffness = np.geomspace(25.0, 1600.0, 64)
gains = np.stack([stiffness, 2 * np.sqrt(stiffness)], axis=-1)  # critically damped
state = tuple(np.broadcast_to(x, (64, *x.shape)) for x in (home, np.zeros(7), np.zeros(1)))
_, (error, tau) = loop(state, gains, steps=STEPS, every=KEEP)
spent = time.perf_counter() - compiled
print(f"{len(gains)} controllers for {SECONDS:g} s each: compiled in {compiled - begun:.1f} s, run in {spent:.2f} s")
print(f"that is {len(gains) * SECONDS / spent:.0f} times faster than real time, in steps of {1000 * DT:g} ms")

worst = np.degrees(np.abs(error)).max(axis=(-1, -2))
most = (np.abs(tau) / robot.tree.effort_limits).max(axis=(-1, -2))
for k in range(0, 64, 21):
    print(
        f"k = {stiffness[k]:4.0f} 1/s²: error up to {worst[k]:5.2f}°, torques to {100 * most[k]:.0f} % of their limits"
    )
assert (np.diff(worst) < 0).all(), "a stiffer controller follows better"
assert most.max() < 1, "within the limits of the motors"

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    times = DT * KEEP * np.arange(error.shape[1])
    for k in (0, 21, 42, 63):
        left.plot(times, np.degrees(np.abs(error[k]).max(axis=-1)), label=f"k = {stiffness[k]:.0f}")
    left.set(
        xlabel="time [s]", ylabel="largest error of a joint [degrees]", title="1.5 kg that the controller does not know"
    )
    left.legend()
    right.loglog(stiffness, worst)
    right.set(xlabel="stiffness k [1/s²]", ylabel="largest error [degrees]", title="64 controllers, one kernel")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
