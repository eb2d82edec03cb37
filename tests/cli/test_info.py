"""`multibody info`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import multibody as mb
from multibody.cli.info import _rows
from multibody.model.joint import Limits
from multibody.model.joints import Universal

from .running import run, widest

URDF = """<robot name="gripper">
  <link name="palm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><mass value="0.25"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="0.5"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="open" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
    <limit lower="-0.125" upper="0.375" velocity="7" effort="11"/></joint>
  <joint name="also" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="1" velocity="1" effort="1"/>
    <mimic joint="open" multiplier="2.5" offset="0.5"/></joint>
  <wheels number="[4]"/>
</robot>
"""


def saved(text: str, path: Path) -> str:
    path.write_text(text)
    return str(path)


@pytest.fixture
def gripper(tmp_path: Path) -> str:
    return saved(URDF, tmp_path / "gripper.urdf")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", mb.robots.names())
def test_embedded_robots_fit_the_terminal(name: str, columns: int) -> None:
    done = run("info", name, columns=columns)
    assert (done.code, done.err) == (0, "")
    assert widest(done.out) <= columns
    robot = mb.load(name)
    assert f"nq = {robot.nq}, nv = {robot.nv}" in done.out
    for body in robot.bodies:
        assert body.name in done.out
        assert f"{body.inertia.mass:.4g} kg" in done.out


def test_limits_are_those_of_the_model(gripper: str) -> None:
    done = run("info", gripper)
    assert re.search(r"^open +0 +0 +-0\.125 +0\.375 +7 +11$", done.out, re.MULTILINE)
    assert "also = 2.5 q0 + 0.5" in done.out
    assert "0.75 kg" in done.out  # the palm stands still


def test_coordinates_of_a_joint_with_different_limits_have_a_row_each() -> None:
    limits = Limits(lower=(-1.0, -2.0), upper=(0.25, 0.5), velocity=3.0, effort=(4.0, 5.0))
    builder = mb.Builder("pole").body("base").body("pole")
    builder.joint("hips", Universal("x", "y"), parent="base", child="pole", limits=limits)
    rows = [" ".join(row) for row in _rows(builder.model().joints[0])]
    assert rows == ["hips 0 0 -1 0.25 3 4", " 1 1 -2 0.5 3 5"]


def test_diagnostics_name_file_line_and_code(gripper: str) -> None:
    done = run("info", gripper)
    assert "1 warning" in done.out
    assert f"1 warning in {gripper}" in done.out
    assert re.search(r"^1 × ignored <wheels>[^(]*\(line 13\)", done.out, re.MULTILINE)
    assert re.search(r"^13 ignored <wheels>", run("info", gripper, "--notes").out, re.MULTILINE)


def test_strict_makes_an_error_of_the_warning(gripper: str) -> None:
    done = run("info", gripper, "--strict")
    assert done.code == 1
    assert done.err.startswith(f"error: {gripper}:13 <wheels>")
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1


def test_floating_and_mimic_change_the_coordinates(gripper: str) -> None:
    assert "nq = 1, nv = 1" in run("info", gripper).out
    assert "nq = 2, nv = 2" in run("info", gripper, "--mimic", "independent").out
    floating = run("info", gripper, "--floating")
    assert "nq = 8, nv = 7, 1.75 kg" in floating.out
    assert re.search(r"^base velocity +kindr", floating.out, re.MULTILINE)


def test_names_are_shown_as_they_are(gripper: str) -> None:
    text = Path(gripper).read_text().replace('"open"', '"[red]a[/red] :smile:"')
    done = run("info", text, columns=200)
    assert (
        done.out.count("[red]a[/red] :smile:") == 4
    )  # twice in the tree, in the limits, and in the note about the mimic


def test_fewer_rows_on_request(gripper: str) -> None:
    done = run("info", gripper, "--mimic", "independent", "--rows", "1")
    assert "⋮ 1 more" in done.out
    assert re.search(r"^open ", done.out, re.MULTILINE)
    assert not re.search(r"^also ", done.out, re.MULTILINE)


def test_names_that_are_too_long_for_columns_take_two_rows() -> None:
    done = run("info", "humanoid", columns=50)
    tree = done.out[: done.out.index("\nmass")]
    assert widest(tree) <= 60
    assert "by left-knee, revolute y, 3.161 kg" in tree


@pytest.mark.parametrize("columns", [80, 120])
def test_without_a_file_the_embedded_robots_are_listed(columns: int) -> None:
    done = run("info", columns=columns)
    assert (done.code, done.err) == (0, "")
    assert widest(done.out) <= columns
    listed = [line.split()[0] for line in done.out.splitlines()[3:] if line.strip() and not line.startswith(" ")]
    assert listed[:-1] == list(mb.robots.names())  # the last line says how to go on


@pytest.mark.parametrize("name", ["pandaa", "no-such-file.urdf"])
def test_a_file_that_does_not_exist_is_one_message(name: str) -> None:
    done = run("info", name)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {name!r} is neither a file nor an embedded robot")
    assert done.err.count("\n") == 1


def test_letters_that_cannot_be_written_are_no_error() -> None:
    code = "from multibody.cli import main; main()"
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [sys.executable, "-c", code, "info", "planar-arm"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "m/s?" in done.stdout


@pytest.mark.slow
def test_a_chain_of_5000_links(tmp_path: Path) -> None:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{k}">{inertial}</link>' for k in range(5001))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
        for k in range(5000)
    )
    path = tmp_path / "chain.urdf"
    path.write_text(f'<robot name="chain">{links}{joints}</robot>')
    done = run("info", str(path))
    assert done.code == 0, done.err
    assert "chain: 5000 bodies" in done.out
    assert re.search(r"^j399 +399 +399", done.out, re.MULTILINE)
    assert "⋮ 4600 more" in done.out


NOISY = """<robot name="noisy">
  <link name="base"/>
  <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
    <dynamics damping="0.25" friction="0.75" frction="7"/></joint>
  GAZEBO
  <wheels/>
