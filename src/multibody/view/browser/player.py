"""Playing a run in a viewer: a time bar, speed and loop."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.simulate import Run
from multibody.view.browser.charts import Charts
from multibody.view.browser.thread_errors import reported
from multibody.view.scene import RunView

FRAME = 1 / 60
"""The time from one frame to the next, in s."""
MAX_GHOSTS = 100
"""Samples of a batch that are shown as ghosts."""
BAR_INTERVAL = 0.1
"""The time between two updates of the bar and the charts, in s."""


class Player:
    """Shows the rows of a run at their times, on a thread of its own, until it is closed."""

    def __init__(self, server: Any, run: Run, charts: Charts | None, show: Callable[[int], None], speed: float) -> None:
        """`show` is called with the row at each frame; the charts follow less often, and are closed with the player."""
        self.t = np.asarray(run.t, float)
        self._show, self._charts = show, charts
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._at, self._shown, self.playing = float(self.t[0]), -1, True
        self._bar_updated = -np.inf
        self._wanted: float | None = None
        self._folder = server.gui.add_folder("run", order=-1.0)
        with self._folder:
            self._button = server.gui.add_button("pause")
            self._step = _round_step(float(self.t[-1] - self.t[0]))
            last = max(float(self.t[-1]), float(self.t[0]) + self._step)
            self._bar = server.gui.add_slider("time [s]", float(self.t[0]), last, self._step, float(self.t[0]))
            self._speed = server.gui.add_slider("speed", 0.05, 4.0, 0.05, float(np.clip(speed, 0.05, 4.0)))
            self._loop = server.gui.add_checkbox("loop", True)
        self._button.on_click(lambda _: self.pause(self.playing))
        self._bar.on_update(self._scrubbed)
        self._thread = threading.Thread(target=self._run, name="multibody player", daemon=True)
        self._thread.start()

    def pause(self, stop: bool = True) -> None:
        """Stop at this moment, or resume."""
        with self._lock:
            if not stop and self._at >= self.t[-1]:
                self._at = float(self.t[0])
            if stop and self.playing:
                self._update_bar()
            self.playing = not stop
            self._button.label = "play" if stop else "pause"

    def seek(self, seconds: float) -> None:
        """Show the row nearest to a time."""
        with self._lock:
            self._at, self._shown = float(np.clip(seconds, self.t[0], self.t[-1])), -1
            self._refresh()
            self._update_bar()

    def view(self) -> RunView:
        """Return a snapshot."""
        return RunView(self._at, float(self._bar.value), self.playing, self._charts.view() if self._charts else ())

    def close(self) -> None:
        """End playing, and remove the controls."""
        self._closed.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2.0)
        self._folder.remove()
        if self._charts is not None:
            self._charts.close()

    async def _scrubbed(self, event: Any) -> None:
        """Store the time of the bar, if a person moved it: while it plays, it is moved from here, too."""
        value = float(self._bar.value)
        if event.client is not None and np.isfinite(value):  # a person
            self._wanted = value

    def _run(self) -> None:
        before = time.perf_counter()
        while not self._closed.wait(FRAME):
            now = time.perf_counter()
            with self._lock, reported():
                wanted, self._wanted = self._wanted, None
                if wanted is not None:
                    self.playing = False
                    self.pause()
                    self.seek(wanted)
                elif self.playing:
                    self._advance(now - before)
                    if now - self._bar_updated > BAR_INTERVAL:
                        self._update_bar()
            before = now

    def _advance(self, seconds: float) -> None:
        speed = float(self._speed.value)
        self._at += seconds * (min(max(speed, 0.0), 100.0) if np.isfinite(speed) else 0.0)
        if self._at > self.t[-1]:
            self._at = float(self.t[0]) if self._loop.value else float(self.t[-1])
            if not self._loop.value:
                self.pause()
        self._refresh()

    def _refresh(self) -> None:
        row = int(np.clip(np.searchsorted(self.t, self._at), 0, len(self.t) - 1))
        if row != self._shown:
            self._shown = row
            self._show(row)

    def _update_bar(self) -> None:
        """The bar and the charts."""
        self._bar_updated = time.perf_counter()
        value = round(self._at / self._step) * self._step
        if abs(value - self._bar.value) > 0.5 * self._step:
            self._bar.value = float(np.clip(value, self._bar.min, self._bar.max))
        if self._charts is not None:
            self._charts.follow(self._at)


def states_of(run: Run, index: tuple[int, ...], alone: bool) -> NDArray[Any]:
    """Return (n, rows, nq): the ghosts, unless a sample is shown alone or they are too many, and the sample."""
    batch = run.q.shape[:-2]
    own = np.asarray(run.q[index], float)[None]
    if alone or not batch or np.prod(batch) > MAX_GHOSTS:
        return own
    others = np.asarray(run.q, float).reshape(-1, *run.q.shape[-2:])[1:]
    return np.concatenate([others, own])


def _round_step(length: float) -> float:
    """A power of ten, below a hundredth of the length."""
    return float(10.0 ** np.floor(np.log10(max(length, 1e-6) / 100)))
