"""Joints that one link does not determine: around massless hubs, with mimic joints, and with aligned axes."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.maximal_coordinates import clusters, forces, velocities
from multibody.errors import InputError, SingularityError
from multibody.geometry import Pose
from multibody.model.builder import Builder
from multibody.model.joint import Mimic
from multibody.model.joints import Revolute

from ..sources.test_quick_tutorial_maximal import inertia, state
from ..sources.truth import same


def hub(hinges=2):
    """A massless link that floats, with links on hinges."""
    b = Builder("hub").body("hub")
    for k in range(hinges):
        b.body(f"link{k}", inertia())
        place = Pose(mb.Rotation.identity(), [0.1, 0.5 - k, 0.2])
        b.joint(f"hinge{k}", Revolute("zxy"[k]), parent="hub", child=f"link{k}", placement=place)
    return b.model(floating=True)


@pytest.mark.parametrize("hinges", [2, 3])
def test_joints_around_a_massless_hub_are_solved_together(hinges):
    """Seven velocities or more lead to each link, whose motion tells six: the other links tell the rest."""
    model = hub(hinges)
    q, v, Q = state(model, batch=(100,))
    V = velocities.link_velocities(model, q, v)
    same(velocities.joint_velocities_by_joint(model, q, V), v, 1e-9)
    same(velocities.joint_velocities_by_joint(model, q[7], V[7]), v[7], 1e-9)
    F = forces.applied_forces(model, q, Q)
    same(forces.generalized_force(model, q, F), Q, 1e-9)
    kernel = mb.compile(lambda q, V: velocities.joint_velocities_by_joint(model, q, V), model.nq, V.shape[1:])
    same(kernel(q, V), v, 1e-9)
    kernel = mb.compile(lambda q, Q: forces.applied_forces(model, q, Q), model.nq, model.nv)
    same(kernel(q, Q), F, 1e-9)


def test_a_hub_that_one_link_does_not_tell():
    """Decided from the structure, at any state, also where code is traced; naming the hub helps."""
    model = hub(1)
    q, v, Q = state(model, batch=(20,))
    V = velocities.link_velocities(model, q, v)
    message = (
        "hub: the motion of link 'link0' does not determine the 7 velocities of joints .*'hinge0'; .* such as 'hub'"
    )
    for sample in range(20):
        with pytest.raises(InputError, match=message):
            velocities.joint_velocities_by_joint(model, q[sample], V[sample])
        with pytest.raises(InputError, match=message):
            forces.applied_forces(model, q[sample], Q[sample])
    with pytest.raises(InputError, match=message):
        mb.compile(lambda q, V: velocities.joint_velocities_by_joint(model, q, V), model.nq, (1, 6))
    names = ["hub", "link0"]
    same(velocities.joint_velocities_by_joint(model, q, velocities.link_velocities(model, q, v, names), names), v, 1e-9)
    F = forces.applied_forces(model, q, Q, names)
    same(forces.generalized_force(model, q, F, names), Q, 1e-9)


def test_a_base_that_is_not_named():
    """The legs of a quadruped tell how its base moves, and those that share no velocity stay apart."""
    model = mb.load("quadruped").model
    names = velocities.link_names(model)[1:]
    q, v, Q = state(model, batch=(20,))
    V = velocities.link_velocities(model, q, v, names)
    same(velocities.joint_velocities_by_joint(model, q, V, names), v, 1e-9)
    F = forces.applied_forces(model, q, Q, names)
    same(forces.generalized_force(model, q, F, names), Q, 1e-9)
    sizes = sorted(len(one.links) for one in clusters.clusters(model, clusters.links(model, names)))
    assert sizes == [1] * 8 + [4]


def test_a_follower_tells_what_its_own_link_does_not():
    """Two hinges on one axis; one of them has a follower elsewhere, and another that does not move at all."""
    b = Builder("pair")
    b.body("still", inertia()).body("a").body("b", inertia()).body("c", inertia())
    b.joint("one", Revolute("z"), parent=None, child="a").joint("two", Revolute("z"), parent="a", child="b")
    b.joint("three", Revolute("x"), parent=None, child="c", mimic=Mimic("one", 2.0))
    b.joint("four", Revolute("x"), parent=None, child="still", mimic=Mimic("one", 0.0))
    model = b.model()
    q, v, Q = state(model)
    same(velocities.joint_velocities_by_joint(model, q, velocities.link_velocities(model, q, v)), v, 1e-9)
    same(forces.generalized_force(model, q, forces.applied_forces(model, q, Q)), Q, 1e-9)


def gimbal():
    """Three hinges with massless links between, which lock where the one in the middle is at zero."""
    b = Builder("gimbal").body("link0").body("link1").body("link2", inertia())
    for k, axis in enumerate("zxz"):
        b.joint(f"joint{k}", Revolute(axis), parent=f"link{k - 1}" if k else None, child=f"link{k}")
    return b.model()


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-8])
def test_massless_gimbals_that_lock(off):
    """Where axes fall together, or nearly so, there is an error that names the sample and not a number."""
    model = gimbal()
    q = np.array([[0.3, 1.0, 0.2], [0.3, off, 0.2]])
    v = np.random.default_rng(0).standard_normal((2, 3))
    V = velocities.link_velocities(model, q, v)
    same(velocities.joint_velocities_by_joint(model, q[0], V[0]), v[0], 1e-9)
    message = r"link 'link2' does not determine the 3 velocities of joints .* at this configuration \(sample 1\)"
    with pytest.raises(SingularityError, match=message):
        velocities.joint_velocities_by_joint(model, q, V)
    with pytest.raises(SingularityError, match=message):
        forces.applied_forces(model, q, v)
    with pytest.raises(SingularityError, match=r"angular velocity of link 'link2' .* \(sample 1\)"):
        forces.joint_torques(model, q, v)


def test_close_to_a_lock_there_are_digits_left():
    model = gimbal()
    q, v = np.array([0.3, 1e-6, 0.2]), np.array([1.0, -2.0, 0.5])
    same(velocities.joint_velocities_by_joint(model, q, velocities.link_velocities(model, q, v)), v, 1e-5)


def test_states_that_are_no_numbers_stay_so():
    """A sample of a batch that went to nan leaves the others alone, and is no singularity."""
    model = hub()
    q, v, _ = state(model, batch=(2,))
    V = velocities.link_velocities(model, q, v)
    q[1, -1] = np.nan
    found = velocities.joint_velocities_by_joint(model, q, V)
    same(found[0], v[0], 1e-9)
    assert np.isnan(found[1]).any()
