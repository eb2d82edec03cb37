"""Press and slide: the Panda presses with 10 N on a wall and draws a circle on it, whatever the friction of the wall.

The controller asks for the contact forces of the last step, as a force sensor at the finger has them, by a parameter
named `forces`. Along the normal an integral corrects the push; along the wall the measured friction is taken off, so
that the hand moves as in the air. Operational space control [RD 3.96-3.99] does the rest. Controller, arm and contact
are one kernel; the walls of 8 samples differ in their friction, which the controller does not know. Give a path to
save a plot.
"""

import sys

import numpy as np

import multibody as mb
from multibody import control, simulate

WALL, FINGER, FORCE = 0.55, 0.02, 10.0
"""The wall's x in m; the radius of the finger tip in m; the force in N."""
SECONDS, DT, SETTLED = 5.0, 0.001, 1.5
"""In s; the force is judged from `SETTLED` on."""
INTEGRAL, SMOOTHING = 40.0, 0.05
"""In 1/s, the rate at which the push is corrected; the share of each measurement in the mean of the friction."""

robot = mb.load("panda")
facing = mb.Rotation.from_euler("zyx", [0.0, np.pi / 2, 0.0])  # the hand's z axis along the world's x
center = np.array([WALL - FINGER - 0.01, 0.0, 0.5])
before = mb.Pose(facing, center + np.array([0.0, 0.1, 0.0]))
start = robot.inverse_kinematics("tool", before, q0=robot.home())
assert start.success

space = control.OperationalSpace(robot, "tool")
kp, kd = control.gains(6.0)
motion = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])  # pushes along x, moves along and about all others


def circle(t):
    """The place on the wall and its rate: still until the finger presses, then a turn every 3 s."""
    late = np.maximum(t - 0.5, 0.0)
    angle = 2 * np.pi / 3 * (late - 0.3 * (1.0 - np.exp(-late / 0.3)))
    turn = 2 * np.pi / 3 * (1.0 - np.exp(-late / 0.3))
    place = center + 0.1 * np.stack([0 * t, np.cos(angle), np.sin(angle)], axis=-1)
    return place, 0.1 * turn[..., None] * np.stack([0 * t, -np.sin(angle), np.cos(angle)], axis=-1)


def press(t, q, v, _inputs, state, forces):
    """Torques, and the next state: the push along the wall's normal, and the mean friction that was measured."""
    push, friction = state
    force = np.clip(forces[0], -2 * FORCE, 2 * FORCE)  # those of an impact say nothing about the wall
    push = np.where(force[0] < 0.0, push + INTEGRAL * DT * (FORCE + force[0]), FORCE)
    friction = friction + SMOOTHING * (force * np.array([0.0, 1.0, 1.0]) - friction)
    place, rate = circle(t)
    approach = robot.velocity("tool", q, v)[0]
    normal = np.concatenate([np.reshape(push - 100.0 * approach, (1,)), np.zeros(5)])
    twist = np.concatenate([rate, np.zeros(3)])
    tau = space(
        q, v, pose=mb.Pose(facing, place), twist=twist, kp=kp, kd=kd, wrench=normal, motion=motion, tau0=-2.0 * v
    )
    tip = robot.point_jacobian("tool", q, np.array([0.0, 0.0, FINGER]))
    return tau - np.einsum("ij,i->j", tip, friction), (push, friction)


simulator = simulate.Simulator(
    robot,
    dt=DT,
    contacts=[simulate.SphereContact("tool", radius=FINGER)],
    ground=simulate.Ground(normal=(-1.0, 0.0, 0.0), offset=-WALL),
    controller=press,
    state=(FORCE, np.zeros(3)),
)
friction = np.linspace(0.1, 0.8, 8)
run = simulator(np.tile(start.q, (8, 1)), seconds=SECONDS, parameters={"friction": friction})

settled = run.t > SETTLED
push = -run.forces[:, settled, 0, 0]
rubbing = np.linalg.norm(run.forces[:, settled, 0, 1:], axis=-1)
off = np.linalg.norm((robot.pose("tool", run.q).position - circle(run.t)[0])[:, settled, 1:], axis=-1)
for k, mu in enumerate(friction):
    print(
        f"friction {mu:.1f}: force within {np.abs(push[k] - FORCE).max():.4f} N of {FORCE:g} N, "
        f"rubs with {rubbing[k].mean():.2f} N, off its circle by {1e3 * off[k].max():.2f} mm"
    )
assert (run.failed < 0).all()
assert np.abs(push - FORCE).max() < 0.1, "the force holds on every wall"
assert off.max() < 5e-3, "the finger follows its circle"

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    force, along = figure.subplots(1, 2)
    for k in (0, 3, 7):
        force.plot(run.t, -run.forces[k, :, 0, 0], label=f"friction {friction[k]:.1f}")
        along.plot(run.t, np.linalg.norm(run.forces[k, :, 0, 1:], axis=-1))
    force.axhline(FORCE, color="0.6", linestyle="--")
    force.set(xlabel="time [s]", ylabel="force [N]", title="on the wall", ylim=(0, 2 * FORCE))
    along.set(xlabel="time [s]", ylabel="force [N]", title="along the wall", ylim=(0, FORCE))
    force.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
