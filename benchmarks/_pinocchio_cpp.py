"""Pinocchio in a C++ loop, compiled on the spot with the headers and the library that its wheels bring."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 150
"""After which g++ is given up."""
SOURCE = Path(__file__).with_name("_pinocchio_loop.cpp")
KINDS = {f"JointModel{name}": k for k, name in enumerate(("FreeFlyer", "RX", "RY", "RZ", "PX", "PY", "PZ"))}
FLAGS = (
    "-std=c++17 -O2 -DNDEBUG -w -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 "
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS -DBOOST_FUSION_INVOKE_MAX_ARITY=12 "
    "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION"
)
"""The definitions are those of Pinocchio's own CMake files; with -march=native its compiled library does not fit."""


class MissingError(Exception):
    """What a peer needs and does not find."""


def build() -> Path:
    """The program, compiled the first time and kept in the user's cache."""
    import pinocchio as pin

    compiler = shutil.which("g++")
    if compiler is None:
        raise MissingError("no g++")
    prefix = next((p / "include" for p in Path(pin.__file__).parents if (p / "include/pinocchio").is_dir()), None)
    if prefix is None:
        raise MissingError("no headers of Pinocchio")
    site = Path(np.__file__).parents[1]
    places = [prefix / "eigen3", site / "casadi/include/eigen3", Path("/usr/include/eigen3")]
    eigen = next((place for place in places if (place / "Eigen").is_dir()), None)
    if eigen is None:
        raise MissingError("no headers of Eigen (pip install cmeel-eigen)")
    command = [compiler, *FLAGS.split(), f"-I{prefix}", f"-I{eigen}", str(SOURCE)]
    libraries = [f"-L{prefix.parent / 'lib'}", f"-Wl,-rpath,{prefix.parent / 'lib'}", "-lpinocchio_default"]
    digest = hashlib.sha256(repr(command).encode() + SOURCE.read_bytes() + pin.__version__.encode()).hexdigest()[:16]
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "multibody-benchmarks"
    program = place / f"pinocchio-{digest}"
    if not program.exists():
        place.mkdir(parents=True, exist_ok=True)
        print("compiling the loop around Pinocchio, once ...", flush=True)
        command += ["-o", f"{program}.new", *libraries]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise MissingError(f"g++ took more than {SECONDS} s") from None
        if run.returncode:
            raise MissingError(f"g++ failed: {run.stderr.strip().splitlines()[0]}")
        Path(f"{program}.new").replace(program)
    return program


def measure(model: Any, frame: str, q: np.ndarray, v: np.ndarray, a: np.ndarray, budget: float) -> dict[str, float]:
    """Seconds of one evaluation of each quantity; the torques are checked against those from Python.

    Args:
        model: of Pinocchio.
        frame: the name of a frame.
        q: (count, nq) in Pinocchio's layout, as the following.
        v: (count, nv).
        a: (count, nv).
        budget: seconds for each quantity.
    """
    import pinocchio as pin

    program = build()
    numbers: list[Any] = [model.njoints - 1, len(q)]
    for i in range(1, model.njoints):
        kind = model.joints[i].shortname()
        if kind not in KINDS:
            raise MissingError(f"the loop has no {kind}")
        placement, inertia = model.jointPlacements[i], model.inertias[i]
        numbers += [KINDS[kind], model.parents[i], *placement.rotation.ravel(), *placement.translation]
        numbers += [*inertia.toDynamicParameters()]
    end = model.frames[model.getFrameId(frame)]
    numbers += [end.parentJoint, *end.placement.rotation.ravel(), *end.placement.translation]
    states = np.concatenate([q, v, a], axis=1)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "robot.bin"
        file.write_bytes(np.array(numbers, dtype=float).tobytes() + states.tobytes())
        run = subprocess.run([str(program), str(file), str(budget)], capture_output=True, text=True)
    if run.returncode:
        raise MissingError(f"the loop ended with status {run.returncode}")
    rows = [line.split() for line in run.stdout.splitlines()]
    results = {name: float(value) for name, _, value in rows}
    expected = pin.rnea(model, model.createData(), q[0], v[0], a[0])[0]
    np.testing.assert_allclose(results["inverse_dynamics"], expected, rtol=1e-9)
    return {name: float(time) * 1e-9 for name, time, _ in rows}
