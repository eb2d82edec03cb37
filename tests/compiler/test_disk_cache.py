"""The cache on disk: found without tracing, never trusted when it is damaged or not ours, never in the way."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.cache import disk_cache
from multibody.compiler.config import _from_environment
from multibody.compiler.runtime import fastcall, native

posix = pytest.mark.skipif(os.name != "posix", reason="other rights")
owner_only = pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")


@pytest.fixture
def compiled(monkeypatch):
    """The modules that are compiled from now on."""
    fastcall._definition()
    texts = []
    original = native.compile_object
    monkeypatch.setattr(native, "compile_object", lambda *args, **kw: texts.append(args[0]) or original(*args, **kw))
    return texts


def twice(x):
    return 2.0 * x


def check(kernel):
    np.testing.assert_array_equal(kernel(np.ones((5, 3))), np.full((5, 3), 2.0))


def called(kernel):
    """The kernel, compiled."""
    kernel(np.ones(kernel.signature.inputs[0].shape))
    return kernel


def entries(place):
    """The files of code."""
    return sorted(file for file in place.iterdir() if file.suffix != ".alias")


# ---- what is found ---------------------------------------------------------------------------------------------------


def test_a_key_is_found_without_tracing(place, compiled):
    def function(x):
        traced.append(1)
        return {"a": 2.0 * x, "b": [x[0]]}

    traced = []
    first = called(mb.compile(function, 3, key="mine 1"))
    second = called(mb.compile(function, 3, key="mine 1"))
    assert len(traced) == len(compiled) == len(entries(place)) == 1
    assert repr(first) == repr(second)
    assert first.ops == second.ops
    x = np.arange(12.0).reshape(4, 3)
    for kernel in (first, second):
        found = kernel(x)
        np.testing.assert_array_equal(found["a"], 2 * x)
        np.testing.assert_array_equal(found["b"][0], x[:, 0])
    assert len(traced) == 1
    mb.compile(function, 3, key="mine 2")
    assert len(traced) == 2


def test_equal_graphs_share_an_entry(place, compiled):
    def other(x):
        return x * 2.0

    for function in (twice, other, lambda x: 2.0 * (x + 0.0), lambda x: np.stack([2 * x[0], 2 * x[1], 2 * x[2]])):
        check(mb.compile(function, 3))
    assert len(compiled) == len(entries(place)) == 1


@pytest.mark.parametrize("key", [None, "mine"])
def test_what_differs_has_entries_of_its_own(place, key, monkeypatch):
    def make(**options):
        return called(mb.compile(twice, 3, key=key, **options))

    make()
    make(dtype=np.float32)
    make(names=["y"])
    called(mb.compile(twice, 4, key=key))
    called(mb.compile(twice, (3, 1), key=key))
    monkeypatch.setattr(mb.config, "level", 1)
    make()
    assert len(entries(place)) == 6
    assert len(list(place.iterdir())) == (6 if key is None else 12), "a text key is an alias"


def test_text_keys_of_equal_graphs_share_an_entry(place, compiled):
    traced = []

    def function(x):
        traced.append(1)
        return 2.0 * x

    for key in ("first", "second", "third", "second", "first"):
        check(mb.compile(function, 3, key=key))
    assert len(traced) == 3
    assert len(compiled) == len(entries(place)) == 1
    check(mb.compile(twice, 3))
    assert len(compiled) == 1


def test_a_damaged_alias_costs_a_trace_and_nothing_else(place, compiled):
    check(mb.compile(twice, 3, key="mine"))
    (alias,) = place.glob("*.alias")
    data = alias.read_bytes()
    called(mb.compile(lambda x: 3.0 * x, 3, key="other"))
    (other,) = set(place.glob("*.alias")) - {alias}
    for wrong in (b"", b"\xff\xfe", data[:-1], b"0" * 64 + data[64:], other.read_bytes(), b"../../etc/passwd x"):
        alias.write_bytes(wrong)
        check(mb.compile(twice, 3, key="mine"))
        assert alias.read_bytes() == data
    assert len(compiled) == 2


def test_graphs_that_differ_in_small_ways(place):
    functions = [
        lambda x: x * 0.5, lambda x: x * 0.25, lambda x: x / 3, lambda x: x + 0.5, lambda x: x - 0.5,
        lambda x: np.where(x > 0, x, 0.0), lambda x: np.where(x >= 0, x, 0.0), lambda x: (x,), lambda x: [x],
        lambda x: {"a": x}, lambda x: {"b": x}, lambda x: x[::-1], lambda x: x.reshape(3, 1), lambda x: -0.0 - x,
        lambda x: mb.loop(3, lambda y: y * x, x), lambda x: mb.loop(4, lambda y: y * x, x),
        lambda x: mb.loop(3, lambda y: x * y + x, x),
    ]  # fmt: skip
    for count, function in enumerate(functions, 1):
        called(mb.compile(function, 3))
        assert len(entries(place)) == count


# ---- what is not trusted ---------------------------------------------------------------------------------------------


def damage(data):
    """Ways to spoil an entry."""
    middle = len(data) // 2
    yield "empty", b""
    yield "truncated head", data[:10]
    yield "truncated", data[:-1]
    yield "half", data[:middle]
    yield "flipped bit", data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    yield "flipped in the head", data[:3] + b"X" + data[4:]
    yield "longer", data + b"\0"
    yield "foreign", b"\x7fELF" + os.urandom(1000)
    yield "text", b"hello\n" * 50
    yield "zeros", bytes(len(data))


def test_damaged_entries_are_made_anew(place, compiled):
    check(mb.compile(twice, 3))
    (entry,) = entries(place)
    data = entry.read_bytes()
    for count, (_, spoilt) in enumerate(damage(data), 2):
        entry.write_bytes(spoilt)
        check(mb.compile(twice, 3))
        assert len(compiled) == count
        assert entry.read_bytes() == data
    check(mb.compile(twice, 3))
    assert len(compiled) == count


def test_an_entry_under_another_name_is_not_taken(place, compiled):
    called(mb.compile(twice, 3))
    (entry,) = entries(place)
    other = called(mb.compile(lambda x: 3.0 * x, 3))
    second = next(e for e in entries(place) if e != entry)
    second.write_bytes(entry.read_bytes())
    kernel = mb.compile(lambda x: 3.0 * x, 3)
    np.testing.assert_array_equal(kernel(np.ones(3)), other(np.ones(3)))
    assert len(compiled) == 3


def test_a_directory_in_place_of_an_entry(place, compiled):
    check(mb.compile(twice, 3))
    (entry,) = entries(place)
    entry.unlink()
    entry.mkdir()
    check(mb.compile(twice, 3))
    check(mb.compile(twice, 3))
    assert len(compiled) == 3
    assert entries(place) == [entry], "no scrap is left"


def test_nothing_is_pickled(place):
    called(mb.compile(lambda x: {"a": x, "b": mb.Pose.exp(x)}, 6))
    (entry,) = entries(place)
    data = entry.read_bytes()
    head = data[len(disk_cache._MAGIC) + 32 :].partition(b"\n")[0]
    assert set(json.loads(head)) >= {"key", "inputs", "outputs", "layout", "dtype", "ops", "parts"}
    assert not {"pickle", "marshal", "eval", "exec"} & set(re.findall(r"\w+", Path(disk_cache.__file__).read_text()))


# ---- where it lies ---------------------------------------------------------------------------------------------------


@posix
def test_the_directory_is_the_users_own(place):
    called(mb.compile(twice, 3))
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert [stat.S_IMODE(e.stat().st_mode) & 0o077 for e in entries(place)] == [0]


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_directory_that_others_can_write_is_refused(place, compiled, mode):
    check(mb.compile(twice, 3))
    place.chmod(mode)
    with pytest.warns(UserWarning, match="can be written by others: it is not used"):
        check(mb.compile(twice, 3))
    check(mb.compile(twice, 3))  # told once
    assert len(compiled) == 3
    place.chmod(0o755)  # others may read
    check(mb.compile(twice, 3))
    assert len(compiled) == 3


@posix
@pytest.mark.usefixtures("place")
def test_a_directory_of_another_user_is_refused(compiled, monkeypatch):
    check(mb.compile(twice, 3))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.warns(UserWarning, match="belongs to another user"):
        check(mb.compile(twice, 3))
    assert len(compiled) == 2


def test_off(place, compiled, monkeypatch):
    monkeypatch.setattr(mb.config, "cache", False)
    check(mb.compile(twice, 3))
    check(mb.compile(twice, 3, key="mine"))
    assert len(compiled) == 2
    assert not place.exists()


def test_off_by_the_environment(place, monkeypatch):
    for value in ("OFF", "0", "no", "off"):
        monkeypatch.setenv("MULTIBODY_CACHE_MODE", value)
        assert not _from_environment().cache
    code = "import multibody as mb; mb.compile(lambda x: x + 1, 2)([1.0, 2.0])"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not place.exists()


def test_the_usual_place(monkeypatch, tmp_path):
    monkeypatch.delenv("MULTIBODY_CACHE_DIR")
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert disk_cache.directory() == tmp_path / "multibody"
        monkeypatch.delenv("XDG_CACHE_HOME")
    assert disk_cache.directory().name == "multibody"
    assert disk_cache.directory().is_absolute()


@pytest.mark.usefixtures("place")
def test_without_a_home_directory_nothing_is_cached(monkeypatch, compiled):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("MULTIBODY_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    check(mb.compile(twice, 3, key="homeless"))
    check(mb.compile(twice, 3, key="homeless"))
    assert len(compiled) == 2
    assert disk_cache.directory() is None
    assert disk_cache.files() == disk_cache.clear() == []


# ---- the limit of its size -------------------------------------------------------------------------------------------


def age(file, days):
    os.utime(file, (time.time() - 86400 * days,) * 2)


def test_the_least_recently_used_files_go_first(place, monkeypatch):
    for k in range(4):
        called(mb.compile(lambda x, k=k: x + k, 3, names=["x"]))
    files = sorted(entries(place), key=lambda file: file.name)
    for days, file in enumerate(files):
        age(file, days)
    size = files[0].stat().st_size
    disk_cache.load(files[3].name)  # it counts as used now
    monkeypatch.setattr(mb.config, "cache_size", int(2.5 * size))
    disk_cache.prune()
    assert entries(place) == sorted([files[0], files[3]])
    disk_cache.prune()
    assert len(entries(place)) == 2


def test_the_limit_is_checked_when_code_is_stored(place, monkeypatch):
    called(mb.compile(lambda x: x + 1.0, 3))
    (first,) = entries(place)
    age(first, 10)
    monkeypatch.setattr(mb.config, "cache_size", first.stat().st_size + 10)
    called(mb.compile(lambda x: x + 2.0, 3))
    assert len(entries(place)) <= 1
    assert not first.exists()


def test_leftover_temporary_files_are_removed(place):
    called(mb.compile(twice, 3))
    old, new = place / ".old", place / ".new"
    old.write_text("of a process that was killed")
    new.write_text("of a process that writes it now")
    age(old, 1)
    disk_cache.prune()
    assert not old.exists()
    assert new.exists()
    assert len(disk_cache.files()) == 1


def test_clear(place):
    for k in range(3):
        called(mb.compile(lambda x, k=k: x + k, 3, names=["x"], key=f"k{k}"))
    assert len(disk_cache.files()) == 6
    age(disk_cache.files()[0].path, 3)
    assert len(disk_cache.clear(older_than=2 * 86400)) == 1
    assert len(disk_cache.clear()) == 5
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(("text", "size"), [("1000", 1000), ("3k", 3072), ("2 GiB", 2 * 2**30), ("5MB", 5 * 2**20)])
def test_the_limit_from_the_environment(monkeypatch, text, size):
    monkeypatch.setenv("MULTIBODY_CACHE_SIZE", text)
    assert _from_environment().cache_size == size


def test_the_limit_of_a_process_is_that_of_its_environment():
    code = "import multibody as mb; print(mb.config.cache_size)"
    environment = {**os.environ, "MULTIBODY_CACHE_SIZE": "3k"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 3072


def test_a_wrong_limit_is_refused(monkeypatch):
    monkeypatch.setenv("MULTIBODY_CACHE_SIZE", "much")
    with pytest.raises(
        mb.InputError, match=r"^MULTIBODY_CACHE_SIZE: expected a number of bytes such as 500M or 2G, got 'much'"
    ):
        _from_environment()


# ---- a disk that fails -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_a_place_that_cannot_be_made(tmp_path, monkeypatch, compiled):
    (tmp_path / "file").write_text("in the way")
    for place in (tmp_path / "file", tmp_path / "file" / "deeper", "/dev/null/x", "/proc/kernels"):
        monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(place))
        check(mb.compile(twice, 3))
    assert len(compiled) == 4
    assert (tmp_path / "file").read_text() == "in the way"


@owner_only
def test_a_read_only_directory(place, compiled):
    check(mb.compile(twice, 3))
    place.chmod(0o500)
    check(mb.compile(twice, 3))
    assert len(compiled) == 1
    check(mb.compile(lambda x: x + x + x - x, 3))
    assert len(entries(place)) == 1
    place.chmod(0o700)


@pytest.mark.parametrize("failing", ["os.replace", "os.fdopen", "tempfile.mkstemp", "os.unlink"])
def test_a_full_disk(place, compiled, monkeypatch, failing):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(failing, full)
        if failing == "os.unlink":
            patch.setattr("os.replace", full)
        check(mb.compile(twice, 3))
    assert not [e for e in entries(place) if not e.name.startswith(".")]
    check(mb.compile(twice, 3))
    check(mb.compile(twice, 3))
    assert len(compiled) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_disk_that_fills_while_writing(place, compiled, monkeypatch):
    real = os.fdopen

    def full(handle, *args):
        os.close(handle)
        return real(os.open("/dev/full", os.O_WRONLY), *args)

    monkeypatch.setattr(os, "fdopen", full)
    check(mb.compile(twice, 3))
    assert entries(place) == []
    assert len(compiled) == 1


# ---- several processes -----------------------------------------------------------------------------------------------

STORE = """
import os, sys
import numpy as np
from multibody.compiler.cache import disk_cache as cache
from multibody.compiler.runtime.code import Entry
entry = Entry({"inputs": []}, {"kernel": [bytes(8_000_000)]}, {"one": b"text"})
print("ready", flush=True)
while True:
    cache.store("k" * 64, entry)
