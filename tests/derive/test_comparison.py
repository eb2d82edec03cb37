"""Agreement of equations: as formulas, as numbers, and through accelerations."""

from dataclasses import replace

import pytest
import sympy as sp

from multibody import derive
from multibody.errors import InputError

from .test_lagrange_multipliers import skate, spherical_pendulum
from .test_newton_euler import double_pendulum

m, l, k = derive.symbols("m l k")
x, y, a = derive.coordinates("x y a")


def oscillator(q=(x,)):
    return derive.System("oscillator", q, (derive.particle("mass", m, (x, 0, 0)),), loads=(derive.Spring(k, x),))


def test_methods_agree_as_formulas():
    """Lagrange's equations of rigid bodies are the projected ones of Newton and Euler.  [RD 3.26-3.27; QT 45-48]"""
    system = double_pendulum()
    first = derive.equations(system, "lagrange")
    for name in derive.applicable(system):
        agreement = first.equal(derive.equations(system, name))
        assert agreement
        assert agreement.symbolic is True
        assert agreement.numeric < 1e-12


def test_it_says_what_it_found():
    equations = derive.equations(oscillator())
    assert repr(equations.equal(equations)) == (
        "projected-newton-euler and projected-newton-euler agree in M and b + g - τ: as formulas, to 0.0e+00 as numbers"
    )


@pytest.mark.parametrize("part", ["M", "b", "g", "tau"])
def test_a_small_slip_is_found(part):
    """One entry wrong by a millionth, and one sign."""
    equations = derive.equations(double_pendulum(), "lagrange")
    entries = sp.Matrix(getattr(equations, part))
    entries[0, 0] += entries[-1, -1] / 10**6 + sp.Rational(1, 10**6)
    wrong = equations.equal(replace(equations, **{part: sp.ImmutableMatrix(entries)}))
    assert not wrong
    assert wrong.symbolic is False
    assert 1e-8 < wrong.numeric < 1e-4
    assert "differ" in repr(wrong)
    assert not equations.equal(replace(equations, g=-equations.g))


def test_a_force_on_the_other_side_is_no_difference():
    equations = derive.equations(oscillator())
    assert equations.equal(replace(equations, g=0 * equations.g, tau=equations.tau - equations.g))


def test_undecided_where_the_formulas_are_not_reached():
    """Functions that SymPy does not relate to each other, and numbers that agree."""
    equations = derive.equations(oscillator())
    other = replace(equations, b=equations.b + sp.Matrix([sp.acos(sp.tanh(x)) + sp.asin(sp.tanh(x)) - sp.pi / 2]))
    agreement = equations.equal(other)
    assert agreement.symbolic is None
    assert agreement
    assert "undecided as formulas" in repr(agreement)


def test_without_formulas():
    equations = derive.equations(oscillator())
    agreement = equations.equal(equations, symbolic=False)
    assert agreement.symbolic is None
    assert agreement


def test_other_velocities_are_compared_through_accelerations():
    (w,) = derive.symbols("w")
    fast = derive.with_quasi_velocities(oscillator(), [[2 + sp.sin(x)]], (w,))
    agreement = derive.equations(oscillator()).equal(derive.equations(fast))
    assert agreement
    assert agreement.compared == "accelerations of the coordinates"
    assert agreement.symbolic is None
    heavy = derive.equations(fast)
    assert not derive.equations(oscillator()).equal(replace(heavy, M=2 * heavy.M))


def test_quaternions_and_constraints_are_compared_at_states_that_they_allow():
    for system in (spherical_pendulum(), skate()):
        first, second = derive.equations(system), derive.equations(system, "lagrange-multipliers")
        assert first.equal(second).numeric < 1e-12
        assert second.equal(first).numeric < 1e-12
        assert not second.equal(replace(first, b=first.b + sp.ones(*first.b.shape)))


def test_multipliers_may_hide_a_difference():
    """A multiple of the constraint in M changes the multipliers, and no motion."""
    equations = derive.equations(skate(loads=(derive.Force("skate", (k, 1, 0)),)))
    J, drift = equations.J, equations.drift
    other = replace(equations, M=equations.M + J.T * J, b=equations.b + J.T * drift)
    agreement = equations.equal(other)
    assert agreement
    assert agreement.compared == "accelerations of the coordinates"
    assert not equations.equal(replace(equations, M=equations.M + equations.J.T * equations.J + sp.eye(3)))


def test_coordinates_in_another_order():
    loads = (derive.Spring(k, x - 2 * y),)
    masses = (derive.particle("one", m, (x, 0, 0)), derive.particle("two", l, (y, 0, 0)))
    straight = derive.equations(derive.System("one", (x, y), masses, loads=loads))
    two = derive.equations(derive.System("two", (y, x), masses, loads=loads))
    assert straight.equal(two)


def test_other_coordinates_cannot_be_compared():
    with pytest.raises(InputError, match=r"expected equations in the same coordinates, got \(x,\) of oscillator"):
        derive.equations(oscillator()).equal(derive.equations(double_pendulum()))
