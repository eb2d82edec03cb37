"""`multibody derive`."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.cli.derive import _values
from multibody.derive.printing.unicode_text import width
from multibody.errors import InputError, install_command

from .running import run

URDF = """<robot name="swing">
  <link name="frame"/>
  <link name="seat"><inertial><origin xyz="0 0 -0.75"/><mass value="2.5"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="frame"/><child link="seat"/><axis xyz="0 -1 0"/>
    <dynamics damping="0.25"/></joint>
</robot>
"""


def widest(text: str) -> int:
    return max(width(line.rstrip()) for line in text.splitlines())


@pytest.fixture
def swing(tmp_path: Path) -> str:
    path = tmp_path / "swing.urdf"
    path.write_text(URDF)
    return str(path)


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("show", ["equations", "steps"])
def test_it_prints_text_that_fits(show: str, columns: int) -> None:
    done = run("derive", "cart-pendulum", "--method", "lagrange", "--show", show, columns=columns)
    assert (done.code, done.err) == (0, "")
    assert widest(done.out) <= columns
    assert "Lagrange, second kind" in done.out
    assert "[RD 3.28-3.34]" in done.out if show == "steps" else "[RD" not in done.out


def test_a_file_with_symbols(swing: str) -> None:
    done = run("derive", swing, "--symbols", "masses,centers,gravity")
    assert done.code == 0, done.err
    assert "(c_z² m + 0.01) q̈ + c_z g m sin(q) = τ" in done.out
    assert "1.41625 q̈ + 18.39375 sin(q) = τ" in run("derive", swing).out


def test_a_file_with_dampers(swing: str) -> None:
    assert "1.41625 q̈ + 18.39375 sin(q) = τ₁ - q̇/4" in run("derive", swing, "--passive").out


def test_a_linear_model_at_a_place(swing: str) -> None:
    done = run("derive", swing, "--symbols", "masses,centers,gravity", "--show", "linear", "--at", "q=pi")
    assert done.code == 0, done.err
    assert "At q = π" in done.out
    everywhere = run("derive", swing, "--show", "linear").out
    assert "At q = 0" in everywhere
    assert "-12.98" in everywhere  # 18.39375 / 1.41625


@pytest.mark.slow
def test_no_number_of_a_linear_model_is_too_long_to_read() -> None:
    done = run("derive", "planar-arm", "--symbols", "masses", "--show", "linear", "--at", "q_1=pi")
    assert done.code == 0, done.err
    assert not re.search(r"\d{10}", done.out)


def test_values_by_name() -> None:
    half = sp.Rational(1, 2)
    assert _values("a=pi, b=-pi/2, c=0.5, d=2pi", "--at") == {"a": sp.pi, "b": -half * sp.pi, "c": half, "d": 2 * sp.pi}
    assert _values("a=1e-3, b=2.5E2", "--at") == {"a": sp.Rational(1, 1000), "b": 250}
    assert _values(" ", "--at") == {}
    with pytest.raises(InputError, match=r"--at: expected a number or a multiple of pi for a, got '1/0'"):
        _values("a=1/0", "--at")
    with pytest.raises(InputError, match=r"a number or a multiple of pi for a, got '__import__'"):
        _values("a=__import__", "--at")
    with pytest.raises(InputError, match=r"--parameters: expected .name=value"):
        _values("pi", "--parameters")
    with pytest.raises(InputError, match="--at: expected one value of a, got two"):
        _values("a=1, a=2", "--at")


def test_parameters_where_equilibria_need_numbers(tmp_path: Path) -> None:
    done = run("derive", "spherical-pendulum", "--show", "linear")
    assert (done.code, "give them as `parameters`" in done.err) == (1, True)
    done = run("derive", "spherical-pendulum", "--show", "linear", "--parameters", "m=2, l=0.5, g=10, I_x=0.1")
    assert done.code == 0, done.err
    assert "With I_x = 0.1, g = 10, l = 1/2, m = 2." in done.out
    path = tmp_path / "cart.c"
    done = run("derive", "cart-pendulum", "--c", str(path), "--parameters", "m=2, g=9.81")
    assert "  parameters = (I, M, l)" in done.out
    assert "9.81" in path.read_text()


def test_parameters_at_a_place() -> None:
    done = run("derive", "cart-pendulum", "--show", "linear", "--at", "phi=pi", "--parameters", "m=2, g=10, I=0")
    assert "At x = 0, φ = π\nWith I = 0, g = 10, m = 2." in done.out
    assert "10 (M + 2)/(M l)" in done.out


def test_long_work_is_told_beside_the_result() -> None:
    with mock.patch("multibody.derive.methods.expected_time.MAX_SILENT_SECONDS", 0.0):
        done = run("derive", "planar-arm", "--markdown")
    note = "note: planar-arm has 3 bodies and 3 velocities: 'projected-newton-euler' takes about 1 second of CPU time"
    assert done.err.startswith(f"{note}, 'recursive-newton-euler' about 1 second. Quicker: ")
    assert "Quicker: --method recursive-newton-euler with --c FILE" in done.err
    assert done.out.startswith("# planar-arm")
    assert run("derive", "planar-arm").err == ""


def test_formulas_that_nobody_reads_are_told_before_they_are_written(tmp_path: Path) -> None:
    with mock.patch("multibody.cli.derive.MAX_READABLE_OPERATIONS", 10):
        done = run("derive", "planar-arm", "--method", "recursive-newton-euler")
        assert "note: the formulas of planar-arm have" in done.err
        assert "multibody export, or robot.kernel in Python" in done.err
        code = str(tmp_path / "arm.c")
        assert run("derive", "planar-arm", "--method", "recursive-newton-euler", "--c", code).err == ""


def test_a_terminal_shows_what_is_going_on() -> None:
    done = run("derive", "planar-arm", live=True)
    assert "deriving planar-arm by projected-newton-euler" in done.err
    assert "writing formulas" in done.err


def test_latex_is_a_document() -> None:
    done = run("derive", "cart-pendulum", "--method", "lagrange", "--show", "steps", "--latex")
    assert done.out.startswith("\\documentclass")
    assert done.out.rstrip().endswith("\\end{document}")
    assert r"\ddot{" in done.out


def test_markdown() -> None:
    done = run("derive", "cart-pendulum", "--markdown")
    assert done.out.startswith("# cart-pendulum")
    assert "\n$$\n" in done.out


def test_html_is_saved_and_nothing_else_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    done = run("derive", "cart-pendulum", "--show", "steps", "--html", str(path))
    assert done.out.split() == ["Saved", f"{path}."]
    assert "<math" in path.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c_code_compiles(tmp_path: Path) -> None:
    path = tmp_path / "cart.c"
    done = run("derive", "cart-pendulum", "--c", str(path), "--quantity", "inverse_dynamics")
    assert re.search(r"^  parameters = \(.*, m\)$", done.out, re.MULTILINE)
    assert (tmp_path / "cart.h").exists()
    subprocess.run(["cc", "-c", "-Wall", "-Werror", str(path), "-o", str(tmp_path / "cart.o")], check=True)


@pytest.fixture
def derived_once() -> Iterator[None]:
    """Compare methods without timing each of them three times."""
    with mock.patch("multibody.derive.methods.method_table.RUNS", 1):
        yield


@pytest.mark.usefixtures("derived_once")
def test_methods_side_by_side() -> None:
    done = run("derive", "double-pendulum", "--symbols", "all", "--compare", "all")
    assert done.code == 0, done.err
    assert widest(done.out) <= 80
    fitting = derive.applicable(derive.from_robot(mb.load("double-pendulum")))
    for name in fitting:
        assert re.search(rf"^{name} +\d+ +\d+ +\d+\.\d\d +(0|\de-\d\d) +\de-\d\d$", done.out, re.MULTILINE), done.out
    assert f"All {len(fitting)} agree" in done.out
    assert "lagrange-multipliers is left out: there are no constraints" in done.out


@pytest.mark.usefixtures("derived_once")
def test_only_some_methods() -> None:
    done = run("derive", "cart-pendulum", "--compare", "lagrange,projected-newton-euler")
    assert "All 2 agree" in done.out
    done = run("derive", "cart-pendulum", "--compare", "lagrange")
    assert "One method, and no other to compare it with." in done.out


@pytest.mark.usefixtures("derived_once")
def test_a_method_that_disagrees_is_told() -> None:
    with mock.patch("multibody.derive.methods.method_table.from_algorithms", return_value=0.5):
        done = run("derive", "cart-pendulum", "--symbols", "all", "--compare", "lagrange")
    assert done.code == 1
    assert "These differ: lagrange." in done.out


def test_the_list_has_systems_and_methods() -> None:
    done = run("derive", "--list")
    assert widest(done.out) <= 80
    assert "cart-pendulum" in done.out
    for name in derive.METHODS:
        assert name in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["cart-pole"],
            "'cart-pole' is neither a system, nor an embedded robot, nor a file; did you mean 'cart-pendulum'",
        ),
        (["cart-pendulumm"], "nor a file; did you mean 'cart-pendulum' or "),
        (["cart-pendulum", "--method", "newton"], "no method 'newton': there are "),
        (["cart-pendulum", "--compare", "newton"], "no method 'newton': there are "),
        (["cart-pendulum", "--method", "lagrange-multipliers"], "does not fit: there are no constraints"),
        (["skate", "--symbols", "masses"], "--symbols is for robots: leave it out, skate has symbols and forces of"),
        (["skate", "--passive"], "--passive is for robots: leave it out, skate has symbols and forces of its own"),
        (["cart-pendulum", "--compare", ","], "--compare: expected all, or names of methods with commas, got ','"),
        (["cart-pendulum", "--compare", "all", "--show", "steps"], "--compare prints a table: leave out"),
        (["cart-pendulum", "--quantity", "bias"], "--quantity needs --c"),
        (["scara", "--symbols", "colours"], "symbols: expected 'all' or some of masses"),
        (["cart-pendulum", "--latex", "--markdown"], "expected one of --unicode, --latex and --markdown"),
        (["cart-pendulum", "--html", "no/such/folder/page.html"], "--html: expected a file in a directory"),
        (["cart-pendulum", "--html", "."], "--html: expected a file in a directory that is there, got '.'"),
        (["cart-pendulum", "--c", "."], "--c: expected a file in a directory that is there, got '.'"),
        (["cart-pendulum", "--c", "cart.h"], "--c: expected a file for the code, its header gets the ending .h"),
        (["cart-pendulum", "--at", "phi=pi"], "--at needs --show linear"),
        (["cart-pendulum", "--parameters", "m=1"], "--parameters needs --show linear or --c"),
        (["cart-pendulum", "--show", "linear", "--parameters", "F=1"], "parameters: cart-pendulum has no symbol 'F'"),
        (["cart-pendulum", "--compare", "all", "--latex"], "--compare prints a table: leave out --latex"),
        (["cart-pendulum", "--compare", "lagrange-multipliers"], "cart-pendulum: none of these methods fits"),
        (["cart-pendulum", "--c", "cart.c", "--quantity", "torque"], "no kernel of 'torque'"),
    ],
)
def test_errors_are_one_message(arguments: list[str], said: str) -> None:
    done = run("derive", *arguments)
    assert done.code == 1
    assert said in done.err
    assert done.err.count("\n") == 1


def test_without_sympy_the_extra_is_named() -> None:
    code = "import sys; sys.modules['sympy'] = None; from multibody.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "derive", "cart-pendulum"], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"sympy is not installed: run {install_command('symbolic')}" in done.stderr
    assert "Traceback" not in done.stderr


ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.013 0.0021 0.173" rpy="0.1 0.2 0.3"/><mass value="2.347"/>
    <inertia ixx="0.0123" iyy="0.0134" izz="0.00213" ixy="0.00011" ixz="-0.00021" iyz="0.00031"/></inertial></link>
  <link name="lower"><inertial><origin xyz="-0.007 0.0041 0.131"/><mass value="1.117"/>
    <inertia ixx="0.0073" iyy="0.0061" izz="0.00113" ixy="0.0001" ixz="-0.0002" iyz="0.0003"/></inertial></link>
  <link name="hand"><inertial><origin xyz="0.001 0.0041 0.031"/><mass value="0.417"/>
    <inertia ixx="0.0013" iyy="0.0011" izz="0.00093" ixy="0.0001" ixz="-0.0002" iyz="0.0003"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.35" rpy="0.3 0 1.1"/></joint>
  <joint name="wrist" type="continuous"><parent link="lower"/><child link="hand"/><axis xyz="0 0 1"/>
    <origin xyz="0 0.01 0.25" rpy="0 0 0.7"/></joint>
</robot>
"""
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


@pytest.mark.slow
def test_numbers_of_a_file_can_be_read_and_names_are_given_once(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    done = run("derive", str(path), columns=100)
    assert done.code == 0, done.err
    exponents = [int(power.translate(SUPERSCRIPTS)) for power in re.findall("10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", done.out)]
    assert exponents
    assert all(-9 <= exponent <= 9 for exponent in exponents)
    assert not re.search(r"[1-9]\d{9}", done.out)  # no number has ten digits
    assert "Long numbers are written with 6 digits" in done.out
    defined = re.findall(r"^  (a[₀-₉]+) = ", done.out, re.MULTILINE)
    assert len(defined) > 20
    assert len(set(defined)) == len(defined)


@pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")  # of moments that no body has
def test_the_equations_of_a_file_are_exact_under_their_short_numbers(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    robot = mb.load(str(path))
    equations = derive.equations(derive.from_robot(robot))
    q, v, a = np.random.default_rng(0).normal(size=(3, 3))
    tau = equations.kernel("inverse_dynamics")(q, v, a)
    np.testing.assert_allclose(tau, robot.inverse_dynamics(q, v, a), rtol=1e-7)
