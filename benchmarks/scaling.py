"""Cost against the number of links, 2 to 500: python benchmarks/scaling.py [--most 500] [--plot FILE]

Chains and binary trees of hinges. For kinematics (the poses of all frames, and the centre of mass), inverse and forward
dynamics: the time to compile from cold, the time of one evaluation in a batch, and the operations. Forward dynamics of
chains of ten links and more is the articulated body algorithm. The claims: each grows linearly (per link, from 30 to
500 links operations by at most 30 %, as forward dynamics of trees changes its algorithm with the depth, and compilation
by half; from 100 to 500 links the time of an evaluation by half); a chain of 500 links is compiled for all of them
within 2 minutes and 2 GB, each from a fresh process. Exit status 1 when one does not hold. Between 30 and 100 links the
values of one vector of samples outgrow the first-level cache, and a link takes about twice the time: that is printed,
not judged.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from _robots import least, one_core

import multibody as mb
from multibody.model.builder import Builder
from multibody.model.joints import Revolute
from multibody.model.shapes import Cylinder

COUNT, BYTES = 256, 2**20
"""At most so many samples in a batch, and so many bytes in its arrays: beyond the caches one would measure memory."""
SIZES = (2, 5, 10, 30, 100, 250, 500)
QUANTITIES = {
    "poses": ("q",),
    "center_of_mass": ("q",),
    "inverse_dynamics": ("q", "v", "a"),
    "forward_dynamics": ("q", "v", "tau"),
}
SHAPES = ("chain", "tree")
FLAT = {"compile": (30, 1.5), "sample": (100, 1.5), "operations": (30, 1.3)}
"""From so many links on, a figure grows per link by at most this factor."""
MEMORY, SECONDS = 2048, 120
Figures = dict[str, float]


def hinges(links: int, shape: str) -> mb.Robot:
    """A chain, or a binary tree, of rods whose hinges are about x, y and z in turn."""
    builder = Builder(f"{shape}-{links}").body("link0")
    for i in range(1, links + 1):
        parent = i - 1 if shape == "chain" else i // 2
        builder.body(f"link{i}", shape=Cylinder(0.02, 0.2), mass=1.0, pose=[0.0, 0.0, 0.1])
        kind, names = Revolute("xyz"[i % 3]), (f"link{parent}", f"link{i}")
        builder.joint(f"hinge{i}", kind, parent=names[0], child=names[1], placement=[0.01, 0.02, 0.2])
    return mb.Robot(builder.model())


def figures(links: int, shape: str, what: str) -> Figures:
    """Seconds to compile and of one evaluation, operations, and the memory of the process so far in MB."""
    mb.config.cache = False
    robot, rng = hinges(links, shape), np.random.default_rng(0)
    mb.compile(np.sin, ())  # what the first kernel of a process costs is not the robot's
    start, used = time.perf_counter(), time.process_time()
    kernel = robot.kernel(what)
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    q, (v, a) = robot.random(rng, (COUNT,)), rng.standard_normal((2, COUNT, robot.nv))
    arrays = [q, v, a][: len(QUANTITIES[what])]
    results = kernel(*arrays)
    out = results if isinstance(results, tuple) else (results,)
    count = max(8, min(COUNT, BYTES * COUNT // sum(x.nbytes for x in (*arrays, *out)) // 8 * 8))
    arrays, out = [x[:count].copy() for x in arrays], tuple(x[:count].copy() for x in out)
    into = out if isinstance(results, tuple) else out[0]
    sample = least({what: lambda: kernel(*arrays, out=into)}, 0.3)[what] / count
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"compile": cpu, "wall": wall, "sample": sample, "operations": sum(kernel.ops.values()), "memory": memory}


def in_fresh_process(links: int, shape: str, what: str) -> Figures:
    command = [sys.executable, __file__, "--single", str(links), shape, what]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def grows_linearly(sizes: dict[int, Figures]) -> list[str]:
    """Which figures do not."""
    bad = []
    for figure, (least_links, most) in FLAT.items():
        per_link = [sizes[links][figure] / links for links in sizes if links >= least_links]
        if per_link and max(per_link) > most * per_link[0]:
            bad.append(f"{figure} {max(per_link) / per_link[0]:.1f} times per link")
    return bad


def plot(file: Path, every: dict[tuple[str, str], dict[int, Figures]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k, what in enumerate(QUANTITIES):
        for shape, style in zip(SHAPES, ("o-", "s--"), strict=True):
            curve = every[shape, what]
            label = f"{what.replace('_', ' ')}, {shape}"
            left.loglog(list(curve), [f["sample"] * 1e6 for f in curve.values()], style, color=f"C{k}", label=label)
            right.loglog(list(curve), [f["compile"] for f in curve.values()], style, color=f"C{k}")
    sizes = np.array(SIZES)
    reference = every["chain", "inverse_dynamics"]
    for axes, figure_name, unit in (left, "sample", 1e6), (right, "compile", 1.0):
        last = max(reference)
        axes.loglog(sizes, reference[last][figure_name] * unit * sizes / last, ":", color="0.5", label="linear")
        axes.set_xlabel("links")
        axes.grid(alpha=0.3)
    left.set(ylabel="one evaluation in a batch [µs]")
    right.set(ylabel="compilation from cold [s]")
    left.legend(fontsize="small")
    figure.savefig(file, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=SIZES[-1], help="links")
    parser.add_argument("--plot", type=Path, help="save a picture")
    parser.add_argument("--single", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    one_core()
    if options.single:
        links, shape, what = options.single
        print(json.dumps(figures(int(links), shape, what)))
        return 0
    every: dict[tuple[str, str], dict[int, Figures]] = {}
    claims: list[tuple[str, Any]] = []
    for shape in SHAPES:
        for what in QUANTITIES:
            curve = every[shape, what] = {}
            print(f"{what} of a {shape}: links, operations, ns per evaluation and link, s to compile (CPU), MB")
            for links in (size for size in SIZES if size <= options.most):
                point = curve[links] = in_fresh_process(links, shape, what)
                per_link, operations = point["sample"] / links * 1e9, point["operations"]
                print(f"  {links:4d} {operations:8.0f} {per_link:8.2f} {point['compile']:8.2f} {point['memory']:6.0f}")
            bad = grows_linearly(curve)
            claims.append((f"{what} of a {shape} is linear: {', '.join(bad) or 'yes'}", not bad))
    largest = [every["chain", what][max(every["chain", what])] for what in QUANTITIES]
    wall, memory = sum(point["wall"] for point in largest), max(point["memory"] for point in largest)
    told = f"the longest chain: {wall:.0f} s and {memory:.0f} MB (claims {SECONDS} s, {MEMORY} MB)"
    claims.append((told, wall <= SECONDS and memory <= MEMORY))
    if options.plot:
        plot(options.plot, every)
    for claim, holds in claims:
        print(f"{'ok   ' if holds else 'SHORT'} {claim}")
    return int(not all(holds for _, holds in claims))


if __name__ == "__main__":
    sys.exit(main())
