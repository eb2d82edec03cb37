"""The door from Python: a builtin function, made by LLVM, that goes from NumPy arrays to the kernel and back.

One function serves all kernels. Its `self` is a tuple whose first item is the address of a record of the kernel (see
`Record`) and whose other items keep that record, the code and the callables alive. It takes exactly the easy cases,
which are the ones that must be fast: NumPy arrays of the right dtype, contiguous, each a single sample or a batch along
one leading axis. Everything else it hands to the `slow` callable of the record, with the arguments as they came.

On builds of Python where objects look different (free-threaded, debug) there is no door, and kernels are called through
ctypes.
"""

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.codegen.variants import SCALAR, VECTOR
from multibody.compiler.runtime import native
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.fastcall_ir import text

_FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64
_UNITS = ctypes.CFUNCTYPE(ctypes.c_bool, _POINTER, _POINTER, _NUMBER, _POINTER, _NUMBER, _NUMBER)


class Record(NamedTuple):
    """What the door knows of a kernel; the order is that of the words in memory."""

    kernel: int
    """The address of the form for batches; 0 while it is not compiled, and `slow` is called."""
    one: int
    """That of the form for one sample."""
    array_type: int
    descr: int
    slow: int
    inputs: int
    outputs: int
    input_specs: int
    output_specs: int
    new_array: int
    """The address of PyArray_NewFromDescr."""
    out_name: int
    tuple_type: int
    none: int
    single: int
    """1 when the result is one array, 0 when it is a tuple."""
    largest: int
    """The largest batch that the door runs itself; longer ones are run in pieces."""
    alone: int
    """The largest batch that runs without letting other threads in."""
    eager: int
    """The address of a number that is not zero while plain NumPy is wanted somewhere."""
    quaternions: int
    """How many quaternions there are in the arguments, which must have unit length."""
    places: int
    """The address of two words for each: the argument, and its first byte there."""
    wide: int
    """1 when numbers are float64, 0 when they are float32."""


_NEW_FROM_DESCR = 94
"""Where PyArray_NewFromDescr is in NumPy's table of functions, of which the order never changes."""


@cache
def _new_array() -> int:
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = find(_multiarray_umath._ARRAY_API, None)
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_NEW_FROM_DESCR] or 0


@cache
def available() -> bool:
    """Whether objects lie in memory as the door expects."""
    usual = sys.implementation.name == "cpython" and struct.calcsize("P") == 8
    return usual and not sysconfig.get_config_var("Py_GIL_DISABLED") and not hasattr(sys, "gettotalrefcount")


def make(
    code: Code,
    dtype: np.dtype[Any],
    shapes_in: list[tuple[int, ...]],
    shapes_out: list[tuple[int, ...]],
    *,
    single: bool,
    slow: Any,
    largest: int,
    alone: int,
    eager: int,
    quaternions: Sequence[tuple[int, int]],
) -> tuple[Any, Callable[[str, int], None]]:
    """The builtin of one kernel, and what tells it the address of a form."""
    keep: list[Any] = [code, slow, dtype]

    def specs(shapes: list[tuple[int, ...]]) -> int:
        """Records of four words: axes, the address of their lengths, bytes of a sample, the shape as a tuple."""
        words: list[int] = []
        for shape in shapes:
            lengths = (ctypes.c_int64 * max(1, len(shape)))(*shape)
            keep.extend((lengths, shape))
            words += [len(shape), ctypes.addressof(lengths), int(np.prod(shape)) * dtype.itemsize, id(shape)]
        memory = (ctypes.c_int64 * max(1, len(words)))(*words)
        keep.append(memory)
        return ctypes.addressof(memory)

    words = [word for index, start in quaternions for word in (index, start * dtype.itemsize)]
    places = (ctypes.c_int64 * max(1, len(words)))(*words)
    keep.append(places)
    record = Record(
        kernel=code.linked(VECTOR),
        one=code.linked(SCALAR),
        array_type=id(np.ndarray),
        descr=id(dtype),
        slow=id(slow),
        inputs=len(shapes_in),
        outputs=len(shapes_out),
        input_specs=specs(shapes_in),
        output_specs=specs(shapes_out),
        new_array=_new_array(),
        out_name=id(sys.intern("out")),
        tuple_type=id(tuple),
        none=id(None),
        single=int(single),
        largest=largest,
        alone=alone,
        eager=eager,
        quaternions=len(quaternions),
        places=ctypes.addressof(places),
        wide=int(dtype == np.float64),
    )
    memory = (ctypes.c_int64 * len(record))(*record)
    keep.append(memory)
    method, definition = _definition()
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]

    def tell(form: str, address: int) -> None:
        memory[Record._fields.index(form)] = address

    return new(definition, (ctypes.addressof(memory), method, *keep), None), tell


def units(rows: NDArray[Any], starts: Sequence[int]) -> bool:
    """Whether the quaternions that begin at these elements of contiguous rows (n, ...) have unit length, or are NaN."""
    (code, _), _ = _definition()
    check = _UNITS(code.addresses["units"])
    data, stride = (ctypes.c_void_p * 1)(rows.ctypes.data), (ctypes.c_int64 * 1)(rows.strides[0])
    places = [word for start in starts for word in (0, start * rows.itemsize)]
    words = (ctypes.c_int64 * len(places))(*places)
    return check(data, stride, len(rows), words, len(starts), int(rows.dtype == np.float64))


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@cache
def _definition() -> tuple[Any, int]:
    """The method definition that all doors share, and its address; it is never freed, as builtins point to it."""
    code = native.link([native.compile_object(text(Record._fields), level=1)], "door", "units")
    definition = _Method(b"kernel", code.addresses["door"], _FASTCALL_WITH_KEYWORDS, b"A compiled kernel.")
    return (code, definition), ctypes.addressof(definition)
