"""`multibody export`."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import multibody as mb

from .running import run

COMPILER = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
CASES: dict[str, dict[str, Any]] = {
    "inverse dynamics": {"robot": "panda", "quantity": "inverse_dynamics"},
    "jacobian": {"robot": "scara", "quantity": "jacobian", "frame": "tool", "representation": "left"},
    "pose": {"robot": "quadrotor", "quantity": "pose", "frame": "rotor-left"},
    "forward dynamics": {"robot": "quadruped", "quantity": "forward_dynamics", "wrench": "foot-lf"},
    "masses": {"robot": "planar-arm", "quantity": "gravity", "parameter": "masses"},
    "singles": {"robot": "planar-arm", "quantity": "mass_matrix", "precision": "float32"},
}


def kernel_of(case: dict[str, Any]) -> Any:
    robot = mb.load(case["robot"], dtype=case.get("precision"))
    options = {"representation": case["representation"]} if "representation" in case else {}
    wrenches, parameters = [case["wrench"]] if "wrench" in case else [], case.get("parameter", ())
    return robot.kernel(case["quantity"], case.get("frame"), wrenches=wrenches, parameters=parameters, **options)


def sample(robot: mb.Robot, kernel: Any) -> list[Any]:
    rng = np.random.default_rng(3)
    draw = {"q": lambda _: robot.random(rng), "masses": lambda shape: rng.uniform(1, 2, shape)}
    return [
        draw.get(x.name, rng.standard_normal)(x.shape).astype(kernel.signature.dtype) for x in kernel.signature.inputs
    ]


def arguments(case: dict[str, Any]) -> list[str]:
    named = [(key, value) for key, value in case.items() if key != "robot"]
    return ["export", case["robot"], *(word for key, value in named for word in (f"--{key}", value))]


def as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
@pytest.mark.parametrize("name", CASES)
def test_c_computes_what_the_kernel_does(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    path = tmp_path / "code.c"
    done = run(*arguments(case), "--c", str(path), "--name", "compute")
    assert (done.code, done.err) == (0, "")
    assert re.search(rf"{case['quantity']} in\s\d+\soperations", done.out)
    library = tmp_path / "code.so"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([str(COMPILER), *strict, str(path), "-o", str(library), "-lm"], check=True)
    kernel = kernel_of(case)
    given = sample(mb.load(case["robot"]), kernel)
    results = [np.zeros(shape, kernel.signature.dtype) for shape in kernel.signature.outputs]
    ctypes.CDLL(str(library)).compute(*(ctypes.c_void_p(x.ctypes.data) for x in (*given, *results)))
    precision = 1e-4 if case.get("precision") else 1e-10
    for result, expected in zip(results, as_tuple(kernel(*given)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=precision, atol=precision)


def test_the_header_tells_inputs_and_outputs_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "dog.c"
    assert run(*arguments(CASES["forward dynamics"]), "--c", str(path)).code == 0
    header = path.with_suffix(".h").read_text()
    about = re.sub(r"\s*\n \*\s+", " ", header[: header.index("*/")])
    order = [about.index(word) for word in ("q[19]", "v[18]", "tau[18]", "wrench_foot-lf[6]", "Outputs", "y0[18]")]
    assert order == sorted(order)
    assert "floating_base z [m], floating_base qw, floating_base qx" in about
    assert "lf-abduction [rad]" in about
    assert 'the base as velocity="kindr" has it' in about
    assert "along the axes of the world" in about
    assert "void forward_dynamics(const double *q, const double *v, const double *tau," in header


def test_without_a_place_c_is_printed_and_nothing_else() -> None:
    done = run("export", "planar-arm", "--quantity", "jacobian", "--frame", "tool")
    assert done.out.startswith("/*\n * jacobian of the frame tool of the robot planar-arm")
    assert "rows vx vy vz wx wy wz, columns along v" in done.out
    assert done.out.rstrip().endswith("}")


@pytest.mark.parametrize("name", ["inverse dynamics", "pose", "masses"])
def test_numpy_computes_what_the_kernel_does(name: str, tmp_path: Path) -> None:
    case, path = CASES[name], tmp_path / "code.py"
    assert run(*arguments(case), "--numpy", str(path), "--name", "compute").code == 0
    names: dict[str, Any] = {}
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {case['quantity']} of")
    exec(compile(text, "code.py", "exec"), names)
    kernel = kernel_of(case)
    given = sample(mb.load(case["robot"]), kernel)
    for result, expected in zip(as_tuple(names["compute"](*given)), as_tuple(kernel(*given)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-10)


def test_sympy_has_the_same_expressions(tmp_path: Path) -> None:
    path = tmp_path / "formulas.py"
    assert run("export", "planar-arm", "--quantity", "mass_matrix", "--sympy", str(path)).code == 0
    names: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), "formulas.py", "exec"), names)
    robot, q = mb.load("planar-arm"), np.array([0.3, -0.7, 1.1])
    values = {sympy.Symbol(f"q_{k}", real=True): x for k, x in enumerate(q)}
    M = np.array(names["result"].subs(values).evalf(17).tolist(), float)
    np.testing.assert_allclose(M, robot.mass_matrix(q), rtol=1e-14)


def test_quantities_are_listed() -> None:
    done = run("export", "--list")
    assert "inverse_dynamics(q, v, a)" in done.out
    assert "jacobian(frame, q)" in done.out
    assert run("export").out == done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quantity", "torque"], "torque"),
        (["--quantity", "jacobian"], "needs a frame"),
        (["--quantity", "jacobian", "--frame", "toool"], "did you mean 'tool'"),
        (["--quantity", "impact"], "impact needs constraints"),
        (["--name", "for"], "expected an identifier"),
        (["--c", "x.h"], "its header gets the ending .h"),
        (["--numpy", "nowhere/x.py"], "--numpy: expected a file in a directory that is there"),
    ],
)
def test_errors_are_one_message(arguments: list[str], said: str) -> None:
    done = run("export", "planar-arm", *arguments)
    assert done.code == 1
    assert said in done.err
    assert done.err.count("\n") == 1
