"""Charts of a run beside the robot, each with a line at the time that is shown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.simulate import Run
from multibody.simulate.plot import MAX_LEGEND, Panel, panels_of
from multibody.view.colors import LINES, NOW

MAX_POINTS = 240
"""Points of each line: a chart is about 300 pixels wide."""


class Charts:
    """A panel with charts of a run: base, joints, contacts, energy; `follow` moves the line of the time."""

    def __init__(self, server: Any, run: Run, index: tuple[int, ...]) -> None:
        rows = np.unique(np.linspace(0, len(run.t) - 1, min(len(run.t), MAX_POINTS)).round().astype(int))
        self._panel = server.gui.add_panel()
        self._charts: list[tuple[_Lines, Any]] = []
        with self._panel.add_tab("run"):
            for panel in panels_of(run, index):
                lines = _Lines(run.t[rows], panel.lines[rows])
                self._charts.append((lines, _chart(server, panel, lines)))
        self._panel.dock_left()
        self._panel.set_width(300)

    def follow(self, t: float) -> None:
        """Draw the line at a time in s."""
        for lines, chart in self._charts:
            chart.data = lines.at(t)

    def view(self) -> tuple[tuple[NDArray[Any], ...], ...]:
        """Return the data of each chart."""
        return tuple(tuple(chart.data) for _, chart in self._charts)

    def close(self) -> None:
        """Remove the panel from the page."""
        self._panel.remove()


class _Lines:
    """The columns of a chart, with two more rows: the ends of an upright line at one time."""

    def __init__(self, t: NDArray[Any], lines: NDArray[Any]) -> None:
        self.t, self.lines = np.asarray(t, float), np.asarray(lines, float)
        seen = self.lines[np.isfinite(self.lines)]
        low, high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 0.0)
        room = 0.05 * (high - low) or max(0.05 * abs(high), 1e-3)
        self.low, self.high = low - room, high + room

    def at(self, t: float) -> tuple[NDArray[Any], ...]:
        """The times, each line, and the upright one."""
        k = int(np.searchsorted(self.t, t))
        beside = self.lines[min(k, len(self.t) - 1)]
        upright = np.full(len(self.t) + 2, np.nan)
        upright[k : k + 2] = self.low, self.high
        lines = np.insert(self.lines, [k, k], beside, axis=0)
        return np.insert(self.t, [k, k], t), *(np.ascontiguousarray(line) for line in lines.T), upright


def _chart(server: Any, panel: Panel, lines: _Lines) -> Any:
    count = panel.lines.shape[1]
    named = len(panel.names) == count and count <= MAX_LEGEND
    labels = panel.names if named else map(str, range(1, count + 1))
    strokes = [*((label, LINES[k % len(LINES)], 1.3) for k, label in enumerate(labels)), ("now", NOW, 1.0)]
    series = [{"label": label, "stroke": color, "width": w, "points": {"show": False}} for label, color, w in strokes]
    return server.gui.add_uplot(
        data=lines.at(float(lines.t[0])),
        series=({"label": "t [s]"}, *series),
        title=f"{panel.title}: {panel.unit}",
        scales={"x": {"time": False}, "y": {"auto": False, "range": (lines.low, lines.high)}},
        legend={"show": named and count <= 4},
        height=150,
    )
