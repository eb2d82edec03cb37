"""`multibody demo`: the library at work, on one screen and in one picture."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from multibody.cli._demo_picture import Flight, draw
from multibody.cli._options import writable
from multibody.cli._progress import share_done, track
from multibody.cli._tables import number, show, table, vector
from multibody.cli._timing import in_turns, reusing_arrays
from multibody.cli._tree import tree
from multibody.cli.bench import OF_A_FRAME, QUANTITIES
from multibody.robot import Robot, load
from multibody.simulate import Simulator

DT, DURATION = 0.001, 0.95  # s
SPEEDS = {name: QUANTITIES[name] for name in QUANTITIES if name not in OF_A_FRAME}
BATCH = 1024


def demo(
    picture: Annotated[Path, typer.Option(help="The file of the picture.")] = Path("multibody-demo.png"),
    quick: Annotated[bool, typer.Option("--quick", help="Measure the smallest robot only.")] = False,
) -> None:
    """Show an arm and its dynamics, throw a humanoid and check what is conserved, measure, save a picture."""
    console = Console(highlight=False)
    writable("--picture", picture)
    arm = load("panda")
    console.rule("[bold]An arm")
    console.print(tree(arm, console.width))
    console.rule("[bold]Its kinematics and dynamics, at home")
    wrong = _arm(console, arm)
    console.rule("[bold]A humanoid, thrown and let go")
    humanoid = load("humanoid")
    flight = throw(humanoid)
    wrong |= _conserved(console, flight)
    console.rule("[bold]Speed on one core")
    speeds = _speeds([arm] if quick else [arm, load("quadruped"), humanoid])
    show(console, _speed_table(speeds), caption=f"batches of {BATCH}, arrays reused")
    draw(humanoid, flight, {SPEEDS[name]: row for name, row in speeds.items()}, picture)
    console.print(f"Saved {picture}.", markup=False)
    console.print("In the browser, with a slider for each joint: .venv/bin/multibody view quadruped", markup=False)
    if wrong:
        raise typer.Exit(1)


def _arm(console: Console, robot: Robot) -> bool:
    """A table of calls and values, and checks of one result by another; whether a check failed."""
    q, v = robot.home(), np.array([0.3, -0.2, 0.1, 0.4, -0.1, 0.2, 0.5])
    calls: dict[str, Callable[[], str]] = {
        'robot.pose("tool", q).position': lambda: f"{vector(robot.pose('tool', q).position)} m",
        'robot.velocity("tool", q, v)': lambda: vector(robot.velocity("tool", q, v)),
        'robot.manipulability("tool", q)': lambda: number(float(robot.manipulability("tool", q))),
        "robot.gravity(q)": lambda: f"{vector(robot.gravity(q))} N·m",
        "robot.forward_dynamics(q, v, 0)": lambda: f"{vector(robot.forward_dynamics(q, v, 0 * v))} rad/s²",
        "robot.kinetic_energy(q, v)": lambda: f"{number(float(robot.kinetic_energy(q, v)))} J",
    }
    made = table("call", "value")
    for call, value in track(calls.items(), "compiling"):
        made.add_row(call, value())
    show(console, made)

    a = robot.forward_dynamics(q, v, np.ones(robot.nv))
    M, J = robot.mass_matrix(q), robot.jacobian("tool", q)
    d_dq = robot.inverse_dynamics_derivatives(q, v, a)[0]
    h = 1e-6
    ends = [robot.inverse_dynamics(robot.integrate(q, side * np.eye(robot.nv)), v, a) for side in (h, -h)]
    checks = {
        "inverse dynamics of forward dynamics is τ": (robot.inverse_dynamics(q, v, a) - 1, 1e-10),
        "M a + h is τ": (M @ a + robot.bias(q, v) - 1, 1e-10),
        "J v is the velocity": (J @ v - robot.velocity("tool", q, v), 1e-12),
        "v·M v / 2 is the kinetic energy": (v @ M @ v / 2 - robot.kinetic_energy(q, v), 1e-12),
        "∂τ/∂q is that of finite differences": (d_dq - ((ends[0] - ends[1]) / (2 * h)).T, 1e-6),
    }
    made = table("check", "off by", "", numbers=2)
    for name, (error, allowed) in checks.items():
        off = float(np.abs(error).max())
        made.add_row(name, f"{off:.0e}", "[green]yes" if off < allowed else "[red]no")
    show(console, made)
    return any(np.abs(error).max() >= allowed for error, allowed in checks.values())


def throw(robot: Robot, seconds: float = DURATION) -> Flight:
    """Throw a robot with a floating base, without motor torques and contacts."""
    q, v = robot.home(), np.zeros(robot.nv)
    q[2] += 0.15
    v[:6] = 5.2, 0.0, 4.6, 0.3, 4.0, 0.3  # m/s, rad/s
    with share_done("integrating") as advance:
        run = Simulator(robot, DT, method="rk4")(q, v, seconds=seconds, progress=advance)
    energies = robot.kinetic_energy(run.q, run.v), robot.potential_energy(run.q)
    return Flight(run.t, run.q, *energies, run.momentum()[:, 3:])


def _conserved(console: Console, flight: Flight) -> bool:
    made = table("", "at the start", "at the end", "largest drift", numbers=3)
    for name, x in (("kinetic energy, J", flight.kinetic), ("potential energy, J", flight.potential)):
        made.add_row(name, f"{x[0]:.3f}", f"{x[-1]:.3f}", "")
    total = flight.kinetic + flight.potential
    drift, turning = flight.energy_drift, flight.momentum_drift
    made.add_row("total energy, J", f"{total[0]:.3f}", f"{total[-1]:.3f}", f"{drift:.0e}")
    size = np.linalg.norm(flight.momentum, axis=-1)
    made.add_row("angular momentum, kg m²/s", f"{size[0]:.3f}", f"{size[-1]:.3f}", f"{turning:.0e}")
    show(console, made)
    failed = bool(max(drift, turning) > 1e-6)
    said = "[red]not conserved[/red]" if failed else f"Energy and momentum conserved over {DURATION:g} s: yes"
    console.print(f"{said} (RK4 on the group, {DT * 1e3:g} ms)")
    return failed


def _speeds(robots: list[Robot]) -> dict[str, dict[str, float]]:
    """Evaluations per second in batches, by quantity and robot."""
    rng = np.random.default_rng(0)
    states = [[robot.random(rng, (BATCH,)), *rng.standard_normal((2, BATCH, robot.nv))] for robot in robots]
    pairs = [(name, k) for name in SPEEDS for k in range(len(robots))]
    calls: dict[str, dict[str, Callable[[], Any]]] = {name: {} for name in SPEEDS}
    for name, k in track(pairs, "compiling"):
        calls[name][robots[k].name] = reusing_arrays(robots[k].kernel(name), states[k])
    measured = track(calls.items(), "measuring")
    return {name: {who: BATCH / t for who, t in in_turns(each).items()} for name, each in measured}


def _speed_table(speeds: dict[str, dict[str, float]]) -> Table:
    robots = list(next(iter(speeds.values())))
    made = table("million evaluations per second", *robots, numbers=len(robots))
    for name, row in speeds.items():
        made.add_row(SPEEDS[name], *(f"{row[robot] / 1e6:.3g}" for robot in robots))
    return made
