"""Purity of recorded functions: no side effects, and no random numbers.

A function is recorded once. A side effect of a loop's body would happen once instead of in every iteration; a random
number would become a constant of the kernel. Both are refused.

The walk covers what a function reaches without being passed it: variables of enclosing functions, defaults, the globals
that its code names, the object of a method; within these, members, attributes and further functions. Objects of this
library, of NumPy, SciPy and Python are searched for the user's functions and objects, and not compared. The walk is
bounded: containers of more than MAX_MEMBERS members are compared by their length, arrays of more than MAX_BYTES by
their shape and SAMPLES of their entries.
"""

import ctypes
import gc
import itertools
import operator
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterator
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

from multibody.tracing.array.traced import ADVICE, TraceError

MAX_MEMBERS = 1000
"""Members of a container up to which each of them is compared."""
MAX_BYTES = 2**20
"""Bytes of an array up to which all entries are compared."""
SAMPLES = 1024
"""Entries that are compared in larger arrays, evenly spaced, the first and the last among them."""
PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, CodeType, np.dtype)
"""Types without parts."""
_MAPPINGS = (dict, MappingProxyType)
_SERIES = (list, tuple, set, frozenset, deque)
_BOUND = (MethodType, BuiltinMethodType, partial, property, staticmethod, classmethod)
"""Types that bind functions to objects or arguments."""
_LIBRARIES = {"multibody", "numpy", "scipy"} | sys.stdlib_module_names
_CONTAINERS = ("collections", "queue", "types")
"""Modules of Python whose objects contain the user's."""
_CLOSED = ("multibody.geometry.", "multibody.model.", "multibody.compiler.", "multibody.tracing.")
"""Rooms whose objects contain no function of users that a trace would run."""
_RANDOM = {"random", "randn", "default_rng", "RandomState", "SystemRandom", "urandom", "uuid4"}
"""Names in code that suggest random numbers."""
_TWISTER = 625 * 4
"""Bytes of the state of the Mersenne twister: 624 words and a position."""

_UNSET = object()

Part = tuple[str, Any]
"""The suffix that denotes a part, such as ".name", and the part."""


class SideEffects:
    """Compares what functions reach before and after they are recorded."""

    def __init__(self, *functions: Callable[..., Any] | None) -> None:
        walk = reachable(*(f for f in functions if f is not None))
        self._before = [(thing, _content(thing.value), _bounded_parts(thing.value)) for thing in walk if thing.users]

    def check(self, what: str, error: Callable[[str], TraceError] = TraceError) -> None:
        """Raise an error if anything has changed."""
        for thing, content, parts in self._before:
            name = _change(thing, content, parts)
            if name is not None:
                raise error(f"{what} is recorded once, and changes {name}, which is from outside it: {ADVICE}")


class RandomDraws:
    """Suspects random numbers in a function that is traced.

    Reasons are the names in its code, a generator that it reaches and that was used, and np.random's global generator.
    A suspicion is no proof: seeds may be fixed, another thread may have drawn. So the caller traces a second time and
    compares the graphs. Code of other packages is not read.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        values = [thing.value for thing in reachable(function)]
        self._named = any(_RANDOM & names_in(f.__code__) for f in values if isinstance(f, FunctionType) and is_users(f))
        numpy = sys.modules.get("numpy.random")  # not imported for this
        self._global = None if numpy is None else numpy.get_bit_generator()
        kinds = () if numpy is None else (numpy.Generator, numpy.RandomState)
        self._generators = [x for x in values if isinstance(x, kinds)]
        self._before = self._states()

    def suspected(self) -> bool:
        """Whether numbers may have been drawn since."""
        return self._named or self._before != self._states()

    def _states(self) -> list[Any]:
        states: list[Any] = [repr(_state(x)) for x in self._generators]
        if self._global is not None and type(self._global).__name__ == "MT19937":
            # its `state` would take as long as the trace of a small function
            states.append(ctypes.string_at(self._global.ctypes.state_address, _TWISTER))
        return states


def _state(generator: Any) -> Any:
    legacy = isinstance(generator, sys.modules["numpy.random"].RandomState)
    return generator.get_state(legacy=False) if legacy else generator.bit_generator.state


# ---- the walk --------------------------------------------------------------------------------------------------------


class Thing(NamedTuple):
    """A value that a function reaches."""

    name: str
    """As the function's code may write it."""
    value: Any
    users: bool
    """Whether it is the user's, rather than an internal value of a library's object."""


def reachable(*functions: Any) -> Iterator[Thing]:
    """The functions themselves, and everything that they reach."""
    seen: dict[int, bool] = {}
    waiting = [Thing(getattr(f, "__name__", ""), f, users=True) for f in functions]
    while waiting:
        name, value, inside = waiting.pop()
        users = inside
        if isinstance(value, type) or _is_open(value):
            users = is_users(value)
        elif isinstance(value, FunctionType):
            users = users or is_users(value)
        if users and not inside:  # the library's path to it would mean nothing to a user
            name = getattr(value, "__name__", type(value).__name__)
        if id(value) in seen and seen[id(value)] >= users:
            continue
        seen[id(value)] = users
        yield Thing(name, value, users)
        prefix = "" if isinstance(value, FunctionType) else name
        parts = _bounded_parts(value)
        waiting += [Thing(prefix + part, x, users) for part, x in parts if not isinstance(x, PLAIN)]


def _bounded_parts(x: Any) -> list[Part]:
    """The parts of a value, unless it is a large container."""
    large = (
        x.dtype != object or x.size > MAX_MEMBERS
        if isinstance(x, np.ndarray)
        else isinstance(x, (*_MAPPINGS, *_SERIES)) and len(x) > MAX_MEMBERS
    )
    return [] if large else parts_of(x)


