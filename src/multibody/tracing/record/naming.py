"""Names of functions and their arguments, for derivatives, kernels and messages."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from multibody._foreign_names import DERIVATIVE_OPTIONS, translate

Function = Callable[..., Any]
Parameter = inspect.Parameter

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def parameters(function: Function) -> list[Parameter] | None:
    """The positional parameters of a function; None if they are unknown, as with *args."""
    try:
        known = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in known):
        return None
    return [parameter for parameter in known if parameter.kind in _BY_POSITION]


def argument_names(function: Function, count: int) -> list[str]:
    """The names of the first arguments of a function, or x0, x1, ... if it has fewer."""
    known = parameters(function) or []
    return [parameter.name for parameter in known[:count]] if len(known) >= count else [f"x{k}" for k in range(count)]


def named(
    run: Function, word: str, function: Function, more: Callable[[list[str]], list[str]] | None = None
) -> Function:
    """Give a derivative the name and the signature of its function.

    Args:
        run: the derivative.
        word: the kind, such as "gradient": that of `cost` becomes `cost_gradient`.
        function: the differentiated function.
        more: the names of further arguments, from those of the function.
    """
    own = getattr(function, "__name__", "")
    run.__name__ = run.__qualname__ = f"{own}_{word}" if own.isidentifier() else word
    run.__doc__ = f"The {word} of {own or 'a function'}, as mb.{word} makes it."
    known = parameters(function)
    if known is not None and more is not None:  # after optional arguments, positions are ambiguous
        complete = all(parameter.default is Parameter.empty for parameter in known)
        known = _followed(known, more([parameter.name for parameter in known])) if complete and known else None
    if known is not None:
        run.__signature__ = inspect.Signature(known)  # type: ignore[attr-defined]
    return run


def _followed(known: list[Parameter], names: list[str]) -> list[Parameter]:
    """Parameters and further ones, with unused names."""
    every = [parameter.replace(kind=Parameter.POSITIONAL_ONLY) for parameter in known]
    for name in names:
        while any(name == parameter.name for parameter in every):
            name += "_"
        every.append(Parameter(name, Parameter.POSITIONAL_ONLY))
    return every


def refuse(word: str, others: Mapping[str, Any]) -> None:
    """A TypeError for options that a derivative does not have, with the word for what was meant."""
    for name, value in others.items():
        ours = translate(name, DERIVATIVE_OPTIONS)
        hint = f"it is called {ours} here: {ours}={value!r}" if ours else "it has argument, shapes"
        raise TypeError(f"{word}() has no argument {name!r}; {hint}")
