"""Stores that something happened to: never a wrong number in silence, never code that runs, nothing that listens."""

import os
import pickle
import shutil
import socket
import subprocess
import sys
import warnings

import numpy as np
import pytest

import multibody as mb
from multibody import sweep
from multibody.sweep.store import commits

from . import studies
from .test_study import environment

SAMPLES = sweep.uniform(8, x=(0, 1))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    place = tmp_path_factory.mktemp("original") / "a.zarr"
    sweep.Study(studies.plain, SAMPLES, place, chunk=4).run()
    return place


@pytest.fixture
def copied(original, tmp_path):
    return shutil.copytree(original, tmp_path / "a.zarr")


def numbers(place):
    """All that a reader is told of a study."""
    study = sweep.open(place)
    results = {name: np.asarray(x).tobytes() for name, x in study.results().items()}
    parameters = {name: x.tobytes() for name, x in study.parameters().items()}
    return results, parameters, study.failures(), study.status()[:3], study.table().tobytes()


def files(place):
    """Those that are read; what is in `c.*`, `marks` and the header."""
    return sorted([*place.glob("results/*/c.*"), *place.glob("journal/marks/*"), place / "zarr.json"])


@pytest.mark.filterwarnings("ignore")
def test_no_flipped_bit_is_a_wrong_number(original, copied):
    """Every byte of every file that is read, with a bit of it flipped: an error, or the same numbers."""
    truth = numbers(original)
    silent = 0
    for file in files(copied):
        data = file.read_bytes()
        step = 1 if len(data) < 200 else 5
        for k in range(0, len(data), step):
            file.write_bytes(data[:k] + bytes([data[k] ^ (1 << k % 8)]) + data[k + 1 :])
            try:
                told = numbers(copied)
            except (sweep.SweepError, mb.InputError):  # without a whole mark, its samples are not computed yet
                continue
            assert told == truth, (file, k)
            silent += 1
        file.write_bytes(data)
    assert silent < 40  # the layout of the header, which has no meaning
    assert numbers(copied) == truth


@pytest.mark.parametrize("name", ["results/y/c.1", "journal/marks/00000001", "zarr.json"])
@pytest.mark.filterwarnings("ignore")
def test_no_file_that_is_cut_or_missing_is_a_wrong_number(original, copied, name):
    truth = numbers(original)
    data = (copied / name).read_bytes()
    for length in (None, *range(0, len(data), 13)):
        (copied / name).unlink(missing_ok=True)
        if length is not None:
            (copied / name).write_bytes(data[:length])
        with pytest.raises((sweep.SweepError, mb.InputError)):
            numbers(copied)
    if name != "zarr.json":
        sweep.Study(studies.plain, SAMPLES, copied).run()
        assert numbers(copied) == truth


def test_a_mark_of_another_chunk_is_none(copied, original):
    store = sweep.open(copied).record.store
    shutil.copy(commits.commit_file(store, 0), commits.commit_file(store, 1))
    with pytest.warns(sweep.SweepWarning, match="its commit is not"):
        sweep.Study(studies.plain, SAMPLES, copied).run()
    assert numbers(copied) == numbers(original)


def test_power_that_went_before_the_mark_or_before_the_chunk(copied, original):
    store = sweep.open(copied).record.store
    commits.revoke(store, 0)  # a chunk without its mark is computed again, in silence
    (copied / "results" / "z" / "c.1.0").write_bytes(b"")  # a mark whose chunk never came to the disk
    (copied / "journal" / "scratch" / "half").write_bytes(b"half")
    (copied / "journal" / "marks" / ".nfs0001").write_bytes(b"left by a network disk")
    with pytest.warns(sweep.SweepWarning, match="chunk 1 .* is damaged") as told:
        sweep.Study(studies.plain, SAMPLES, copied).run()
    assert len(told) == 1
    assert numbers(copied) == numbers(original)


class Malice:
    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_unpickled_from_a_store(copied, tmp_path):
    proof = tmp_path / "proof"
    for file in (path for path in sorted(copied.rglob("*")) if path.is_file()):
        data = file.read_bytes()
        file.write_bytes(pickle.dumps(Malice(proof)))
        for act in (numbers, lambda place: sweep.Study(studies.plain, SAMPLES, place).run()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    act(copied)
                except (sweep.SweepError, mb.InputError):
                    continue
        file.write_bytes(data)
    assert not proof.exists()
    pickle.loads(pickle.dumps(Malice(proof)))
    assert proof.exists()


def test_names_from_elsewhere_do_not_lead_out_of_the_store(copied):
    from multibody.sweep.store import format as store_format

    store = store_format.read(copied)
    kept = {"../../escaped": {"shape": [], "dtype": "<f8"}}
    store_format.rewrite(store, {**store.header, "results_kept": kept})
    with pytest.raises(sweep.StoreError, match="expected numbers under a name"):
        sweep.open(copied)


def test_the_second_client_is_told(tmp_path):
    """While another process runs the study, and only then."""
    script = tmp_path / "script.py"
    script.write_text(
        "import time, numpy as np\nimport multibody as mb\n"
        "def f(sample):\n"
        "    while (sample['x'] == 30).any():\n"
        "        time.sleep(0.02)\n"
        "    return {'y': sample['x']}\n"
        "if __name__ == '__main__':\n"
        f"    study = mb.sweep.Study(f, {{'x': np.arange(40.0)}}, {str(tmp_path / 'a.zarr')!r}, chunk=1)\n"
        "    study.run(progress=lambda tally: print(tally.done, flush=True))\n"
    )
    command = [sys.executable, str(script)]
    first = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout.readline()  # a chunk is done, and the last one never will be
        second = subprocess.run(command, env=environment(), capture_output=True, text=True)
        assert second.returncode
        assert f"being run by process {first.pid} on {socket.gethostname()}" in second.stderr
        assert sweep.open(tmp_path / "a.zarr").status().running
    finally:
        first.kill()
        first.communicate()
    assert not sweep.open(tmp_path / "a.zarr").status().running


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_listens(tmp_path):
    """Neither this process nor those of a study, while it runs."""
    psutil = pytest.importorskip("psutil")
    listening = []

    def look(tally):
        del tally
        own = psutil.Process()
        for process in (own, *own.children(recursive=True)):
            listening.extend(c for c in process.net_connections() if c.status == psutil.CONN_LISTEN)
        look.processes = max(look.processes, 1 + len(own.children(recursive=True)))

    look.processes = 0
    before = [c for c in psutil.Process().net_connections() if c.status == psutil.CONN_LISTEN]
    sweep.Study(studies.plain, SAMPLES, tmp_path / "a.zarr", chunk=1).run("processes", workers=1, progress=look)
    assert look.processes > 1
    assert not set(listening) - set(before)
