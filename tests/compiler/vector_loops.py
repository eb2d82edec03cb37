"""What the tests of the vector math library share: loops over arrays that call it, samples, and exact values."""

import ctypes
import itertools
import math
from functools import cache

import llvmlite.binding as llvm
import mpmath as mp
import numpy as np

from multibody.compiler.codegen import vector_math
from multibody.compiler.codegen.vector_math.trigonometry import LIMIT

ARITY = dict.fromkeys("sin cos tan asin acos exp expm1 log log1p sinh cosh tanh".split(), 1)
ARITY |= dict.fromkeys("atan2 hypot pow fmod mod".split(), 2)
BOUND = dict.fromkeys(ARITY, 4.0) | dict.fromkeys("sin cos exp log atan2".split(), 2.0) | {"fmod": 0.0, "mod": 0.5}
"""The largest error allowed, in units in the last place."""
_names = itertools.count()


# ---- machine code ----------------------------------------------------------------------------------------------------


@cache
def _target_machine():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, reloc="pic", codemodel="default"
    )


@cache
def _jit():
    return llvm.create_lljit_compiler(_target_machine())


def _loop(op, arity, lanes, dtype):
    """A function of pointers to the arguments, a pointer to two arrays of results, and the count of vectors."""
    vector = f"<{lanes} x {'double' if dtype == 'float64' else 'float'}>"
    arguments = ", ".join(f"{vector} %x{k}" for k in range(arity))
    call = f"@{vector_math.symbol(op, lanes, dtype)}({arguments})"
    pair = f"{{{vector}, {vector}}}"
    loads = [
        f"%p{k} = getelementptr {vector}, ptr %a{k}, i64 %i\n%x{k} = load {vector}, ptr %p{k}, align 4"
        for k in range(arity)
    ]
    if op == "sincos":
        results = [
            f"%both = call {pair} {call}",
            f"%one = extractvalue {pair} %both, 0\n%two = extractvalue {pair} %both, 1",
            f"store {vector} %one, ptr %r, align 4",
            f"%j = add i64 %i, %count\n%s = getelementptr {vector}, ptr %out, i64 %j",
            f"store {vector} %two, ptr %s, align 4",
        ]
    else:
        results = [f"%one = call {vector} {call}", f"store {vector} %one, ptr %r, align 4"]
    return "\n".join(
        [
            f"define void @loop_{op}({', '.join(f'ptr %a{k}' for k in range(arity))}, ptr %out, i64 %count) {{",
            "start:\nbr label %body",
            "body:\n%i = phi i64 [0, %start], [%next, %body]",
            *loads,
            f"%r = getelementptr {vector}, ptr %out, i64 %i",
            *results,
            "%next = add i64 %i, 1\n%more = icmp ult i64 %next, %count",
            "br i1 %more, label %body, label %end\nend:\nret void\n}",
        ]
    )


@cache
def _library(lanes, dtype, fma):
    arity = {**ARITY, "sincos": 1}
    loops = "\n".join(_loop(op, n, lanes, dtype) for op, n in arity.items())
    module = llvm.parse_assembly(loops + "\n" + vector_math.library(arity, lanes, dtype, fma=fma))
    module.triple = llvm.get_process_triple()
    module.verify()
    builder = llvm.JITLibraryBuilder().add_object_img(_target_machine().emit_object(module)).add_current_process()
    for op in arity:
        builder.export_symbol(f"loop_{op}")
    return builder.link(_jit(), f"vector-math-{next(_names)}")


def evaluate(op, *arguments, lanes=4, fma=True):
    """The function of the library on whole arrays; sincos gives two."""
    dtype = arguments[0].dtype
    code = _library(lanes, dtype.name, fma)
    size = len(arguments[0])
    vectors = -(-size // lanes)
    padded = [np.concatenate([x, np.ones(vectors * lanes - size, dtype)]) for x in arguments]
    out = np.empty((2, vectors * lanes), dtype)
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(padded) + 1), ctypes.c_int64)(code[f"loop_{op}"])
    loop(*(x.ctypes.data for x in padded), out.ctypes.data, vectors)
    return (out[0, :size], out[1, :size]) if op == "sincos" else out[0, :size]


