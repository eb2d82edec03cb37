"""`benchmarks/any_robot.py`, and the peers that are built from our models."""

import io
from pathlib import Path
from typing import Any

import any_robot
import numpy as np
import peers
import pytest
import typer
from rich.console import Console

import multibody as mb
from multibody.errors import InputError

from ..cli.running import Done, widest
from ..cli.running import run as run_command
from ..model.mjcf_texts import GENERATED, JOINTS

pytestmark = pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")  # of a ball joint with a limit

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
QUICK = ("--budget", "0.001", "--batch", "8")


def run(*arguments: str, columns: int = 80, live: bool = False) -> Done:
    return run_command(*arguments, columns=columns, live=live, command=lambda: typer.run(any_robot.main))


def results(robot: mb.Robot, frame: str, q: Any, v: Any, a: Any) -> dict[str, Any]:
    """In plain NumPy: what `disagreement` compares."""
    with mb.eager():
        return {
            "pose": robot.pose(frame, q).matrix,
            "jacobian": robot.jacobian(frame, q),
            "inverse_dynamics": robot.inverse_dynamics(q, v, a),
            "inverse_dynamics_derivatives": robot.inverse_dynamics_derivatives(q, v, a),
            "forward_dynamics": robot.forward_dynamics(q, v, a),
            "mass_matrix": robot.mass_matrix(q),
        }


def changed(result: Any, part: int) -> Any:
    """One of the arrays of a result, or its only one, a little off."""
    if isinstance(result, tuple):
        return tuple(changed(x, 0) if k == part else x for k, x in enumerate(result))
    return result + 1e-6 * (np.abs(result).max() or 1.0)


def words(text: str) -> str:
    """Without the ends of lines."""
    return " ".join(text.split())


def state(robot: mb.Robot) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(2)
    return robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)


def built(kind: type[peers.Peer], robot: mb.Robot, frame: str) -> tuple[peers.Peer, dict[str, Any]]:
    """The peer at some state, and our results there."""
    if not kind.installed():
        pytest.skip(f"{kind.name} is not installed")
    at = state(robot)
    ours = results(robot, frame, *at)
    return kind(robot.model, frame, at, list(ours)), ours


@pytest.mark.parametrize("kind", peers.PEERS, ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    ("name", "frame"),
    [("panda", "tool"), ("puma-560", "wrist"), ("scara", "tool"), ("quadruped", "foot-rh"), ("free-body-so3", "body")],
)
def test_peers_are_the_same_robot(name: str, frame: str, kind: type[peers.Peer]) -> None:
    if (name, kind) == ("free-body-so3", peers.Drake):
        pytest.skip("no joint of Drake has quaternions for a rotation alone")
    robot = mb.load(name)
    frame = frame if frame in robot.frames else robot.frames[-1]
    peer, ours = built(kind, robot, frame)
    assert len(peer.calls) >= 5
    assert peer.disagreement(ours) < 1e-10
    for quantity in peer.calls:
        for part in range(3 if isinstance(ours[quantity], tuple) else 1):
            wrong = ours | {quantity: changed(ours[quantity], part)}
            assert peer.disagreement(wrong) > 1e-8, quantity


@pytest.mark.parametrize("velocity", ["kindr", "left", "right", "mixed"])
def test_derivatives_are_compared_in_every_representation_of_the_base(velocity: str) -> None:
    robot = mb.load(JOINTS, velocity=velocity)
    peer, ours = built(peers.Pinocchio, robot, "sole")
    name = "inverse_dynamics_derivatives"
    assert peer.disagreement({name: ours[name]}) < 1e-10
    same = np.allclose(ours[name][0], peer.calls[name]()[0], atol=1e-3)
    assert same == (velocity == "left")  # in Pinocchio's own they need no conversion


@pytest.mark.parametrize("name", ["branching-figure", "free-body-se2", "free-body-r3"])
def test_pinocchio_has_more_kinds_of_joints(name: str) -> None:
    robot = mb.load(name)
    peer, ours = built(peers.Pinocchio, robot, robot.frames[-1])
    assert peer.disagreement(ours) < 1e-11


def test_derivatives_that_are_not_those_of_the_forces_are_left_out() -> None:
    """Pinocchio's for a universal joint: finite differences of its own `rnea` are others."""
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelUniversal(np.eye(3)[0], np.eye(3)[1]), pin.SE3.Identity(), "hips")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.full(3, 0.2), np.eye(3)), pin.SE3.Identity())
    data, h = model.createData(), 1e-6
    q, v, a = np.random.default_rng(0).standard_normal((3, 2))
    ends = [np.stack([pin.rnea(model, data, q, v + x, a) for x in step * np.eye(2)], axis=-1) for step in (h, -h)]
    d_dv = pin.computeRNEADerivatives(model, data, q, v, a)[1]
    assert np.abs(d_dv - (ends[0] - ends[1]) / (2 * h)).max() > 1e-2
    done = run("branching-figure", *QUICK)
    assert done.code == 0, done.err
    assert "Pinocchio: Its derivatives are left out: with a universal joint" in words(done.out)


@pytest.mark.parametrize("text", [pytest.param(JOINTS, marks=pytest.mark.slow), GENERATED], ids=["joints", "generated"])
def test_mujoco_has_several_joints_on_a_body(text: str) -> None:
    """Our loader takes such bodies apart, and leaves links without mass between the joints."""
    robot = mb.load(text)
    assert any(not body.inertia.mass for body in robot.bodies)
    peer, ours = built(peers.Mujoco, robot, robot.frames[-1])
    assert peer.disagreement(ours) < 1e-11
    done = run(text, *QUICK)
    assert "Results of MuJoCo and ours agree" in done.out


