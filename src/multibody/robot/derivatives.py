"""Derivatives of any quantity of a robot by its inputs, in the tangent space, by automatic differentiation."""

from typing import Any

import numpy as np

from multibody.compiler.differentiate import jacobian
from multibody.model import configuration
from multibody.model.model import Model
from multibody.robot.kernels import Task
from multibody.robot.requests import Request


def task(model: Model, request: Request) -> Task:
    """To compute the derivatives of a request by each of its inputs: a tuple, or tuples for several results.

    By q they are along the velocities of the robot: with q' = F(q) v, f' is (df/dq) F v.  [Kindr §Coordinate Rates]
    """
    function, inputs = request.function(model), request.inputs()
    along = [name for name in inputs if name.startswith("q")]

    def compute(*args: Any) -> Any:
        found = jacobian(function, tuple(range(len(inputs))))(*args)
        maps = {name: configuration.rate_matrix(model, args[inputs.index(name)]) for name in along}
        return _in_tangent_space(found, inputs, maps)

    compute.__name__ = f"{request.name}_derivatives"
    key = request.key(model)
    return Task(None if key is None else ("derivatives", key), compute, request.lengths(model))


def _in_tangent_space(found: Any, inputs: tuple[str, ...], maps: dict[str, Any]) -> Any:
    """The Jacobians of one result by all inputs, or of several results, with those by coordinates times F."""
    if not isinstance(found, tuple):  # of one result by its only input
        found = (found,)
    elif len(inputs) == 1 or isinstance(found[0], tuple):
        return tuple(_in_tangent_space(one, inputs, maps) for one in found)
    return tuple(_times(J, maps[name]) if name in maps else J for name, J in zip(inputs, found, strict=True))


def _times(J: Any, F: Any) -> Any:
    """(..., result, nq) times (..., nq, nv), over the batch of F."""
    batch, core = F.shape[:-2], F.shape[-2:]
    spread = F.reshape(*batch, *[1] * (J.ndim - 1 - len(batch)), *core)
    return np.matmul(J[..., None, :], spread)[..., 0, :]
