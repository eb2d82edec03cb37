"""The vector math library against exact values, and the independence of its lanes."""

import importlib.util
import itertools
import json
import math
import re
from pathlib import Path

import numpy as np

from multibody.compiler.codegen import vector_math
from multibody.compiler.codegen.vector_math import coefficients
from multibody.compiler.codegen.vector_math.trigonometry import LIMIT

from ..every_law import each_case
from .vector_loops import ARITY, BOUND, bits, evaluate, samples, ulps

LANES = (1, 2, 4, 8, 16)
SPECIAL = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 1e-310, 5e-324, 1e-45, 1e-40, 3e38, 1.7e308, np.inf]
NUMPY = {
    **{
        op: getattr(np, op)
        for op in ("sin", "cos", "tan", "exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "hypot")
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "pow": np.power,
    "fmod": np.fmod,
    "mod": np.mod,
}

every_operation = each_case("op", ARITY)
both_formats = each_case("dtype", ["float64", "float32"])
with_and_without_fma = each_case("fma", [True, False], ids=["fma", "no-fma"])


def specials(arity, dtype):
    """All combinations of numbers where functions have special values."""
    with np.errstate(over="ignore"):
        numbers = np.unique(np.array(SPECIAL, dtype))
    numbers = np.concatenate([numbers, -numbers, np.array([np.nan], dtype)])
    return [np.array(column) for column in zip(*itertools.product(numbers, repeat=arity), strict=True)]


@with_and_without_fma
@both_formats
@every_operation
def test_errors_stay_below_the_bound(op, dtype, fma):
    arguments = samples(op, dtype)
    errors = ulps(op, arguments, evaluate(op, *arguments, fma=fma))
    worst = np.argmax(errors)
    assert errors[worst] <= BOUND[op], [x[worst] for x in arguments]


@with_and_without_fma
@both_formats
@each_case("op", ["sin", "cos", "tan"])
def test_huge_angles_have_the_values_of_the_c_library(op, dtype, fma):
    limit = LIMIT[dtype, fma]
    huge = limit * np.exp2(np.random.default_rng(5).uniform(0, 60, 50))
    x = np.concatenate([huge, [np.nextafter(limit, np.inf), np.ldexp(6381956970095103.0, 60)]]).astype(dtype)
    x = x[x > limit]
    expected = np.array([getattr(math, op)(one) for one in x.tolist()], dtype)
    np.testing.assert_array_equal(bits(evaluate(op, x, fma=fma)), bits(expected))


@with_and_without_fma
@both_formats
@every_operation
def test_special_values_are_those_of_numpy(op, dtype, fma):
    arguments = specials(ARITY[op], dtype)
    with np.errstate(all="ignore"):
        expected = NUMPY[op](*arguments)
    found = evaluate(op, *arguments, fma=fma)
    exact = np.isnan(expected) | np.isinf(expected) | (expected == 0)
    np.testing.assert_array_equal(bits(found[exact]), bits(expected[exact]))
    np.testing.assert_array_max_ulp(found[~exact], expected[~exact], BOUND[op])


@each_case(
    "op, arguments, expected",
    [
        ("sin", [-0.0], -0.0),
        ("sin", [np.inf], np.nan),
        ("tan", [-np.inf], np.nan),
        ("asin", [1.0000001], np.nan),
        ("acos", [1.0], 0.0),
        ("exp", [-np.inf], 0.0),
        ("exp", [1e4], np.inf),
        ("log", [-0.0], -np.inf),
        ("log", [-1e-40], np.nan),
        ("tanh", [-np.inf], -1.0),
        ("atan2", [-0.0, 0.0], -0.0),
        ("atan2", [0.0, -0.0], np.pi),
        ("atan2", [-np.inf, -np.inf], -0.75 * np.pi),
        ("atan2", [1.0, np.inf], 0.0),
        ("hypot", [np.nan, -np.inf], np.inf),
        ("pow", [np.nan, 0.0], 1.0),
        ("pow", [-0.0, -3.0], -np.inf),
        ("pow", [-8.0, 1 / 3], np.nan),
    ],
)
@both_formats
def test_special_values_of_c99(op, arguments, expected, dtype):
    found = evaluate(op, *(np.array([x], dtype) for x in arguments))
    assert bits(found) == bits(np.array([expected], dtype))


@with_and_without_fma
@both_formats
@every_operation
def test_lanes_are_independent_of_their_number(op, dtype, fma):
    arguments = [np.concatenate(pair) for pair in zip(samples(op, dtype), specials(ARITY[op], dtype), strict=True)]
    expected = bits(evaluate(op, *arguments, lanes=4, fma=fma))
    for lanes in LANES:
        np.testing.assert_array_equal(bits(evaluate(op, *arguments, lanes=lanes, fma=fma)), expected)


@both_formats
@every_operation
def test_lanes_are_independent_of_their_position(op, dtype):
    arguments = samples(op, dtype)
    expected = bits(evaluate(op, *arguments, lanes=8))
    for shift in range(1, 8):
        shifted = [np.roll(x, shift) for x in arguments]
        np.testing.assert_array_equal(bits(evaluate(op, *shifted, lanes=8)), np.roll(expected, shift))


@each_case("intruder", [np.nan, np.inf, -np.inf, 1e35, -1e35, 0.0, 1e-45])
@both_formats
@every_operation
def test_a_lane_does_not_touch_the_others(op, dtype, intruder):
    quiet = np.random.default_rng(3).uniform(0.1, 0.9, (8, 8)).astype(dtype)
    disturbed = np.where(np.eye(8, dtype=bool), np.array(intruder, dtype), quiet)
    second = [quiet[::-1].ravel()] * (ARITY[op] - 1)
    before, after = (evaluate(op, x.ravel(), *second, lanes=8).reshape(8, 8) for x in (quiet, disturbed))
    others = ~np.eye(8, dtype=bool)
    np.testing.assert_array_equal(bits(after[others]), bits(before[others]))


@with_and_without_fma
@both_formats
@each_case("lanes", LANES)
def test_sincos_has_the_bits_of_sin_and_cos(lanes, dtype, fma):
    (x,) = samples("sincos", dtype)
    for found, op in zip(evaluate("sincos", x, lanes=lanes, fma=fma), ("sin", "cos"), strict=True):
        np.testing.assert_array_equal(bits(found), bits(evaluate(op, x, lanes=lanes, fma=fma)))


@with_and_without_fma
@both_formats
def test_the_text_has_what_was_asked_for_once(dtype, fma):
    text = vector_math.library(["sin", "exp", "sin", "pow"], 4, dtype, fma=fma)
    symbols = {vector_math.symbol(op, 4, dtype) for op in ("sin", "sin_huge", "exp", "pow")}
    defined = re.findall(r"^define internal .*?@(\w+)\(", text, re.MULTILINE)
    declared = re.findall(r"^declare .*?@([\w.]+)\(", text, re.MULTILINE)
    constants = re.findall(r"^@(\S+) = ", text, re.MULTILINE)
    assert set(defined) == symbols
    assert len(defined) == len(symbols)
    assert len(set(declared)) == len(declared)
    assert len(set(constants)) == len(constants)
    assert any("llvm.fma" in name for name in declared) == fma
    assert not re.search(r"\b(fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|splat)\b", text)


def test_the_coefficients_are_those_that_the_tool_makes(capsys):
    path = Path(__file__).parents[2] / "tools" / "minimax.py"
    spec = importlib.util.spec_from_file_location("minimax", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.main()
    made = json.loads(capsys.readouterr().out)
    assert made == coefficients._TABLES
    assert made["SINE"] == coefficients.SINE
