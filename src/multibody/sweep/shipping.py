"""Serialisation of a study for its workers: function, samples, and the kernels that are compiled already.

Functions of the user's own modules are sent with their code, because workers need not have these modules. Kernels are
sent as object code, and are compiled anew for another class of processor. A packed study goes from a process to its
workers, never into a store.
"""

import copyreg
import hashlib
import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from multibody.compiler.cache import code_cache
from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.errors import InputError, missing_package
from multibody.simulate import Simulator
from multibody.sweep.chunks import Job
from multibody.sweep.cpu import cpu_class
from multibody.sweep.identity import user_modules
from multibody.tracing.record.purity import is_installed

MAX_UNPACKED = 4
"""The number of restored studies that a worker keeps."""
_unpacked: dict[str, Job] = {}


def pack(job: Job, entries: Mapping[str, Any], cpu: str | None) -> bytes:
    """Serialise a study.

    Args:
        job: the study; its samples are left out if each task brings its own.
        entries: kernels that are compiled already, by key.
        cpu: the class of processor for which they are compiled.

    Raises:
        InputError: if the function holds something that cannot be pickled.
    """
    try:
        import cloudpickle
    except ImportError:
        raise missing_package("sweeps over processes need cloudpickle", "sweep", "cloudpickle") from None

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, Kernel) and obj._launcher.source.function is not None:
                return _kernel, (obj.__reduce__(), _source(obj))
            if type(obj) is Simulator:
                state = {name: x for name, x in vars(obj).items() if name != "_scans"} | {"_scans": {}}
                return copyreg.__newobj__, (Simulator,), state  # type: ignore[attr-defined]
            return super().reducer_override(obj)

    if job.samples is not None and job.samples.shipped(0, 1) is not None:
        job = replace(job, samples=None)
    buffer = io.BytesIO()
    with _by_value(cloudpickle, user_modules((job.function, job.samples))):
        try:
            Pickler(buffer, protocol=5).dump((job, dict(entries), cpu))
        except Exception as error:
            raise InputError(f"the function cannot be sent to other processes: {error}") from error
    return buffer.getvalue()


def unpack(packed_job: bytes) -> Job:
    """Restore a study, and put its kernels into the code cache; the last few studies are kept."""
    digest = hashlib.sha256(packed_job).hexdigest()
    job = _unpacked.get(digest)
    if job is None:
        import cloudpickle

        job, entries, cpu = cloudpickle.loads(packed_job)
        if cpu == cpu_class():
            code_cache.take(entries)
        for old in list(_unpacked)[: 1 - MAX_UNPACKED]:  # other threads may do the same
            _unpacked.pop(old, None)
        _unpacked[digest] = job
    return job


def _source(kernel: Kernel) -> tuple[Any, ...]:
    inputs = kernel.signature.inputs
    shapes, names = [spec.shape for spec in inputs], [spec.name for spec in inputs]
    source = kernel._launcher.source
    return source.function, shapes, names, kernel.signature.dtype.name, source.batched


def _kernel(compiled: tuple[Any, ...], source: tuple[Any, ...]) -> Any:
    """The kernel from its object code, or from its source if that is for another processor or version."""
    revive, arguments = compiled
    try:
        return revive(*arguments)
    except InputError:
        function, shapes, names, dtype, batched = source
        return compile_kernel(function, *shapes, names=names, dtype=dtype, batched=batched)


@contextmanager
def _by_value(cloudpickle: Any, names: set[str]) -> Iterator[None]:
    """Within this block the code of these modules is pickled, not only their names."""
    modules = [sys.modules[name] for name in names if name in sys.modules and name != "__main__"]
    known = set(cloudpickle.list_registry_pickle_by_value())
    own = [module for module in modules if not is_installed(module) and module.__name__ not in known]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)
