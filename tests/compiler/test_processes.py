"""Kernels and processes: pickles, fork and spawn, and Ctrl-C, which is heard within a second and breaks nothing."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, Pose
from multibody.compiler.codegen import target

from ..cpu_time import cpu_limit

posix = pytest.mark.skipif(os.name != "posix", reason="no fork, no signals")
X = np.random.default_rng(0).uniform(-1, 1, (300, 6))


def function(x):
    return np.sin(x) @ np.cos(x) + x, Pose.exp(x).position


def bits(result):
    return [np.ascontiguousarray(part).tobytes() for part in result]


# ---- pickles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pickle(dtype):
    kernel = mb.compile(lambda x: function(x), 6, dtype=dtype)  # lambdas cannot be pickled
    x = X.astype(dtype)
    twin = pickle.loads(pickle.dumps(kernel))
    assert isinstance(twin, mb.Kernel)
    assert repr(twin) == repr(kernel)
    assert bits(twin(x)) == bits(kernel(x))
    assert bits(twin(x[3])) == bits(kernel(x[3]))
    assert bits(twin(pickle.loads(pickle.dumps(x[3])))) == bits(kernel(x[3]))
    again = pickle.loads(pickle.dumps(twin))
    assert bits(again(x=x, threads=2)) == bits(kernel(x))
    with pytest.raises(InputError, match="only its code is here"):
        _ = twin.ir
    expected = bits(kernel(x))
    with mb.eager():  # it has no source to run
        assert bits(twin(x)) == expected


def test_pickles_take_the_fast_path():
    """Neither a kernel nor an array from a pickle is slower than the original."""
    twin = pickle.loads(pickle.dumps(mb.compile(function, 6)))
    sample, out = pickle.loads(pickle.dumps(X[0])), (np.empty((300, 6)), np.empty((300, 3)))
    twin(X[0])  # each variant is linked at its first call, by the general path
    frames = []
    sys.setprofile(lambda frame, event, _: frames.append(frame.f_code.co_name) if event == "call" else None)
    try:
        twin(X[0])
        twin(sample)
        twin(X, out=out)
        fast = list(frames)
        twin(X[0].tolist())
    finally:
        sys.setprofile(None)
    assert "general" not in fast
    assert "general" in frames, "lists take the general path, and are seen here"


def test_pickles_of_nested_results():
    kernel = mb.compile(lambda x: {"pose": Pose.exp(x), "list": [x]}, 6)
    twin = pickle.loads(pickle.dumps(kernel))
    assert twin(X)["pose"] == kernel(X)["pose"]
    assert twin(X[0])["pose"] == kernel(X[0])["pose"]


def test_a_pickle_of_another_machine_is_refused(monkeypatch):
    kernel = mb.compile(function, 6)
    here = target.host()
    monkeypatch.setattr(target, "host", lambda: here._replace(cpu="z80", features="+nothing"))
    data = pickle.dumps(kernel)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"expected code for .*, got code for z80"):
        pickle.loads(data)


# ---- other processes -------------------------------------------------------------------------------------------------


def call(kernel, x, threads):
    return bits(kernel(x, threads=threads))


def compile_and_call(x):
    return bits(mb.compile(function, 6)(x, threads=2))


@posix
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_pools(method, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([p for p in sys.path if p]))
    kernel = mb.compile(function, 6)
    expected = bits(kernel(X, threads=2))  # threads exist before the fork
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(call, [(kernel, X, threads) for threads in (1, 2)]) == [expected] * 2
        assert pool.map(compile_and_call, [X, X]) == [expected] * 2
    assert bits(kernel(X, threads=2)) == expected


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_other_threads_compile_and_run(monkeypatch):
    """A child must not inherit a lock that a thread of its parent holds."""
    monkeypatch.setattr(mb.config, "cache", False)
    kernel, stop = mb.compile(function, 6), threading.Event()
    expected = bits(kernel(X))

    def busy():
        while not stop.is_set():
            assert bits(mb.compile(function, 6)(X, threads=2)) == expected

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):
            child = os.fork()
            if not child:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest-timeout has it
                signal.alarm(200)
                good = bits(kernel(X, threads=2)) == expected and compile_and_call(X) == expected
                os._exit(0 if good else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_threads_while_python_ends():
    code = """
        import atexit
        import numpy as np
        import multibody as mb
        kernel = mb.compile(lambda x: 2 * x, 3)
        atexit.register(lambda: print(kernel(np.ones((100, 3)), threads=4).sum()))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["600.0"]
    assert not done.stderr


