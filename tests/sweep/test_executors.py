"""Executors by kind: the bits, failures and errors of one process; lost chunks are tried again, within limits."""

import contextlib
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from multibody import sweep
from multibody.errors import InputError
from multibody.sweep import attempts, scheduler
from multibody.sweep.chunks import Job, evaluate, write
from multibody.sweep.executors.executor import ChunkExecutor, lost
from multibody.sweep.executors.in_process import InProcess
from multibody.sweep.preparation import job_for
from multibody.sweep.retries import (
    MAX_DEATHS_PER_CHUNK,
    MAX_DEATHS_PER_SAMPLE,
    MAX_LOSSES,
    LossCounter,
    must_split,
)

from . import studies
from .test_failures import SAMPLES, check

EXECUTORS = {
    "in process": lambda: contextlib.nullcontext(None),
    "threads": lambda: ThreadPoolExecutor(2),
    "pool": lambda: ProcessPoolExecutor(2),
    "processes": lambda: contextlib.nullcontext("processes"),
}


def nasty_and_random(sample, rng):
    return {**studies.nasty(sample), "z": rng.normal(2)}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One chunk in this process."""
    study = sweep.Study(nasty_and_random, SAMPLES, tmp_path_factory.mktemp("reference") / "a.zarr", chunk=60)
    with pytest.warns(sweep.SweepWarning, match="6 of 60"):
        study.run()
    return study


@pytest.mark.parametrize("kind", EXECUTORS)
def test_bits_and_failures(reference, tmp_path, kind):
    study = sweep.Study(nasty_and_random, SAMPLES, tmp_path / "a.zarr", chunk=13)
    with EXECUTORS[kind]() as executor, pytest.warns(sweep.SweepWarning, match="6 of 60"):
        assert study.run(executor).done == 60
    check(study, studies.EXPECTED)
    for name, x in reference.results().items():
        assert np.asarray(study.results()[name]).tobytes() == np.asarray(x).tobytes()


@pytest.mark.parametrize("kind", EXECUTORS)
def test_an_error_of_the_store_ends_a_run(tmp_path, kind):
    """It is no sample's: what is done is kept, and the study resumes."""
    study = sweep.Study(studies.plain, sweep.uniform(60, x=(0, 1)), tmp_path / "a.zarr", chunk=6)
    scratch = study.path / "journal" / "scratch"

    def sabotage(progress):
        if progress.done >= 12:
            shutil.rmtree(scratch, ignore_errors=True)

    with EXECUTORS[kind]() as executor, pytest.raises(sweep.StoreError, match="the folder of the store is gone"):
        study.run(executor, progress=sabotage)
    assert 12 <= study.status().done < 60
    assert not study.status().failed
    scratch.mkdir()
    assert study.run().done == 60


@pytest.mark.parametrize("kind", ["threads", "pool", "in process"])
@pytest.mark.parametrize("option", ["limit", "memory", "workers"])
def test_no_option_is_silently_without_effect(tmp_path, kind, option):
    study = sweep.Study(studies.plain, SAMPLES, tmp_path / "a.zarr")
    with EXECUTORS[kind]() as executor, pytest.raises(InputError, match=rf"{option}.*: expected .*processes"):
        study.run(executor, **{option: 1})


class Losing(ChunkExecutor):
    """Loses chunks by a rule, and computes the others on submission."""

    workers = ahead = 3

    def __init__(self, is_lost):
        self.is_lost, self.tries, self.results = is_lost, {}, []

    def equip(self, job, entries, cpu):
        del entries, cpu
        self.job = job

    def submit(self, task):
        self.tries[task.chunk] = self.tries.get(task.chunk, 0) + 1
        is_lost = self.is_lost(task.chunk, self.tries[task.chunk])
        self.results.append(lost(task.chunk, "gone") if is_lost else write(evaluate(self.job, task)))

    def collect(self):
        results, self.results = self.results[::-1], []
        return results

    def close(self):
        self.results.clear()


def run_with(executor, study):
    """Run a study, whose store is there, by an executor."""
    job = Job(study.function, study.samples, study.seed, study.nan_fails, study.path)
    executor.equip(job_for(study.record.store, job, mixed=False), {}, None)
    return scheduler.run(executor, study.record, study.samples, lambda _: None, only_failed=False)


@pytest.fixture
def begun(tmp_path):
    """A study with a store and no chunk."""
    study = sweep.Study(studies.plain, sweep.uniform(60, x=(0, 1)), tmp_path / "a.zarr", chunk=6)

    def stop(progress):
        del progress
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    assert study.status().done == 0
    return study


def test_lost_chunks_are_tried_again(begun, tmp_path):
    executor = Losing(lambda chunk, tries: tries <= chunk)
    assert run_with(executor, begun).done == 60
    assert executor.tries == {k: k + 1 for k in range(10)}
    expected = sweep.Study(studies.plain, begun.samples, tmp_path / "b.zarr", chunk=60)
    expected.run(executor=None)
    assert (begun.results()["y"][:] == expected.results()["y"][:]).all()


def test_chunks_that_are_always_lost_end_a_run(begun):
    executor = Losing(lambda chunk, _: chunk == 4)
    with pytest.raises(sweep.SweepError, match=f"chunk 4 failed {MAX_LOSSES} times in a row .*: gone"):
        run_with(executor, begun)
    assert executor.tries[4] == MAX_LOSSES
    assert run_with(InProcess(), begun).done == 60


def test_new_deaths_start_the_count_of_losses_again():
    counter = LossCounter("chunk 1")
    for deaths in (1, 2):
        for _ in range(MAX_LOSSES):
            counter.add(deaths, "gone")
    with pytest.raises(sweep.SweepError, match="chunk 1 failed"):
        counter.add(2, "gone")


def test_when_a_range_is_split():
    """A chunk after two deaths, a part of it after one, a sample never tried again after three; a hang counts once."""
    assert [must_split(k, "died", 10, True) for k in range(4)] == [k >= MAX_DEATHS_PER_CHUNK for k in range(4)]
    assert [must_split(k, "died", 10, False) for k in range(3)] == [False, True, True]
    assert [must_split(k, "memory", 1, False) for k in range(5)] == [k >= MAX_DEATHS_PER_SAMPLE for k in range(5)]
    assert must_split(1, "hung", 1, False)
    assert not must_split(0, "hung", 10, True)


def test_attempts_that_a_user_ended_are_no_evidence(tmp_path):
    log = tmp_path / "log"
    log.write_text("elsewhere:1:a begin 0 5\n")
    assert attempts.count_deaths(log) == 1
    attempts.discard_attempts(log)
    assert attempts.count_deaths(log) == 0
    with open(log, "a", encoding="ascii") as file:
        file.write("elsewhere:1:b begin 0 5\nelsewhere:1:b end 0 5\nelsewhere:2:c begin 0 5\nhalf a li")
    assert attempts.count_deaths(log) == 1
