"""Strict priorities: the hand of the Panda draws a circle while its elbow does what it likes with the freedom left.

Three levels: the hand follows a circle; the hand's z axis points down; the joints go toward their home. The first two
leave two of seven freedoms. Controller and time loop are one kernel. Give a path to save a plot.
"""

import sys

import numpy as np

import multibody as mb
from multibody import control

DT, SECONDS, RADIUS, GAIN = 0.01, 8.0, 0.12, 10.0
STEPS = int(SECONDS / DT)

robot = mb.load("panda")
home, tree = robot.home(), robot.tree
center = robot.pose("tool", home).position + np.array([RADIUS, 0.0, 0.0])
hand = control.PositionTask("hand", "tool")
down = control.AxisTask("down", "tool", axis=(0, 0, 1), direction=(0, 0, -1))
rest = control.PostureTask("rest").on(tree)
pace = 2 * np.pi / SECONDS


def circle(t):
    """Where the hand is to be at the time t, (..., 1), and how it moves."""
    c, s, zero = np.cos(pace * t), np.sin(pace * t), 0 * t
    way = np.concatenate([-c, s, zero], axis=-1), np.concatenate([s, c, zero], axis=-1)
    return center + RADIUS * way[0], RADIUS * pace * way[1]


def levels(q, t):
    """What each level asks for: a Jacobian, and the velocity of its rows."""
    place, speed = circle(t)
    return [
        (hand.jacobian(tree, q), speed + GAIN * hand.error(tree, q, place)),
        (down.jacobian(tree, q), GAIN * down.error(tree, q)),
        (rest.jacobian(tree, q), rest.error(tree, q, home + np.array([0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 0.0]))),
    ]


def step(state):
    q, t = state
    wishes = levels(q, t)
    v, _ = control.prioritized(wishes)
    alone, _ = control.prioritized(wishes[:2])
    off = hand.error(tree, q, circle(t)[0])
    return (robot.integrate(q, DT * v), t + DT), (q, off, down.error(tree, q), v - alone)


loop = mb.compile_scan(step, [7, 1])
_, (q, off, tilt, freedom) = loop((home, np.zeros(1)), steps=STEPS)
worst = 1000 * np.linalg.norm(off, axis=-1).max()
print(f"{STEPS} steps: the hand is off its circle by at most {worst:.2f} mm, its axis by {np.abs(tilt).max():.1e}")
print(f"meanwhile joint 3 goes from {q[0, 2]:.2f} to {q[-1, 2]:.2f} rad, by the freedom that is left")
J = robot.jacobian("tool", q)[:, :3]
felt = np.abs((J @ freedom[..., None])[..., 0]).max()
print(f"what the third level adds moves the hand by at most {felt:.0e} m/s")
assert worst < 1.0, "the first level is met, but for the steps of time"
assert felt < 1e-12, "a level never disturbs one above it"
assert abs(q[-1, 2] - q[0, 2]) > 0.1, "the last level has its way where nobody minds"

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    way = robot.pose("tool", q).position
    left.plot(way[:, 0], way[:, 1])
    left.set(xlabel="x [m]", ylabel="y [m]", title="the hand", aspect="equal")
    times = DT * np.arange(STEPS)
    for k in range(7):
        right.plot(times, q[:, k], label=f"joint {k + 1}")
    right.set(xlabel="time [s]", ylabel="angle [rad]", title="the joints")
    right.legend(ncols=2, fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
