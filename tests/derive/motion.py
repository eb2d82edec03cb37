"""What equations of motion say, as numbers."""

import numpy as np

from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.kinematics import along


def motion(equations, values):
    """q'' by the equations, with the forces of constraints where there are any."""
    system, J = equations.system, numeric(equations.J, values)
    rest = numeric(equations.tau - equations.b - equations.g, values)
    whole = np.block([[numeric(equations.M, values), -J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([rest, -numeric(equations.drift, values)]) if len(J) else rest
    a = np.linalg.solve(whole, right)[: len(system.v)]
    return (numeric(along(system, system.q_dot), values) + numeric(system.rates, values) @ a)[:, 0]


def same(actual, expected, within=1e-12):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=within * (1 + np.abs(expected).max()))
