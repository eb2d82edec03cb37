"""What a study costs beyond its function: python benchmarks/sweep.py [--what here] [--chunks N] [--turns N]

The function simulates a double pendulum in closed loop, for about a second a chunk, and notes when it was called and
when it returned. What lies between two calls of one worker is what a study costs a chunk: drawing samples, checking and
writing results, `fsync`, the mark, the scheduler. Its median is told, and its share of the function's. Scaling is the
ratio of the times of one and of two processes, from the first call to the end of the last and for the whole of `run`;
what the machine gives two calls of the function at once is told beside. It needs two cores for itself.

`--what model` measures what the model of docs/studies.md needs: chunks without work, in this process, on one and on two
workers of a Dask scheduler, their marks read again, and the start of a worker.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np

import multibody as mb
from multibody import simulate, sweep
from multibody.sweep.designs.random_streams import Draws

CHUNK = 20_000
CLUSTER = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}


def swing(steps):
    """A function of batches."""
    robot = mb.load("double-pendulum")
    simulator = simulate.Simulator(robot, dt=0.002, method="euler", controller=simulate.PD(20.0, 2.0))

    def function(sample, rng):
        begin = time.perf_counter()
        q = rng.uniform(-1.0, 1.0, robot.nq)
        run = simulator(q, seconds=steps * 0.002, every=steps, parameters={"kp": sample["kp"], "kd": sample["kd"]})
        error = np.abs(run.q[..., -1, :]).max(axis=-1)
        return {"error": error, "begin": np.full(len(q), begin), "end": np.full(len(q), time.perf_counter())}

    return function


def tuned():
    """The function, with as many steps as make a chunk take about a second."""
    steps, index = 500, np.arange(CHUNK)
    function = swing(steps)
    taken = []
    for _ in range(4):
        results = function(samples_of(1).rows(index), Draws(0, index))
        taken.append(results["end"][0] - results["begin"][0])
    steps = max(1, round(steps / min(taken)))
    print(f"{CHUNK} samples of {steps} steps a chunk")
    return swing(steps)


def samples_of(chunks):
    return sweep.uniform(chunks * CHUNK, kp=(1, 50), kd=(0.1, 5))


def study_of(function, chunks, folder):
    return sweep.Study(function, samples_of(chunks), folder / f"{time.time_ns()}.zarr", chunk=CHUNK)


def told(what, study):
    """Gaps between calls; those after the first chunk, a few samples of which are computed again, are left out."""
    results = study.results()
    begin, end = (np.sort(results[name][::CHUNK]) for name in ("begin", "end"))
    gap, work = median(begin[2:] - end[1:-1]), median(end[1:] - begin[1:])
    print(f"{what}: {1e3 * gap:.1f} ms between chunks of {1e3 * work:.0f} ms, {100 * gap / work:.2f} %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunks", type=int, default=12)
    parser.add_argument("--turns", type=int, default=1, help="of scaling")
    parser.add_argument("--what", choices=["here", "processes", "dask", "scaling", "numbers", "model"], default="here")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "numbers":
        numbers()
        return
    if asked.what == "model":
        model(asked.chunks)
        return
    function = tuned()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.what == "scaling":
            for _ in range(asked.turns):
                scaling(function, asked.chunks, folder)
            return
        study = study_of(function, asked.chunks, folder)
        if asked.what == "dask":
            import distributed

            with distributed.LocalCluster(**CLUSTER) as cluster, distributed.Client(cluster) as client:
                study.run(client, progress=False)
        elif asked.what == "processes":
            study.run("processes", progress=False, workers=1)
        else:
            study.run(progress=False)
        told(asked.what, study)


def scaling(function, chunks, folder):
    """One process, then two."""
    times, works, runs = [], [], []
    for workers in (1, 2):
        study = study_of(function, chunks, folder)
        before = time.perf_counter()
        study.run("processes", progress=False, workers=workers)
        runs.append(time.perf_counter() - before)
        begin, end = (study.results()[name][::CHUNK] for name in ("begin", "end"))
        times.append(end.max() - begin.min())
        works.append((end - begin).sum())
    ratio, machine = times[0] / times[1], 2 * works[0] / works[1]
    print(f"1 process {times[0]:.2f} s, 2 processes {times[1]:.2f} s: {ratio:.3f}; of run {runs[0] / runs[1]:.3f}")
    print(f"the function itself, two at once: {machine:.3f}; the study has {100 * ratio / machine:.1f} % of it")


def numbers():
    """Nanoseconds a random number, in chunks of 100,000 samples with four numbers each."""
    index = np.arange(100_000)
    for name in ("uniform", "normal"):
        taken = []
        for _ in range(7):
            draws = Draws(0, index)
            before = time.perf_counter()
            getattr(draws, name)(shape=4)
            taken.append(time.perf_counter() - before)
        print(f"{name}: {1e9 * min(taken) / (4 * len(index)):.1f} ns a number")


def model(chunks):
    """Seconds a chunk that has no work, by who computes it."""
    import distributed

    with tempfile.TemporaryDirectory() as name:

        def spent(executor):
            samples = sweep.uniform(chunks, x=(0, 1))
            study = sweep.Study(lambda s: {"y": 2 * s["x"]}, samples, f"{name}/{time.time_ns()}", 1)
            before, own = time.perf_counter(), time.process_time()
            study.run(executor, progress=False)
            taken, own = time.perf_counter() - before, time.process_time() - own
            before = time.perf_counter()
            study.run(progress=False)
            return [1e3 * t / chunks for t in (taken, own, time.perf_counter() - before)]

        print(
            "here: {:.2f} ms a chunk, {:.2f} of them computing; {:.3f} ms to check one at resume".format(*spent(None))
        )
        for workers in (1, 2):
            with distributed.LocalCluster(**{**CLUSTER, "n_workers": workers}) as cluster:
                spent(cluster.scheduler_address)  # workers import the library
                taken, own, _ = spent(cluster.scheduler_address)
                print(f"Dask, {workers} workers: {taken:.2f} ms a chunk, {own:.2f} of scheduler and client")
        before = time.perf_counter()
        with distributed.LocalCluster(**CLUSTER) as cluster, distributed.Client(cluster) as client:
            client.submit(__import__, "multibody.sweep.executors.dask").result()
            print(f"a scheduler, a worker and its imports: {time.perf_counter() - before:.1f} s")


if __name__ == "__main__":
    main()