def test_what_takes_long_to_compile_is_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers.Heyoka, "largest", 100)
    robot = mb.load("planar-arm")
    peer, ours = built(peers.Heyoka, robot, "tool")
    assert "pose" in peer.calls
    assert "inverse_dynamics_derivatives" not in peer.calls
    assert any(x.startswith("inverse_dynamics_derivatives is left out: its ") for x in peer.remarks)
    assert peer.disagreement(ours) < 1e-11


def test_a_frame_on_a_link_that_mujoco_does_not_have_is_told() -> None:
    robot = mb.load(JOINTS)
    empty = next(body.name for body in robot.bodies if not body.inertia.mass)
    with pytest.raises(InputError, match="on a link without mass"):
        built(peers.Mujoco, robot, empty)


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_has_peers_and_says_that_they_agree(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for peer in (peers.Drake, peers.Casadi, peers.Heyoka):
        monkeypatch.setattr(peer, "package", "a_package_that_nobody_has")
    picture = tmp_path / "times.png"
    done = run("planar-arm", *QUICK, "--plot", str(picture), columns=columns)
    assert done.code == 0, done.err
    assert widest(done.out.split("Saved")[0]) <= columns
    assert "Results of Pinocchio and ours agree" in done.out
    assert "Results of MuJoCo and ours agree" in done.out
    table, bars = done.out.split("bars by powers of ten")
    rows = {line[:16].strip(): line[16:].replace("×", "").split() for line in table.splitlines()}
    for name in ("pose", "Jacobian", "inverse dynamics", "its derivatives", "forward dynamics", "mass matrix"):
        once, batch, theirs, over_once, over_batch, *_ = map(float, rows[name])
        assert theirs / once == pytest.approx(over_once, rel=0.1, abs=0.1)
        assert theirs / batch == pytest.approx(over_batch, rel=0.1, abs=0.6)
    lengths = {line.split("█")[0].strip(): line.count("█") for line in bars.splitlines() if "█" in line}
    assert lengths["inverse dynamics  ours, once"] > lengths["ours, batch"] > 0
    assert bars.count("█ ") + sum(bars.count(f"{x} ") for x in "▏▎▍▌▋▊▉") == 6 * 3 + 5  # MuJoCo has no derivatives
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_peer_that_disagrees_is_told_and_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers.Mujoco, "disagreement", lambda *_: 1e-3)
    done = run("planar-arm", *QUICK)
    assert done.code == 1
    assert "Results of MuJoCo and ours DISAGREE" in done.out


def test_without_peers_our_times_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    for peer in peers.PEERS:
        monkeypatch.setattr(peer, "package", "a_package_that_nobody_has")
    done = run("planar-arm", *QUICK)
    assert done.code == 0, done.err
    said = (
        'Pinocchio is not installed, nor MuJoCo, Drake, CasADi, heyoka: pip install "multibody[bench]" has all peers.'
    )
    assert said in words(done.out)
    assert "over ours" not in done.out
    assert "inverse dynamics" in done.out


def test_a_peer_whose_installation_is_broken_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Any) -> Any:
        raise ImportError("no such library")

    monkeypatch.setattr(peers.Mujoco, "_built", broken)
    done = run("planar-arm", *QUICK, columns=120)
    assert done.code == 0, done.err
    assert "MuJoCo is left out: it is installed, but cannot be imported: no such library." in done.out
    assert "Results of Pinocchio and ours agree" in done.out


def test_peers_that_lack_a_joint_are_left_out_with_the_reason() -> None:
    done = run("free-body-schoenflies", *QUICK, columns=120, live=True)
    assert done.code == 0, done.err
    assert "building the robot of MuJoCo" in done.err
    assert "MuJoCo is left out: it has no schoenflies joint" in done.out


def test_links_without_mass_are_left_out_where_a_peer_does_not_take_them() -> None:
    weightless = '<robot name="rod"><link name="base"/><link name="rod"/><link name="tip"/>'
    weightless += '<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint>'
    weightless += '<joint name="end" type="continuous"><parent link="rod"/><child link="tip"/></joint></robot>'
    heavy = weightless.replace('<link name="rod"/>', f'<link name="rod">{INERTIAL}</link>')
    done = run(heavy, *QUICK, columns=120)
    assert done.code == 0, done.err
    assert "Forward dynamics is left out: rod: the joint 'end' carries no inertia" in words(done.out)
    assert "MuJoCo is left out: it does not take this robot" in words(done.out)
    assert "'link tip'" in words(done.out)
    assert "Results of Pinocchio and ours agree" in words(done.out)


PEERS = {"Pinocchio": False, "MuJoCo": False, "Drake": False, "CasADi": False, "heyoka": True}


@pytest.mark.parametrize(("columns", "count"), [(60, 5), (80, 3), (140, 1)])
def test_more_peers_than_columns_take_more_tables(columns: int, count: int) -> None:
    row = {"once": 1e-6, "batch": 1e-7} | dict.fromkeys(PEERS, 12e-6)
    out = io.StringIO()
    any_robot.tables(Console(file=out, width=columns), "times", {"forward_dynamics": row}, PEERS, "the end")
    assert widest(out.getvalue()) <= columns
    assert out.getvalue().count("12.00") == 5
    assert out.getvalue().count("12× 120×") == 4  # of one call over our two
    assert out.getvalue().count("120×") == 5  # of a batch over ours
    assert out.getvalue().count("times\n") == count
    assert out.getvalue().count("the end") == 1
