"""The samples that plots show, with their parameters and results: all, or evenly spread chunks of very many."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.sweep.store.record import Record

MAX_SAMPLES = 2_000_000
"""The number of samples that a plot reads."""


@dataclass(frozen=True, eq=False)
class SampleSelection:
    """Samples that are done and did not fail."""

    record: Record
    index: NDArray[np.int64]
    total: int
    """The number of all samples."""

    def values(self, name: str) -> NDArray[Any]:
        """(samples,): one number a sample, such as "kp", or "q[2]" of what has several."""
        rows, entry = self.rows(name)
        if rows.ndim != 1 + len(entry):
            raise InputError(f"{name}: expected one number a sample, got shape {rows.shape[1:]}: write {name}[0]")
        return rows[(slice(None), *entry)]

    def rows(self, name: str) -> tuple[NDArray[Any], tuple[int, ...]]:
        """The rows of a parameter or result, and the entry that its name asks for."""
        match = re.fullmatch(r"(\w+)((?:\[\d+\])*)", str(name))
        base = match[1] if match else name
        entry = tuple(int(k) for k in re.findall(r"\d+", match[2])) if match else ()
        results = self.record.results(partial=True)
        if base in results:
            return results[base][self.index], entry
        parameters = self.record.parameters(self.index)
        if base not in parameters:
            raise InputError(f"expected one of {', '.join([*parameters, *results])}, got {name!r}")
        return parameters[base], entry

    def label(self, name: str) -> str:
        """The name with its unit."""
        unit = self.record.store.header["units"].get(name.partition("[")[0])
        return f"{name} [{unit}]" if unit else name

    @property
    def title(self) -> str:
        """The name of the study, and the number of samples shown."""
        part = f"{len(self.index)} of {self.total} samples" if len(self.index) < self.total else f"{self.total} samples"
        return f"{self.record.store.path.name}: {part}"


def select(record: Record, limit: int = MAX_SAMPLES) -> SampleSelection:
    """Select about so many samples."""
    store, known = record.store, record.commits()
    step, stride = max(1, -(-len(known) * store.chunk // limit)), max(1, -(-store.chunk // limit))
    parts = [
        np.setdiff1d(np.arange(*store.span(commit.chunk), stride), [failure.index for failure in commit.failures])
        for commit in known[::step]
    ]
    index = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    if not len(index):
        raise InputError(f"{store.path}: no sample is done yet")
    return SampleSelection(record, index, store.n)
