"""D_J_WF/C: a Jacobian that is written in any frame D, for a base velocity that is written in any frame C."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import jacobian, kinematics
from multibody.errors import InputError
from multibody.geometry import Pose, Twist
from multibody.model import base_velocity, configuration

from ..laws.tools import near
from ..robot.robots import identical, robot_of
from .covering import law


@law(floating=True)
def test_the_base_velocity_can_be_written_in_any_frame(s):
    """[MDN 75-76]: C_v_WB is the base's twist moved to C; the motion of the frame is the same."""
    nobody = Pose.random(s.rng)
    left = base_velocity.to_left(s.model.tree, s.q, s.v)
    F_v = kinematics.velocity(s.model.tree, s.frame, s.q, s.v, "left")
    for base in (*s.some_frames, nobody):
        W_H_C = base if isinstance(base, Pose) else kinematics.pose(s.model.tree, base, s.q)
        u = left.copy()
        for joint in s.model.tree.bases:
            C_H_B = W_H_C.inverse() @ joint.pose(s.q)
            u[joint.v] = (C_H_B @ Twist.from_vector(left[joint.v])).vector
        near(jacobian.jacobian_in(s.model.tree, s.frame, s.q, base=base) @ u, F_v, 1e-9)


@law(floating=True, pairs=False)
def test_the_bases_own_frame_and_that_where_it_stands_are_left_and_right(s):
    (joint,) = s.model.tree.bases
    for base, name in ((joint.pose(s.q), "left"), (joint.placement, "right")):
        found = jacobian.jacobian_in(s.model.tree, s.frame, s.q, written_in=Pose.identity(), base=base)
        near(found, jacobian.jacobian(s.model.with_(velocity=name).tree, s.frame, s.q, "right"), 1e-9)


@law(floating=True, pairs=False)
def test_batches_of_frames(s):
    """One place for each sample, or many for one configuration."""
    q = configuration.random(s.model.tree, s.rng, (3,))
    D, C = (Pose.random(s.rng, (2, 3)) for _ in range(2))
    found = jacobian.jacobian_in(s.model.tree, s.frame, q, written_in=D, base=C)
    assert found.shape == (2, 3, 6, s.model.nv)
    for k in np.ndindex(2, 3):
        one = jacobian.jacobian_in(s.model.tree, s.frame, q[k[1]], written_in=D[k], base=C[k])
        near(found[k], one, 1e-10)
    many = jacobian.jacobian_in(s.model.tree, s.frame, q[0], base=C)
    near(many[1, 2], jacobian.jacobian_in(s.model.tree, s.frame, q[0], base=C[1, 2]), 1e-10)


# ---- on the face -----------------------------------------------------------------------------------------------------


@pytest.fixture
def dog():
    return robot_of("quadruped")


@pytest.mark.parametrize("base", [None, "right", "foot-rh"])
@pytest.mark.parametrize("written_in", [None, "trunk"])
def test_names_make_a_kernel(dog, written_in, base):
    q = dog.random(np.random.default_rng(0), (5,))
    found = dog.jacobian_in("foot-lf", q, written_in=written_in, base=base)
    near(found, jacobian.jacobian_in(dog.model.tree, "foot-lf", q, written_in=written_in, base=base), 1e-12)
    identical(found, dog.kernel("jacobian_in", "foot-lf", written_in=written_in, base=base)(q))
    identical(dog.jacobian_in("foot-lf", q[2], written_in=written_in, base=base), found[2])
    out = np.zeros_like(found)
    assert dog.jacobian_in("foot-lf", q, written_in=written_in, base=base, out=out, threads=2) is out
    identical(out, found)
    with mb.eager():
        near(dog.jacobian_in("foot-lf", q, written_in=written_in, base=base), found, 1e-12)
    at = {"written_in": dog.pose(written_in or "foot-lf", q), "base": dog.pose(base, q) if base == "foot-rh" else base}
    assert dog.jacobian_in("foot-lf", q, **at, out=out) is out
    near(out, found, 1e-12)


def test_by_default_it_is_the_left_jacobian(dog):
    q = dog.random(np.random.default_rng(1))
    near(dog.jacobian_in("foot-lf", q), dog.jacobian("foot-lf", q, "left"), 1e-12)


def test_a_frame_named_as_a_representation(dog):
    """The word is the representation, in the kernel's key, too; `written_in` has frames alone."""
    named = dog.change(velocity="kindr").rename(frames={"foot-rh": "right"})
    q = dog.random(np.random.default_rng(2))
    near(named.jacobian_in("foot-lf", q, base="right"), dog.jacobian_in("foot-lf", q, base="right"), 1e-12)
    near(
        named.jacobian_in("foot-lf", q, written_in="right"), dog.jacobian_in("foot-lf", q, written_in="foot-rh"), 1e-12
    )


@pytest.mark.parametrize("base", ["right", "foot-rh"])
def test_many_robots(dog, base):
    """Numbers of the model that are inputs stay so when the base's velocity is written in another way."""
    q, longer = dog.random(np.random.default_rng(6)), dog.placements()
    longer[1:, :3] *= 1.3
    found = dog.kernel("jacobian_in", "foot-lf", base=base, parameters="placements")(q, longer)
    expected = dog.kernel("jacobian", "foot-lf", representation="left", parameters="placements")(q, longer)
    near(found[:, 6:], expected[:, 6:], 1e-12)
    assert np.abs(found - dog.jacobian_in("foot-lf", q, base=base)).max() > 1e-3
    v, twice, drives = np.ones(dog.nv), 2 * dog.parameters(), np.diag(dog.model.armature)
    M, h = dog.kernel("equations_of_motion", base="right", parameters="inertias")(q, v, twice)
    once = dog.equations_of_motion(q, v, "right")
    near(M - drives, 2 * (once[0] - drives), 1e-12)
    near(h, 2 * once[1], 1e-10)
    falling = dog.kernel("equations_of_motion", base="right", parameters="gravity")(q, 0 * v, np.zeros(3))
    near(falling[1], 0 * v, 1e-12)


def test_without_a_floating_base_nothing_changes():
    arm = robot_of("panda")
    q = arm.random(np.random.default_rng(3))
    for base in ("right", "tool", Pose.random(np.random.default_rng(4))):
        near(arm.jacobian_in("tool", q, base=base), arm.jacobian("tool", q, "left"), 1e-12)


def test_wrong_places(dog):
    q = np.stack([dog.home()] * 3)
    four = Pose.random(np.random.default_rng(5), (4,))
    for options in ({"written_in": four}, {"base": four}):
        with pytest.raises(InputError, match=r"batch shapes \(3,\).*\(4,\).* do not broadcast"):
            dog.jacobian_in("foot-lf", q, **options)
    with pytest.raises(InputError, match="no frame or representation is named 'lefd'; did you mean 'left'"):
        dog.jacobian_in("foot-lf", q, base="lefd")
    with pytest.raises(InputError, match="no frame or representation is named 'foot-lff'; did you mean 'foot-lf'"):
        dog.kernel("jacobian_in", "foot-lf", base="foot-lff")
    with pytest.raises(InputError, match="base: expected the name of a frame or a Pose, got int"):
        dog.jacobian_in("foot-lf", q, base=3)
    with pytest.raises(InputError, match="jacobian_in, base: expected a name, got Pose"):
        dog.kernel("jacobian_in", "foot-lf", base=Pose.identity())
    with pytest.raises(InputError, match=r"relative_jacobian needs reference="):
        dog.kernel("relative_jacobian", "foot-lf")
