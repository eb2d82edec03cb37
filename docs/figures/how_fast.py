"""The chart of README.md, drawn from the last measurement, how_fast.json.

    python docs/figures/how_fast.py              draw the chart
    python docs/figures/how_fast.py --measure    measure first, on an idle machine   (pip install -e ".[bench]")

The robot is ANYmal of example-robot-data, on one core, by `benchmarks/dynamics_peers.py`. Libraries called from Python
for one state are next to our single call. Pinocchio in a loop of C++ is next to our batch. Missing peers are left out.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_suffix(".json")

QUANTITIES = {
    "inverse_dynamics": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "jacobian": "Jacobian of a foot",
    "pose": "pose of a foot",
}
PANELS = {
    "One state, called from Python": {
        "Drake": ("Drake", "#b0b0b0"),
        "MuJoCo": ("MuJoCo", "#7a7a7a"),
        "Pinocchio": ("Pinocchio", "#3d3d3d"),
        "ours, one": ("multibody", "#e8833a"),
    },
    "Many states": {
        "Pinocchio C++": ("Pinocchio, a loop in C++", "#3d3d3d"),
        "ours, batch": ("multibody, a batch of 1,024", "#e8833a"),
    },
}
PACKAGES = {"Drake": "drake", "MuJoCo": "mujoco-core", "Pinocchio": "pin"}


def processor() -> str:
    """The name of the machine's processor, as it gives it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "this machine")


def measure() -> None:
    """Time all libraries that are installed, and write how_fast.json: microseconds with two digits."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from _robots import one_core
    from dynamics_peers import times_of

    one_core()
    times = {what: row for what, row in times_of("anymal", 0.3, 0).items() if what in QUANTITIES}
    peers = {peer for panel in PANELS.values() for peer in panel}
    us = {what: {p: float(f"{1e6 * t:.2g}") for p, t in row.items() if p in peers} for what, row in times.items()}
    versions = {name: version(package) for name, package in PACKAGES.items() if any(name in row for row in us.values())}
    data = {"processor": processor(), "versions": versions, "microseconds": us}
    DATA.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def draw() -> None:
    """Draw a panel for single calls and one for batches; each dot has a line of its own, so that labels never meet."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    figure = Figure(figsize=(9, 5), layout="constrained")
    for axes, (title, peers) in zip(figure.subplots(1, 2, sharey=True), PANELS.items(), strict=True):
        for k, (peer, (label, color)) in enumerate(peers.items()):
            places = [row + 0.19 * (k - (len(peers) - 1) / 2) for row in range(len(QUANTITIES))]
            us = [data["microseconds"][what].get(peer, float("nan")) for what in QUANTITIES]
            axes.plot(us, places, "o", color=color, markersize=6, label=label)
            for x, y in zip(us, places, strict=True):
                axes.annotate(
                    f"{x:g}", (x, y), (6, 0), textcoords="offset points", va="center", fontsize=8, color="#444444"
                )
        axes.set(xscale="log", xlabel="µs for one evaluation (logarithmic)", ylim=(len(QUANTITIES) - 0.5, -0.5))
        axes.set_yticks(range(len(QUANTITIES)), list(QUANTITIES.values()))
        axes.set_title(title, fontsize=10, loc="left")
        axes.margins(x=0.15)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.hlines(
            [row + 0.5 for row in range(len(QUANTITIES) - 1)],
            0,
            1,
            "#dddddd",
            lw=0.8,
            transform=axes.get_yaxis_transform(),
        )
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(axis="x", alpha=0.25)
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
    peers = ", ".join(f"{name} {number}" for name, number in data["versions"].items())
    figure.suptitle(
        f"A quadruped with 18 degrees of freedom, one core of {data['processor']}; {peers}. Left is faster.", fontsize=9
    )
    figure.savefig(ROOT / "docs" / "_static" / "how_fast.png", dpi=130)


if __name__ == "__main__":
    if "--measure" in sys.argv[1:]:
        measure()
    draw()
