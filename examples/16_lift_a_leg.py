"""A quadruped shifts its weight and lifts a leg: whole-body control in the kernel of the simulation.

First come the centre of mass and the trunk, then the foot that swings; friction cones, torque limits and feet that
stand still come before all of them. Which feet stand is an input: a leg lifts without a new kernel. Give a path to
save a plot.
"""

import sys

import numpy as np

import multibody as mb
from multibody import control, simulate

DT, SECONDS = 0.002, 3.0

robot = mb.load("quadruped")
feet = [frame for frame in robot.frames if frame.startswith("foot")]
q = robot.home()
q[2] -= robot.pose(feet[0], q).position[2]
body = control.WholeBody(
    robot,
    [mb.constraints.PointContact(foot, foot) for foot in feet],
    [
        [control.CenterOfMassTask("com"), control.OrientationTask("upright", "trunk")],
        [control.PositionTask("swing", feet[0])],
    ],
    limits=(control.TorqueLimits(), control.FrictionCones(0.6, minimum=3.0)),
)


def stand(t, q, v, wanted):
    """Springs to the wanted places, as torques."""
    del t
    return body(q, v, upright=mb.Rotation.identity(), swing_kp=400.0, **wanted).tau


t = DT * np.arange(round(SECONDS / DT))
start, foot = robot.center_of_mass(q), robot.pose(feet[0], q).position
others = np.mean([robot.pose(name, q).position for name in feet[1:]], axis=0)
over = np.clip(t / 1.0, 0, 1) - np.clip((t - 2.2) / 0.8, 0, 1)  # to the other three feet and back
over = (over * over * (3 - 2 * over))[:, None]
up = np.sin(np.pi * np.clip((t - 1.2) / 0.7, 0, 1)) ** 2  # a leg in the air until 2 s
center = start + over * 0.6 * (others - start) * [1, 1, 0]
swing = foot + 0.06 * up[:, None] * [0, 0, 1]
active = np.ones((len(t), 4))
active[(t > 1.2) & (t < 2.0), 0] = 0.0

simulator = simulate.Simulator(
    robot,
    dt=DT,
    contacts=[simulate.SphereContact(name) for name in feet],
    ground=simulate.Ground(friction=0.8),
    controller=stand,
)
inputs = {"com": center, "swing": swing, "active": active}
inputs |= {f"{name}_velocity": np.gradient(inputs[name], DT, axis=0) for name in ("com", "swing")}
run = simulator(q, seconds=SECONDS, inputs=inputs)

off = 1e3 * np.linalg.norm(robot.center_of_mass(run.q) - center, axis=-1)
height = robot.pose(feet[0], run.q).position[:, 2]
stood = np.stack([robot.pose(name, run.q).position for name in feet[1:]], axis=1)
slip = np.linalg.norm(stood - stood[0], axis=-1).max()
print(f"the centre of mass is off its path by at most {off.max():.1f} mm")
print(f"the leg lifts {1e3 * height.max():.0f} mm; the other feet move by {1e3 * slip:.2f} mm")
assert run.failed < 0
assert height.max() > 0.05
assert slip < 1e-3

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    path, force = figure.subplots(1, 2)
    com = robot.center_of_mass(run.q)
    path.plot(run.t, 1e3 * (com[:, :2] - start[:2]), label=["centre of mass, x", "centre of mass, y"])
    path.plot(run.t, 1e3 * height, "k", label="height of the foot")
    path.set(xlabel="time [s]", ylabel="[mm]", title="weight shifted, leg lifted")
    path.legend(fontsize=8)
    force.plot(run.t, run.forces[:, :, 2], linewidth=1, label=feet)
    force.set(xlabel="time [s]", ylabel="[N]", title="normal forces")
    force.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
