"""The counter of blocks in which calls take the general path: raised by eager blocks and traces, right after a fork."""

import os
import signal
import threading

import pytest

import multibody as mb
from multibody.tracing.record import general_path as counter
from multibody.tracing.record.general_path import OPEN_BLOCKS
from multibody.tracing.record.trace import trace


def test_eager_blocks_and_traces_raise_the_counter():
    seen = []
    with mb.eager(), mb.eager():
        seen.append(OPEN_BLOCKS.value)
        trace(lambda x: seen.append(OPEN_BLOCKS.value) or x, [3])
    with pytest.raises(ZeroDivisionError):
        trace(lambda x: x / (1 // 0), [3])
    assert seen == [2, 3]
    assert OPEN_BLOCKS.value == 0


def in_child(function) -> int:
    """The exit status of a forked child that runs a function; it is killed if it hangs."""
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # pytest-timeout has it
        signal.alarm(200)
        try:
            os._exit(int(function()))
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_keeps_only_the_eager_blocks_of_its_thread():
    opened, leave = threading.Event(), threading.Event()

    def other():
        with mb.eager():
            opened.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    opened.wait()
    try:
        assert in_child(lambda: OPEN_BLOCKS.value) == 0
        with mb.eager(), mb.eager():
            assert in_child(lambda: OPEN_BLOCKS.value) == 2
    finally:
        leave.set()
        thread.join()
    assert OPEN_BLOCKS.value == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_wait_for_a_lock_of_another_thread():
    def use() -> int:
        with mb.eager():
            return OPEN_BLOCKS.value

    held, leave = threading.Event(), threading.Event()

    def other():
        with counter._lock.hold():
            held.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    held.wait()
    try:
        assert in_child(use) == 1
    finally:
        leave.set()
        thread.join()
