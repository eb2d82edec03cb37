"""Which robots on a fixed base look as if they walk or fly; over files of example-robot-data, and by hand."""

import pytest

from multibody.model.builder import Builder
from multibody.model.fixed_base_warning import fixed_base, fixed_mass
from multibody.model.joints import Continuous, Revolute
from multibody.model.load import load
from multibody.model.shapes import Sphere

from ..every_law import each_case
from ..oracles.robot_data import REFUSED, urdf, urdfs

MOVE = (
    *("a1_", "alexander_", "anymal_", "b1_", "bolt_", "centauro_", "g1_", "go1_", "go2_", "hector_", "hyq_", "icub_"),
    *("iris_", "laikago_", "quadruped_", "romeo_", "simple_humanoid_", "solo_", "talos_data/robots/talos_full"),
    "talos_data/robots/talos_reduced",
)
"""What walks or flies; not the human (its y points up), nor flying arms (their arm is all that moves)."""
BROKEN = {*REFUSED, "alex_description/urdf/alex_psyonic_hands.urdf"}
SAMPLE = (
    *("go1_description/urdf/go1.urdf", "hector_description/robots/quadrotor_base.urdf"),
    *("iris_description/robots/iris.urdf", "bolt_description/robots/bolt.urdf", "panda_description/urdf/panda.urdf"),
    *("allegro_hand_description/urdf/allegro_left_hand.urdf", "ur_description/urdf/ur5_robot.urdf"),
)


def outcome(path: str) -> None:
    diagnostic = next(d for d in load(urdf(path)).diagnostics if d.code == "fixed")
    assert diagnostic.level == ("warning" if path.startswith(MOVE) else "note")
    assert "floating=True" in diagnostic.message


@each_case("path", SAMPLE)
def test_legged_and_flying_robots_are_warned_of_and_arms_and_hands_are_not(path):
    outcome(path)


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in urdfs() if path not in BROKEN])
def test_every_file(path):
    outcome(path)


def test_the_masses_of_go1_are_told():
    model = load(urdf(SAMPLE[0]))
    diagnostic = next(d for d in model.diagnostics if d.code == "fixed")
    assert "5.561 kg are fixed to the world" in diagnostic.message
    assert "7.539 kg move" in diagnostic.message
    assert fixed_mass(model) + model.tree.mass == pytest.approx(13.10, abs=0.005)
    floating = load(urdf(SAMPLE[0]), floating=True)
    assert not any(d.code == "fixed" for d in floating.diagnostics)
    assert floating.tree.mass == pytest.approx(13.10, abs=0.005)


def limbs(count: int, at: float, way: float) -> Builder:
    """Chains of two hinges that begin at a height, and go a way up or down."""
    b = Builder("machine").body("base", shape=Sphere(0.1), mass=2.0)
    for k in range(count):
        for part, parent, z in (("upper", "base", at), ("lower", f"upper{k}", way), ("end", f"lower{k}", way)):
            b.body(f"{part}{k}", shape=Sphere(0.02), mass=0.1)
            b.joint(f"{part}{k}", Revolute("y"), parent=parent, child=f"{part}{k}", placement=[0.1 * k, 0, z])
    return b


@each_case(
    "count, at, way, warns",
    [
        (4, 0.0, -0.3, True),  # a dog
        (2, -0.1, -0.4, True),  # a biped
        (2, 0.4, -0.3, False),  # a torso whose arms hang from its shoulders
        (4, 0.0, 0.1, False),  # a hand whose fingers point up
        (1, 0.0, -0.3, False),  # an arm on the ceiling
    ],
)
def test_legs_hang_from_about_the_origin_of_the_base(count, at, way, warns):
    diagnostic = fixed_base(limbs(count, at, way).model())
    assert diagnostic is not None
    assert diagnostic.level == ("warning" if warns else "note")


@pytest.mark.parametrize(("axis", "warns"), [("z", True), ("y", False)])
def test_propellers_turn_about_the_vertical_and_wheels_do_not(axis, warns):
    b = Builder("cart").body("base", shape=Sphere(0.1), mass=2.0)
    for k in range(4):
        b.body(f"disc{k}", shape=Sphere(0.02), mass=0.1)
        b.joint(f"disc{k}", Continuous(axis), parent="base", child=f"disc{k}", placement=[0.1 * k, 0, 0])
    diagnostic = fixed_base(b.model())
    assert diagnostic is not None
    assert diagnostic.level == ("warning" if warns else "note")
    assert ("4 propellers" in diagnostic.message) == warns


def test_nothing_is_said_where_the_base_has_no_mass():
    assert fixed_base(Builder("frame").body("base").model()) is None
