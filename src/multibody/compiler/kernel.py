"""Kernel: a compiled function with NumPy's calling conventions."""

import inspect
import textwrap
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any

from multibody._signatures import readable_names
from multibody.compiler.codegen import target
from multibody.compiler.codegen.variants import VECTOR, Texts, modules_of
from multibody.compiler.nested_arguments import NestedArguments
from multibody.compiler.runtime import native
from multibody.compiler.runtime.code import Code, unpickle
from multibody.compiler.runtime.launch import Launcher
from multibody.compiler.runtime.signature import Signature
from multibody.errors import InputError
from multibody.tracing.record.trace import Trace


class Compiled(ABC):
    """Native code, and the function that it was compiled from: what kernels and scans share."""

    exported_name: str
    """The name of the function in exported code."""

    def __init__(self, name: str, signature: Signature, code: Code, record: Callable[[], Trace] | None) -> None:
        self.name = name
        self.signature = signature
        self.ops = Counter[str](code.header["ops"])
        """The number of operations of each kind; a fused multiply-add is one."""
        self._code = code
        self._record = record

    @abstractmethod
    def _variants(self) -> Texts:
        """The LLVM modules of each variant."""

    def trace(self) -> Trace:
        """Trace the function again: of a scan, one step as a function of its arrays."""
        if self._record is None:
            raise InputError(f"{self.name} came without its function (from a pickle): only its code is here")
        return self._record()

    @property
    def graph(self) -> Any:
        """The operations, for people to read: `print(kernel.graph)`,
        `kernel.graph.draw("graph.png")`.
        """
        from multibody.compiler.export.graph_view import GraphView

        return GraphView(self.trace())

    def to_c(self, path: Any = None, *, name: str | None = None) -> Any:
        """Return C99 of the same graph, (source, header).

        Args:
            path: such as "law.c", to write law.c and law.h as well.
            name: of the C function; by default that of the kernel.

        Returns:
            Outputs have the names of a returned dict, otherwise y0, y1, ...; the header defines
            the size of each argument, such as LAW_FORCE_SIZE.
        """
        from multibody.compiler.export import to_c as emit_c

        code = emit_c.to_c(self.trace(), self.exported_name if name is None else name)
        if path is not None:
            emit_c.write(code, path)
        return code

    def to_numpy(self) -> str:
        """Return readable Python source of the same graph."""
        from multibody.compiler.export.to_numpy import to_numpy

        return to_numpy(self.trace(), self.exported_name)

    def to_sympy(self, *symbols: Any) -> Any:
        """Return SymPy expressions of the same graph; needs `multibody[symbolic]`.

        Args:
            *symbols: for each input something of its shape to put in, such as a matrix of
                symbols; by default symbols with the names of the inputs.
        """
        from multibody.compiler.export.to_sympy import to_sympy

        return to_sympy(self.trace(), *symbols)

    def wait(self) -> None:
        """Return when the final code of the calls so far is in place.

        With `mb.config.helpers = True`, the first call of a large kernel runs code that is
        generated quickly and runs at about half the speed, with the same bits, until then.
        With `mb.config.wait_for_code = True` all first calls wait.
        """
        self._code.wait(self.name)

    @property
    def ir(self) -> str:
        """The LLVM IR of all modules."""
        return "\n".join(text for texts in self._variants().values() for text in texts)

    @property
    def asm(self) -> str:
        """The assembly of the native code."""
        return "\n".join(native.assembly(text) for texts in self._variants().values() for text in texts)

    def _reduce(self, *rest: Any) -> tuple[Any, ...]:
        """The pickle: native code for this machine, without the function."""
        self._code.wait(self.name, VECTOR)  # which runs wherever it arrives
        return unpickle, (target.host(), rest[0], self.name, self.signature, self._code.entry, *rest[1:])


class Kernel(Compiled):
    """A compiled function.

    Call it as the NumPy function it was made from: `kernel(q, v)`, on single samples or on
    batches of any leading shape, which broadcast; `out=` writes into existing arrays,
    `threads=` splits a batch.
    """

    def __init__(
        self,
        name: str,
        signature: Signature,
        code: Code,
        record: Callable[[], Trace] | None = None,
        function: Callable[..., Any] | None = None,
        variants: Any = None,
        batched: bool = False,
        nested: NestedArguments | None = None,
    ) -> None:
        super().__init__(name, signature, code, record)
        self.exported_name = name if name.isidentifier() else "kernel"
        self._launcher = Launcher(name, code, signature, function, variants, batched=batched)
        self._nested = nested
        optional = () if variants is None else variants.optional
        self.call = self._launcher.call if nested is None else nested.call(self._launcher.call, optional)
        """The builtin that a call of the kernel calls; calling it directly saves a tenth of a microsecond."""
        # a class for each kernel, so that Python calls the builtin without another frame
        own = type("Kernel", (Kernel,), {"__call__": staticmethod(self.call), "__doc__": self._help()})
        object.__setattr__(self, "__class__", own)

    def __call__(self, *args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Evaluate one sample, or a batch of any leading shape.

        Args:
            *args: the inputs in their order; `help(kernel)` has the names and shapes.
            out: an array for the result, or a tuple of arrays for several.
            threads: the number of threads that a batch is split over.
            **named: inputs by name, and optional ones.
        """
        return self.call(*args, out=out, threads=threads, **named)

    def _help(self) -> str:
        """The docstring of this kernel, with the shapes of its arguments and results."""
        variants = self._launcher.variants
        optional = {} if variants is None else variants.optional
        entries = [
            *(f"{name}: {_batch_of(shape)}." for name, shape in self.signature.inputs),
            *(f"{name}: of shape {shape}, optional." for name, shape in optional.items()),
            "out: an array for the result; a tuple of arrays for several.",
            "threads: the number of threads that a batch is split over.",
        ]
        results = ", ".join(map(_batch_of, self.signature.outputs))
        lines = [inspect.cleandoc(Kernel.__doc__ or ""), "", "Args:", *(f"    {entry}" for entry in entries), ""]
        return "\n".join([*lines, "Returns:", *textwrap.wrap(f"{results}.", 88, initial_indent="    ")])

    def _variants(self) -> Texts:
        return modules_of(self.trace())[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reduce(_unpickled, self._nested)

    def __repr__(self) -> str:
        takes = ", ".join(f"{spec.name} {spec.shape}" for spec in self.signature.inputs)
        gives = ", ".join(map(str, self.signature.outputs))
        return f"<Kernel {self.name}({takes}) -> {gives}, {sum(self.ops.values())} operations, {self.signature.dtype}>"


def _unpickled(name: str, signature: Signature, code: Code, nested: NestedArguments | None) -> Kernel:
    return Kernel(name, signature, code, nested=nested)


def _batch_of(shape: tuple[int, ...]) -> str:
    """The shape of a batch of samples, such as (..., 7)."""
    return f"({', '.join(['...', *map(str, shape)])})"


readable_names(__name__)
