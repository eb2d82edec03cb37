"""Nested arguments of kernels: dicts and tuples of arrays, which the kernel takes one after the other."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from multibody.compiler.ir.nested_shapes import Shape, flatten_shapes
from multibody.compiler.runtime.call_mode import bind
from multibody.tracing.record.layout import Layout, parts_of, rebuild


class NestedArguments(NamedTuple):
    """The names of a function's arguments, and how their arrays are nested."""

    names: tuple[str, ...]
    layouts: tuple[Layout, ...]

    @property
    def flat_names(self) -> list[str]:
        """The names of all arrays: state.q of an argument state with a key q."""
        return [name for title, layout in zip(self.names, self.layouts, strict=True) for name in paths(layout, title)]

    def flat(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of all arrays."""

        def flat(*arrays: Any, **named: Any) -> Any:
            rest = iter(arrays)
            return function(*(rebuild(layout, rest) for layout in self.layouts), **named)

        flat.__name__ = getattr(function, "__name__", "kernel")
        return flat

    def call(self, kernel: Callable[..., Any], optional: Collection[str]) -> Callable[..., Any]:
        """A kernel of all arrays as one of the function's own arguments."""

        def call(*args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
            extra = {name: named.pop(name) for name in optional if name in named}
            values = bind(self.names, args, named)
            pairs = zip(self.layouts, values.items(), strict=True)
            arrays = [array for layout, (name, value) in pairs for array in parts_of(layout, value, name)]
            return kernel(*arrays, out=out, threads=threads, **extra)

        return call


def flatten_arguments(names: Sequence[str], shapes: Sequence[Any]) -> tuple[NestedArguments | None, list[Shape]]:
    """How arguments are nested, None if they are arrays, and the shapes of all arrays."""
    nested = [flatten_shapes(shape) for shape in shapes]
    flat = [shape for _, part in nested for shape in part]
    if all(layout == "array" for layout, _ in nested):
        return None, flat
    return NestedArguments(tuple(names), tuple(layout for layout, _ in nested)), flat


def paths(layout: Layout, title: str) -> Iterator[str]:
    """The names of the arrays of a layout: keys and positions after dots."""
    if layout == "array":
        yield title
        return
    kind, *parts = layout
    members: Mapping[str, Layout] | dict[str, Layout]
    members = dict(parts) if kind == "dict" else {str(k): part for k, part in enumerate(parts)}
    for name, part in members.items():
        yield from paths(part, f"{title}.{name}")
