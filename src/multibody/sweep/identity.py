"""The identity of a study: a digest for each part on which the results of its function depend, by name.

Parts are the function's code, without comments, line numbers and its docstring; its defaults; the variables of
enclosing functions; and all that it names in modules that are not installed packages, functions and classes in turn.
A robot counts by the digest of its model, a kernel by that of its graph.
"""

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from multibody.compiler.kernel import Compiled
from multibody.geometry.value import Value
from multibody.model.model import Model
from multibody.model.tree import Tree
from multibody.robot import Robot
from multibody.simulate import Simulator
from multibody.sweep.errors import SweepWarning
from multibody.tracing.record.purity import PLAIN, is_users, parts_of

Path = tuple[str, Any]
_MARKER = "docstring"
SCRIPT_PREFIX = "_multibody_script_"
"""The prefix of scripts that the command line imports, so that none replaces a module of Python."""


def identity(function: Any) -> dict[str, str]:
    """Digests of the parts of a function, by name.

    >>> def law(gain):
    ...     def f(sample):
    ...         return {"y": gain * sample["x"]}
    ...     return f
    >>> changes(identity(law(2.0)), identity(law(3.0)))
    ['gain']
    """
    found: dict[str, list[str]] = {}
    for name, *part in _walk(function):
        found.setdefault(name, []).append(_digest(name, *part))
    return {name: digests[0] if len(digests) == 1 else _joined(digests) for name, digests in found.items()}


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names of the parts that differ."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def digest_of(x: Any) -> str:
    """The digest of any object with all its parts."""
    return _joined([_digest(*part) for part in _walk(x)])


def user_modules(function: Any) -> set[str]:
    """The modules of the functions and classes that a function uses, without installed ones."""
    return {x.__module__ for _, x, _ in _walk(function) if isinstance(x, FunctionType | type) and is_users(x)}


def _digest(name: str, x: Any, is_known: bool) -> str:
    return hashlib.sha256(b"again" if is_known else _content(x, name)).hexdigest()


def _joined(digests: list[str]) -> str:
    return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def _walk(root: Any) -> Iterator[tuple[str, Any, bool]]:
    """The name of each part, the part, and whether it came before."""
    seen: dict[int, Any] = {}  # the values, too: an id is taken again when what had it is gone
    waiting: list[Path] = [(getattr(root, "__name__", type(root).__name__), root)]
    while waiting:
        name, x = waiting.pop()
        is_known = id(x) in seen
        yield name, x, is_known
        if not is_known:
            if not isinstance(x, PLAIN):
                seen[id(x)] = x
            bare = isinstance(x, FunctionType)
            waiting += reversed([(_name(name, part, bare), member) for part, member in _parts(x)])


def _name(outer: str, part: str, bare: bool) -> str:
    """The full name of a part: bare for names in a function, after the outer name otherwise."""
    return (part or f"{outer} defaults") if bare and not part.startswith(".") else outer + part


def _parts(x: Any) -> list[Path]:
    if isinstance(x, (*PLAIN, Robot, Model, Tree, Compiled, ModuleType)):
        return []
    if isinstance(x, Simulator):
        return [(".robot", x.robot), (".step", x._step), (".state", x.memory), (".dtype", x.dtype.name)]
    if isinstance(x, np.ndarray):
        return [(f"[{k}]", part) for k, part in enumerate(x.ravel().tolist())] if x.dtype == object else []
    if isinstance(x, Value):
        return [("", array) for array in x._arrays()]
    if is_dataclass(x) and not isinstance(x, type) and type(x).__module__.startswith("multibody."):
        return [("." + each.name, getattr(x, each.name)) for each in fields(x)]
    if isinstance(x, Mapping):
        return [(f"[{key!r}]", value) for key, value in x.items()]
    if isinstance(x, list | tuple):
        return [(f"[{k}]", part) for k, part in enumerate(x)]
    return [(part, member) for part, member in parts_of(x) if not isinstance(member, ModuleType)]


def _content(x: Any, name: str) -> bytes:
    """The bytes of the part `name` of a function, without its own parts."""
    kind = _qualified(type(x))
    if isinstance(x, FunctionType):
        return repr(_of_code(x.__code__, x.__doc__)).encode()
    if isinstance(x, CodeType):
        return repr(_of_code(x, None)).encode()
    if isinstance(x, Robot):
        return f"{kind} {x.model.digest} {x.dtype}".encode()
    if isinstance(x, Model):
        return f"{kind} {x.digest}".encode()
    if isinstance(x, Tree):
        return kind.encode()  # of a robot, whose model says all of it
    if isinstance(x, Compiled):
        return f"{kind} {x._code.header['graph']} {x.signature}".encode()
    if isinstance(x, np.ndarray | np.generic) and x.dtype != object:
        return f"{kind} {x.dtype.str} {x.shape}".encode() + np.ascontiguousarray(x).tobytes()
    if isinstance(x, type):
        return f"class {_qualified(x)}".encode()
    if isinstance(x, set | frozenset):
        return f"{kind} {sorted(map(repr, x))}".encode()
    if isinstance(x, PLAIN):
        return f"{kind} {x!r}".encode()
    if isinstance(x, ModuleType):
        return f"module {x.__name__}".encode()
    if _parts(x) or isinstance(x, Mapping | list | tuple) or hasattr(type(x), "__dataclass_fields__") or is_users(x):
        return f"{kind} {len(_parts(x))}".encode()
    return f"{kind} ".encode() + _pickled(x, name)


def _qualified(kind: type) -> str:
    return f"{kind.__module__.removeprefix(SCRIPT_PREFIX)}.{kind.__qualname__}"


def _pickled(x: Any, name: str) -> bytes:
    """The pickle of an object of another library, whose parts are hidden."""
    import cloudpickle

    try:
        return cloudpickle.dumps(x)
    except Exception as error:  # of any kind
        warnings.warn(
            f"{name}: a {_qualified(type(x))} cannot be pickled ({error}): a study cannot tell whether it changes "
            "between runs; let the function make it, or keep it in a module that is installed",
            SweepWarning,
            stacklevel=2,
        )
        return b""


def _of_code(code: CodeType, docstring: str | None) -> tuple[Any, ...]:
    """The code, without line numbers and docstrings."""
    constants = [
        _of_code(x, _docstring(x)) if isinstance(x, CodeType) else (type(x).__name__, _ordered(x))
        for x in code.co_consts
    ]
    if docstring is not None and code.co_consts[:1] == (docstring,):
        constants[0] = (_MARKER, "")
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_code, constants, counts, names, getattr(code, "co_exceptiontable", b"")


def _docstring(code: CodeType) -> str | None:
    """The docstring of a function within another: its first constant, if that is a text."""
    first = code.co_consts[0] if code.co_consts else None
    return first if isinstance(first, str) and code.co_flags & 2 else None  # 2: it is the code of a function


def _ordered(x: Any) -> str:
    return repr(sorted(map(repr, x))) if isinstance(x, frozenset) else repr(x)
