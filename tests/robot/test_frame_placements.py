"""Places of feet and tools as inputs: a batch of different robots is each of them, rebuilt with its frames there."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from multibody.robot.requests import Request

import multibody as mb
from multibody.geometry import Pose, Rotation
from multibody.model.builder import Builder
from multibody.model.joints import Revolute
from multibody.robot.quantities import QUANTITIES

from ..laws.tools import near
from .robots import parts
from .test_parameters import MACHINES, machine, numbers, rebuilt, request, states

ALL = ("inertias", "placements", "frame_placements")
OF_FRAMES = [name for name, entry in QUANTITIES.items() if entry.frame]


@cache
def places(name: str, count: int) -> np.ndarray:
    """Of all frames, for that many robots: those that are not the frame of a body, or of the world, are anywhere."""
    robot, rng = machine(name), np.random.default_rng(11)
    own = np.tile(robot.frame_placements(), (count, 1, 1))
    children = {joint.child for joint in robot.model.description}
    bodies = {body.name for body in robot.bodies}
    free = [k for k, frame in enumerate(robot.frames) if frame not in bodies]
    free = [k for k in free if robot.frames[k] in children or k >= len(robot.model.links)]
    assert len(free) > 1
    own[:, free, :3] = rng.uniform(-1, 1, (count, len(free), 3))
    own[:, free, 3:] = Rotation.random(rng, (count, len(free))).quaternion
    return own


def with_frames(robot: mb.Robot, frame_placements: np.ndarray) -> mb.Robot:
    """The robot from a description in which fixed joints and frames are elsewhere."""
    poses = {
        name: Pose(Rotation.from_quaternion(x[3:]), x[:3])
        for name, x in zip(robot.frames, frame_placements, strict=True)
    }

    def between(parent: str | None, child: str) -> Pose:
        return poses[child] if parent is None else poses[parent].inverse() @ poses[child]

    model = robot.model
    joints = [j if j.kind.nv else replace(j, placement=between(j.parent, j.child)) for j in model.description]
    frames = [replace(f, pose=between(f.link, f.name)) for f in model.extra_frames]
    return mb.Robot(model.with_(description=tuple(joints), extra_frames=tuple(frames)))


def compare(name: str, quantity: str, count: int = 6) -> None:
    robot = machine(name)
    frame, options = request(robot, quantity)
    args = states(robot, quantity, count)
    values = (*(x[:count] for x in numbers(name)), places(name, count))
    found = parts(robot.kernel(quantity, frame, parameters=ALL, **options)(*args, *values))
    for k in range(count):
        model = rebuilt(with_frames(robot, values[2][k]), values[0][k], values[1][k]).model
        function = Request.of(model, quantity, frame, **options).function(model)
        for one, expected in zip(found, parts(function(*(x[k] for x in args))), strict=True):
            near(one[k], expected, 1e-8)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("quantity", ["pose", "poses", "jacobian", "acceleration", "inverse_dynamics"])
def test_frames_of_many_robots_are_those_of_each_rebuilt(name, quantity):
    compare(name, quantity)


@pytest.mark.parametrize("quantity", OF_FRAMES)
def test_every_quantity_of_a_frame(quantity):
    compare("mimic", quantity, 3)


def test_wrenches_act_where_the_frames_are():
    robot, count = machine("floating"), 4
    tool = robot.frames[-1]
    args, values = states(robot, "inverse_dynamics", count), places("floating", count)
    wrench = np.random.default_rng(0).standard_normal((count, 6))
    kernel = robot.kernel("inverse_dynamics", wrenches=[tool], parameters="frame_placements")
    found = kernel(*args, wrench, values)
    for k in range(count):
        other = rebuilt(with_frames(robot, values[k]), robot.parameters(), robot.placements())
        with mb.eager():
            near(found[k], other.inverse_dynamics(*(x[k] for x in args), wrenches={tool: wrench[k]}), 1e-9)


def test_the_own_numbers_change_nothing():
    robot = mb.load("quadruped")
    q, v = robot.random(np.random.default_rng(0), (5,)), np.ones((5, robot.nv))
    found = robot.kernel("velocity", "foot-lf", parameters="frame_placements")(q, v, robot.frame_placements())
    near(found, robot.velocity("foot-lf", q, v), 1e-12)


def test_shanks_of_other_lengths():
    """The foot of a quadruped, which no joint carries."""
    robot = mb.load("quadruped")
    values = np.tile(robot.frame_placements(), (3, 1, 1))
    foot = robot.frames.index("foot-lf")
    values[:, foot, :3] *= np.array([[0.8], [1.0], [1.3]])
    kernel = robot.kernel("pose", "foot-lf", parameters="frame_placements")
    knee, length = robot.pose("lf-shank", robot.home()).position, np.linalg.norm(robot.frame_placements()[foot, :3])
    found = kernel(robot.home(), values)[1]
    near(np.linalg.norm(found - knee, axis=-1), length * np.array([0.8, 1.0, 1.3]), 1e-12)


def test_frames_on_one_place_are_told_apart():
    """Without their placements as inputs they share a kernel."""
    robot = mb.load("puma-560")
    same, other = robot.frames.index("wrist"), robot.frames.index("link6")
    near(robot.frame_placements()[same], robot.frame_placements()[other], 0.0)
    values = robot.frame_placements()
    values[same, :3] = 0.1, 0.2, 0.3
    q = robot.home()
    near(robot.kernel("pose", "link6", parameters="frame_placements")(q, values)[1], robot.pose("link6", q).position)
    moved = robot.kernel("pose", "wrist", parameters="frame_placements")(q, values)[1]
    near(moved, robot.pose("wrist", q) @ [0.1, 0.2, 0.3], 1e-12)
    for frame, row in (("link6", other), ("wrist", same)):
        by_places = robot.derivatives("pose", q, values, frame=frame, parameters="frame_placements")[1][1]
        assert np.abs(by_places).max(axis=(0, 2)).nonzero()[0].tolist() == [row]


def test_models_that_differ_in_frames_alone_are_told_apart():
    def arm(*frames):
        b = Builder("arm").body("base").body("link", mb.SpatialInertia(mass=1.0, com=[0, 0, 1], inertia=np.eye(3)))
        b.joint("hinge", Revolute("y"), parent="base", child="link")
        for name in frames:
            b.frame(name, "link", [0.0, 0.0, 1.0])
        return mb.Robot(b)

    for robot in (arm("tool"), arm("other", "tool"), arm("tool", "other")):
        values = robot.frame_placements()
        values[robot.frames.index("tool"), 2] = 3.0
        found = robot.kernel("pose", "tool", parameters="frame_placements")([0.0], values)[1]
        near(found, [0.0, 0.0, 3.0])


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_wrong_shapes_are_refused():
    robot = machine("fixed")
    with pytest.raises(mb.InputError, match="frame_placements"):
        robot.kernel("pose", robot.frames[-1], parameters="frame_placements")(robot.neutral(), robot.placements())


def test_frames_without_a_unit_quaternion_are_refused_by_their_index():
    robot = machine("fixed")
    values = np.tile(robot.frame_placements(), (4, 1, 1))
    values[2, 1, 3:] *= 1.5
    with pytest.raises(mb.InputError, match=r"frame_placements \(sample 2\).*quaternion"):
        robot.kernel("pose", robot.frames[-1], parameters="frame_placements")(robot.neutral(), values)