# ---- Ctrl-C ----------------------------------------------------------------------------------------------------------

PREFACE = """
import os, signal, sys, threading, time
import numpy as np
import multibody as mb
mb.config.cache = False
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it from birth

def interrupt(after):
    # when so much CPU time is used: on a busy machine as far into the work as on an idle one
    def send():
        while time.process_time() < begun + after:
            time.sleep(0.001)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    sent, begun = [], time.process_time()
    threading.Thread(target=send, daemon=True).start()
    return sent

def stopped(work, after=0.15):
    sent = interrupt(after)
    try:
        work()
    except KeyboardInterrupt:
        took = time.process_time() - sent[0]
        assert took < {limit}, took  # of CPU time, of all threads
        print("heard after", took)
    else:
        raise SystemExit("ended before the signal came" if not sent else "never heard")
"""
LIMIT = 2.0
"""Seconds of CPU time, of two threads at most."""


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", PREFACE.replace("{limit}", str(cpu_limit(LIMIT))) + textwrap.dedent(code)],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@posix
def test_interrupted_batch():
    said = run("""
        kernel = mb.compile(lambda x: mb.loop(3000, lambda y: np.sin(y) + x, x), 10)
        x = np.random.default_rng(0).uniform(-1, 1, (20000, 10))
        singles = np.stack([kernel(row) for row in x[:9]])
        for threads in (1, 2):
            for out in (None, np.empty_like(x)):
                stopped(lambda: [kernel(x, threads=threads, out=out) for _ in range(100)])
                assert kernel(x[:9], threads=threads).tobytes() == singles.tobytes()
    """)
    assert said.count("heard after") == 4


@posix
def test_interrupted_batches_through_the_door():
    """Batches that the door runs itself are short, whatever the kernel costs."""
    run("""
        kernel = mb.compile(lambda x: np.power(np.abs(x), x * x[::-1]), 50)
        x = np.random.default_rng(0).uniform(-1, 1, (200000, 50))
        out = np.empty_like(x)
        stopped(lambda: [kernel(x, out=out) for _ in range(300)])
        kernel(x[:3], out=out[:3])
    """)


@posix
def test_interrupted_scan():
    said = run("""
        slow = lambda x: np.sin(np.sin(np.sin(np.sin(x))))  # long enough for the signal to come on any machine
        scan = mb.compile_scan(lambda x, u: (slow(slow(x)) + u, x[:1]), 4, [4])
        x, u = np.zeros((64, 4)), np.broadcast_to(np.ones(4), (2_000_000, 4))
        for every in (1, 7, 10**9):
            for threads in (1, 2):
                stopped(lambda: scan(x, u, every=every, threads=threads))
                last, _ = scan(x, u[:100], every=10)
                assert last.shape == (64, 4)
    """)
    assert said.count("heard after") == 6


@posix
def test_interrupted_compilation():
    run("""
        from multibody.compiler import compile as compiling
        from multibody.compiler.codegen import variants
        from multibody.compiler.runtime import native

        def function(rounds):
            def run(x):
                for k in range(rounds):
                    x = x * x[::-1] + np.sin(x) * k
                return x
            return run

        stopped(lambda: mb.compile(function(100_000), 2))  # while it is traced
        traced = compiling.trace(function(5_000), [2])
        texts = variants.modules_of(traced)[0]["kernel"]
        stopped(lambda: variants.modules_of(traced), 0.05)
        for after in (0.01, 0.1, 0.2):
            stopped(lambda: [native.compile_object(text) for text in texts], after)
        assert mb.compile(lambda x: 2 * x, 2)(np.ones(2)).tolist() == [2.0, 2.0]
        assert mb.compile(function(300), 2)(np.ones((9, 2)), threads=2).shape == (9, 2)
    """)
