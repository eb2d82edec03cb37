"""Links of maximal coordinates that users get wrong, coupled and massless ones, batches, kernels, long chains."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.maximal_coordinates import forces, velocities
from multibody.errors import InputError, SingularityError
from multibody.geometry import Pose, SpatialInertia
from multibody.model.builder import Builder
from multibody.model.joint import Mimic
from multibody.model.joints import Fixed, Prismatic, Revolute

from ..every_law import each_case
from ..sources.test_quick_tutorial_maximal import chain, inertia, state
from ..sources.truth import same


@pytest.fixture(scope="module")
def figure():
    return mb.load("branching-figure").model


def test_velocities_that_no_joint_allows(figure):
    """The message names the sample, the links, the joint, and by how much."""
    q, v, _ = state(figure, batch=(3,))
    V = velocities.link_velocities(figure, q, v)
    V[1, 2, :3] += [0.3, 0.4, 0.0]
    joint = figure.bodies[2].joint.name
    with pytest.raises(
        InputError, match=rf"sample 1.*'link3'.*'link2' at 0\.498 m/s and 0\.0289 rad/s, which joint '{joint}' forbids"
    ):
        velocities.check_velocities(figure, q, V)
    assert velocities.check_velocities(figure, q, V, within=1.0).shape == (3, figure.nv)
    V[0, 0, 0] = np.nan
    with pytest.raises(InputError, match=r"V \(sample 0\): expected finite"):
        velocities.check_velocities(figure, q, V)
    with pytest.raises(InputError, match=r"V: expected .* \(\.\.\., 4, 6\), got shape \(3, 4, 5\)"):
        velocities.joint_velocities(figure, q, V[..., :5])


@each_case("within", [np.nan, np.inf, -1e-6, "a", [1e-6], None])
def test_how_far_off_is_a_number(figure, within):
    """No number of a kind that would let every velocity pass."""
    q, _, _ = state(figure)
    V = np.random.default_rng(0).standard_normal((4, 6))
    with pytest.raises(InputError, match="within: expected"):
        velocities.check_velocities(figure, q, V, within=within)


def calls(model):
    """All functions, by name: of q and one more array of a batch shape."""
    m, nv, points = len(velocities.link_names(model)), model.nv, np.zeros((len(velocities.link_names(model)), 3))
    return {
        "link_velocities": (velocities.link_velocities, (nv,)),
        "link_jacobian": (lambda model, q, _: velocities.link_jacobian(model, q), ()),
        "joint_velocities": (velocities.joint_velocities, (m, 6)),
        "joint_velocities_by_joint": (velocities.joint_velocities_by_joint, (m, 6)),
        "check_velocities": (velocities.check_velocities, (m, 6)),
        "parent_rotations": (lambda model, q, _: velocities.parent_rotations(model, q), ()),
        "relative_angular_velocities": (velocities.relative_angular_velocities, (m, 3)),
        "local_jacobian": (lambda model, q, _: velocities.local_jacobian(model, q), ()),
        "generalized_force": (forces.generalized_force, (m, 6)),
        "at_centres": (lambda model, q, F: forces.at_centres(model, q, F, points), (m, 6)),
        "least_forces": (forces.least_forces, (nv,)),
        "applied_forces": (forces.applied_forces, (nv,)),
        "joint_torques": (forces.joint_torques, (nv,)),
        "body_torques": (forces.body_torques, (m, 3)),
        "generalized_force_of_torques": (forces.generalized_force_of_torques, (m, 3)),
        "least_forces_and_torques": (
            lambda model, q, Q: np.stack(forces.least_forces_and_torques(model, q, Q, points)),
            (nv,),
        ),
    }


QUADRUPED = mb.load("quadruped").model


@each_case("name", calls(QUADRUPED))
def test_states_that_are_refused(name):
    """Lists are taken; batches that do not broadcast, quaternions that are no units and wrong lengths are not."""
    function, core = calls(QUADRUPED)[name]
    q, _, _ = state(QUADRUPED, batch=(3,))
    np.testing.assert_array_equal(
        function(QUADRUPED, q.tolist(), np.zeros(core).tolist()), function(QUADRUPED, q, np.zeros(core))
    )
    with pytest.raises(InputError, match=r"quadruped: q needs the shape \(\.\.\., 19\), .* got \(3, 18\)"):
        function(QUADRUPED, q[:, 1:], np.zeros(core))
    with pytest.raises(InputError, match="q: expected real floats"):
        function(QUADRUPED, "a", np.zeros(core))
    q[1, 3:7] *= 2
    with pytest.raises(InputError, match=r"q \(sample 1\): the quaternion .* has the length 2"):
        function(QUADRUPED, q, np.zeros(core))
    if core:
        with pytest.raises(InputError, match=rf"{name}, q, .*: batch shapes \(3,\), \(4,\).* do not broadcast"):
            function(QUADRUPED, np.broadcast_to(q[0], (3, 19)), np.zeros((4, *core)))
        with pytest.raises(InputError, match=r"expected|needs the shape"):
            function(QUADRUPED, q[0], np.zeros((*core[:-1], core[-1] + 1)))


def test_points_of_a_batch_at_one_configuration():
    """[QT 69-70]: each row of forces and torques for its own points."""
    q, _, Q = state(QUADRUPED)
    points = np.random.default_rng(1).standard_normal((4, len(velocities.link_names(QUADRUPED)), 3))
    f, torques = forces.least_forces_and_torques(QUADRUPED, q, Q, points)
    F = np.concatenate([f, np.zeros_like(f)], axis=-1)
    total = forces.generalized_force(QUADRUPED, q, F, points=points)
    total = total + forces.generalized_force_of_torques(QUADRUPED, q, torques)
    same(total, np.broadcast_to(Q, (4, QUADRUPED.nv)), 1e-9)


def test_links_that_are_welded_cannot_part():
    b = Builder("pair")
    b.body("a", inertia()).body("b", inertia())
    b.joint("turn", Revolute("z"), parent=None, child="a").joint("weld", Fixed(), parent="a", child="b")
    model = b.model()
    V = velocities.link_velocities(model, np.array([0.3]), np.array([2.0]))
    same(velocities.check_velocities(model, np.array([0.3]), V), [2.0])
    V[1, 3] += 0.1
    with pytest.raises(InputError, match=r"'b' would leave link 'a' at 0 m/s and 0\.1 rad/s, which a rigid connection"):
        velocities.check_velocities(model, np.array([0.3]), V)


def test_coupled_joints_that_disagree():
    """Each joint allows it, but a follower turns at its ratio."""
    b = Builder("gripper")
    for k, mimic in enumerate((None, Mimic("j0", -1.0))):
        b.body(f"finger{k}", inertia())
        b.joint(f"j{k}", Revolute("z"), parent=None, child=f"finger{k}", mimic=mimic)
    model = b.model()
    q = np.array([0.2])
    V = velocities.link_velocities(model, q, np.array([1.0]))
    same(velocities.check_velocities(model, q, V), [1.0])
    V[1] *= -1
    with pytest.raises(InputError, match="share a velocity disagree: link 'finger"):
        velocities.check_velocities(model, q, V)
    Q = np.array([3.0])
    same(forces.generalized_force(model, q, forces.applied_forces(model, q, Q)), Q)


def test_a_coupled_joint_beside_a_free_one():
    """The group of one link has a velocity of its own and one that another link tells: each force is given once."""
    b = Builder("gripper")
    b.body("finger", inertia()).body("between").body("thumb", inertia())
    b.joint("j0", Revolute("z"), parent=None, child="finger")
    b.joint("j1", Revolute("z"), parent=None, child="between", mimic=Mimic("j0", -0.5))
    b.joint("j2", Revolute("x"), parent="between", child="thumb")
    model = b.model()
    q, v, Q = state(model)
    V = velocities.link_velocities(model, q, v)
    same(velocities.joint_velocities_by_joint(model, q, V), v, 1e-10)
    same(forces.generalized_force(model, q, forces.applied_forces(model, q, Q)), Q, 1e-10)
    torques = forces.joint_torques(model, q, Q)
    same(forces.generalized_force_of_torques(model, q, torques), Q, 1e-10)


def test_massless_links_between():
    """An engine has no massless links: the joints around one are read together."""
    model = chain(Revolute("x"), Prismatic("y"), Revolute("z"), Revolute("x"), massless=(1, 2))
    assert velocities.link_names(model) == ("link0", "link3")
    q, v, Q = state(model)
    V = velocities.link_velocities(model, q, v)
    same(velocities.joint_velocities_by_joint(model, q, V), v, 1e-10)
    same(forces.generalized_force(model, q, forces.applied_forces(model, q, Q)), Q, 1e-10)
    with pytest.raises(InputError, match="joint 'joint1' does not move link 'link0'"):
        velocities.joint_velocities(model, q, V[:1], ["link0"])
    with pytest.raises(InputError, match="no link is named 'link9'"):
        velocities.link_velocities(model, q, v, ["link9"])
    with pytest.raises(InputError, match="expected the names of different links"):
        velocities.link_velocities(model, q, v, ["link0", "link0"])


WITH_NAMES = {
    "link_velocities": lambda model, names: velocities.link_velocities(model, Q, np.zeros(3), names),
    "link_jacobian": lambda model, names: velocities.link_jacobian(model, Q, names),
    "joint_velocities": lambda model, names: velocities.joint_velocities(model, Q, np.zeros((3, 6)), names),
    "by_joint": lambda model, names: velocities.joint_velocities_by_joint(model, Q, np.zeros((3, 6)), names),
    "check_velocities": lambda model, names: velocities.check_velocities(model, Q, np.zeros((3, 6)), names),
    "connectivity": velocities.connectivity,
    "parent_rotations": lambda model, names: velocities.parent_rotations(model, Q, names),
    "relative": lambda model, names: velocities.relative_angular_velocities(model, Q, np.zeros((3, 3)), names),
    "local_jacobian": lambda model, names: velocities.local_jacobian(model, Q, names),
    "generalized_force": lambda model, names: forces.generalized_force(model, Q, np.zeros((3, 6)), names),
    "at_centres": lambda model, names: forces.at_centres(model, Q, np.zeros((3, 6)), np.zeros((3, 3)), names),
    "least_forces": lambda model, names: forces.least_forces(model, Q, np.zeros(3), names),
    "applied_forces": lambda model, names: forces.applied_forces(model, Q, np.zeros(3), names),
    "joint_torques": lambda model, names: forces.joint_torques(model, Q, np.zeros(3), names),
    "body_torques": lambda model, names: forces.body_torques(model, Q, np.zeros((3, 3)), names),
    "of_torques": lambda model, names: forces.generalized_force_of_torques(model, Q, np.zeros((3, 3)), names),
    "both": lambda model, names: forces.least_forces_and_torques(model, Q, np.zeros(3), np.zeros((3, 3)), names),
}
Q = np.array([0.1, 0.2, 0.3])


@each_case("name", WITH_NAMES)
def test_names_that_are_none(name):
    """A set has no order, and V has one."""
    call, arm = WITH_NAMES[name], mb.load("planar-arm")
    names = velocities.link_names(arm.model)
    expected = call(arm.model, None)
    for same_names in (names, list(names), np.array(names), dict.fromkeys(names)):
        np.testing.assert_array_equal(call(arm.model, same_names), expected)
    for bad in (5, "link1", set(names), [["link1"]], [5], np.zeros((2, 2)), (x for x in names)):
        with pytest.raises(InputError, match=r"names: expected the names of different links in a list, got"):
            call(arm.model, bad)
    for bad in (arm, 5, None):
        with pytest.raises(InputError, match=rf"expected the Model of a robot, .*got {type(bad).__name__}"):
            call(bad, None)


def test_axes_that_links_cannot_tell_apart():
    """Two hinges on one axis with nothing between: no velocity of links tells their rates."""
    b = Builder("twice")
    b.body("a").body("b", inertia())
    b.joint("one", Revolute("z"), parent=None, child="a").joint("two", Revolute("z"), parent="a", child="b")
    model, q = b.model(), np.zeros(2)
    message = "twice: the motion of link 'b' does not determine the 2 velocities of joints 'one', 'two'.*, such as 'a'"
    with pytest.raises(InputError, match=message):
        velocities.joint_velocities_by_joint(model, q, np.zeros((1, 6)))
    with pytest.raises(InputError, match=message):
        forces.applied_forces(model, q, np.ones(2))
    for all_at_once in (
        lambda: velocities.joint_velocities(model, q, np.zeros((1, 6))),
        lambda: forces.least_forces(model, q, np.ones(2)),
    ):
        with pytest.raises(SingularityError, match=r"the motion of link 'b' does not determine .* all joints"):
            all_at_once()
    with pytest.raises(InputError, match="'one', 'two' turn link 'b' about 2 axes of rank 1"):
        forces.joint_torques(model, q, np.ones(2))


def test_links_on_the_world_are_refused():
    b = Builder("post")
    b.body("post", inertia()).body("arm", inertia())
    b.joint("hinge", Revolute("z"), parent="post", child="arm")
    with pytest.raises(InputError, match="link 'post' is fixed to the world"):
        velocities.link_velocities(b.model(), np.zeros(1), np.zeros(1), ["post", "arm"])


def test_batches_and_kernels():
    """Compiled, a batch gives what single samples give as plain NumPy."""
    model = mb.load("quadruped").model
    q, v, Q = state(model, batch=(2, 3))
    m = len(velocities.link_names(model))
    V, F = velocities.link_velocities(model, q, v), forces.applied_forces(model, q, Q)
    assert V.shape == F.shape == (2, 3, m, 6)
    cases = {
        "velocities": (lambda q, v: velocities.link_velocities(model, q, v), v, V, model.nv),
        "by joint": (lambda q, V: velocities.joint_velocities_by_joint(model, q, V), V, v, (m, 6)),
        "forces": (lambda q, Q: forces.applied_forces(model, q, Q), Q, F, model.nv),
        "back": (lambda q, F: forces.generalized_force(model, q, F), F, Q, (m, 6)),
    }
    for name, (function, given_, expected, shape) in cases.items():
        np.testing.assert_allclose(function(q, given_), expected, rtol=0, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(function(q[1, 2], given_[1, 2]), expected[1, 2], rtol=0, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(function(q[1, 2], given_), function(np.broadcast_to(q[1, 2], q.shape), given_))
        kernel = mb.compile(function, model.nq, shape)
        np.testing.assert_allclose(kernel(q, given_), expected, rtol=0, atol=1e-9, err_msg=name)


def test_pseudo_inverses_compile():
    """The whole pseudo-inverses too, for robots of a moderate size; joint by joint in float32."""
    model = mb.load("planar-arm").model
    q, v, Q = state(model, batch=(5,))
    V = velocities.link_velocities(model, q, v)
    back = mb.compile(lambda q, V: velocities.joint_velocities(model, q, V), model.nq, V.shape[1:])
    same(back(q, V), v, 1e-9)
    least = mb.compile(lambda q, Q: forces.least_forces(model, q, Q), model.nq, model.nv)
    same(least(q, Q), forces.least_forces(model, q, Q), 1e-9)
    single = mb.compile(
        lambda q, V: velocities.joint_velocities_by_joint(model, q, V), model.nq, V.shape[1:], dtype=np.float32
    )(q.astype(np.float32), V.astype(np.float32))
    assert single.dtype == np.float32
    same(single, v, 1e-4)


@pytest.mark.parametrize("n", [1100, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_long_chain(n):
    """Longer than Python's recursion limit."""
    b = Builder("chain")
    one = SpatialInertia(mass=1.0, com=[0.0, 0.0, -0.05], inertia=1e-3 * np.eye(3))
    step = Pose(rotation=mb.Rotation.identity(), position=[0.0, 0.0, -0.1])
    for k in range(n):
        parent = f"link{k - 1}" if k else None
        b.body(f"link{k}", one)
        b.joint(f"joint{k}", Revolute("xy"[k % 2]), parent=parent, child=f"link{k}", placement=step)
    model = b.model()
    q, v, Q = state(model)
    same(velocities.joint_velocities_by_joint(model, q, velocities.link_velocities(model, q, v)), v, 1e-9)
    F = forces.applied_forces(model, q, Q)
    same(forces.generalized_force(model, q, F), Q, 1e-8)
