"""A humanoid with the proportions of a man: 29 hinges on a floating pelvis."""

import math
from typing import NamedTuple

from multibody.geometry import SpatialInertia
from multibody.model.builder import BASE, Builder
from multibody.model.joint import Limits
from multibody.model.joints import Floating, Revolute
from multibody.model.robots._construction import BLUE, DARK, GREY, ORANGE, WHITE, Color, draw_capsule, positive, solid
from multibody.model.shapes import Box, Ellipsoid, Sphere

SUMMARY = "Humanoid with the segments of a man of 73 kg and 1.741 m: floating pelvis and 29 joints."
SOURCE = (
    "de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters (J. Biomechanics 1996), table 4, men. "
    "Chosen here: widths of hips and shoulders, limits, shapes, and the small links inside of joints with several "
    "axes, each of which holds 5 % of the mass of the segment that follows."
)

MASS, HEIGHT = 73.0, 1.741
"""The mass and the height of the mean man in the table, in kg and m."""


class Segment(NamedTuple):
    """A row of the table; all but the length are shares of the body's mass and of the segment's length."""

    length: float
    """In m."""
    mass: float
    com: float
    """From the upper end; in the foot from the heel."""
    radii: tuple[float, float, float]
    """Radii of gyration about the sagittal (x), transverse (y) and longitudinal (z) axis."""


_HEAD = Segment(0.2429, 0.0694, 0.5002, (0.303, 0.315, 0.261))
_UPPER_TRUNK = Segment(0.1707, 0.1596, 0.2999, (0.716, 0.454, 0.659))
_MIDDLE_TRUNK = Segment(0.2155, 0.1633, 0.4502, (0.482, 0.383, 0.468))
_LOWER_TRUNK = Segment(0.1457, 0.1117, 0.6115, (0.615, 0.551, 0.587))
_UPPER_ARM = Segment(0.2817, 0.0271, 0.5772, (0.285, 0.269, 0.158))
_FOREARM = Segment(0.2689, 0.0162, 0.4574, (0.276, 0.265, 0.121))
_HAND = Segment(0.0862, 0.0061, 0.7900, (0.628, 0.513, 0.401))
_THIGH = Segment(0.4222, 0.1416, 0.4095, (0.329, 0.329, 0.149))
_SHANK = Segment(0.4340, 0.0433, 0.4459, (0.255, 0.249, 0.103))
_FOOT = Segment(0.2581, 0.0137, 0.4415, (0.257, 0.245, 0.124))

# Above the middle of the hips, in m: waist (omphalion), shoulders, neck (cervicale).
_WAIST, _SHOULDER, _NECK = 0.1457, 0.5155, 0.6033
_HIP_Y, _SHOULDER_Y = 0.09, 0.19
_ANKLE = HEIGHT - _HEAD.length - _NECK - _THIGH.length - _SHANK.length
"""From the sole up to the ankle."""
_HEEL = 0.07
"""From the heel forward to the ankle."""
_INNER = 0.05
"""The share of a segment's mass in each small link inside of the joint before it."""
_BEND = 0.3

Axes = tuple[tuple[str, str, float, float, float], ...]
"""Name, axis, least and largest angle (rad) and torque (N m); of the left side, the right one is its mirror image."""
_WAIST_AXES: Axes = (("yaw", "z", -0.8, 0.8, 120.0), ("roll", "x", -0.5, 0.5, 150.0), ("pitch", "y", -0.4, 1.2, 250.0))
_NECK_AXES: Axes = (("yaw", "z", -1.2, 1.2, 20.0), ("pitch", "y", -0.7, 0.8, 20.0))
_HIP: Axes = (("yaw", "z", -0.6, 0.8, 100.0), ("roll", "x", -0.4, 0.8, 150.0), ("pitch", "y", -2.0, 0.6, 250.0))
_KNEE: Axes = (("pitch", "y", 0.0, 2.4, 250.0),)
_ANKLE_AXES: Axes = (("pitch", "y", -0.9, 0.8, 150.0), ("roll", "x", -0.4, 0.4, 80.0))
_ARM_ROOT: Axes = (("pitch", "y", -3.0, 1.0, 80.0), ("roll", "x", -0.2, 2.8, 80.0), ("yaw", "z", -1.5, 1.5, 50.0))
_ELBOW: Axes = (("pitch", "y", -2.5, 0.0, 60.0),)
_WRIST: Axes = (("pitch", "y", -1.2, 1.2, 15.0), ("roll", "x", -0.5, 0.5, 15.0))

