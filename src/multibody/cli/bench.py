"""`multibody bench`: the times of a robot's quantities."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from multibody.cli._options import File, Floating, Mimic, MimicOption, Roots, TrustPaths, frame_option, read, writable
from multibody.cli._progress import progress
from multibody.cli._tables import show, table, terminal
from multibody.cli._time_bars import BATCH, SINGLE, bars, draw
from multibody.cli._timing import in_turns, reusing_arrays
from multibody.compiler.config import final_code
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.robot import Robot

QUANTITIES = {
    "pose": "pose",
    "jacobian": "Jacobian",
    "inverse_dynamics": "inverse dynamics",
    "inverse_dynamics_derivatives": "its derivatives",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
}
OF_A_FRAME = ("pose", "jacobian")
INPUTS = {"pose": 1, "jacobian": 1, "mass_matrix": 1}
"""How many of q, v and a, or τ, a quantity takes, where not all three."""
COMPARE = "python benchmarks/any_robot.py, in a checkout of multibody, sets the times of other libraries beside these."

Call = Callable[[], Any]
Frame = Annotated[str | None, frame_option("Of pose and Jacobian; the last one if not given.")]
Batch = Annotated[int, typer.Option(min=1, help="The number of states in a batch.")]
Budget = Annotated[float, typer.Option(min=0.001, help="Seconds for each number.")]
Plot = Annotated[Path | None, typer.Option(help="Save the bars as a picture, too: .png, .svg or .pdf.")]


def bench(
    file: File = "panda",
    floating: Floating = False,
    mimic: MimicOption = Mimic.independent,
    frame: Frame = None,
    batch: Batch = 1024,
    budget: Budget = 0.3,
    plot: Plot = None,
    roots: Roots = None,
    trust_paths: TrustPaths = False,
) -> None:
    """Measure on one core, single calls and batches, as a table and as bars."""
    console = terminal()
    case = prepare(file, floating, mimic, frame, batch, plot, roots=roots, trust_paths=trust_paths)
    times, first_use = measure(case, budget)
    rows = table("", SINGLE, BATCH, numbers=2)
    for name, row in times.items():
        rows.add_row(QUANTITIES[name], *own_cells(row))
    show(console, rows, case.title, caption(case))
    report(console, case, times, first_use, case.notes, plot)
    console.print(COMPARE, style="dim")


class Case(NamedTuple):
    """A robot, the quantities that can be computed about it, and the states at which they are."""

    robot: "Robot"
    frame: str
    names: list[str]
    states: tuple[NDArray[Any], ...]
    """q, v and a, which is also the τ of forward dynamics: (batch, n) each."""
    notes: list[str]
    """Why quantities are left out."""

    @property
    def state(self) -> list[NDArray[Any]]:
        """The first state of the batch."""
        return [x[0].copy() for x in self.states]

    @property
    def title(self) -> str:
        """The title above the times."""
        return f"{self.robot.name}, nv = {self.robot.nv}: µs per evaluation"

    def single(self, name: str) -> Call:
        """A call as users write it: robot.jacobian("tool", q)."""
        method, args = getattr(self.robot, name), self.state[: INPUTS.get(name, 3)]
        return (lambda: method(self.frame, *args)) if name in OF_A_FRAME else (lambda: method(*args))

    def batch(self, name: str) -> Call:
        """A call of the kernel that reuses its arrays."""
        return reusing_arrays(self.robot.kernel(name, self.frame if name in OF_A_FRAME else None), self.states)


def prepare(
    file: str, floating: bool, mimic: Mimic, frame: str | None, batch: int, plot: Path | None, **options: Any
) -> Case:
    """Check the options before the work, and draw the states."""
    from multibody.robot.kernels import check_masses

    writable("--plot", plot)
    robot = read(file, floating, mimic, **options)
    if not robot.nv:
        raise InputError(f"bench: expected a robot that moves, got {robot.name!r} without any coordinate")
    frame = robot.frames[-1] if frame is None else frame
    robot.model.tree.frame(frame)
    rng = np.random.default_rng(0)
    states = robot.random(rng, (batch,)), *rng.standard_normal((2, batch, robot.nv))
    try:
        check_masses(robot.model)
    except InputError as error:
        names = [name for name in QUANTITIES if name != "forward_dynamics"]
        return Case(robot, frame, names, states, [f"Forward dynamics is left out: {error}."])
    return Case(robot, frame, list(QUANTITIES), states, [])


def measure(
    case: Case, budget: float, others: Mapping[str, Mapping[str, Call]] | None = None
) -> tuple[dict[str, dict[str, float]], float]:
    """Seconds per evaluation, by quantity and by who computes it; seconds until our first results.

    Args:
        case: what is measured.
        budget: seconds for each number.
        others: calls to be timed beside ours, by who computes and by quantity.
    """
    times: dict[str, dict[str, float]] = {}
    with progress() as bar, final_code():
        begun = time.perf_counter()
        for name in bar.track(case.names, description="compiling"):
            case.single(name)()
        first_use = time.perf_counter() - begun
        for name in bar.track(case.names, description="measuring"):
            calls = {SINGLE: case.single(name), BATCH: case.batch(name)}
            calls |= {who: theirs[name] for who, theirs in (others or {}).items() if name in theirs}
            times[name] = in_turns(calls, budget)
            times[name][BATCH] /= len(case.states[0])
    return times, first_use


def caption(case: Case) -> str:
    """The caption below the times."""
    return f"one core; once: a call with one state; batch: {len(case.states[0])} states, arrays reused"


def own_cells(row: Mapping[str, float]) -> list[str]:
    """Our times of a quantity, in a table."""
    return [f"{row[SINGLE] * 1e6:.2f}", f"{row[BATCH] * 1e6:.3f}"]


def report(
    console: Console,
    case: Case,
    times: Mapping[str, Mapping[str, float]],
    first_use: float,
    notes: list[str],
    plot: Path | None,
) -> None:
    """Print the times as bars, and notes below them; save the picture."""
    labelled = {QUANTITIES[name]: row for name, row in times.items()}
    bars(console, labelled)
    console.print(f"First use of all {len(times)}, compiled or from the cache on disk: {first_use:.2f} s.")
    for note in notes:
        console.print(note, style="yellow")
    if plot is not None:
        draw(case.title, labelled, plot)
        console.print(f"Saved {plot}.", soft_wrap=True)
