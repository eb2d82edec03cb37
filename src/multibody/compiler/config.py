"""Settings of the compiler, for the whole process."""

import ctypes
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.tracing.ad.memory_limit import limits

_ON, _OFF = ("on", "1", "yes", "true"), ("off", "0", "no", "false")
"""The values of switches in the environment."""
THREADS = ctypes.c_int64(1)
"""A copy of `config.threads` in memory, which the fast path reads."""


@dataclass(slots=True)
class Config:
    """Change a field to change the setting: `mb.config.threads = 2`."""

    threads: int = 1
    """Threads that a kernel splits a batch over when the call does not say."""
    dtype: str = "float64"
    """The precision of kernels when `compile` does not say: "float64" or "float32"."""
    level: int = 2
    """Optimization level of LLVM's code generator: 1, 2 or 3."""
    cache: bool = True
    """Whether compiled code is used again: in this process, and from disk in the next."""
    cache_size: int = 2 * 2**30
    """Bytes that the cache on disk may have: beyond, the least recently used code is removed."""
    verify: bool = False
    """Whether cached code is first compared with what the function compiles to now: slow, for tests."""
    progress: bool | str = "auto"
    """Whether stderr reports compilations that take longer than half a second: in a line that is erased at the end if
    it is a terminal or a notebook, or with True; otherwise in a new line every 30 seconds."""
    wait_for_code: bool = False
    """Whether the first call of a large kernel waits for its final code, also if helpers could generate it."""
    helpers: bool = False
    """Whether helper processes generate code, if there are cores for them. The first call of a large kernel then runs
    code that is generated quickly and runs at about half the speed, with the same bits, until final code is ready."""

    @property
    def tape(self) -> int:
        """Bytes per sample that a loop may store for its gradient; beyond, iterations are recomputed."""
        return limits.tape

    @tape.setter
    def tape(self, size: int) -> None:
        limits.tape = size

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SETTINGS:  # object raises for other names
            is_valid, expected = _SETTINGS[name]
            if not is_valid(value):
                raise InputError(f"config.{name}: expected {expected}, got {value!r}")
            if name == "threads":
                THREADS.value = value
        object.__setattr__(self, name, value)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_float_dtype(value: Any) -> bool:
    try:
        return value is not None and np.dtype(value) in (np.float64, np.float32)
    except TypeError:
        return False


_SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "threads": (lambda value: _is_integer(value) and value >= 1, "a positive integer"),
    "dtype": (_is_float_dtype, '"float64" or "float32"'),
    "level": (lambda value: _is_integer(value) and 1 <= value <= 3, "1, 2 or 3"),
    "cache": (lambda value: isinstance(value, bool), "True or False"),
    "cache_size": (lambda value: _is_integer(value) and value >= 0, "a number of bytes"),
    "verify": (lambda value: isinstance(value, bool), "True or False"),
    "progress": (lambda value: isinstance(value, bool) or value == "auto", 'True, False or "auto"'),
    "wait_for_code": (lambda value: isinstance(value, bool), "True or False"),
    "helpers": (lambda value: isinstance(value, bool), "True or False"),
    "tape": (lambda value: _is_integer(value) and value >= 0, "a number of bytes"),
}
"""The check of each setting, and what it expects."""


def _switch(name: str, *, default: bool) -> bool:
    value = os.environ.get(name, "").lower()
    if value not in ("", *_ON, *_OFF):
        raise InputError(f"{name}: expected on or off, got {value!r}")
    return value in _ON if value else default


def _from_environment() -> Config:
    name = "MULTIBODY_CACHE_MODE" if "MULTIBODY_CACHE_MODE" in os.environ else "MULTIBODY_CACHE"  # the former name
    mode = os.environ.get(name, "")
    if mode.lower() not in ("", *_ON, *_OFF, "verify"):
        hint = ". The directory is set by MULTIBODY_CACHE_DIR" if {"/", "\\", "~"} & set(mode) else ""
        raise InputError(f"{name}: expected on, off or verify, got {mode!r}{hint}")
    settings = Config(cache=mode.lower() not in _OFF, verify=mode.lower() == "verify")
    settings.wait_for_code = _switch("MULTIBODY_WAIT", default=False)
    settings.helpers = _switch("MULTIBODY_HELPERS", default=False)
    if size := os.environ.get("MULTIBODY_CACHE_SIZE"):
        number = re.fullmatch(r"(\d+) *([KMGT]?)(i?B)?", size.strip(), re.IGNORECASE)
        if number is None:
            raise InputError(f"MULTIBODY_CACHE_SIZE: expected a number of bytes such as 500M or 2G, got {size!r}")
        settings.cache_size = int(number[1]) * 1024 ** " KMGT".index(number[2].upper() or " ")
    return settings


config = _from_environment()
_waits: ContextVar[bool] = ContextVar("multibody_waits", default=False)


@contextmanager
def final_code() -> Iterator[None]:
    """Within this block first calls wait for final code, because calls are timed or their code is sent elsewhere."""
    token = _waits.set(True)
    try:
        yield
    finally:
        _waits.reset(token)


def waits_for_code() -> bool:
    """Whether a first call now waits for its final code."""
    return config.wait_for_code or _waits.get()
