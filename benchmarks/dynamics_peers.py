"""Kinematics and dynamics beside every peer, in one run on one core: python benchmarks/dynamics_peers.py [robot ...]

Pinocchio, MuJoCo and Drake are called from Python for one state, as users call them; Pinocchio also in a C++ loop,
compiled here; heyoka and C code by CasADi for four samples at once run batches of our own operations. All have the same
robot, and each is checked against our results before it is timed. Times are least ones of many turns, which suits a
noisy machine. The claim: no peer is faster, neither than our single call from Python for the first kind, nor than our
batch for the second. Exit status 1 when one is. Peers that are missing are left out, which is said
(`pip install -e .[bench]`).
"""

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from _generated_peers import GivenUpError, with_casadi_c, with_heyoka
from _pinocchio_cpp import MissingError, measure
from _robots import CASES, least, load, one_core, pinocchio_model
from peers import Drake, Mujoco, Pinocchio

import multibody as mb
from multibody.model.layouts import PinocchioLayout

COUNT = 1024
LARGEST = 6000
"""Operations past which heyoka and g++ take minutes to compile; --all takes them nevertheless."""
QUANTITIES = {
    "inverse_dynamics": "RNEA",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "jacobian": "Jacobian of a frame",
    "pose": "pose of a frame",
    "inverse_dynamics_derivatives": "derivatives of RNEA",
}
FROM_PYTHON = {peer.name: peer for peer in (Pinocchio, Mujoco, Drake)}
AGREE_WITHIN = 1e-9
BATCH = ("Pinocchio C++", "heyoka", "CasADi C, rows", "CasADi C")
OUTSIDE = "CasADi C"
"""Does less than we do: its samples are already in lanes."""
Times = dict[str, dict[str, float]]


def deepest(robot: mb.Robot) -> str:
    """The link with the most joints between the world and itself."""
    return max(robot.bodies, key=lambda body: len(robot.tree.support(body.index))).joint.child


def times_of(name: str, budget: float, largest: int) -> Times:
    """Seconds of one evaluation, by quantity and by what computes it."""
    robot, rng = load(name), np.random.default_rng(0)
    frame = deepest(robot)
    Q = robot.random(rng, (COUNT,))
    V, A = rng.standard_normal((COUNT, robot.nv)), rng.standard_normal((COUNT, robot.nv))
    state = tuple(x[0].copy() for x in (Q, V, A))
    calls: dict[str, dict[str, Callable[[], Any]]] = {what: {} for what in QUANTITIES}
    results: dict[str, Any] = {}
    for what in QUANTITIES:
        batch, single = ours(robot, what, frame, (Q, V, A), state)
        calls[what] |= {"ours, one": single, "ours, batch": batch}
        results[what] = single()
        calls[what] |= generated(robot, what, frame, (Q, V, A), largest)
    results["pose"] = results["pose"].matrix
    for peer, kind in FROM_PYTHON.items():
        if not kind.installed():
            print(f"  left out: {peer} is not installed")
            continue
        built = kind(robot.model, frame, state, list(QUANTITIES))
        if (worst := built.disagreement(results)) > AGREE_WITHIN:
            raise SystemExit(f"{peer} disagrees with our results for {name}: {worst:.1e} relative")
        for what, call in built.calls.items():
            calls[what][peer] = call
    times: Times = {}
    for what, functions in calls.items():
        seconds = least(functions, budget)
        batches = {"ours, batch", *BATCH}
        times[what] = {peer: t / COUNT if peer in batches else t for peer, t in seconds.items()}
    for what, t in in_cpp(name, robot, frame, (Q, V, A), budget).items():
        times[what]["Pinocchio C++"] = t
    return times


