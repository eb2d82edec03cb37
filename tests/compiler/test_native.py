"""From text to code in memory."""

import numpy as np

import multibody as mb
from multibody.compiler.codegen import module
from multibody.compiler.runtime import native


def test_long_compilations_tell_how_far_they_are(monkeypatch, caplog):
    monkeypatch.setattr(mb.config, "cache", False)
    monkeypatch.setattr(native, "MIN_LOGGED_MODULES", 2)

    def function(x):
        for k in range(1500):
            x = x * x[::-1] + np.sin(x) * k
        return x

    with caplog.at_level("INFO", logger="multibody"):
        mb.compile(lambda x: 2 * x, 2)(np.ones(2))
        assert not caplog.records
        kernel = mb.compile(function, 2)
        assert not caplog.records, "it is compiled when it is called"
        kernel(np.ones(2))
    count = len(caplog.records)
    assert count >= 2
    assert [r.getMessage() for r in caplog.records] == [f"compiling: module {k + 1} of {count}" for k in range(count)]


def test_long_code_is_cut_into_basic_blocks_and_has_the_same_bits(monkeypatch):
    """LLVM takes time with the square of what a block loads and stores; nothing but that time may change."""
    monkeypatch.setattr(mb.config, "cache", False)
    texts, compile_object = [], native.compile_object
    monkeypatch.setattr(native, "compile_object", lambda text, level: texts.append(text) or compile_object(text, level))

    def function(x, y):
        for k in range(40):
            x, y = np.where(x < y, x * y[::-1] + k, np.sin(x)), y - 0.1 * x * x
        return x, y

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 33, 3))
    results = []
    for lines in (10**6, 50):
        monkeypatch.setattr(module, "MAX_BLOCK_LINES", lines)
        texts.clear()
        kernel = mb.compile(function, 3, 3)
        results.append([*kernel(x, y), *kernel(x[0], y[0])])
        segment = "".join(texts).split("define internal void @kernel.0(")[1].split("\n}")[0]
        assert (segment.count("br label %") > 1) == (lines == 50)
    for uncut, cut in zip(*results, strict=True):
        np.testing.assert_array_equal(cut, uncut)


def test_only_scans_have_loop_strength_reduction(monkeypatch):
    monkeypatch.setattr(mb.config, "cache", False)
    chosen, set_option = [], native.llvm.set_option
    monkeypatch.setattr(
        native.llvm, "set_option", lambda name, option: chosen.append(option) or set_option(name, option)
    )
    mb.compile(lambda x: 2 * x, 2)(np.ones(2))
    assert "-disable-lsr=true" in chosen
    chosen.clear()
    mb.compile_scan(lambda x: (2 * x, x), 2)(np.ones(2), steps=3)
    assert chosen.count("-disable-lsr=false") == 2 * chosen.count("-enable-misched=false") > 0
    assert "-disable-lsr=true" not in chosen
