"""`multibody bench`, and the peers that it builds from our models."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import multibody as mb
from multibody.cli import _peers, _timing
from multibody.robot.requests import Request

from .running import run, widest

QUICK = ("--budget", "0.001", "--batch", "8")


def results(robot: mb.Robot, frame: str, q: Any, v: Any, a: Any) -> dict[str, Any]:
    """In plain NumPy: what `disagreement` compares."""

    def plain(name: str, *args: Any, on: str | None = None) -> Any:
        return Request.of(robot.model, name, on).function(robot.model)(*args)

    rotation, position = plain("pose", q, on=frame)
    return {
        "pose": mb.Pose(mb.Rotation.from_matrix(rotation), position).matrix,
        "jacobian": plain("jacobian", q, on=frame),
        "inverse_dynamics": plain("inverse_dynamics", q, v, a),
        "forward_dynamics": plain("forward_dynamics", q, v, a),
        "mass_matrix": plain("mass_matrix", q),
    }


def state(robot: mb.Robot) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(2)
    return robot.random(rng), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)


@pytest.mark.parametrize("peer", _peers.PEERS, ids=lambda peer: peer.name)
@pytest.mark.parametrize(
    ("name", "frame"),
    [("panda", "tool"), ("puma-560", "wrist"), ("scara", "tool"), ("quadruped", "foot-rh"), ("free-body-so3", "body")],
)
def test_peers_are_the_same_robot(name: str, frame: str, peer: type[_peers.Peer]) -> None:
    robot = mb.load(name)
    frame = frame if frame in robot.frames else robot.frames[-1]
    q, v, a = state(robot)
    built = peer(robot.model, frame, q, v, a)
    ours = results(robot, frame, q, v, a)
    assert built.disagreement(ours) < 1e-11
    for quantity in ours:
        wrong = ours | {quantity: ours[quantity] + 1e-6 * np.abs(ours[quantity]).max()}
        assert built.disagreement(wrong) > 1e-8, quantity


@pytest.mark.parametrize("name", ["branching-figure", "free-body-se2", "free-body-r3"])
def test_pinocchio_has_more_kinds_of_joints(name: str) -> None:
    robot = mb.load(name)
    q, v, a = state(robot)
    built = _peers.Pinocchio(robot.model, robot.frames[-1], q, v, a)
    assert built.disagreement(results(robot, robot.frames[-1], q, v, a)) < 1e-11


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_has_peers_and_says_that_they_agree(columns: int, tmp_path: Path) -> None:
    picture = tmp_path / "times.png"
    done = run("bench", "planar-arm", *QUICK, "--plot", str(picture), columns=columns)
    assert done.code == 0, done.err
    assert widest(done.out.split("Saved")[0]) <= columns
    assert "Results of Pinocchio and ours agree" in done.out
    assert "Results of MuJoCo and ours agree" in done.out
    rows = {line[:16].strip(): line[16:].replace("×", "").split() for line in done.out.splitlines()}
    for name in ("pose", "Jacobian", "inverse dynamics", "forward dynamics", "mass matrix"):
        once, batch, theirs, over_once, over_batch, *_ = map(float, rows[name])
        assert theirs / once == pytest.approx(over_once, rel=0.1, abs=0.1)
        assert theirs / batch == pytest.approx(over_batch, rel=0.1, abs=0.6)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_peer_that_disagrees_is_told_and_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_peers.Mujoco, "disagreement", lambda *_: 1e-3)
    done = run("bench", "planar-arm", *QUICK)
    assert done.code == 1
    assert "Results of MuJoCo and ours DISAGREE" in done.out


def test_without_peers_our_times_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    for peer in _peers.PEERS:
        monkeypatch.setattr(peer, "package", "a_package_that_nobody_has")
    done = run("bench", "planar-arm", *QUICK)
    assert done.code == 0, done.err
    assert "Pinocchio is not installed" in done.out
    assert "MuJoCo is not installed" in done.out
    assert "over ours" not in done.out
    assert "inverse dynamics" in done.out


def test_peers_that_lack_a_joint_are_left_out_with_the_reason() -> None:
    done = run("bench", "free-body-schoenflies", *QUICK, columns=120)
    assert done.code == 0, done.err
    assert "MuJoCo is left out: it has no schoenflies joint" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("panda", "--frame", "tol"), "did you mean 'tool'?"),
        (("panda", "--plot", "times.doc"), "ends in .png, .svg or .pdf"),
        (("panda", "--plot", "no-such-directory/times.png"), "directory that can be written to"),
        (('<robot name="rod"><link name="base"/></robot>',), "expected a robot that moves"),
    ],
)
def test_errors_come_before_the_work(arguments: tuple[str, ...], said: str) -> None:
    done = run("bench", *arguments)
    assert (done.code, done.out) == (1, "")
    assert said in done.err


def test_times_are_those_of_the_calls() -> None:
    calls: list[str] = []

    def work(name: str, size: int) -> None:
        calls.append(name)
        sum(range(size))

    sizes = {"short": 2_000, "long": 200_000}
    found = _timing.in_turns({name: lambda n=name, s=size: work(n, s) for name, size in sizes.items()}, budget=0.02)
    assert 20 < found["long"] / found["short"] < 500
    assert calls.count("short") > calls.count("long") >= 20
    assert calls.index("long", calls.index("long") + 2) < len(calls) - calls[::-1].index("short")  # in turns
