"""Files of runs: npz with all arrays, and a description in JSON."""

import json
import zipfile
from os import PathLike
from typing import Any

import numpy as np

from multibody._saving import check_place
from multibody.errors import InputError
from multibody.robot import Robot
from multibody.simulate.nested_state import with_prefix
from multibody.simulate.run import ROWS, Run
from multibody.tracing.record.layout import flatten_to_list, rebuild

FORMAT = 2
"""The version of the file format; other versions are refused."""


def save(run: Run, path: str | PathLike[str]) -> None:
    """Write a run to a file .npz."""
    place = check_place(path, "path")
    arrays: dict[str, Any] = {"t": run.t}
    arrays |= {name: x for name in ROWS if (x := getattr(run, name)) is not None}
    arrays |= {f"output:{name}": x for name, x in run.outputs.items()}
    arrays |= {f"parameter:{name}": x for name, x in run.parameters.items()}
    state, layout = flatten_to_list(dict(run.state))
    arrays |= {f"state:{k}": x for k, x in enumerate(state)}
    text = json.dumps({"format": FORMAT, "layout": layout, **run.about})
    try:
        with open(place, "wb") as file:
            np.savez(file, about=np.array(text), **arrays)
    except OSError as error:
        raise InputError(f"path: cannot write {str(place)!r}: {error.strerror}") from None


def load(path: str | PathLike[str], robot: Robot | None = None) -> Run:
    """Read a run from a file; the robot, which must be the run's, is needed only
    for energies, momenta and their plots.

    >>> import tempfile, pathlib
    >>> import multibody as mb
    >>> from multibody import simulate
    >>> simulator = simulate.Simulator(mb.load("double-pendulum"), dt=0.01, method="rk4")
    >>> run = simulator([0.1, 0.2], seconds=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(pathlib.Path(folder) / "run.npz")
    ...     again = load(pathlib.Path(folder) / "run.npz")
    >>> bool((again.q == run.q).all())
    True
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop("about")))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"load: expected a file that run.save wrote, got {str(path)!r}: {error}") from None
    if about.pop("format", None) != FORMAT:
        raise InputError(f"load: {str(path)!r} is of another version of the format than {FORMAT}: simulate again")
    if robot is not None and robot.model.digest != about["digest"]:
        raise InputError(f"load: the run is of another robot, {about['robot']!r}, than {robot.name!r}: digests differ")
    state = rebuild(about.pop("layout"), iter(with_prefix(arrays, "state:").values()))
    parameters = with_prefix(arrays, "parameter:")
    return Run.of(arrays["t"], arrays, state=state, parameters=parameters, about=about, robot=robot)
