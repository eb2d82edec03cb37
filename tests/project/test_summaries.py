"""The first lines of public docstrings: imperative sentences, or formulas with their equations."""

import sys
from pathlib import Path

from ..every_law import each_case

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import summaries


@each_case(
    "line, allowed",
    [
        ("Return a copy of the robot with a load attached to a frame.", True),
        ("The tau that solves M(q) a + h(q, v) = tau.", True),
        ("The rotation by an angle about z.  [RD 2.40]", True),
        ("Returns a copy.", False),
        ("The centre of mass (..., 3).", False),
        ("(..., 6): the wrench of a body.", False),
        ("J, (..., rows, nv), for the velocities of the tree.", False),
    ],
)
def test_verbs_and_formulas_are_allowed(line, allowed):
    assert summaries.is_allowed(line) == allowed


def test_public_functions_are_found():
    lines = summaries.summary("Return x,\nwhich is a number.\n\nArgs:\n    a: a number.")
    assert lines == "Return x, which is a number."
    names = {name: path for name, path, _, _ in summaries.public_functions()}
    assert len(names) > 400
    assert names["multibody.Robot.payload"].endswith("robot.py")
    assert "multibody.Robot._calls" not in names


def test_a_room_reports_its_violations(monkeypatch):
    monkeypatch.setattr(summaries, "VERBS", [])
    assert any("multibody.load: begin with a verb" in line for line in summaries.violations(["."]))
    assert not any("multibody.load:" in line for line in summaries.violations(["geometry"]))


def test_clean_rooms_have_no_violations():
    assert list(summaries.violations(summaries.RULES["summaries"]["clean"])) == []
