"""Claim: a quadruped stands for a million steps: python benchmarks/standing.py [--quick]

The embedded quadruped under PD control, 16 of them with masses and frictions that differ, at 2 ms: after they have come
to rest, a million steps (2,000 s) later each stands where it stood, and the process has the memory that it had. Exit
status 1 when a claim does not hold.
"""

import resource
import sys
import time

import numpy as np

import multibody as mb
from multibody import simulate

SAMPLES, DT, PIECE = 16, 0.002, 100.0


def main() -> None:
    seconds = 100.0 if "--quick" in sys.argv else 2000.0
    robot = mb.load("quadruped")
    feet = [frame for frame in robot.frames if frame.startswith("foot")]
    contacts = [simulate.SphereContact(foot, radius=0.02) for foot in feet]
    simulator = simulate.Simulator(robot, DT, contacts=contacts, controller=simulate.PD(80.0, 2.0))
    rng = np.random.default_rng(0)
    varied = {"friction": rng.uniform(0.4, 1.0, SAMPLES), "mass": robot.mass * rng.uniform(0.8, 1.2, SAMPLES)}
    q = np.tile(robot.home(), (SAMPLES, 1))
    q[:, 2] += 0.03 - robot.pose(feet[0], robot.home()).position[2]

    def places(run: simulate.Run) -> np.ndarray:
        return np.stack([robot.pose(foot, run.last[0]).position for foot in feet], axis=1)

    def stands(run: simulate.Run, seconds: float) -> simulate.Run:
        return simulator(run, seconds=seconds, every=10**6, parameters=varied)

    run = simulator(q, seconds=20.0, every=10_000, parameters=varied)
    run = stands(run, PIECE)
    before, memory, begun = places(run), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    for _ in range(round(seconds / PIECE)):
        run = stands(run, PIECE)
    moved = float(np.linalg.norm(places(run) - before, axis=-1).max())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    steps = round(seconds / DT)
    print(f"{steps} steps of {SAMPLES} quadrupeds in {time.perf_counter() - begun:.0f} s; {run}")
    height = float(run.last[0][:, 2].min())
    claims = {
        f"heights {height:.3f} m, at least 0.2 m": height >= 0.2,
        f"feet moved by {moved:.1e} m, at most 1e-5 m": moved <= 1e-5,
        f"memory grew by {grown} kB, at most 4096 kB": grown <= 4096,
    }
    for claim, holds in claims.items():
        print(f"  {'ok  ' if holds else 'FAIL'} {claim}")
    raise SystemExit(0 if all(claims.values()) else 1)


if __name__ == "__main__":
    main()
