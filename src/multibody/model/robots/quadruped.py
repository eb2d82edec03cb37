"""A walking robot with four legs of three joints: the MIT Mini Cheetah."""

import math

from multibody.model.builder import BASE, Builder
from multibody.model.joint import Limits, Passive
from multibody.model.joints import Floating, Revolute
from multibody.model.robots._construction import BLUE, DARK, GREY, WHITE, draw_capsule, draw_cylinder, solid
from multibody.model.shapes import Box, Sphere

SUMMARY = "MIT Mini Cheetah: floating trunk and twelve geared joints."
SOURCE = (
    "Katz, Di Carlo & Kim, Mini Cheetah: a platform for pushing the limits of dynamic quadruped control (ICRA 2019), "
    "and the parameters that the authors published with their software (MIT Biomimetic Robotics Lab). "
    "Chosen here: limits of angles, shapes, and the product of inertia xy of the thigh, 190 in place of 245 kg mm², "
    "because the published numbers break the triangle inequality."
)

ABDUCTION, THIGH, SHANK = 0.062, 0.209, 0.175
"""Lengths along a leg, in m."""
_HIP_X, _HIP_Y = 0.19, 0.049
_ROTOR_X, _ROTOR_Y = 0.125, 0.040
_ROTOR_MASS, _ROTOR_ACROSS, _ROTOR_SPIN = 0.055, 33e-6, 63e-6
_GEARS = {"abduction": 6.0, "hip": 6.0, "knee": 9.33}
_MOTOR_TORQUE = 3.0
_BEND = 0.8

LEGS = {"lf": (1, 1), "rf": (1, -1), "lh": (-1, 1), "rh": (-1, -1)}
"""The legs: left and right, fore and hind; the signs of x and y of their hips."""


def build() -> Builder:
    """The robot. All joints at zero: legs straight down; a positive hip or knee angle swings the foot backwards.

    The mass of each rotor is on the link that carries it; its spin is the reflected inertia of the joint.
    """
    b = Builder("quadruped")
    b.body("trunk", solid(3.3, (0.0, 0.0, 0.0), (11253e-6, 36203e-6, 42673e-6)))
    b.shape("trunk", Box([0.32, 0.16, 0.1]), color=GREY)
    b.joint(BASE, Floating(), parent=None, child="trunk")
    for leg, (fore, side) in LEGS.items():
        _leg(b, leg, fore, side)
    height = (THIGH + SHANK) * math.cos(_BEND)
    b.home = (0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0, *(0.0, _BEND, -2 * _BEND) * 4)
    return b


def _leg(b: Builder, leg: str, fore: int, side: int) -> None:
    hip, thigh, shank = f"{leg}-hip", f"{leg}-thigh", f"{leg}-shank"
    across, spin = _ROTOR_ACROSS, _ROTOR_SPIN
    # products of inertia with y change sign from the left leg to the right one
    b.body(hip, solid(0.54, (0.0, side * 0.036, 0.0), _e6(381, 560, 444, side * 58, 0.45, side * 0.95)))
    b.body(thigh, solid(0.634, (0.0, side * 0.016, -0.02), _e6(1983, 2103, 408, side * 190, 13, side * 1.5)))
    b.body(shank, solid(0.064, (0.0, 0.0, -0.061), _e6(245, 248, 6, 0, 0, 0)))
    b.load("trunk", solid(_ROTOR_MASS, (fore * _ROTOR_X, side * _HIP_Y, 0.0), (spin, across, across)))
    b.load(hip, solid(_ROTOR_MASS, (0.0, side * _ROTOR_Y, 0.0), (across, spin, across)))
    b.load(thigh, solid(_ROTOR_MASS, (0.0, 0.0, 0.0), (across, spin, across)))
    joints = (
        ("abduction", "x", "trunk", hip, (fore * _HIP_X, side * _HIP_Y, 0.0), 1.2),
        ("hip", "y", hip, thigh, (0.0, side * ABDUCTION, 0.0), 2.6),
        ("knee", "y", thigh, shank, (0.0, 0.0, -THIGH), 2.7),
    )
    for name, axis, parent, child, placement, reach in joints:
        gear = _GEARS[name]
        b.joint(
            f"{leg}-{name}",
            Revolute(axis),
            parent=parent,
            child=child,
            placement=placement,
            limits=Limits(-reach, reach, velocity=240.0 / gear, effort=gear * _MOTOR_TORQUE),
            passive=Passive(damping=0.01, friction=0.2),
        )
        b.actuator(f"{leg}-{name}", f"{leg}-{name}", gear=gear, rotor_inertia=_ROTOR_SPIN, effort=_MOTOR_TORQUE)
    b.frame(f"foot-{leg}", shank, [0.0, 0.0, -SHANK])
    draw_cylinder(b, hip, [-fore * 0.065, 0.0, 0.0], [-fore * 0.015, 0.0, 0.0], 0.045, DARK)
    draw_cylinder(b, hip, [0.0, side * 0.01, 0.0], [0.0, side * 0.045, 0.0], 0.045, DARK)
    draw_capsule(b, thigh, [0.0, 0.0, 0.0], [0.0, 0.0, -THIGH], 0.022, BLUE)
    draw_capsule(b, shank, [0.0, 0.0, 0.0], [0.0, 0.0, -SHANK], 0.012, WHITE)
    b.shape(shank, Sphere(0.018), pose=[0.0, 0.0, -SHANK], color=DARK)


def _e6(*moments: float) -> tuple[float, ...]:
    return tuple(1e-6 * m for m in moments)
