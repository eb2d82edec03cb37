"""From links and joints to bodies: order, merged links, frames, coordinates, and every way not to be a tree."""

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.model.build_tree import StructureError, assemble
from multibody.model.builder import Builder
from multibody.model.joint import Joint, Limits, Mimic, Passive
from multibody.model.joints import Continuous, Fixed, Helical, Planar, Prismatic, Revolute, Spherical
from multibody.model.link import Frame, Link
from multibody.model.model import Model

from ..cpu_time import cpu_limit
from ..every_law import each_case
from ..laws.tools import near
from ..surface import particles, rotational_inertia
from .trees import models, random_inertia, random_model, world_poses


@pytest.fixture
def rng():
    return np.random.default_rng(53)


def joint(name, parent, child, kind=None, **more):
    return Joint(name, kind or Revolute("z"), parent, child, **more)


def links(*names):
    return [Link(name) for name in names]


# ---- order -----------------------------------------------------------------------------------------------------------


def test_bodies_are_depth_first_in_the_order_of_their_joints():
    """[QT §5.1]: figure 1 there has such a tree."""
    tree = assemble(
        links("e", "d", "c", "b", "a", "root"),
        [joint("4", "c", "d"), joint("2", "root", "b"), joint("1", "root", "a"), joint("3", "b", "c"),
         joint("5", "a", "e")],
        [],
    )  # fmt: skip
    assert [body.name for body in tree.bodies] == ["b", "c", "d", "a", "e"]
    assert [body.parent for body in tree.bodies] == [0, 1, 2, 0, 4]
    assert [body.index for body in tree.bodies] == [1, 2, 3, 4, 5]
    assert [j.name for j in tree.joints] == ["2", "3", "4", "1", "5"]
    assert [j.q for j in tree.joints] == [slice(k, k + 1) for k in range(5)]


def test_coordinates_follow_the_joints_of_the_tree():
    tree = assemble(
        links("root", "a", "b", "c"),
        [joint("one", "root", "a", Spherical()), joint("two", "a", "b", Fixed()), joint("three", "b", "c", Planar())],
        [],
    )
    one, two, three = tree.joints
    assert (sum(j.nq for j in tree.joints), sum(j.nv for j in tree.joints)) == (7, 6)
    assert (one.q, one.v) == (slice(0, 4), slice(0, 3))
    assert (two.nq, two.nv) == (0, 0)
    assert (three.q, three.v) == (slice(4, 7), slice(3, 6))


@given(models())
def test_trees_walk_parents_first_and_children_last(model):
    seen = {0}
    for i, p, body in model.tree.outward():
        assert p in seen
        assert body.index == i == len(seen)
        seen.add(i)
    assert [i for i, _, _ in model.tree.inward()] == [i for i, _, _ in model.tree.outward()][::-1]
    for body in model.bodies:
        i = body.index
        assert i in model.tree.children(body.parent)
        assert model.tree.support(i) == (*model.tree.support(body.parent), i)
        below = {k for k in range(1, len(model.bodies) + 1) if i in model.tree.support(k)}
        assert set(model.tree.subtree(i)) == below
    assert model.tree.subtree(0) == tuple(range(len(model.bodies) + 1))
    names = [j.name for j in model.joints]
    assert names == [body.joint.name for body in model.bodies]


@given(models(most=8), st.data())
def test_chain_is_what_moves_one_frame_relative_to_another(model, data):
    one, two = (data.draw(st.sampled_from(model.frames)) for _ in range(2))
    chain = model.tree.chain(one, two)
    assert model.tree.chain(two, one) == chain[::-1]
    ways = [set(model.tree.support(model.tree.frame(name)[0])) for name in (one, two)]
    assert set(chain) == ways[0] ^ ways[1]
    assert len(chain) == len(set(chain))
    for here, there in pairwise(chain):
        ends = (model.bodies[here - 1].parent, model.bodies[there - 1].parent)
        assert here == ends[1] or there == ends[0] or ends[0] == ends[1]


def test_the_order_in_which_links_are_given_does_not_matter(rng):
    model = random_model(rng, 6)
    again = Model(model.name, model.links[::-1], model.description, model.extra_frames, model.gravity)
    assert [body.joint for body in again.bodies] == [body.joint for body in model.bodies]


# ---- merged links ----------------------------------------------------------------------------------------------------


