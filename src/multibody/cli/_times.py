"""Times of quantities, ours and those of peers: as tables, as bars in the terminal, and as a picture."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from multibody.cli._tables import show, table

ONE, BATCH = "once", "batch"
OURS = {ONE: "ours, once", BATCH: "ours, batch"}
STYLES = {ONE: "blue", BATCH: "cyan"}
COLORS = {
    ONE: "tab:blue",
    BATCH: "tab:cyan",
    "Pinocchio": "tab:orange",
    "MuJoCo": "tab:gray",
    "Drake": "tab:green",
    "CasADi": "tab:purple",
    "heyoka": "tab:red",
}
LONGEST = 60
EIGHTHS = " ▏▎▍▌▋▊▉"

Times = Mapping[str, Mapping[str, float]]
"""Seconds of one evaluation, by the label of a quantity and by who computes it."""


def tables(console: Console, title: str, times: Times, peers: Mapping[str, bool], caption: str) -> None:
    """Print the times, and how many times ours those of peers are; as many peers in a table as the terminal is wide.

    Args:
        console: where to.
        title: above each table.
        times: to be shown.
        peers: whether each of them evaluates batches, which stand beside our batches only.
        caption: below the last table.
    """
    left = list(peers.items())
    while True:
        count = max(1, len(left))
        while count > 1 and _width(console, _table(times, left[:count])) > console.width:
            count -= 1
        here, left = left[:count], left[count:]
        show(console, _table(times, here), title, "" if left else caption)
        if not left:
            return


def _table(times: Times, peers: Sequence[tuple[str, bool]]) -> Table:
    headers = ["", ONE, BATCH]
    for peer, _ in peers:
        headers += [peer, "over ours"]
    made = table(*headers, numbers=len(headers) - 1)
    for label, row in times.items():
        cells = [f"{row[ONE] * 1e6:.2f}", f"{row[BATCH] * 1e6:.3f}"]
        for peer, in_batches in peers:
            cells += _cells(row, peer, in_batches) if peer in row else ["", ""]
        made.add_row(label, *cells)
    return made


def _cells(row: Mapping[str, float], peer: str, in_batches: bool) -> list[str]:
    theirs = row[peer]
    over_batch = f"{_times_as(theirs / row[BATCH]):>4}"
    if in_batches:
        return [f"{theirs * 1e6:.3f}", over_batch]
    return [f"{theirs * 1e6:.2f}", f"{_times_as(theirs / row[ONE])} {over_batch}"]


def _width(console: Console, made: Table) -> int:
    """What a table would take of a terminal that is wide enough."""
    return console.measure(made, options=console.options.update_width(1000)).maximum


def _times_as(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"


def bars(console: Console, times: Times) -> None:
    """Print a bar for each time: its length is the logarithm, from a tenth of the least time on."""
    labels = max(map(len, times))
    names = max(len(OURS.get(who, who)) for row in times.values() for who in row)
    space = min(LONGEST, console.width - labels - names - 11)
    every = [math.log10(t) for row in times.values() for t in row.values()]
    first, last = min(every) - 1, max(every)
    console.print(Text("µs per evaluation, bars by powers of ten", style="bold"))
    for label, row in times.items():
        for k, who in enumerate(row):
            bar = _bar((math.log10(row[who]) - first) / (last - first), max(space, 1))
            words = f"{label if k == 0 else '':{labels}}  {OURS.get(who, who):{names}} "
            console.print(
                Text.assemble(words, (bar, STYLES.get(who, "yellow")), f" {row[who] * 1e6:.3g}"), soft_wrap=True
            )
    console.print()


def _bar(fraction: float, space: int) -> str:
    whole, part = divmod(round(fraction * space * 8), 8)
    return "█" * whole + EIGHTHS[part].strip()


def draw(title: str, times: Times, path: Path) -> None:
    """Save the bars as a picture."""
    from matplotlib.figure import Figure  # here, because it takes longer to import than all the rest

    who = list(dict.fromkeys(name for row in times.values() for name in row))
    figure = Figure(figsize=(8, 1.5 + 0.13 * len(times) * len(who)), layout="constrained")
    axes = figure.add_subplot()
    height = 0.8 / len(who)
    for k, each in enumerate(who):
        rows = [(i, row[each] * 1e6) for i, row in enumerate(times.values()) if each in row]
        label = f"multibody, {each}" if each in OURS else each
        places = [i + (k - (len(who) - 1) / 2) * height for i, _ in rows]
        drawn = axes.barh(places, [t for _, t in rows], height, color=COLORS[each], label=label)
        axes.bar_label(drawn, fmt="%.3g", padding=2, fontsize=7)
    axes.set(xscale="log", xlabel="µs per evaluation, one core", title=title)
    axes.set_yticks(range(len(times)), list(times))
    axes.invert_yaxis()
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)
