"""Derivatives of any quantity of a robot by its inputs, in the tangent space, by automatic differentiation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from multibody.model import configuration
from multibody.model.model import Model
from multibody.model.parameters import placement_rates
from multibody.robot.kernels import TURNED, Task, check_masses, content_of, with_parameters
from multibody.robot.requests import TABLE, Request
from multibody.tracing.differentiate import jacobian


def task(model: Model, request: Request, parameters: Sequence[str] = ()) -> Task:
    """To compute the derivatives of a request by each of its inputs: a tuple, or tuples for several results.

    By q they are along the velocities of the robot: with q' = F(q) v, f' is (df/dq) F v.  [Kindr §Coordinate Rates]
    Those by parameters come after the others; by placements they are along velocities, too: see `placement_rates`.
    """
    own = request.inputs()
    inputs = (*own, *parameters)
    lengths: dict[str, Any] = request.lengths(model) | {name: model.tree.parameter_shapes[name] for name in parameters}
    unchecked = [request] if TABLE[request.name].solves and "inertias" not in parameters else []

    def function(*args: Any) -> Any:
        return request.function(with_parameters(model.tree, parameters, args[len(own) :]))(*args[: len(own)])

    def compute(*args: Any) -> Any:
        if unchecked:  # when there is no code in the cache: what is there has passed
            check_masses(model)
            unchecked.clear()
        found = jacobian(function, tuple(range(len(inputs))), tuple(lengths[name] for name in inputs))(*args)
        given = dict(zip(inputs, args, strict=True))
        maps = {name: configuration.rate_matrix(model.tree, x) for name, x in given.items() if name.startswith("q")}
        maps |= {name: placement_rates(x) for name, x in given.items() if name in TURNED}
        return _in_tangent_space(found, inputs, maps)

    compute.__name__ = f"{request.name}_derivatives"
    return Task(content_of(model, [request], parameters, "derivatives"), compute, lengths)


def _in_tangent_space(found: Any, inputs: tuple[str, ...], maps: dict[str, Any]) -> Any:
    """The Jacobians of one result by all inputs, or of several results, with those by coordinates times F."""
    if not isinstance(found, tuple):  # of one result by its only input
        found = (found,)
    elif len(inputs) == 1 or isinstance(found[0], tuple):
        return tuple(_in_tangent_space(one, inputs, maps) for one in found)
    return tuple(
        _times(J, maps[name], 3 if name in TURNED else 2) if name in maps else J
        for name, J in zip(inputs, found, strict=True)
    )


def _times(J: Any, F: Any, axes: int) -> Any:
    """(..., result, nq) times (..., nq, nv), or (..., result, n, 7) times (..., n, 7, 6), over the batch of F."""
    batch, core = F.shape[:-axes], F.shape[-axes:]
    spread = F.reshape(*batch, *[1] * (J.ndim + 1 - axes - len(batch)), *core)
    return np.matmul(J[..., None, :], spread)[..., 0, :]
