"""`Study`: a function of samples, run over all of them, on one core or many machines; its store is the truth."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from multibody._signatures import options_of
from multibody.errors import InputError
from multibody.geometry._arrays import choice, truth
from multibody.simulate import Run
from multibody.sweep import plots, preparation, scheduler
from multibody.sweep.chunks import Job
from multibody.sweep.designs.random_streams import check_integer, check_seed
from multibody.sweep.designs.samples import Sample, Samples, samples_of
from multibody.sweep.errors import StoreError
from multibody.sweep.evaluation import call_function
from multibody.sweep.executors import executor_for
from multibody.sweep.functions import Simulation, function_of
from multibody.sweep.identity import identity
from multibody.sweep.preparation import Plan
from multibody.sweep.progress import Progress, progress_watcher
from multibody.sweep.selection import select
from multibody.sweep.store import format as store_format
from multibody.sweep.store.lock import locked
from multibody.sweep.store.record import FailedSample, Record, Status
from multibody.sweep.store.stored_array import StoredArray


@final
class Study:
    """A function, the samples that it is computed for, and the folder in which the results are.

    >>> import tempfile
    >>> import multibody as mb
    >>> def swing(sample):
    ...     return {"period": 2 * np.pi * np.sqrt(sample["length"] / 9.81)}
    >>> folder = tempfile.TemporaryDirectory()
    >>> lengths = mb.sweep.uniform(1000, length=(0.1, 2.0))
    >>> study = Study(swing, lengths, store=f"{folder.name}/swing.zarr")
    >>> study.run().done
    1000
    >>> study.results()["period"][:5].shape
    (5,)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        function: Any,
        samples: Samples | Mapping[str, Any] | None,
        store: str | PathLike[str],
        chunk: int | None = None,
        seed: int = 0,
        *,
        nan_fails: bool = True,
        fork: bool = False,
        seconds: float | None = None,
        metrics: Mapping[str, Callable[[Run], Any]] | None = None,
        every: int | None = None,
        q: Any = None,
    ) -> None:
        """A study; nothing is computed and nothing is written until `run`.

        Args:
            function: function(sample) or function(sample, rng) -> {name: array (chunk, ...)},
                in NumPy, where sample is {name: array (chunk, ...)} and rng has the random
                numbers of each sample; or a kernel whose arguments have the names of the
                samples; or a `Simulator`.
            samples: of `mb.sweep.grid`, `uniform`, `normal`, `sobol`, `latin_hypercube`,
                `indexed`; or {name: array}.
            store: the folder, on a disk that all workers see.
            chunk: how many samples are computed together; by default about a second of work.
            seed: of the random numbers.
            nan_fails: whether a sample with NaN among its results counts as failed.
            fork: whether to go on, in the same store, with a function or version that is not
                the one it was begun with.
            seconds: with a Simulator, how long it runs.
            metrics: with a Simulator, {name: function(run) -> (chunk, ...)}.
            every: with a Simulator, every so many steps a row is kept for the metrics.
            q: with a Simulator, (nq,), where it starts, unless samples have a q.
        """
        options = {"seconds": seconds, "metrics": metrics, "every": every, "q": q}
        self.function = None if function is None else function_of(function, options)
        self.samples = None if samples is None else samples_of(samples)
        self.path: Path = store_format.check_path(store)
        self.chunk = None if chunk is None else check_integer(chunk, "chunk")
        self.seed = check_seed(seed)
        self.nan_fails, self.fork = truth(nan_fails, "nan_fails"), truth(fork, "fork")
        self._known: Record | None = None

    # ---- running -----------------------------------------------------------------------------------------------------

    def run(
        self,
        executor: str | Executor | Any | None = None,
        resume: bool = True,
        progress: bool | Callable[[Progress], None] | None = None,
        limit: float | None = None,
        *,
        only: str | None = None,
        memory: int | None = None,
        workers: int | None = None,
        mixed: bool = False,
    ) -> Status:
        """Compute all samples that are not done; samples that fail are noted, and end nothing.

        Args:
            executor: who computes: None for this process; "processes" for processes of the
                study's own, which contain samples that hang, die or eat memory; an executor of
                `concurrent.futures`; a Dask client, or the address of a scheduler.
            resume: whether to go on with a study of which a part is done; False refuses that.
            progress: whether to show a bar, by default if stderr is a terminal or a notebook;
                or a function of the progress: samples, done, failed, workers, rate, left.
            limit: in s, for a call of the function, with "processes" and on Dask workers under
                a nanny.
            only: "failed" to try those again that failed.
            memory: in bytes, with "processes", for each of them.
            workers: with "processes", how many; by default as many as there are cores.
            mixed: whether processors of several classes may compute, whose results differ in
                the last bits.
        """
        if only is not None:
            choice(only, "only", ("failed",))
        plan = self._plan()
        store = store_format.read(self.path)
        chunks = -(-plan.samples.n // (plan.chunk or 1)) if store is None else store.chunks
        chosen = executor_for(executor, self.path, limit, memory, workers, chunks)
        try:
            kernels: dict[str, Any] = {}
            if store is None:
                store, kernels = preparation.create_store(plan, self.path, chosen)
            with locked(store.journal / "lock", self.path), progress_watcher(progress) as watcher:
                store = preparation.check_unchanged(plan, self.path)
                if not resume and Record(store).status().done:
                    raise InputError(
                        f"{self.path}: a part of the study is done: expected resume=True, or another store"
                    )
                store.tidy()
                self._known = record = Record(store)
                chosen.equip(preparation.job_for(store, plan.job, mixed), kernels, store.header["cpu"])
                ended = scheduler.run(chosen, record, plan.samples, watcher, only == "failed")
        finally:
            chosen.close()
        scheduler.warn(ended, record)
        return record.status()

    def _plan(self) -> Plan:
        if self.function is None:
            raise InputError(f"{self.path}: opened without a function; pass it: mb.sweep.open(store, function)")
        samples = self.samples or self.record.samples()
        if samples is None:
            raise InputError(
                f"{self.path}: the samples are the user's own: pass them again, Study(function, samples, ...)"
            )
        job = Job(self.function, samples, self.seed, self.nan_fails, self.path)
        chunk = None if self.chunk is None else min(self.chunk, samples.n)  # a store has room for whole chunks
        return Plan(job, samples, identity(self.function), chunk, self.fork)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Return the progress of the study, in whatever process it runs."""
        if self._known is None and store_format.read(self.path) is None and self.samples is not None:
            return Status(self.samples.n, 0, 0, 0.0, 0, 0, False)
        return self.record.status()

    def results(self, partial: bool = False) -> dict[str, StoredArray]:
        """The results by name, as arrays (n, ...) that are read, and checked, when
        they are indexed.

        Args:
            partial: whether rows that are not computed yet are NaN, or zero where there is
                none; else they raise.
        """
        return self.record.results(truth(partial, "partial"))

    def failures(self) -> list[FailedSample]:
        """The samples that failed: index, kind, error and the sample itself."""
        return self.record.failures()

    @property
    def failed(self) -> NDArray[np.bool_]:
        """(n,): which samples failed."""
        return self.record.failed()

    def sample(self, index: int) -> Sample:
        """One sample, by name."""
        return self.record.sample(index) if self.samples is None else self.samples[index]

    def parameters(self) -> dict[str, NDArray[Any]]:
        """The samples of all indices, by name."""
        return self.record.parameters() if self.samples is None else self.samples[:]

    def table(self) -> NDArray[Any]:
        """(n,): index, parameters, results and failed, as a structured array:
        "error", "q[0]", "q[1]", "R[0][1]".
        """
        record = self.record
        columns: dict[str, Any] = {"index": np.arange(record.store.n)}
        for name, stored in (*record.parameters().items(), *record.results(partial=True).items()):
            x = np.asarray(stored)
            for entry in np.ndindex(x.shape[1:]):
                title = name + "".join(f"[{k}]" for k in entry)
                if title in columns or title == "failed":
                    raise InputError(f"table: {title!r} is the name of two columns, such as a parameter and a result")
                columns[title] = x[(slice(None), *entry)]
        columns["failed"] = record.failed()
        rows = np.empty(record.store.n, [(name, x.dtype) for name, x in columns.items()])
        for name, x in columns.items():
            rows[name] = x
        return rows

    def dataset(self) -> Any:
        """The results as an xarray Dataset, which reads lazily."""
        from multibody.sweep.store.dataset import dataset

        return dataset(self.record)

    # ---- looking -----------------------------------------------------------------------------------------------------

    def plot(self, x: str, y: str, color: str | None = None, path: str | PathLike[str] | None = None) -> Any:
        """A figure of y over x, a point a sample, in the colour of a third; saved
        when a path is given.

        Names are those of parameters and results; "q[2]" is an entry of what has several. Of
        more than two million samples, evenly spread chunks are drawn, here and in the other
        pictures.
        """
        return plots.points(select(self.record), x, y, color, path)

    def map(self, x: str, y: str, value: str, path: str | PathLike[str] | None = None) -> Any:
        """A figure of the mean of a value over two parameters."""
        return plots.field(select(self.record), x, y, value, path)

    def histogram(self, *names: str, path: str | PathLike[str] | None = None) -> Any:
        """Return a figure of how often values occur.

        Args:
            *names: parameters and results; by default all results of one number a sample.
            path: a file for the figure.
        """
        scalars = (name for name, x in self.results(partial=True).items() if x.ndim == 1)
        return plots.histograms(select(self.record), names or tuple(scalars), path)

    def parallel(self, *names: str, color: str | None = None, path: str | PathLike[str] | None = None) -> Any:
        """Return a figure of parallel coordinates: one line for each sample.

        Args:
            *names: parameters and results, one axis for each.
            color: the name whose value colors the lines.
            path: a file for the figure.
        """
        return plots.parallel(select(self.record), names, color, path)

    def bands(self, name: str, path: str | PathLike[str] | None = None) -> Any:
        """A figure of the quantiles, over the samples, of a result (times,): 5, 25,
        50, 75 and 95 %.
        """
        return plots.bands(select(self.record), name, path)

    def worst(self, name: str, largest: bool = True) -> int:
        """The index of the sample with the largest, or smallest, result of a name."""
        return self.record.extreme(name, truth(largest, "largest"))

    def replay(self, index: int) -> Any:
        """One sample computed again: the run of a simulator, with every step; or the
        results of a function.

        `study.replay(study.worst("error")).view()` shows it.
        """
        if self.function is None:
            raise InputError(f"{self.path}: opened without a function; pass it: mb.sweep.open(store, function)")
        sample = {name: np.asarray(x)[None] for name, x in self.sample(index).items()}
        if isinstance(self.function, Simulation):
            return self.function.run({name: x[0] for name, x in sample.items()}, every=1)
        return {name: x[0] for name, x in call_function(self.function, sample, self.seed, np.array([index])).items()}

    @property
    def record(self) -> Record:
        """The store as it is now: commits of chunks, failures, arrays."""
        if self._known is None:
            store = store_format.read(self.path)
            if store is None:
                raise StoreError(f"{self.path}: there is nothing yet: study.run() makes it")
            self._known = Record(store)
        return self._known

    def __repr__(self) -> str:
        return f"<Study {self.path.name}: {self.status()}>"


@options_of(Study.__init__)
def open(store: str | PathLike[str], function: Any = None, **options: Any) -> Study:  # noqa: A001
    """The study of a store, to look at it; with its function, to go on.

    Args:
        store: the folder.
        function: as `Study` takes it.
        **options: those of `Study`.
    """
    path = store_format.check_path(store)
    kept = store_format.read(path)
    if kept is None:
        raise StoreError(f"{path}: there is no store of a study")
    header = kept.header
    given = {"seed": header["seed"], "nan_fails": header["nan_fails"], **options}
    return Study(function, Record(kept).samples(), path, **given)
