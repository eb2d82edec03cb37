"""The chart of README.md, measured and drawn in one run: python docs/figures/how_fast.py   (pip install -e ".[bench]")

The robot is ANYmal of example-robot-data, on one core, by `benchmarks/dynamics_peers.py`. Libraries called from Python
for one state are next to our single call. Pinocchio in a loop of C++ is next to our batch. Missing peers are left out.
"""

import sys
from importlib.metadata import version
from pathlib import Path

from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from _robots import one_core  # noqa: E402
from dynamics_peers import times_of  # noqa: E402

QUANTITIES = {
    "inverse_dynamics": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "jacobian": "Jacobian of a foot",
    "pose": "pose of a foot",
}
BARS = {
    "Drake": ("Drake, from Python", "#c7c7c7"),
    "MuJoCo": ("MuJoCo, from Python", "#a3a3a3"),
    "Pinocchio": ("Pinocchio, from Python", "#7a7a7a"),
    "ours, one": ("multibody, from Python", "#e8833a"),
    "Pinocchio C++": ("Pinocchio, a loop in C++", "#4d4d4d"),
    "ours, batch": ("multibody, a batch of 1,024", "#b3400b"),
}
PACKAGES = {"Drake": "drake", "MuJoCo": "mujoco-core", "Pinocchio": "pin"}


def processor() -> str:
    """The name of the machine's processor, as it gives it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "this machine")


def main() -> None:
    one_core()
    times = {what: row for what, row in times_of("anymal", 0.3, 0).items() if what in QUANTITIES}
    there = [peer for peer in BARS if any(peer in row for row in times.values())]
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes = figure.subplots()
    height = 0.82 / len(there)
    for k, peer in enumerate(there):
        label, colour = BARS[peer]
        for row, what in enumerate(QUANTITIES):
            us = times[what].get(peer, float("nan")) * 1e6
            place = row + (k - (len(there) - 1) / 2) * height
            axes.barh(place, us, height * 0.92, color=colour, label=label if row == 0 else None)
            axes.text(
                us * 1.06, place, f"{us:.2g}" if us < 9.95 else f"{us:.0f}", va="center", fontsize=7, color="#555555"
            )
    axes.set(xscale="log", xlabel="µs for one evaluation; the axis is logarithmic, shorter is faster", yticks=range(5))
    axes.set_yticklabels(QUANTITIES.values())
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.25)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter("{x:g}")
    figure.legend(fontsize=8, loc="outside lower center", ncols=3, frameon=False)
    peers = ", ".join(f"{name} {version(package)}" for name, package in PACKAGES.items() if name in there)
    axes.set_title(
        f"A quadruped with 18 degrees of freedom, one core of {processor()}\n{peers}", fontsize=9, loc="left"
    )
    figure.savefig(ROOT / "docs" / "_static" / "how_fast.png", dpi=130)
    for what, row in times.items():
        print(QUANTITIES[what], {peer: round(row[peer] * 1e6, 3) for peer in there if peer in row})


if __name__ == "__main__":
    main()
