"""The moving picture of the first page: a quadruped lands, is pushed and stands, and an arm follows a line.

python docs/figures/first_page.py docs/_static/first_page.gif
"""

import sys

import numpy as np
from PIL import Image, ImageDraw

import multibody as mb
from multibody import simulate
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.renderer import render
from multibody.view.shapes.visual_shapes import visual_shapes

SIZE, RATE, SECONDS = (360, 270), 12, 3.0
PUSH = (1.2, 1.5, 34.0)
"""From when to when in s, and the force on the trunk along y in N."""
ORANGE = (214, 92, 12, 255)
FINE = 4
"""Marks are drawn so many times larger, for smooth edges."""


def landing():
    """The quadruped's configurations, a row for each picture."""
    robot = mb.load("quadruped")
    feet = [simulate.SphereContact(frame, radius=0.02) for frame in robot.frames if frame.startswith("foot")]
    dt = 0.005
    simulator = simulate.Simulator(robot, dt, contacts=feet, controller=simulate.PD(120.0, 4.0))
    q = robot.home()
    q[2] += 0.3 - min(robot.pose(foot.frame, q).position[2] for foot in feet)
    t = dt * np.arange(round(SECONDS / dt))
    pushes = np.zeros((len(t), 6))
    pushes[(t >= PUSH[0]) & (t < PUSH[1]), 1] = PUSH[2]
    run = simulator(q, seconds=SECONDS, wrenches={"trunk": pushes}, inputs=robot.home()[7:])
    q = run.q[:: round(1 / (RATE * dt))]

    def arrow(k):
        """The push: a line to the side of the trunk, and the head of an arrow."""
        if not PUSH[0] <= k / RATE < PUSH[1]:
            return []
        tip = robot.pose("trunk", q[k]).position - np.array([0.0, 0.1, 0.0])
        neck, tail = tip - np.array([[0.0, 0.08, 0.0], [0.0, 0.35, 0.0]])
        upper, lower = neck + np.array([[0.0, 0.0, 0.04], [0.0, 0.0, -0.04]])
        return [[tail, neck], [upper, tip, lower, upper]]

    return robot, q, arrow


def following():
    """The arm's configurations: its tool moves back and forth on a line."""
    robot = mb.load("panda")
    start = robot.pose("tool", robot.home())
    phase = np.linspace(0, 2 * np.pi, round(RATE * SECONDS), endpoint=False)
    places = start.position + 0.25 * np.stack([0 * phase, np.sin(phase), 0 * phase], axis=-1)
    q, path = robot.home(), []
    for place in places:
        q = robot.inverse_kinematics("tool", mb.Pose(start.rotation, place), q).q
        path.append(q)
    line = start.position + np.array([[0.0, -0.25, 0.0], [0.0, 0.25, 0.0]])
    return robot, np.array(path), lambda _: [line]


def marked(image, camera, lines):
    """The picture with lines in the world; those with four points are filled."""
    layer = Image.new("RGBA", (image.width * FINE, image.height * FINE))
    draw = ImageDraw.Draw(layer)
    for line in lines:
        points = [tuple(point) for point in FINE * camera.project(np.array(line))[:, :2]]
        draw.line(points, ORANGE, width=3 * FINE)
        if len(points) == 4:
            draw.polygon(points, ORANGE)
    return Image.alpha_composite(image.convert("RGBA"), layer.resize(image.size, Image.Resampling.LANCZOS))


def pictures(robot, path, marks, view):
    shapes = visual_shapes(robot)
    points = shapes.points(robot, path[:: max(1, len(path) // 6)])
    camera = Camera.around(points, view, SIZE)
    floor = min(0.0, points[:, 2].min())
    for k, q in enumerate(path):
        image = Image.fromarray((255 * render(shapes.placed(robot, q), camera, floor)).round().astype(np.uint8))
        yield np.asarray(marked(image, camera, marks(k)).convert("RGB"))


def main(path):
    both = [pictures(*landing(), (-55.0, 14.0)), pictures(*following(), (-30.0, 18.0))]
    frames = [Image.fromarray(np.concatenate(pair, axis=1)) for pair in zip(*both, strict=True)]
    sample = frames[len(frames) // 2].copy()
    sample.paste(ORANGE[:3], (0, 0, 100, 50))  # the marks are small, and their colour needs a place in the palette
    palette = sample.quantize(96)
    images = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    images[0].save(path, save_all=True, append_images=images[1:], duration=round(1000 / RATE), loop=0, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