def test_links_that_are_fixed_together_are_one_body(rng):
    """Inertia by the particles themselves, without any formula for rigid bodies."""
    poses = [Pose.random(rng) for _ in range(3)]
    clouds = [particles(rng) for _ in range(4)]
    bodies = []
    for masses, places in clouds:
        com = masses @ places / masses.sum()
        inertia = rotational_inertia(masses, places - com)
        bodies.append(SpatialInertia(mass=masses.sum(), com=com, inertia=inertia))
    b = Builder("welded").body("root").body("a", bodies[0]).body("b", bodies[1]).body("c", bodies[2])
    b.body("d", bodies[3]).body("mark")
    b.joint("move", Revolute("z"), parent="root", child="a")
    b.joint("ab", Fixed(), parent="a", child="b", placement=poses[0])
    b.joint("bc", Fixed(), parent="b", child="c", placement=poses[1])
    b.joint("ad", Fixed(), parent="a", child="d", placement=poses[2])
    b.joint("cm", Fixed(), parent="c", child="mark", placement=poses[2])
    model = b.model()
    (body,) = model.bodies
    assert body.links == ("a", "b", "c", "mark", "d")

    in_a = [Pose.identity(), poses[0], poses[0] @ poses[1], poses[2]]
    places = np.concatenate([H @ cloud[1] for H, cloud in zip(in_a, clouds, strict=True)])
    masses = np.concatenate([cloud[0] for cloud in clouds])
    com = masses @ places / masses.sum()
    near(body.inertia.mass, masses.sum(), 1e-14)
    near(body.inertia.com, com, 1e-14)
    near(body.inertia.inertia, rotational_inertia(masses, places - com), 1e-13)
    near(model.tree.mass, masses.sum(), 1e-14)


def test_joints_behind_fixed_links_are_placed_from_the_body(rng):
    placements = [Pose.random(rng) for _ in range(3)]
    b = Builder("behind").body("root").body("arm").body("bracket").body("hand")
    b.joint("move", Revolute("x"), parent="root", child="arm", placement=placements[0])
    b.joint("weld", Fixed(), parent="arm", child="bracket", placement=placements[1])
    b.joint("turn", Revolute("y"), parent="bracket", child="hand", placement=placements[2])
    b.frame("tip", "bracket", placements[0])
    model = b.model()
    q = rng.uniform(-1, 1, 2)
    H = placements[0] @ Revolute("x").pose(q[:1]) @ placements[1] @ placements[2] @ Revolute("y").pose(q[1:])
    near(world_poses(model, q)[2].matrix, H.matrix, 1e-14)
    near(model.tree.frame("bracket")[1].matrix, placements[1].matrix, 0.0)
    near(model.tree.frame("tip")[1].matrix, (placements[1] @ placements[0]).matrix, 1e-15)
    assert model.description[2].placement == placements[2]


def test_what_is_fixed_to_the_world_has_no_part_in_the_motion(rng):
    b = Builder("table").body("base", random_inertia(rng)).body("post", random_inertia(rng)).body("arm")
    b.joint("weld", Fixed(), parent="base", child="post", placement=[0.0, 0.0, 1.0])
    b.joint("move", Revolute("x"), parent="post", child="arm")
    model = b.model()
    assert model.tree.mass == 0.0
    assert model.tree.frame("post")[0] == 0
    near(model.tree.frame("post")[1].position, [0, 0, 1], 0.0)
    assert model.bodies[0].parent == 0
    assert model.bodies[0].inertia.mass == 0.0


def test_a_joint_can_hang_on_the_world_itself():
    model = Builder("one").body("a").joint("move", Prismatic("x"), parent=None, child="a").model()
    assert model.nv == 1
    assert model.tree.frame("a")[0] == 1


def test_frames_are_links_first_then_the_others():
    b = Builder("framed").body("z").body("a").joint("j", Revolute("x"), parent="z", child="a")
    model = b.frame("tool", "a", [1.0, 0, 0]).frame("camera", "z").model()
    assert model.frames == ("z", "a", "tool", "camera")
    assert model.tree.frame("tool")[0] == 1
    assert model.tree.frame("camera")[0] == 0


# ---- mimic -----------------------------------------------------------------------------------------------------------


