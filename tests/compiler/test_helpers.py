"""Helper processes, and the quick code that runs until their final code is ready."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.config import final_code
from multibody.compiler.runtime import code, helpers, native

PROGRAM = """
import os, signal, sys, time
import numpy as np
import multibody as mb
from multibody.compiler.runtime import code, helpers, native
code.MIN_QUICK_TEXT = native.MIN_PARALLEL_TEXT = 0
helpers.count = lambda: 1
mb.config.wait_for_code, mb.config.cache = False, False
kernel = mb.compile(lambda x: np.sin(x) * x + {number}, 3)
x = np.arange(12.0).reshape(4, 3)
"""
"""What other processes begin with: a kernel with quick code."""
SECONDS = 200.0
"""How long a test waits for an event, which comes within a second on an idle machine."""


def chain(x, y):
    """A function of some thousand operations in several modules."""
    for k in range(120):
        x, y = np.sin(x) * y + np.cos(x * y) / (1 + x * x), np.sqrt(x * x + y * y + k)
    return x @ y, x * y


@pytest.fixture
def quick(monkeypatch):
    """Let small kernels have quick code, and one helper, also on a machine with one core."""
    monkeypatch.setattr(mb.config, "wait_for_code", False)
    monkeypatch.setattr(mb.config, "cache", False)
    monkeypatch.setattr(code, "MIN_QUICK_TEXT", 0)
    monkeypatch.setattr(native, "MIN_PARALLEL_TEXT", 0)
    monkeypatch.setattr(helpers, "count", lambda: 1)


@pytest.fixture
def stopped_helpers(monkeypatch):
    """Hold final code back until the returned event is set."""
    release, compile_ = threading.Event(), helpers._compile

    def hold(process, request):
        answer = compile_(process, request)
        assert request.level == code.QUICK_LEVEL or release.wait(SECONDS)
        return answer

    monkeypatch.setattr(helpers, "_compile", hold)
    yield release
    release.set()


def until(condition, what):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def is_running(pid):
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.usefixtures("quick")
def test_final_code_takes_over_in_a_loop_of_calls_with_the_same_bits(dtype):
    kernel = mb.compile(chain, 5, 5, dtype=dtype)
    x, y = np.random.default_rng(0).normal(size=(2, 70, 5)).astype(dtype)
    first = kernel(x, y)
    before = after = 0
    while after < 3:
        is_final = bool(kernel._code.linked("kernel"))
        for results in (kernel(x, y), kernel(x, y, threads=2)):
            for result, expected in zip(results, first, strict=True):
                np.testing.assert_array_equal(result, expected)
        before, after = before + (not is_final), after + is_final
    assert before, "the first call waited for final code"
    for again in range(2):  # single samples, by quick and by final code
        for k in (0, 69):
            for result, expected in zip(kernel(x[k], y[k]), first, strict=True):
                np.testing.assert_array_equal(result, expected[k])
        if not again:
            kernel.wait()
    assert kernel._code.linked("one")


@pytest.mark.usefixtures("quick")
def test_final_code_is_that_of_a_process_that_waits():
    kernels = [mb.compile(chain, 4, 4), mb.compile(chain, 4, 4)]
    x = np.ones((9, 4))
    kernels[0](x, x)
    kernels[0].wait()
    with final_code():
        kernels[1](x, x)
    assert not kernels[1]._code._pending
    assert kernels[0]._code.entry.objects == kernels[1]._code.entry.objects


@pytest.mark.usefixtures("quick")
def test_quick_code_is_neither_stored_nor_sent(stopped_helpers, monkeypatch, tmp_path):
    monkeypatch.setattr(mb.config, "cache", True)
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path))
    kernel = mb.compile(chain, 3, 3)
    result = kernel(np.ones(3), np.ones(3))
    assert kernel._code._pending
    assert not list(tmp_path.iterdir())
    assert not kernel._code.entry.objects
    stopped_helpers.set()
    kernel.wait()
    assert len(list(tmp_path.iterdir())) == 1
    copy = pickle.loads(pickle.dumps(kernel))
    for a, b in zip(copy(np.ones(3), np.ones(3)), result, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("quick")
def test_scans_have_quick_code_and_the_same_bits():
    scan = mb.compile_scan(lambda x, u: (np.sin(x) + 0.1 * u, x), 3, [3])
    x, u = np.random.default_rng(1).normal(size=(2, 6, 20, 3))
    first = scan(x[:, 0], u)
    scan._code.wait("scan")
    for a, b in zip(first, scan(x[:, 0], u), strict=True):
        np.testing.assert_array_equal(a, b)
    assert scan._code.linked("kernel")


@pytest.mark.usefixtures("quick")
def test_modules_of_lost_helpers_are_compiled_here(monkeypatch):
    compile_ = helpers._compile

    def kill(process, request):
        process.kill()
        process.wait()
        return compile_(process, request)

    monkeypatch.setattr(helpers, "_compile", kill)
    kernel = mb.compile(chain, 3, 3)
    first = kernel(np.ones(3), np.ones(3))
    kernel.wait()
    assert kernel._code.linked("one")
    for a, b in zip(kernel(np.ones(3), np.ones(3)), first, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("quick")
def test_errors_of_helpers_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr(native, "compile_object", lambda text, _level: text.encode())
    monkeypatch.setattr(helpers, "_compile", lambda *_: 1 / 0)
    assert native.compile_objects(["one", "two", "three"]) == [b"one", b"two", b"three"]


@pytest.mark.usefixtures("quick")
def test_helpers_that_cannot_start_are_done_without(monkeypatch):
    monkeypatch.setattr(helpers.object_code, "__file__", "no such file")
    kernel = mb.compile(chain, 2, 2)
    kernel(np.ones(2), np.ones(2))
    kernel.wait()
    assert kernel._code.linked("one")


@pytest.mark.usefixtures("quick")
def test_threads_that_call_at_once_have_the_same_bits():
    kernel = mb.compile(chain, 3, 3)
    x = np.random.default_rng(2).normal(size=(8, 3))
    gate = threading.Barrier(8)

    def call(k):
        gate.wait(SECONDS)
        return [kernel(x[k], x[k])[1] for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(call, range(8)))
    kernel.wait()
    for k, row in enumerate(rows):
        for result in row:
            np.testing.assert_array_equal(result, kernel(x[k], x[k])[1])


@pytest.mark.usefixtures("quick")
def test_code_that_nobody_has_any_more_is_not_generated(stopped_helpers):
    kernels = [mb.compile(chain, n, n) for n in (2, 3)]
    for kernel, n in zip(kernels, (2, 3), strict=True):
        kernel(np.ones(n), np.ones(n))
    pending = next(iter(kernels[1]._code._pending.values()))
    del kernel, kernels[1]
    gc.collect()  # a kernel is an instance of a class of its own
    until(pending.done.is_set, "modules of a kernel that is gone were not cancelled")
    stopped_helpers.set()
    kernels[0].wait()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_helpers_end_when_their_parent_is_killed_though_a_forked_child_lives():
    program = PROGRAM.format(number=1) + (
        "kernel(x)\n"
        "kernel.wait()\n"
        "(process,) = helpers._state.processes\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os.close(1)\n"
        "    os.close(2)\n"
        "    time.sleep(1000)\n"
        "print(process.pid, child, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    parent = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert parent.returncode == -signal.SIGKILL, parent.stderr
    helper, child = map(int, parent.stdout.split())
    try:
        until(lambda: not is_running(helper), "the helper outlives its parent")
        assert is_running(child)
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_has_quick_code_and_makes_its_final_code():
    program = PROGRAM.format(number=2) + (
        "import threading\n"
        "release, original = threading.Event(), helpers._compile\n"
        "helpers._compile = lambda process, request: (\n"
        "    (request.level == 0 or release.wait(200)) and original(process, request)\n"
        ")\n"
        "expected = kernel(x)\n"
        "assert kernel._code._pending\n"
        "child = os.fork()\n"
        "helpers._compile = original\n"
        "if not child:\n"
        "    assert np.array_equal(kernel(x), expected)\n"
        "    kernel.wait()\n"
        "    assert kernel._code.linked('kernel') and np.array_equal(kernel(x), expected)\n"
        "    other = mb.compile(lambda x: np.cos(x) * x, 3)\n"
        "    result = other(x)\n"
        "    other.wait()\n"
        "    assert np.array_equal(other(x), result)\n"
        "    sys.exit(0)\n"
        "release.set()\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "kernel.wait()\n"
        "assert np.array_equal(kernel(x), expected)\n"
        "print('done')\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=2 * SECONDS)
    assert (result.stdout, result.returncode) == ("done\n", 0), result.stderr


def test_a_process_ends_at_once_while_final_code_is_generated():
    program = PROGRAM.format(number=3) + (
        "import threading\n"
        "original = helpers._compile\n"
        "helpers._compile = lambda process, request: (\n"
        "    original(process, request) if request.level == 0 else threading.Event().wait(1000)\n"
        ")\n"
        "helpers.JOIN_SECONDS = 0.1\n"
        "kernel(x)\n"
        "assert kernel._code._pending\n"
        "print('done')\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=2 * SECONDS)
    assert (result.stdout, result.stderr, result.returncode) == ("done\n", "", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals to a group")
def test_an_interrupt_is_for_the_process_and_not_for_its_helpers():
    program = PROGRAM.format(number=4) + (
        "kernel(x)\n"
        "kernel.wait()\n"
        "(process,) = helpers._state.processes\n"
        "try:\n"
        "    os.killpg(os.getpgid(0), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
        "assert process.poll() is None\n"
        "other = mb.compile(lambda x: np.cos(x) * x, 3)\n"
        "other(x)\n"
        "other.wait()\n"
        "assert process.poll() is None and helpers._state.processes == {process}\n"
    )
    run = [sys.executable, "-c", f"import signal\nsignal.signal(2, signal.default_int_handler)\n{program}"]
    result = subprocess.run(run, capture_output=True, text=True, timeout=2 * SECONDS, start_new_session=True)
    assert (result.stdout, result.returncode) == ("interrupted\n", 0), result.stderr


def test_processes_that_share_their_cores_have_no_helpers(monkeypatch):
    monkeypatch.setattr(mb.config, "helpers", True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(8)), raising=False)
    monkeypatch.delitem(sys.modules, "mpi4py", raising=False)  # other tests import it
    for name in helpers.MPI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert helpers.count() == helpers.MAX_HELPERS
    with monkeypatch.context() as patch:
        patch.setattr(mb.config, "helpers", False)
        assert helpers.count() == 0
    with monkeypatch.context() as patch:
        patch.setattr(sys, "frozen", True, raising=False)
        assert helpers.count() == 0
    for executable in ("", None, os.devnull):  # os.devnull: a program that embeds Python
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", executable)
            assert helpers.count() == 0
    with monkeypatch.context() as patch:
        patch.setenv("PMI_RANK", "0")
        assert helpers.count() == 0
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0}, raising=False)
    assert helpers.count() == 0


def test_workers_of_studies_have_no_helpers():
    program = (
        "import multiprocessing, os\n"
        "from multibody.compiler.runtime import helpers\n"
        "os.sched_getaffinity = lambda _pid: {0, 1}\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "        print(helpers.count(), pool.apply(helpers.count))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in helpers.MPI_VARIABLES}
    environment["MULTIBODY_HELPERS"] = "on"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert result.stdout == "1 0\n", result.stderr


@pytest.mark.parametrize("name", ["MULTIBODY_WAIT", "MULTIBODY_HELPERS"])
def test_switches_of_the_environment(name):
    program = f"import multibody as mb; print(mb.config.{'wait_for_code' if 'WAIT' in name else 'helpers'})"
    results = {}
    for value in ("1", "off", "maybe"):
        run = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | {name: value}
        )
        results[value] = run.stdout or run.stderr.splitlines()[-1]
    assert results["1"] == "True\n"
    assert results["off"] == "False\n"
    assert results["maybe"].endswith(f"{name}: expected on or off, got 'maybe'")