def ours(
    robot: mb.Robot, what: str, frame: str, batch: tuple[np.ndarray, ...], state: tuple[np.ndarray, ...]
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A batch into arrays that are reused, and a single call, both through the face that users hold."""
    of_frame = what in ("jacobian", "pose")
    kernel = robot.kernel(what, frame) if of_frame else robot.kernel(what)
    arrays = batch[: len(kernel.signature.inputs)]
    method = getattr(robot, what)
    single = (frame, state[0]) if of_frame else state[: len(arrays)]
    out = kernel(*arrays)
    return lambda: kernel(*arrays, out=out), lambda: method(*single)


def generated(
    robot: mb.Robot, what: str, frame: str, batch: tuple[np.ndarray, ...], largest: int
) -> Iterable[tuple[str, Callable[[], Any]]]:
    kernel = robot.kernel(what, frame) if what in ("jacobian", "pose") else robot.kernel(what)
    traced = kernel.trace()
    size = len(traced.graph.live(traced.roots))
    if size > largest:
        print(f"  left out: heyoka and CasADi for {QUANTITIES[what]}, {size} operations (--all takes them)")
        return
    arrays = list(batch[: len(kernel.signature.inputs)])
    results = kernel(*arrays)
    flat = [x.reshape(COUNT, -1) for x in (results if isinstance(results, tuple) else (results,))]
    expected = np.concatenate(flat, axis=1)
    if find_spec("heyoka") is None:
        print("  left out: heyoka is not installed")
    else:
        yield "heyoka", with_heyoka(traced, arrays, expected)
    if find_spec("casadi") is None:
        print("  left out: CasADi is not installed")
        return
    try:
        yield from zip(("CasADi C, rows", "CasADi C"), with_casadi_c(traced, arrays, expected), strict=True)
    except GivenUpError as error:
        print(f"  left out: CasADi's C code for {QUANTITIES[what]}: {error}")


def in_cpp(name: str, robot: mb.Robot, frame: str, batch: tuple[np.ndarray, ...], budget: float) -> dict[str, float]:
    if find_spec("pinocchio") is None:
        return {}
    model = pinocchio_model(name)
    layout = PinocchioLayout(robot.model, model)
    Q, V, A = (x[:64] for x in batch)
    try:
        return measure(model, frame, layout.q_to(Q), layout.v_to(Q, V), layout.a_to(Q, V, A), budget)
    except MissingError as error:
        print(f"  left out: Pinocchio in C++: {error}")
        return {}


def show(name: str, times: Times) -> int:
    """Print a table; the number of peers that are faster."""
    faster = 0
    print(f"{name}: µs per evaluation; from Python (times our single call), and in a batch or loop (times our batch)")
    for what, row in times.items():
        single, batch = row["ours, one"], row["ours, batch"]
        cells = []
        for peer in (*FROM_PYTHON, *BATCH):
            if peer in row:
                ratio = row[peer] / (single if peer in FROM_PYTHON else batch)
                slower = ratio < 1 and peer != OUTSIDE
                faster += slower
                cells.append(f"{peer} {row[peer] * 1e6:.3g} ({ratio:.1f}x{' FASTER' if slower else ''})")
        print(f"  {QUANTITIES[what]:20s} ours {single * 1e6:.2f}, batch {batch * 1e6:.3f}   " + "   ".join(cells))
    return faster


def plot(file: Path, every: dict[str, Times]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots(len(every), 1, squeeze=False)[:, 0]
    peers = [*FROM_PYTHON, "ours, one", *(peer for peer in BATCH if peer != OUTSIDE), "ours, batch"]
    width = 0.85 / len(peers)
    for axis, (name, times) in zip(axes, every.items(), strict=True):
        for k, peer in enumerate(peers):
            heights = [row.get(peer, np.nan) * 1e6 for row in times.values()]
            colour = {"ours, one": "tab:red", "ours, batch": "darkred"}.get(peer, f"C{k if k < 3 else k + 1}")
            places = np.arange(len(times)) + (k - len(peers) / 2) * width
            axis.bar(places, heights, width * 0.9, align="edge", color=colour, label=peer)
        axis.set(yscale="log", ylabel="µs", title=name, xticks=range(len(times)))
        axis.set_xticklabels([QUANTITIES[what] for what in times])
        axis.grid(axis="y", alpha=0.3)
    axes[0].legend(ncols=4, fontsize="small")
    figure.savefig(file, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("robots", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--all", action="store_true", help="heyoka and CasADi however large the graph is")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds for each figure")
    parser.add_argument("--plot", type=Path, help="save a picture")
    options = parser.parse_args()
    one_core()
    every, faster = {}, 0
    for name in options.robots:
        every[name] = times_of(name, options.budget, sys.maxsize if options.all else LARGEST)
        faster += show(name, every[name])
    if options.plot:
        plot(options.plot, every)
    print(f"{faster} figures of peers are better than ours")
    return int(faster > 0)


if __name__ == "__main__":
    sys.exit(main())