# Joint, its axes, the link that follows, its segment, the radius (m) and colour of its capsule.
_LEG = (("hip", _HIP, "thigh", _THIGH, 0.07, BLUE), ("knee", _KNEE, "shank", _SHANK, 0.05, WHITE))
_ARM = (
    ("shoulder", _ARM_ROOT, "upper-arm", _UPPER_ARM, 0.045, WHITE),
    ("elbow", _ELBOW, "forearm", _FOREARM, 0.035, BLUE),
    ("wrist", _WRIST, "hand", _HAND, 0.03, ORANGE),
)
Place = tuple[float, float, float]


def build(mass: float = MASS, height: float = HEIGHT) -> Builder:
    """The robot: x forward, y left, z up. All joints at zero: it stands upright, arms hanging.

    Args:
        mass: of the whole body, in kg.
        height: from the soles to the vertex, in m; all lengths scale with it.
    """
    return _Figure(*positive("mass", mass), *positive("height", height)).build()


class _Figure:
    """Adds the parts in their scale; lengths given to its methods are those of the mean man."""

    def __init__(self, mass: float, height: float) -> None:
        self.mass, self.scale = mass, height / HEIGHT
        self.b = Builder("humanoid")

    def build(self) -> Builder:
        b = self.b
        b.body("pelvis", self._inertia(_LOWER_TRUNK, top=_WAIST))
        b.shape("pelvis", Box(self._place(0.20, 0.30, 0.16)), pose=self._place(0.0, 0.0, 0.06), color=GREY)
        b.joint(BASE, Floating(), parent=None, child="pelvis")
        for side, y in (("left", 1), ("right", -1)):
            self._leg(side, y)
        self._trunk()
        for side, y in (("left", 1), ("right", -1)):
            self._limb(side, "torso", (0.0, y * _SHOULDER_Y, _SHOULDER - _WAIST), _ARM)
            b.frame(f"hand-{side}", f"{side}-hand", self._place(0.0, 0.0, -_HAND.length))
        self._head()
        stand = self.scale * ((_THIGH.length + _SHANK.length) * math.cos(_BEND) + _ANKLE)
        leg = (0.0, 0.0, -_BEND, 2 * _BEND, -_BEND, 0.0)
        waist, neck = (0.0,) * 3, (0.0,) * 2
        left, right = (0.0, 0.15, 0.0, -0.4, 0.0, 0.0), (0.0, -0.15, 0.0, -0.4, 0.0, 0.0)
        b.home = (0.0, 0.0, stand, 1.0, 0.0, 0.0, 0.0, *leg, *leg, *waist, *left, *right, *neck)
        return b

    def _leg(self, side: str, y: int) -> None:
        self._limb(side, "pelvis", (0.0, y * _HIP_Y, 0.0), _LEG)
        foot = f"{side}-foot"
        self._joint(f"{side}-ankle", _ANKLE_AXES, f"{side}-shank", foot, (0.0, 0.0, -_SHANK.length), _FOOT)
        length, share = _FOOT.length, 1 - _INNER
        com = self._place(_FOOT.com * length - _HEEL, 0.0, -_ANKLE / 2)
        sagittal, transverse, longitudinal = self._moments(_FOOT, share)
        self.b.body(foot, solid(share * _FOOT.mass * self.mass, com, (longitudinal, transverse, sagittal)))
        middle = self._place(length / 2 - _HEEL, 0.0, -_ANKLE / 2)
        self.b.shape(foot, Box(self._place(length, 0.1, _ANKLE)), pose=middle, color=DARK)
        self.b.frame(f"foot-{side}", foot, self._place(0.0, 0.0, -_ANKLE))

    def _trunk(self) -> None:
        self._joint("waist", _WAIST_AXES, "pelvis", "torso", (0.0, 0.0, _WAIST), _MIDDLE_TRUNK)
        top = _MIDDLE_TRUNK.length
        self.b.body("torso", self._inertia(_MIDDLE_TRUNK, top=top, share=1 - 2 * _INNER))
        self.b.load("torso", self._inertia(_UPPER_TRUNK, top=top + _UPPER_TRUNK.length))
        self.b.shape("torso", Box(self._place(0.20, 0.30, 0.36)), pose=self._place(0.0, 0.0, 0.2), color=BLUE)
        right, left = (self._place(0.0, y * (_SHOULDER_Y - 0.04), _SHOULDER - _WAIST) for y in (-1, 1))
        draw_capsule(self.b, "torso", right, left, 0.05 * self.scale, BLUE)

    def _head(self) -> None:
        self._joint("neck", _NECK_AXES, "torso", "head", (0.0, 0.0, _NECK - _WAIST), _HEAD)
        self.b.body("head", self._inertia(_HEAD, top=_HEAD.length, share=1 - _INNER))
        half = _HEAD.length / 2
        radii = Ellipsoid(self._place(0.09, 0.075, half))
        self.b.shape("head", radii, pose=self._place(0.0, 0.0, half), color=WHITE)
        self.b.frame("vertex", "head", self._place(0.0, 0.0, _HEAD.length))

    def _limb(
        self, side: str, parent: str, place: Place, parts: tuple[tuple[str, Axes, str, Segment, float, Color], ...]
    ) -> None:
        """Segments below each other."""
        for joint, axes, name, segment, radius, color in parts:
            link = f"{side}-{name}"
            self._joint(f"{side}-{joint}", axes, parent, link, place, segment)
            self.b.body(link, self._inertia(segment, share=1 - _INNER * (len(axes) - 1)))
            parent, place = link, (0.0, 0.0, -segment.length)
            draw_capsule(self.b, link, [0.0, 0.0, 0.0], self._place(*place), radius * self.scale, color)

    def _joint(self, name: str, axes: Axes, parent: str, child: str, place: Place, segment: Segment) -> None:
        """Hinges in one place, with small links between them."""
        mirrored = name.startswith("right")
        ball, placement = Sphere(0.03 * self.scale), self._place(*place)
        for k, (motion, axis, low, high, torque) in enumerate(axes, start=1):
            link = child if k == len(axes) else f"{name}-{motion}"
            if link != child:
                self.b.body(link, shape=ball, mass=_INNER * segment.mass * self.mass, color=DARK)
            if mirrored and axis != "y":
                low, high = -high, -low
            limits = Limits(low, high, velocity=12.0, effort=torque)
            full = name if len(axes) == 1 else f"{name}-{motion}"
            self.b.joint(full, Revolute(axis), parent=parent, child=link, placement=placement, limits=limits)
            parent, placement = link, None

    def _inertia(self, segment: Segment, *, top: float = 0.0, share: float = 1.0) -> SpatialInertia:
        """The inertia of a share of an upright segment whose upper end is on the z axis."""
        com = self._place(0.0, 0.0, top - segment.com * segment.length)
        return solid(share * segment.mass * self.mass, com, self._moments(segment, share))

    def _moments(self, segment: Segment, share: float) -> tuple[float, ...]:
        mass, length = share * segment.mass * self.mass, segment.length * self.scale
        return tuple(mass * (radius * length) ** 2 for radius in segment.radii)

    def _place(self, x: float, y: float, z: float) -> Place:
        return self.scale * x, self.scale * y, self.scale * z
