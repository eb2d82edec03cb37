"""A cluster to which everything happens: every sample is there once, with the bits of one process; little is wasted."""

import itertools
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from multibody import sweep

from . import chaos
from .cluster import Cluster, Disk, may_make_hosts

pytest.importorskip("distributed")
pytestmark = pytest.mark.timeout(3600)
SCRIPT = Path(__file__).with_name("chaos.py")
MAX_SECONDS = 900.0
"""The longest wait, in s."""


class Torture:
    """A study on a cluster, and the events that happen to it when so many chunks are done."""

    def __init__(self, folder: Path, chunks: int, seconds: float, workers: int, *, hosts: bool) -> None:
        self.folder, self.chunks, self.seconds = folder, chunks, seconds
        self.journal = folder / "journal"
        self.journal.mkdir()
        self.disk = Disk(folder / "disk", "100m")
        self.store = self.disk.place / "chaos.zarr"
        self.cluster = Cluster(folder, workers, hosts=hosts)
        self.client = self._started()
        self.codes: list[int] = []
        self.kills = 0

    def until(self, done: int, kill_every: int | None = None) -> None:
        """Wait until so many chunks are done, and start the client again when it ends before.

        Workers are killed by the count of chunks, not by the clock: on a busy machine no sample dies again and again.
        """
        deadline = time.monotonic() + MAX_SECONDS
        turns = itertools.cycle(self.cluster.workers)
        last = self.done()
        while self.done() < done:
            assert time.monotonic() < deadline, f"{self.done()} chunks after {MAX_SECONDS} s: {self.log()}"
            self.resume()
            if kill_every and self.done() - last >= kill_every:
                last = self.done()
                self.kills += any(self.kill_worker(next(turns)) for _ in self.cluster.workers)
            time.sleep(0.02)

    def kill_worker(self, k: int) -> bool:
        pid = self.cluster.worker(k)
        try:
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # it is dead, and its keeper has not started another one yet
            return False
        return pid is not None

    def kill_client(self) -> None:
        self.client.kill()

    def resume(self) -> None:
        if self.client.poll() is not None:
            self.codes.append(self.client.returncode)
            if self.done() < self.chunks:
                self.client = self._started()

    def done(self) -> int:
        place = self.store / "journal" / "marks"
        return len(os.listdir(place)) if place.exists() else 0

    def ended(self) -> int:
        """How the last client ended."""
        return self.client.wait(60)

    def check(self) -> float:
        """The store against a run in one process; samples that were computed beyond once, as a part of all."""
        quiet = self.folder / "quiet"
        quiet.mkdir()
        alone = chaos.study(self.folder / "alone.zarr", quiet, self.chunks, 0.0)
        alone.run()
        there = sweep.open(self.store)
        assert there.status().done == there.status().samples == 5 * self.chunks - 2
        assert not there.failures()
        assert sorted(map(int, os.listdir(self.store / "journal" / "marks"))) == list(range(self.chunks))
        for name, x in alone.results().items():
            assert np.asarray(there.results()[name]).tobytes() == np.asarray(x).tobytes()
        return chaos.evaluated(self.journal)[1] / there.status().samples - 1

    def log(self) -> str:
        return (self.folder / "client.log").read_text()[-3000:]

    def close(self) -> None:
        self.client.kill()
        self.client.wait()
        self.cluster.close()
        self.disk.close()

    def _started(self):
        words = SCRIPT, self.store, self.journal, self.chunks, self.seconds, self.cluster.address
        return self.cluster.client(*words)


def test_a_killed_worker_costs_what_it_was_at(tmp_path):
    torture = Torture(tmp_path, 40, 0.05, 2, hosts=False)
    try:
        torture.until(5)
        assert torture.kill_worker(0)
        torture.until(40)
        assert torture.ended() == 0, torture.log()
        assert torture.codes in ([], [0])
        assert torture.check() < 0.2
    finally:
        torture.close()


def test_workers_that_are_killed_from_the_start_cost_a_study_nothing(tmp_path):
    """Each one that begins the first look is killed, more of them than a scheduler's patience with all five places."""
    torture = Torture(tmp_path, 6, 0.3, 2, hosts=False)
    try:
        deadline = time.monotonic() + MAX_SECONDS
        while torture.kills < 22 and not torture.store.exists():  # on a busy machine one may get through
            assert torture.client.poll() is None, torture.log()
            assert time.monotonic() < deadline
            torture.kills += sum(torture.kill_worker(k) for k in torture.cluster.workers)
            time.sleep(0.01)
        assert torture.kills > 4
        torture.until(6)
        assert torture.ended() == 0, torture.log()
        assert torture.codes in ([], [0])
        torture.check()
        assert not list(torture.store.parent.glob(".*"))
    finally:
        torture.close()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["loopback", "hosts"])
def test_nothing_that_happens_to_a_cluster_loses_or_doubles_a_sample(tmp_path, place, capsys):
    if place == "hosts" and not may_make_hosts():
        pytest.skip("network namespaces cannot be made here")
    before = time.monotonic()
    torture = Torture(tmp_path, 2000, 0.05, 4, hosts=place == "hosts")
    try:
        torture.until(1)
        torture.until(200, kill_every=10)
        torture.cluster.kill_scheduler()
        torture.until(600, kill_every=10)
        assert torture.codes == [], torture.log()  # the client waited for the scheduler
        torture.kill_client()
        torture.until(800, kill_every=10)
        if torture.disk.mounted:
            torture.disk.fill()
            torture.client.wait(120)
            torture.disk.free()
        torture.until(1000, kill_every=10)
        torture.cluster.cut(3)
        since = time.monotonic()
        torture.until(1100, kill_every=10)
        while time.monotonic() - since < 10.0:
            torture.resume()
            time.sleep(0.1)
        torture.cluster.join(3)
        torture.until(1500, kill_every=10)
        torture.kill_client()
        torture.until(2000, kill_every=10)
        assert torture.ended() == 0, torture.log()
        wasted = torture.check()
    finally:
        torture.close()
    begun, ended = chaos.evaluated(torture.journal)
    with capsys.disabled():
        print(
            f"\n{place}: {time.monotonic() - before:.0f} s, {torture.kills} workers killed, clients ended with "
            f"{torture.codes}; {begun - ended} samples were killed, {100 * wasted:.2f} % computed more than once"
        )
    assert wasted < 0.1
    assert torture.codes[:3] == ([-9, 28, -9] if torture.disk.mounted else [-9, -9, 0])
