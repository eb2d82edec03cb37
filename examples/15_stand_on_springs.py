"""A quadruped stands by virtual model control: springs and dampers that are not there hold its trunk.

The trunk shall feel a spring to a place that sways, and a damper; feet on the ground make the forces, of least norm
[RD 3.117-3.121]. In a simulation with contact, 8 of them are pushed from 8 sides. Give a path to save a plot.
"""

import sys

import numpy as np

import multibody as mb
from multibody import control, simulate

RADIUS, DT, SECONDS = 0.02, 0.002, 3.0

robot = mb.load("quadruped")
feet = [frame for frame in robot.frames if frame.startswith("foot")]
q = robot.home()
q[2] += RADIUS - robot.pose(feet[0], q).position[2]
home = robot.pose("trunk", q)

model = control.VirtualModel(robot, [mb.constraints.PointContact(f, f) for f in feet])
stiffness, damping = np.array([900.0] * 3 + [60.0] * 3), np.array([90.0] * 3 + [6.0] * 3)


def place(t):
    """Where the trunk is to be, and how fast."""
    c, w = np.cos(np.pi * t), np.sin(np.pi * t)
    at = home.position + 0.02 * np.stack([0 * t, w, c - 1], axis=-1)
    return at, 0.02 * np.pi * np.stack([0 * t, c, -w], axis=-1)


def stand(t, q, v):
    """The pull of the springs, as torques of the legs."""
    (at, rate), pose, twist = place(t), robot.pose("trunk", q), robot.velocity("trunk", q, v)
    off = np.concatenate([at - pose.position, home.rotation.boxminus(pose.rotation)], axis=-1)
    slow = np.concatenate([rate, np.zeros_like(rate)], axis=-1) - twist
    return model(q, {"trunk": stiffness * off + damping * slow})[0]


simulator = simulate.Simulator(
    robot,
    dt=DT,
    contacts=[simulate.SphereContact(foot, radius=RADIUS) for foot in feet],
    ground=simulate.Ground(friction=0.8),
    controller=stand,
)
angle = 2 * np.pi * np.arange(8) / 8
push = np.zeros((8, round(SECONDS / DT), 6))
push[:, 500:550, 0], push[:, 500:550, 1] = 20 * np.cos(angle)[:, None], 20 * np.sin(angle)[:, None]  # 2 N s
run = simulator(np.tile(q, (8, 1)), seconds=SECONDS, every=5, wrenches={"trunk": push})

wanted = place(run.t)[0]
off = 1e3 * np.linalg.norm(run.q[..., :3] - wanted, axis=-1)
moved = [robot.pose(f, run.q[:, -1]).position - robot.pose(f, q).position for f in feet]
slip = 1e3 * np.linalg.norm(moved, axis=-1).max()
print(f"before the push the trunk is off its place by at most {off[:, 20:100].max():.1f} mm")
print(f"the push of 2 N s moves it by {off[:, 100:].max():.0f} mm; after a second {off[:, 210].max():.1f} mm are left")
print(f"feet, which roll, have moved by at most {slip:.1f} mm")
assert (run.failed < 0).all()
assert off[:, 210:].max() < 5

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    above, height = figure.subplots(1, 2)
    pushed = slice(95, 300)  # from the push after 1 s on, for two seconds
    above.plot(1e3 * wanted[:, 0], 1e3 * wanted[:, 1], color="0.85", linewidth=6, label="wanted")
    for k in range(8):
        above.plot(*1e3 * run.q[k, pushed, :2].T, linewidth=1)
    above.set(xlabel="x [mm]", ylabel="y [mm]", title="the trunk from above, pushed to 8 sides", aspect="equal")
    above.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1))
    height.axvspan(1.0, 1.1, color="0.9", label="push")
    height.plot(run.t, 1e3 * run.q[:, :, 2].T, linewidth=1)
    height.plot(run.t, 1e3 * wanted[:, 2], "--", color="0.5", label="wanted")
    height.set(xlabel="time [s]", ylabel="height [mm]", title="its height")
    height.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
