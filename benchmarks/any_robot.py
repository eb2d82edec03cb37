"""A robot of yours beside every peer that is installed: python benchmarks/any_robot.py FILE [--floating]

The options are those of `multibody bench`. Pinocchio, MuJoCo and Drake get the same robot, CasADi and heyoka our
operations and arrays that are set once; they are called from Python with one state (heyoka: a batch), on one core. Exit
status 1 when the results of a peer are not ours. Peers that are missing, or do not take the robot, are left out, which
is said (`pip install -e .[bench]`).
"""

from collections.abc import Callable, Mapping, Sequence

import typer
from peers import PEERS, Peer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from multibody.cli._options import File, Floating, Mimic, MimicOption
from multibody.cli._progress import working
from multibody.cli._tables import show, table, terminal
from multibody.cli._time_bars import BATCH, SINGLE
from multibody.cli.bench import (
    QUANTITIES,
    Batch,
    Budget,
    Case,
    Frame,
    Plot,
    caption,
    measure,
    own_cells,
    prepare,
    report,
)
from multibody.errors import MultibodyError

AGREE_WITHIN = 1e-8
Times = Mapping[str, Mapping[str, float]]


def main(
    file: File = "panda",
    floating: Floating = False,
    mimic: MimicOption = Mimic.independent,
    frame: Frame = None,
    batch: Batch = 1024,
    budget: Budget = 0.3,
    plot: Plot = None,
) -> None:
    """Measure our times beside those of Pinocchio, MuJoCo, Drake, CasADi and heyoka."""
    console = terminal()
    case = prepare(file, floating, mimic, frame, batch, plot)
    with working("building peers") as say:
        peers, notes = build(case, say)
    times, first_use = measure(case, budget, {peer.name: peer.calls for peer in peers})
    for row in times.values():
        row |= {peer.name: row[peer.name] / peer.samples for peer in peers if peer.name in row}
    tables(console, case.title, times, {peer.name: peer.samples > 1 for peer in peers}, _caption(case, peers))
    report(console, case, times, first_use, case.notes + notes, plot)
    agreements = [agrees(console, case, peer) for peer in peers]
    if not all(agreements):
        raise typer.Exit(1)


def build(case: Case, say: Callable[[str], None]) -> tuple[list[Peer], list[str]]:
    """The peers that are installed and take the robot, and why others are left out."""
    peers: list[Peer] = []
    notes: list[str] = []
    missing = [kind.name for kind in PEERS if not kind.installed()]
    for kind in PEERS:
        if kind.name in missing:
            continue
        say(f"building the robot of {kind.name}")
        try:
            peers.append(kind(case.robot.model, case.frame, case.state, case.names))
            notes += [f"{kind.name}: {remark}" for remark in peers[-1].remarks]
        except MultibodyError as error:
            notes.append(f"{kind.name} is left out: it {error}.")
        except ImportError as error:
            notes.append(f"{kind.name} is left out: it is installed, but cannot be imported: {error}.")
    if missing:
        others = f", nor {', '.join(missing[1:])}" if missing[1:] else ""
        notes.append(f'{missing[0]} is not installed{others}: pip install "multibody[bench]" has all peers.')
    return peers, notes


def agrees(console: Console, case: Case, peer: Peer) -> bool:
    """Say how well the results of a peer agree with ours; whether they do."""
    ours = {name: case.single(name)() for name in case.names}
    worst = peer.disagreement(ours | {"pose": ours["pose"].matrix})
    word, style = ("agree", "green") if worst < AGREE_WITHIN else ("DISAGREE", "bold red")
    console.print(Text.assemble(f"Results of {peer.name} and ours ", (word, style), f": {worst:.0e} relative."))
    return worst < AGREE_WITHIN


def _caption(case: Case, peers: list[Peer]) -> str:
    if not peers:
        return caption(case)
    batches = "".join(f" ({peer.name}: with a batch, over our second)" for peer in peers if peer.samples > 1)
    return f"{caption(case)}; over ours: the time of a peer, called from Python with one state, over our two{batches}"


def tables(console: Console, title: str, times: Times, peers: Mapping[str, bool], below: str) -> None:
    """Print the times, and how many times ours those of peers are; as many peers in a table as the terminal is wide.

    Args:
        console: where to.
        title: above each table.
        times: seconds of one evaluation, by quantity and by who computes it.
        peers: whether each of them evaluates batches, which stand beside our batches only.
        below: the caption of the last table.
    """
    left = list(peers.items())
    while True:
        count = max(1, len(left))
        while count > 1 and _width(console, _table(times, left[:count])) > console.width:
            count -= 1
        here, left = left[:count], left[count:]
        show(console, _table(times, here), title, "" if left else below)
        if not left:
            return


def _table(times: Times, peers: Sequence[tuple[str, bool]]) -> Table:
    headers = ["", SINGLE, BATCH]
    for peer, _ in peers:
        headers += [peer, "over ours"]
    rows = table(*headers, numbers=len(headers) - 1)
    for name, row in times.items():
        cells = own_cells(row)
        for peer, in_batches in peers:
            cells += _cells(row, peer, in_batches) if peer in row else ["", ""]
        rows.add_row(QUANTITIES[name], *cells)
    return rows


def _cells(row: Mapping[str, float], peer: str, in_batches: bool) -> list[str]:
    theirs = row[peer]
    over_batch = f"{_factor(theirs / row[BATCH]):>4}"
    if in_batches:
        return [f"{theirs * 1e6:.3f}", over_batch]
    return [f"{theirs * 1e6:.2f}", f"{_factor(theirs / row[SINGLE])} {over_batch}"]


def _width(console: Console, rows: Table) -> int:
    """What a table would take of a terminal that is wide enough."""
    return console.measure(rows, options=console.options.update_width(1000)).maximum


def _factor(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"


if __name__ == "__main__":
    typer.run(main)
