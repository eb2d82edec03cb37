"""One spelling in the public API, that of NumPy and SciPy; the other one is answered with the right name."""

import inspect
import re
import types

import numpy as np
import pytest

import multibody as mb
from multibody._spelling import british
from multibody.identification import identify

STEMS = (
    "general|linear|regular|normal|optim|minim|maxim|initial|priorit|stabil|parametr|parameter|discret|symmetr|visual"
)
STEMS += "|vector|local|organ|recogn|synchron|quant|factor|equal|serial|random|character|summar|util|symbol|special"
BRITISH = re.compile(
    rf"({STEMS})is(e|ed|es|er|ing|ation)(?![a-z])|centre|colour|behaviour|neighbour|grey|alys(e|ed|es|er)(?![a-z])",
    re.I,
)
ALIASES = {"linearise"}
"""Attributes of classes with an earlier name, beside the new one."""


def owners():
    """The public modules and classes, by their paths."""
    waiting, found = [("mb", mb)], {}
    while waiting:
        path, owner = waiting.pop()
        found[path] = owner
        public = getattr(owner, "__all__", None) or [n for n in vars(owner) if not n.startswith("_")]
        for name in public if isinstance(owner, types.ModuleType) else ():
            value = getattr(owner, name)
            ours = getattr(value, "__module__", getattr(value, "__name__", "")) or ""
            is_owner = inspect.ismodule(value) or inspect.isclass(value)
            known = any(value is other for other in found.values())
            if is_owner and not known and (ours if inspect.isclass(value) else value.__name__).startswith("multibody"):
                waiting.append((f"{path}.{name}", value))
    return found


OWNERS = owners()


def names_of(owner):
    if isinstance(owner, types.ModuleType):
        return list(getattr(owner, "__all__", None) or [n for n in vars(owner) if not n.startswith("_")])
    return [name for name in dir(owner) if not name.startswith("_")]


def arguments_of(value):
    try:
        return list(inspect.signature(value).parameters) if callable(value) else []
    except (TypeError, ValueError):
        return []


def test_there_are_names_to_check():
    assert len(OWNERS) > 100
    assert sum(len(names_of(owner)) for owner in OWNERS.values()) > 1000


@pytest.mark.parametrize("path", OWNERS)
def test_every_public_name_has_the_spelling_of_numpy(path):
    owner = OWNERS[path]
    for name in names_of(owner):
        assert name in ALIASES or not BRITISH.search(name), f"{path}.{name}"
        value = getattr(owner, name) if isinstance(owner, types.ModuleType) else inspect.getattr_static(owner, name)
        for argument in arguments_of(value):
            assert not BRITISH.search(argument), f"{path}.{name}({argument})"


@pytest.mark.parametrize("path", OWNERS)
def test_the_other_spelling_is_an_alias_or_names_the_right_one(path):
    owner = OWNERS[path]
    for name in names_of(owner):
        other = british(name)
        if other is None:
            continue
        assert BRITISH.search(other), "the two rules of spelling differ"
        if other in vars(owner) and vars(owner)[other] is vars(owner)[name]:
            continue
        with pytest.raises(AttributeError, match=rf"use .*\b{name}\b"):
            getattr(owner, other)


def test_both_spellings_of_words():
    words = {
        "center_of_mass": "centre_of_mass",
        "CenterOfMassTask": "CentreOfMassTask",
        "Generalized": "Generalised",
        "linearize": "linearise",
        "Linearization": "Linearisation",
        "normalized": "normalised",
        "color": "colour",
        "analyze": "analyse",
    }
    assert {american: british(american) for american in words} == words
    for same in ("size", "resize", "parameters", "array", "horizon", "prize", "capsize", "quaternion"):
        assert british(same) is None, same


def test_an_earlier_spelling_of_an_argument_is_taken_still():
    robot, rng = mb.load("cart-pendulum"), np.random.default_rng(0)
    q, v, a = rng.standard_normal((3, 30, 2))
    tau = robot.inverse_dynamics(q, v, a)
    old, new = (identify(robot.tree, q, v, a, tau, **{name: 1e-8}) for name in ("regularisation", "regularization"))
    np.testing.assert_array_equal(old.parameters, new.parameters)
    assert "regularization" in inspect.signature(identify).parameters
    assert "regularisation" not in inspect.signature(identify).parameters
