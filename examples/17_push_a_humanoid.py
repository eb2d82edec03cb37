"""A thousand humanoids are pushed and keep their balance: whole-body control in the kernel of the simulation.

Each stands on two soles of four corners, its arms and head locked, and is pushed at the torso with 8 N s from one of 16
sides. The controller holds the centre of mass and the torso, then the posture; friction cones, torque limits and feet
that stand still come before. It knows neither the masses, which differ by up to 10 % a body, nor the friction. All run
as one batch of one kernel, which takes less than a minute to compile and to run. Give a path to save a picture, and a
number of robots for fewer.
"""

import sys

import numpy as np

import multibody as mb
from multibody import control, simulate

DT, SECONDS, IMPULSE, BEGIN, END = 0.002, 1.5, 8.0, 0.2, 0.3
"""Times in s; N s from the begin to the end of the push."""
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 1000

whole = mb.load("humanoid")
legs = ("floating", "left-hip", "right-hip", "left-knee", "right-knee", "left-ankle", "right-ankle", "waist")
home = whole.home()
robot = whole.lock({j.name: float(home[j.q.start]) for j in whole.joints if not j.name.startswith(legs)})
q = np.array(robot.home())
corners = [(x, y, 0.0) for x in (0.18, -0.07) for y in (0.05, -0.05)]
soles = [mb.constraints.SurfaceContact(f"{side} sole", f"foot-{side}", corners) for side in ("left", "right")]
body = control.WholeBody(
    robot,
    soles,
    [
        [control.CenterOfMassTask("com"), control.OrientationTask("upright", "torso")],
        [control.PostureTask("rest")],
    ],
    limits=(control.TorqueLimits(), control.FrictionCones(0.5)),
)
center = robot.center_of_mass(q)


def stand(t, q_now, v):
    """Springs to where the robot stands, as torques."""
    del t
    return body(q_now, v, com=center, upright=mb.Rotation.identity(), rest=q).tau


simulator = simulate.Simulator(
    robot,
    dt=DT,
    contacts=[simulate.SphereContact(sole.frame, point=corner) for sole in soles for corner in corners],
    controller=stand,
)
rng = np.random.default_rng(0)
masses = np.array([part.inertia.mass for part in robot.tree.bodies]) * rng.uniform(0.9, 1.1, (COUNT, len(robot.bodies)))
unknown = {"masses": masses, "friction": rng.uniform(0.6, 1.0, COUNT)}
angle = 2 * np.pi * (np.arange(COUNT) % 16) / 16
push = np.zeros((COUNT, round(SECONDS / DT), 6))
during = slice(round(BEGIN / DT), round(END / DT))
push[:, during, 0] = (IMPULSE / (END - BEGIN) * np.cos(angle))[:, None]
push[:, during, 1] = (IMPULSE / (END - BEGIN) * np.sin(angle))[:, None]
run = simulator(np.tile(q, (COUNT, 1)), seconds=SECONDS, every=10, wrenches={"torso": push}, parameters=unknown)

com = robot.center_of_mass(run.q)
off = np.linalg.norm(com - center, axis=-1)
stands = (run.failed < 0) & (off[:, -1] < 0.05)
print(f"{stands.sum()} of {COUNT} humanoids of {robot.mass:.0f} kg still stand after a push of {IMPULSE:.0f} N s")
moved, left = 1e3 * off[stands].max(), 1e3 * off[stands, -1].max()
print(f"their centres of mass move by up to {moved:.0f} mm; in the end they are off by {left:.0f} mm, as masses are")
assert stands.mean() >= 0.95
places = np.array([robot.pose(sole.frame, q) @ np.array(corner) for sole in soles for corner in corners])[:, :2]
normal = run.forces[:16, :, :, 2:]
pressure = (normal * places).sum(axis=-2) / normal.sum(axis=-2)
span = 1e3 * np.ptp(pressure, axis=(0, 1))
print(f"their centres of pressure move over {span[0]:.0f} mm forward and {span[1]:.0f} mm sideways")

if len(sys.argv) > 1:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import hsv_to_rgb
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    side, above, time = figure.subplots(1, 3)
    far = int(off[0].argmax())
    drawn = FigureCanvasAgg(mb.view.picture(robot, run.q[0, far], size=(480, 480), center_of_mass=True))
    drawn.draw()
    side.imshow(np.asarray(drawn.buffer_rgba()))
    side.set_axis_off()
    side.set_title(f"pushed forward, after {run.t[far]:.2f} s")
    for sole in soles:
        outline = np.array([robot.pose(sole.frame, q) @ np.array(corners[k]) for k in (0, 1, 3, 2)])
        above.fill(*1e3 * outline[:, :2].T, color="0.9")
    colors = [hsv_to_rgb((k / 16, 0.8, 0.8)) for k in range(16)]
    began = int(np.searchsorted(run.t, BEGIN))
    for k in range(16):
        above.plot(*1e3 * pressure[k, began:].T, linewidth=0.8, color=colors[k])
    above.set(xlabel="x [mm]", ylabel="y [mm]", title="centres of pressure, 16 directions", aspect="equal")
    for (x, y), sole in zip(((130, 125), (130, -130)), soles, strict=True):
        above.text(x, y, sole.name, ha="center", va="center", fontsize=8, color="0.4")
    for k in range(min(COUNT, 320)):
        time.plot(run.t, 1e3 * off[k], linewidth=0.3, color=colors[k % 16])
    time.axvspan(BEGIN, END, color="0.9")
    time.text(BEGIN, 900 * off[:320].max(), "push ", ha="right", fontsize=8)
    time.set(xlabel="time [s]", ylabel="centre of mass off by [mm]", title=f"{stands.sum()} of {COUNT} stand")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
