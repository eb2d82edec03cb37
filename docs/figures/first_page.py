"""The moving picture of the first page: a quadruped lands, is pushed and stands, and an arm follows a line.

python docs/figures/first_page.py docs/_static/first_page.gif
"""

import sys

import numpy as np
from PIL import Image

import multibody as mb
from multibody import simulate
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.renderer import render
from multibody.view.shapes.visual_shapes import visual_shapes

SIZE, RATE, SECONDS = (360, 270), 12, 3.0
PUSH = (1.2, 1.35, 52.0)
"""From when to when in s, and the force on the trunk in N."""


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
    return robot, run.q[:: round(1 / (RATE * dt))]


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
    return robot, np.array(path)


def pictures(robot, path, view):
    shapes = visual_shapes(robot)
    points = shapes.points(robot, path[:: max(1, len(path) // 6)])
    camera = Camera.around(points, view, SIZE)
    floor = min(0.0, points[:, 2].min())
    for q in path:
        image = render(shapes.placed(robot, q), camera, floor)
        yield (255 * image).round().astype(np.uint8)


def main(path):
    both = [pictures(*landing(), (-55.0, 14.0)), pictures(*following(), (-30.0, 18.0))]
    frames = [Image.fromarray(np.concatenate(pair, axis=1)) for pair in zip(*both, strict=True)]
    palette = frames[len(frames) // 2].quantize(96)
    images = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    images[0].save(path, save_all=True, append_images=images[1:], duration=round(1000 / RATE), loop=0, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
