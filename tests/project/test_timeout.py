"""A test that hangs fails, with the stack of every thread, and the tests after it run."""

import subprocess
import sys

import pytest

HANGS = """
import threading

def wait_in_a_thread(event):
    event.wait()

def wait_for_ever(event):
    event.wait()

def test_that_hangs():
    event = threading.Event()
    threading.Thread(target=wait_in_a_thread, args=(event,), daemon=True).start()
    wait_for_ever(event)

def test_after_it():
    pass
"""


def test_every_test_has_a_time_limit(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) >= 60
    assert pytestconfig.getini("timeout_method") == "signal"


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_hang_is_a_failure_with_stacks(tmp_path, workers):
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 1\ntimeout_method = signal\n")
    (tmp_path / "test_hang.py").write_text(HANGS)
    command = [sys.executable, "-m", "pytest", "-n", workers, "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "Timeout" in done.stdout
    assert "in wait_for_ever" in done.stdout or "def wait_for_ever" in done.stdout
    assert "in wait_in_a_thread" in done.stdout + done.stderr
