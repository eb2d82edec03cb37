"""Many laws or cases in one test: 500 functions with eight laws each are 500 tests, not 4,000."""

import inspect
from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import Any

import pytest


def check(name: str, laws: Iterable[Callable[..., None]], *arguments: Any) -> None:
    """Check every law of a function with the same arguments; the failure names all laws that do not hold."""
    _check_all(name, {law.__name__: (law, arguments, {}) for law in laws})


def _check_all(name: str, calls: dict[str, tuple[Callable[..., None], tuple[Any, ...], dict[str, Any]]]) -> None:
    failures = {}
    for label, (function, arguments, named) in calls.items():
        try:
            function(*arguments, **named)
        except (Exception, pytest.fail.Exception) as failure:
            failures[label] = failure
    if failures:
        raise BaseExceptionGroup(f"{name}: {', '.join(failures)}", list(failures.values()))


def each_case(names: str, cases: Iterable[Any], ids: Callable[[Any], str] | Iterable[str] | None = None) -> Any:
    """Run a test with each case in one item; the failure names all cases in which it fails.

    The arguments are those of `pytest.mark.parametrize`, which makes an item of each case. Several decorators run the
    product of their cases. For cases of a few milliseconds, which is the time of an item itself.
    """
    arguments = names.split(", ")
    cases = list(cases)
    labels = [_label(case) for case in cases] if ids is None else list(map(ids, cases) if callable(ids) else ids)
    rows = [dict(zip(arguments, case if len(arguments) > 1 else [case], strict=True)) for case in cases]
    table = {f"{a}#{k}" if labels.count(a) > 1 else a: r for k, (a, r) in enumerate(zip(labels, rows, strict=True))}
    assert table, f"{names}: expected cases, got none"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        function, inner = getattr(test, "folded", (test, {"": {}}))
        every = {f"{a}-{b}".rstrip("-"): one | two for a, one in table.items() for b, two in inner.items()}
        assert len(every) == len(table) * len(inner)

        def run(**fixtures: Any) -> None:
            _check_all(f"of {len(every)} cases", {a: (function, (), case | fixtures) for a, case in every.items()})

        update_wrapper(run, function, updated=())
        del run.__wrapped__  # pytest would ask for the arguments of the cases
        parameters = inspect.signature(test).parameters
        assert parameters.keys() >= set(arguments), f"{test.__name__} has no argument {names}"
        run.__signature__ = inspect.Signature([p for name, p in parameters.items() if name not in arguments])
        run.pytestmark = list(getattr(test, "pytestmark", []))
        run.folded = (function, every)
        return run

    return decorate


def _label(case: Any) -> str:
    """The name of a class or function, otherwise the case as text."""
    return getattr(case, "__name__", None) or str(case)
