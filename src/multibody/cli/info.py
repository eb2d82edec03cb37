"""`multibody info`: the contents of a robot file, and the diagnostics of the loader."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

import multibody as mb
from multibody.cli import _diagnostics
from multibody.cli._options import File, Floating, Mimic, MimicOption, Roots, Snap, Strict, TrustPaths, quietly
from multibody.cli._progress import working
from multibody.cli._tables import number, show, table, terminal, vector
from multibody.cli._tree import tree

if TYPE_CHECKING:
    from multibody.model.joint import Joint
    from multibody.model.joint import Mimic as Mimicry
    from multibody.robot import Robot

PASSIVE = {
    "damping": "N s/m and N m s/rad",
    "friction": "N and N m",
    "stiffness": "N/m and N m/rad",
    "armature": "kg and kg m²",
}
"""Passive forces of a joint, and their units."""


def info(
    file: File = "",
    floating: Floating = False,
    mimic: MimicOption = Mimic.coupled,
    strict: Strict = False,
    roots: Roots = None,
    trust_paths: TrustPaths = False,
    snap: Snap = 1e-10,
    notes: Annotated[bool, typer.Option("--notes", help="Show each warning and note, not only their kinds.")] = False,
    rows: Annotated[int, typer.Option(min=1, help="Show no more rows of the tree, and of each table.")] = 400,
) -> None:
    """Show a robot: what may be wrong with its file, its tree, masses, limits, and what the loader noticed.

    Without a file, list the embedded robots.
    """
    console = terminal()
    if not file:
        show(console, _embedded(), "Embedded robots", "multibody info NAME shows one of them")
        return
    robot = quietly(file, floating, mimic, strict=strict, roots=roots, trust_paths=trust_paths, snap=snap)
    with working("reading the robot"):
        drawn, totals = tree(robot, console.width, rows), _totals(robot)
    diagnostics = robot.diagnostics
    _diagnostics.show_level(console, diagnostics, "warning", rows if notes else None)
    console.print(drawn, soft_wrap=True)
    console.print()
    console.print(totals)
    if file in mb.robots.names():
        console.print(f"\n{mb.robots.describe(file)}", style="dim")
    console.print()
    if robot.joints:
        show(console, _limits(robot, rows), "Joints", _caption(robot))
    _diagnostics.show_level(console, diagnostics, "note", rows if notes else None)
    said = f"{_diagnostics.count(diagnostics, 'warning')}, {_diagnostics.count(diagnostics, 'note')}"
    more = "" if notes or not diagnostics else "; --notes shows each of them"
    console.print(Text.assemble(("Diagnostics", "bold"), f": {said}{more}"))


def _embedded() -> Table:
    made = table("name", "what it is")
    made.columns[0].no_wrap = True
    for name in mb.robots.names():
        made.add_row(name, mb.robots.describe(name).summary)
    return made


def _totals(robot: "Robot") -> Table:
    from multibody.algorithms import centroidal

    grid = Table.grid(padding=(0, 2))
    model = robot.model
    grid.add_row("mass", f"{number(robot.mass)} kg")
    if robot.mass:
        where = "at home" if model.home is not None else "at the neutral configuration"
        grid.add_row("centre of mass", f"{vector(centroidal.center_of_mass(robot.tree, robot.home()))} m, {where}")
    grid.add_row("gravity", f"{vector(model.gravity)} m/s²")
    if robot.model.tree.bases:
        grid.add_row("base velocity", model.velocity)
    grid.add_row("frames", f"{len(robot.frames)}, the last is {robot.frames[-1]}")
    if model.equalities:
        grid.add_row("equality constraints", f"{len(model.equalities)}, kept as data")
    return grid


def _limits(robot: "Robot", rows: int) -> Table:
    """A row for each coordinate that is limited or driven; joints without any limit have one row."""
    passive = _passive(robot)
    made = table("joint", "q", "v", "lower", "upper", "velocity", "effort", *passive, numbers=6 + len(passive))
    lines = [row for joint in robot.joints for row in _rows(joint, passive)]
    for row in lines[:rows]:
        made.add_row(*row)
    if len(lines) > rows:
        made.add_row(f"⋮ {len(lines) - rows} more")
    return made


def _passive(robot: "Robot") -> list[str]:
    """The passive forces in joints of the robot."""
    return [name for name in PASSIVE if any(getattr(joint.passive, name) for joint in robot.joints)]


def _caption(robot: "Robot") -> str:
    units = "coordinates in m and rad, velocity in m/s and rad/s, effort in N and N m"
    present = [f"{name} in {PASSIVE[name]}" for name in _passive(robot)]
    absent = [name for name in ("damping", "friction") if name not in _passive(robot)]
    return "; ".join([units, *present]) + (f"; no {' or '.join(absent)}" if absent else "")


def _rows(joint: "Joint", passive: Sequence[str] = ()) -> list[list[str]]:
    places = [_span(joint.q), _span(joint.v)]
    acting = [number(getattr(joint.passive, name)) for name in passive]
    if joint.mimic is not None:
        return [[f"{joint.name} = {_followed(joint.mimic, joint.q.start)}", *places, "", "", "", "", *acting]]
    limits = [np.atleast_1d(getattr(joint.limits, name)) for name in ("lower", "upper", "velocity", "effort")]
    if all(len(set(each.tolist())) <= 1 for each in limits):
        return [[joint.name, *places, *(number(each[0]) for each in limits), *acting]]
    rows = []
    for k in range(max(map(len, limits))):
        name = joint.name if k == 0 else ""
        q = str(joint.q.start + k) if k < joint.kind.nq else ""
        v = str(joint.v.start + k) if k < joint.kind.nv else ""
        numbers = [number(each[k]) if k < len(each) else "" for each in limits]
        rows.append([name, q, v, *numbers, *(acting if k < joint.kind.nv else [""] * len(acting))])
    return rows


def _followed(mimic: "Mimicry", leader: int) -> str:
    times = {1.0: "", -1.0: "-"}.get(mimic.ratio, f"{number(mimic.ratio)} ")
    return f"{times}q{leader}" + (f" + {number(mimic.offset)}" if mimic.offset else "")


def _span(where: slice) -> str:
    return str(where.start) if where.stop - where.start == 1 else f"{where.start}-{where.stop - 1}"
