"""Clean a window: the Panda presses with 15 N against the glass and wipes along it, in a simulation with contact.

Operational space control [RD 3.96-3.99] moves the hand in the plane of the glass and holds its rotation; along the
normal it pushes. What is left of seven joints damps itself. Friction pulls at the sponge, and through the inertia of
the arm it is felt along the normal, too: the controller takes off what it expects of it. Controller, arm and contact
are one kernel; the glasses of 9 samples differ in their friction. Give a path to save a plot.
"""

import sys

import numpy as np

import multibody as mb
from multibody import control, simulate

GLASS, SPONGE, FORCE, FRICTION = 0.55, 0.02, 15.0, 0.3
"""Where the glass is, x in m; the radius of the sponge in m; the force in N; the friction that is expected."""
SECONDS, DT = 6.0, 0.001
PLACE = np.array([0.0, 0.0, 0.5])

robot = mb.load("panda")
facing = mb.Rotation.from_euler("zyx", [0.0, np.pi / 2, 0.0])  # the hand's z axis along the world's x
before = mb.Pose(facing, PLACE + np.array([GLASS - SPONGE - 0.03, 0.0, 0.0]))
start = robot.inverse_kinematics("tool", before, q0=robot.home())
assert start.success

space = control.OperationalSpace(robot, "tool")
kp, kd = control.gains(6.0)
motion = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])  # pushes along x, moves along and about all others


def path(t):
    """Where the sponge is to be in the plane of the glass, and how fast: a Lissajous figure, begun gently."""
    s = 2 * np.pi * t / SECONDS
    place = np.stack([before.position[0] + 0 * t, 0.2 * np.sin(2 * s), PLACE[2] + 0.12 * np.sin(3 * s)], axis=-1)
    rate = 2 * np.pi / SECONDS * np.stack([0 * t, 0.4 * np.cos(2 * s), 0.36 * np.cos(3 * s)], axis=-1)
    return place, rate


def rubbing(t, q):
    """The torques that overcome the friction that is expected, where the sponge touches the glass."""
    rate = path(t)[1]
    along = FRICTION * FORCE * rate / np.linalg.norm(rate, axis=-1)[..., None]
    touches = robot.pose("tool", q).position[..., :1] > GLASS - SPONGE - 1e-3
    J = robot.point_jacobian("tool", q, np.array([0.0, 0.0, SPONGE]))
    return np.where(touches, np.einsum("...ij,...i->...j", J, along), 0.0)


def wipe(t, q, v):
    place, rate = path(t)
    approach = robot.velocity("tool", q, v)[..., :1]
    push = np.concatenate([FORCE - 100.0 * approach, np.zeros_like(q[..., :5])], axis=-1)  # slowly to the glass
    twist = np.concatenate([rate, np.zeros_like(rate)], axis=-1)
    tau = space(q, v, pose=mb.Pose(facing, place), twist=twist, kp=kp, kd=kd, wrench=push, motion=motion, tau0=-2.0 * v)
    return tau + rubbing(t, q)


simulator = simulate.Simulator(
    robot,
    dt=DT,
    contacts=[simulate.SphereContact("tool", radius=SPONGE)],
    ground=simulate.Ground(normal=(-1.0, 0.0, 0.0), offset=-GLASS),
    controller=wipe,
    effort=True,
)
friction = np.linspace(0.2, 0.4, 9)
run = simulator(np.tile(start.q, (9, 1)), seconds=SECONDS, every=10, parameters={"friction": friction})

place, target = robot.pose("tool", run.q).position, path(run.t)[0]
push, touching = -run.forces[..., 0, 0], run.t > 0.8
off = np.linalg.norm((place - target)[..., 1:], axis=-1)[:, touching]
tilt = np.linalg.norm(facing.boxminus(robot.pose("tool", run.q).rotation), axis=-1)[:, touching]
force_error = np.abs(push[:, touching] - FORCE)
for k in (0, 4, 8):
    print(
        f"friction {friction[k]:.2f}: force {push[k, touching].mean():.2f} N, within {force_error[k].max():.2f}; "
        f"off its path by {1e3 * off[k].max():.1f} mm, tilted by {tilt[k].max():.4f} rad"
    )
assert (run.failed < 0).all()
assert force_error[4].max() < 1.0, "with the friction that it expects the arm pushes as it is told"
assert off.max() < 5e-3, "the sponge follows its path"

if len(sys.argv) > 1:
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    side, glass, force = figure.subplots(1, 3)
    k = 4
    rows = np.linspace(80, len(run.t) - 1, 6).astype(int)
    for row, shade in zip(rows, np.linspace(0.85, 0.2, 6), strict=True):
        links = np.array([pose.position for pose in robot.poses(run.q[k, row]).values()])
        side.plot(links[:, 0], links[:, 2], "o-", color=str(shade), markersize=3, linewidth=1.5)
        side.add_patch(Circle(place[k, row, [0, 2]], SPONGE, color="tab:orange", label="sponge" * bool(row == rows[0])))
    side.axvline(GLASS + 0.005, color="tab:blue", linewidth=3, label="glass")
    side.set(xlabel="x [m]", ylabel="z [m]", title="from the side, later is darker", aspect="equal")
    side.legend(fontsize=8, loc="lower center")
    glass.plot(*target[touching, 1:].T, color="0.8", linewidth=5, label="wanted")
    glass.plot(*place[k, touching, 1:].T, label=f"sponge, friction {friction[k]:.1f}")
    glass.set(xlabel="y [m]", ylabel="z [m]", title="on the glass", aspect="equal")
    glass.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    for each in (0, 4, 8):
        force.plot(run.t, push[each], label=f"friction {friction[each]:.1f}")
    force.axhline(FORCE, color="0.6", linestyle="--", label="wanted")
    force.set(
        xlabel="time [s]",
        ylabel="force on the glass [N]",
        title=f"the controller expects {FRICTION}",
        ylim=(0, 2 * FORCE),
    )
    force.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