def test_mimic_joints_follow_through_chains():
    b = Builder("hand").body("root").body("a").body("b").body("c").body("d").body("e")
    b.joint("wrist", Spherical(), parent="root", child="e")
    b.joint("third", Prismatic("z"), parent="root", child="c", mimic=Mimic("second", -3.0, 0.5))
    b.joint("second", Continuous("z"), parent="root", child="b", mimic=Mimic("first", 2.0, 0.1))
    b.joint("other", Helical("z", pitch=0.1), parent="root", child="d")
    b.joint("first", Revolute("z"), parent="root", child="a")
    model = b.model()
    assert (model.nq, model.nv) == (6, 5)
    first, second, third = (model.joint(name) for name in ("first", "second", "third"))
    assert second.q == third.q == first.q == slice(5, 6)
    assert second.v == third.v == first.v == slice(4, 5)
    assert (second.nq, third.nv) == (0, 0)
    assert third.mimic == Mimic("first", -6.0, 0.5 - 3.0 * 0.1)
    q, v = np.array([1.0, 0.0, 0.0, 0.0, 7.0, 0.4]), np.array([1.0, 2.0, 3.0, 7.0, 0.3])
    near(second.coordinates(q), [2.0 * 0.4 + 0.1], 1e-15)
    near(third.coordinates(q), [-3.0 * (2.0 * 0.4 + 0.1) + 0.5], 1e-15)
    near(third.rates(v), [-6.0 * 0.3], 1e-15)
    near(third.subspace(q).matrix[:, 0], [0, 0, -6.0, 0, 0, 0], 0.0)


@each_case(
    "mimics, says, at",
    [
        ({"a": "nobody"}, "joint 'a' mimics the joint 'nobody', which does not exist", "a"),
        ({"a": "a"}, "joint 'a' mimics itself", "a"),
        ({"a": "b", "b": "a"}, "joint 'a' mimics in a circle: a -> b -> a", "a"),
        ({"a": "b", "b": "c", "c": "b"}, "joint 'a' mimics in a circle: a -> b -> c -> b", "a"),
        ({"a": "ball"}, "joint 'a' mimics 'ball': both need one coordinate, and 'ball' is spherical", "a"),
        ({"ball": "a"}, "joint 'ball' mimics 'a': both need one coordinate, and 'ball' is spherical", "ball"),
        ({"weld": "a"}, "joint 'weld' mimics 'a': both need one coordinate, and 'weld' is fixed", "weld"),
    ],
)
def test_mimics_that_cannot_be(mimics, says, at):
    kinds = {"a": Revolute("z"), "b": Revolute("z"), "c": Prismatic("x"), "ball": Spherical(), "weld": Fixed()}
    joints = [
        joint(name, "root", f"link {name}", kind, mimic=Mimic(mimics[name]) if name in mimics else None)
        for name, kind in kinds.items()
    ]
    with pytest.raises(StructureError) as error:
        assemble(links("root", *(f"link {name}" for name in kinds)), joints, [])
    assert says in str(error.value)
    assert error.value.element == ("joint", at)


def test_a_mimic_needs_numbers():
    joints = [joint("a", "root", "x"), joint("b", "root", "y", mimic=Mimic("a", np.nan))]
    with pytest.raises(StructureError, match="joint 'b' mimics with the ratio nan"):
        assemble(links("root", "x", "y"), joints, [])


# ---- what is not a tree ----------------------------------------------------------------------------------------------

NOT_TREES = {
    "no links": ([], [], [], "a robot has at least one link", ("robot", "")),
    "two links of one name": (["a", "a"], [], [], "two links are named 'a'", ("link", "a")),
    "two joints of one name": (
        ["a", "b", "c"], [("j", "a", "b"), ("j", "b", "c")], [], "two joints are named 'j'", ("joint", "j"),
    ),
    "link without name": (["a", ""], [], [], "a link has an empty name", ("link", "")),
    "joint without name": (["a", "b"], [("", "a", "b")], [], "a joint has an empty name", ("joint", "")),
    "two roots": (["a", "b", "c"], [("j", "a", "b")], [], "2 links have no parent: 'a', 'c'", ("link", "c")),
    "two parents": (
        ["a", "b", "c"], [("i", "a", "c"), ("j", "b", "c"), ("k", "a", "b")], [],
        "link 'c' has two parents: it is the child of the joints 'i' and 'j'", ("joint", "j"),
    ),
    "joint to itself": (["a", "b"], [("j", "b", "b")], [], "joint 'j' joins the link 'b' to itself", ("joint", "j")),
    "missing parent": (["a"], [("j", "x", "a")], [], "joint 'j' has the parent link 'x', which does", ("joint", "j")),
    "missing child": (["a"], [("j", "a", "x")], [], "joint 'j' has the child link 'x', which does not", ("joint", "j")),
    "no child": (["a"], [("j", "a", None)], [], "joint 'j' has the child link None, which does not", ("joint", "j")),
    "all in a cycle": (
        ["a", "b", "c"], [("i", "a", "b"), ("j", "b", "c"), ("k", "c", "a")], [], "joints form a cycle", ("joint", "i"),
    ),
    "a cycle beside a tree": (
        ["root", "x", "a", "b", "c"], [("t", "root", "x"), ("i", "a", "b"), ("j", "b", "a"), ("k", "b", "c")], [],
        "joints form a cycle through the links b -> a -> b", ("joint", "i"),
    ),
    "frame of a link's name": (["a"], [], [("a", "a")], "two links or frames are named 'a'", ("frame", "a")),
    "two frames of one name": (
        ["a"], [], [("f", "a"), ("f", "a")], "two links or frames are named 'f'", ("frame", "f"),
    ),
    "frame on no link": (["a"], [], [("f", "x")], "frame 'f' is on the link 'x', which does not exist", ("frame", "f")),
}  # fmt: skip