def bits(x):
    """The patterns of numbers, one for all NaN."""
    return np.where(np.isnan(x), np.dtype(x.dtype).type(np.nan), x).view(f"u{x.itemsize}")


# ---- exact values ----------------------------------------------------------------------------------------------------


def _fmod(x, y):
    return mp.mpf(math.fmod(float(x), float(y)))


def _mod(x, y):
    rest = _fmod(x, y)
    return rest + y if rest and (rest < 0) != (y < 0) else rest


_BY_HAND = {"pow": mp.power, "fmod": _fmod, "mod": _mod}
EXACT = {op: getattr(mp, op) for op in ARITY if op not in _BY_HAND} | _BY_HAND


@cache
def _exact(op, *arguments):
    with mp.workprec(140):
        return EXACT[op](*(mp.mpf(x) for x in arguments))


def ulps(op, arguments, found):
    """The error of every result in units in the last place of the exact value; an infinity counts as the next power."""
    digits, least, most = (53, -1074, 1024) if found.dtype == np.float64 else (24, -149, 128)
    errors = np.zeros(len(found))
    for k, value in enumerate(found.tolist()):
        exact = _exact(op, *(x[k].item() for x in arguments))
        with mp.workprec(140):
            got = mp.sign(value) * mp.ldexp(1, most) if mp.isinf(value) else mp.mpf(value)
            unit = mp.ldexp(1, max(mp.frexp(exact)[1] - digits, least)) if exact else mp.ldexp(1, least)
            errors[k] = 0.0 if mp.isinf(value) and abs(exact) > abs(got) else float(abs(got - exact) / unit)
    return errors


# ---- samples ---------------------------------------------------------------------------------------------------------


def _any_size(rng, n, info, most=None):
    """Numbers of all magnitudes, denormal ones too, and both signs."""
    size = np.exp2(rng.uniform(info.minexp - info.nmant, info.maxexp - 1e-4 if most is None else most, n))
    return size * rng.choice([-1.0, 1.0], n)


def _around(values, dtype):
    """Numbers with their neighbours."""
    x = np.asarray(values, dtype)
    with np.errstate(over="ignore"):
        return np.concatenate([np.nextafter(x, dtype(-np.inf)), x, np.nextafter(x, dtype(np.inf))])


def _angles(rng, n, info):
    """Also near multiples of π/2, up to 1e22, and near the limits."""
    multiples = [*range(1, 60), *(int(2.0**e) for e in rng.uniform(6, 72, n))]
    with mp.workprec(200):
        near = _around([float(k * mp.pi / 2) for k in multiples] + list(LIMIT.values()), info.dtype.type)
    return [np.concatenate([rng.uniform(-7, 7, n), rng.uniform(-3e3, 3e3, n), _any_size(rng, n, info), near])]


def _sines(rng, n, info):
    edge = 1 - np.exp2(rng.uniform(-info.nmant - 1, 0, n))
    thresholds = _around([0.5, -0.5], info.dtype.type)
    return [np.concatenate([rng.uniform(-1, 1, n), _any_size(rng, n, info, 0), edge, -edge, thresholds])]


def _points(rng, n, info):
    """Pairs: of one size, of any two sizes, with a ratio near 1, and at the limits of hypot."""
    x = _any_size(rng, n, info, info.maxexp - 8)
    ratio = np.exp2(rng.uniform(-6, 6, n))
    near_one = 1 + rng.choice([-1, 1], n) * np.exp2(rng.uniform(-info.nmant, -2, n))
    scales = _around(np.ldexp(1.0, [-450, 511] if info.dtype == np.float64 else [-40, 62]), info.dtype.type)
    first = [rng.uniform(-1, 1, n), x, x, _any_size(rng, n, info), scales]
    second = [rng.uniform(-1, 1, n), x * ratio, x * near_one, _any_size(rng, n, info), scales[::-1]]
    return [np.concatenate(first), np.concatenate(second)]


