"""What equations of motion say, as numbers."""

import numpy as np

from multibody.derive.evaluation import numeric
from multibody.derive.kinematics import along


def motion(found, values):
    """q'' by the equations, with the forces of constraints where there are any."""
    system, J = found.system, numeric(found.J, values)
    rest = numeric(found.tau - found.b - found.g, values)
    whole = np.block([[numeric(found.M, values), -J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([rest, -numeric(found.drift, values)]) if len(J) else rest
    a = np.linalg.solve(whole, right)[: len(system.v)]
    return (numeric(along(system, system.q_dot), values) + numeric(system.rates, values) @ a)[:, 0]


def same(one, two, within=1e-12):
    np.testing.assert_allclose(one, two, rtol=0, atol=within * (1 + np.abs(two).max()))
