"""How robust is a landing? A quadruped is dropped with random masses, frictions, heights and legs.

A `Simulator` is a study's function by itself: the names of the samples are its parameters, metrics say what is kept of
each run. Without arguments it takes 400 samples.

    python 19_landings.py picture.png 100_000 landings.zarr
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import multibody as mb
from multibody import simulate

robot = mb.load("quadruped")
feet = [frame for frame in robot.frames if frame.startswith("foot")]
simulator = simulate.Simulator(
    robot,
    dt=0.005,
    contacts=[simulate.SphereContact(foot, radius=0.02) for foot in feet],
    ground=simulate.Ground(friction=0.8),
    controller=simulate.PD(80.0, 2.0),
)
HOME = robot.home()
CLEARANCE = 0.02 - min(robot.pose(foot, HOME).position[2] for foot in feet)  # brings the feet of home to the ground


def drops(index):
    """The samples, from their numbers alone: 0.05 to 0.5 m up, thrown forward, on legs that are not quite at home."""
    draw = mb.sweep.uniform(
        n, mass=(0.7, 1.5), friction=(0.1, 1.0), height=(0.05, 0.5), speed=(0.0, 1.5), pitch=(-0.3, 0.3), seed=1
    )[index]
    q = np.tile(HOME, (len(index), 1))
    q[:, 2] += CLEARANCE + draw["height"]
    q[:, 3], q[:, 5] = np.cos(draw["pitch"] / 2), np.sin(draw["pitch"] / 2)  # w and y of the quaternion
    v = np.zeros((len(index), robot.nv))
    v[:, 0] = draw["speed"]
    legs = np.broadcast_to(HOME[7:], (len(index), 1, 12))  # one target for all steps
    return {"q": q, "v": v, "inputs": legs, "mass": robot.mass * draw["mass"], "friction": draw["friction"]}


def upright(run):
    """The cosine of the trunk's tilt at the end."""
    w, x, y, z = np.moveaxis(run.q[:, -1, 3:7], -1, 0)
    return w * w - x * x - y * y + z * z


n = int(sys.argv[2]) if len(sys.argv) > 2 else 400
store = Path(sys.argv[3] if len(sys.argv) > 3 else Path(tempfile.mkdtemp()) / "landings.zarr")
study = mb.sweep.Study(
    simulator,
    mb.sweep.indexed(n, drops, units={"mass": "kg"}),
    store,
    seconds=1.5,
    every=5,
    metrics={
        "upright": upright,
        "height": lambda run: run.q[:, -1, 2],
        "travel": lambda run: run.q[:, -1, 0],
        "force": lambda run: run.forces[..., 2].max(axis=(1, 2)),
    },
)
before = time.perf_counter()
status = study.run()
spent = time.perf_counter() - before
print(f"{status}; this run took {spent:.1f} s: {1.5 * n / spent:.3g} seconds of robots a second")

table = study.table()
speed, friction = study.parameters()["v"][:, 0], table["friction"]
stands = (table["upright"] > 0.9) & (table["height"] > 0.1)  # only feet touch the ground: whoever falls goes on falling
print(f"{stands.mean():.1%} stand after 1.5 s; the hardest foot took {np.nanmax(table['force']):.0f} N")
for low, high in ((0.1, 0.4), (0.4, 0.7), (0.7, 1.0)):
    chosen = (friction >= low) & (friction < high)
    print(
        f"friction {low} to {high}: {table['travel'][chosen].mean():.2f} m of travel, {stands[chosen].mean():.1%} stand"
    )
worst = study.worst("force")
run = study.replay(worst)  # the same sample alone, with every step: run.view() opens it in the browser
print(f"the worst landing is number {worst}, with {study.sample(worst)['mass']:.1f} kg on a {run.q[0, 2]:.2f} m drop")
assert abs(run.q[-1, 2] - table["height"][worst]) < 1e-9
assert not status.failed

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    cells = np.histogram2d(speed, friction, bins=40 if n > 10_000 else 8)
    total = np.histogram2d(speed, friction, bins=cells[1:], weights=table["travel"])[0]
    shown = left.pcolormesh(cells[1], cells[2], (total / np.maximum(1, cells[0])).T)
    figure.colorbar(shown, label="mean travel [m]")
    left.set(xlabel="speed at the drop [m/s]", ylabel="friction", title=f"{n:,} landings")
    for low, high in ((0.1, 0.4), (0.4, 0.7), (0.7, 1.0)):
        chosen = (friction >= low) & (friction < high)
        right.hist(table["force"][chosen], bins=80, histtype="step", density=True, label=f"friction {low} to {high}")
    right.set(xlabel="largest force on a foot [N]", ylabel="density", title="how hard it lands", yticks=[])
    right.legend()
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
