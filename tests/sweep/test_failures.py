"""Samples that raise, hang, die, eat memory or return what cannot be kept: reported, and all others are right."""

import os
import time

import numpy as np
import pytest

from multibody import sweep

from . import studies

SAMPLES = {"x": np.arange(60.0)}


def check(study, expected):
    failures = {failure.index: failure for failure in study.failures()}
    assert {index: failure.kind for index, failure in failures.items()} == expected
    assert all(failure.sample == {"x": float(index)} for index, failure in failures.items())
    y = np.asarray(study.results()["y"])
    good = ~study.failed
    assert study.failed.sum() == len(expected)
    assert (y[good] == 2 * SAMPLES["x"][good]).all()
    assert np.isnan(y[~good]).all()


@pytest.mark.parametrize("chunk", [None, 1, 60, 25])
def test_each_failure_is_that_of_its_sample(tmp_path, chunk):
    study = sweep.Study(studies.nasty, SAMPLES, tmp_path / "a.zarr", chunk=chunk)
    with pytest.warns(sweep.SweepWarning, match="6 of 60 samples failed, the first is 7: ValueError: seven"):
        study.run()
    check(study, studies.EXPECTED)
    assert "studies.py" in study.failures()[0].error


def test_failed_samples_are_run_again_alone(tmp_path):
    switch = {"on": True}
    seen = []

    def moody(sample):
        seen.extend(sample["x"].tolist())
        if switch["on"] and (sample["x"] % 20 == 0).any():
            raise ValueError("not now")
        return {"y": 2 * sample["x"]}

    study = sweep.Study(moody, SAMPLES, tmp_path / "a.zarr", chunk=30)
    with pytest.warns(sweep.SweepWarning, match="3 of 60"):
        study.run()
    seen.clear()
    switch["on"] = False
    again = sweep.Study(moody, SAMPLES, tmp_path / "a.zarr", fork=True)
    again.run(only="failed")
    assert {0.0, 20.0, 40.0} <= set(seen) <= {0.0, 20.0, 40.0, 15.0, 29.0, 45.0, 30.0, 59.0}  # and a few alone
    check(again, {})


def test_hangs_deaths_and_memory_are_contained(tmp_path):
    study = sweep.Study(studies.deadly, SAMPLES, tmp_path / "a.zarr", chunk=4)
    with pytest.warns(sweep.SweepWarning, match="9 of 60"):
        study.run("processes", limit=1.5, memory=2**28, workers=2)
    check(study, {**studies.EXPECTED, 3: "died", 21: "hung", 35: "memory"})


def test_time_is_that_of_a_call_and_not_of_all_that_a_chunk_is_taken_apart_into(tmp_path):
    """A function with a cost a call: one sample hangs, and no other one is taken for late."""

    def slow(sample):
        time.sleep(1000 if (sample["x"] == 59).any() else 0.05)
        return {"y": 2 * sample["x"]}

    study = sweep.Study(slow, SAMPLES, tmp_path / "a.zarr", chunk=60)
    with pytest.warns(sweep.SweepWarning, match="1 of 60"):
        study.run("processes", limit=1.5, workers=1)
    check(study, {59: "hung"})


def test_an_interrupt_is_no_death(tmp_path):
    notes = tmp_path / "a.zarr" / "journal" / "begun" / "00000001"
    released = tmp_path / "released"

    def slow(sample):
        while (sample["x"] == 1).any() and notes.exists() and not released.exists():  # not in the first look
            time.sleep(0.01)
        return {"y": 2 * sample["x"]}

    def interrupt(tally):
        del tally
        if notes.exists() and notes.read_text().split()[-3:-2] == ["begin"]:
            raise KeyboardInterrupt

    study = sweep.Study(slow, {"x": np.arange(2.0)}, tmp_path / "a.zarr", chunk=1)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            study.run("processes", workers=1, progress=interrupt)
    released.touch()
    assert study.run("processes", workers=1).failed == 0
    assert study.results()["y"][:].tolist() == [0.0, 2.0]


def test_functions_that_cannot_do_one_sample_alone_are_told(tmp_path):
    def crowd(sample):
        if len(sample["x"]) < 2:
            raise ValueError("one is not enough")
        return {"y": 2 * sample["x"]}

    study = sweep.Study(crowd, SAMPLES, tmp_path / "a.zarr", chunk=20)
    with pytest.warns(sweep.SweepWarning, match="depend on its neighbours"):
        study.run()
    check(study, {})


def test_the_first_calls_survive_bad_first_samples(tmp_path):
    def late(sample):
        if (sample["x"] < 1).any():
            os._exit(1)
        return {"y": 2 * sample["x"]}

    study = sweep.Study(late, SAMPLES, tmp_path / "a.zarr", chunk=1)
    with pytest.warns(sweep.SweepWarning, match="1 of 60"):
        study.run("processes", workers=1)
    check(study, {0: "died"})


def test_nan_may_be_a_result(tmp_path):
    study = sweep.Study(
        lambda s: {"y": np.where(s["x"] == 3, np.nan, s["x"])}, SAMPLES, tmp_path / "a.zarr", nan_fails=False
    )
    assert study.run().failed == 0
    assert np.isnan(study.results()["y"][3])
