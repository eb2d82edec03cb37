"""Deaths, hangs and memory that nothing contains: attempts without an end are found when the study resumes."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from multibody import sweep
from multibody.sweep import attempts

from .cluster import Cluster

SAMPLES = {"x": np.arange(40.0)}
EXPECTED = {9: "died", 21: "died", 30: "memory"}
DEATHS = 5
"""Of a sample in a chunk of four, until it is given up: the chunk twice, the sample three times."""

servers = multiprocessing.get_context("forkserver")
servers.set_forkserver_preload(["multibody.sweep.shipping", "multibody.sweep.executors.dask", "zarr", "cloudpickle"])


def study(folder: Path, deadly: float = 9, pause: float = 0.0) -> sweep.Study:
    """One sample ends its process, one waits to be killed, one asks for more memory than there is."""
    note = folder / "hangs"

    def awkward(sample):
        x = sample["x"]
        time.sleep(pause)
        if (x == deadly).any():
            os._exit(3)
        if (x == 21).any():
            note.write_text(str(os.getpid()))
            time.sleep(1000)
        if (x == 30).any():
            np.ones(10**15)
        return {"y": 2 * x}

    return sweep.Study(awkward, SAMPLES, folder / "a.zarr", chunk=4)


def check(study, expected=EXPECTED):
    assert {failure.index: failure.kind for failure in study.failures()} == expected
    y, good = np.asarray(study.results()["y"]), ~study.failed
    assert good.sum() == len(SAMPLES["x"]) - len(expected)
    assert (y[good] == 2 * SAMPLES["x"][good]).all()


@contextlib.contextmanager
def killer(folder: Path):
    """A user who kills what hangs."""
    over = threading.Event()
    killed = []

    def look():
        while not over.wait(0.01):
            with contextlib.suppress(FileNotFoundError, ValueError, ProcessLookupError):
                pid = int((folder / "hangs").read_text())
                (folder / "hangs").unlink()
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def run_here(folder, *options):
    study(folder, *options).run(progress=False)


@pytest.mark.parametrize("deadly", [9, 0])
def test_in_this_process(tmp_path, deadly):
    """With the first sample, the first look ends its process, and the next ones look elsewhere."""
    codes = []
    with killer(tmp_path) as killed:
        while not codes or (codes[-1] and len(codes) < 20):
            process = servers.Process(target=run_here, args=(tmp_path, deadly))
            process.start()
            process.join()
            codes.append(process.exitcode)
    first_looks = 2 if deadly == 0 else 0
    assert codes == [3] * (first_looks + DEATHS) + [-9] * DEATHS + [0]
    assert len(killed) == DEATHS
    check(sweep.open(tmp_path / "a.zarr"), {deadly: "died", 21: "died", 30: "memory"})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("workers", "deadly"), [(1, 9), (2, 9), (2, 0)])
def test_in_a_pool(tmp_path, workers, deadly):
    """A pool ends all workers when one dies: no other sample is blamed for that."""
    broken = 0
    with killer(tmp_path) as killed:
        for _ in range(20):
            with ProcessPoolExecutor(workers, servers) as pool:
                try:
                    study(tmp_path, deadly, pause=0.02).run(pool, progress=False)
                    break
                except sweep.SweepError as error:
                    broken += "run the study again with a new executor" in str(error)
    assert 3 <= len(killed) <= DEATHS
    assert DEATHS <= broken <= 2 * DEATHS + 2  # the first look may cost two
    check(sweep.open(tmp_path / "a.zarr"), {deadly: "died", 21: "died", 30: "memory"})


@pytest.mark.filterwarnings("ignore")
def test_on_bare_workers(tmp_path):
    pytest.importorskip("distributed")
    cluster = Cluster(tmp_path, 2)
    try:
        with killer(tmp_path) as killed:
            study(tmp_path).run(cluster.address, progress=False)
    finally:
        cluster.close()
    assert 3 <= len(killed) <= DEATHS
    check(sweep.open(tmp_path / "a.zarr"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_zombie_counts_as_dead():
    """A process that has exited takes signals until its parent reaps it."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = f"{attempts.process_name(process.pid)}:0"
    try:
        assert attempts.is_alive(name)
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # until it has exited; a zombie stays
        os.kill(process.pid, 0)
        assert not attempts.is_alive(name)
    finally:
        process.kill()
        process.wait()
