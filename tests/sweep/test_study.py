"""Studies: the same bits by any executor and chunk size, resumed after any end, refused when they changed."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody import sweep
from multibody.errors import InputError
from multibody.sweep.calibration import MAX_CHUNKS, CalibrationTask, peak_memory, places
from multibody.sweep.chunks import Job, unwatched
from multibody.sweep.designs.random_streams import Draws

from . import studies

SAMPLES = sweep.uniform(1000, x=(0, 1))
SOURCE = Path(mb.__file__).parents[1]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    study = sweep.Study(studies.plain, SAMPLES, tmp_path_factory.mktemp("reference") / "a.zarr", chunk=100)
    study.run()
    return study


def same(study, reference):
    ours, theirs = study.results(), reference.results()
    assert ours.keys() == theirs.keys()
    return all(np.asarray(ours[name]).tobytes() == np.asarray(theirs[name]).tobytes() for name in ours)


def test_results_are_those_of_the_function(reference):
    results = reference.results()
    whole = studies.plain(SAMPLES[:], Draws(0, np.arange(1000)))
    for name, x in whole.items():
        assert (np.asarray(results[name]) == x).all()
    assert results["n"].dtype == bool
    assert results["z"].shape == (1000, 3)
    assert (results["z"][5:300:7, 1] == whole["z"][5:300:7, 1]).all()
    assert (results["y"][[3, 999, -1]] == whole["y"][[3, 999, -1]]).all()
    assert results["y"][-1] == whole["y"][-1]
    assert (results["y"][whole["n"]] == whole["y"][whole["n"]]).all()
    assert reference.status()[:3] == (1000, 1000, 0)


@pytest.mark.parametrize("chunk", [None, 1000, 333])
def test_bits_do_not_depend_on_the_chunk_size(reference, tmp_path, chunk):
    study = sweep.Study(studies.plain, SAMPLES, tmp_path / "b.zarr", chunk=chunk)
    assert study.run().done == 1000
    assert same(study, reference)


def test_zarr_reads_the_store(reference):
    import zarr

    group = zarr.open_group(str(reference.path), mode="r")
    for name, x in reference.results().items():
        array = group["results"][name]
        assert array.chunks[0] == 100
        assert (array[:] == np.asarray(x)).all()


def test_xarray_reads_lazily(reference):
    data = reference.dataset()
    assert dict(data.sizes) == {"sample": 1000, "z_0": 3}
    part = data.isel(sample=slice(10, 500, 7))
    assert (part["z"].values == reference.results()["z"][10:500:7]).all()
    assert (part["x"].values == SAMPLES[10:500:7]["x"]).all()


def test_a_table_has_a_row_for_each_sample(reference):
    table = reference.table()
    assert table.dtype.names == ("index", "x", "y", "z[0]", "z[1]", "z[2]", "n", "failed")
    assert (table["x"] == SAMPLES[:]["x"]).all()


def test_another_process_opens_it(reference):
    code = f"import multibody as mb; study = mb.sweep.open({str(reference.path)!r})\n"
    code += "print(study.status().done, study.results()['y'][7])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert said.stdout.split() == ["1000", repr(float(reference.results()["y"][7]))]


def test_a_study_goes_on_where_it_was(reference, tmp_path):
    calls = []

    def stop(tally):
        calls.append(tally.done)
        if tally.done >= 400:
            raise KeyboardInterrupt

    study = sweep.Study(studies.plain, SAMPLES, tmp_path / "b.zarr", chunk=100)
    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    done = study.status().done
    assert 400 <= done <= 500  # what was under way went to the disk
    with pytest.raises(InputError, match="not computed yet"):
        np.asarray(study.results()["y"])
    part = study.results(partial=True)["y"][:]
    assert np.isnan(part[done:]).all()
    assert not np.isnan(part[:done]).any()
    with pytest.raises(InputError, match="resume"):
        study.run(resume=False)
    study.run()
    assert same(study, reference)


def environment():
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.mark.parametrize("executor", ["None", pytest.param("'processes'", marks=pytest.mark.slow)])
def test_a_client_that_is_killed_costs_nothing_but_what_was_under_way(reference, tmp_path, executor):
    script = tmp_path / "script.py"
    script.write_text(
        "import time, sys, numpy as np\nimport multibody as mb\n"
        "GAIN = 3.0\n"
        "def plain(sample, rng):\n"
        "    time.sleep(0.03)\n"
        "    return {'y': GAIN * sample['x'] + rng.normal(), 'z': rng.uniform(0.0, 1.0, 3), 'n': (sample['x'] > 0.5)}\n"
        "if __name__ == '__main__':\n"
        f"    study = mb.sweep.Study(plain, mb.sweep.uniform(1000, x=(0, 1)), {str(tmp_path / 'b.zarr')!r}, chunk=20)\n"
        f"    study.run({executor}, progress=lambda tally: print(tally.done, flush=True))\n"
    )
    done = 0
    for enough in (100, 300):
        client = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment())
        while done < enough:
            done = int(client.stdout.readline())
        client.send_signal(signal.SIGKILL)
        client.wait()
        client.stdout.close()
    study = sweep.open(tmp_path / "b.zarr")
    assert study.status().done >= done >= 300
    assert not study.status().running
    client = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment())
    assert client.returncode == 0, client.stderr
    assert max(map(int, client.stdout.split())) == 1000
    assert same(study, reference)


def test_a_second_client_is_told(tmp_path):
    study = sweep.Study(studies.plain, SAMPLES, tmp_path / "b.zarr", chunk=100)
    again = sweep.Study(studies.plain, SAMPLES, tmp_path / "b.zarr")
    told = []

    def other(tally):
        del tally
        assert again.status().running
        with pytest.raises(sweep.StudyBusyError, match=f"process {os.getpid()}"):
            again.run()
        told.append(True)

    study.run(progress=other)
    assert told
    assert not again.status().running


def test_what_changed_is_said(tmp_path):
    gain = 2.0
    arrays = [np.arange(3.0)]

    def make(gain, body="gain * sample['x'] + arrays[0].sum()", comment=""):
        scope = {"gain": gain, "arrays": arrays, "np": np}
        exec(f"def helper(x):\n    return x\ndef f(sample):\n    {comment}\n    return {{'y': {body}}}\n", scope)
        return scope["f"]

    place = tmp_path / "b.zarr"
    sweep.Study(make(gain), SAMPLES, place, chunk=500).run()
    sweep.Study(make(gain, comment="# nothing new"), SAMPLES, place).run()
    with pytest.raises(sweep.StudyChangedError, match="function has changed: 'gain'"):
        sweep.Study(make(3.0), SAMPLES, place).run()
    with pytest.raises(sweep.StudyChangedError, match="function has changed: 'f'"):
        sweep.Study(make(gain, "gain * sample['x'] - arrays[0].sum()"), SAMPLES, place).run()
    arrays[0] = np.arange(4.0)
    with pytest.raises(sweep.StudyChangedError, match=r"'arrays\[0\]'"):
        sweep.Study(make(gain), SAMPLES, place).run()
    arrays[0] = np.arange(3.0)
    with pytest.raises(sweep.StudyChangedError, match="samples have changed"):
        sweep.Study(make(gain), sweep.uniform(1000, x=(0, 2)), place).run()
    for name, value in (("seed", 1), ("chunk", 400), ("nan_fails", False)):
        with pytest.raises(sweep.StudyChangedError, match=name):
            sweep.Study(make(gain), SAMPLES, place, **{name: value}).run()


def test_a_fork_goes_on(tmp_path):
    place = tmp_path / "b.zarr"
    study = sweep.Study(lambda sample: {"y": 2 * sample["x"]}, SAMPLES, place, chunk=100)

    def stop(tally):
        if tally.done >= 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    done = study.status().chunks_done
    assert 3 <= done <= 4
    other = sweep.Study(lambda sample: {"y": -sample["x"]}, SAMPLES, place, fork=True)
    other.run()
    x, y = SAMPLES[:]["x"].reshape(10, 100), np.asarray(other.results()["y"]).reshape(10, 100)
    assert (y[:done] == 2 * x[:done]).all()
    assert (y[done:] == -x[done:]).all()
    assert [commit.generation for commit in other.record.commits()] == [0] * done + [1] * (10 - done)


def test_rows_that_depend_on_their_neighbours_are_told(tmp_path):
    with pytest.warns(sweep.SweepWarning, match="depend on its neighbours"):
        sweep.Study(studies.product, SAMPLES, tmp_path / "b.zarr", chunk=100).run()


def test_samples_of_the_user_are_kept(tmp_path):
    samples = sweep.indexed(300, lambda index: {"x": np.sqrt(index), "k": index})
    sweep.Study(lambda sample: {"y": sample["x"] ** 2}, samples, tmp_path / "b.zarr", chunk=70).run()
    kept = sweep.open(tmp_path / "b.zarr")
    assert (kept.parameters()["k"] == np.arange(300)).all()
    assert kept.sample(9) == {"x": 3.0, "k": 9}
    with pytest.raises(InputError, match="pass them again"):
        sweep.open(tmp_path / "b.zarr", lambda sample: {"y": sample["x"] ** 2}).run()


def test_a_chunk_is_no_longer_than_the_study(tmp_path):
    """A store has room for whole chunks: a billion numbers for three of them ended the process."""
    study = sweep.Study(lambda sample: {"y": 2 * sample["x"]}, {"x": np.arange(3.0)}, tmp_path / "a.zarr", chunk=10**9)
    assert study.run(progress=False).chunks == 1
    np.testing.assert_array_equal(study.results()["y"][:], [0.0, 2.0, 4.0])


def test_a_million_chunks_are_made_longer(tmp_path):
    """A call takes 0.2 s by a clock that no other process delays."""
    times = itertools.count(0.0, 0.2)
    for n in (1000, 10**12):
        job = Job(lambda sample: {"y": sample["x"]}, sweep.uniform(n, x=(0, 1)), 0, True, tmp_path / "a.zarr")
        task = CalibrationTask(places(n)[0], n, None, None, False, lambda: next(times))
        chunk = task.evaluate(job, unwatched).value.chunk
        assert chunk == 10**12 // MAX_CHUNKS if n == 10**12 else 20 <= chunk <= 40


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1)])
def test_the_peak_of_memory_is_in_bytes(platform, unit):
    """Linux counts KiB, macOS bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert before * unit <= peak_memory(platform) <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def test_a_limit_of_memory_needs_linux(monkeypatch, tmp_path):
    study = sweep.Study(studies.plain, SAMPLES, tmp_path / "a.zarr")
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(InputError, match="memory: expected Linux"):
        study.run("processes", memory=2**30)


