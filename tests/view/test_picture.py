"""Pictures of robots: every body is there, where it should be; words for what cannot be drawn."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import multibody as mb
from multibody.errors import InputError
from multibody.view import picture
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.renderer import render
from multibody.view.shapes.visual_shapes import visual_shapes

REFERENCES = Path(__file__).parent / "references"
ROBOTS = ("cart-pendulum", "panda", "quadruped", "humanoid", "quadrotor")
SIZE = (160, 120)
SAME = 2e-3
"""The share of pixels that may differ: a missing body changes more."""


def pixels(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(float)


def far_apart(image, other):
    """The share of pixels that differ visibly."""
    return (np.abs(image - other).max(axis=-1) > 24).mean()


@pytest.mark.parametrize("name", ROBOTS)
def test_like_the_kept_picture(name):
    image = pixels(picture(mb.load(name), size=SIZE))
    kept = np.load(REFERENCES / f"{name}.npz")["image"].astype(float)
    assert far_apart(image, kept) < SAME


@pytest.mark.parametrize("name", ["panda", "quadrotor"])
def test_a_missing_body_is_noticed(name):
    robot = mb.load(name)
    shapes, q = visual_shapes(robot), robot.home()
    camera = Camera.around(shapes.points(robot, q), "three-quarter", SIZE)
    whole = 255 * render(shapes.placed(robot, q), camera, 0.0)
    for link in shapes.links:
        rest = type(shapes)({name: own for name, own in shapes.links.items() if name != link}, ())
        assert far_apart(255 * render(rest.placed(robot, q), camera, 0.0), whole) > SAME, link


def test_frames_and_masses_are_drawn_where_they_are():
    robot = mb.load("panda")
    q = robot.home()
    marks = {"frames": ["tool"], "center_of_mass": True}
    bare, marked = (pixels(picture(robot, q, size=SIZE, **more)) for more in ({}, marks))
    changed = np.argwhere(np.abs(bare - marked).max(axis=-1) > 24)
    camera = Camera.around(visual_shapes(robot).points(robot, q), "three-quarter", SIZE)
    for point in (robot.pose("tool", q).position, robot.center_of_mass(q)):
        x, y, _ = camera.project(point)
        assert np.linalg.norm(changed - [y, x], axis=1).min() < 2.5


def test_several_in_one_picture_and_a_file(tmp_path):
    robot = mb.load("planar-arm")
    path = tmp_path / "arms.png"
    q = np.array([[0.0, 0, 0], [0.5, 0.5, 0.5], [1.0, 1, 1]])
    several = pixels(picture(robot, q, path, size=SIZE))
    assert path.stat().st_size > 1000
    assert far_apart(several, pixels(picture(robot, q[-1], size=SIZE))) > 0.02


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"q": [0.0, 1.0]}, "q"), ({"q": [np.nan, 0.0, 0.0]}, "q"),
        ({"size": (10, 10)}, "size"), ({"size": 800}, "size"),
        ({"frames": ["hand"]}, "hand"), ({"frames": "tool"}, "frames"), ({"view": "inside"}, "view"),
        ({"ground": "low"}, "ground"), ({"path": "no/such/folder.png"}, "path"),
    ],
)  # fmt: skip
def test_bad_input_is_named(arguments, word):
    with pytest.raises(InputError, match=word):
        picture(mb.load("planar-arm"), **arguments)
