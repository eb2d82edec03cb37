"""Times of quantities as bars, in the terminal and in a picture."""

import math
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

SINGLE, BATCH = "once", "batch"
OURS = {SINGLE: "ours, once", BATCH: "ours, batch"}
STYLES = {SINGLE: "blue", BATCH: "cyan"}
MAX_BAR_COLUMNS = 60
"""The columns of the longest bar."""
EIGHTHS = " ▏▎▍▌▋▊▉"

Times = Mapping[str, Mapping[str, float]]
"""Seconds of one evaluation, by the label of a quantity and by who computes it."""


def bars(console: Console, times: Times) -> None:
    """Print a bar for each time: its length is the logarithm, from a tenth of the least time on."""
    labels = max(map(len, times))
    names = max(len(OURS.get(who, who)) for row in times.values() for who in row)
    space = min(MAX_BAR_COLUMNS, console.width - labels - names - 11)
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
        drawn = axes.barh(places, [t for _, t in rows], height, color=f"C{k}", label=label)
        axes.bar_label(drawn, fmt="%.3g", padding=2, fontsize=7)
    axes.set(xscale="log", xlabel="µs per evaluation, one core", title=title)
    axes.set_yticks(range(len(times)), list(times))
    axes.invert_yaxis()
    axes.margins(x=0.12)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)
