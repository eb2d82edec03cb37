"""The motion of the demo: what it conserves, and that an error would show."""

import numpy as np
import pytest

import multibody as mb
from multibody.cli.demo import throw


def test_energy_and_momentum_of_a_free_body() -> None:
    flight = throw(mb.load("free-body-se3"), 0.2)
    assert flight.energy_drift < 1e-10
    assert flight.momentum_drift < 1e-10
    assert np.ptp(flight.kinetic) > 0.1 * flight.kinetic[0]  # or nothing would be shown
    np.testing.assert_allclose(np.linalg.norm(flight.q[:, 3:7], axis=-1), 1.0, atol=1e-12)
    elapsed = flight.time - flight.time[0]
    heated = flight._replace(kinetic=flight.kinetic + elapsed)
    assert heated.energy_drift == pytest.approx(elapsed[-1] / flight.kinetic[0], rel=1e-6)
    turned = flight._replace(momentum=flight.momentum * (1 + elapsed[:, None]))
    assert turned.momentum_drift == pytest.approx(elapsed[-1], rel=1e-6)
