"""The model as a value: frozen, pickled, copied, shared between threads; its names and numbers."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from operator import attrgetter
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.actuation import selection
from multibody.model.actuator import Actuator
from multibody.model.builder import Builder
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint, Limits, Mimic, Passive
from multibody.model.joints import Fixed, Floating, Planar, Prismatic, Revolute, Spherical
from multibody.model.link import Link
from multibody.model.model import GRAVITY, Model

from ..every_law import each_case
from ..laws.tools import near
from .trees import models, random_inertia, random_model


@pytest.fixture
def rng():
    return np.random.default_rng(67)


@pytest.fixture
def gripper():
    b = Builder("gripper").body("palm").body("left").body("right").body("wrist")
    b.joint("mount", Fixed(), parent="wrist", child="palm")
    b.joint("open", Prismatic("x"), parent="palm", child="left", limits=Limits(0.0, 0.04, 0.2, 20.0),
            passive=Passive(armature=0.5))  # fmt: skip
    b.joint("follow", Prismatic("x"), parent="palm", child="right", limits=Limits(-1, 1), mimic=Mimic("open", -2.0),
            passive=Passive(armature=0.25))  # fmt: skip
    return b.frame("tip", "palm", [0.0, 0.0, 0.1]).model()


# ---- a value ---------------------------------------------------------------------------------------------------------


@given(models(most=5))
def test_copies_are_equal_and_work(model):
    model.digest, model.joints, model.tree.lower  # noqa: B018 - what is cached must not be in the way
    q = configuration.neutral(model.tree)
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert other is not model
        assert other == model
        assert hash(other) == hash(model)
        assert other.digest == model.digest
        assert other.tree_digest == model.tree_digest
        assert other.bodies == model.bodies
        assert other.frames == model.frames
        assert np.array_equal(configuration.neutral(other.tree), q)


def test_pickles_hold_what_was_given_alone(rng):
    model = random_model(rng, 5)
    fresh = pickle.dumps(random_model(np.random.default_rng(67), 5))
    model.digest, model.joints, model.armature, model.tree.lower  # noqa: B018
    assert len(pickle.dumps(model)) == len(fresh)


def test_models_are_frozen(gripper):
    with pytest.raises(FrozenInstanceError):
        gripper.name = "other"
    with pytest.raises(FrozenInstanceError):
        gripper.joints[0].name = "other"
    tree = gripper.tree
    for array in (tree.lower, tree.upper, tree.velocity_limits, tree.effort_limits, gripper.armature):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_models_compare_by_content(gripper):
    assert gripper == gripper.with_()
    assert gripper != gripper.with_(name="claw")
    assert gripper != "gripper"
    assert len({gripper, gripper.with_(), gripper.with_(name="claw")}) == 2


def test_lists_are_kept_as_tuples():
    model = Model("a", [Link("a"), Link("b")], [Joint("j", Revolute("x"), "a", "b")], gravity=np.zeros(3))  # type: ignore[arg-type]
    assert isinstance(model.links, tuple)
    assert isinstance(model.description, tuple)
    assert model.gravity == (0.0, 0.0, 0.0)
    assert hash(model) == hash(pickle.loads(pickle.dumps(model)))


def test_threads_see_one_model(rng):
    """Nothing is worked out before the threads start, for a pickle holds what was given alone."""
    data = pickle.dumps(random_model(rng, 30, floating=True, mimic=0.4))
    names = (
        "bodies", "joints", "all_joints", "frames", "tree.bases", "tree.floating", "tree.mass", "tree.lower",
        "tree.upper", "tree.frame_poses", "armature", "tree.velocity_limits", "digest", "tree_digest", "nq", "nv",
    )  # fmt: skip
    expected = [attrgetter(name)(pickle.loads(data)) for name in names]
    workers = 8
    with ThreadPoolExecutor(workers) as pool:
        for _ in range(5):
            model = pickle.loads(data)
            barrier = Barrier(workers)

            def read(k, model=model, barrier=barrier):
                barrier.wait()
                order = names[k:] + names[:k]
                found = {name: attrgetter(name)(model) for name in order}
                return [found[name] for name in names]

            for found in pool.map(read, range(workers)):
                for one, other in zip(found, expected, strict=True):
                    same = np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other
                    assert same


# ---- names -----------------------------------------------------------------------------------------------------------


def test_things_are_found_by_name(gripper):
    assert gripper.tree.frame("tip")[0] == 0
    near(gripper.tree.frame("tip")[1].position, [0, 0, 0.1], 0.0)
    assert gripper.joint("mount").kind == Fixed()
    assert gripper.joint("open").q == slice(0, 1)
    assert gripper.link("left").name == "left"
    assert [joint.name for joint in gripper.joints] == ["open", "follow"]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda m: m.tree.frame("tipp"), "gripper: no frame is named 'tipp'; did you mean 'tip'?"),
        (lambda m: m.joint("opne"), "gripper: no joint is named 'opne'; did you mean 'open'?"),
        (lambda m: m.link("lefty"), "gripper: no link is named 'lefty'; did you mean 'left'?"),
        (lambda m: m.link("zzz"), "gripper: no link is named 'zzz'; it has 'palm', 'left', 'right', 'wrist'"),
        (lambda m: m.tree.frame(["tip"]), "gripper: no frame is named ['tip']"),
        (lambda m: m.tree.frame(None), "gripper: no frame is named None"),
        (lambda m: m.tree.chain("tip", "nowhere"), "gripper: no frame is named 'nowhere'"),
    ],
)
def test_unknown_names_are_told_with_a_hint(gripper, ask, says):
    with pytest.raises(InputError) as error:
        ask(gripper)
    assert says in str(error.value)


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_limits_are_those_of_the_coordinates(gripper):
    assert gripper.tree.lower.tolist() == [0.0]
    assert gripper.tree.upper.tolist() == [0.04]
    assert gripper.tree.velocity_limits.tolist() == [0.2]
    assert gripper.tree.effort_limits.tolist() == [20.0]


def test_limits_are_spread_over_joints_of_several_coordinates():
    b = Builder("mixed").body("a").body("b").body("c")
    b.joint("plane", Planar(), parent="a", child="b", limits=Limits((-1, -2, -3), 4.0, (1, 2, 3)))
    b.joint("ball", Spherical(), parent="b", child="c", limits=Limits(effort=7.0))
    model = b.model()
    assert model.tree.lower.tolist() == [-1, -2, -3, *[-np.inf] * 4]
    assert model.tree.upper.tolist() == [4, 4, 4, *[np.inf] * 4]
    assert model.tree.velocity_limits.tolist() == [1, 2, 3, *[np.inf] * 3]
    assert model.tree.effort_limits.tolist() == [*[np.inf] * 3, 7, 7, 7]
    assert model.joint("plane").limits == Limits((-1, -2, -3), (4, 4, 4), (1, 2, 3), (np.inf,) * 3)


def test_armature_is_what_drives_add(gripper):
    """A mimic joint's rotor turns `ratio` times as fast: ratio² times its inertia."""
    near(gripper.armature, [0.5 + 4 * 0.25], 1e-15)
    driven = gripper.with_(actuators=(Actuator("motor", "open", gear=10.0, rotor_inertia=0.02),))
    near(driven.armature, [0.5 + 1.0 + 100 * 0.02], 1e-15)


