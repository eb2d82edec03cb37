"""The operations of our graphs as heyoka and CasADi compile them: the strongest peers in a batch.

heyoka gets its own expressions and compiles a cfunc. CasADi gets SX expressions and writes C, which g++ compiles with a
number of four lanes for `casadi_real` and glibc's vector sines: what an expert builds by hand. heyoka has its inputs
and outputs laid out as suits it; CasADi's code is measured so, and from rows to rows, as our kernels work.
"""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peers.casadi import function_of
from peers.heyoka import over_batch

from multibody.tracing.record.trace import Trace

LANES = 4
SECONDS = 90
"""After which g++ is given up."""
NUMBER = """
#include <immintrin.h>
extern "C" __m256d _ZGVdN4v_sin(__m256d);
extern "C" __m256d _ZGVdN4v_cos(__m256d);
struct real {
    __m256d x;
    real() = default;
    real(double c) : x(_mm256_set1_pd(c)) {}
    real(__m256d y) : x(y) {}
};
static inline real operator+(real a, real b) { return a.x + b.x; }
static inline real operator-(real a, real b) { return a.x - b.x; }
static inline real operator*(real a, real b) { return a.x * b.x; }
static inline real operator/(real a, real b) { return a.x / b.x; }
static inline real operator-(real a) { return -a.x; }
static inline real sin(real a) { return _ZGVdN4v_sin(a.x); }
static inline real cos(real a) { return _ZGVdN4v_cos(a.x); }
static inline real sqrt(real a) { return _mm256_sqrt_pd(a.x); }
#define casadi_real real
"""
LOOPS = """
static inline void block(const real *x, real *y)
{
    const real *arg[] = {PARTS};
    real *res[] = {y};
    f(arg, res, 0, 0, 0);
}

extern "C" void blocks(long n, const real *x, real *y)
{
    for (long b = 0; b < n; ++b)
        block(x + b * INPUTS, y + b * OUTPUTS);
}

static inline void turn(__m256d &a, __m256d &b, __m256d &c, __m256d &d)
{
    const __m256d p = _mm256_unpacklo_pd(a, b), q = _mm256_unpackhi_pd(a, b);
    const __m256d r = _mm256_unpacklo_pd(c, d), s = _mm256_unpackhi_pd(c, d);
    a = _mm256_permute2f128_pd(p, r, 0x20), b = _mm256_permute2f128_pd(q, s, 0x20);
    c = _mm256_permute2f128_pd(p, r, 0x31), d = _mm256_permute2f128_pd(q, s, 0x31);
}

static inline void from_rows(const double *rows, long n, real *x)
{
    long k = 0;
    for (; k + 4 <= n; k += 4) {
        __m256d v[4];
        for (int i = 0; i < 4; ++i)
            v[i] = _mm256_loadu_pd(rows + i * n + k);
        turn(v[0], v[1], v[2], v[3]);
        for (int i = 0; i < 4; ++i)
            x[k + i].x = v[i];
    }
    for (; k < n; ++k)
        x[k].x = _mm256_set_pd(rows[3 * n + k], rows[2 * n + k], rows[n + k], rows[k]);
}

static inline void to_rows(const real *y, long n, double *rows)
{
    long k = 0;
    for (; k + 4 <= n; k += 4) {
        __m256d v[4];
        for (int i = 0; i < 4; ++i)
            v[i] = y[k + i].x;
        turn(v[0], v[1], v[2], v[3]);
        for (int i = 0; i < 4; ++i)
            _mm256_storeu_pd(rows + i * n + k, v[i]);
    }
    for (; k < n; ++k)
        for (int i = 0; i < 4; ++i)
            rows[i * n + k] = y[k].x[i];
}

extern "C" void rows(long n, const double *x, double *y)
{
    real in[INPUTS], out[OUTPUTS];
    for (long b = 0; b < n; ++b) {
        from_rows(x + 4 * b * INPUTS, INPUTS, in);
        block(in, out);
        to_rows(out, OUTPUTS, y + 4 * b * OUTPUTS);
    }
}
"""


class GivenUpError(Exception):
    """Why a peer is left out."""


def with_heyoka(traced: Trace, arrays: list[np.ndarray], expected: np.ndarray) -> Callable[[], Any]:
    """A call of a cfunc on the whole batch; arrays (count, n), expected (count, m)."""
    run, result = over_batch(traced, arrays)
    run()
    _agree(result.T, expected)
    return run


def with_casadi_c(traced: Trace, arrays: list[np.ndarray], expected: np.ndarray) -> tuple[Callable[[], Any], ...]:
    """Calls of CasADi's C code for four samples at once on the whole batch: from rows to rows, and in its own layout.

    Args:
        traced: the operations.
        arrays: (count, n) each.
        expected: (count, m).
    """
    import casadi as ca

    compiler = shutil.which("g++")
    if compiler is None:
        raise GivenUpError("no g++")
    generator = ca.CodeGenerator("f.cpp", {"cpp": True})
    generator.add(function_of(traced))
    with tempfile.TemporaryDirectory() as place:
        source, library = Path(place) / "f.cpp", Path(place) / "f.so"
        source.write_text(f"{NUMBER}{generator.dump()}{_loop(arrays, expected.shape[1])}")
        flags = ["-O3", "-march=native", "-w", "-shared", "-fPIC"]
        command = [compiler, *flags, str(source), "-o", str(library), "-lmvec", "-lm"]
        try:
            subprocess.run(command, check=True, timeout=SECONDS, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            raise GivenUpError(f"g++ -O3 took more than {SECONDS} s") from None
        except subprocess.CalledProcessError as error:
            raise GivenUpError(f"g++ failed: {error.stderr.strip().splitlines()[0]}") from None
        code = ctypes.CDLL(str(library))
    count, (inputs, result) = (
        len(expected),
        (_aligned(np.concatenate(arrays, axis=1)), _aligned(np.zeros_like(expected))),
    )
    blocks = _aligned(inputs.reshape(count // LANES, LANES, -1).swapaxes(1, 2))
    block_result = _aligned(np.zeros((count // LANES, expected.shape[1], LANES)))
    calls = []
    for run, x, y in (code.rows, inputs, result), (code.blocks, blocks, block_result):
        run.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        calls.append(lambda run=run, x=x, y=y: run(count // LANES, x.ctypes.data, y.ctypes.data))
        calls[-1]()
    _agree(result, expected)
    _agree(block_result.swapaxes(1, 2).reshape(expected.shape), expected)
    return tuple(calls)


def _loop(arrays: list[np.ndarray], outputs: int) -> str:
    sizes = [a.shape[1] for a in arrays]
    parts = ", ".join(f"x + {sum(sizes[:i])}" for i in range(len(sizes)))
    return LOOPS.replace("INPUTS", str(sum(sizes))).replace("OUTPUTS", str(outputs)).replace("PARTS", parts)


def _aligned(x: np.ndarray) -> np.ndarray:
    """A copy at an address that vectors of four may be loaded from."""
    whole = np.empty(x.size + 8)
    start = -whole.ctypes.data % 64 // 8
    copy = whole[start : start + x.size].reshape(x.shape)
    copy[...] = x
    return copy


def _agree(result: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
