"""`multibody ik`: the joint values at which a frame has a wanted pose."""

import json
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table

import multibody as mb
from multibody.cli import _options
from multibody.cli._progress import working
from multibody.cli._tables import number, show, table, terminal, vector
from multibody.cli._viewing import keep_open

if TYPE_CHECKING:
    from multibody.control.inverse_kinematics import Answer
    from multibody.robot import Robot


def ik(
    file: _options.File,
    frame: Annotated[str, _options.frame_option("The frame that is to have the pose.")],
    xyz: Annotated[
        tuple[float, float, float] | None, typer.Option(help="The position in the world, in m: --xyz 0.5 0 0.4.")
    ] = None,
    rpy: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Roll, pitch, yaw about the fixed axes x, y, z, as in URDF, in rad."),
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="Read roll, pitch, yaw and --q0 as degrees.")] = False,
    q0: Annotated[
        str | None, typer.Option(help='The first guess: numbers "0,0.1,...", neutral, home; by default the middle.')
    ] = None,
    limits: Annotated[bool, typer.Option("--limits/--no-limits", help="Keep joints within their limits.")] = True,
    floating: _options.Floating = False,
    mimic: _options.MimicOption = _options.Mimic.coupled,
    strict: _options.Strict = False,
    roots: _options.Roots = None,
    trust_paths: _options.TrustPaths = False,
    seed: _options.Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all digits.")] = False,
    view: Annotated[
        bool, typer.Option("--view", help="Show the answer in the browser, with a target to drag.")
    ] = False,
) -> None:
    """Find joint values at which a frame has a position, a rotation, or both.

    The exit status is 1 when the pose is out of reach; what is printed then is the nearest that was found.
    """
    if xyz is None and rpy is None:
        raise typer.BadParameter("expected --xyz, --rpy or both")
    robot = _options.read(file, floating, mimic, strict=strict, roots=roots, trust_paths=trust_paths)
    turns = np.zeros(3) if rpy is None else np.radians(rpy) if degrees else np.array(rpy)
    target = mb.Pose(mb.Rotation.from_euler("zyx", turns[::-1]), np.zeros(3) if xyz is None else np.array(xyz))
    axes = ("" if xyz is None else "xyz") + ("" if rpy is None else "rpy")
    guess = None if q0 is None else _options.configuration_of(robot, q0, np.random.default_rng(seed), degrees)
    with working("solving"):
        answer = robot.inverse_kinematics(frame, target, guess, seed=seed, axes=axes, limits=limits)
    if as_json:
        print(json.dumps(_plain(robot, frame, answer), indent=1))
    else:
        _show(robot, frame, answer)
    if view:
        from multibody.view import show as show_robot

        viewer = show_robot(robot, answer.q)
        viewer.target(frame)
        keep_open(viewer)
    raise typer.Exit(0 if answer.success else 1)


def _plain(robot: "Robot", frame: str, answer: "Answer") -> dict[str, object]:
    return {
        "robot": robot.name,
        "frame": frame,
        "success": bool(answer.success),
        "q": answer.q.tolist(),
        "joints": {name: values.tolist() for name, values in robot.by_name(answer.q).items()},
        "position_error": float(answer.position_error),
        "rotation_error": float(answer.rotation_error),
        "rounds": int(answer.rounds),
    }


def _show(robot: "Robot", frame: str, answer: "Answer") -> None:
    console, pose = terminal(), robot.pose(frame, answer.q)
    made = table("joint", "q", "lower", "upper", numbers=3)
    for joint in robot.joints:
        if joint.mimic is None:
            for k in range(joint.q.start, joint.q.stop):
                limits = (robot.tree.lower[k], robot.tree.upper[k])
                made.add_row(joint.name, *(number(x, 6) for x in (answer.q[k], *limits)))
    said = "reached" if answer.success else "out of reach: the nearest pose that was found"
    show(console, made, f"{robot.name}: {frame} {said}", "rad and m; quaternions w, x, y, z")
    facts = Table.grid(padding=(0, 2))
    facts.add_row("position", f"{vector(pose.position)} m, off by {number(float(answer.position_error))} m")
    facts.add_row("rotation", f"roll, pitch, yaw {vector(pose.rotation.euler('zyx')[::-1])} rad, "
                              f"off by {number(float(answer.rotation_error))} rad")  # fmt: skip
    facts.add_row("rounds", number(float(answer.rounds)))
    show(console, facts)
