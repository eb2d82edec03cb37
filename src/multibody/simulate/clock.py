"""The clock of a run: the number of steps, exact in float32 too, times, and the phase of sampled controllers.

`StepForces.sample` holds their forces in between (zero-order hold).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import floats

WRAP = 2**22
"""Steps after which the counter of a float32 run starts again at 0, because from 2²⁴ on adding 1 changes nothing."""
NAMES = ("steps", "wraps", "phase")
"""Entries of a state: steps; in float32, how often they have wrapped; steps since the controller was sampled."""


def clock_at(count: Any, names: Iterable[str], control_every: int) -> dict[str, Any]:
    """The entries with these names after a number of steps, (...) in float64."""
    single = "wraps" in names
    entries = {"steps": count % WRAP if single else count, "wraps": count // WRAP, "phase": count % control_every}
    return {name: entries[name] for name in NAMES if name in names}


def first_clock(dtype: Any, control_every: int) -> dict[str, Any]:
    """The entries at the start of a run."""
    names = ("steps",) + ("wraps",) * (dtype == np.float32) + ("phase",) * (control_every > 1)
    return clock_at(0.0, names, control_every)


def step_count(state: Mapping[str, Any]) -> NDArray[Any]:
    """(...): the number of steps until a state, in float64."""
    return np.asarray(state["steps"], np.float64) + WRAP * np.asarray(state.get("wraps", 0.0), np.float64)


def step_number(seconds: Any, dt: float) -> int:
    """The number of steps of dt in a duration, which must be a multiple of it."""
    duration = floats(seconds, "seconds")
    if duration.shape or not np.isfinite(duration) or duration < 0:
        raise InputError(f"seconds: expected a time in s that is not negative, got {seconds!r}")
    steps = round(float(duration) / dt)
    if abs(steps * dt - float(duration)) > 1e-9 * max(1.0, float(duration)):
        raise InputError(f"seconds: expected a multiple of dt = {dt} s, got {seconds!r}")
    return steps


def time_of(state: Mapping[str, Any], dt: float) -> Any:
    """The time of a state in s; it may be traced."""
    t = state["steps"] * dt
    return t + state["wraps"] * (WRAP * dt) if "wraps" in state else t


def row_times(start: Mapping[str, Any], every: int, rows: int, dt: float) -> NDArray[Any]:
    """(rows,): the times of the rows of a run from a state, in s."""
    return dt * (np.max(step_count(start), initial=0.0) + every * np.arange(1, rows + 1))


def tick(state: Mapping[str, Any], control_every: int) -> dict[str, Any]:
    """The entries one step later; they may be traced."""
    steps = state["steps"] + 1.0
    after = {"steps": steps}
    if "wraps" in state:
        full = steps > WRAP - 0.5
        after = {"steps": np.where(full, 0.0, steps), "wraps": state["wraps"] + np.where(full, 1.0, 0.0)}
    if "phase" in state:
        phase = state["phase"] + 1.0
        after["phase"] = np.where(phase > control_every - 0.5, 0.0, phase)
    return after
