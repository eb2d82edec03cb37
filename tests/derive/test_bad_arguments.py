"""Functions of `derive` that are given something else: the message says what, and what was expected."""

import dataclasses
import logging
import math
import re
from unittest import mock

import numpy as np
import pytest
import sympy as sp

import multibody as mb
from multibody import derive
from multibody.derive.methods.expected_time import expected_seconds, why_slow
from multibody.errors import InputError
from multibody.geometry import groups


def says(*parts):
    """Raised as InputError, with all parts in the message."""
    return pytest.raises(InputError, match="(?s)" + ".*".join(map(re.escape, parts)))


@pytest.mark.parametrize("names", [3, None, ["x", "y"]])
def test_names_of_symbols(names):
    for function in (derive.symbols, derive.coordinates):
        with says("expected the names of symbols in a text, such as 'm l g', got", repr(names)):
            function(names)


@pytest.mark.parametrize("x", ["x", 3, None, 2 * sp.Symbol("x")])
def test_a_rate_of_something_else(x):
    with says("rate: expected a symbol, such as those of derive.coordinates, got", repr(x)):
        derive.rate(x)


@pytest.mark.parametrize("function", [derive.on_group, derive.duindam])
def test_no_group(function):
    with says("expected a group of multibody.geometry.groups, such as groups.SE3(), got 'SE(4)'"):
        function("SE(4)")
    with says("got <class", "SE3", ": call it to make one"):
        function(groups.SE3)


@pytest.mark.parametrize("M", [3, "M", [[1, 2], [3]], [[1, 2, 0], [0, 1, 0], [0, 0, 1]], sp.eye(4), object()])
def test_an_inertia_on_a_group(M):
    with says("inertia on SE2: expected 3 × 3 or 6 × 6 symmetric expressions, got"):
        derive.on_group(groups.SE2(), M)


def test_an_inertia_of_text():
    with says("inertia on SO2: expected an expression, got the text 'I'"):
        derive.on_group(groups.SO2(), [["I"]])


def test_a_page_in_a_directory_that_is_not_there(tmp_path):
    equations = derive.equations(derive.systems.system("cart-pendulum"))
    for path in (tmp_path / "none" / "page.html", str(tmp_path / "none" / "page.html"), tmp_path):
        with says("path: expected a file in a directory that is there, got", repr(str(path))):
            equations.html(path)
    with says("path: expected a file in a directory that is there, got 3"):
        equations.html(3)
    with says("path: expected a file in a directory that is there, got", repr("a\0b")):
        equations.html("a\0b")
    with says("path: cannot write", "name too long"):
        equations.html(tmp_path / ("x" * 300))
    page = tmp_path / "page.html"
    assert equations.html(page) == page.read_text(encoding="utf-8")


def test_long_work_is_told_to_the_logger_and_to_nobody_else(caplog, capfd):
    arm = derive.from_robot(mb.load("planar-arm"))
    limit = mock.patch("multibody.derive.methods.expected_time.MAX_SILENT_SECONDS", 0.0)
    with caplog.at_level(logging.INFO, logger="multibody"):
        derive.equations(arm, "lagrange")
        assert not caplog.records
        with limit:
            derive.equations(arm, "lagrange")
    size, quick = "planar-arm has 3 bodies and 3 velocities", "'recursive-newton-euler' about 1 second"
    said = f"{size}: 'lagrange' takes about 1 second of CPU time, {quick}"
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [("multibody", "INFO", said)]
    assert capfd.readouterr().err == ""


def test_the_estimate_grows_with_the_formulas_of_the_places():
    arms = [derive.from_robot(mb.load(name)) for name in ("planar-arm", "scara", "puma-560", "panda")]
    for method in ("projected-newton-euler", "lagrange", "newton-euler"):
        seconds = [expected_seconds(arm, method) for arm in arms]
        assert max(seconds[:2]) < 1 < seconds[2] < seconds[3]
    assert not any(why_slow(arm, "recursive-newton-euler") for arm in arms)
    assert "'lagrange' takes about 1 minute of CPU time, " in why_slow(arms[3], "lagrange")
    without_tree = dataclasses.replace(arms[3], tree=None)
    assert why_slow(without_tree, "lagrange").endswith("takes about 1 minute of CPU time")


CART = derive.systems.system("cart-pendulum")
EQUATIONS = derive.equations(CART)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2], "values: expected values by name, such as {'m': 1}, got [1, 2]"),
        ({"m": "one"}, "values, m: expected a number, got 'one'"),
        ({"m": None}, "values, m: expected a number, got None"),
        ({"m": sp.Symbol("m")}, "values, m: expected a number, got m"),
    ],
)
def test_values_of_a_kernel(values, said):
    with says(said):
        EQUATIONS.kernel("bias", values)


def test_lists_instead_of_names():
    with says("no kernel of ['bias']: there are mass_matrix"):
        EQUATIONS.kernel(["bias"])
    with says("no method ['lagrange']: there are newton-euler"):
        derive.equations(CART, ["lagrange"])
    with says("no system ['skate']: did you mean 'skate'"):
        derive.systems.system(["skate"])


@pytest.mark.parametrize("function", [derive.linearise, derive.equilibria, lambda x: derive.equal(x, EQUATIONS)])
def test_a_system_instead_of_its_equations(function):
    with says("expected equations, as derive.equations makes them of a system, got <System cart-pendulum: coordinates"):
        function(CART)


@pytest.mark.parametrize(
    "function",
    [
        derive.applicable,
        derive.with_rates_as_velocities,
        lambda x: derive.with_quasi_velocities(x, [[1]], derive.symbols("u")),
        lambda x: derive.reduced(x, [[1]], derive.symbols("u")),
    ],
)
def test_a_name_instead_of_a_system(function):
    with says("expected a derive.System, got 'cart-pendulum': derive.systems.system makes one from a name"):
        function("cart-pendulum")


