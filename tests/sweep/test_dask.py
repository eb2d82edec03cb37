"""Studies on a Dask cluster of this machine: the same bits, failures found, lost workers and tasks cost nothing."""

import warnings

import numpy as np
import pytest

from multibody import sweep
from multibody.errors import InputError
from multibody.sweep.attempts import process_name
from multibody.sweep.executors import executor_for

from . import studies
from .test_failures import SAMPLES, check

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
        ) as cluster:
            yield cluster


@pytest.mark.filterwarnings("ignore")
def test_bits_are_those_of_one_process(cluster, tmp_path):
    samples = sweep.uniform(1000, x=(0, 1))
    here = sweep.Study(studies.plain, samples, tmp_path / "here.zarr", chunk=300)
    here.run()
    there = sweep.Study(studies.plain, samples, tmp_path / "there.zarr", chunk=70)
    with distributed.Client(cluster, set_as_default=False) as client:
        there.run(client)
    by_address = sweep.Study(studies.plain, samples, tmp_path / "address.zarr", chunk=70)
    by_address.run(cluster.scheduler_address)
    for study in (there, by_address):
        for name, x in here.results().items():
            assert np.asarray(study.results()[name]).tobytes() == np.asarray(x).tobytes()
        assert {commit.worker for commit in study.record.commits()}.isdisjoint({process_name()})


@pytest.mark.filterwarnings("ignore")
def test_a_chunk_that_is_done_costs_a_token(tmp_path):
    """Dask computes tasks of lost workers again: the mark says that there is nothing to do."""
    from multibody.sweep.chunks import ChunkTask, Job, evaluate, write
    from multibody.sweep.shipping import pack, unpack

    study = sweep.Study(studies.plain, sweep.uniform(100, x=(0, 1)), tmp_path / "a.zarr", chunk=50)
    study.run()
    before = [commit.seconds for commit in study.record.commits()]
    work = unpack(pack(Job(studies.nasty, study.samples, 0, True, study.path), {}, None))
    assert write(evaluate(work, ChunkTask(1))).state == "found"
    assert [commit.seconds for commit in study.record.commits()] == before


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_is_its_scheduler(cluster, tmp_path):
    study = sweep.Study(studies.plain, sweep.uniform(20, x=(0, 1)), tmp_path / "a.zarr", chunk=10)
    assert study.run(cluster).done == 20
    assert not {commit.worker for commit in study.record.commits()} & {process_name()}


@pytest.mark.filterwarnings("ignore")
def test_an_executor_of_a_client_is_refused(cluster, tmp_path):
    study = sweep.Study(studies.plain, sweep.uniform(20, x=(0, 1)), tmp_path / "a.zarr")
    with (
        distributed.Client(cluster, set_as_default=False) as client,
        client.get_executor() as executor,
        pytest.raises(InputError, match=r"expected the Dask client itself, study\.run\(client\)"),
    ):
        study.run(executor)


@pytest.mark.filterwarnings("ignore")
def test_a_limit_without_a_nanny_is_told(tmp_path):
    options = {"processes": False, "dashboard_address": None, "silence_logs": 50}
    study = sweep.Study(studies.plain, sweep.uniform(20, x=(0, 1)), tmp_path / "a.zarr", chunk=10)
    with (
        pytest.warns(sweep.SweepWarning, match="has no nanny, so nothing ends a call"),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster,
    ):
        assert study.run(cluster, limit=30.0).done == 20


def test_every_worker_is_asked_for_its_nanny(cluster, tmp_path, monkeypatch):
    """Versions of Dask from 2025.4 to 2026.6 list five workers, unless they are asked for all."""

    def scheduler_info(_, n_workers=5):
        workers = {f"tcp://{k}": {"nanny": k < 7} for k in range(8)}
        return {"workers": dict(list(workers.items())[:n_workers] if n_workers >= 0 else workers)}

    monkeypatch.setattr(distributed.Client, "scheduler_info", scheduler_info)
    with pytest.warns(sweep.SweepWarning, match="tcp://7 has no nanny"):
        executor_for(cluster, tmp_path, 30.0, None, None, 1).close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_hangs_deaths_and_memory_are_contained_under_a_nanny(tmp_path):
    """A nanny ends workers that take more than their memory; the reason is known unless it is faster than our look."""
    options = {"dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50, "memory_limit": "800MB"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster:
        study = sweep.Study(studies.deadly, SAMPLES, tmp_path / "a.zarr", chunk=20)
        study.run(cluster.scheduler_address, limit=5.0)
    memory = {failure.index: failure.kind for failure in study.failures()}.get(35)
    assert memory in ("memory", "died")
    check(study, {**studies.EXPECTED, 3: "died", 21: "hung", 35: memory})


def test_a_scheduler_that_is_not_there(tmp_path):
    timeout = dask.config.set({"distributed.comm.timeouts.connect": "0.5s"})
    with timeout, pytest.raises(sweep.SweepError, match="does not answer"):
        sweep.Study(studies.plain, sweep.uniform(10, x=(0, 1)), tmp_path / "a.zarr").run("tcp://127.0.0.1:9")
