"""The store: damage is found, foreign folders and later versions are refused, disks may fail."""

import json
import os
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody import sweep
from multibody.compiler.codegen import target
from multibody.errors import InputError
from multibody.sweep.designs.random_streams import Draws
from multibody.sweep.store import atomic_files, commits
from multibody.sweep.store import format as store_format
from multibody.sweep.store.lock import locked

from . import studies

SAMPLES = sweep.uniform(100, x=(0, 1))


@pytest.fixture
def study(tmp_path):
    study = sweep.Study(studies.plain, SAMPLES, tmp_path / "a.zarr", chunk=10)
    study.run()
    return study


def chunk_files(study):
    return sorted(study.path.glob("results/*/c.*"))


def test_every_flipped_byte_is_found_and_computed_again(study):
    before = np.asarray(study.results()["y"])
    rng = np.random.default_rng(0)
    for _ in range(10):
        file = rng.choice(chunk_files(study))
        data = bytearray(file.read_bytes())
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        file.write_bytes(data)
        name = file.parent.name
        with pytest.raises(sweep.StoreError, match="damaged"):
            np.asarray(study.results()[name])
        with pytest.warns(sweep.SweepWarning, match="damaged"):
            study.run()
        assert (np.asarray(study.results()["y"]) == before).all()


@pytest.mark.parametrize("cut", ["missing", "short", "empty"])
def test_files_that_are_not_whole_are_damage(study, cut):
    before = np.asarray(study.results()["z"])
    file = chunk_files(study)[12]
    data = file.read_bytes()
    if cut == "missing":
        file.unlink()
    else:
        file.write_bytes(data[:-3] if cut == "short" else b"")
    with pytest.raises(sweep.StoreError, match="damaged"):
        [np.asarray(x) for x in study.results().values()]
    with pytest.warns(sweep.SweepWarning, match="damaged"):
        study.run()
    assert (np.asarray(study.results()["z"]) == before).all()


def test_a_damaged_mark_is_found(study):
    place = commits.commit_file(study.record.store, 3)
    data = bytearray(place.read_bytes())
    data[20] ^= 1
    place.write_bytes(data)
    with pytest.warns(sweep.SweepWarning, match="its commit is not"):
        study.run()
    assert study.status().done == 100


def test_an_earlier_version_s_store_goes_on(tmp_path):
    """Of format 1: two chunks of three, a failure, a NaN, kept samples; on any processor."""
    shutil.unpack_archive(Path(__file__).with_name("format_1.zip"), tmp_path)
    index = np.arange(10)
    numbers = Draws(5, index).uniform(0.0, 1.0, 3)
    study = sweep.open(tmp_path / "format_1.zarr")
    assert study.status()[:3] == (10, 8, 2)
    assert [(failure.index, failure.kind) for failure in study.failures()] == [(3, "nan"), (7, "raised")]
    assert study.failures()[1].sample == {"x": 7.0, "k": 7}
    assert (study.results(partial=True)["z"][:7] == numbers[:7]).all()
    assert study.results()["n"][:8].tolist() == [0, 0, 0, 0, 0, 0, 1, 0]

    def f(sample, rng):
        return {"y": 2 * sample["x"], "z": rng.uniform(0.0, 1.0, 3), "n": sample["x"] > 5}

    samples = {"x": np.arange(10.0), "k": index}
    again = sweep.Study(f, samples, study.path, seed=5)
    with pytest.raises(sweep.StudyChangedError):
        again.run()
    with pytest.warns(sweep.SweepWarning, match="2 of 10 samples failed"):
        sweep.Study(f, samples, study.path, seed=5, fork=True).run(mixed=True)
    expected = np.where(np.isin(index, [3, 7]), np.nan, 2.0 * index)
    assert np.array_equal(again.results()["y"][:], expected, equal_nan=True)
    sweep.Study(f, samples, study.path, seed=5, fork=True).run(only="failed", mixed=True)
    assert (again.results()["y"][:] == 2 * index).all()
    assert (again.results()["z"][:] == numbers).all()


def test_a_busy_store_is_not_changed_by_a_fork(study):
    header = (study.path / "zarr.json").read_bytes()
    fork = sweep.Study(lambda sample: {"y": sample["x"]}, SAMPLES, study.path, fork=True)
    with locked(study.path / "journal" / "lock", study.path), pytest.raises(sweep.StudyBusyError):
        fork.run()
    assert (study.path / "zarr.json").read_bytes() == header
    assert study.run().done == 100


def test_files_are_on_disk_before_their_names(study, tmp_path, monkeypatch):
    """By the order of system calls: what a power loss leaves is a whole file, or none."""
    events = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: events.append(os.fstat(handle).st_ino) or fsync(handle))
    monkeypatch.setattr(os, "replace", lambda *ends: events.append((os.stat(ends[0]).st_ino, *ends)) or replace(*ends))
    places = [tmp_path / "a", tmp_path / "b"]
    atomic_files.write({place: [b"one", b"two"] for place in places}, study.path / "journal" / "scratch")
    monkeypatch.undo()
    assert [place.read_bytes() for place in places] == [b"onetwo"] * 2
    renames = [k for k, event in enumerate(events) if isinstance(event, tuple)]
    assert [events[k][2] for k in renames] == places
    assert all(events[k][0] in events[:k] for k in renames)
    assert tmp_path.stat().st_ino in events[renames[-1] :]


