"""Loops that run for long: a signal is heard, in one sample, in threads and in scans."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import multibody as mb

from ..cpu_time import cpu_limit

ROUNDS = 10**10


def interrupted(call):
    """The CPU time that a call used after an interrupt, which is sent when it has used some."""
    sent = []

    def send():
        while time.process_time() < begun + 0.1:
            time.sleep(0.001)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    def run():
        sender.start()
        call()

    sender, begun = threading.Thread(target=send), time.process_time()
    with pytest.raises(KeyboardInterrupt):
        run()
    sender.join()
    return time.process_time() - sent[0]


@pytest.fixture(scope="module")
def endless():
    return mb.compile(lambda x: mb.loop(ROUNDS, lambda y: 0.999 * y + x, x), ())


@pytest.mark.parametrize(("samples", "threads"), [((), 1), ((100,), 1), ((100,), 2)], ids=str)
def test_an_interrupt_is_heard(endless, samples, threads):
    assert interrupted(lambda: endless(np.ones(samples), threads=threads)) < cpu_limit(5.0)


def test_an_interrupt_in_an_inner_loop_and_in_a_scan():
    inner = mb.compile(lambda x: mb.loop(2, lambda y: mb.loop(ROUNDS, lambda z: 0.5 * z + x, y), x), ())
    assert interrupted(lambda: inner(1.0)) < cpu_limit(5.0)
    scan = mb.compile_scan(lambda x: (mb.loop(ROUNDS, lambda y: 0.999 * y + x, x), None), ())
    assert interrupted(lambda: scan(1.0, steps=3)) < cpu_limit(5.0)


def test_it_works_after_an_interrupt(endless):
    interrupted(lambda: endless(1.0))
    short = mb.compile(lambda x: mb.loop(ROUNDS, lambda y: 0.5 * y, x, until=lambda y: y < 1e-3, rounds=True), ())
    assert short(1.0) == (2.0**-10, 10)
    y, taken = short(np.array([1.0, 3.0, 5.0]), threads=2)
    np.testing.assert_array_equal(taken, [10, 12, 13])
    np.testing.assert_array_equal(y, np.array([1.0, 3.0, 5.0]) / 2**taken)


def test_threads_ask_for_the_same_kernel():
    """Two threads trace and run the same loop at once, each with its own answer."""
    answers = {}

    def ask(n):
        kernel = mb.compile(lambda x: mb.loop(50, lambda y: 0.5 * y + x, x, until=lambda y: y > 1.9 * x), ())
        answers[n] = kernel(np.arange(1.0, 20.0) * n)

    threads = [threading.Thread(target=ask, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(answers[2], 2 * answers[1])
