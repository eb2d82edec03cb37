"""Figures of runs."""

from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody._saving import check_place
from multibody.errors import InputError
from multibody.model.actuation import actuated_coordinates, actuated_indices, actuated_joints, floating_joints
from multibody.simulate.run import Run

MAX_LEGEND = 12
"""The lines up to which a panel has a legend."""
COLORS = 10
"""The colours of lines; further lines are dashed."""


class Panel(NamedTuple):
    """Lines over the time of a run."""

    title: str
    unit: str
    lines: NDArray[Any]
    """(rows, lines)."""
    names: tuple[str, ...]
    """Of the lines, where they have some."""


def plot(run: Run, path: str | PathLike[str] | None, sample: int | tuple[int, ...] | None) -> Any:
    """Return a matplotlib Figure; save it if there is a path."""
    from multibody._figure import Figure

    place = None if path is None else check_place(path, "path")
    if not len(run.t):
        raise InputError("plot: the run has no rows: expected a smaller every=, or a longer run")
    index = index_of(run, sample)
    panels = panels_of(run, index)
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.0 * rows), layout="constrained")
    for k, (title, unit, lines, names) in enumerate(panels):
        axes = figure.add_subplot(rows, columns, k + 1)
        labelled = len(names) == lines.shape[1] and len(names) <= MAX_LEGEND
        axes.plot(run.t, lines, label=names if labelled else None, linewidth=1.2)
        for line in axes.lines[COLORS:]:
            line.set_linestyle("--")
        axes.set(title=title, xlabel="time [s]", ylabel=unit)
        axes.grid(alpha=0.3)
        if labelled and len(names) > 1:
            axes.legend(fontsize=7, ncols=1 + (len(names) > 6))
    figure.suptitle(_title(run, index))
    if place is not None:
        figure.savefig(place, dpi=110)
    return figure


def index_of(run: Run, sample: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The index of a sample in the batch of a run; by default of the first."""
    batch = run.q.shape[:-2]
    index = (0,) * len(batch) if sample is None else tuple(np.atleast_1d(sample).tolist())
    if len(index) != len(batch) or not all(-n <= k < n for k, n in zip(index, batch, strict=True)):
        raise InputError(f"sample: expected an index into the batch {batch}, got {sample!r}")
    return index


def panels_of(run: Run, index: tuple[int, ...]) -> list[Panel]:
    """The panels of one sample of a run: bases, joints, contact forces, energy."""
    robot = run.robot
    q, v, forces = run.q[index], run.v[index], run.forces[index]
    at: Any = slice(None)
    first, bases, joints = at, [], ()
    if robot is not None:
        tree = robot.tree
        at, first, bases = actuated_coordinates(tree), actuated_indices(tree), floating_joints(tree)
        joints = tuple(joint.name for joint in actuated_joints(tree))
    names = [base.child for base in bases] if len(bases) > 1 else ["base"]
    named = list(zip(names, bases, strict=False))
    panels = [Panel(name, "position [m]", q[:, base.q][:, :3], ("x", "y", "z")) for name, base in named]
    if q[:, at].shape[1]:
        panels.append(Panel("joints", "coordinates [rad, m]", q[:, at], ()))  # the names are beside their velocities
        panels.append(Panel("joints", "velocities [rad/s, m/s]", v[:, first], joints))
    panels += [Panel(name, "velocity [m/s]", v[:, base.v][:, :3], ("x", "y", "z")) for name, base in named]
    if forces.shape[1]:
        strength = np.linalg.norm(forces, axis=-1)
        panels.append(Panel("contacts", "|force| [N]", strength, tuple(run.about.get("contacts") or ())))
    if robot is not None:
        panels.append(Panel("energy", "kinetic + potential [J]", np.atleast_2d(run.energy()[index]).T, ()))
    return panels


def _title(run: Run, index: tuple[int, ...]) -> str:
    """The robot and the method, which sample of how many, and whether it diverged."""
    title = f"{run.about.get('robot')}, {run.about.get('method')}, dt = {1e3 * run.about['dt']:g} ms"
    if index:
        title += f", sample {', '.join(map(str, index))} of {' × '.join(map(str, run.q.shape[:-2]))}"
    failed = int(run.failed[index])
    return title if failed < 0 else f"{title}: NOT FINITE from t = {failed * run.about['dt']:g} s on"
