"""Results as an xarray Dataset, read and checked when they are used."""

from typing import Any

import numpy as np

from multibody.errors import missing_package
from multibody.sweep.store.record import Record


def dataset(record: Record) -> Any:
    """A Dataset over the samples: parameters are coordinates, with their units; rows that are not done are NaN."""
    try:
        import xarray
        from xarray.backends import BackendArray
        from xarray.core import indexing
    except ImportError:
        raise missing_package("a Dataset needs xarray", "sweep", "xarray") from None

    class Lazy(BackendArray):
        def __init__(self, array: Any) -> None:
            self.array, self.shape, self.dtype = array, array.shape, array.dtype

        def __getitem__(self, key: Any) -> Any:
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.BASIC, self.array.__getitem__
            )

    def axes(name: str, x: Any) -> tuple[str, ...]:
        return ("sample", *(f"{name}_{k}" for k in range(x.ndim - 1)))

    units = record.store.header["units"]
    variables = {
        name: (axes(name, x), indexing.LazilyIndexedArray(Lazy(x))) for name, x in record.results(partial=True).items()
    }
    coordinates = {
        name: (axes(name, x), np.asarray(x), {"units": units[name]} if name in units else {})
        for name, x in record.parameters().items()
    }
    return xarray.Dataset(variables, {**coordinates, "failed": ("sample", record.failed())})
