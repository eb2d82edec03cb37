"""Before a run: is the study the one of its store; if there is none, what are its results, and how long is a chunk."""

import platform
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from multibody.errors import InputError
from multibody.sweep import begun
from multibody.sweep import store as stores
from multibody.sweep.crew import Crew, WorkerLost
from multibody.sweep.errors import StoreError, StudyChangedError, SweepError
from multibody.sweep.here import Here
from multibody.sweep.identity import changes
from multibody.sweep.parcel import pack
from multibody.sweep.probe import MEMORY, Deadly, Probe, places, probe
from multibody.sweep.samples import Samples
from multibody.sweep.store import Column, Store, size_of
from multibody.sweep.work import Work

TRIES = 50
"""Workers that may be lost at the first look, without that a death tells of its samples, until the crew is the reason.
"""


class Plan(NamedTuple):
    """What a study is, as its user says it."""

    work: Work
    samples: Samples
    identity: dict[str, str]
    chunk: int | None
    fork: bool


def version() -> str:
    """The library's version."""
    return import_module("multibody").__version__


def begin(plan: Plan, path: Path, crew: Crew) -> tuple[Store, dict[str, Any]]:
    """Make the store of a study that has none, after a look at the function; and the kernels that it compiled."""
    equip(crew, plan.work, {}, None)
    seen = _first_look(plan, crew)
    header = {
        "version": version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "n": plan.samples.n,
        "chunk": seen.chunk,
        "seed": plan.work.seed,
        "nan_fails": plan.work.nan_fails,
        "samples": plan.samples.plain(),
        "units": dict(plan.samples.units),
        "bounds": plan.samples.bounds,
        "results_kept": _kept(seen.columns, "results"),
        "samples_kept": _kept(seen.columns, "samples"),
        "cpu": seen.cpu,
        "generations": [{"version": version(), "identity": plan.identity}],
    }
    return stores.create(path, header), seen.entries


def check_unchanged(plan: Plan, path: Path) -> Store:
    """Refuse a study that is not the one of its store, whose lock is held; a fork is noted there.

    Raises:
        StudyChangedError: with what changed.
    """
    store = stores.read(path)
    if store is None:
        raise StoreError(f"{path}: the store is gone: it was removed while the study began")
    header = store.header
    fixed = [
        ("seed", header["seed"], plan.work.seed),
        ("nan_fails", header["nan_fails"], plan.work.nan_fails),
        ("chunk", header["chunk"], header["chunk"] if plan.chunk is None else plan.chunk),
    ]
    for name, before, now in fixed:
        if before != now:
            raise StudyChangedError(f"{store.path}: the study was begun with {name}={before!r}, got {now!r}: {_ELSE}")
    before, now = header["samples"], stores.as_json(plan.samples.plain())
    if before != now:
        parts = [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
        raise StudyChangedError(f"{store.path}: the samples have changed ({', '.join(sorted(parts))}): {_ELSE}")
    last = header["generations"][-1]
    changed = [f"{name!r}" for name in changes(last["identity"], plan.identity)]
    told = []
    if changed:
        told.append(f"the function has changed: {', '.join(changed[:8])}{' and more' * (len(changed) > 8)}")
        if header["python"].split(".")[:2] != platform.python_version().split(".")[:2]:
            told.append(f"code is told by that of Python {header['python']}, this is {platform.python_version()}")
    if last["version"] != version():
        told.append(f"it was begun with multibody {last['version']}, this is {version()}")
    if not told:
        return store
    if not plan.fork:
        raise StudyChangedError(
            f"{store.path}: {'; '.join(told)}. Use another store; or Study(..., fork=True) to go on in this one, which "
            "keeps what is done and notes who computed what"
        )
    generation = {"version": version(), "identity": plan.identity}
    return stores.rewrite(store, {**header, "generations": [*header["generations"], generation]})


def equip(crew: Crew, work: Work, entries: dict[str, Any], cpu: str | None) -> None:
    """Tell a crew what it is to do."""
    if isinstance(crew, Here):
        crew.begin(work)
    else:
        if work.samples is not None and work.samples.travelling(0, 1) is not None:
            work = replace(work, samples=None)  # each chunk brings its own
        crew.equip(pack(work, entries, cpu))


def settled(work: Work, store: Store, mixed: bool) -> Work:
    """The work as the store has it: by which function of its history, on which processors."""
    cpu = None if mixed else store.header["cpu"]
    return replace(work, generation=len(store.header["generations"]) - 1, cpu=cpu)


_ELSE = "use another store for another study"


def _first_look(plan: Plan, crew: Crew) -> Probe:
    """What the function gives, at the first place where it gives something."""
    samples, n = plan.samples, plan.samples.n
    size = size_of(tuple(Column("samples", k, x.shape[1:], x.dtype) for k, x in samples.rows(np.arange(1)).items()))
    seen: Probe | None = None
    error: Exception | None = None
    notes = begun.first(plan.work.path)  # which stay where a pool broke: the next run learns from them
    for place in places(n):
        sent = samples.travelling(place.start, place.start + min(place.most, max(1, MEMORY // max(1, size))))
        try:
            seen = _held(crew, notes, place, n, sent, plan.chunk, samples.kept)
            break
        except (InputError, Deadly) as failure:
            error = error or failure
        except KeyboardInterrupt:  # which is no death
            notes.unlink(missing_ok=True)
            raise
    notes.unlink(missing_ok=True)
    if seen is not None:
        return seen
    if isinstance(error, Deadly):
        raise SweepError(f"the function ends its process wherever it is tried; {error}") from error
    raise InputError(str(error)) from error


def _held(crew: Crew, notes: Path, *looked: Any) -> Probe:
    """What a worker sees at a place, or another one where the first was lost."""
    tries = 0
    while True:
        before = begun.deaths(notes)
        try:
            return crew.call(probe, *looked)
        except WorkerLost as failure:
            tries = 0 if begun.deaths(notes) > before else tries + 1
            if tries >= TRIES:
                raise SweepError(
                    f"the first samples were given out {TRIES} times in vain, the last one: {failure}"
                ) from None


def _kept(columns: tuple[Column, ...], group: str) -> dict[str, Any]:
    return {c.name: {"shape": list(c.shape), "dtype": c.dtype.str} for c in columns if c.group == group}
