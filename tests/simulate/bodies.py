"""Bodies with closed forms: a ball, a box of four points, a pendulum with friction in its joint."""

import numpy as np

import multibody as mb
from multibody import simulate
from multibody.model.joint import Limits, Passive
from multibody.model.joints import Prismatic, Revolute
from multibody.model.shapes import Box, Sphere

G = 9.81


def ball(radius=0.1):
    builder = mb.Builder("ball")
    builder.body("ball", shape=Sphere(radius), mass=1.0)
    return mb.Robot(builder.model(floating=True)), [simulate.SphereContact("ball", radius=radius)]


def box():
    """1 kg, 0.2 m, on four of its corners."""
    builder = mb.Builder("box")
    builder.body("box", shape=Box((0.2, 0.2, 0.2)), mass=1.0)
    corners = [(x, y, -0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    return mb.Robot(builder.model(floating=True)), [simulate.SphereContact("box", point=p) for p in corners]


def top():
    inertia = mb.SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.diag([1.0, 2.0, 2.5]))
    return mb.Robot(mb.Builder("top", gravity=(0, 0, 0)).body("top", inertia).model(floating=True))


def swing(velocity):
    """A floating body with an arm."""
    builder = mb.Builder("swing").body("trunk", shape=Box((0.3, 0.2, 0.1)), mass=2.0)
    builder.body("arm", shape=Box((0.05, 0.05, 0.4)), pose=[0.0, 0.0, 0.2], mass=0.5)
    builder.joint("shoulder", Revolute("y"), parent="trunk", child="arm", placement=[0.1, 0.0, 0.0])
    return mb.Robot(builder.model(floating=True, velocity=velocity))


def hinge():
    """A bar of 1 kg and 1 m that hangs on a wall."""
    builder = mb.Builder("hinge").body("wall").body("bar", shape=Box((0.1, 0.1, 1.0)), pose=[0, 0, -0.5], mass=1.0)
    return mb.Robot(builder.joint("hinge", Revolute("y"), parent="wall", child="bar").model())


def slider(passive=Passive(), limits=Limits()):  # noqa: B008
    """A mass of 2 kg on a horizontal rail."""
    builder = mb.Builder("slider").body("rail").body("cart", shape=Box((0.1, 0.1, 0.1)), mass=2.0)
    builder.joint("rail", Prismatic("x"), parent="rail", child="cart", passive=passive, limits=limits)
    return mb.Robot(builder.model())


def puck():
    """A mass of 1 kg that moves in x and z and does not turn, with a point that touches."""
    builder = mb.Builder("puck").body("world").body("rail").body("puck", shape=Box((0.1, 0.1, 0.1)), mass=1.0)
    builder.joint("x", Prismatic("x"), parent="world", child="rail")
    builder.joint("z", Prismatic("z"), parent="rail", child="puck")
    return mb.Robot(builder.model()), [simulate.SphereContact("puck")]


def leg(length=0.25):
    """A trunk of 5 kg on a vertical rail with a thigh and a shank, its foot, and where it stands."""
    builder = mb.Builder("leg").body("rail").body("trunk", shape=Box((0.2, 0.1, 0.1)), mass=5.0)
    for link in ("thigh", "shank"):
        builder.body(link, shape=Box((0.03, 0.03, length)), pose=[0.0, 0.0, -length / 2], mass=0.4)
    builder.joint("lift", Prismatic("z"), parent="rail", child="trunk")
    builder.joint("hip", Revolute("y"), parent="trunk", child="thigh")
    builder.joint("knee", Revolute("y"), parent="thigh", child="shank", placement=[0.0, 0.0, -length])
    stand = np.array([0.02 + 2 * length * np.cos(0.6), 0.6, -1.2])
    return mb.Robot(builder.model()), [simulate.SphereContact("shank", 0.02, (0.0, 0.0, -length))], stand


def at(robot, height):
    q = robot.neutral().copy()
    q[2] = height
    return q