def _exponents(rng, n, info):
    """Also half-integer multiples of ln 2, where the reduction changes, and where results end or become denormal."""
    least, normal, most = (-745.2, -708.4, 709.8) if info.dtype == np.float64 else (-103.98, -87.34, 88.73)
    halves = (rng.integers(least, most, n) + 0.5) * np.log(2)
    ends = np.concatenate([end + rng.uniform(-0.1, 0.1, n // 4) for end in (least, normal, most)])
    return [np.concatenate([rng.uniform(least, most, n), _any_size(rng, n, info, 6), halves, ends])]


def _positives(rng, n, info):
    """Also near 1, and near √2 times powers of two, where the reduction changes."""
    near_one = 1 + rng.choice([-1, 1], n) * np.exp2(rng.uniform(-info.nmant - 1, -1, n))
    roots = _around(np.ldexp(np.sqrt(2.0), rng.integers(-100, 100, n // 4)), info.dtype.type)
    edges = _around([2.0**info.minexp, 1.0], info.dtype.type)
    return [np.concatenate([np.abs(_any_size(rng, n, info)), rng.uniform(0.4, 2.5, n), near_one, roots, edges])]


def _any_real(rng, n, info):
    """For tanh: also where the reduction of 2 x changes."""
    halves = _around((np.arange(60) + 0.5) * np.log(2) / 2, info.dtype.type)
    ends = np.array([9.0, 10.0, 19.0, 20.0, 21.0])
    return [np.concatenate([rng.uniform(-3, 3, n), rng.uniform(-22, 22, n), _any_size(rng, n, info), halves, ends])]


def _shifted(rng, n, info):
    """For log1p: what log takes, less 1, and numbers of any size."""
    positives = _positives(rng, n, info)[0]
    small = _any_size(rng, n, info, -1)
    x = np.concatenate([positives[positives < 1e30] - 1, np.abs(_any_size(rng, n, info)), small])
    return [x[x.astype(info.dtype) > -1]]


def _divisions(rng, n, info):
    """Also quotients that are whole numbers or near them, and huge ones."""
    x, y = _points(rng, n, info)
    whole = np.trunc(rng.uniform(-1e3, 1e3, n))
    near = [whole * 0.1, np.nextafter(whole * 0.1, 9e9), whole * 7.0, rng.uniform(-1e3, 1e3, n)]
    divisors = [np.full(n, 0.1), np.full(n, 0.1), np.full(n, -7.0), rng.uniform(-3, 3, n)]
    pairs = np.stack([np.concatenate([x, *near]), np.concatenate([y, *divisors])])
    return list(pairs[:, (pairs[1].astype(info.dtype) != 0)])


def _powers(rng, n, info):
    return [np.exp2(rng.uniform(-9, 9, n)), rng.uniform(-1, 1, n) * (info.maxexp / 9 + 0.3)]


_DRAW = {
    **dict.fromkeys(["sin", "cos", "tan", "sincos"], _angles),
    **dict.fromkeys(["asin", "acos"], _sines),
    **dict.fromkeys(["atan2", "hypot"], _points),
    "exp": _exponents,
    "log": _positives,
    "tanh": _any_real,
    "log1p": _shifted,
    **dict.fromkeys(["expm1", "sinh", "cosh"], _exponents),
    **dict.fromkeys(["fmod", "mod"], _divisions),
    "pow": _powers,
}


@cache
def samples(op, dtype, n=250):
    """Arguments over the whole range of an operation, as arrays of the format."""
    with np.errstate(over="ignore", under="ignore"):
        return tuple(x.astype(dtype) for x in _DRAW[op](np.random.default_rng(7), n, np.finfo(dtype)))
