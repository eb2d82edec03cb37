"""Settings of the compiler, for the whole process."""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from multibody.errors import InputError
from multibody.tracing.ad.memory_limit import limits


@dataclass(slots=True)
class Config:
    """Change a field to change the setting: `mb.config.threads = 2`."""

    threads: int = 1
    """Threads that a kernel splits a batch over when the call does not say."""
    dtype: str = "float64"
    """The precision of kernels when `compile` does not say: "float64" or "float32"."""
    level: int = 2
    """How hard LLVM's code generator works: 1, 2 or 3."""
    cache: bool = True
    """Whether compiled code is used again: in this process, and from disk in the next."""
    verify: bool = False
    """Whether code that is used again is first compared with what the function compiles to now: slow, for tests."""
    progress: bool | str = "auto"
    """Whether a line on stderr tells of compilations that take longer than a second: "auto" where it is a terminal or a
    notebook, never in a file or a pipe."""

    @property
    def tape(self) -> int:
        """Bytes that a loop may keep for its gradient, in every sample; beyond, rounds are computed anew."""
        return limits.tape

    @tape.setter
    def tape(self, size: int) -> None:
        if not isinstance(size, int) or size < 0:
            raise InputError(f"config.tape: expected a number of bytes, got {size!r}")
        limits.tape = size


def _from_environment() -> Config:
    word = os.environ.get("MULTIBODY_CACHE", "").lower()
    if word not in ("", "on", "1", "yes", "true", "off", "0", "no", "false", "verify"):
        raise InputError(f"MULTIBODY_CACHE: expected on, off or verify, got {word!r}")
    return Config(cache=word not in ("off", "0", "no", "false"), verify=word == "verify")


config = _from_environment()
EAGER = ctypes.c_int64(0)
"""How many `eager` blocks are open in all threads: while none is, the door need not ask whose they are."""
_lock = threading.Lock()
_eager: ContextVar[bool] = ContextVar("multibody_eager", default=False)


@contextmanager
def eager() -> Iterator[None]:
    """Within this block, what would run as a kernel runs as the plain NumPy it was written in."""
    token = _eager.set(True)
    with _lock:
        EAGER.value += 1
    try:
        yield
    finally:
        with _lock:
            EAGER.value -= 1
        _eager.reset(token)


def is_eager() -> bool:
    """Whether an `eager` block is open."""
    return _eager.get()