</robot>
""".replace("GAZEBO", "\n  ".join('<gazebo reference="arm"/>' for _ in range(40)))


@pytest.fixture
def noisy(tmp_path: Path) -> str:
    return saved(NOISY, tmp_path / "noisy.urdf")


def test_warnings_come_first_and_notes_by_kind_last(noisy: str) -> None:
    done = run("info", noisy, columns=100)
    assert done.out.startswith(f"2 warnings in {noisy}\n")
    parts = [done.out.index(part) for part in ("attribute frction='7'", "noisy: 1 body", "<gazebo> is ignored")]
    assert parts == sorted(parts)
    assert re.search(r"^40 × ignored +<gazebo> is ignored: .* \(lines 8, 9, …\)", done.out, re.MULTILINE)
    assert done.out.count("<gazebo>") == 1
    assert done.out.rstrip().endswith("; --notes shows each of them")


def test_every_note_on_request(noisy: str) -> None:
    done = run("info", noisy, "--notes", columns=100)
    assert done.out.count("<gazebo> is ignored") == 40
    assert re.search(r"^48 ignored <wheels>", done.out, re.MULTILINE)
    assert "--notes" not in done.out


def test_damping_and_friction_are_shown(noisy: str) -> None:
    done = run("info", noisy, columns=100)
    assert re.search(r"^joint .* damping +friction$", done.out, re.MULTILINE)
    assert re.search(r"^hinge .* 0\.25 +0\.75$", done.out, re.MULTILINE)
    assert "no damping or friction" in " ".join(run("info", "planar-arm").out.split())


def test_other_commands_count_the_warnings(noisy: str) -> None:
    assert run("eval", noisy).err == "note: 2 warnings: see multibody info\n"
    assert run("info", noisy).err == ""


MESH = """<robot name="cup"><link name="cup"><collision><geometry>
  <mesh filename="FILE"/></geometry></collision></link></robot>"""


def test_errors_advise_options_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "robots" / "cup").mkdir(parents=True)
    mesh = tmp_path / "cup.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n")
    path = tmp_path / "robots" / "cup" / "cup.urdf"
    path.write_text(MESH.replace("FILE", str(mesh)))
    refused = run("info", str(path), "--notes", columns=300)
    assert "--root DIRECTORY, or pass --trust-paths" in refused.out + refused.err
    for option in (["--trust-paths"], ["--root", str(tmp_path)]):
        done = run("info", str(path), *option)
        assert (done.code, done.err) == (0, "")
        assert "--trust-paths" not in done.out
