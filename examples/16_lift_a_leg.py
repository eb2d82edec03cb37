"""ANYmal shifts its weight and lifts a leg: whole-body control in the kernel of the simulation.

First come the centre of mass and the trunk, then the foot that swings, then the force on it while it stands, which goes
down before the leg lifts and up after it; friction cones, torque limits and feet that stand still come before all of
them. Which feet stand is an input: a leg lifts without a new kernel. ANYmal's URDF is that of example-robot-data (pip
install example-robot-data); without it, the embedded quadruped lifts a leg. Give a path to save a plot.
"""

import sys
import sysconfig
import warnings
from pathlib import Path

import numpy as np

import multibody as mb
from multibody import control, simulate

DT, SECONDS = 0.002, 3.5
UNLOADED, LIFTED, DOWN, LOADED = 1.0, 1.4, 2.2, 2.6
"""Times in s: the weight is off the foot, the foot leaves the ground, is back, and is about to carry again."""

URDF = Path(sysconfig.get_path("purelib"), "cmeel.prefix/share/example-robot-data/robots")
URDF /= "anymal_b_simple_description/robots/anymal.urdf"
if URDF.exists():
    with warnings.catch_warnings(action="ignore"):  # of frames without inertia
        robot = mb.load(URDF, floating=True)
    trunk, feet = "base", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]
    q = robot.home()
    q[7:] = np.tile([0.0, 0.7, -1.2], 4) * np.repeat([1, 1, -1, -1], 3)
else:
    robot = mb.load("quadruped")
    trunk, feet = "trunk", [frame for frame in robot.frames if frame.startswith("foot")]
    q = robot.home()
q[2] -= robot.pose(feet[0], q).position[2]
weight = robot.mass * 9.81
body = control.WholeBody(
    robot,
    [mb.constraints.PointContact(foot, foot) for foot in feet],
    [
        [control.CenterOfMassTask("com"), control.OrientationTask("upright", trunk)],
        [control.PositionTask("swing", feet[0])],
        [control.ForceTask("load", feet[0])],
    ],
    limits=(control.TorqueLimits(), control.FrictionCones(0.6, minimum=0.02 * weight)),
)


def stand(t, q, v, wanted):
    """Springs to the wanted places, as torques."""
    del t
    return body(q, v, upright=mb.Rotation.identity(), swing_kp=400.0, **wanted).tau


def rise(t, begin, end):
    """From 0 to 1, without a jump of the acceleration."""
    s = np.clip((t - begin) / (end - begin), 0, 1)
    return s**3 * (10 - 15 * s + 6 * s * s)


t = DT * np.arange(round(SECONDS / DT))
start, foot = robot.center_of_mass(q), robot.pose(feet[0], q).position
others = np.array([robot.pose(name, q).position for name in feet[1:]])
over = (rise(t, 0.0, UNLOADED) - rise(t, LOADED, SECONDS))[:, None]  # to the other three feet and back
center = start + over * (others.mean(axis=0) - start) * [1, 1, 0]
up = rise(t, LIFTED, (LIFTED + DOWN) / 2) - rise(t, (LIFTED + DOWN) / 2, DOWN)
swing = foot + 0.1 * up[:, None] * [0, 0, 1]
active = np.ones((len(t), 4))
active[(t > LIFTED) & (t < DOWN), 0] = 0.0
load = 0.25 * weight * (1 - over) * [0, 0, 1]

simulator = simulate.Simulator(
    robot,
    dt=DT,
    contacts=[simulate.SphereContact(name) for name in feet],
    ground=simulate.Ground(friction=0.8),
    controller=stand,
)
inputs = {"com": center, "swing": swing, "load": load, "active": active}
for name in ("com", "swing"):
    inputs[f"{name}_velocity"] = np.gradient(inputs[name], DT, axis=0)
    inputs[f"{name}_acceleration"] = np.gradient(inputs[f"{name}_velocity"], DT, axis=0)
run = simulator(q, seconds=SECONDS, inputs=inputs)

com = robot.center_of_mass(run.q)
off = 1e3 * np.linalg.norm(com - center, axis=-1)
height = robot.pose(feet[0], run.q).position[:, 2]
stood = np.stack([robot.pose(name, run.q).position for name in feet[1:]], axis=1)
slip = np.linalg.norm(stood - stood[0], axis=-1).max()
print(f"{robot.name}, {robot.mass:.0f} kg: the centre of mass is off its path by at most {off.max():.1f} mm")
print(f"the leg lifts {1e3 * height.max():.0f} mm; the other feet move by {1e3 * slip:.2f} mm")
assert run.failed < 0
assert off.max() < 5
assert height.max() > 0.09
assert slip < 1e-3

if len(sys.argv) > 1:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    side, above, time = figure.subplots(1, 3, width_ratios=[1, 0.8, 1.4])
    top = int(height.argmax())
    drawn = FigureCanvasAgg(mb.view.picture(robot, run.q[top], size=(480, 480), view=(-30, 8), center_of_mass=True))
    drawn.draw()
    side.imshow(np.asarray(drawn.buffer_rgba()))
    side.set_axis_off()
    side.set_title(f"{robot.name} after {run.t[top]:.1f} s")
    corners = 1e3 * np.concatenate([others, others[:1]])[:, :2]
    above.fill(*corners.T, color="0.9", label="feet that stand")
    above.plot(*corners[:-1].T, "o", color="0.4")
    above.plot(*1e3 * foot[:2], "o", color="tab:blue", fillstyle="none", label=f"{feet[0]}, lifted")
    above.plot(*1e3 * com[:, :2].T, color="tab:red", label="centre of mass")
    above.set(xlabel="x [mm]", ylabel="y [mm]", title="from above", aspect="equal")
    above.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.3))
    time.axvspan(LIFTED, DOWN, color="0.93")
    time.text((LIFTED + DOWN) / 2, 0.02 * weight, "in the air", ha="center", fontsize=8)
    time.plot(run.t, run.forces[:, :, 2], linewidth=1, label=feet)
    time.set(xlabel="time [s]", ylabel="[N]", title="normal forces of the feet", ylim=(0, None))
    time.legend(fontsize=8)
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
