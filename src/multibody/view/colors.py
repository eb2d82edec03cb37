"""The colours of pictures and of the viewer."""

from typing import Any

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""

PLAIN: Color = (0.72, 0.74, 0.78, 1.0)
"""Shapes without a colour of their own."""
STICK: Color = (0.25, 0.45, 0.75, 1.0)
"""Lines from joint to joint."""
MAX_PALENESS = 0.55
"""The share of white in the colours of the first of several configurations."""
BACKGROUND = (1.0, 1.0, 1.0)
FLOOR = ((0.90, 0.91, 0.93), (0.84, 0.86, 0.89))
"""The two colours of its tiles."""
AXES = ("#d62728", "#2ca02c", "#1f77b4")
"""The axes x, y and z of a frame."""

FORCE, FRICTION_CONE = (44, 160, 44), (255, 187, 60)
MASS, INERTIA, TRACE = (214, 39, 40), (255, 127, 14), (31, 119, 180)
"""Overlays of the viewer, from 0 to 255."""
GHOST_OPACITY = 0.35
TRANSLUCENT = 0.4
"""The opacity of bodies while an overlay inside of them is shown."""
LINES = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
NOW = "#222222"
"""The lines of charts, and the one that marks the time."""


def to_bytes(color: Color) -> tuple[Any, ...]:
    """Return red, green and blue from 0 to 255."""
    return tuple(round(255 * min(max(x, 0.0), 1.0)) for x in color[:3])