@each_case("case", NOT_TREES)
def test_what_is_not_a_tree_is_told(case):
    names, joints, frames, says, element = NOT_TREES[case]
    with pytest.raises(StructureError) as error:
        assemble(links(*names), [joint(*parts) for parts in joints], [Frame(*parts) for parts in frames])
    assert says in str(error.value)
    if case != "all in a cycle":
        assert error.value.element == element
    else:
        assert error.value.element[1] in ("i", "j", "k")


def test_a_cycle_is_named_along_its_joints():
    names, joints, *_ = NOT_TREES["all in a cycle"]
    with pytest.raises(StructureError) as error:
        assemble(links(*names), [joint(*parts) for parts in joints], [])
    way = str(error.value).split("links ")[1].split(" -> ")
    edges = {(parent, child) for _, parent, child in joints}
    assert way[0] == way[-1]
    assert all(edge in edges for edge in pairwise(way))


@each_case(
    "limits, says",
    [
        (Limits(lower=1.0, upper=-1.0), "joint 'j': limits of coordinate 0: expected lower <= upper, got 1 and -1"),
        (Limits(lower=(0.0, 1.0)), "joint 'j': limits.lower: expected one number or 1, got (0.0, 1.0)"),
        (Limits(upper=float("nan")), "joint 'j': limits.upper: expected numbers, got nan"),
        (Limits(velocity=-1.0), "joint 'j': limits.velocity: expected numbers that are not negative"),
        (Limits(effort=-1.0), "joint 'j': limits.effort: expected numbers that are not negative"),
    ],
)
def test_limits_that_cannot_be(limits, says):
    with pytest.raises(StructureError) as error:
        assemble(links("a", "b"), [joint("j", "a", "b", limits=limits)], [])
    assert says in str(error.value)
    assert error.value.element == ("joint", "j")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"placement": Pose(Rotation.identity(), [0.0, np.nan, 0.0])}, "joint 'j': expected one placement of finite"),
        ({"placement": Pose.identity((2,))}, "joint 'j': expected one placement of finite numbers"),
        (
            {"passive": Passive(rest=(0.0, 1.0))},
            "joint 'j': expected 1 finite numbers where its spring is at rest, got",
        ),
        ({"passive": Passive(rest=(np.nan,))}, "joint 'j': expected 1 finite numbers where its spring is at rest, got"),
    ],
)
def test_joints_that_cannot_be(more, says):
    with pytest.raises(StructureError) as error:
        assemble(links("a", "b"), [joint("j", "a", "b", **more)], [])
    assert says in str(error.value)
    assert error.value.element == ("joint", "j")


# ---- size ------------------------------------------------------------------------------------------------------------


def test_a_chain_of_five_thousand_links_is_quick():
    n = 5000
    names = [f"link{k}" for k in range(n + 1)]
    inertia = SpatialInertia(mass=1.0, com=np.zeros(3), inertia=np.eye(3))
    start = time.process_time()
    model = Model(
        "long",
        tuple(Link(name, inertia) for name in names),
        tuple(joint(f"j{k}", names[k], names[k + 1], Fixed() if k % 5 == 4 else None) for k in range(n)),
    )
    assert len(model.tree.support(len(model.bodies))) == model.nv == n * 4 // 5
    assert len(model.tree.subtree(1)) == model.nv
    assert len(model.tree.chain(names[0], names[-1])) == model.nv
    assert model.tree.mass == n
    assert len(model.digest) == 64
    assert time.process_time() - start < cpu_limit(10.0)


def test_a_cycle_of_five_thousand_links_is_found():
    n = 5000
    names = [str(k) for k in range(n)]
    joints = [joint(f"j{k}", names[k], names[(k + 1) % n]) for k in range(n)]
    with pytest.raises(StructureError, match="joints form a cycle") as error:
        assemble(links(*names), joints, [])
    assert len(str(error.value)) < 200
