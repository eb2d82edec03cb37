"""Log-Cholesky parameters: any ten numbers make a body that can exist, and every body has ten such numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multibody as mb
from multibody.geometry import log_cholesky

from ..laws.tools import near, vectors

BOX = mb.SpatialInertia(
    mass=2.0, com=[0.1, -0.2, 0.3], inertia=[[0.3, 0.02, 0.01], [0.02, 0.4, -0.03], [0.01, -0.03, 0.5]]
)


def upper(theta):
    """U, as the module's docstring writes it."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    rows = [[np.exp(d1), s12, s13, t1], [0, np.exp(d2), s23, t2], [0, 0, np.exp(d3), t3], [0, 0, 0, 1]]
    return np.exp(alpha) * np.array(rows)


@given(theta=vectors(10, 2.0))
def test_any_ten_numbers_make_a_body(theta):
    """Its mass is positive, and its principal moments satisfy the triangle inequality."""
    p = log_cholesky.parameters(theta)
    assert p[0] > 0
    com = p[1:4] / p[0]
    about_origin = np.array([[p[4], p[5], p[7]], [p[5], p[6], p[8]], [p[7], p[8], p[9]]])
    central = about_origin - p[0] * (com @ com * np.eye(3) - np.outer(com, com))
    moments = np.linalg.eigvalsh(central)
    assert moments[0] > 0
    assert moments[2] < moments[0] + moments[1] + 1e-9 * np.abs(about_origin).max()


@given(theta=vectors(10, 2.0))
def test_the_pseudo_inertia_is_u_times_its_transpose(theta):
    U = upper(theta)
    near(log_cholesky.pseudo_inertia(log_cholesky.parameters(theta)), U @ U.T)


@given(theta=vectors(10, 1.0, (3,)))
def test_there_and_back(theta):
    near(log_cholesky.from_parameters(log_cholesky.parameters(theta)), theta, 1e-9)


def test_back_and_there_for_a_known_body():
    theta = log_cholesky.from_parameters(BOX.parameters())
    near(log_cholesky.parameters(theta), BOX.parameters())
    near(theta[0], np.log(2.0) / 2)
    near(theta[7:], BOX.com)


def test_the_pseudo_inertia_is_the_sum_over_particles():
    rng = np.random.default_rng(0)
    masses, places = rng.uniform(0.1, 1.0, 20), rng.standard_normal((20, 3))
    ones = np.concatenate([places, np.ones((20, 1))], axis=1)
    second = np.einsum("n,ni,nj->ij", masses, places, places)
    inertia = np.trace(second) * np.eye(3) - second
    p = [
        masses.sum(),
        *(masses @ places),
        *(inertia[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))),
    ]
    near(log_cholesky.pseudo_inertia(p), np.einsum("n,ni,nj->ij", masses, ones, ones))


@given(scale=st.floats(0.1, 10.0))
def test_alpha_is_the_scale_of_the_mass_alone(scale):
    theta = log_cholesky.from_parameters(BOX.parameters())
    theta[0] += np.log(scale) / 2
    near(log_cholesky.parameters(theta), scale * BOX.parameters())


def test_the_derivative_by_the_compiler_is_the_finite_difference():
    theta = np.random.default_rng(1).uniform(-1, 1, (5, 10))
    exact = mb.compile(mb.jacobian(log_cholesky.parameters), 10)(theta)
    h = 1e-6
    for k in range(10):
        step = h * np.eye(10)[k]
        slope = (log_cholesky.parameters(theta + step) - log_cholesky.parameters(theta - step)) / (2 * h)
        near(slope, exact[..., k], 1e-8)


@pytest.mark.parametrize(
    ("change", "what"),
    [((0, -1.0), "mass"), ((4, 10.0), "triangle"), ((9, -1.0), "moment"), ((1, 50.0), "centre far away")],
)
def test_what_no_body_can_have_is_refused_by_its_index(change, what):
    batch = np.tile(BOX.parameters(), (4, 1))
    batch[2, change[0]] = change[1]
    with pytest.raises(mb.InputError, match=r"inertial parameters at \[2\]: no body can have"):
        log_cholesky.from_parameters(batch)
    assert np.linalg.eigvalsh(log_cholesky.pseudo_inertia(batch[2]))[0] < 0, what


def test_an_index_is_that_in_the_array_for_which_axis_is_bodies_is_not_known():
    batch = np.tile(BOX.parameters(), (4, 3, 1))
    batch[2, 1, 0] = -1.0
    with pytest.raises(mb.InputError, match=r"inertial parameters at \[2, 1\]: no body can have \[-1.0, "):
        log_cholesky.from_parameters(batch)
    with pytest.raises(mb.InputError, match=r"inertial parameters: no body can have \[-1.0, "):
        log_cholesky.from_parameters(batch[2, 1])


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_is_data_and_stays_in_its_sample(poison):
    """`robot.check_parameters` refuses it."""
    p = np.tile(BOX.parameters(), (3, 1))
    p[1, 0] = poison
    theta = log_cholesky.from_parameters(p)
    assert not np.isfinite(theta[1]).all()
    near(theta[[0, 2]], log_cholesky.from_parameters(p[[0, 2]]), 0.0)


def test_wrong_lengths_are_refused():
    for function in (log_cholesky.parameters, log_cholesky.from_parameters, log_cholesky.pseudo_inertia):
        with pytest.raises(mb.InputError, match="10"):
            function(np.zeros(9))
