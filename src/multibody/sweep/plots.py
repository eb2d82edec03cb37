"""Pictures of a study: points, maps over two parameters, histograms, parallel coordinates, bands of time series."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody._saving import check_place
from multibody.errors import InputError
from multibody.sweep.selection import SampleSelection

MAX_POINTS = 50_000
"""The number of points that are drawn at most."""
MAX_CELLS = 60
"""Cells of a map along each axis, if its parameters are not those of a grid."""
MAX_LINES = 1_000
"""The number of lines of parallel coordinates."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

Path = str | PathLike[str] | None


def points(selection: SampleSelection, x: str, y: str, color: str | None, path: Path) -> Any:
    """y over x, a point a sample, in the colour of a third."""
    figure, axes = _figure(selection, path)
    every = max(1, -(-len(selection.index) // MAX_POINTS))
    shade = None if color is None else selection.values(color)[::every]
    size = np.clip(2000 / max(1, len(selection.index) // every), 0.5, 20)
    drawn = axes.scatter(selection.values(x)[::every], selection.values(y)[::every], size, shade, rasterized=True)
    axes.set(xlabel=selection.label(x), ylabel=selection.label(y))
    if color is not None:
        figure.colorbar(drawn, label=selection.label(color))
    return _saved(figure, path)


def field(selection: SampleSelection, x: str, y: str, value: str, path: Path) -> Any:
    """The mean of a value over two parameters: in the cells of their grid, or in equal ones."""
    figure, axes = _figure(selection, path)
    (column, left), (row, low) = (_cells(selection.values(name)) for name in (x, y))
    place = row * (len(left) - 1) + column
    size = (len(low) - 1) * (len(left) - 1)
    count = np.bincount(place, minlength=size)
    total = np.bincount(place, selection.values(value).astype(np.float64), minlength=size)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(len(low) - 1, len(left) - 1)
    figure.colorbar(axes.pcolormesh(left, low, mean), label=f"mean of {selection.label(value)}")
    axes.set(xlabel=selection.label(x), ylabel=selection.label(y))
    return _saved(figure, path)


def histograms(selection: SampleSelection, names: tuple[str, ...], path: Path) -> Any:
    """How often each value occurs."""
    if not names:
        raise InputError("histogram: expected names of results of one number a sample")
    figure, first = _figure(selection, path, len(names))
    for axes, name in zip(np.ravel(first), names, strict=True):
        values = selection.values(name).astype(np.float64)
        axes.hist(values[np.isfinite(values)], bins=min(100, max(10, int(len(values) ** 0.5))))
        axes.set(xlabel=selection.label(name), ylabel="samples")
    return _saved(figure, path)


def parallel(selection: SampleSelection, names: tuple[str, ...], color: str | None, path: Path) -> Any:
    """A line a sample over several axes, each from its least to its largest value."""
    if len(names) < 2:
        raise InputError("parallel: expected at least two names")
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    figure, axes = _figure(selection, path)
    every = max(1, -(-len(selection.index) // MAX_LINES))
    columns = [selection.values(name)[::every].astype(np.float64) for name in names]
    fractions = np.stack([_fraction(column) for column in columns], axis=1)
    shade = _fraction(selection.values(color or names[-1])[::every].astype(np.float64))
    for line, tint in zip(fractions, colormaps["viridis"](Normalize(0, 1)(shade)), strict=True):
        axes.plot(range(len(names)), line, color=tint, linewidth=0.6, alpha=0.5)
    ends = [f"{selection.label(name)}\n{x.min():.3g} to {x.max():.3g}" for name, x in zip(names, columns, strict=True)]
    axes.set_xticks(range(len(names)), ends)
    axes.set(yticks=[], ylabel=f"colour: {color or names[-1]}")
    return _saved(figure, path)


def bands(selection: SampleSelection, name: str, path: Path) -> Any:
    """The quantiles of a time series, (samples, times), over the samples."""
    rows, entry = selection.rows(name)
    series = rows if not entry else rows[(slice(None), slice(None), *entry)]
    if series.ndim != 2:
        raise InputError(f"bands: {name}: expected (times,) a sample, got {series.shape[1:]}")
    figure, axes = _figure(selection, path)
    low, quarter, middle, three, high = np.nanquantile(series, QUANTILES, axis=0)
    times = np.arange(series.shape[1])
    axes.fill_between(times, low, high, alpha=0.2, label="5 % to 95 %")
    axes.fill_between(times, quarter, three, alpha=0.4, color="C0", label="25 % to 75 %")
    axes.plot(times, middle, color="C0", label="median")
    axes.set(xlabel="row", ylabel=selection.label(name))
    axes.legend()
    return _saved(figure, path)


def _figure(selection: SampleSelection, path: Path, count: int = 1) -> Any:
    from multibody._figure import Figure

    if path is not None:
        check_place(path, "path")
    columns = min(3, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(5.0 * columns, 3.6 * rows), layout="constrained")
    figure.suptitle(selection.title)
    axes = [figure.add_subplot(rows, columns, k + 1) for k in range(count)]
    return figure, axes[0] if count == 1 else axes


def _saved(figure: Any, path: Path) -> Any:
    if path is not None:
        figure.savefig(path, dpi=110)
    return figure


def _cells(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Into which cell each value falls, and where the cells end: around the values of a grid, or equal ones."""
    known = np.unique(values)
    if len(known) > MAX_CELLS:
        ends = np.linspace(known[0], known[-1], MAX_CELLS + 1)
        return np.clip(np.searchsorted(ends, values, side="right") - 1, 0, MAX_CELLS - 1), ends
    between = (known[1:] + known[:-1]) / 2
    outer = (known[-1] - known[0]) / max(1, len(known) - 1) / 2 or 0.5
    return np.searchsorted(known, values), np.concatenate([[known[0] - outer], between, [known[-1] + outer]])


def _fraction(values: NDArray[Any]) -> NDArray[Any]:
    width = values.max() - values.min()
    return (values - values.min()) / width if width else np.full(len(values), 0.5)
