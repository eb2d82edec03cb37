"""The line about a long compilation: one in a terminal, one every 30 seconds in a pipe."""

import io
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

import multibody as mb
from multibody.compiler.runtime import progress

SLOW = """
import os, sys, threading
import numpy as np
import multibody as mb
from multibody.compiler.runtime import native, progress
progress.SILENT_SECONDS, progress.REFRESH_INTERVAL, compile_object = 0.05, 0.01, native.compile_object
class Observed:
    def __init__(self, stream):
        self.stream, self.wrote = stream, threading.Event()
    def write(self, text):
        self.stream.write(text)
        if "module" in text:
            self.wrote.set()
    def __getattr__(self, name):
        return getattr(self.stream, name)
observed = sys.stderr = Observed(sys.stderr)
def slowly(*args, **named):
    if progress._current.get() is not None:  # it is reported
        WAIT
    return compile_object(*args, **named)
native.compile_object = slowly
mb.config.cache = False
"""
SAID = SLOW.replace("WAIT", "assert observed.wrote.wait(200)")
"""Each compilation takes until the line is written."""
SILENT = SLOW.replace("WAIT", "observed.wrote.wait(0.3)")
ENDLESS = SLOW.replace("WAIT", "threading.Event().wait(200)")
COMPILE = "assert mb.compile(lambda x: 2 * x, 2)([1.0, 2.0])[1] == 4.0\n"
IN_THREADS = """
import threading
kernels = [mb.compile(lambda x, k=k: k * x, 2) for k in range(4)]
threads = [threading.Thread(target=kernel, args=([1.0, 2.0],)) for kernel in kernels]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def in_terminal(code: str, interrupt: str = "") -> str:
    """What a terminal gets from a process; where it is to be interrupted, once it has written a text."""
    parent, child = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=child, stderr=child, env=environment)
    os.close(child)
    said = b""
    with suppress(OSError):  # what Linux raises when the other end is closed
        while part := os.read(parent, 4096):
            said += part
            if interrupt and interrupt.encode() in said:
                process.send_signal(signal.SIGINT)
                interrupt = ""
    os.close(parent)
    process.wait()
    return said.decode()


def screen(said: str) -> list[str]:
    """The lines that stand in a terminal at the end."""
    lines = []
    for line in said.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return [line for line in lines if line]


def test_a_terminal_has_one_line_that_goes_away():
    said = in_terminal(f"{SAID}{COMPILE}print('done')")
    assert "multibody: compiling <lambda>, module 1 of " in said
    assert said.count("\n") == 1
    assert screen(said) == ["done"]


@pytest.mark.parametrize(("wanted", "told"), [('"auto"', False), ("False", False), ("True", True)])
def test_a_pipe_has_it_only_on_request(wanted, told):
    code = f"{SAID if told else SILENT}mb.config.progress = {wanted}\n{COMPILE}"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert done.stdout == b""
    assert (b"compiling" in done.stderr) == told
    assert screen(done.stderr.decode()) == []


def test_it_can_be_switched_off_in_a_terminal():
    assert in_terminal(f"{SILENT}mb.config.progress = False\n{COMPILE}") == ""


def test_threads_share_the_line():
    said = in_terminal(f"{SAID}{IN_THREADS}print('done')")
    assert "compiling" in said
    assert said.count("\n") == 1
    assert screen(said) == ["done"]


def test_an_interrupted_compilation_leaves_a_clean_line():
    code = f"{ENDLESS}try:\n    {COMPILE.strip()}\nexcept KeyboardInterrupt:\n    print('stopped')"
    assert screen(in_terminal(code, interrupt="compiling")) == ["stopped"]


def test_a_forked_child_writes_a_line_of_its_own():
    fork = "with progress.compiling('parent'):\n    child = os.fork()\n"
    code = f"{SILENT}{fork}if not child:\n    {COMPILE.strip()}\n    os._exit(0)\nprint(os.waitpid(child, 0)[1])"
    said = in_terminal(code)
    assert screen(said) == ["0"]


def test_a_child_forked_while_the_line_is_written_ends(monkeypatch):
    monkeypatch.setattr(mb.config, "progress", True)
    with progress.compiling("parent"):
        line = progress._line
        with line.lock:  # as the thread that refreshes the line may have it
            child = os.fork()
            if not child:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest-timeout has it
                signal.alarm(200)
        if not child:
            line.lock.acquire()
    if not child:
        with progress.compiling("child"), progress.hidden():
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that a test sets, in place of the module time; `looks` counts how often somebody slept."""

    def __init__(self):
        self.now, self.looks = 0.0, 0

    def monotonic(self):
        return self.now

    def sleep(self, _):
        time.sleep(0.002)
        self.looks += 1

    def wait_for_looks(self, count):
        last = self.looks + count
        wait(lambda: self.looks >= last)


def wait(condition):
    end = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_a_compilation_of_less_than_half_a_second_is_not_reported(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with progress.compiling("quick"):
        clock.now = 0.4
        clock.wait_for_looks(3)
        assert sys.stderr.getvalue() == ""
        clock.now = 0.6
        wait(sys.stderr.getvalue)


def test_a_pipe_has_a_line_every_thirty_seconds(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(mb.config, "cache", True)
    with progress.compiling("work"):
        for now, count in ((29.0, 0), (31.0, 1), (59.0, 1), (61.0, 2)):
            clock.now = now
            progress.say(f"module {count} of 7")
            wait(lambda count=count: sys.stderr.getvalue().count("\n") >= count)
            clock.wait_for_looks(3)
            assert sys.stderr.getvalue().count("\n") == count
    assert sys.stderr.getvalue().split("\n") == [
        *(f"multibody: compiling work, module {k} of 7, {s} s; once, then cached" for k, s in ((1, 31), (2, 61))), ""
    ]  # fmt: skip


@pytest.mark.parametrize("cache", [False, True])
def test_the_line_fits_a_terminal_whatever_the_name(monkeypatch, cache):
    monkeypatch.setattr(mb.config, "cache", cache)
    compilation = progress._Compilation("derivatives_of_something_that_has_a_very_long_name")
    compilation.stage = "module 12 of 33"
    tail = "..., module 12 of 33, 0 s" + "; once, then cached" * cache
    assert str(compilation).startswith("multibody: compiling derivatives_o")
    assert str(compilation).endswith(tail)
    assert len(str(compilation)) <= 79
    compilation.stage, compilation.start = "module 112 of 233", compilation.start - 1234.0  # the longest that was met
    assert str(compilation).endswith("of 233, 1234 s" + "; once, then cached" * cache)


def test_another_sign_of_life_has_the_line_to_itself(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    with progress.hidden(), progress.compiling("hidden"):
        clock.now = 10.0
        clock.wait_for_looks(3)
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_a_notebook_is_watched_and_a_dumb_terminal_is_not(monkeypatch, term):
    monkeypatch.setenv("TERM", term)
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    assert progress._is_watched(Terminal()) == (term == "xterm")
    assert progress._is_watched(notebook)
    assert not progress._is_watched(io.StringIO())
    assert not progress._is_watched(None)


def test_the_thread_ends_with_the_work(monkeypatch):
    monkeypatch.setattr(mb.config, "progress", True)
    with progress.compiling("work"):
        assert any(thread.name == "multibody-progress" for thread in threading.enumerate())
    wait(lambda: all(thread.name != "multibody-progress" for thread in threading.enumerate()))
