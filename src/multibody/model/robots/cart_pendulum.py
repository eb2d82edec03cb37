"""A cart on a rail, and a pendulum that hangs on it.  [RD Ex. 3.3.1]"""

from multibody.model.builder import Builder
from multibody.model.joint import Limits
from multibody.model.joints import Continuous, Prismatic
from multibody.model.robots._construction import BLUE, GREY, ORANGE, draw_cylinder, positive, solid
from multibody.model.shapes import Box

SUMMARY = "Cart on a rail along x with a hanging pendulum; only the cart is driven."
SOURCE = "ETH Zurich, Robot Dynamics Lecture Notes, example 3.3.1, whose figure is lost; all numbers chosen here."


def build(
    cart_mass: float = 1.0, pendulum_mass: float = 0.3, length: float = 0.5, inertia: float | None = None
) -> Builder:
    """The system; q = [x, phi], phi = 0 hanging, and positive when the pendulum swings towards +x.

    Args:
        cart_mass: in kg.
        pendulum_mass: in kg.
        length: from the hinge to the centre of mass of the pendulum, in m.
        inertia: of the pendulum about its centre of mass and the hinge's direction, in kg m²; by default that of a
            homogeneous rod of twice the length.
    """
    (mc,), (mp,), (l,) = (
        positive("cart_mass", cart_mass),
        positive("pendulum_mass", pendulum_mass),
        positive("length", length),
    )
    (theta,) = positive("inertia", mp * l**2 / 3 if inertia is None else inertia)
    b = Builder("cart-pendulum")
    b.body("rail")
    draw_cylinder(b, "rail", [-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], 0.01, GREY)
    b.body("cart", shape=Box([0.3, 0.15, 0.1]), mass=mc, color=BLUE)
    b.body("pendulum", solid(mp, [0.0, 0.0, -l], [theta, theta, 0.01 * theta]))
    draw_cylinder(b, "pendulum", [0.0, 0.0, 0.0], [0.0, 0.0, -2 * l], 0.015, ORANGE)
    b.joint(
        "slider",
        Prismatic("x"),
        parent="rail",
        child="cart",
        limits=Limits(-2.0, 2.0, velocity=5.0, effort=50.0),
    )
    b.joint("hinge", Continuous("-y"), parent="cart", child="pendulum")
    b.frame("tip", "pendulum", [0.0, 0.0, -2 * l])
    return b.actuator("motor", "slider", effort=50.0)
