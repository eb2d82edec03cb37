"""The fast path of a call: a builtin function, compiled by LLVM, from NumPy arrays to native code and back.

One function serves all kernels. Its `self` is a tuple: the address of the kernel's record (see `Record`), and the
objects that must live as long as the record. It accepts the cases that must be fast: contiguous NumPy arrays of the
right dtype, each a single sample or a batch along one leading axis. Any other call goes to the general path, a Python
function, with the arguments unchanged. On builds of Python with another object layout (free-threaded, debug), all calls
take the general path.
"""

import ctypes
import re
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from string import Template
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.codegen.variants import SCALAR, VECTOR
from multibody.compiler.config import THREADS
from multibody.compiler.runtime import native
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.signature import Signature
from multibody.geometry.unit_quaternions import MAX_SQUARED_LENGTH, MIN_SQUARED_LENGTH
from multibody.tracing.record.general_path import OPEN_BLOCKS
from multibody.tracing.record.layout import is_flat

MAX_ARGUMENTS = 32
"""Arguments or results that the fast path accepts."""
_FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_DOC = b"""kernel(*args, out=None, threads=None)
--

Evaluate one sample, or a batch of any leading shape.

Args:
    *args: the inputs of the kernel, by position or by name; help(kernel) has their shapes.
    out: an array for the result; a tuple of arrays for several.
    threads: the number of threads that a batch is split over.
"""
_POINTER, _INTEGER = ctypes.c_void_p, ctypes.c_int64
_UNITS = ctypes.CFUNCTYPE(ctypes.c_bool, _POINTER, _POINTER, _INTEGER, _POINTER, _INTEGER, _INTEGER)


class Record(NamedTuple):
    """The data of a kernel that the fast path reads; the order is that of the words in memory."""

    batched: int
    """The address of the variant for batches; 0 before it is compiled, which sends calls to the general path."""
    single: int
    """The address of the variant for one sample."""
    array_type: int
    descr: int
    general_call: int
    """The general path."""
    input_specs: int
    output_specs: int
    create_array: int
    """The address of PyArray_NewFromDescr."""
    out_name: int
    tuple_type: int
    none: int
    open_blocks: int
    """The address of a counter; unless it is zero, all calls take the general path."""
    thread_count: int
    """The address of `config.threads`."""
    starts: int
    """The address of two words for each quaternion: the argument, and its first byte there."""
    inputs: int
    outputs: int
    one_result: int
    """1 if the result is one array, 0 if it is a tuple."""
    max_samples: int
    """Larger batches take the general path, which runs them in pieces."""
    min_split: int
    """Larger batches take the general path if `config.threads` is not 1."""
    max_with_gil: int
    """Larger batches release the GIL."""
    quaternion_count: int
    is_double: int
    """1 for float64, 0 for float32."""


_POINTERS = Record._fields[: Record._fields.index("inputs")]
_VARIANTS = {VECTOR: 0, SCALAR: 1}
"""The positions of the addresses of variants in the record."""


class Limits(NamedTuple):
    """Batch sizes that decide how a call runs; see `Record`."""

    max_samples: int
    min_split: int
    max_with_gil: int


_NEW_FROM_DESCR = 94
"""Index of PyArray_NewFromDescr in NumPy's table of functions, whose order never changes."""


@cache
def _create_array() -> int:
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = find(_multiarray_umath._ARRAY_API, None)
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_NEW_FROM_DESCR] or 0


@cache
def available() -> bool:
    """Whether objects have the memory layout that the fast path expects."""
    cpython = sys.implementation.name == "cpython" and struct.calcsize("P") == 8
    return cpython and not sysconfig.get_config_var("Py_GIL_DISABLED") and not hasattr(sys, "gettotalrefcount")


def supports(signature: Signature) -> bool:
    """Whether the fast path can serve calls of a kernel."""
    count = max(len(signature.inputs), len(signature.outputs))
    return available() and is_flat(signature.layout) and count <= MAX_ARGUMENTS


