"""From nothing to the first torque: python benchmarks/cold_start.py [--repeats N]

Each figure is the least of some fresh processes. Cold: the cache of kernels is empty. Warm: an earlier process has
filled it. The claims, about the first call of `inverse_dynamics`: cold, at most 1 s for Panda, 2 s for ANYmal and 5 s
for Talos; warm, at most 0.1 s. Exit status 1 when one does not hold. Then where the time of a cold call goes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _robots import CASES, load, plain_urdf

import multibody as mb
from multibody.compiler.codegen.variants import SCALAR, modules_of
from multibody.compiler.config import config
from multibody.compiler.runtime import native

CLAIMS = {"panda": 1.0, "anymal": 2.0, "talos": 5.0}
WARM = 0.1
CHILD = """
import sys, time
import numpy as np
start = time.perf_counter()
import multibody as mb
imported = time.perf_counter()
robot = mb.load(open(sys.argv[1]).read(), floating=sys.argv[2] == "True")
loaded = time.perf_counter()
q, v = robot.neutral(), np.zeros(robot.nv)
before, used = time.perf_counter(), time.process_time()
robot.inverse_dynamics(q, v, v)
print(imported - start, loaded - imported, time.perf_counter() - before, time.process_time() - used)
"""
PARTS = ("import", "load", "first call", "its CPU time")


def child(file: Path, floating: bool, cache: str) -> np.ndarray:
    """Seconds of import, load and first call in a fresh process, and the CPU time of the last."""
    command = [sys.executable, "-c", CHILD, str(file), str(floating)]
    environment = os.environ | {"MULTIBODY_CACHE_DIR": cache}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return np.array([float(x) for x in run.stdout.split()])


def starts(file: Path, floating: bool, repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """The least times of a cold and of a warm start."""
    cold, warm = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(child(file, floating, cache))
            warm += [child(file, floating, cache) for _ in range(2)]
    return np.min(cold, axis=0), np.min(warm, axis=0)


def stages(robot: mb.Robot) -> dict[str, float]:
    """CPU seconds of the stages of a cold call: running the NumPy source, passes and text of the code, LLVM."""
    kernel = robot.kernel("inverse_dynamics")
    best = np.full(3, np.inf)
    for _ in range(3):
        ticks = [time.process_time()]
        traced = kernel.trace()
        ticks.append(time.process_time())
        forms, _ = modules_of(traced)
        ticks.append(time.process_time())
        for text in forms[SCALAR]:
            native.compile_object(text, config.level)
        ticks.append(time.process_time())
        best = np.minimum(best, np.diff(ticks))
    return dict(zip(("trace", "passes and text", "LLVM"), best.tolist(), strict=True))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    short = 0
    print(f"least of {repeats} cold and {2 * repeats} warm processes, s\n{'':8s}{'cold:':>8s}", end="")
    print("".join(f"{part:>14s}" for part in PARTS) + f"{'warm:':>10s}" + "".join(f"{part:>14s}" for part in PARTS))
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / f"{name}.urdf"
            file.write_text(plain_urdf(name))
            cold, warm = starts(file, case.floating, repeats)
        holds = cold[2] <= CLAIMS[name] and warm[2] <= WARM
        short += not holds
        figures = ["".join(f"{x:14.3f}" for x in times) for times in (cold, warm)]
        claim = f"claims {CLAIMS[name]:g} and {WARM:g}: {'ok' if holds else 'SHORT'}"
        print(f"{name:16s}{figures[0]}{'':10s}{figures[1]}   {claim}")
    mb.config.cache = False
    for name in CASES:
        parts = stages(load(name))
        print(f"{name:8s} of a cold call, CPU time: " + ", ".join(f"{part} {t:.3f} s" for part, t in parts.items()))
    return int(short > 0)


if __name__ == "__main__":
    sys.exit(main())
