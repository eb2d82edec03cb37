"""`multibody demo`: what the library does today, on one screen and in one picture."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table

from multibody.cli._tumbling import Motion, collect, tumble
from multibody.compiler.compile import compile  # noqa: A004
from multibody.geometry import Pose, Rotation, rates

INERTIA = np.diag([0.02, 0.06, 0.07])  # kg m²: a T-shaped handle, spun about each of its axes
SPINS = ("smallest", "middle", "largest")
DT, DURATION = 0.005, 12.0  # s


def demo(
    picture: Annotated[Path, typer.Option(help="Where to save the picture.")] = Path("multibody-demo.png"),
) -> None:
    """Show rotations, poses and a tumbling body; check what must be conserved; save a picture."""
    console = Console()
    console.rule("[bold]One rotation, eight ways to write it")
    console.print(_parameterisations(Rotation.from_euler("zyx", [0.9, 0.4, -0.5])))
    console.rule("[bold]Frames: inner letters touch")
    _frames(console)
    console.rule("[bold]A free body on SO(3), spun about each of its axes")
    motion = _spin(console)
    failed = _conserved(console, motion)
    console.rule("[bold]Speed on one core: the same source, eager and compiled")
    console.print(_speed())
    _draw(motion, picture)
    console.print(f"\nSaved [bold]{picture}[/bold]: the spin about the middle axis flips over and over.")
    if failed:
        raise typer.Exit(1)


def _text(x: NDArray[Any]) -> str:
    return np.array2string(np.asarray(x) + 0.0, precision=4, suppress_small=True, separator=", ")


def _parameterisations(A_R_B: Rotation) -> Table:
    table = Table("parameterisation", Column("χ", no_wrap=True), "largest |E_R^-1|")
    names = (
        "matrix",
        "quaternion",
        "angle-axis",
        "rotation-vector",
        "euler-zyx",
        "euler-xyz",
        "euler-zyz",
        "euler-zxz",
    )
    for name in names:
        chi = rates.parameters(name, A_R_B)
        shown = A_R_B.matrix if name == "matrix" else chi
        table.add_row(name, _text(shown), f"{np.abs(rates.angular_inverse(name, chi)).max():.3f}")
    return table


def _frames(console: Console) -> None:
    A_H_B = Pose(Rotation.elementary("z", np.pi / 2), [1.0, 0.0, 0.5])  # a robot's base in the world
    B_H_C = Pose(Rotation.from_euler("zyx", [0.0, np.pi / 6, 0.0]), [0.4, 0.0, 0.8])  # a camera on the robot
    C_p = np.array([0.0, 0.0, 1.0])  # a point that the camera sees
    A_H_C = A_H_B @ B_H_C
    console.print(f"A_H_C = A_H_B @ B_H_C   A_o_C = {_text(A_H_C.position)} m")
    console.print(f"A_p   = A_H_C @ C_p           = {_text(A_H_C @ C_p)} m")
    console.print(f"B_H_A = A_H_B.inverse()       back again: {_text(A_H_C.inverse() @ (A_H_C @ C_p))} m")


def _spin(console: Console) -> Motion:
    w0 = 6.0 * np.eye(3) + 0.01  # rad/s, a little off each axis
    steps = round(DURATION / DT)
    states = tumble(INERTIA, w0, DT, steps)
    return collect(INERTIA, DT, list(track(states, "integrating", total=steps + 1, console=console)))


def _conserved(console: Console, motion: Motion) -> bool:
    energy = np.abs(motion.energy / motion.energy[0] - 1).max(axis=0)
    size = np.linalg.norm(motion.momentum[0], axis=-1)
    momentum = np.linalg.norm(motion.momentum - motion.momentum[0], axis=-1).max(axis=0) / size
    orthogonality = np.abs(np.swapaxes(motion.A_R_B, -1, -2) @ motion.A_R_B - np.eye(3)).max(axis=(0, 2, 3))
    axis = motion.A_R_B[:, range(3), range(3), range(3)]  # how much each spin axis still points where it did
    table = Table("inertia about it", "turns away by", "energy drift", "momentum drift", "|R^T R - 1|")
    for k, name in enumerate(SPINS):
        away = np.degrees(np.arccos(np.clip(axis[:, k].min(), -1, 1)))
        row = (f"{away:.1f}°", f"{energy[k]:.1e}", f"{momentum[k]:.1e}", f"{orthogonality[k]:.1e}")
        table.add_row(name, *row)
    console.print(table)
    failed = bool(max(energy.max(), momentum.max()) > 1e-6 or orthogonality.max() > 1e-11)
    console.print("[red]not conserved[/red]" if failed else f"Energy and momentum conserved over {DURATION:g} s: yes")
    return failed


def _speed() -> Table:
    count = 200_000
    rotations = Rotation.random(np.random.default_rng(0), (count,))
    matrices, phi, points = np.array(rotations.matrix), rotations.rotation_vector, np.ones((count, 3))
    cases: dict[str, tuple[Callable[..., Any], tuple[NDArray[Any], ...]]] = {
        "matrix to quaternion": (lambda R: Rotation.from_matrix(R).quaternion, (matrices,)),
        "matrix to Euler angles": (lambda R: Rotation.from_matrix(R).euler("zyx"), (matrices,)),
        "rotation vector to matrix": (lambda phi: Rotation.exp(phi).matrix, (phi,)),
        "composition": (lambda R, S: R @ S, (matrices, matrices)),
        "rotation of a vector": (lambda R, r: Rotation.from_matrix(R) @ r, (matrices, points)),
    }
    table = Table("operation, million per second", "NumPy", "compiled", "compiled in")
    for name, (function, arrays) in cases.items():
        begun = time.perf_counter()
        kernel = compile(function, *(array.shape[1:] for array in arrays))
        built = time.perf_counter() - begun
        out = kernel(*arrays)
        plain = min(_timed(lambda f=function, a=arrays: f(*a)) for _ in range(5))
        native = min(_timed(lambda k=kernel, a=arrays, o=out: k(*a, out=o)) for _ in range(5))
        table.add_row(name, f"{count / plain / 1e6:.1f}", f"{count / native / 1e6:.0f}", f"{built:.2f} s")
    return table


def _timed(case: Any) -> float:
    start = time.perf_counter()
    case()
    return time.perf_counter() - start


def _draw(motion: Motion, picture: Path) -> None:
    from matplotlib.figure import Figure  # here, because it takes longer to import than all the rest

    figure = Figure(figsize=(12, 4), layout="constrained")
    sphere = figure.add_subplot(1, 3, 1, projection="3d")
    colors = ("tab:blue", "tab:red", "tab:green")
    grid = np.stack(np.meshgrid(1.0, np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13)), axis=-1)[:, 0]
    sphere.plot_wireframe(*np.moveaxis(rates.position("spherical", grid), -1, 0), color="0.85", lw=0.5)
    for k, color in enumerate(colors):
        sphere.plot(*motion.A_R_B[:, k, :, k].T, color=color, lw=1 if k == 1 else 4)
    sphere.set(title="paths of the three spin axes", aspect="equal", xlabel="x", ylabel="y", zlabel="z")
    sphere.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[-1, 0, 1])

    angles = figure.add_subplot(1, 3, 2)
    chi = Rotation.from_matrix(motion.A_R_B[:, 1]).euler("zyx")
    chi_dot = np.einsum("tij,tj->ti", rates.angular_inverse("euler-zyx", chi, "B", damping=1e-9), motion.B_w[:, 1])
    angles.semilogy(motion.time, np.linalg.norm(chi_dot, axis=-1), color="tab:red", label="rates of Euler angles zyx")
    angles.semilogy(motion.time, np.linalg.norm(motion.B_w[:, 1], axis=-1), color="black", label="angular velocity")
    angles.set(title="Euler angles race near gimbal lock", xlabel="time [s]", ylabel="rad/s")
    angles.set_ylim(top=3e4)
    angles.legend(loc="upper right", fontsize="small")

    drift = figure.add_subplot(1, 3, 3)
    for k, color in enumerate(colors):
        error = np.abs(motion.energy[1:, k] / motion.energy[0, k] - 1)
        drift.semilogy(motion.time[1:], np.maximum(error, 1e-17), color=color, lw=1, label=f"{SPINS[k]} inertia")
    drift.set(title="energy error of the integration on SO(3)", xlabel="time [s]", ylabel="relative")
    drift.legend(title="spun about the axis of", loc="lower right", fontsize="small")
    figure.savefig(picture, dpi=110)
