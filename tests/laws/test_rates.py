"""Rates of every parameterisation against complex steps of formulas of our own; inverses, damping, singularities.

A complex step differentiates an analytic function without a difference, so these tests are exact to rounding. The
formulas are products of matrix exponentials, in which nothing comes from the library.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from multibody import InputError, Rotation, SingularityError
from multibody.geometry import derivatives, rates

from ..every_law import each_case
from ..surface import KINDS, PARAMETERISATIONS, POSITIONS
from .tools import T, difference, hat, mul, near, unhat

STEP = 1e-30
BASIS = hat(np.eye(3))
RIGID = ("quaternion", "angle-axis", "matrix")  # more parameters than three, and constraints between them
every_name = each_case("name", PARAMETERISATIONS)
both_frames = each_case("frame", "AB")
every_position = each_case("name", POSITIONS)


def elementary(i, angle):
    """1 + sin θ e^ + (1 - cos θ) e^ e^ about a basis vector."""
    return np.eye(3) + np.sin(angle) * BASIS[i] + (1 - np.cos(angle)) * BASIS[i] @ BASIS[i]


def turned(name, chi):
    """A_R_B of the parameters, analytic: chi may be complex."""
    if name == "matrix":
        return chi.reshape(*chi.shape[:-1], 3, 3)
    if name == "quaternion":
        w, x, y, z = np.moveaxis(chi, -1, 0)
        v = np.stack([x, y, z], axis=-1)
        V = np.einsum("...k,kij->...ij", v, BASIS)
        square = (w * w - x * x - y * y - z * z)[..., None, None]
        return square * np.eye(3) + 2 * w[..., None, None] * V + 2 * v[..., :, None] * v[..., None, :]
    if name == "angle-axis":
        return expm(np.einsum("...,...k,kij->...ij", chi[..., 0], chi[..., 1:], BASIS))
    if name == "rotation-vector":
        return expm(np.einsum("...k,kij->...ij", chi, BASIS))
    one, two, three = (elementary("xyz".index(axis), chi[..., k, None, None]) for k, axis in enumerate(name[-3:]))
    return three @ two @ one if "extrinsic" in name else one @ two @ three


def place(name, chi):
    """The position of the parameters, analytic.  [RD 2.4, 2.6, 2.8]"""
    a, b, c = np.moveaxis(chi, -1, 0)
    xyz = {
        "cartesian": (a, b, c),
        "cylindrical": (a * np.cos(b), a * np.sin(b), c),
        "spherical": (a * np.cos(b) * np.sin(c), a * np.sin(b) * np.sin(c), a * np.cos(c)),
    }
    return np.stack(xyz[name], axis=-1)


def rate(f, chi, dchi):
    """The derivative of an analytic f along dchi."""
    return f(chi + 1j * STEP * dchi).imag / STEP


def allowed(name, chi, dchi):
    """The part of dchi that keeps the constraints of the parameterisation."""
    if name == "quaternion":
        return dchi - np.sum(chi * dchi, axis=-1, keepdims=True) * chi
    if name == "angle-axis":
        n = chi[..., 1:]
        dn = dchi[..., 1:] - np.sum(n * dchi[..., 1:], axis=-1, keepdims=True) * n
        return np.concatenate([dchi[..., :1], dn], axis=-1)
    if name == "matrix":
        C, D = (x.reshape(*x.shape[:-1], 3, 3) for x in (chi, dchi))
        return ((D @ T(C) - C @ T(D)) @ C / 2).reshape(chi.shape)
    return dchi


def draw(name, seed=0, batch=(20,)):
    """Parameters away from singularities, of both signs, and rates that keep their constraints."""
    rng = np.random.default_rng(seed)
    chi = KINDS[f"parameters of {name}"].draw(rng, batch)
    if name.startswith("euler") or name == "rotation-vector":
        chi = chi * rng.choice([-1, 1], chi.shape)
    return chi, allowed(name, chi, KINDS[f"rates of {name}"].draw(rng, batch))


# ---- orientations ----------------------------------------------------------------------------------------------------


@every_name
def test_the_rotation_of_the_parameters_and_back(name):
    """[RD 2.32-2.55]"""
    chi, _ = draw(name)
    near(rates.rotation(name, chi).matrix, turned(name, chi))
    back = rates.parameters(name, rates.rotation(name, chi))
    assert back.shape == chi.shape
    near(turned(name, back), turned(name, chi))
    if not name.startswith("quaternion"):  # q and -q
        wrapped = rates.parameters(name, rates.rotation(name, back))
        near(wrapped, back, 1e-11)


@every_name
@both_frames
def test_the_rate_map_gives_the_angular_velocity(name, frame):
    """C' C^T in A, C^T C' in B.  [RD 2.72-2.73, 2.82-2.107; Kindr §Matrix Rates, §Euler ZYX Rates]"""
    chi, dchi = draw(name)
    C, dC = turned(name, chi), rate(lambda x: turned(name, x), chi, dchi)
    omega = unhat(dC @ T(C) if frame == "A" else T(C) @ dC)
    near(mul(rates.angular(name, chi, frame), dchi), omega)


@every_name
@both_frames
def test_the_inverse_rate_map_gives_the_rates(name, frame):
    """E E^-1 = 1, and E^-1 ω are the rates that keep the constraints.  [RD 2.82-2.107]"""
    chi, dchi = draw(name)
    E, E_inverse = rates.angular(name, chi, frame), rates.angular_inverse(name, chi, frame)
    near(E @ E_inverse, np.broadcast_to(np.eye(3), (20, 3, 3)), 1e-11)
    near(mul(E_inverse, mul(E, dchi)), dchi, 1e-11)


@every_name
def test_the_frames_differ_by_the_rotation(name):
    """A_w = A_R_B B_w.  [RD 2.74]"""
    chi, _ = draw(name)
    R = turned(name, chi)
    E_A, E_B = rates.angular(name, chi, "A"), rates.angular(name, chi, "B")
    _, dchi = draw(name, 1)
    dchi = allowed(name, chi, dchi)
    near(mul(E_A, dchi), mul(R, mul(E_B, dchi)))
    near(rates.angular(name, chi), E_A, 0.0)


@every_name
@both_frames
def test_the_rate_of_the_rate_map(name, frame):
    """E' is the derivative of E along χ', and ω' = E χ'' + E' χ' is that of the angular velocity."""
    chi, dchi = draw(name)
    dchi = dchi / 4
    E_dot = rates.angular_dot(name, chi, dchi, frame)
    near(E_dot, difference(lambda t: rates.angular(name, chi + t * dchi, frame)), 1e-10)


