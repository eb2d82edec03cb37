"""`help` of every public name: signatures as in the source, in lines that a terminal of 100 columns shows."""

import inspect
import pydoc
import re
import sys
from pathlib import Path
from typing import Any

import multibody as mb
from multibody._signatures import WIDTH

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from public_names import public_things

COLUMNS = 100
CLASS_LINE = re.compile(r"[ |]*(class )?[\w.]+\([\w., ]+\)")
"""A class with its bases, in the list of a module or above its members: pydoc writes it of the names of files."""


THINGS = [("multibody", mb), *public_things()]
CALLABLES = [(path, value) for path, value in THINGS if not inspect.ismodule(value)]


def lines_of_help(value: Any) -> list[str]:
    """The lines that `help` prints, but for the title and class lines, which are as long as the names of files."""
    lines = pydoc.plain(pydoc.render_doc(value, "Help on %s:")).splitlines()[1:]
    return [line for line in lines if not CLASS_LINE.fullmatch(line) and line.strip(" |") not in int.__index__.__doc__]


def test_signatures_are_those_of_the_source():
    assert len(CALLABLES) > 800
    for path, value in CALLABLES:
        try:
            signature = str(inspect.signature(value))
        except (ValueError, TypeError):  # as of an exception without a constructor, or a method of a named tuple
            continue
        for unreadable in ("numpy._typing", "numpy.ndarray", "_SupportsArray", "'ArrayLike", "'NDArray", "Unpack["):
            assert unreadable not in signature, path
        assert max(map(len, signature.splitlines())) <= WIDTH, path


def test_help_fits_a_terminal_and_shows_no_unions_of_numpy():
    assert len(THINGS) - len(CALLABLES) > 20
    for path, value in THINGS:
        for line in lines_of_help(value):
            assert len(line) <= COLUMNS, f"{path}: wrap the docstring, 88 columns in a method, 92 elsewhere: {line}"
            assert "numpy._typing" not in line, path


def test_generated_constructors_show_the_annotations_of_their_fields():
    assert str(inspect.signature(mb.simulate.Gradients)) == (
        "(\n    value: NDArray[Any], q: NDArray[Any], v: NDArray[Any], inputs: Any,\n"
        "    parameters: dict[str, NDArray[Any]],\n)"
    )
    assert "q: NDArray[Any], position_error: NDArray[Any]" in str(inspect.signature(mb.control.History))


def test_every_option_is_described():
    """A `*args` or `**options` that stays in a signature has an entry; those that go to another function are listed."""
    for path, value in CALLABLES:
        try:
            parameters = inspect.signature(value).parameters.values()
        except (ValueError, TypeError):
            continue
        for each in parameters:
            stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind)
            exceptions = inspect.isclass(value) and issubclass(value, Exception)
            if stars and not exceptions and not hasattr(value, "_fields"):
                assert f" {stars}{each.name}:" in (inspect.getdoc(value) or ""), path
    for function, options in (
        (mb.load, ["floating", "velocity", "mimic", "strict", "gravity", "format"]),
        (mb.Robot.rename, ["frames", "joints", "name"]),
        (mb.Robot.change, ["inertias", "placements", "limits", "passive", "**fields"]),
        (mb.Robot.inverse_kinematics, ["seeds", "follow", "posture", "position_tolerance"]),
        (mb.sweep.open, ["chunk", "seed", "nan_fails", "fork"]),
        (mb.derive.Equations.equilibria, ["box", "starts", "seed"]),
    ):
        text = "\n".join(lines_of_help(function))
        for option in options:
            assert f"        {option}: " in text, f"{function.__name__}: {option}"
            assert option.lstrip("*") in inspect.signature(function).parameters


def test_help_of_a_kernel_has_its_arguments():
    kernel = mb.load("planar-arm").kernel("inverse_dynamics")
    for text in ("q: (..., 3).", "a: (..., 3).", "out: an array", "threads: ", "Returns:\n    (..., 3)."):
        assert text in inspect.getdoc(kernel)
    spring = mb.compile(lambda x, k=None: x if k is None else k * x, 3, optional={"k": ()})
    assert "    k: of shape (), optional." in inspect.getdoc(spring)
    for call in (kernel.__call__, kernel.call, mb.Kernel.__call__):
        text = "\n".join(lines_of_help(call))
        assert "*args" in text
        assert "out: an array" in text
        assert "threads: the number of threads" in text
