"""Methods keep to their contract: states and records by name, frozen objects, names in one table."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from multibody import simulate
from multibody.simulate.methods import METHODS
from multibody.simulate.run import ROWS

from .bodies import leg


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_states_and_records_have_the_declared_names(method):
    """A state entry that `initial_state` lacks, or a record that no field of `Run` takes, would be lost in silence."""
    robot, contacts, stand = leg()
    touching = {"contacts": contacts, "ground": simulate.Ground()} if method.has_contacts else {}
    simulator = simulate.Simulator(robot, dt=0.005, method=method.name, **touching)
    start = simulator.start(stand)
    state, record = simulator.step(start)
    own = method.initial_state(simulator.tree, simulator._step.scene, np.asarray(stand))
    assert set(own) <= set(start)
    assert list(state) == list(start)
    assert [np.shape(state[name]) for name in start] == [np.shape(start[name]) for name in start]
    assert set(record) <= set(ROWS)
    assert set(method.differentiated) <= set(own)
    assert simulator.method == method.name
    assert METHODS[method.name] is method


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_methods_are_frozen(method):
    with pytest.raises(FrozenInstanceError):
        method.name = "mine"
