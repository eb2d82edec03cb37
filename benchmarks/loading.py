"""Loading robot files beside Pinocchio, in one run: python benchmarks/loading.py [turns]

The claim: loading Talos' URDF, with shapes, checks of its meshes and diagnostics, takes at most 10 times as long as
Pinocchio's buildModelFromUrdf, which reads the tree alone. Exit status 1 when it does not hold.
"""

import math
import sys
import time
from collections.abc import Callable

import pinocchio as pin
from _robots import robot_data

from multibody.model.load import load

CLAIM = 10.0
TALOS = "talos_data/robots/talos_full_v2.urdf"
OTHERS = (
    "panda_description/urdf/panda.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "tiago_description/robots/tiago.urdf",
)


def best(turns: int, *functions: Callable[[], object]) -> list[float]:
    """The least time of each; they take turns, so that a noisy machine is unfair to none."""
    times = [math.inf] * len(functions)
    for _ in range(turns):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            times[k] = min(times[k], time.perf_counter() - start)
    return times


def main(turns: int) -> int:
    worst = 0.0
    print(f"least of {turns} turns\n{'':26s}{'Pinocchio':>12s}{'multibody':>12s}{'ratio':>8s}")
    for path in (TALOS, *OTHERS):
        file = robot_data() / path
        theirs, ours = best(turns, lambda f=file: pin.buildModelFromUrdf(str(f)), lambda f=file: load(f))
        print(f"{file.name:26s}{theirs * 1e3:9.2f} ms{ours * 1e3:9.2f} ms{ours / theirs:8.1f}")
        if path == TALOS:
            worst = ours / theirs
    print(f"Talos: {worst:.1f} times Pinocchio (claim {CLAIM:g})")
    return int(worst > CLAIM)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
