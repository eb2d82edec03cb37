"""Kernels with one key share native code, never a function; code that is used again can be verified."""

import gc
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.cache import code_cache, disk_cache
from multibody.compiler.codegen import variants
from multibody.compiler.config import _from_environment
from multibody.compiler.runtime import native
from multibody.errors import CacheError

from ..sampling import sampled

LENGTH = len(disk_cache._MAGIC) + 32


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.fixture
def compilations(monkeypatch):
    """How many modules each compilation from now on has; none are for verification."""
    monkeypatch.setattr(mb.config, "verify", False)
    counts, original = [], native.compile_objects
    monkeypatch.setattr(native, "compile_objects", lambda *args: counts.append(len(args[0])) or original(*args))
    return counts


# ---- one code, many kernels ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_code_is_shared_and_functions_are_not(compilations):
    def first(x):
        return np.sin(x) * 3.0

    def second(x):
        return 3.0 * np.sin(x)

    kernels = [mb.compile(first, 4), mb.compile(second, 4), mb.compile(second, 4, quaternions={"x": [0]})]
    assert len({id(kernel._code) for kernel in kernels}) == 1
    assert [kernel.name for kernel in kernels] == ["first", "second", "second"]
    assert [kernel._launcher.source.function for kernel in kernels] == [first, second, second]
    x = np.linspace(-1, 1, 8).reshape(2, 4)
    assert kernels[0](x).tobytes() == kernels[1](x).tobytes()
    assert compilations == [1]
    with pytest.raises(mb.InputError, match="unit quaternion"):
        kernels[2](x)


@pytest.mark.usefixtures("place")
def test_a_key_that_is_wrong_still_leaves_each_kernel_its_function(compilations):
    """What `mb.eager` runs is the kernel's own source, whatever code its key led to."""
    kernels = [mb.compile(lambda x, k=k: k * x, 1, key="wrong", names=["x"]) for k in (2.0, 3.0)]
    assert [kernel([1.0])[0] for kernel in kernels] == [2.0, 2.0]
    assert compilations == [1]
    with mb.eager():
        assert [kernel([1.0])[0] for kernel in kernels] == [2.0, 3.0]


def test_code_lives_as_long_as_a_kernel_that_has_it(place, compilations):
    def made():
        return mb.compile(lambda x: x * 5.0, 3)

    first, second = made(), made()
    first(np.ones(3))
    call = second.call
    del first, second
    gc.collect()
    shutil.rmtree(place)
    third = made()
    assert call(np.ones(3)).tolist() == third(np.ones(3)).tolist() == [5.0] * 3
    assert compilations == [1], "the door of the second kernel holds the code"
    del call, third
    gc.collect()
    shutil.rmtree(place, ignore_errors=True)
    made()(np.ones(3))
    assert compilations == [1, 1]


def test_scans_share_code(compilations, monkeypatch):
    monkeypatch.setattr(code_cache, "_alive", type(code_cache._alive)())

    def step(x, u):
        return 0.25 * x + u, x

    scans = [mb.compile_scan(step, 2, [2]), mb.compile_scan(lambda y, v: (0.25 * y + v, y), 2, [2])]
    assert [scan(np.ones(2), np.ones((3, 2)))[0].tolist() for scan in scans] == [[1.328125] * 2] * 2
    assert len(compilations) <= 1
    assert scans[0]._code is scans[1]._code
    assert [scan.name for scan in scans] == ["step", "<lambda>"]
    other = mb.compile_scan(lambda x, p: (0.25 * x + p, x), 2, [], [2])
    assert other._code is not scans[0]._code, "what moves and what stays is part of the key"


def test_threads_that_make_one_kernel_share_its_code(monkeypatch):
    monkeypatch.setattr(code_cache, "_alive", type(code_cache._alive)())
    kernels, barrier = [], threading.Barrier(8)

    def make():
        barrier.wait()
        kernels.append(mb.compile(lambda x: np.cos(x) / 7.0, 2))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(kernel._code) for kernel in kernels}) == 1
    assert len({kernel(np.ones(2)).tobytes() for kernel in kernels}) == 1


@pytest.mark.usefixtures("place")
def test_of_threads_that_want_one_kernel_one_traces_and_compiles_it(compilations):
    """The others wait for it, where they come first: to trace, and to compile for a batch or a sample."""
    traces, results, barrier = [], [], threading.Barrier(6)

    def function(x):
        traces.append(threading.get_ident())
        time.sleep(0.05)  # all others are there by now
        return np.sin(x) / 13.0

    def work():
        barrier.wait()
        results.append(mb.compile(function, 2, key="six threads")(np.ones((5, 2))).tobytes())

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(traces) == 1
    assert len(compilations) == 1
    assert len(results) == 6
    assert len(set(results)) == 1


@pytest.mark.usefixtures("place")
def test_without_a_cache_nothing_is_shared(compilations, monkeypatch):
    monkeypatch.setattr(mb.config, "cache", False)
    kernels = [mb.compile(lambda x: x / 11.0, 3, key="off") for _ in range(2)]
    assert kernels[0](np.ones(3)).tobytes() == kernels[1](np.ones(3)).tobytes()
    assert len(compilations) == 2
    assert kernels[0]._code is not kernels[1]._code