def test_zarr_itself_sees_damage(study):
    import zarr

    file = study.path / "results" / "y" / "c.2"
    data = bytearray(file.read_bytes())
    data[5] ^= 64
    file.write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        zarr.open_group(str(study.path), mode="r")["results"]["y"][:]


def test_nothing_in_the_store_is_a_pickle(study):
    for file in study.path.rglob("*"):
        if file.is_file():
            with pytest.raises(Exception):  # noqa: B017, PT011  whatever unpickling says
                pickle.loads(file.read_bytes())


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "letter.txt").write_text("dear")
    with pytest.raises(sweep.StoreError, match="two studies need two folders"):
        sweep.Study(studies.plain, SAMPLES, tmp_path / "runs").run()
    (tmp_path / "empty").mkdir()
    with pytest.raises(sweep.StoreError, match="empty folder"):
        sweep.Study(studies.plain, SAMPLES, tmp_path / "empty").run()
    with pytest.raises(sweep.StoreError, match="no store"):
        sweep.open(tmp_path / "nothing.zarr")


def test_two_studies_in_one_folder_are_told(study):
    with pytest.raises(sweep.StudyChangedError, match="another store"):
        sweep.Study(lambda sample: {"y": sample["x"]}, SAMPLES, study.path).run()
    with pytest.raises(sweep.StudyChangedError, match="another study"):
        sweep.Study(studies.plain, sweep.uniform(50, x=(0, 1)), study.path).run()


def test_a_later_version_is_refused(study):
    place = study.path / "zarr.json"
    node = json.loads(place.read_text())
    node["attributes"]["multibody"] |= {"format": store_format.FORMAT + 1, "version": "9.0"}
    place.write_text(json.dumps(node))
    with pytest.raises(sweep.StoreError, match=r"multibody 9\.0, a later version"):
        sweep.open(study.path)


def test_a_store_within_another_one_is_refused(study):
    with pytest.raises(InputError, match="within another store"):
        sweep.Study(studies.plain, SAMPLES, study.path / "inner.zarr")


def test_another_version_of_the_library_is_told(study, monkeypatch):
    monkeypatch.setattr("multibody.__version__", "9.9")
    again = sweep.Study(studies.plain, SAMPLES, study.path)
    with pytest.raises(sweep.StudyChangedError, match=r"begun with multibody .*, this is 9\.9"):
        again.run()


def test_another_class_of_processor_is_refused_unless_allowed(tmp_path, monkeypatch):
    """A process that computes for another level of this machine: its kernel is made anew there."""
    level = "x86-64-v2" if target.host().cpu == "x86-64-v3" else "x86-64-v3"
    if level not in target.levels():
        pytest.skip(f"this machine is not {level}")
    kernel = mb.compile(lambda x: np.sin(x) / (1 + x * x), (), names=["x"])
    study = sweep.Study(kernel, SAMPLES, tmp_path / "a.zarr", chunk=10)

    def stop(tally):
        if tally.done >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    done = study.status().chunks_done
    monkeypatch.setenv("MULTIBODY_CPU", level)  # this process has looked already
    with pytest.raises(sweep.SweepError, match=rf"is of '{level} .*mixed=True"):
        study.run("processes", workers=1)
    assert study.status().chunks_done == done
    study.run("processes", workers=1, mixed=True)
    cpus = [commit.cpu for commit in study.record.commits()]
    assert set(cpus[:done]) == {study.record.store.header["cpu"]}
    assert len(set(cpus[done:])) == 1
    assert cpus[-1].startswith(level)
    x = SAMPLES[:]["x"]
    np.testing.assert_allclose(study.results()["result"], np.sin(x) / (1 + x * x), rtol=1e-15)


@pytest.mark.parametrize(("code", "word"), [(28, "disk is full"), (30, "read-only"), (13, "may not be written")])
def test_disks_that_refuse_have_a_clear_word(study, monkeypatch, code, word):
    commits.revoke(study.record.store, 4)
    real = os.open

    def refuse(path, flags, *rest, **options):
        if "scratch" in str(path):
            raise OSError(code, os.strerror(code))
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(atomic_files.os, "open", refuse)
    with pytest.raises(sweep.StoreError, match=word):
        study.run()
    monkeypatch.undo()
    assert not list((study.path / "journal" / "scratch").iterdir())
    study.run()
    assert study.status().done == 100


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="needs to mount a small disk")
def test_a_full_disk_costs_what_was_under_way(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "none", disk], capture_output=True).returncode:
        pytest.skip("may not mount")
    try:
        samples = sweep.uniform(10_000, x=(0, 1))
        study = sweep.Study(studies.plain, samples, disk / "a.zarr", chunk=500)
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(300_000))
        with pytest.raises(sweep.StoreError, match="disk is full"):
            study.run()
        done = study.status().done
        assert 0 < done < 10_000
        ballast.unlink()
        study.run()
        assert (study.results()["y"][:] == studies.plain(samples[:], Draws(0, np.arange(10_000)))["y"]).all()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        marks_before = study.status()
        with pytest.raises(sweep.StoreError, match="read-only"):
            study.run()
        assert study.status() == marks_before
        assert len(study.results()["y"][:]) == 10_000
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
