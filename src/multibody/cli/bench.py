"""`multibody bench`: our times beside those of the peers that are installed."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from multibody.cli import _times
from multibody.cli._options import File, Floating, Mimic, MimicOption, writable
from multibody.cli._peers import PEERS, Peer
from multibody.cli._progress import progress, working
from multibody.cli._tables import terminal
from multibody.cli._times import BATCH, ONE
from multibody.cli._timing import in_turns
from multibody.errors import InputError, MultibodyError
from multibody.robot import Robot, load
from multibody.robot.kernels import check_masses

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
AGREE_WITHIN = 1e-8


def bench(
    file: File = "panda",
    floating: Floating = False,
    mimic: MimicOption = Mimic.independent,
    frame: Annotated[str | None, typer.Option(help="Of pose and Jacobian; the last one if not given.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="How many states a batch has.")] = 1024,
    budget: Annotated[float, typer.Option(min=0.001, help="Seconds for each number.")] = 0.3,
    plot: Annotated[Path | None, typer.Option(help="Save the bars as a picture, too: .png, .svg or .pdf.")] = None,
) -> None:
    """Measure on one core, single calls and batches, as a table and as bars.

    Beside them stand those of Pinocchio, MuJoCo, Drake, CasADi and heyoka
    that are installed. They get the same robot (CasADi and heyoka: our
    operations, and arrays that are set once), are called from Python with one
    state (heyoka: a batch), and must agree with our results.
    """
    console = terminal()
    if plot is not None:
        writable("--plot", plot)
    with working("reading the robot"):
        robot = load(file, floating=floating, mimic=mimic.value)
    if not robot.nv:
        raise InputError(f"bench: expected a robot that moves, got {robot.name!r} without any coordinate")
    frame = robot.frames[-1] if frame is None else frame
    robot.model.tree.frame(frame)
    rng = np.random.default_rng(0)
    states = robot.random(rng, (batch,)), rng.standard_normal((batch, robot.nv)), rng.standard_normal((batch, robot.nv))
    names, notes = _quantities(robot)
    with working("building peers") as say:
        peers, about_peers = _peers(robot, names, frame, [x[0] for x in states], say)
    times, first_use = _measured(robot, names, frame, states, peers, budget)
    labelled = {QUANTITIES[name]: row for name, row in times.items()}
    title = f"{robot.name}, nv = {robot.nv}"
    in_batches = {peer.name: peer.samples > 1 for peer in peers}
    _times.tables(console, f"{title}: µs per evaluation", labelled, in_batches, _caption(peers, batch))
    _times.bars(console, labelled)
    console.print(f"First use of all {len(names)}, compiled or from the cache on disk: {first_use:.2f} s.")
    for note in notes + about_peers:
        console.print(note, style="yellow")
    bad = _compared(console, robot, names, frame, [x[0] for x in states], peers)
    if plot is not None:
        _times.draw(title, labelled, plot)
        console.print(f"Saved {plot}.", soft_wrap=True)
    if bad:
        raise typer.Exit(1)


def _quantities(robot: Robot) -> tuple[list[str], list[str]]:
    """What can be computed about the robot, and why not all of it."""
    try:
        check_masses(robot.model)
    except InputError as error:
        return [name for name in QUANTITIES if name != "forward_dynamics"], [f"Forward dynamics is left out: {error}."]
    return list(QUANTITIES), []


def _peers(
    robot: Robot, names: Sequence[str], frame: str, state: Sequence[NDArray[Any]], say: Callable[[str], None]
) -> tuple[list[Peer], list[str]]:
    """Those that are installed and take the robot, and why others are left out."""
    found: list[Peer] = []
    notes: list[str] = []
    missing = [kind.name for kind in PEERS if not kind.installed()]
    for kind in PEERS:
        if kind.name in missing:
            continue
        say(f"building the robot of {kind.name}")
        try:
            found.append(kind(robot.model, frame, state, names))
            notes += [f"{kind.name}: {remark}" for remark in found[-1].remarks]
        except MultibodyError as error:
            notes.append(f"{kind.name} is left out: it {error}.")
        except ImportError as error:
            notes.append(f"{kind.name} is left out: it is installed, but cannot be imported: {error}.")
    if missing:
        others = f", nor {', '.join(missing[1:])}" if missing[1:] else ""
        notes.append(f'{missing[0]} is not installed{others}: pip install "multibody[bench]" has all peers.')
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


def _measured(
    robot: Robot,
    names: Sequence[str],
    frame: str,
    states: Sequence[NDArray[Any]],
    peers: list[Peer],
    budget: float,
) -> tuple[dict[str, dict[str, float]], float]:
    """Seconds per evaluation, by quantity and by who computes it; seconds until the first results."""
    one, count = [x[0].copy() for x in states], len(states[0])
    times: dict[str, dict[str, float]] = {}
    with progress() as bar:
        begun = time.perf_counter()
        for name in bar.track(names, description="compiling"):
            _single(robot, name, frame, one)()
        first_use = time.perf_counter() - begun
        for name in bar.track(names, description="measuring"):
            functions = {ONE: _single(robot, name, frame, one), BATCH: _batch(robot, name, frame, states)}
            functions |= {peer.name: peer.calls[name] for peer in peers if name in peer.calls}
            times[name] = in_turns(functions, budget)
            for who, samples in {BATCH: count, **{peer.name: peer.samples for peer in peers}}.items():
                if who in times[name]:
                    times[name][who] /= samples
    return times, first_use


def _caption(peers: list[Peer], batch: int) -> str:
    ours = f"one core; once: a call with one state; batch: {batch} states, arrays reused"
    if not peers:
        return ours
    batches = "".join(f" ({peer.name}: with a batch, over our second)" for peer in peers if peer.samples > 1)
    return f"{ours}; over ours: the time of a peer, called from Python with one state, over our two{batches}"


def _compared(
    console: Console, robot: Robot, names: Sequence[str], frame: str, state: list[Any], peers: list[Peer]
) -> bool:
    """Say how well results agree; whether some peer disagrees."""
    ours = {name: _single(robot, name, frame, state)() for name in names}
    ours["pose"] = ours["pose"].matrix
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