# ---- verified --------------------------------------------------------------------------------------------------------


def test_compilation_is_deterministic():
    """Code for code, in one process; `test_verified_in_the_next_process` has two."""

    def function(x):
        for k in range(400):
            x = x * x[::-1] + np.sin(x) * k
        return x, np.exp(x)

    forms, _ = variants.modules_of(mb.compiler.compile.trace(function, [2]))
    assert len(forms) == 2
    for texts in forms.values():
        assert native.compile_objects(texts) == native.compile_objects(texts)


@pytest.mark.usefixtures("place")
def test_verified_within_a_process(monkeypatch):
    monkeypatch.setattr(mb.config, "verify", True)
    right = mb.compile(lambda x: 2.0 * x, 1, key="verified")
    for kept in ("source", "object code"):
        assert mb.compile(lambda x: 2.0 * x, 1, key="verified")._code is right._code
        with pytest.raises(CacheError, match=rf"^<lambda>: the cached code in this process .*: graph, {kept}"):
            mb.compile(lambda x: 3.0 * x, 1, key="verified")
        right([1.0])
    with pytest.raises(CacheError, match="inputs"):
        mb.compile(lambda y: 2.0 * y, 1, key="verified")


RUN = textwrap.dedent("""
    import numpy as np
    import multibody as mb
    def double(x):
        return 2.0 * x
    def triple(x):
        return 3.0 * x
    def walk(x, u):
        return 0.5 * x + u, None
    def run(x, u):
        return 0.5 * x - u, None
    def show():
        print(mb.compile(double, 1, key="double")([1.0])[0], mb.compile(triple, 1, key="triple")([1.0])[0])
        print(*(mb.compile_scan(step, 1, [1])([2.0], np.ones((1, 1)))[0][0] for step in (walk, run)))
""")


def process(code, cached="on"):
    done = subprocess.run(
        [sys.executable, "-c", RUN + code],
        env={**os.environ, "MULTIBODY_CACHE_MODE": cached}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.split(), done.stderr.strip().split("\n")[-1]


RIGHT = (["2.0", "3.0", "2.0", "0.0"], "")


def read(path):
    """The header and the object code of an entry."""
    head, _, rest = path.read_bytes()[LENGTH:].partition(b"\n")
    return json.loads(head), rest


def write(path, header, rest):
    """An entry that looks right."""
    body = json.dumps({**header, "key": path.name}).encode() + b"\n" + rest
    path.write_bytes(disk_cache._MAGIC + sha256(body).digest() + body)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A cache with two kernels and two scans, which tests copy."""
    kernels = tmp_path_factory.mktemp("shown") / "kernels"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MULTIBODY_CACHE_DIR", str(kernels))
        assert process("show()") == RIGHT
    return kernels


@pytest.fixture
def pairs(shown, place):
    """Files of two kernels, and of two scans, with the same arguments: a pair can change places."""
    shutil.copytree(shown, place)
    pairs: dict[str, list[Path]] = {}
    for path in (path for path in place.iterdir() if path.suffix != ".alias"):
        header, _ = read(path)
        pairs.setdefault("scan" if len(header["inputs"]) > 1 else "kernel", []).append(path)
    assert [len(pair) for pair in pairs.values()] == [2, 2]
    return pairs


@pytest.mark.usefixtures("pairs")
def test_verified_in_the_next_process():
    assert process("show(); show()", "verify") == (RIGHT[0] * 2, "")


@pytest.mark.parametrize(
    "case",
    sampled([("kernel", "entry"), ("scan", "entry"), ("scan", "objects"), ("kernel", "objects")], every=2),
    ids="-".join,
)
def test_a_planted_entry_is_caught(pairs, case):
    kind, planted = case
    one, other = pairs[kind]
    header, _ = read(other if planted == "entry" else one)
    foreign, code = read(other)
    write(one, {**header, "parts": foreign["parts"]}, code)
    wrong, _ = process("show()")
    assert wrong != RIGHT[0], "it is trusted otherwise"
    output, error = process("show()", "verify")
    assert output != wrong
    names = "double|triple" if kind == "kernel" else "walk|run"
    parts = "graph, (ops, )?object code differ" if planted == "entry" else "object code differ"
    assert [*re.findall(rf"CacheError: ({names}): .* in the file {re.escape(str(one))} .*: {parts}", error)], error


def test_words_of_the_environment(monkeypatch):
    words = {"": (True, False), "off": (False, False), "verify": (True, True), "VERIFY": (True, True)}
    for word, (cache, verify) in words.items():
        monkeypatch.setenv("MULTIBODY_CACHE_MODE", word)
        settings = _from_environment()
        assert (settings.cache, settings.verify) == (cache, verify)
    assert process("print(mb.config.cache, mb.config.verify)", "off")[0] == ["False", "False"]
    assert (
        "InputError: MULTIBODY_CACHE_MODE: expected on, off or verify, got 'verfy'" in process("mb.config", "verfy")[1]
    )
