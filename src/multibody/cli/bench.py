"""`multibody bench`: our times beside those of the peers that are installed."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from multibody.cli._options import File, Floating, Mimic, MimicOption, writable
from multibody.cli._peers import PEERS, Peer
from multibody.cli._tables import show, table, terminal
from multibody.cli._timing import in_turns
from multibody.errors import InputError
from multibody.robot import Robot, load

QUANTITIES = {
    "pose": "pose",
    "jacobian": "Jacobian",
    "inverse_dynamics": "inverse dynamics",
    "inverse_dynamics_derivatives": "its derivatives",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
}
OF_A_FRAME = ("pose", "jacobian")
INPUTS = {"pose": 1, "jacobian": 1, "mass_matrix": 1}
"""How many of q, v and a, or τ, a quantity takes, where not all three."""
ONE, BATCH = "once", "batch"
AGREE_WITHIN = 1e-8


def bench(
    file: File = "panda",
    floating: Floating = False,
    mimic: MimicOption = Mimic.independent,
    frame: Annotated[str | None, typer.Option(help="Of pose and Jacobian; the last one if not given.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="How many states a batch has.")] = 1024,
    budget: Annotated[float, typer.Option(min=0.001, help="Seconds for each number.")] = 0.3,
    plot: Annotated[Path | None, typer.Option(help="Save a picture of the table here.")] = None,
) -> None:
    """Measure on one core, single calls and batches, beside Pinocchio and MuJoCo where they are installed."""
    console = terminal()
    if plot is not None:
        writable("--plot", plot)
    robot = load(file, floating=floating, mimic=mimic.value)
    if not robot.nv:
        raise InputError(f"bench: expected a robot that moves, got {robot.name!r} without any coordinate")
    frame = robot.frames[-1] if frame is None else frame
    rng = np.random.default_rng(0)
    states = robot.random(rng, (batch,)), rng.standard_normal((batch, robot.nv)), rng.standard_normal((batch, robot.nv))
    peers, notes = _peers(robot, frame, *(x[0] for x in states))
    times, first_use = _times(console, robot, frame, states, peers, budget)
    console.print()
    show(console, _table(times, peers), f"{robot.name}, nv = {robot.nv}: µs per evaluation", _caption(peers, batch))
    console.print(f"First use of all six, compiled or from the cache on disk: {first_use:.2f} s.")
    for note in notes:
        console.print(note, style="yellow")
    bad = _compared(console, robot, frame, [x[0] for x in states], peers)
    if plot is not None:
        _draw(robot, times, plot)
        console.print(f"Saved {plot}.")
    if bad:
        raise typer.Exit(1)


def _peers(robot: Robot, frame: str, q: Any, v: Any, a: Any) -> tuple[list[Peer], list[str]]:
    """Those that are installed and take the robot, and why others are left out."""
    robot.model.frame(frame)
    found, notes = [], []
    for kind in PEERS:
        if not kind.installed():
            notes.append(f"{kind.name} is not installed: it is left out.")
            continue
        try:
            found.append(kind(robot.model, frame, q, v, a))
        except InputError as error:
            notes.append(f"{kind.name} is left out: it {error}.")
    return found, notes


def _single(robot: Robot, name: str, frame: str, state: Sequence[NDArray[Any]]) -> Callable[[], Any]:
    """A call as users write it: robot.jacobian("tool", q)."""
    method, args = getattr(robot, name), state[: INPUTS.get(name, 3)]
    return (lambda: method(frame, *args)) if name in OF_A_FRAME else (lambda: method(*args))


def _batch(robot: Robot, name: str, frame: str, states: Sequence[NDArray[Any]]) -> Callable[[], Any]:
    """A call of the kernel that reuses its arrays."""
    kernel = robot.kernel(name, frame if name in OF_A_FRAME else None)
    args = states[: INPUTS.get(name, 3)]
    out = kernel(*args)
    return lambda: kernel(*args, out=out)


def _times(
    console: Console, robot: Robot, frame: str, states: Sequence[NDArray[Any]], peers: list[Peer], budget: float
) -> tuple[dict[str, dict[str, float]], float]:
    """Seconds per evaluation, by quantity and by who computes it; seconds until the first results."""
    one, count = [x[0].copy() for x in states], len(states[0])
    times: dict[str, dict[str, float]] = {}
    with Progress(console=console, transient=True) as progress:
        begun = time.perf_counter()
        for name in progress.track(QUANTITIES, description="compiling"):
            _single(robot, name, frame, one)()
        first_use = time.perf_counter() - begun
        for name in progress.track(QUANTITIES, description="measuring"):
            functions = {ONE: _single(robot, name, frame, one), BATCH: _batch(robot, name, frame, states)}
            functions |= {peer.name: peer.calls[name] for peer in peers if name in peer.calls}
            times[name] = in_turns(functions, budget)
            times[name][BATCH] /= count
    return times, first_use


def _table(times: dict[str, dict[str, float]], peers: list[Peer]) -> Table:
    headers = ["", ONE, BATCH]
    for peer in peers:
        headers += [peer.name, "over ours"]
    made = table(*headers, numbers=len(headers) - 1)
    for name, label in QUANTITIES.items():
        row = times[name]
        cells = [f"{row[ONE] * 1e6:.2f}", f"{row[BATCH] * 1e6:.3f}"]
        for peer in peers:
            theirs = row.get(peer.name)
            over = "" if theirs is None else f"{_times_as(theirs / row[ONE])} {_times_as(theirs / row[BATCH]):>4}"
            cells += ["" if theirs is None else f"{theirs * 1e6:.2f}", over]
        made.add_row(label, *cells)
    return made


def _caption(peers: list[Peer], batch: int) -> str:
    ours = f"one core; once: a call with one state; batch: {batch} states, arrays reused"
    return ours + ("; over ours: the peer's time, called from Python, over our two" if peers else "")


def _times_as(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"


def _compared(console: Console, robot: Robot, frame: str, state: list[Any], peers: list[Peer]) -> bool:
    """Say how well results agree; whether some peer disagrees."""
    q, v, a = state
    ours = {
        "pose": robot.pose(frame, q).matrix,
        "jacobian": robot.jacobian(frame, q),
        "inverse_dynamics": robot.inverse_dynamics(q, v, a),
        "forward_dynamics": robot.forward_dynamics(q, v, a),
        "mass_matrix": robot.mass_matrix(q),
    }
    bad = False
    for peer in peers:
        worst = peer.disagreement(ours)
        agrees = worst < AGREE_WITHIN
        bad |= not agrees
        style = "green" if agrees else "bold red"
        word = "agree" if agrees else "DISAGREE"
        result = f"Results of {peer.name} and ours ", (word, style), f": {worst:.0e} relative."
        console.print(Text.assemble(*result))
    return bad


def _draw(robot: Robot, times: dict[str, dict[str, float]], path: Path) -> None:
    from matplotlib.figure import Figure  # here, because it takes longer to import than all the rest

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    who = list(dict.fromkeys(name for row in times.values() for name in row))
    colors = {ONE: "tab:blue", BATCH: "tab:cyan", "Pinocchio": "tab:orange", "MuJoCo": "tab:gray"}
    height = 0.8 / len(who)
    for k, each in enumerate(who):
        rows = [(i, row[each] * 1e6) for i, row in enumerate(times.values()) if each in row]
        label = f"multibody, {each}" if each in (ONE, BATCH) else each
        places = [i + (k - (len(who) - 1) / 2) * height for i, _ in rows]
        bars = axes.barh(places, [t for _, t in rows], height, color=colors[each], label=label)
        axes.bar_label(bars, fmt="%.3g", padding=2, fontsize=7)
    axes.set(xscale="log", xlabel="µs per evaluation, one core", title=f"{robot.name}, nv = {robot.nv}")
    axes.set_yticks(range(len(times)), [QUANTITIES[name] for name in times])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)
