"""A z-buffer rasteriser in NumPy: it fills triangles row by row of pixels, and keeps the nearest at each pixel."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROWS_PER_PASS = 300_000
"""Rows of pixels, over all triangles, that are filled at once: bounds the memory."""


class Fragments(NamedTuple):
    """The nearest triangle at each pixel."""

    depth: NDArray[Any]
    """(h, w): along the view, in m, infinite where there is nothing."""
    triangle: NDArray[Any]
    """(h, w): its index, or -1."""


def rasterize(points: NDArray[Any], faces: NDArray[Any], size: tuple[int, int], perspective: bool = True) -> Fragments:
    """Find the triangle that each pixel shows.

    A pixel belongs to the triangle in which its middle lies. Both triangles at an edge compute it alike, so that
    neighbours leave no gap and do not overlap.

    Args:
        points: (v, 3): x and y in pixels, and the depth; triangles with a depth that is not positive are left out.
        faces: (n, 3): indices of points.
        size: width and height.
        perspective: whether 1/depth is linear on the screen, instead of the depth.
    """
    w, h = size
    corners = np.ascontiguousarray(faces.T)  # (3, n): reductions over the first axis are faster
    x, y, depth = (points[:, k][corners] for k in range(3))
    first, rows = _pixels(y.min(axis=0), y.max(axis=0), h)
    columns = _pixels(x.min(axis=0), x.max(axis=0), w)[1]
    drawn = np.flatnonzero((rows > 0) & (columns > 0) & (depth > 0).all(axis=0))
    # depth and index in one integer: the minimum is the nearest triangle, and of equally near ones the last
    count = len(faces)
    nearest = np.full(w * h, (int(np.float32(np.inf).view(np.int32)) << 32) | count)
    total = np.cumsum(rows[drawn])
    passes = np.searchsorted(total, np.arange(ROWS_PER_PASS, total[-1] + 1, ROWS_PER_PASS)) if len(total) else []
    for part in np.split(drawn, passes):
        row, column, near, which = _fragments(
            x[:, part], y[:, part], depth[:, part], first[part], rows[part], w, perspective
        )
        key = (near.astype(np.float32).view(np.int32).astype(np.int64) << 32) | (count - 1 - part[which])
        np.minimum.at(nearest, row * w + column, key)
    shape = (h, w)
    return Fragments(
        (nearest >> 32).astype(np.int32).view(np.float32).reshape(shape),
        (count - 1 - (nearest & 0xFFFFFFFF)).reshape(shape),
    )


def barycentric(corners: NDArray[Any], x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Return the weights (n, 3) of the corners (n, 3, 3) of triangles in perspective, at points of the screen.

    Points beside their triangle get the weights of a point on its edge.
    """
    (ax, ay), (bx, by), (cx, cy) = ((corners[:, k, 0], corners[:, k, 1]) for k in range(3))
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    area = np.where(np.abs(area) > 1e-12, area, 1e-12)
    a = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
    b = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
    weights = np.maximum(np.stack([a, b, 1.0 - a - b], axis=-1), 0.0) / corners[..., 2]
    return weights / weights.sum(axis=-1, keepdims=True)


def _fragments(
    x: NDArray[Any],
    y: NDArray[Any],
    depth: NDArray[Any],
    first: NDArray[Any],
    rows: NDArray[Any],
    width: int,
    perspective: bool,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The row, column, depth and triangle of all pixels in some triangles, whose corners are (3, n)."""
    order = np.argsort(y, axis=0)
    (x0, x1, x2), (y0, y1, y2), (v0, v1, v2) = (
        np.take_along_axis(values, order, axis=0) for values in (x, y, 1.0 / depth if perspective else depth)
    )
    which = np.repeat(np.arange(len(first)), rows)
    row = _ranges(first, rows)
    middle = row + 0.5
    # a row crosses the edge from the lowest corner to the highest, and one of the other two
    upper = middle >= y1[which]
    along = (middle - y0[which]) / (y2 - y0)[which]
    x_long, v_long = (a[which] + along * (b - a)[which] for a, b in ((x0, x2), (v0, v2)))
    from_x, from_y, from_v = (np.where(upper, b[which], a[which]) for a, b in ((x0, x1), (y0, y1), (v0, v1)))
    to_x, to_y, to_v = (np.where(upper, b[which], a[which]) for a, b in ((x1, x2), (y1, y2), (v1, v2)))
    along = (middle - from_y) / np.where(to_y > from_y, to_y - from_y, 1.0)
    x_short, v_short = from_x + along * (to_x - from_x), from_v + along * (to_v - from_v)
    left, lengths = _pixels(np.minimum(x_long, x_short), np.maximum(x_long, x_short), width)
    slope = (v_short - v_long) / np.where(x_short == x_long, 1.0, x_short - x_long)
    start = v_long + (left + 0.5 - x_long) * slope
    span = np.repeat(np.arange(len(row)), lengths)
    column = _ranges(left, lengths)
    value = start[span] + (column - left[span]) * slope[span]
    return row[span], column, 1.0 / value if perspective else value, which[span]


def _pixels(low: NDArray[Any], high: NDArray[Any], limit: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first pixel whose middle is in an interval, and their number, within the picture."""
    first, end = (np.clip(np.ceil(edge - 0.5), 0, limit).astype(int) for edge in (low, high))
    return first, np.maximum(end - first, 0)


def _ranges(first: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """The integers from each first on, as many as each count."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - (ends - counts), counts)
