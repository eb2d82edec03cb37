"""Executors: one file for each way to compute the chunks of a study, and the choice between them."""

import sys
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from multibody.errors import InputError
from multibody.sweep.cpu import available_cores
from multibody.sweep.designs.random_streams import check_integer
from multibody.sweep.executors import dask
from multibody.sweep.executors.executor import ChunkExecutor
from multibody.sweep.executors.futures import Futures
from multibody.sweep.executors.in_process import InProcess
from multibody.sweep.executors.processes import Processes


def executor_for(
    executor: Any, path: Path, limit: float | None, memory: int | None, workers: int | None, chunks: int
) -> ChunkExecutor:
    """The executor for the user's argument of `Study.run`.

    Args:
        executor: None for this process, "processes" for processes of the study's own, an executor of
            `concurrent.futures`, a Dask client or cluster, or the address of a scheduler.
        path: of the store.
        limit: in s, for a call of the function.
        memory: in bytes, for each process of the study's own.
        workers: the number of processes of the study's own.
        chunks: the number of chunks, or an upper bound.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0):
        raise InputError(f"limit: expected a positive time in s, got {limit!r}")
    if executor != "processes" and (memory is not None or workers is not None):
        raise InputError('memory and workers: expected only with executor="processes"')
    for name, x in (("memory", memory), ("workers", workers)):
        if x is not None:
            check_integer(x, name)
    if executor == "processes":
        if memory is not None and not sys.platform.startswith("linux"):
            raise InputError("memory: expected Linux, which alone can limit the memory of a process")
        return Processes(path, min(chunks, workers or available_cores()), limit, memory)
    if dask.is_cluster(executor) or (isinstance(executor, str) and "://" in executor):
        return dask.Dask(executor, path, limit)
    if limit is not None:
        raise InputError('limit: expected executor="processes" or Dask: others cannot end what takes too long')
    if executor is None:
        return InProcess()
    if isinstance(executor, Executor):
        return Futures(executor, path)
    raise InputError(
        'executor: expected None, "processes", an executor of concurrent.futures, a Dask client or the address of a '
        f'scheduler such as "tcp://127.0.0.1:8786", got {executor!r}'
    )
