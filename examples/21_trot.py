"""A quadruped trots at a wanted speed: whole-body control with changing contacts, in the kernel of a simulation.

A clock lifts two diagonal legs at a time. Swing feet follow curves to footholds by Raibert's rule. The trunk is held
level, at its height, and at the wanted speed. Two feet on the ground cannot turn the trunk about the line between them,
so the order of priorities decides. With the feet above the trunk the robot trots; with the trunk above the feet it
whirls its legs. All speeds are one batch. Give a path to save a plot, and "anymal" for the robot of example-robot-data.
"""

import sys
import sysconfig
import time
import warnings
from pathlib import Path

import numpy as np

import multibody as mb
from multibody import control, simulate

DT, BEGIN, PERIOD = 0.002, 0.2, 0.4
"""In s: a step of time, the first lift, and a stride, in which every foot swings once."""
SWING = PERIOD / 2
OFFSET = np.array([0.0, 0.5, 0.5, 0.0])
"""Of the clock of each foot, in strides: left front with right hind, right front with left hind."""
FRICTION, CORRECTION = 0.6, 0.05
"""That of the controller, which is careful; in s, how far footholds move for each m/s that the trunk is too fast."""

if "anymal" in sys.argv:
    URDF = Path(sysconfig.get_path("purelib"), "cmeel.prefix/share/example-robot-data/robots")
    with warnings.catch_warnings(action="ignore"):  # of frames without inertia
        robot = mb.load(URDF / "anymal_b_simple_description/robots/anymal.urdf", floating=True)
    allowed = 0.06
    trunk, feet = "base", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]
    home = robot.home()
    home[7:] = np.tile([0.0, 0.7, -1.2], 4) * np.repeat([1, 1, -1, -1], 3)
else:
    robot, allowed = mb.load("quadruped"), 0.03  # the error of mean speeds, in m/s
    trunk, feet = "trunk", [frame for frame in robot.frames if frame.startswith("foot")]
    home = robot.home()
home[2] -= robot.pose(feet[0], home).position[2]
hips = np.array([robot.pose(foot, home).position - home[:3] for foot in feet]) * [1, 1, 0]
height, weight = home[2], 9.81 * robot.mass


def swing_acceleration(s, place, rate, lift, goal):
    """Along a curve from where a foot lifted to its foothold, at the part s of its way, with springs back to it."""
    w, way, up = s * (1 - s), (goal - lift) * [1, 1, 0], 0.2 * height * np.array([0, 0, 1])
    wanted = lift * [1, 1, 0] + way * s**3 * (10 - 15 * s + 6 * s * s) + up * 64 * w**3
    velocity = (way * 30 * w**2 + up * 192 * w**2 * (1 - 2 * s)) / SWING
    acceleration = (way * 60 * w * (1 - 2 * s) + up * 384 * w * (1 - 5 * w)) / SWING**2
    return acceleration + 400.0 * (wanted - place) + 40.0 * (velocity - rate)


def trot_with(body):
    """The controller: torques, and a state with the places of lifts and the worst of the report until now."""

    def trot(t, q, v, speed, state):
        phase = ((t - BEGIN) / PERIOD + OFFSET) % 1.0
        swings = (phase < 0.5) & (t >= BEGIN)
        moves, wanted = robot.velocity(trunk, q, v)[:3] * [1, 1, 0], np.concatenate([speed, np.zeros(1)])
        inputs, lifts = {}, []
        for k, foot in enumerate(feet):
            place, rate = robot.pose(foot, q).position, robot.velocity(foot, q, v)[:3]
            lift, s = np.where(swings[k], state["lift"][k], place), 2 * phase[k]
            until = (1 - s) * SWING + SWING / 2  # the middle of the next stance, in s
            goal = q[:3] + hips[k] + until * moves + CORRECTION * (moves - wanted)
            inputs[f"{foot}_acceleration"] = np.where(swings[k], swing_acceleration(s, place, rate, lift, goal), 0.0)
            lifts.append(lift)
        level = mb.Pose(mb.Rotation.identity(), np.stack([q[0], q[1], height]))
        velocity = np.concatenate([wanted, np.zeros(3)])
        active = np.where(swings, 0.0, 1.0)
        tau, _, f, report = body(q, v, active=active, trunk=level, trunk_velocity=velocity, **inputs)
        outside = np.hypot(f[0::3], f[1::3]) - FRICTION * f[2::3]
        return tau, {
            "lift": np.stack(lifts),
            "slack": np.maximum(state["slack"], np.abs(report.rows)),
            "outside": np.maximum(state["outside"], np.max(outside)),
            "residual": np.maximum(state["residual"], np.max(report.residuals)),
        }

    return trot