def make(code: Code, signature: Signature, general: Any, limits: Limits) -> tuple[Any, Callable[[str, int], None]]:
    """Return the builtin of a kernel, and the function that sets the address of a variant."""
    dtype = signature.dtype
    alive: list[Any] = [code, general, dtype]

    def memory(words: Sequence[int]) -> int:
        """The address of words in memory that live as long as the builtin."""
        alive.append((ctypes.c_int64 * max(1, len(words)))(*words))
        return ctypes.addressof(alive[-1])

    def specs(shapes: Sequence[tuple[int, ...]]) -> int:
        """Records of four words: axes, the address of their lengths, bytes of a sample, the shape as a tuple."""
        alive.extend(shapes)
        sizes = [int(np.prod(shape)) * dtype.itemsize for shape in shapes]
        rows = [(len(shape), memory(shape), size, id(shape)) for shape, size in zip(shapes, sizes, strict=True)]
        return memory([word for row in rows for word in row])

    record = Record(
        batched=code.linked(VECTOR),
        single=code.linked(SCALAR),
        array_type=id(np.ndarray),
        descr=id(dtype),
        general_call=id(general),
        input_specs=specs([spec.shape for spec in signature.inputs]),
        output_specs=specs(signature.outputs),
        create_array=_create_array(),
        out_name=id(sys.intern("out")),
        tuple_type=id(tuple),
        none=id(None),
        open_blocks=ctypes.addressof(OPEN_BLOCKS),
        thread_count=ctypes.addressof(THREADS),
        starts=memory([word for index, start in signature.quaternions for word in (index, start * dtype.itemsize)]),
        inputs=len(signature.inputs),
        outputs=len(signature.outputs),
        one_result=int(signature.layout == "array"),
        **limits._asdict(),
        quaternion_count=len(signature.quaternions),
        is_double=int(dtype == np.float64),
    )
    address = memory(record)
    words = alive[-1]
    method, definition = _definition()
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]

    def set_address(variant: str, address: int) -> None:
        words[_VARIANTS[variant]] = address

    return new(definition, (address, method, *alive), None), set_address


def units(rows: NDArray[Any], starts: Sequence[int]) -> bool:
    """Whether the quaternions at these entries of contiguous rows (n, ...) have unit length, or are not finite."""
    (code, _), _ = _definition()
    check = _UNITS(code.addresses["units"])
    data, stride = (ctypes.c_void_p * 1)(rows.ctypes.data), (ctypes.c_int64 * 1)(rows.strides[0])
    words = [word for start in starts for word in (0, start * rows.itemsize)]
    quaternions = (ctypes.c_int64 * len(words))(*words)
    return check(data, stride, len(rows), quaternions, len(starts), int(rows.dtype == np.float64))


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _module() -> str:
    """The LLVM IR of the fast path."""
    folder = resources.files("multibody.compiler.runtime")
    files = [folder.joinpath(f"{name}.ll") for name in ("numpy_arrays", "unit_quaternions", "fastcall")]
    bounds = {"MIN_SQUARED_LENGTH": repr(MIN_SQUARED_LENGTH), "MAX_SQUARED_LENGTH": repr(MAX_SQUARED_LENGTH)}
    text = Template("\n".join(file.read_text(encoding="utf-8") for file in files))
    return re.sub(r"(?m)^  %(\w+) = field$", _load, text.substitute(bounds, MAX_ARGUMENTS=MAX_ARGUMENTS))


def _load(match: re.Match[str]) -> str:
    """Two instructions that load a word of the record."""
    name = match[1]
    return (
        f"  %{name}.a = getelementptr i64, ptr %record, i64 {Record._fields.index(name)}\n"
        f"  %{name} = load {'ptr' if name in _POINTERS else 'i64'}, ptr %{name}.a, align 8"
    )


@cache
def _definition() -> tuple[Any, int]:
    """The method definition of all builtins, and its address; it is never freed, because builtins point to it."""
    code = native.link([native.compile_object(_module(), level=1)], "fastcall", "units")
    definition = _Method(b"kernel", code.addresses["fastcall"], _FASTCALL_WITH_KEYWORDS, _DOC)
    return (code, definition), ctypes.addressof(definition)
