"""From text to code in memory."""

import numpy as np

import multibody as mb
from multibody.compiler import native


def test_long_compilations_tell_how_far_they_are(monkeypatch, caplog):
    monkeypatch.setattr(mb.config, "cache", False)
    monkeypatch.setattr(native, "MANY_MODULES", 3)

    def function(x):
        for k in range(1500):
            x = x * x[::-1] + np.sin(x) * k
        return x

    with caplog.at_level("INFO", logger="multibody"):
        mb.compile(lambda x: 2 * x, 2)
        assert not caplog.records
        kernel = mb.compile(function, 2)
    count = len(kernel._code.objects)
    assert count >= 3
    assert [r.getMessage() for r in caplog.records] == [f"compiling: module {k + 1} of {count}" for k in range(count)]
