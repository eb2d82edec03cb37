"""What a function can read, and change, without being handed it.

The variables of enclosing functions, defaults, the globals that its code names, the object that a method is bound to;
and within these the members of containers, the attributes of objects, and what functions among them have in turn.
Objects of this library, of NumPy, SciPy and Python itself are passed through: what users put into them is looked at,
what these keep for themselves, as caches, is their own matter.
"""

import gc
import sys
from collections import deque
from collections.abc import Iterator
from functools import cached_property, partial
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple
from weakref import ReferenceType

import numpy as np

PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, CodeType, np.dtype)
"""What has no parts."""
_SERIES = (list, tuple, set, frozenset, deque)
_BOUND = (MethodType, BuiltinMethodType, partial, property, staticmethod, classmethod)
"""What holds functions and their objects."""
_LIBRARIES = {"multibody", "numpy", "scipy"} | sys.stdlib_module_names
_CONTAINERS = ("collections", "queue", "types")
"""Modules of Python whose objects hold what users put into them."""
_CLOSED = ("multibody.geometry.", "multibody.model.", "multibody.compiler.", "multibody.tracing.")
"""Rooms whose objects hold no function of users that a trace would run."""

Part = tuple[str, Any]
"""How a part is written behind what it is a part of, and the part."""


class Thing(NamedTuple):
    """Something that a function has from outside."""

    name: str
    """As its code may write it."""
    value: Any
    users: bool
    """Whether it is the user's, rather than what an object of a library keeps."""


def surroundings(*functions: Any) -> Iterator[Thing]:
    """The functions themselves, and everything that they have from outside."""
    seen: dict[int, bool] = {}
    waiting = [Thing(getattr(f, "__name__", ""), f, users=True) for f in functions]
    while waiting:
        name, value, inside = waiting.pop()
        users = inside
        if isinstance(value, type) or _is_object(value):
            users = is_users(value)
        elif isinstance(value, FunctionType):
            users = users or is_users(value)
        if users and not inside:  # where a library keeps it is no name for a user
            name = getattr(value, "__name__", type(value).__name__)
        if id(value) in seen and seen[id(value)] >= users:
            continue
        seen[id(value)] = users
        yield Thing(name, value, users)
        bare = isinstance(value, FunctionType)
        for part, member in parts_of(value):
            if not isinstance(member, PLAIN):
                waiting.append(Thing(part if bare else name + part, member, users))


def parts_of(x: Any) -> list[Part]:
    """What something holds directly."""
    if isinstance(x, FunctionType):
        return [*_held_by(x), *(("." + name, value) for name, value in vars(x).items())]
    if isinstance(x, _BOUND) or is_iterator(x):
        return [("", part) for part in gc.get_referents(x) if not isinstance(part, ModuleType)]
    if isinstance(x, type):
        return _of_class(x) if is_users(x) else []
    parts: list[Part] = []
    if isinstance(x, dict | MappingProxyType):
        parts += [("[...]", part) for pair in x.items() for part in pair]
    elif isinstance(x, _SERIES):
        parts += [("[...]", part) for part in x]
    elif isinstance(x, np.ndarray) and x.dtype == object:
        parts += [("[...]", part) for part in x.ravel().tolist()]
    elif isinstance(x, ReferenceType):
        parts.append(("()", x()))
    elif isinstance(x, GeneratorType) and x.gi_frame is not None:
        parts += [("", part) for part in x.gi_frame.f_locals.values()]
    return [*parts, *_attributes(x)] if _is_object(x) else parts


def _is_object(x: Any) -> bool:
    """Whether something has attributes that are looked at."""
    module = type(x).__module__ or ""  # classes that SymPy makes as it goes have none
    opened = module.startswith("multibody.") and not module.startswith(_CLOSED)
    return opened or module in _CONTAINERS or module.partition(".")[0] not in _LIBRARIES


def is_iterator(x: Any) -> bool:
    """Whether it is an iterator of Python's own, but no generator."""
    own = type(x).__module__ in ("builtins", "itertools") and not isinstance(x, GeneratorType)
    return own and isinstance(x, Iterator)


def is_users(x: Any) -> bool:
    """Whether a function, a class or an object comes from outside of the libraries."""
    module = x.__module__ if isinstance(x, FunctionType | type) else type(x).__module__
    return module is None or module in _CONTAINERS or module.partition(".")[0] not in _LIBRARIES


def _attributes(x: Any) -> list[Part]:
    """The attributes of an object, and what its class has; not those that `cached_property` keeps."""
    kind = type(x)
    kept, slots = _of_kind(kind)
    parts = [("." + name, value) for name, value in getattr(x, "__dict__", {}).items() if name not in kept]
    for slot in slots:
        try:
            parts.append(("." + slot.__name__, slot.__get__(x, kind)))
        except AttributeError:  # not set
            continue
    return [*parts, ("", kind)] if is_users(kind) else parts


def _of_kind(kind: type) -> tuple[set[str], list[MemberDescriptorType]]:
    """The attributes that `cached_property` keeps, and the slots."""
    known = [(name, value) for base in kind.__mro__ for name, value in vars(base).items()]
    kept = {name for name, value in known if isinstance(value, cached_property)}
    return kept, [value for _, value in known if isinstance(value, MemberDescriptorType)]


def _of_class(kind: type) -> list[Part]:
    """Attributes of a class, with its methods; what Python notes there itself is left out."""
    own = vars(kind).items()
    parts = [("." + name, x) for name, x in own if not name.startswith("__") or isinstance(x, FunctionType)]
    return [*parts, *(("", base) for base in kind.__bases__)]


def _held_by(function: FunctionType) -> list[Part]:
    """What a function has by name."""
    code = function.__code__
    cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
    held = [(name, cell.cell_contents) for name, cell in cells if cell != CellType()]  # but unbound names
    held += [("", value) for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())]
    if not is_users(function):
        return held
    names = names_in(code)
    imported = {name: sys.modules[name] for name in names & sys.modules.keys()}  # maybe in the function itself
    return [*held, *_named(names, imported | function.__globals__)]


def _named(names: set[str], scope: dict[str, Any]) -> list[Part]:
    """The variables of a module that a code names; of modules among them, what it names there."""
    parts: list[Part] = []
    modules, seen = [scope], set[int]()
    while modules:
        scope = modules.pop()
        for name in sorted(names & scope.keys()):
            value = scope[name]
            if not isinstance(value, ModuleType):
                parts.append((name, value))
            elif id(value) not in seen and not is_installed(value):
                seen.add(id(value))
                modules.append(vars(value))
    return parts


def is_installed(module: ModuleType) -> bool:
    """Whether a module is a library's, or of an installed package, rather than the user's own."""
    library = module.__name__.partition(".")[0] in _LIBRARIES
    return library or "-packages" in str(getattr(module, "__file__", ""))  # site-packages, dist-packages


def names_in(code: CodeType) -> set[str]:
    """The names that a code, and the codes within it, ask for."""
    inner = (names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_names}.union(*inner)
