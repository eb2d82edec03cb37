"""`multibody info`: what a file says about its robot, and what the loader noticed."""

from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from multibody.algorithms import centroidal
from multibody.cli._loading import load
from multibody.cli._options import File, Floating, Mimic, MimicOption, Strict
from multibody.cli._progress import working
from multibody.cli._tables import number, show, table, terminal, vector
from multibody.cli._tree import tree
from multibody.model import robots
from multibody.model.joint import Joint
from multibody.model.joint import Mimic as Mimicry
from multibody.robot import Robot

STYLES = {"warning": "yellow", "note": "cyan"}


def info(
    file: File = "",
    floating: Floating = False,
    mimic: MimicOption = Mimic.coupled,
    strict: Strict = False,
    rows: Annotated[int, typer.Option(min=1, help="Show no more rows of the tree, and of each table.")] = 400,
) -> None:
    """Show a robot: its tree, masses, limits, and what the loader noticed about its file.

    Without a file, list the embedded robots.
    """
    console = terminal()
    if not file:
        show(console, _embedded(), "Embedded robots", "multibody info NAME shows one of them")
        return
    with working("reading the robot"):
        robot = load(file, floating=floating, mimic=mimic.value, strict=strict)
        drawn, totals = tree(robot, console.width, rows), _totals(robot)
    console.print(drawn, soft_wrap=True)
    console.print()
    console.print(totals)
    if file in robots.names():
        console.print(f"\n{robots.describe(file)}", style="dim")
    if robot.joints:
        console.print()
        show(console, _limits(robot, rows), "Limits", "m and rad, their rates, N and N m")
    _diagnostics(console, robot, rows)


def _embedded() -> Table:
    made = table("name", "what it is")
    made.columns[0].no_wrap = True
    for name in robots.names():
        made.add_row(name, robots.describe(name).summary)
    return made


def _totals(robot: Robot) -> Table:
    grid = Table.grid(padding=(0, 2))
    model = robot.model
    grid.add_row("mass", f"{number(robot.mass)} kg")
    if robot.mass:
        where = "at home" if model.home is not None else "at the neutral configuration"
        grid.add_row("centre of mass", f"{vector(centroidal.center_of_mass(robot.tree, robot.home()))} m, {where}")
    grid.add_row("gravity", f"{vector(model.gravity)} m/s²")
    if robot.model.tree.floating:
        grid.add_row("base velocity", model.velocity)
    grid.add_row("frames", f"{len(robot.frames)}, the last is {robot.frames[-1]}")
    if model.equalities:
        grid.add_row("equality constraints", f"{len(model.equalities)}, kept as data")
    return grid


def _limits(robot: Robot, rows: int) -> Table:
    """A row for each coordinate that is limited or driven; joints without any limit have one row."""
    made = table("joint", "q", "v", "lower", "upper", "velocity", "effort", numbers=6)
    lines = [row for joint in robot.joints for row in _rows(joint)]
    for row in lines[:rows]:
        made.add_row(*row)
    if len(lines) > rows:
        made.add_row(f"⋮ {len(lines) - rows} more")
    return made


def _rows(joint: Joint) -> list[list[str]]:
    places = [_span(joint.q), _span(joint.v)]
    if joint.mimic is not None:
        return [[f"{joint.name} = {_followed(joint.mimic, joint.q.start)}", *places, "", "", "", ""]]
    limits = [np.atleast_1d(getattr(joint.limits, name)) for name in ("lower", "upper", "velocity", "effort")]
    if all(len(set(each.tolist())) <= 1 for each in limits):
        return [[joint.name, *places, *(number(each[0]) for each in limits)]]
    rows = []
    for k in range(max(map(len, limits))):
        name = joint.name if k == 0 else ""
        q = str(joint.q.start + k) if k < joint.kind.nq else ""
        v = str(joint.v.start + k) if k < joint.kind.nv else ""
        rows.append([name, q, v, *(number(each[k]) if k < len(each) else "" for each in limits)])
    return rows


def _followed(mimic: Mimicry, leader: int) -> str:
    times = {1.0: "", -1.0: "-"}.get(mimic.ratio, f"{number(mimic.ratio)} ")
    return f"{times}q{leader}" + (f" + {number(mimic.offset)}" if mimic.offset else "")


def _span(where: slice) -> str:
    return str(where.start) if where.stop - where.start == 1 else f"{where.start}-{where.stop - 1}"


def _diagnostics(console: Console, robot: Robot, rows: int) -> None:
    """What the loader noticed, warnings first, by file."""
    diagnostics = robot.diagnostics
    counts = {level: sum(d.level == level for d in diagnostics) for level in STYLES}
    said = ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items())
    console.print(Text.assemble(("Diagnostics", "bold"), f": {said}"))
    for level, file in dict.fromkeys((level, d.file) for level in STYLES for d in diagnostics if d.level == level):
        grid = Table.grid(padding=(0, 1))
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        here = [d for d in diagnostics if (d.level, d.file) == (level, file)]
        for d in here[:rows]:
            text = f"{d.element}: {d.message}" if d.element else d.message
            grid.add_row("" if d.line is None else str(d.line), d.code, text)
        if len(here) > rows:
            grid.add_row("⋮", "", f"{len(here) - rows} more")
        console.print(
            Text(f"{level}s in {file}" if file else f"{level}s", style=f"bold {STYLES[level]}"), soft_wrap=True
        )
        console.print(grid, style=STYLES[level])
