"""LazyKernel: a kernel that is compiled at its first native call."""

from collections.abc import Callable
from typing import Any

from multibody.compiler.kernel import Kernel
from multibody.compiler.runtime.call_mode import Source


class LazyKernel:
    """A kernel that is compiled at its first native call; until then a call may run its NumPy source."""

    __slots__ = ("_build", "_kernel", "_source", "call")

    def __init__(self, source: Source, build: Callable[[], Kernel]) -> None:
        self._source, self._build = source, build
        self._kernel: Kernel | None = None
        self.call: Callable[..., Any] = self._general
        """Evaluates a call; that of the kernel once it is compiled."""

    @property
    def kernel(self) -> Kernel:
        """The kernel, compiled at the first use."""
        if self._kernel is None:
            kernel = self._build()
            self._kernel, self.call = kernel, kernel.call
        return self._kernel

    @property
    def is_compiled(self) -> bool:
        """Whether there is a kernel."""
        return self._kernel is not None

    def _general(self, *args: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        return self._source.call(args, named, out, threads, self._launch)

    def _launch(self, arrays: list[Any], batch: tuple[int, ...], out: Any, threads: int) -> Any:
        return self.kernel._launcher.launch(arrays, batch, out, threads)
