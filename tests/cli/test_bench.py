"""`multibody bench`."""

from pathlib import Path

import pytest

from multibody.cli import _timing

from .running import run, widest

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
QUICK = ("--budget", "0.001", "--batch", "8")


@pytest.mark.parametrize("columns", [80, 120])
def test_our_times_are_a_table_bars_and_a_picture(columns: int, tmp_path: Path) -> None:
    picture = tmp_path / "times.png"
    done = run("bench", "planar-arm", *QUICK, "--plot", str(picture), columns=columns)
    assert done.code == 0, done.err
    above, below = done.out.split("Saved")
    assert widest(above) <= columns
    assert "benchmarks/any_robot.py" in below  # where peers stand beside them
    table, bars = above.split("bars by powers of ten")
    rows = {line[:16].strip(): line[16:].split() for line in table.splitlines()}
    for name in ("pose", "Jacobian", "inverse dynamics", "its derivatives", "forward dynamics", "mass matrix"):
        once, batch = map(float, rows[name])
        assert once > batch > 0
    lengths = {line.split("█")[0].strip(): line.count("█") for line in bars.splitlines() if "█" in line}
    assert lengths["inverse dynamics  ours, once"] > lengths["ours, batch"] > 0
    assert bars.count("█ ") + sum(bars.count(f"{x} ") for x in "▏▎▍▌▋▊▉") == 6 * 2
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_links_without_mass_leave_forward_dynamics_out() -> None:
    weightless = '<robot name="rod"><link name="base"/><link name="rod"/><link name="tip"/>'
    weightless += '<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint>'
    weightless += '<joint name="end" type="continuous"><parent link="rod"/><child link="tip"/></joint></robot>'
    heavy = weightless.replace('<link name="rod"/>', f'<link name="rod">{INERTIAL}</link>')
    done = run("bench", heavy, *QUICK, columns=120)
    assert done.code == 0, done.err
    assert "Forward dynamics is left out: rod: the joint 'end' carries no inertia" in " ".join(done.out.split())
    assert "First use of all 5" in " ".join(done.out.split())
    assert "forward dynamics " not in done.out


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
    clock = [0.0]
    seconds = {"short": 2e-6, "long": 2e-4}

    def work(name: str) -> None:
        calls.append(name)
        clock[0] += seconds[name]

    times = _timing.in_turns({name: lambda n=name: work(n) for name in seconds}, 0.02, timer=lambda: clock[0])
    assert times == pytest.approx(seconds)
    assert calls.count("long") == pytest.approx(0.02 / 2e-4, rel=0.25)
    assert calls.count("short") == pytest.approx(0.02 / 2e-6, rel=0.05)
    assert calls.index("long", calls.index("long") + 2) < len(calls) - calls[::-1].index("short")  # in turns
