"""Code for every level of x86-64 that the machine has, asked for by $MULTIBODY_CPU."""

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from multibody import InputError
from multibody.compiler.codegen import target

HERE = Path(__file__).parent
SAMPLE = {
    "test_kernel.py": "single_calls or bad_sample or eager or single_operations or fused",
    "test_kernel_life.py": "cross_segments and not 900",
    "test_store_outputs.py": "not machines",
    "test_scan.py": "pickle or eager",
    "test_unit_quaternions.py": "",
    "test_operations.py": "pivots",
}
"""Tests of every kind of code: all operations, segments, rows in and out, scans, the door."""


def where_it_is(level):
    return [] if level in target.levels() else [pytest.mark.skip(reason="not on this machine")]


def where_it_is_another(level):
    """By default only with other operations: test_lanes and test_store_outputs.py have vectors of every length."""
    same = target.LEVELS[level].fma == target.host().fma
    return [*where_it_is(level), *([pytest.mark.slow] if same else [])]


every_level = pytest.mark.parametrize(
    "level", [pytest.param(level, marks=where_it_is(level)) for level in target.LEVELS]
)


def process(level, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "MULTIBODY_CPU": level}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("level", [pytest.param(level, marks=where_it_is_another(level)) for level in target.LEVELS])
def test_a_sample_of_the_suite(level):
    names = " or ".join(f"({file} and ({words}))" if words else file for file, words in SAMPLE.items())
    files = [str(HERE / file) for file in SAMPLE]
    done = process(level, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *files, "-k", names)
    assert done.returncode == 0, done.stdout


RUN = textwrap.dedent("""
    import pickle, sys
    import numpy as np
    import multibody as mb
    from multibody.compiler.codegen import target
    def function(x):
        return np.sin(x) @ np.exp(x) * x - x[::-1] / 3.0
    kernel = mb.compile(function, 6)
    x = np.random.default_rng(0).uniform(-1, 1, (21, 6))
    asm = kernel.asm
    wide = [register for register in ("xmm", "ymm", "zmm") if register in asm]
    print((target.host().lanes, wide[-1], "vfma" in asm or "vfnma" in asm or "vfms" in asm))
    np.save(sys.argv[1] + ".npy", kernel(x))
    with open(sys.argv[1], "wb") as file:
        pickle.dump(kernel, file)
""")


@every_level
def test_lanes_and_fused_operations_follow_the_level(level, tmp_path, monkeypatch):
    """Without fused operations, results differ in their last bits from those of this machine; so do keys and code."""
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path / "kernels"))
    outputs = {cpu: process(cpu, "-c", RUN, str(tmp_path / cpu)) for cpu in ("native", level)}
    assert not any(done.stderr for done in outputs.values())
    expected = {"x86-64-v2": (2, "xmm", False), "x86-64-v3": (4, "ymm", True), "x86-64-v4": (8, "zmm", True)}[level]
    assert outputs[level].stdout.strip() == str(expected)
    assert len(list((tmp_path / "kernels").iterdir())) == 2
    other = "native" if target.host().cpu == level else level
    with pytest.raises(InputError, match=r"function: expected code for .*, got code for .*: compile it here"):
        pickle.loads((tmp_path / other).read_bytes())
    results = [np.load(tmp_path / f"{cpu}.npy") for cpu in outputs]
    np.testing.assert_allclose(*results, rtol=0, atol=1e-14)


@pytest.mark.parametrize("word", ["x86-64-v5", "v3", "znver4", "X86-64-V3"])
def test_unknown_levels_are_refused(word, monkeypatch):
    monkeypatch.setenv("MULTIBODY_CPU", word)
    there = ", ".join(["native", *target.levels()])
    with pytest.raises(InputError, match=f"^MULTIBODY_CPU: expected {there}, got '{word}', which is not known$"):
        target.host.__wrapped__()


@pytest.mark.parametrize("without", ["avx512f", "avx512vl", "fma", "movbe", "popcnt"])
def test_levels_that_the_machine_has_not_are_refused(without, monkeypatch):
    """A level needs all features of those below."""
    everything = {feature for level in target.LEVELS.values() for feature in level.features}
    monkeypatch.setattr(target.llvm, "get_host_cpu_features", lambda: dict.fromkeys(everything - {without}, True))
    count = {"avx512f": 2, "avx512vl": 2, "fma": 1, "movbe": 1, "popcnt": 0}[without]
    assert target.levels() == list(target.LEVELS)[:count]
    for position, level in enumerate(target.LEVELS):
        monkeypatch.setenv("MULTIBODY_CPU", level)
        if position < count:
            assert target.host.__wrapped__().cpu == level
        else:
            with pytest.raises(InputError, match=f"got '{level}', which this machine is not"):
                target.host.__wrapped__()


@pytest.mark.parametrize("word", ["", "native"])
def test_the_machine_itself(word, monkeypatch):
    monkeypatch.delenv("MULTIBODY_CPU", raising=False)
    here = target.host.__wrapped__()
    monkeypatch.setenv("MULTIBODY_CPU", word)
    assert target.host.__wrapped__() == here
