"""From text to code in memory."""

import numpy as np

import multibody as mb
from multibody.compiler import native
from multibody.compiler.batch_and_single import SINGLE


def test_long_compilations_tell_how_far_they_are(monkeypatch, caplog):
    monkeypatch.setattr(mb.config, "cache", False)
    monkeypatch.setattr(native, "MANY_MODULES", 2)

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
    count = len(kernel._code.entry.objects[SINGLE])
    assert count >= 2
    assert [r.getMessage() for r in caplog.records] == [f"compiling: module {k + 1} of {count}" for k in range(count)]
