"""Kernels of dicts and tuples: the numbers of the plain function, calls of every kind, and C code with their names."""

import ctypes
import pickle
import re
import subprocess

import numpy as np
import pytest

import multibody as mb
from multibody import InputError

from ..laws.tools import near
from .test_to_c import COMPILER, FLAGS, needs_compiler

SHAPES = {"q": 3, "gains": [(2, 3), ()]}


def law(state, x, bias=0.0):
    K, c = state["gains"]
    return {"force": K @ (state["q"] - x) + bias, "energy": c * np.sum(x * x), "pair": (x[:1], {"d": state["q"]})}


def states(rng, *batch):
    return {"q": rng.normal(size=(*batch, 3)), "gains": (rng.normal(size=(*batch, 2, 3)), rng.normal(size=batch))}


def flat(result):
    return [result["force"], result["energy"], result["pair"][0], result["pair"][1]["d"]]


@pytest.fixture(scope="module")
def kernel():
    return mb.compile(law, SHAPES, 3, optional={"bias": 2})


def test_numbers_are_those_of_the_function_in_every_way_to_call(kernel):
    rng = np.random.default_rng(0)
    state, x, bias = states(rng), rng.normal(size=3), rng.normal(size=2)
    ways = [
        kernel(state, x),
        kernel(x=x, state=state),
        kernel({"gains": list(state["gains"]), "q": state["q"].tolist()}, x),
        pickle.loads(pickle.dumps(kernel))(state, x),
    ]
    with mb.eager():
        ways.append(kernel(state, x))
    for way in ways:
        for ours, theirs in zip(flat(way), flat(law(state, x)), strict=True):
            near(ours, theirs, 1e-13)
    near(kernel(state, x, bias=bias)["force"], law(state, x, bias)["force"], 1e-13)


def test_batches_broadcast_over_all_parts(kernel):
    rng = np.random.default_rng(1)
    state, x = states(rng, 5), rng.normal(size=(4, 1, 3))
    state["gains"] = (state["gains"][0][0], state["gains"][1])
    result = kernel(state, x, threads=2)
    assert result["force"].shape == (4, 5, 2)
    one = {"q": state["q"][3], "gains": (state["gains"][0], state["gains"][1][3])}
    near(result["force"][2, 3], law(one, x[2, 0])["force"], 1e-13)
    out = {"force": np.zeros((4, 5, 2)), "energy": np.zeros((4, 5))}
    out["pair"] = (np.zeros((4, 5, 1)), {"d": np.zeros((4, 5, 3))})
    assert kernel(state, x, out=out) is out
    near(out["force"], result["force"], 0.0)


def test_within_another_kernel_and_its_derivative(kernel):
    rng = np.random.default_rng(2)
    state, x = states(rng), rng.normal(size=3)

    def energy(y):
        return kernel({**state, "q": 2.0 * y}, y)["energy"]

    near(mb.compile(energy, 3)(x), law(state, x)["energy"], 1e-13)
    near(mb.compile(mb.gradient(energy), 3)(x), 2 * state["gains"][1] * x, 1e-12)