def test_the_base_of_a_floating_robot_has_no_motor(rng):
    """S = [0 1].  [RD 3.56]"""
    model = random_model(rng, 4, kinds=("revolute", "prismatic"), floating=True)
    near(selection(model), np.hstack([np.zeros((4, 6)), np.eye(4)]), 0.0)


def test_mass_is_that_of_moving_bodies(rng):
    parts = [random_inertia(rng) for _ in range(3)]
    b = Builder("two").body("a", parts[0]).body("b", parts[1]).body("c", parts[2])
    b.joint("ab", Revolute("x"), parent="a", child="b").joint("bc", Fixed(), parent="b", child="c")
    near(b.model().tree.mass, parts[1].mass + parts[2].mass, 1e-15)
    near(b.model(floating=True).tree.mass, sum(part.mass for part in parts), 1e-15)


def test_floating_says_whether_the_first_body_floats(rng):
    assert random_model(rng, 2, floating=True).tree.floating
    assert not random_model(rng, 2).tree.floating
    assert not Builder("stone").body("stone").model().tree.floating
    assert Builder("stone").body("stone").model(floating=True).tree.floating
    b = Builder("two").body("fixed").body("arm").body("free")
    b.joint("turn", Revolute("x"), parent="fixed", child="arm").joint("fly", Floating(), parent="arm", child="free")
    assert not b.model().tree.floating
    assert b.model().tree.bases == ()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"velocity": "spatial"}, "velocity: expected one of 'left', 'right', 'mixed', 'kindr', got 'spatial'"),
        ({"gravity": (0, 0)}, "gravity: expected three finite numbers, got (0, 0)"),
        ({"gravity": (0, 0, np.nan)}, "gravity: expected three finite numbers"),
        ({"home": (1.0, 2.0)}, "home: expected 1 finite numbers, got (1.0, 2.0)"),
        ({"home": (np.nan,)}, "home: expected 1 finite numbers"),
        ({"home": 5}, "home: expected 1 finite numbers, got 5"),
        ({"home": [10**400]}, "home: expected 1 finite numbers, got [1000"),
        ({"links": 5}, "links: expected a list of Link objects, got 5"),
        ({"description": ["turn"]}, "description: expected a list of Joint objects, got 'turn' in it"),
        ({"extra_frames": None}, "extra_frames: expected a list of Frame objects, got None"),
        ({"actuators": Actuator("m", "follow")}, "actuators: expected a list of Actuator objects, got Actuator("),
        ({"actuators": (Actuator("m", "nowhere"),)}, "gripper: no joint is named 'nowhere'"),
        ({"actuators": (Actuator("m", "follow"),)}, "actuator 'm': expected a joint with a coordinate of its own"),
        ({"actuators": (Actuator("m", "mount"),)}, "actuator 'm': expected a joint with a coordinate of its own"),
    ],
)
def test_wrong_fields_are_told(gripper, changes, says):
    with pytest.raises(InputError) as error:
        gripper.with_(**changes)
    assert says in str(error.value)


