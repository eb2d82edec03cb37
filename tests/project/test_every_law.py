"""Tests that run many cases in one item: every case runs, and a failure names all that do not hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..every_law import check, each_case

ran = []


@pytest.fixture
def two():
    return 2


@each_case("a", (1, 2, 3))
@each_case("b, c", ((1, 2), (3, 4)), ids=lambda case: f"{case[0]}+{case[1]}")
def run_the_product(a, b, c):
    ran.append((a, b, c))
    assert b == 1 or a == 2


def test_all_cases_run_and_the_failure_names_those_that_do_not_hold():
    ran.clear()
    with pytest.raises(BaseExceptionGroup, match=r"of 6 cases: 1-3\+4, 3-3\+4$"):
        run_the_product()
    assert ran == [(a, b, c) for a in (1, 2, 3) for b, c in ((1, 2), (3, 4))]


@pytest.mark.parametrize("d", [5])
@each_case("a", (1, 2, 3))
def test_fixtures_and_parameters_are_those_of_any_test(a, two, d):
    assert two == 2
    assert d == 5
    assert a in (1, 2, 3)


@each_case("a", (1, 2))
@given(x=st.integers(0, 1))
def draw_numbers(a, x):
    ran.append((a, x))
    assert x < a


def test_cases_may_draw_their_examples():
    ran.clear()
    with pytest.raises(BaseExceptionGroup, match=r"of 2 cases: 1$"):
        draw_numbers()
    assert {(1, 0), (1, 1), (2, 0), (2, 1)} == set(ran)


def test_cases_of_one_label_are_numbered():
    @each_case("a", (1, "1", test_two_of_nothing))
    def fail(a):
        raise ValueError(a)

    with pytest.raises(BaseExceptionGroup, match=r"of 3 cases: 1#0, 1#1, test_two_of_nothing$"):
        fail()


def test_two_of_nothing():
    with pytest.raises(AssertionError, match="a: expected cases, got none"):
        each_case("a", ())


def test_every_law_is_checked():
    def holds(x):
        ran.append(x)

    def fails(x):
        ran.append(x)
        raise ValueError

    ran.clear()
    with pytest.raises(BaseExceptionGroup, match=r"name: fails$"):
        check("name", [fails, holds], 7)
    assert ran == [7, 7]
