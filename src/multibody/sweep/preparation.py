"""The preparation of a run: the check that a study is the one of its store, or the layout of a new store."""

import platform
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from multibody.errors import InputError
from multibody.sweep import attempts
from multibody.sweep.calibration import CHUNK_MEMORY, Calibration, CalibrationTask, Deadly, places
from multibody.sweep.chunks import Job
from multibody.sweep.designs.samples import Samples
from multibody.sweep.errors import StoreError, StudyChangedError, SweepError
from multibody.sweep.executors.executor import ChunkExecutor
from multibody.sweep.identity import changes
from multibody.sweep.retries import LossCounter
from multibody.sweep.store import format as store_format
from multibody.sweep.store.format import Column, Store, size_of


class Plan(NamedTuple):
    """A study as its user describes it."""

    job: Job
    samples: Samples
    identity: dict[str, str]
    chunk: int | None
    fork: bool


def version() -> str:
    """The library's version."""
    return import_module("multibody").__version__


def create_store(plan: Plan, path: Path, executor: ChunkExecutor) -> tuple[Store, dict[str, Any]]:
    """Create the store of a study after the first calls of its function, and return it with the compiled kernels."""
    executor.equip(plan.job, {}, None)
    seen = _calibrate(plan, executor)
    header = {
        "version": version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "created": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "n": plan.samples.n,
        "chunk": seen.chunk,
        "seed": plan.job.seed,
        "nan_fails": plan.job.nan_fails,
        "samples": plan.samples.plain(),
        "units": dict(plan.samples.units),
        "bounds": plan.samples.bounds,
        "results_kept": _kept(seen.columns, "results"),
        "samples_kept": _kept(seen.columns, "samples"),
        "cpu": seen.cpu,
        "generations": [{"version": version(), "identity": plan.identity}],
    }
    return store_format.create(path, header), seen.entries


def check_unchanged(plan: Plan, path: Path) -> Store:
    """Check that a study is the one of its store, whose lock is held; record a fork there.

    Raises:
        StudyChangedError: with what changed.
    """
    store = store_format.read(path)
    if store is None:
        raise StoreError(f"{path}: the store is gone: it was removed while the study began")
    header = store.header
    settings = {"seed": plan.job.seed, "nan_fails": plan.job.nan_fails, "chunk": plan.chunk or header["chunk"]}
    for name, now in settings.items():
        if (before := header[name]) != now:
            raise StudyChangedError(f"{store.path}: the study was begun with {name}={before!r}, got {now!r}: {_ELSE}")
    before, now = header["samples"], store_format.as_json(plan.samples.plain())
    if before != now:
        parts = [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
        raise StudyChangedError(f"{store.path}: the samples have changed ({', '.join(sorted(parts))}): {_ELSE}")
    last = header["generations"][-1]
    changed = [f"{name!r}" for name in changes(last["identity"], plan.identity)]
    messages = []
    if changed:
        messages.append(f"the function has changed: {', '.join(changed[:8])}{' and more' * (len(changed) > 8)}")
        if header["python"].split(".")[:2] != platform.python_version().split(".")[:2]:
            messages.append(
                f"code is compared as that of Python {header['python']}, this is {platform.python_version()}"
            )
    if last["version"] != version():
        messages.append(f"it was begun with multibody {last['version']}, this is {version()}")
    if not messages:
        return store
    if not plan.fork:
        raise StudyChangedError(
            f"{store.path}: {'; '.join(messages)}. Use another store; or Study(..., fork=True) to go on in this one, "
            "which keeps what is done and notes who computed what"
        )
    generation = {"version": version(), "identity": plan.identity}
    return store_format.rewrite(store, {**header, "generations": [*header["generations"], generation]})


def job_for(store: Store, job: Job, mixed: bool) -> Job:
    """The job with the generation and the class of processors of a store."""
    cpu = None if mixed else store.header["cpu"]
    return replace(job, generation=len(store.header["generations"]) - 1, cpu=cpu)


_ELSE = "use another store for another study"


def _calibrate(plan: Plan, executor: ChunkExecutor) -> Calibration:
    """Calibrate at the first place at which the function has results."""
    samples, n = plan.samples, plan.samples.n
    size = size_of(tuple(Column("samples", k, x.shape[1:], x.dtype) for k, x in samples.rows(np.arange(1)).items()))
    error: Exception | None = None
    log = attempts.first_log(plan.job.path)  # stays after a crash: the next run reads it
    for place in places(n):
        shipped = samples.shipped(place.start, place.start + min(place.longest, max(1, CHUNK_MEMORY // max(1, size))))
        task = CalibrationTask(place, n, shipped, plan.chunk, samples.kept)
        try:
            seen = _run(executor, task, log)
            log.unlink(missing_ok=True)
            return seen
        except (InputError, Deadly) as failure:
            error = error or failure
        except KeyboardInterrupt:  # no evidence against a sample
            log.unlink(missing_ok=True)
            raise
    log.unlink(missing_ok=True)
    if isinstance(error, Deadly):
        raise SweepError(f"the function ends its process wherever it is tried; {error}") from error
    raise InputError(str(error)) from error


def _run(executor: ChunkExecutor, task: CalibrationTask, log: Path) -> Calibration:
    """Calibrate in a worker, or in another one if it is lost."""
    losses = LossCounter("the first call")
    executor.submit(task)
    while True:
        for result in executor.collect():
            if isinstance(result.error, BaseException):
                raise result.error
            if result.state != "lost":
                return result.value
            losses.add(attempts.count_deaths(log), result.error)
            executor.submit(task)


def _kept(columns: tuple[Column, ...], group: str) -> dict[str, Any]:
    return {c.name: {"shape": list(c.shape), "dtype": c.dtype.str} for c in columns if c.group == group}