"""


@posix
def test_killed_while_it_stores(place):
    """However the writer dies, an entry is whole or absent."""
    for wait in (0.0, 0.003, 0.01, 0.02, 0.05):
        writer = subprocess.Popen([sys.executable, "-c", STORE], stdout=subprocess.PIPE)
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(wait)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        found = place / ("k" * 64)
        if found.exists():
            entry = disk_cache.load("k" * 64)
            assert (entry.objects, entry.sources) == ({"kernel": [bytes(8_000_000)]}, {"one": b"text"})
    check(mb.compile(twice, 3))
    check(mb.compile(twice, 3))


def test_processes_at_once(place):
    code = textwrap.dedent("""
        import numpy as np
        import multibody as mb
        for k in range(6):
            kernel = mb.compile(lambda x: x * (k + 1) + np.sin(x), 3)
            assert np.allclose(kernel(np.ones(3)), k + 1 + np.sin(1))
    """)
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert len(entries(place)) == 6
    assert all(disk_cache.load(entry.name) is not None for entry in entries(place))


@pytest.mark.usefixtures("place")
def test_a_warm_start_does_not_trace():
    """How long it takes is measured in benchmarks/compiler_limits.py."""
    code = textwrap.dedent("""
        import numpy as np
        import multibody as mb
        def function(x):
            print("traced")
            for k in range(400):
                x = x * x[::-1] + np.sin(x) * k
            return x
        print(mb.compile(function, 2, key="warm")(np.ones(2)).shape)
    """)
    outputs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
               for _ in range(2)]  # fmt: skip
    assert outputs == [["traced", "(2,)"], ["(2,)"]]


@pytest.mark.parametrize("dtype", ["abc", "f8,,", int, object()])
def test_a_key_does_not_excuse_a_wrong_dtype(dtype):
    with pytest.raises(mb.InputError, match="dtype: expected float64 or float32, got"):
        mb.compile(lambda x: x, 3, key="wrong dtype", dtype=dtype)
