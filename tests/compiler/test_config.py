"""Settings: each is checked when it is set, and a forked child has those of the thread that forked."""

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.config import _from_environment
from multibody.compiler.runtime import workers

from ..every_law import each_case


@each_case(
    "name, value, message",
    [
        ("level", 7, r"config\.level: expected 1, 2 or 3, got 7"),
        ("level", "a", r"config\.level: expected 1, 2 or 3, got 'a'"),
        ("threads", 0, r"config\.threads: expected a positive integer, got 0"),
        ("threads", None, r"config\.threads: expected a positive integer, got None"),
        ("dtype", "int64", r"config\.dtype: expected .float64. or .float32., got 'int64'"),
        ("dtype", 3.5, r"config\.dtype: expected"),
        ("cache", "off", r"config\.cache: expected True or False, got 'off'"),
        ("verify", 1, r"config\.verify: expected True or False, got 1"),
        ("progress", "loud", r"config\.progress: expected True, False or .auto., got 'loud'"),
        ("tape", -1, r"config\.tape: expected a number of bytes, got -1"),
    ],
)
def test_a_setting_is_checked_when_it_is_set(name, value, message):
    before = getattr(mb.config, name)
    with pytest.raises(mb.InputError, match=message):
        setattr(mb.config, name, value)
    assert getattr(mb.config, name) == before


def test_an_unknown_setting_is_refused():
    with pytest.raises(AttributeError):
        mb.config.thread = 2


@pytest.mark.parametrize("name", ["MULTIBODY_CACHE", "MULTIBODY_CACHE_MODE"])
@pytest.mark.parametrize(("value", "hint"), [("/var/kernels", True), ("~/kernels", True), ("verfy", False)])
def test_a_wrong_cache_mode_is_refused_and_a_path_gets_a_hint(name, value, hint, monkeypatch):
    for other in ("MULTIBODY_CACHE", "MULTIBODY_CACHE_MODE"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(mb.InputError, match=f"^{name}: expected on, off or verify, got {value!r}") as error:
        _from_environment()
    assert ("MULTIBODY_CACHE_DIR" in str(error.value)) == hint


def test_threads_split_contiguous_batches_that_are_worth_it(monkeypatch):
    """Single samples and small batches stay on the fast path."""
    counts, run = [], workers.run

    def counted(count, threads, *args, **options):
        counts.append(threads)
        run(count, threads, *args, **options)

    monkeypatch.setattr(workers, "run", counted)
    kernel = mb.compile(lambda x: np.sin(x) @ np.cos(x) * x, 7)
    x = np.linspace(-1.0, 1.0, 7 * 50_000).reshape(-1, 7)
    kernel(x[0]), kernel(x[:3])  # compiled
    counts.clear()
    expected = kernel(x)
    assert counts == []
    monkeypatch.setattr(mb.config, "threads", 2)
    assert kernel(x).tobytes() == expected.tobytes()
    assert counts == [2]
    kernel(x[0]), kernel(x[:3])
    assert counts == [2]