@every_name
def test_rates_follow_a_turning_frame(name):
    """χ' from ω by E^-1, against finite differences of the parameters of exp(ω t) R."""
    chi, _ = draw(name, 2)
    R, A_w = Rotation.from_matrix(turned(name, chi)), np.random.default_rng(3).uniform(-1, 1, (20, 3))
    path = lambda t: rates.parameters(name, R.integrate(A_w, t))
    now, steps = path(0.0), difference(path, h=1e-4)
    smooth = np.abs(steps).max(axis=-1) < 50  # elsewhere an angle wraps, or a quaternion changes its sign
    assert smooth.sum() >= 10
    near(mul(rates.angular_inverse(name, now), A_w)[smooth], steps[smooth], 1e-7)


@each_case("name", RIGID)
@both_frames
def test_the_inverse_keeps_unit_lengths(name, frame):
    """q·q' = 0, n·n' = 0, and C C'^T is skew."""
    chi, _ = draw(name)
    dchi = mul(rates.angular_inverse(name, chi, frame), np.random.default_rng(4).uniform(-1, 1, (20, 3)))
    near(allowed(name, chi, dchi), dchi)


# ---- damping and singularities ---------------------------------------------------------------------------------------


@every_name
@both_frames
@given(damping=st.floats(1e-3, 10.0))
def test_the_damped_inverse_is_the_regularised_one(name, frame, damping):
    """E^T (E E^T + damping² 1)^-1, which solves the least squares |E x - ω|² + damping² |x|²."""
    chi, _ = draw(name, batch=())
    E = rates.angular(name, chi, frame)
    found = rates.angular_inverse(name, chi, frame, damping=damping)
    stacked = np.concatenate([E, damping * np.eye(E.shape[1])])
    expected = np.linalg.lstsq(stacked, np.concatenate([np.eye(3), np.zeros((E.shape[1], 3))]), rcond=None)[0]
    near(found, expected, 1e-9)


