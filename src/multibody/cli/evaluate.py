"""`multibody eval`: kinematics and dynamics at one state, as tables or JSON."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import multibody as mb
from multibody.cli import _options
from multibody.cli._messages import print_note
from multibody.cli._progress import working
from multibody.cli._tables import TWIST, matrix, number, show, terminal, vector, velocity_names
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.robot import Robot


def evaluate(
    file: _options.File,
    frame: Annotated[str | None, _options.frame_option("For its pose, velocity, acceleration and Jacobian.")] = None,
    q: Annotated[
        str, typer.Option(help='Numbers "0,0.1,...", in rad and m, quaternions w, x, y, z; or neutral, home, random.')
    ] = "home",
    v: Annotated[str, typer.Option(help='Numbers "0,0.1,...", in rad/s and m/s; or zero, random.')] = "zero",
    a: Annotated[str, typer.Option(help='Numbers "0,0.1,...", in rad/s² and m/s²; or zero, random.')] = "zero",
    degrees: Annotated[bool, typer.Option("--degrees", help="Read numbers that turn as degrees; results have rad.")] = (
        False
    ),
    representation: Annotated[
        _options.Representation,
        typer.Option(help="Of velocity and Jacobian: along the world, along the frame, or at the world."),
    ] = _options.Representation.mixed,
    floating: _options.Floating = False,
    mimic: _options.MimicOption = _options.Mimic.coupled,
    strict: _options.Strict = False,
    roots: _options.Roots = None,
    trust_paths: _options.TrustPaths = False,
    seed: _options.Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all digits.")] = False,
) -> None:
    """Compute pose, Jacobian, mass matrix, bias, gravity and torque at one state.

    The numbers of q, v and a are those of the joints in the order that `multibody info` shows. Twists have the linear
    part first.
    """
    robot = _options.read(file, floating, mimic, strict=strict, roots=roots, trust_paths=trust_paths)
    rng = np.random.default_rng(seed)
    state = {"q": _options.configuration_of(robot, q, rng, degrees)}
    state |= {"v": _options.rates_of(robot, "v", v, rng, degrees), "a": _options.rates_of(robot, "a", a, rng, degrees)}
    results = _computed(robot, state, frame, representation.value)
    _warn_of_limits(robot, state["q"])
    if as_json:
        plain = _plain(robot, state, frame, representation.value, results)
        print("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(x)}" for name, x in plain.items()) + "\n}")
    else:
        _show(terminal(), robot, state, frame, representation.value, results)


def _computed(robot: "Robot", state: dict[str, Any], frame: str | None, representation: str) -> dict[str, Any]:
    """The quantities by plain NumPy: compiling takes longer than one evaluation."""
    from multibody.robot.request import Evaluation

    names = ["mass_matrix", "bias", "gravity", "inverse_dynamics", "kinetic_energy"]
    requests = [Evaluation.of(robot.model, name) for name in names + ["center_of_mass"] * bool(robot.mass)]
    if frame is not None:
        requests.append(Evaluation.of(robot.model, "pose", frame))
        for name in ("jacobian", "velocity", "acceleration"):
            requests.append(Evaluation.of(robot.model, name, frame, representation=representation))
    results = {}
    with working("computing") as say:
        for request in requests:
            say(f"computing {request.name.replace('_', ' ')}")
            results[request.name] = request.function(robot.tree)(*(state[name] for name in request.inputs))
    return results


def _warn_of_limits(robot: "Robot", q: Any) -> None:
    try:
        robot.check(q)
    except InputError as error:
        print_note(str(error))


def _plain(
    robot: "Robot", state: dict[str, Any], frame: str | None, representation: str, results: dict[str, Any]
) -> dict[str, Any]:
    plain: dict[str, Any] = {"robot": robot.name, "nq": robot.nq, "nv": robot.nv}
    plain |= {name: np.asarray(x).tolist() for name, x in state.items()}
    if frame is not None:
        rotation, position = results["pose"]
        plain |= {"frame": frame, "representation": representation}
        plain["pose"] = {
            "position": position.tolist(),
            "quaternion": mb.Rotation.from_matrix(rotation).quaternion.tolist(),
            "rotation": rotation.tolist(),
        }
    plain |= {name: np.asarray(x).tolist() for name, x in results.items() if name != "pose"}
    return plain


def _show(
    console: Console, robot: "Robot", state: dict[str, Any], frame: str | None, representation: str, results: Any
) -> None:
    names = velocity_names(robot)
    console.print(Text.assemble((robot.name, "bold"), f" at q = {vector(state['q'])}\n"))
    made = Table.grid(padding=(0, 2))
    if robot.mass:
        made.add_row("centre of mass", f"{vector(results['center_of_mass'])} m")
    made.add_row("kinetic energy", f"{number(results['kinetic_energy'])} J")
    if frame is not None:
        rotation, position = results["pose"]
        R = mb.Rotation.from_matrix(rotation)
        made.add_row()
        made.add_row("frame", f"{frame}, {representation}")
        made.add_row("position", f"{vector(position)} m")
        made.add_row("quaternion w, x, y, z", vector(R.quaternion))
        made.add_row("Euler angles z, y, x", f"{vector(R.euler('zyx'))} rad")
        made.add_row("velocity", vector(results["velocity"]))
        made.add_row("acceleration", vector(results["acceleration"]))
    show(console, made)
    if not robot.nv:
        return
    if frame is not None:
        matrix(console, "Jacobian, transposed", results["jacobian"].T, names, TWIST)
    forces = [state["v"], state["a"], *(results[name] for name in ("gravity", "bias", "inverse_dynamics"))]
    matrix(console, "Forces", np.stack(forces, axis=-1), names, ("v", "a", "gravity g", "bias h", "τ = M a + h"))
    matrix(console, "Mass matrix M", results["mass_matrix"], names, [str(k) for k in range(robot.nv)], digits=3)