def run_with(levels, speeds, seconds):
    """A run for each wanted speed (x, y), and the names and sizes of the slacks in its state."""
    contacts = [mb.constraints.PointContact(f"{foot} stands", foot) for foot in feet]
    cones = control.FrictionCones(FRICTION, minimum=0.01 * weight)
    body = control.WholeBody(robot, contacts, levels, limits=(control.TorqueLimits(), cones))
    sizes = body.problem.sizes
    simulator = simulate.Simulator(
        robot,
        dt=DT,
        contacts=[simulate.SphereContact(foot) for foot in feet],
        ground=simulate.Ground(friction=0.8),
        controller=trot_with(body),
        state={"lift": np.zeros((4, 3)), "slack": np.zeros(sum(sizes.values())), "outside": 0.0, "residual": 0.0},
    )
    rising = np.clip((DT * np.arange(round(seconds / DT)) - BEGIN) / 0.5, 0, 1)[:, None]
    before = time.process_time()
    run = simulator(np.tile(home, (len(speeds), 1)), seconds=seconds, inputs=rising * speeds[:, None])
    print(f"compiled and run in {time.process_time() - before:.0f} s of CPU time")
    slacks = np.split(run.state["memory"]["slack"], np.cumsum(list(sizes.values()))[:-1], axis=-1)
    return run, dict(zip(sizes, slacks, strict=True))


def fastest(run):
    """(samples, rows): the speed of the fastest joint, in rad/s."""
    return np.abs(run.v[..., 6:]).max(axis=-1)


swing_tasks = [control.PositionTask(foot, foot) for foot in feet]
trunk_tasks = [control.PoseTask("trunk", trunk)]
speeds = np.array([[0.0, 0.0], [0.2, 0.0], [0.4, 0.0], [0.6, 0.0], [-0.3, 0.0], [0.0, 0.2], [0.4, 0.1]])
run, slacks = run_with([swing_tasks, trunk_tasks], speeds, 4.0)

speed = robot.velocity(trunk, run.q, run.v)[..., :2]
settled = run.t > 4.0 - 6 * PERIOD  # whole strides
missed = np.abs(speed[:, settled].mean(axis=1) - speeds).max()
tilt = np.degrees(2 * np.arcsin(np.hypot(run.q[..., 4], run.q[..., 5]).max()))
sinks = np.abs(run.q[..., 2] - height).max()
stands = (run.t - DT - BEGIN) / PERIOD % 1.0  # of the first foot, from 0.5 on
places = robot.pose(feet[0], run.q).position[..., :2]
slip = 1e3 * np.linalg.norm(np.diff(places, axis=1), axis=-1)[:, (stands[1:] > 0.55) & (stands[1:] < 0.95)].max() / DT
for wanted, end in zip(speeds, run.q[:, -1, :2], strict=True):
    print(f"wanted {wanted} m/s: after 4 s at {end.round(2)} m")
print(f"mean speeds are off by at most {missed:.3f} m/s, the height by {1e3 * sinks:.2f} mm, the tilt is {tilt:.2f}°")
print(
    f"feet on the ground slip with {slip:.2f} mm/s at most; the fastest joint turns with {fastest(run).max():.1f} rad/s"
)
report = {name: float(slack.max()) for name, slack in slacks.items()}
print("largest slacks, in m/s² and rad/s²:", {name: float(f"{x:.2g}") for name, x in report.items()})
assert (run.failed < 0).all()
assert run.q[3, -1, 0] > 1.9, "0.6 m/s, from rest, for 4 s"
assert missed < allowed
assert sinks < 0.01 * height
assert tilt < 0.5
assert (run.state["memory"]["outside"] <= 1e-6).all(), "forces of the controller are within its friction cones"
assert (run.state["memory"]["residual"] <= 1e-8).all(), "all its programs are solved"
assert max(x for name, x in report.items() if name != "trunk") < 1e-6, "only the trunk yields"
assert slip < 1.0

whirl, _ = run_with([trunk_tasks, swing_tasks], speeds[2:3], 1.0)
print(f"with the trunk first, the fastest joint turns with {fastest(whirl)[0].max():.0f} rad/s within a second")
assert fastest(whirl)[0].max() > 10 * fastest(run)[2].max()

if len(sys.argv) > 1:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    (side, gait), (forward, joints) = figure.subplots(2, 2)
    now = int(np.searchsorted(run.t, BEGIN + 5.25 * PERIOD))
    drawn = FigureCanvasAgg(mb.view.picture(robot, run.q[2, now], size=(640, 400), view=(-60, 8)))
    drawn.draw()
    side.imshow(np.asarray(drawn.buffer_rgba()))
    side.set_axis_off()
    side.set_title(f"{robot.name} at 0.4 m/s, two feet swing")
    for k in range(4):
        color = "tab:orange" if k in (1, 2) else "tab:blue"
        gait.fill_between(run.t, k - 0.35, k + 0.35, where=run.forces[2, :, k, 2] > 0, color=color, linewidth=0)
    gait.set(xlim=(0, 2), yticks=range(4), yticklabels=feet, xlabel="time [s]", title="feet on the ground")
    gait.invert_yaxis()
    for k in range(4):
        (line,) = forward.plot(run.t, speed[k, :, 0], linewidth=0.8)
        forward.plot([0, BEGIN, BEGIN + 0.5, 4], speeds[k, 0] * np.array([0, 0, 1, 1]), "--", color=line.get_color())
    forward.set(xlabel="time [s]", ylabel="forward speed [m/s]", title="wanted (dashed) and reached")
    joints.semilogy(run.t, fastest(run)[2], label="feet before the trunk", color="tab:blue")
    joints.semilogy(whirl.t, fastest(whirl)[0], label="trunk before the feet", color="tab:red")
    joints.set(
        xlim=(0, 1), ylim=(0.1, 1e3), xlabel="time [s]", ylabel="fastest joint [rad/s]", title="the order decides"
    )
    joints.legend()
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