def lock(name, offset=0.0):
    """Parameters at that distance, in radians, from a singularity; None where there is none."""
    if name.startswith("euler"):
        return np.array([0.3, offset + (0.0 if name[-3] == name[-1] else np.pi / 2), -0.4])
    return {
        "angle-axis": np.array([offset, 0.6, 0.0, 0.8]),
        "rotation-vector": (2 * np.pi + offset) * np.array([0.6, 0.0, 0.8]),
    }.get(name)


LOCKING = [name for name in PARAMETERISATIONS if lock(name) is not None]


@each_case("name", LOCKING)
@both_frames
def test_at_a_singularity_the_inverse_is_refused_and_says_where(name, frame):
    """The error names the parameterisation, its numbers, the distance, and in a batch the sample."""
    for offset in (0.0, 3e-10, -3e-10):
        chi = lock(name, offset)
        with pytest.raises(SingularityError, match=r"singular at .*, which is \d\.\de.\d+ rad away; damping=") as error:
            rates.angular_inverse(name, chi, frame)
        assert str(error.value).startswith(f"{name} {chi.tolist()}: ")
    batch = draw(name, batch=(2, 3))[0]
    batch[1, 2] = lock(name)
    with pytest.raises(SingularityError, match=rf"^{name} .*\(sample 1, 2\)"):
        rates.angular_inverse(name, batch, frame)
    assert np.isfinite(rates.angular_inverse(name, batch, frame, damping=1e-3)).all()
    assert np.isfinite(rates.angular(name, batch, frame)).all()


@each_case("name", LOCKING)
def test_next_to_a_singularity_the_inverse_exists(name):
    chi = lock(name, 1e-6)
    E, E_inverse = rates.angular(name, chi), rates.angular_inverse(name, chi)
    near(E @ E_inverse, np.eye(3), 1e-8)
    assert 1e5 < np.abs(E_inverse).max() < 1e8


@each_case("name", LOCKING)
def test_float32_parameters_as_near_to_a_singularity_as_float32_can_be_are_refused(name):
    """float32 has no π/2 to 1e-9 rad; at the float32 nearest to it, the inverse has no digit that is right."""
    with pytest.raises(SingularityError):
        rates.angular_inverse(name, lock(name).astype(np.float32))


@each_case("name", [name for name in PARAMETERISATIONS if name not in LOCKING])
def test_quaternions_and_matrices_have_no_singularity(name):
    for R in (Rotation.identity(), *(Rotation.elementary(axis, np.pi) for axis in "xyz")):
        chi = rates.parameters(name, R)
        near(rates.angular(name, chi) @ rates.angular_inverse(name, chi), np.eye(3))


def test_the_distance_in_the_message_is_the_distance():
    with pytest.raises(SingularityError, match=r"which is 5\.0e-10 rad away"):
        rates.angular_inverse("euler-zyx", [0.0, np.pi / 2 - 5e-10, 0.0])
    with pytest.raises(SingularityError, match=r"which is 2\.0e-10 m away"):
        rates.linear_inverse("cylindrical", [2e-10, 0.0, 0.0])


@pytest.mark.parametrize("damping", [0.0, -1.0, np.nan])
def test_damping_must_be_positive(damping):
    with pytest.raises(InputError, match="damping: expected a positive number"):
        rates.angular_inverse("euler-zyx", np.zeros(3), damping=damping)
    with pytest.raises(InputError, match="damping: expected a positive number"):
        rates.linear_inverse("spherical", np.ones(3), damping=damping)


# ---- derivatives on SO(3) --------------------------------------------------------------------------------------------