def test_errors_name_the_part(kernel):
    x = np.zeros(3)
    for call, message in (
        (lambda: kernel(x, x), "state: expected a dict with keys q, gains, got ndarray"),
        (lambda: kernel({"q": x}, x), "state: expected a dict with keys q, gains, got keys q"),
        (lambda: kernel({"q": x, "gains": (x,)}, x), "state: expected a tuple of 2 arrays"),
        (
            lambda: kernel({"q": x[:2], "gains": (np.zeros((2, 3)), 0.0)}, x),
            "state.q: expected shape (..., 3), got (2,)",
        ),
        (lambda: kernel({"q": x, "gains": (x, 0.0)}, x), "state.gains.0: expected shape (..., 2, 3)"),
        (lambda: kernel({}), "missing: x (expected state, x)"),
        (lambda: mb.compile(law, {"q": "three"}, 3), "shape: expected a tuple of lengths"),
        (lambda: mb.compile(law, {1: 3}, 3), "expected dicts with string keys"),
        (lambda: mb.compile(law, SHAPES, 3, names=["state"]), "names: expected 2 different names"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            call()


def test_shapes_of_all_arguments_in_one_list():
    product = mb.compile(lambda x, y: x @ y, [7, 7])
    near(product(np.arange(7.0), np.ones(7)), 21.0, 0.0)
    near(mb.compile(lambda x, s: s * x, [(2, 2), ()])(np.eye(2), 3.0), 3 * np.eye(2), 0.0)
    near(mb.compile(lambda pair: pair[0] @ pair[1], [7, 7])((np.arange(7.0), np.ones(7))), 21.0, 0.0)

    @mb.compile({"x": 2}, ())
    def scaled(parts, s):
        return s * parts["x"]

    near(scaled({"x": [1.0, 2.0]}, 3.0), [3.0, 6.0], 0.0)
    with pytest.raises(
        InputError, match=r"\(7, 7\) is one array: 2 arguments are mb.compile\(f, 7, 7\) or .*\[7, 7\]\)"
    ):
        mb.compile(lambda x, y: x @ y, (7, 7))
    with pytest.raises(InputError, match=r"for a matrix$"):
        mb.compile(lambda x, y: x @ y, (7, 7, 7))


@needs_compiler
def test_c_code_keeps_the_names_and_sizes(kernel, tmp_path):
    """Compiled with warnings as errors, against its own header, and called with arrays of the sizes in it."""
    code = kernel.to_c(tmp_path / "law.c", name="control_law")
    sizes = {"STATE_Q": 3, "STATE_GAINS_0": 6, "STATE_GAINS_1": 1, "X": 3, "FORCE": 2, "ENERGY": 1}
    sizes |= {"PAIR_0": 1, "PAIR_1_D": 3}
    for name, size in sizes.items():
        assert f"#define CONTROL_LAW_{name}_SIZE {size}\n" in code.header
    declared = ", ".join(f"double {name.lower()}[CONTROL_LAW_{name}_SIZE]" for name in sizes)
    (tmp_path / "use.c").write_text(
        f'#include "law.h"\nvoid use({declared});\nvoid use({declared}) {{ control_law('
        + ", ".join(name.lower() for name in sizes)
        + "); }\n"
    )
    command = [COMPILER, *FLAGS, "law.c", "use.c", "-o", "law.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    state, x = states(np.random.default_rng(3)), np.array([0.3, -1.0, 2.0])
    inputs = [state["q"], state["gains"][0], np.array([state["gains"][1]]), x]
    outputs = [np.full(size, np.nan) for size in list(sizes.values())[4:]]
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (*map(np.ascontiguousarray, inputs), *outputs)]
    ctypes.CDLL(str(tmp_path / "law.so")).use(*arrays)
    for ours, theirs in zip(outputs, flat(law(state, x)), strict=True):
        near(ours, np.ravel(theirs), 1e-13)


def test_outputs_without_a_dict_are_numbered_and_names_stay_distinct():
    assert "double *y0, double *y1" in mb.compile(lambda x: (x, 2 * x), 2).to_c().header
    header = mb.compile(lambda x, X: {"x": x + X, "int": X, "a b": x}, 1, 1).to_c(name="f").header
    assert "const double *x, const double *X, double *x_, double *int_, double *a_b" in header
    assert len(set(re.findall(r"#define (\w+) 1", header))) == 5
    pose = mb.Pose.identity()
    assert (
        "double *tool_rotation, double *tool_position" in mb.compile(lambda x: {"tool": pose, "x": x}, 1).to_c().header
    )
    for bad in ("no good", "1st", "for", 3):
        with pytest.raises(InputError, match="name: expected an identifier"):
            mb.compile(lambda x: x, 1).to_c(name=bad)
