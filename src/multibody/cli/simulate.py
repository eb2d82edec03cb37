"""`multibody simulate`: a robot that falls on the ground, or swings."""

import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import multibody as mb
from multibody._saving import check_place
from multibody.cli import _options
from multibody.cli._messages import print_note
from multibody.cli._progress import share_done
from multibody.cli._tables import number, show, table, terminal
from multibody.cli._viewing import keep_open
from multibody.errors import InputError


def simulate(
    file: _options.File,
    seconds: Annotated[float, typer.Option(min=0.0, help="The duration, in s.")] = 2.0,
    dt: Annotated[float, typer.Option(help="The time step in s.")] = 0.002,
    drop: Annotated[float, typer.Option(min=0.0, help="The height of a floating robot above the ground, in m.")] = 0.5,
    q: Annotated[str, typer.Option(help="The start: numbers, or neutral, home, random.")] = "home",
    v: Annotated[str, typer.Option(help="The first velocities: numbers, or zero, random.")] = "zero",
    kp: Annotated[float, typer.Option(min=0.0, help="Hold the joints where they start, in N m/rad or N/m.")] = 0.0,
    kd: Annotated[float, typer.Option(min=0.0, help="With damping, in N m s/rad or N s/m.")] = 0.0,
    friction: Annotated[float, typer.Option(min=0.0, help="The ground's coefficient of friction.")] = 0.8,
    restitution: Annotated[float, typer.Option(min=0.0, max=1.0, help="The ground's restitution.")] = 0.0,
    shapes: Annotated[bool, typer.Option("--shapes", help="Touch with all collision shapes, not only the feet.")] = (
        False
    ),
    save: Annotated[Path | None, typer.Option(help="Where to save the run, .npz.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Where to save a picture of it, .png, .svg or .pdf.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Play the run in the browser.")] = False,
    floating: _options.Floating = False,
    mimic: _options.MimicOption = _options.Mimic.coupled,
    roots: _options.Roots = None,
    seed: _options.Seed = 0,
) -> None:
    """Simulate a robot: drop it on the ground, or let it swing, with friction, damping and joint limits.

    It touches with its feet if it has frames named foot-..., as embedded robots do; otherwise with the spheres,
    capsules and boxes of its collision shapes.
    """
    from multibody.cli._contacts import contacts_at, print_sunk
    from multibody.model.actuation import actuated_coordinates

    if save is not None:
        check_place(save, "--save")
    _options.writable("--plot", plot)
    robot = _options.read(file, floating, mimic, roots=roots)
    rng = np.random.default_rng(seed)
    start, speed = _options.configuration_of(robot, q, rng), _options.rates_of(robot, "v", v, rng)
    ground = mb.simulate.Ground(friction=friction, restitution=restitution)
    contacts = contacts_at(robot, start, ground, shapes)
    controller = mb.simulate.PD(kp, kd, target=start[actuated_coordinates(robot.tree)]) if kp or kd else None
    options = {"contacts": contacts, "ground": ground if contacts else None, "controller": controller}
    simulator = mb.simulate.Simulator(robot, dt, **options, passive=True, limits=True, effort=True)
    _lift(simulator, start, drop)
    every = max(1, round(seconds / dt / 2000))
    with share_done("simulating") as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.simulate.SimulationWarning)  # advice has it, in its words
        run = simulator(start, speed, seconds=seconds, every=every, progress=advance, partial=True)
    _show(run, simulator)
    for sentence in simulator.advice(run):
        if sentence not in run.failures:
            print_note(sentence)
    if simulator.contacts and len(run.t) and not run.failures:
        print_sunk(run, robot, ground)
    if save is not None:
        run.save(save)
        typer.echo(f"Saved {save}.")
    if plot is not None:
        run.plot(plot)
        typer.echo(f"Saved {plot}.")
    if run.failures:
        raise InputError(run.failures[0])
    if view:
        viewer = run.view()
        if simulator.contacts:
            viewer.contacts(simulator.contacts, friction=friction)
        keep_open(viewer)


def _lift(simulator: "mb.simulate.Simulator", q: np.ndarray, drop: float) -> None:
    """Lift all floating bases by one height, so that the lowest of their points is `drop` above the ground, in m."""
    from multibody.simulate.contact.gaps import gaps

    tree = simulator.robot.tree
    bases = {joint.name: joint for joint in tree.bases}
    pairs = tuple(
        (contact, simulator.grounds[0])
        for contact in simulator.contacts
        if any(tree.bodies[i - 1].joint.name in bases for i in tree.support(tree.frame(contact.frame)[0]))
    )
    height = drop - float(gaps(tree, pairs, q).min()) if pairs else 0.0
    for base in bases.values():
        q[base.q.start + 2] += height


def _show(run: "mb.simulate.Run", simulator: "mb.simulate.Simulator") -> None:
    """Print a table of the first and the last row."""
    console = terminal()
    console.print(repr(simulator), markup=False)
    if not len(run.t):
        return
    rows = table("", "at the first row", "at the end", numbers=2)
    energy = run.energy()
    rows.add_row("time [s]", number(run.t[0]), number(run.t[-1]))
    rows.add_row("energy [J]", number(energy[0]), number(energy[-1]))
    rows.add_row("largest speed", number(np.abs(run.v[0]).max()), number(np.abs(run.v[-1]).max()))
    bases = simulator.robot.tree.bases
    for base in bases:
        name, z = "the base" if len(bases) == 1 else base.child, base.q.start + 2
        rows.add_row(f"height of {name} [m]", number(run.q[0, z]), number(run.q[-1, z]))
    if simulator.contacts:
        pushed = np.linalg.norm(run.forces.sum(axis=-2), axis=-1)
        rows.add_row("force of the ground [N]", number(pushed[0]), number(pushed[-1]))
    show(console, rows)