def test_a_trillion_samples_are_begun_and_looked_at(tmp_path):
    samples = sweep.indexed(10**12, lambda index: {"x": index * 1e-6})
    study = sweep.Study(lambda s: {"y": -np.sqrt(s["x"])}, samples, tmp_path / "a.zarr", chunk=1000)

    def stop(tally):
        if tally.done >= 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    status = study.status()
    assert (status.samples, status.chunks) == (10**12, 10**9)
    assert 2000 <= status.done <= 3000
    assert study.worst("y") == 0
    assert study.worst("y", largest=False) == status.done - 1
    assert np.isnan(study.results(partial=True)["y"][-1])
    study.histogram("y")
    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda place: sweep.Study(3, SAMPLES, place), "function"),
        (lambda place: sweep.Study(lambda x, y: {"z": x + y}, SAMPLES, place), r"also needs y: write sample\['y'\]"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place, chunk=0), "chunk"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place / "no" / "b.zarr"), "folder that is there"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place, metrics={}), "Simulator"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place).run("dask"), "executor"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place).run(limit=3), "limit"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place).run("processes", limit=0), "limit"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place).run("processes", workers=-1), "workers: expected a"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place).run("processes", workers=1.5), "workers: expected a"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place).run("processes", memory=0), "memory: expected a"),
        (lambda place: sweep.Study(studies.plain, SAMPLES, place).run(only="good"), "only"),
        (lambda place: sweep.Study(lambda _: 3, SAMPLES, place).run(), "expected a dict"),
        (lambda place: sweep.Study(lambda _: {"y": 3}, SAMPLES, place).run(), "a row for each sample"),
        (lambda place: sweep.Study(lambda s: {"y": np.longdouble(s["x"])}, SAMPLES, place).run(), "at most 64 bits"),
        (lambda place: sweep.Study(lambda s: {"y": s["x"].astype(str)}, SAMPLES, place).run(), "expected numbers"),
        (lambda place: sweep.Study(lambda s: {"y": np.ma.masked_less(s["x"], 0.5)}, SAMPLES, place).run(), "masked"),
        (lambda place: sweep.Study(studies.plain, {"x": np.ma.arange(3.0)}, place), "masked"),
        (lambda place: sweep.Study(studies.plain, {"x": []}, place), "positive"),
    ],
)
def test_bad_studies_are_refused(make, word, tmp_path):
    with pytest.raises(InputError, match=word):
        make(tmp_path / "b.zarr")
    assert list(tmp_path.iterdir()) == []
