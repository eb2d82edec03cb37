"""Samples of studies: designs that are computed for any index, the user's arrays, and the random numbers of samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from multibody.sweep.designs.designs import Grid, LatinHypercube, Normal, Uniform
from multibody.sweep.designs.samples import Samples
from multibody.sweep.designs.sobol import Sobol


def from_plain(plain: Mapping[str, Any]) -> Samples | None:
    """The design that `Samples.plain` describes; None for samples that plain data cannot describe."""
    kind = _DESIGNS.get(plain["kind"])
    if kind is None:
        return None
    parts = {name: _restored(value) for name, value in plain.items() if name not in ("kind", "units")}
    return kind(**parts, units=plain["units"])


_DESIGNS = {kind.__name__: kind for kind in (Grid, Uniform, Normal, LatinHypercube, Sobol)}


def _restored(x: Any) -> Any:
    if isinstance(x, Mapping) and set(x) == {"dtype", "data"}:
        return np.array(x["data"], np.dtype(x["dtype"]))
    return {name: _restored(value) for name, value in x.items()} if isinstance(x, Mapping) else x
