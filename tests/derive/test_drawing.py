"""Drawings of derived systems: pivots and angles where the formulas have them; systems that move."""

import numpy as np
import pytest
import sympy as sp

from multibody import derive, view
from multibody.derive.drawing.animation import motion
from multibody.derive.drawing.mechanism import mechanism, plane_of
from multibody.errors import InputError


def test_pivots_angles_and_ways_of_a_cart_with_a_pendulum():
    made = mechanism(derive.systems.system("spring-cart-pendulum"), [0.7, 0.4], {"l": 2.0})
    (turn,), (slide,) = made.turns, made.slides
    np.testing.assert_allclose(turn.pivot, [0.7, 0, 0], atol=1e-12)  # on the cart
    np.testing.assert_allclose(turn.zero, [0, 0, -2.0], atol=1e-12)  # φ = 0 hangs
    np.testing.assert_allclose(turn.arm, 2 * np.array([np.sin(0.4), 0, -np.cos(0.4)]), atol=1e-12)
    assert not turn.fixed
    np.testing.assert_allclose([slide.start, slide.end], [[0, 0, 0], [0.7, 0, 0]], atol=1e-12)
    assert slide.fixed
    np.testing.assert_array_equal(plane_of(made), [[1, 0, 0], [0, 0, 1]])


def test_angles_of_a_chain_are_measured_from_the_link_before():
    made = mechanism(derive.systems.system("double-mass-pendulum"), [0.3, 0.5])
    upper, lower = made.turns
    assert upper.fixed
    np.testing.assert_allclose(lower.pivot, made.positions["upper"], atol=1e-12)
    np.testing.assert_allclose(lower.zero, upper.arm, atol=1e-12)  # θ₂ = 0 goes on straight
    turned = np.arccos(lower.zero @ lower.arm / np.linalg.norm(lower.zero) / np.linalg.norm(lower.arm))
    assert turned == pytest.approx(0.5)


def test_slides_go_from_the_origin_to_the_pivot_that_is_carried():
    made = mechanism(derive.systems.system("skate"), [0.5, 0.3, 0.7])
    (turn,), (x, y) = made.turns, made.slides
    np.testing.assert_allclose([x.start, x.end, y.end], [[0, 0, 0], [0.5, 0, 0], [0.5, 0.3, 0]], atol=1e-12)
    np.testing.assert_allclose(turn.pivot, y.end, atol=1e-12)  # the blade, not the centre of mass
    np.testing.assert_allclose(np.abs(turn.axis), [0, 0, 1], atol=1e-12)


def test_a_disc_leans_about_the_point_on_which_it_stands():
    made = mechanism(derive.systems.system("rolling-disc"), [0.5, 0.3, 0.2, 0.4, 0.9], {"r": 0.7})
    psi, theta, phi = made.turns
    np.testing.assert_allclose(theta.pivot, [0.5, 0.3, 0], atol=1e-12)
    np.testing.assert_allclose(psi.axis, [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(theta.axis, [np.cos(0.2), np.sin(0.2), 0], atol=1e-12)
    assert phi.centred
    np.testing.assert_allclose(phi.pivot, made.positions["disc"], atol=1e-12)
    assert np.linalg.norm(made.positions["disc"] - theta.pivot) == pytest.approx(0.7)


def test_quaternions_turn_about_a_ball_joint():
    made = mechanism(derive.systems.system("spherical-pendulum"), [0.5, 0.5, 0.5, 0.5], {"l": 2.0})
    (ball,) = made.balls
    assert ball.fixed
    np.testing.assert_allclose(ball.pivot, 0, atol=1e-12)
    assert np.linalg.norm(made.positions["spherical-pendulum"]) == pytest.approx(2.0)


def test_a_screw_rises_as_it_turns():
    made = mechanism(derive.systems.system("free-body-helical"), [0.8])
    (turn,) = made.turns
    assert turn.centred
    np.testing.assert_allclose(turn.pivot, made.positions["body"], atol=1e-12)
    assert turn.pivot[2] > turn.start[2]
    np.testing.assert_allclose(turn.start, 0, atol=1e-12)


LIGHT = ("cart-pendulum", "double-mass-pendulum", "spherical-pendulum", "rolling-disc", "skate", "free-body-se3")
NAMES = [name if name in LIGHT else pytest.param(name, marks=pytest.mark.slow) for name in derive.systems.SYSTEMS]


@pytest.mark.parametrize("name", NAMES)
def test_every_coordinate_and_mass_is_written(name, tmp_path):
    system = derive.systems.system(name)
    path = tmp_path / "system.svg"
    figure = view.draw(system, path)
    written = {text.get_text() for text in figure.axes[0].texts}
    units = {x for unit in system.units for x in unit}
    assert {f"${sp.latex(x)}$" for x in system.q if x not in units} <= written
    assert {f"$({', '.join(map(sp.latex, unit))})$" for unit in system.units} <= written
    assert {f"${sp.latex(body.mass)}$" for body in system.bodies if body.mass != 0} <= written
    assert "$0$" not in written
    assert path.stat().st_size > 5000


def test_a_system_moves(tmp_path):
    equations = derive.equations(derive.systems.system("double-mass-pendulum"), "lagrange")
    q, v = np.array([0.05, 0.0]), np.zeros(2)
    states = view.animate(equations, q, v, tmp_path / "it.gif", seconds=0.2)
    assert states.shape == (6, 2)
    assert (tmp_path / "it.gif").read_bytes()[:3] == b"GIF"
    finer = motion(equations, q, v, 0.2, {"m_1": 1.0, "m_2": 1.0, "l_1": 1.0, "l_2": 1.0, "g": 9.81})
    np.testing.assert_allclose(states, finer, atol=1e-12)
    system = equations.system
    energy = [_energy(system, state) for state in states]  # it swings: potential energy falls from the start
    assert max(energy) == pytest.approx(energy[0])


def _energy(system, state):
    made = mechanism(system, state)
    return sum(9.81 * place[2] for place in made.positions.values())


def test_bad_input_is_named(tmp_path):
    system = derive.systems.system("cart-pendulum")
    with pytest.raises(InputError, match="draw: expected a system"):
        view.draw("cart-pendulum")
    with pytest.raises(InputError, match="q: expected 2"):
        view.draw(system, q=[1.0])
    with pytest.raises(InputError, match="no symbol 'z'"):
        view.draw(system, values={"z": 1.0})
    with pytest.raises(InputError, match="gif"):
        view.animate(derive.equations(system, "lagrange"), [0, 0], [0, 0], tmp_path / "a.png")