@each_case(
    "make, says",
    [
        (lambda: Actuator("m", "j", gear=0.0), "actuator 'm': expected a gear other than 0"),
        (lambda: Actuator("m", "j", gear=np.inf), "actuator 'm': expected a finite gear, got inf"),
        (
            lambda: Actuator("m", "j", rotor_inertia=-1.0),
            "actuator 'm': expected a gear other than 0 and a rotor inertia",
        ),
        (lambda: Actuator("m", "j", effort=-1.0), "effort of at least 0, got 1.0, 0.0, -1.0"),
        (lambda: Passive(damping=-1.0), "damping: expected a finite number that is not negative, got -1.0"),
        (lambda: Passive(armature=np.nan), "armature: expected a finite number that is not negative, got nan"),
        (lambda: Limits(lower="low"), "limits.lower: expected one number or several, got 'low'"),
    ],
)
def test_wrong_parts_are_told(make, says):
    with pytest.raises(InputError) as error:
        make()
    assert says in str(error.value)


def test_parts_are_frozen_and_hashable():
    limits = Limits([-1, -2], np.array([1, 2]))
    assert limits == Limits((-1.0, -2.0), (1.0, 2.0))
    assert hash(limits) == hash(Limits((-1.0, -2.0), (1.0, 2.0)))
    joint = Joint("j", Revolute("x"), "a", "b", Pose.identity(), limits)
    assert hash(joint) == hash(Joint("j", Revolute("x"), "a", "b", Pose.identity(), limits))
    assert Actuator("m", "j", 3.0, 2.0).reflected_inertia == 18.0
    assert GRAVITY == (0.0, 0.0, -9.81)


def test_diagnostics_keep_the_tree(gripper):
    noted = gripper.with_diagnostics(Diagnostic("note", "code", "message"))
    assert noted.diagnostics == (*gripper.diagnostics, Diagnostic("note", "code", "message"))
    assert noted == gripper
    assert noted.bodies is gripper.bodies