def test_derivatives_of_rotations_are_those_of_finite_perturbations():
    """Along Φ ⊞ v, measured by ⊟.  [Kindr §Derivatives]"""
    rng = np.random.default_rng(5)
    R, S = Rotation.random(rng), Rotation.random(rng)
    r, phi = rng.uniform(-1, 1, (2, 3))

    def along(f, minus=lambda a, b: a.boxminus(b)):
        """The columns are the derivatives of f(v) at v = 0 along the axes."""
        now = f(np.zeros(3))
        return np.stack([difference(lambda t, e=e: minus(f(t * e), now)) for e in np.eye(3)], axis=-1)

    near(derivatives.of_rotated_vector(R, r), along(lambda v: R.boxplus(v) @ r, np.subtract), 1e-10)
    near(derivatives.of_inverse(R), along(lambda v: R.boxplus(v).inverse()), 1e-10)
    near(derivatives.of_composition_left(R, S), along(lambda v: R.boxplus(v) @ S), 1e-10)
    near(derivatives.of_composition_right(R, S), along(lambda v: R @ S.boxplus(v)), 1e-10)
    near(derivatives.of_exponential(phi), along(lambda v: Rotation.exp(phi + v)), 1e-10)
    near(derivatives.of_logarithm(R), along(lambda v: R.boxplus(v).log(), np.subtract), 1e-9)


# ---- positions -------------------------------------------------------------------------------------------------------


def positions():
    """Parameters of positions, of both signs, and rates."""
    rng = np.random.default_rng(0)
    chi = rng.uniform(0.3, 1.2, (20, 3)) * rng.choice([-1, 1], (20, 3))
    return chi, rng.uniform(-1, 1, (20, 3))


@every_position
def test_positions_there_and_back(name):
    """[RD 2.2-2.8]"""
    chi, _ = positions()
    r = rates.position(name, chi)
    near(r, place(name, chi))
    back = rates.position_inverse(name, r)
    near(place(name, back), r)
    if name != "cartesian":
        assert (back[:, 0] >= 0).all()
        assert (np.abs(back[:, 1]) <= np.pi).all()
    if name == "spherical":
        assert ((back[:, 2] >= 0) & (back[:, 2] <= np.pi)).all()


@every_position
@each_case("r", [(0.0, 0.0, 0.0), (0.0, 0.0, -2.0), (1e-200, 1e-200, 0.0), (3e200, 4e200, 0.0)])
def test_positions_at_the_origin_on_the_axis_and_far_away(name, r):
    near(place(name, rates.position_inverse(name, r)), r, 1e-15)
    scale = np.abs(r).max()
    if scale > 0:
        near(place(name, rates.position_inverse(name, r)) / scale, np.array(r) / scale, 1e-15)


@every_position
def test_the_linear_rate_map_gives_the_velocity(name):
    """[RD 2.9-2.16]"""
    chi, dchi = positions()
    near(mul(rates.linear(name, chi), dchi), rate(lambda x: place(name, x), chi, dchi))


@every_position
def test_the_inverse_linear_rate_map(name):
    """[RD 2.11, 2.14, 2.17]"""
    chi, _ = positions()
    near(rates.linear(name, chi) @ rates.linear_inverse(name, chi), np.broadcast_to(np.eye(3), (20, 3, 3)))
    E = rates.linear(name, chi[0])
    damped = rates.linear_inverse(name, chi[0], damping=0.3)
    near(damped, E.T @ np.linalg.inv(E @ E.T + 0.09 * np.eye(3)))


@every_position
def test_the_rate_of_the_linear_rate_map(name):
    chi, dchi = positions()
    found = rates.linear_dot(name, chi, dchi)
    near(found, difference(lambda t: rates.linear(name, chi + t * dchi / 4)) * 4, 1e-10)


@pytest.mark.parametrize(
    ("name", "chi"),
    [
        ("cylindrical", (0.0, 0.3, 1.0)),
        ("spherical", (0.0, 0.3, 1.0)),
        ("spherical", (2.0, 0.3, 0.0)),
        ("spherical", (2.0, 0.3, np.pi)),
    ],
)
def test_on_the_axis_the_inverse_linear_rate_map_is_refused(name, chi):
    with pytest.raises(SingularityError, match=rf"^{name} \[.*: the rates are singular on .*axis.* m away; damping="):
        rates.linear_inverse(name, chi)
    batch = np.ones((4, 3))
    batch[3] = chi
    with pytest.raises(SingularityError, match=r"\(sample 3\)"):
        rates.linear_inverse(name, batch)
    assert np.isfinite(rates.linear_inverse(name, batch, damping=0.01)).all()
