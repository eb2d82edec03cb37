"""The entry of a kernel: a buffer that cannot be allocated raises MemoryError, on every path to the kernel."""

import re

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.codegen import entry
from multibody.compiler.runtime import native

MESSAGE = r"^{}: expected \d+ bytes of free memory for the kernel's buffer$"


@pytest.fixture
def without_memory(monkeypatch):
    """Kernels whose buffers come from the heap, and are larger than any memory."""
    compile_object = native.compile_object

    def compile_greedy(text, level):
        return compile_object(re.sub(r"call ptr @malloc\(i64 \d+\)", f"call ptr @malloc(i64 {2**62})", text), level)

    monkeypatch.setattr(native, "compile_object", compile_greedy)
    monkeypatch.setattr(entry, "MAX_STACK_BYTES", 0)
    monkeypatch.setattr(mb.config, "cache", False)


@pytest.mark.usefixtures("without_memory")
@pytest.mark.parametrize("many", [False, True])  # results: a tuple of arrays, or one
def test_out_of_memory(many):
    def doubled(x):
        return (2 * x, x @ x) if many else 2 * x

    kernel, x = mb.compile(doubled, 3), np.ones((9, 3))
    out = (np.zeros((9, 3)), np.zeros(9)) if many else np.zeros((9, 3))
    for _ in range(3):  # the first call compiles, the next ones take the fast path
        for call in (
            lambda: kernel(x[0]),
            lambda: kernel(x),
            lambda: kernel(x, out=out),
            lambda: kernel(x.tolist()),
            lambda: kernel(x, threads=2),
        ):
            with pytest.raises(MemoryError, match=MESSAGE.format("doubled")):
                call()
    assert not np.any(out[0])


@pytest.mark.usefixtures("without_memory")
def test_out_of_memory_in_a_scan():
    def decay(x, u):
        return 0.5 * x + u, x

    scan = mb.compile_scan(decay, (2,), [(2,)])
    for batch in ((), (5,)):
        with pytest.raises(MemoryError, match=MESSAGE.format("decay")):
            scan(np.ones((*batch, 2)), np.ones((*batch, 4, 2)))
