"""Numbers as text."""

import io

import numpy as np
import pytest
from rich.console import Console

import multibody as mb
from multibody.cli import _tables

from .running import widest


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.0, "0"), (1e-15, "0"), (1.25, "1.25"), (-np.pi / 1000, "-0.003142"), (-np.inf, "-∞"), (np.nan, "nan")],
)
def test_numbers(x: float, text: str) -> None:
    assert _tables.number(x) == text


def test_velocities_are_named_by_their_joints() -> None:
    names = _tables.velocity_names(mb.load("quadruped"))
    assert names[:7] == [f"floating_base {x}" for x in ("vx", "vy", "vz", "ωx", "ωy", "ωz")] + ["lf-abduction"]
    assert len(names) == 18


@pytest.mark.parametrize("width", [30, 47, 80, 200])
def test_every_entry_of_a_wide_matrix_is_printed_once_and_fits(width: int) -> None:
    values = np.arange(1000, 1060.0).reshape(3, 20)
    out = io.StringIO()
    console = Console(file=out, width=width)
    _tables.matrix(console, "M", values, ["a", "b", "c"], [f"c{j}" for j in range(20)])
    assert widest(out.getvalue()) <= width
    assert sorted(float(x) for x in out.getvalue().split() if x.isdigit()) == values.ravel().tolist()