def _content(x: Any) -> Any:
    """The comparable content of a value besides its parts; None if it has none."""
    if isinstance(x, np.ndarray) and x.dtype != object:
        entries = x if x.nbytes <= MAX_BYTES else x.flat[np.linspace(0, x.size - 1, SAMPLES).astype(np.intp)]
        return x.shape, x.dtype, entries.tobytes()
    if isinstance(x, bytearray | memoryview | array):
        return len(x), bytes(x[:MAX_BYTES])
    if isinstance(x, GeneratorType):
        return None if x.gi_frame is None else x.gi_frame.f_lasti
    if is_iterator(x):
        return repr(x) if isinstance(x, itertools.count) else operator.length_hint(x)
    return len(x) if isinstance(x, (*_MAPPINGS, *_SERIES)) else None


def _change(thing: Thing, content: Any, parts: list[Part]) -> str | None:
    """The name of a changed part of a thing; None if it is as it was."""
    now = _bounded_parts(thing.value)
    if _content(thing.value) != content or len(now) != len(parts):
        return thing.name
    for (name, a), (_, b) in zip(now, parts, strict=True):
        if a is not b and not (type(a) is type(b) and isinstance(a, PLAIN) and repr(a) == repr(b)):
            return name if isinstance(thing.value, FunctionType) else thing.name + name
    return None


# ---- parts of values -------------------------------------------------------------------------------------------------


def parts_of(x: Any) -> list[Part]:
    """The direct parts of a value, however many."""
    if isinstance(x, FunctionType):
        return _parts_of_function(x)
    if isinstance(x, _BOUND) or is_iterator(x):
        return [("", part) for part in gc.get_referents(x) if not isinstance(part, ModuleType)]
    if isinstance(x, type):
        own = [("." + n, v) for n, v in vars(x).items() if not n.startswith("__") or isinstance(v, FunctionType)]
        return [*own, *(("", base) for base in x.__bases__)] if is_users(x) else []
    members: Any = ()
    if isinstance(x, _MAPPINGS):
        members = (part for pair in x.items() for part in pair)
    elif isinstance(x, _SERIES):
        members = x
    elif isinstance(x, np.ndarray) and x.dtype == object:
        members = x.ravel().tolist()
    elif isinstance(x, ReferenceType):
        members = (x(),)
    elif isinstance(x, GeneratorType) and x.gi_frame is not None:
        members = x.gi_frame.f_locals.values()
    parts = [("[...]", part) for part in members]
    return [*parts, *_attributes(x)] if _is_open(x) else parts


def _is_open(x: Any) -> bool:
    """Whether the attributes of an object are searched."""
    module = type(x).__module__ or ""  # SymPy creates classes without a module
    return is_users(type(x)) or (module.startswith("multibody.") and not module.startswith(_CLOSED))


def is_iterator(x: Any) -> bool:
    """Whether it is an iterator of Python itself, except generators."""
    builtin = type(x).__module__ in ("builtins", "itertools") and not isinstance(x, GeneratorType)
    return builtin and isinstance(x, Iterator)


def is_users(x: Any) -> bool:
    """Whether a function, a class or an object comes from outside of the libraries."""
    module = (x.__module__ if isinstance(x, FunctionType | type) else type(x).__module__) or ""
    return module in _CONTAINERS or module.partition(".")[0] not in _LIBRARIES


def _attributes(x: Any) -> list[Part]:
    """The attributes of an object, and its class if it is the user's; values of `cached_property` are left out."""
    kind = type(x)
    defined = [(name, value) for base in kind.__mro__ for name, value in vars(base).items()]
    cached = {name for name, value in defined if isinstance(value, cached_property)}
    parts = [("." + name, value) for name, value in getattr(x, "__dict__", {}).items() if name not in cached]
    slots = [(name, getattr(x, name, _UNSET)) for name, v in defined if isinstance(v, MemberDescriptorType)]
    parts += [("." + name, value) for name, value in slots if value is not _UNSET]
    return [*parts, ("", kind)] if is_users(kind) else parts


def _parts_of_function(function: FunctionType) -> list[Part]:
    """The variables, defaults, globals and attributes of a function; of the library's own, the variables alone."""
    code = function.__code__
    cells = zip(code.co_freevars, function.__closure__ or (), strict=False)
    parts = [(name, cell.cell_contents) for name, cell in cells if cell != CellType()]  # without unbound names
    if not is_users(function):
        return parts
    parts += [("", value) for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())]
    names = names_in(code)
    imported = {name: sys.modules[name] for name in names & sys.modules.keys()}  # maybe in the function itself
    modules, seen = [imported | function.__globals__], set[int]()
    while modules:
        scope = modules.pop()
        for name in sorted(names & scope.keys()):
            value = scope[name]
            if not isinstance(value, ModuleType):
                parts.append((name, value))
            elif id(value) not in seen and not is_installed(value):
                seen.add(id(value))
                modules.append(vars(value))
    return [*parts, *(("." + name, value) for name, value in vars(function).items())]


def is_installed(module: ModuleType) -> bool:
    """Whether a module is of a library or an installed package, rather than the user's own."""
    library = module.__name__.partition(".")[0] in _LIBRARIES
    return library or "-packages" in str(getattr(module, "__file__", ""))  # site-packages, dist-packages


def names_in(code: CodeType) -> set[str]:
    """The names that a code, and the codes within it, refer to."""
    inner = (names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_names}.union(*inner)
