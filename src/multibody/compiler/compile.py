"""`compile`: from a NumPy function to a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, overload

from numpy.typing import DTypeLike

from multibody._signatures import readable
from multibody.compiler.cache import code_cache
from multibody.compiler.cache.key import key as key_of
from multibody.compiler.codegen.variants import modules_of
from multibody.compiler.config import config
from multibody.compiler.ir.nested_shapes import flatten_shapes
from multibody.compiler.kernel import Kernel
from multibody.compiler.nested_arguments import flatten_arguments
from multibody.compiler.optional_inputs import OptionalInputs, extend_key
from multibody.compiler.runtime.signature import Signature
from multibody.errors import InputError
from multibody.tracing.record.naming import argument_names, parameters
from multibody.tracing.record.trace import Trace, float_kind, trace

Shape = int | Sequence[Any] | Mapping[str, Any]
"""Of one sample of an argument: a number of lengths, or a list, tuple or dict of shapes."""


class Options(TypedDict, total=False):
    """Arguments of `compile` besides the function and the shapes."""

    names: Sequence[str] | None
    optional: Mapping[str, Any] | None
    dtype: DTypeLike | None
    key: str | None
    batched: bool
    quaternions: Mapping[str, Sequence[int]] | None


@overload
def compile(function: Callable[..., Any], *shapes: Any, **options: Unpack[Options]) -> Kernel: ...  # noqa: A001
@overload
def compile(function: Shape, *shapes: Shape, **options: Unpack[Options]) -> Callable[[Callable[..., Any]], Kernel]: ...  # noqa: A001
@readable
def compile(  # noqa: A001
    function: Callable[..., Any] | Shape,
    *shapes: Shape,
    names: Sequence[str] | None = None,
    optional: Mapping[str, Any] | None = None,
    dtype: DTypeLike | None = None,
    key: str | None = None,
    batched: bool = False,
    quaternions: Mapping[str, Sequence[int]] | None = None,
) -> Any:
    """Turn a function written in plain NumPy into a native kernel that evaluates batches.

    The function is traced now. Native code is made at the first call with one sample, and at
    the first with a batch: make such a call before a loop that must not wait.

    Args:
        function: of arrays; see "Compile your own function" in the documentation for what it
            may do. Without it, as in `@mb.compile(3, ())` above a function, the result is a
            decorator.
        *shapes: the shape of one sample of each argument: (7,), 7, or () for a number. They
            cannot be taken from the first call: an array (7, 7) may be a matrix, or seven
            samples. A dict, a list or a tuple of shapes is for an argument nested in the same
            way: {"q": 7, "gains": [3, ()]}. A single list has the shapes of all arguments:
            [7, 7] for two vectors, where (7, 7) is one matrix.
        names: of the arguments; by default those of the function.
        optional: shapes of further arguments, by name, that a call may give or leave out; the
            function has None as their default, and code for them is made when they are first
            given.
        dtype: float64 or float32; by default that of `mb.config`.
        key: a text that stands for the function, all that it uses and their versions. With it,
            a kernel that is in the cache is loaded without tracing the function; without it,
            the function is traced to know its key.
        batched: say that the function itself takes any leading batch shape: `mb.eager` then
            runs it on whole batches.
        quaternions: by the name of an argument, where unit quaternions begin in it: a call with
            another length of one is refused.

    >>> k = compile(lambda x, y: x @ y, 3, 3)
    >>> k([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    np.float64(32.0)
    >>> @compile(3, ())
    ... def spring(x, k):
    ...     return -k * x
    >>> spring([1.0, 2.0, 3.0], 2.0)
    array([-2., -4., -6.])
    """
    if not callable(function):
        flatten_shapes(function, "compile: expected a function, or the shapes of one to come")
        options: Options = {"names": names, "optional": optional, "dtype": dtype, "key": key}
        options |= {"batched": batched, "quaternions": quaternions}

        def decorate(later: Callable[..., Any]) -> Kernel:
            return compile(later, function, *shapes, **options)

        return decorate
    each = _one_per_argument(function, shapes, optional or {})
    own_names = argument_names(function, len(each)) if names is None else list(names)
    nested, flat_shapes = flatten_arguments(own_names, each)
    if nested is not None:
        if len(own_names) != len(nested.layouts):
            raise InputError(f"names: expected {len(nested.layouts)} different names, got {own_names}")
        function, names = nested.flat(function), nested.flat_names
    name = getattr(function, "__name__", "kernel")
    dtype = float_kind(config.dtype if dtype is None else dtype)

    def record() -> Trace:
        return trace(function, flat_shapes, names, dtype)

    text_key = None if key is None else key_of(("key", key), flat_shapes, names, dtype)
    code = code_cache.code(name, record, modules_of, ("graph",), text_key)
    signature = Signature.of_header(code.header, quaternions or {})
    taken = {spec.name for spec in signature.inputs} & {"out", "threads"}
    if taken:
        raise InputError(f"names: {', '.join(taken)} is an option of every kernel: give the argument another name")

    def with_optional(present: tuple[str, ...]) -> Kernel:
        def bound(*args: Any) -> Any:
            count = len(flat_shapes)
            return function(*args[:count], **dict(zip(present, args[count:], strict=True)))

        bound.__name__ = name
        more = [*flat_shapes, *(dict(optional or {})[option] for option in present)]
        titles, text = [*(spec.name for spec in signature.inputs), *present], extend_key(key, present)
        return compile(bound, *more, names=titles, dtype=dtype, key=text, batched=batched, quaternions=quaternions)

    variants = OptionalInputs(optional, with_optional) if optional else None
    return Kernel(name, signature, code, record, function, variants, batched, nested)


def _one_per_argument(
    function: Callable[..., Any], shapes: Sequence[Any], optional: Mapping[str, Any]
) -> Sequence[Any]:
    """The shapes, one for each argument of the function, which may stand in one list."""
    declared = parameters(function)
    if declared is None:
        return shapes
    required = [parameter for parameter in declared if parameter.name not in optional]
    needed = [parameter for parameter in required if parameter.default is parameter.empty]
    only = shapes[0] if len(shapes) == 1 else None
    if isinstance(only, list) and len(needed) <= len(only) <= len(required):
        return only
    if len(needed) <= len(shapes) <= len(required):
        return shapes
    name = getattr(function, "__name__", "the function")
    arguments = f"{name}({', '.join(parameter.name for parameter in required)})"
    example = ", ".join(["f", *(["3"] * max(1, len(needed)))]) if required else "f"
    hint = ""
    if isinstance(only, tuple) and len(only) == len(required):
        each = ", ".join(map(str, only))
        hint = f". {only} is one array: {len(only)} arguments are mb.compile(f, {each}) or mb.compile(f, [{each}])"
    raise InputError(
        f"compile: expected the shape of one sample of each argument of {arguments}, got {list(shapes)}: write "
        f"mb.compile({example}) where each is 3 numbers, () for a single one, (3, 3) for a matrix{hint}"
    )
