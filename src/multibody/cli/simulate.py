"""`multibody simulate`: let a robot fall, or swing, and see what becomes of it."""

import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from multibody import simulate as room
from multibody._saving import check_place
from multibody.cli._options import (
    File,
    Floating,
    Mimic,
    MimicOption,
    Roots,
    Seed,
    configuration_of,
    rates_of,
    read,
    writable,
)
from multibody.cli._progress import progress
from multibody.cli._tables import number, show, table, terminal
from multibody.cli._viewing import keep_open
from multibody.errors import InputError
from multibody.model.actuation import actuated_coordinates
from multibody.robot import Robot
from multibody.simulate.contact.gaps import gaps

MOST = 28
"""Contacts of a robot that are taken."""


def simulate(
    file: File,
    seconds: Annotated[float, typer.Option(min=0.0, help="How long, in s.")] = 2.0,
    dt: Annotated[float, typer.Option(help="The time step in s.")] = 0.002,
    drop: Annotated[float, typer.Option(min=0.0, help="How far a floating robot is above the ground, in m.")] = 0.5,
    q: Annotated[str, typer.Option(help="Where it starts: numbers, or neutral, home, random.")] = "home",
    v: Annotated[str, typer.Option(help="How fast: numbers, or zero, random.")] = "zero",
    kp: Annotated[float, typer.Option(min=0.0, help="Hold the joints where they start, in N m/rad or N/m.")] = 0.0,
    kd: Annotated[float, typer.Option(min=0.0, help="With damping, in N m s/rad or N s/m.")] = 0.0,
    friction: Annotated[float, typer.Option(min=0.0, help="The ground's coefficient of friction.")] = 0.8,
    restitution: Annotated[float, typer.Option(min=0.0, max=1.0, help="The ground's restitution.")] = 0.0,
    save: Annotated[Path | None, typer.Option(help="Where to save the run, .npz.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Where to save a picture of it, .png, .svg or .pdf.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Play the run in the browser.")] = False,
    floating: Floating = False,
    mimic: MimicOption = Mimic.coupled,
    roots: Roots = None,
    seed: Seed = 0,
) -> None:
    """Simulate a robot: drop it on the ground, or let it swing, with friction, damping and limits of its joints.

    It touches with the spheres, capsules and boxes of its collision shapes.
    """
    if save is not None:
        check_place(save, "--save")
    if plot is not None:
        writable("--plot", plot)
    robot = read(file, floating, mimic, roots=roots)
    rng = np.random.default_rng(seed)
    start, speed = configuration_of(robot, q, rng), rates_of(robot, "v", v, rng)
    simulator = _simulator(robot, start, dt, (kp, kd), room.Ground(friction=friction, restitution=restitution))
    _lift(simulator, start, drop)
    every = max(1, round(seconds / dt / 2000))
    with progress() as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", room.SimulationWarning)  # advice has it, in its words
        task = bar.add_task("compiling", total=1.0)
        run = simulator(
            start,
            speed,
            seconds=seconds,
            every=every,
            progress=lambda share: bar.update(task, completed=share, description="simulating"),
            partial=True,
        )
    _told(run, simulator)
    for sentence in simulator.advice(run):
        if sentence not in run.failures:
            terminal(stderr=True).print(f"note: {sentence}", style="yellow", soft_wrap=True, markup=False)
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


def _simulator(
    robot: Robot, q: np.ndarray, dt: float, gains: tuple[float, float], ground: room.Ground
) -> room.Simulator:
    controller = room.PD(*gains, target=q[actuated_coordinates(robot.tree)]) if any(gains) else None
    contacts = _nearest(robot, q, ground) if robot.tree.bases else ()  # what is bolted down swings freely
    return room.Simulator(
        robot,
        dt,
        contacts=contacts,
        ground=ground if contacts else None,
        controller=controller,
        passive=True,
        limits=True,
        effort=True,
    )


def _lift(simulator: room.Simulator, q: np.ndarray, drop: float) -> None:
    """Lift all floating bases by one height, so that the lowest of their points is `drop` above the ground, in m."""
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


def _nearest(robot: Robot, q: np.ndarray, ground: room.Ground) -> tuple[room.SphereContact, ...]:
    """The contacts of the robot's shapes; of very many, since code grows with their square, those near the ground."""
    contacts = room.contacts_of(robot)
    if len(contacts) <= MOST:
        return contacts
    near = np.argsort(gaps(robot.tree, tuple((contact, ground) for contact in contacts), q))[:MOST]
    told = f"note: of {len(contacts)} points of the robot's shapes, the {MOST} nearest to the ground can touch it"
    terminal(stderr=True).print(told, style="yellow", soft_wrap=True)
    return tuple(contacts[k] for k in sorted(near.tolist()))


def _told(run: room.Run, simulator: room.Simulator) -> None:
    """What came of it, in a table."""
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
