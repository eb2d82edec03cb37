"""Many laws of one function in one test: 500 functions with eight laws each are 500 tests, not 4,000."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def check(name: str, laws: Iterable[Callable[..., None]], *arguments: Any) -> None:
    """Check every law of a function with the same arguments; the failure names all laws that do not hold."""
    failures = {}
    for law in laws:
        try:
            law(*arguments)
        except (Exception, pytest.fail.Exception) as failure:
            failures[law.__name__] = failure
    if failures:
        raise BaseExceptionGroup(f"{name}: {', '.join(failures)}", list(failures.values()))