def test_matrices_of_velocities():
    x, u = derive.symbols("x u")
    for S in (3, "S", [[1], [2, 3]]):
        with says("S: expected a matrix of expressions, got"):
            derive.gamma(S, (x,))
        with says("S of cart-pendulum: expected a matrix of expressions, got"):
            derive.with_quasi_velocities(CART, S, (u,))
        with says("S of skate: expected a matrix of expressions, got"):
            derive.reduced(derive.systems.system("skate"), S, (u,))
    with says("q: expected symbols in a list, got 4"):
        derive.gamma([[1]], 4)
    with says("cart-pendulum: expected symbols in a list, got 4"):
        derive.with_quasi_velocities(CART, sp.eye(2), 4)


@pytest.mark.parametrize("angle", ["x", None, [1, 2]])
def test_an_angle(angle):
    for function in (derive.rotation_x, derive.rotation_y, derive.rotation_z):
        with says("angle: expected an expression, got"):
            function(angle)


def test_names_trees_and_units():
    x, m = derive.symbols("x m")
    mass = derive.particle("mass", m, (x, 0, 0))
    with says("expected the name of a body as its first argument, got m"):
        derive.particle(m, m, (x, 0, 0))
    with says("expected the name of a system as its first argument, got (x,)"):
        derive.System((x,), (x,), (mass,))
    with says("s: expected a tree, as derive.from_robot makes them, got 3"):
        derive.System("s", (x,), (mass,), tree=3)
    with says("s: expected units in a list, four coordinates each, got 3"):
        derive.System("s", (x,), (mass,), units=3)


@pytest.mark.parametrize("limits", [3, ("a", "b"), (1, 0), (1, 2, 3), (0, math.inf), (math.nan, 1)])
def test_a_box(limits):
    equations = derive.equations(derive.systems.system("spherical-pendulum"))
    with says("box: expected a lower and a higher value of q_w, both finite, got", repr(limits)):
        equations.equilibria(parameters={"m": 1, "l": 1, "g": 1}, box={"q_w": limits})
    with says("box: expected a lower and a higher value of x, both finite, got", repr(limits)):
        EQUATIONS.equilibria(box={"x": limits})


@pytest.mark.parametrize("box", [3, "x", [("x", (0, 1))]])
def test_a_box_without_names(box):
    with says("box: expected limits by name, such as {'x': (-1, 1)}, got", repr(box)):
        EQUATIONS.equilibria(box=box)


@pytest.mark.parametrize("x", ["a", None, 1.5, -1, [1], True, math.nan])
def test_whole_numbers(x):
    """Told also where the answer needs no search."""
    with says("starts: expected a whole number from 1 on, got", repr(x)):
        derive.equilibria(EQUATIONS, starts=x)
    with says("starts: expected a whole number from 1 on, got 0"):
        derive.equilibria(EQUATIONS, starts=0)
    with says("columns: expected a whole number from 1 on, got", repr(x)):
        EQUATIONS.unicode(columns=x)
    for function in (derive.equilibria, lambda equations, seed: derive.equal(equations, equations, seed=seed)):
        with says("seed: expected a whole number from 0 on, got", repr(x)):
            function(EQUATIONS, seed=x)
    assert EQUATIONS.unicode(columns=np.int64(70)) == EQUATIONS.unicode(columns=70)


@pytest.mark.parametrize("x", ["no", 1, None, np.zeros(2)])
def test_true_or_false(x):
    for write in (EQUATIONS.latex, EQUATIONS.markdown, EQUATIONS.unicode, EQUATIONS.html):
        for option in ("steps", "short"):
            with says(f"{option}: expected True or False, got", repr(x)):
                write(**{option: x})
    with says("document: expected True or False, got", repr(x)):
        EQUATIONS.latex(document=x)
    with says("symbolic: expected True or False, got", repr(x)):
        EQUATIONS.equal(EQUATIONS, symbolic=x)
    with says("passive: expected True or False, got", repr(x)):
        derive.from_robot(mb.load("planar-arm"), passive=x)


@pytest.mark.parametrize("option", ["coordinates", "velocities", "loads"])
def test_lists_for_a_robot(option):
    for x in (3, "abc", None):
        with says(f"{option}: expected a list, got", repr(x)):
            derive.from_robot(mb.load("planar-arm"), **{option: x})


def test_names_for_a_robot():
    arm = mb.load("planar-arm")
    for option in ("coordinates", "velocities"):
        with says(f"{option}: expected names, such as 'x', got 1"):
            derive.from_robot(arm, **{option: [1, "b", "c"]})
    with says("name: expected that of a system, got 3"):
        derive.from_robot(arm, name=3)


def test_arrays_instead_of_names():
    """Python cannot say whether they are in a list."""
    x, m = derive.symbols("x m")
    mass, array = derive.particle("mass", m, (x, 0, 0)), np.zeros((2, 2))
    with says("no kernel of array"):
        EQUATIONS.kernel(array)
    with says("values: expected values by name", "got array"):
        EQUATIONS.kernel("bias", array)
    with says("no method array"):
        derive.equations(CART, array)
    with says("no system array"):
        derive.systems.system(array)
    with says("symbols: expected 'all' or some of masses", "got array"):
        derive.from_robot(mb.load("planar-arm"), array)
    for load in (derive.Force(array, (1, 0, 0)), derive.Actuator("mass", array, (1, 0, 0))):
        with says("s: no body array"):
            derive.System("s", (x,), (mass,), loads=(load,))
    with says("s: array", "is not a velocity; there are (x_dot,)"):
        derive.System("s", (x,), (mass,), loads=(derive.Generalized(array, 1),))
