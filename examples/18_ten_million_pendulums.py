"""Which gains hold the pendulum whatever its mass? Ten million closed loops, in a study that can be killed and goes on.

The loop of example 3, with masses, lengths, pushes and a slow motor that differ from sample to sample. A study cuts the
samples into chunks of about a second, and keeps each of them on disk: stop this script in the middle, start it again,
and it goes on where it was. Without arguments it takes 20,000 samples.

    python 18_ten_million_pendulums.py picture.png 10_000_000 pendulums.zarr
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import multibody as mb

GRAVITY, MOST, LAG = 9.81, 3.0, 0.02  # m/s², N m, s
DT, STEPS = 0.005, 600


def step(state, plant):
    """One step of the closed loop: state (angle from upright, rate, torque), plant (k, d, mass, length)."""
    angle, rate, torque = state[0], state[1], state[2]
    k, d, mass, length = plant[0], plant[1], plant[2], plant[3]
    wanted = np.clip(-k * angle - d * rate, -MOST, MOST)
    torque = torque + DT / LAG * (wanted - torque)  # the motor is late
    rate = rate + DT * (GRAVITY / length * np.sin(angle) + torque / (mass * length**2))
    return np.stack([angle + DT * rate, rate, torque]), None


loop = mb.compile_scan(step, 3, parameters=[4])


def hold(sample):
    """The end of three seconds of each sample: is the pendulum upright, and how far is it off?"""
    plant = np.stack([sample[name] for name in ("k", "d", "mass", "length")], axis=-1)
    start = np.stack([sample["angle"], 0 * sample["angle"], 0 * sample["angle"]], axis=-1)
    last, _ = loop(start, plant, steps=STEPS)
    error = np.abs(last[:, 0])
    return {"error": error, "held": error < 0.05}


n = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
store = Path(sys.argv[3] if len(sys.argv) > 3 else Path(tempfile.mkdtemp()) / "pendulums.zarr")
samples = mb.sweep.sobol(
    n,
    k=(0.0, 40.0),
    d=(0.0, 4.0),
    mass=(0.5, 1.5),
    length=(0.3, 0.7),
    angle=(-0.5, 0.5),
    units={"k": "N m/rad", "d": "N m s/rad", "mass": "kg", "length": "m", "angle": "rad"},
)
study = mb.sweep.Study(hold, samples, store)
before = time.perf_counter()
status = study.run()
spent = time.perf_counter() - before
print(f"{status}; this run took {spent:.1f} s: {n / spent:.3g} closed loops a second")

# the fraction of plants that each pair of gains holds, chunk by chunk: ten million rows need not fit into memory
bins = 100 if n > 10**6 else 10
held, count = np.zeros((2, bins, bins))
for first, rows in study.results()["held"].chunks():
    part = samples[first : first + len(rows)]
    cell = tuple(np.minimum(bins - 1, bins * part[name] / top).astype(int) for name, top in (("k", 40.0), ("d", 4.0)))
    np.add.at(held, cell, rows)
    np.add.at(count, cell, 1)
fraction = held / np.maximum(1, count)
best = np.unravel_index(np.argmax(fraction), fraction.shape)
print(f"of all plants and gains, {held.sum() / n:.1%} are held; of the best gains, {fraction[best]:.1%}")
k, d = (best + np.array(0.5)) * [40.0 / bins, 4.0 / bins]
print(f"best gains: k about {k:.1f} N m/rad, d about {d:.2f} N m s/rad")
worst = study.worst("error")
print(
    f"the worst sample is number {worst}: { ({name: round(float(x), 3) for name, x in study.sample(worst).items()}) }"
)
assert not status.failed
assert fraction[best] > 0.8 > fraction[0, 0], "gains matter"

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    shown = axes.imshow(fraction.T, origin="lower", extent=(0, 40, 0, 4), aspect="auto", vmin=0, vmax=1)
    axes.plot(k, d, "r*", ms=12, label="best")
    figure.colorbar(shown, label="held, of all masses, lengths and starts")
    axes.set(xlabel="k [N m/rad]", ylabel="d [N m s/rad]", title=f"{n:,} closed loops")
    axes.legend(loc="upper left")
    figure.savefig(sys.argv[1], dpi=110)
    print("saved", sys.argv[1])
