"""Studies over MPI, by the executor of mpi4py: the same bits, and deaths that are found at resume."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from multibody import sweep
from multibody.sweep.designs.random_streams import Draws

from .test_study import environment

pytest.importorskip("mpi4py")
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
if MPIEXEC is None:
    pytest.skip("there is no mpiexec", allow_module_level=True)
SCRIPT = """
import os, sys
import numpy as np
import multibody as mb

def made(deadly):
    def f(sample, rng):
        if (sample["x"] == deadly).any():
            os._exit(3)
        return {"y": np.sin(sample["x"]) + rng.normal()}

    return f

if __name__ == "__main__":
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor(*map(int, sys.argv[3:])) as pool:
        study = mb.sweep.Study(made(float(sys.argv[2])), {"x": np.arange(40.0)}, sys.argv[1], chunk=4)
        study.run(pool, progress=False)
"""


def run(folder: Path, processes: int, *words: object) -> subprocess.CompletedProcess[str]:
    script = folder / "study.py"
    script.write_text(SCRIPT)
    path = os.pathsep.join([str(Path(str(MPIEXEC)).parent), os.environ["PATH"]])
    command = [str(MPIEXEC), "-n", str(processes), sys.executable, "-W", "ignore", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**environment(), "PATH": path})


def check(folder: Path, missing: tuple[int, ...] = ()) -> None:
    study = sweep.open(folder / "a.zarr")
    assert [(failure.index, failure.kind) for failure in study.failures()] == [(k, "died") for k in missing]
    x = np.arange(40.0)
    expected = np.sin(x) + Draws(0, np.arange(40)).normal()
    good = ~np.isin(x, missing)
    assert np.asarray(study.results()["y"])[good].tobytes() == expected[good].tobytes()


def test_a_pool_of_all_processes_but_one(tmp_path):
    ended = run(tmp_path, 3, "-m", "mpi4py.futures", tmp_path / "study.py", tmp_path / "a.zarr", -1)
    assert ended.returncode == 0, ended.stderr
    check(tmp_path)


@pytest.mark.slow
def test_a_pool_that_is_spawned(tmp_path):
    ended = run(tmp_path, 1, tmp_path / "study.py", tmp_path / "a.zarr", -1, 2)
    assert ended.returncode == 0, ended.stderr
    check(tmp_path)


@pytest.mark.slow
def test_a_death_ends_all_and_is_found_at_resume(tmp_path):
    """A process that dies takes the job with it."""
    codes = []
    while not codes or (codes[-1] and len(codes) < 12):
        words = "-m", "mpi4py.futures", tmp_path / "study.py", tmp_path / "a.zarr", 21
        codes.append(run(tmp_path, 3, *words).returncode)
    assert codes[-1] == 0
    assert len(codes) >= 4
    check(tmp_path, (21,))
