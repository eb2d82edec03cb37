"""Joints from outside the library: what they must keep is looked at when a model is made."""

from dataclasses import dataclass

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, Twist
from multibody.model.joints import KINDS, Helical, Prismatic, Universal, check_kind
from multibody.model.joints.motion_subspace import Subspace

from ..every_law import each_case
from ..laws.tools import near
from .trees import SAMPLES


def made(kind):
    inertia = mb.SpatialInertia(mass=1.0, com=np.array([0.1, 0.2, 0.3]), inertia=np.eye(3))
    b = mb.Builder("made").body("base").body("arm", inertia).joint("joint", kind, parent="base", child="arm")
    return mb.Robot(b)


@dataclass(frozen=True, init=False)
class Cubic(Prismatic):
    """It slides by q + q³: the column of its subspace is fixed in neither body."""

    def pose(self, q):
        x = q[..., 0] + q[..., 0] ** 3
        return Pose._trusted(Rotation.identity(), x[..., None] * np.array(self.axis))

    def subspace(self, q):
        rate = 1 + 3 * q[..., 0] ** 2
        column = np.concatenate([np.array(self.axis), np.zeros(3)])
        return Subspace((rate[..., None] * column)[..., None])

    def bias(self, q, v):
        rate = 6 * q[..., 0] * v[..., 0] ** 2
        return Twist._trusted(rate[..., None] * np.array(self.axis), np.zeros(3))


@dataclass(frozen=True, init=False)
class Slipping(Prismatic):
    """Its subspace is not that of its motion."""

    def subspace(self, q):
        return Subspace(2 * super().subspace(q).matrix)


@dataclass(frozen=True, init=False)
class Bare(Prismatic):
    """It gives an array where a subspace is due."""

    def subspace(self, q):
        return super().subspace(q).matrix


@dataclass(frozen=True, init=False)
class Wordless(Prismatic):
    """It does not say what its coordinates are measured in."""

    units = ()


@dataclass(frozen=True, init=False)
class Geared(Prismatic):
    """It slides twice as far as its coordinate says."""

    @property
    def screw(self):
        return 2.0, 0.0


@each_case("kind", [kind for kind in SAMPLES.values() if kind.nv], ids=repr)
def test_all_kinds_of_the_library_keep_the_contract(kind):
    check_kind(kind)
    assert type(kind) in KINDS


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Cubic("z"), "column 0 of `subspace` is fixed in neither body"),
        (Slipping("z"), "column 0 of `subspace` is not the twist of `pose`"),
        (Bare("z"), r"expected a Subspace of shape \(6, 1\) from `subspace`, got ndarray"),
        (Wordless("z"), r"expected 1 words in `units`, got \(\)"),
    ],
)
def test_what_would_give_wrong_numbers_is_refused(kind, words):
    with pytest.raises(InputError, match=words):
        made(kind)


def test_a_column_held_by_the_other_body_is_refused():
    class Freed(Universal):
        held_by_parent = ()

    with pytest.raises(InputError, match="column 0 of `subspace` is fixed in neither body"):
        check_kind(Freed("x", "y"))


def test_a_joint_of_a_user_works_at_once():
    robot = made(Geared("z"))
    near(robot.pose("arm", [0.3]).position, [0, 0, 0.6], 1e-15)
    near(robot.mass_matrix([0.3]), [[4.0]], 1e-12)
    with pytest.raises(
        InputError, match=r"scale: .* of joint 'joint' is from outside the library: expected it to have"
    ):
        robot.scale(2.0)


def test_lengths_of_a_joint_grow_with_the_robot():
    assert Helical("z", pitch=0.1).scaled(2.0) == Helical("z", pitch=0.2)
    near(made(Helical("z", pitch=0.1)).scale(2.0).pose("arm", [1.0]).position, [0, 0, 0.2], 1e-15)


def test_varied_inertias_move_as_others_do():
    robot = mb.load("quadruped")
    twist = Twist.from_vector(np.arange(6.0))
    varied = robot.tree.with_values(inertias=robot.parameters())
    for body, other in zip(robot.tree.bodies, varied.bodies, strict=True):
        near((other.inertia @ twist).vector, (body.inertia @ twist).vector, 1e-12)


def test_varied_places_need_unit_quaternions():
    tree = mb.load("planar-arm").tree
    for name in ("placements", "frame_placements"):
        with pytest.raises(InputError, match=rf"{name}: the quaternion .* has the length 1.1"):
            tree.with_values(**{name: 1.1 * getattr(tree, name)()})
