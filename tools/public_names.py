"""The public names of the library: those of the lists `__all__`, their methods, and the modules that the lists name."""

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import multibody as mb

OURS = "multibody"


def public_names(module: ModuleType) -> list[str]:
    """The names that a module lists, or those of its own functions and classes."""
    own = [name for name in vars(module) if getattr(getattr(module, name), "__module__", None) == module.__name__]
    return [name for name in getattr(module, "__all__", own) if not name.startswith("_")]


def public_things(module: ModuleType = mb, seen: set[Any] | None = None) -> Iterator[tuple[str, Any]]:
    """Functions, classes and methods of a module and of the modules that it lists, and these modules."""
    seen = set() if seen is None else seen
    for name in public_names(module):
        value, path = getattr(module, name), f"{module.__name__}.{name}"
        if id(value) in seen:
            continue
        seen.add(id(value))
        if inspect.ismodule(value) and value.__name__.startswith(OURS):
            yield path, value
            yield from public_things(value, seen)
        elif callable(value) and str(getattr(value, "__module__", "")).startswith(OURS):
            yield path, value
            for key in dir(value) if inspect.isclass(value) else ():
                method = getattr(value, key, None)
                if not key.startswith("_") and inspect.isroutine(method):
                    yield f"{path}.{key}", method


def public_functions() -> Iterator[tuple[str, str, int, str]]:
    """Path in the library, source file, line and docstring of each public function and method that has one."""
    seen: set[Any] = set()
    for path, value in public_things():
        function = inspect.unwrap(getattr(value, "__func__", value))
        code = getattr(function, "__code__", None)
        if inspect.isfunction(function) and function.__doc__ and code not in seen:
            seen.add(code)
            if function.__module__.startswith(OURS):
                yield path, code.co_filename, code.co_firstlineno, inspect.cleandoc(function.__doc__)
