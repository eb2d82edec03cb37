"""The names of a function and of its arguments: derivatives of it keep them, kernels and messages show them."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from multibody._foreign_names import DERIVATIVE_OPTIONS, translate

Function = Callable[..., Any]
Parameter = inspect.Parameter

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def parameters(function: Function) -> list[Parameter] | None:
    """The arguments of a function by position; None where nobody can tell, as with *args."""
    try:
        known = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(each.kind is Parameter.VAR_POSITIONAL for each in known):
        return None
    return [each for each in known if each.kind in _BY_POSITION]


def argument_names(function: Function, count: int) -> list[str]:
    """The names of the first arguments of a function; x0, x1, ... where it has none for all of them."""
    known = parameters(function) or []
    return [each.name for each in known[:count]] if len(known) >= count else [f"x{k}" for k in range(count)]


def named(
    run: Function, word: str, function: Function, more: Callable[[list[str]], list[str]] | None = None
) -> Function:
    """A derivative under the name of its function, with its arguments.

    Args:
        run: what computes the derivative.
        word: what it is, such as "gradient": that of `cost` is called `cost_gradient`.
        function: the one that is differentiated.
        more: the names of the arguments that follow those of the function, out of the names of these.
    """
    own = getattr(function, "__name__", "")
    run.__name__ = run.__qualname__ = f"{own}_{word}" if own.isidentifier() else word
    run.__doc__ = f"The {word} of {own or 'a function'}, as mb.{word} makes it."
    known = parameters(function)
    if known is not None and more is not None:  # behind an argument that may be left out, no place is certain
        complete = all(each.default is Parameter.empty for each in known)
        known = _followed(known, more([each.name for each in known])) if complete and known else None
    if known is not None:
        run.__signature__ = inspect.Signature(known)  # type: ignore[attr-defined]
    return run


def _followed(known: list[Parameter], names: list[str]) -> list[Parameter]:
    """Arguments and further ones, under names that are not taken yet."""
    every = [each.replace(kind=Parameter.POSITIONAL_ONLY) for each in known]
    for name in names:
        while any(name == each.name for each in every):
            name += "_"
        every.append(Parameter(name, Parameter.POSITIONAL_ONLY))
    return every


def refuse(word: str, others: Mapping[str, Any]) -> None:
    """A TypeError for options that a derivative does not have, with the word for what was meant."""
    for name, value in others.items():
        ours = translate(name, DERIVATIVE_OPTIONS)
        hint = f"it is called {ours} here: {ours}={value!r}" if ours else "it has argument, shapes"
        raise TypeError(f"{word}() has no argument {name!r}; {hint}")
