"""Tune a PD controller for a landing: the gains of hip and knee by gradient descent through the impact.

A leg with a trunk, on a vertical rail, falls on its foot from heights and in poses that differ. The trunk shall come to
rest at its height, without sinking far below it, and the motors shall not work more than they need. The gradient by the
gains goes back through all steps, the impact among them; every step of the descent is one call for all landings.
"""

import sys
import time

import numpy as np

import multibody as mb
from multibody import simulate
from multibody.model.joints import Prismatic, Revolute
from multibody.model.shapes import Box

DT, SECONDS, SAMPLES, LENGTH, RADIUS = 0.005, 0.8, 16, 0.25, 0.02  # s, s, , m, m
builder = mb.Builder("leg").body("rail").body("trunk", shape=Box((0.2, 0.1, 0.1)), mass=5.0)
for link in ("thigh", "shank"):
    builder.body(link, shape=Box((0.03, 0.03, LENGTH)), pose=[0.0, 0.0, -LENGTH / 2], mass=0.4)
builder.joint("lift", Prismatic("z"), parent="rail", child="trunk")
builder.joint("hip", Revolute("y"), parent="trunk", child="thigh")
builder.joint("knee", Revolute("y"), parent="thigh", child="shank", placement=[0.0, 0.0, -LENGTH])
robot = mb.Robot(builder.model())

stand = np.array([0.0, 0.6, -1.2])
foot = (0.0, 0.0, -LENGTH)
stand[0] = RADIUS + 2 * LENGTH * np.cos(0.6)  # the foot is on the ground
simulator = simulate.Simulator(
    robot,
    dt=DT,
    contacts=[simulate.SphereContact("shank", RADIUS, foot)],
    ground=simulate.Ground(friction=0.8),
    controller=simulate.PD([0.0, 40.0, 40.0], [0.0, 1.0, 1.0]),  # too soft: the trunk sinks deep, and swings
)


def cost(q, v):
    """Of the end: how far the trunk is from its height, and that it is at rest."""
    return 20.0 * (q[0] - stand[0]) ** 2 + 0.02 * np.sum(v * v)


def running(t, q, v, tau):
    """Of every step: how far the trunk is below its height, and how hard the motors work."""
    below = np.minimum(q[0] - stand[0], 0.0)
    return DT * (50.0 * below * below + 2e-4 * np.sum(tau * tau)) + 0.0 * (t + v[0])


rng = np.random.default_rng(0)
q = np.tile(stand, (SAMPLES, 1))
q[:, 1:] += rng.normal(0.0, 0.05, (SAMPLES, 2))
q[:, 0] += rng.uniform(0.1, 0.3, SAMPLES)
slope = simulate.gradient(simulator, cost, running)


def gains(logarithms):
    """Of all three joints, with none on the rail, from the logarithms of kp and kd of hip and knee, (2, 2)."""
    kp, kd = np.exp(logarithms)
    return {"kp": np.r_[0.0, kp], "kd": np.r_[0.0, kd]}


first = logarithms = np.log([[40.0, 40.0], [1.0, 1.0]])
begun = time.perf_counter()
values = []
for turn in range(40):
    answer = slope(q, None, stand, gains(logarithms), seconds=SECONDS)
    values.append(float(answer.value.mean()))
    by_gains = np.array([answer.parameters[name].mean(axis=0)[1:] for name in ("kp", "kd")])
    by_logarithms = np.exp(logarithms) * by_gains
    logarithms = logarithms - 0.2 * 0.93**turn * by_logarithms / np.abs(by_logarithms).max()
print(f"40 gradients of {SAMPLES} landings in {time.perf_counter() - begun:.1f} s, with the compilation")
for name, kp, kd in zip(("hip", "knee"), *np.exp(logarithms), strict=True):
    print(f"{name:4s} kp {kp:6.1f} N m/rad, kd {kd:4.2f} N m s/rad")
print(f"cost of a landing: {values[0]:.3f} at first, {values[-1]:.3f} in the end")
assert values[-1] < 0.7 * values[0]

runs = [simulator(q, seconds=SECONDS, inputs=stand, parameters=gains(x)) for x in (first, logarithms)]
for label, run in zip(("at first", "tuned"), runs, strict=True):
    below = 100 * (stand[0] - run.q[..., 0].min())
    print(f"{label:8s} sinks by {below:.1f} cm at most, largest torque {np.abs(run.tau).max():.0f} N m")
    assert (run.failed < 0).all()

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2, 1])
    for run, color, label in zip(runs, ("0.6", "tab:blue"), ("gains at first", "tuned"), strict=True):
        left.plot(run.t, run.q[..., 0].T, color=color, lw=0.8)
        left.plot([], [], color=color, label=label)
    left.axhline(stand[0], color="k", lw=0.8, ls="--", label="standing")
    left.set(xlabel="time [s]", ylabel="height of the trunk [m]")
    left.legend(loc="upper right")
    right.plot(values, ".-")
    right.set(xlabel="step of the descent", ylabel="cost, mean of the landings")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
