"""Updates of a viewer that arrive at a page, and CPU seconds of pictures and moving pictures.

Talos (38 joints) with its meshes and a quadruped with 100 ghosts are moved 75 times a second for a while; a process of
its own listens as a page does, unpacks what arrives, and counts how often each link was moved. It counts what arrives
at a client of the web socket, not calls that return.

Pictures are those of robots with many triangles, in several postures; the first one reads and decimates the meshes.

python benchmarks/viewer.py
"""

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from _robots import robot_data

import multibody as mb
from multibody import simulate
from multibody.view.shapes.visual_shapes import visual_shapes

RATE, SECONDS = 75, 8.0
LEAST = 60.0
"""Updates a second that have to arrive: some are sent together with their successors when the machine is late."""

MAX_PICTURE, MAX_RECORD = 0.5, 5.0
"""CPU s: of a picture after the first, for a robot of 684,000 triangles, and of 50 frames of the quadruped."""

CLIENT = """
import sys, time
import msgspec.msgpack, zstandard
from collections import Counter
from websockets.sync.client import connect

unpack = zstandard.ZstdDecompressor()
with connect(f"ws://localhost:{sys.argv[1]}", subprotocols=["viser-v1.1.1"], max_size=None, compression=None,
             proxy=None) as page:
    moved, size, first, last, quiet, wanted = Counter(), 0, None, None, 2.0, sys.argv[2]
    print("ready", flush=True)
    while True:
        try:
            window = page.recv(timeout=quiet)
        except TimeoutError:
            if first is not None and sum(moved.values()):
                break
            continue
        now = time.perf_counter()
        inner = msgspec.msgpack.decode(unpack.decompress(window[16 : 16 + int.from_bytes(window[8:16], "little")]))
        names = [m["name"] for m in inner["messages"] if m["type"] == wanted and m["name"].startswith(sys.argv[3])
                 and (wanted != "SceneNodeUpdateMessage" or "batched_positions" in m["updates"])]
        if names:
            first, last = first or now, now
            moved.update(names)
            size += len(window)
    # the first of each came with the scene
    print(min(moved.values()) - 1, last - first, len(moved), size / 1e6)
"""


def counted(viewer: mb.view.Viewer, states: np.ndarray, kind: str) -> tuple[float, float, int, float]:
    """Updates and calls in a second, the nodes that moved, and MB in a second."""
    command = [sys.executable, "-c", CLIENT, str(viewer.port), kind, f"/{viewer.robot.name}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        client.stdout.readline()
        time.sleep(1.0)
        start = time.perf_counter()
        for k, q in enumerate(states):
            time.sleep(max(0.0, start + k / RATE - time.perf_counter()))
            viewer.update(q)
        calls = len(states) / (time.perf_counter() - start)
        updates, _, nodes, size = map(float, client.stdout.readline().split())
    length = len(states) / RATE
    return updates / length, calls, int(nodes), size / length


def swing(robot: mb.Robot, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Configurations on the way from home to somewhere else and back."""
    rng = np.random.default_rng(seed)
    ends = robot.random(rng, shape[1:])
    part = 0.25 * (1 - np.cos(np.linspace(0, 4 * np.pi, shape[0])))
    return np.stack([robot.interpolate(robot.home(), ends, float(x)) for x in part])


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of a call, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def pictures() -> list[str]:
    """Print CPU seconds of pictures; the limits that are not kept."""
    slow = []
    print(f"\n{'CPU s of a picture, 800 x 600':36}{'triangles':>12}{'first':>8}{'later':>8}")
    for path in (
        "go1_description/urdf/go1.urdf",
        "b1_description/urdf/b1.urdf",
        "talos_data/robots/talos_full_v2.urdf",
    ):
        robot = mb.load(robot_data() / path, floating=True)
        count = sum(len(each.faces) for own in visual_shapes(robot).links.values() for each in own)
        first, *later = (cpu(partial(mb.view.picture, robot, q)) for q in swing(robot, (6,)))
        print(f"{robot.name:36}{count:12,}{first:8.2f}{np.median(later):8.2f}")
        if count < 700_000 and np.median(later) > MAX_PICTURE:
            slow.append(f"a picture of {robot.name} takes {np.median(later):.2f} CPU s")
    quadruped = mb.load("quadruped")
    run = simulate.Simulator(quadruped, dt=0.01, method="euler")(quadruped.home(), seconds=2.0)
    with tempfile.TemporaryDirectory() as folder, mb.view.show(quadruped, open_browser=False) as viewer:
        viewer.play(run, charts=False)
        viewer.pause()
        seconds = cpu(partial(viewer.record, Path(folder) / "run.gif"))
    print(f"{'quadruped, 50 frames as GIF, 640 x 480':48}{seconds:16.2f}")
    return [*slow, *([f"50 frames take {seconds:.2f} CPU s"] if seconds > MAX_RECORD else [])]


def main() -> None:
    """Print the tables; leave with an error when fewer updates arrive, or pictures take longer."""
    warnings.simplefilter("ignore")
    count = round(RATE * SECONDS)
    talos = mb.load(robot_data() / "talos_data/robots/talos_full_v2.urdf", floating=True)
    quadruped = mb.load("quadruped")
    cases = (
        (f"talos, {len(talos.joints) - 1} joints, meshes", talos, swing(talos, (count,)), "SetPositionMessage"),
        ("quadruped, 100 ghosts", quadruped, swing(quadruped, (count, 101)), "SceneNodeUpdateMessage"),
    )
    short = []
    print(f"{'':36}{'arrive / s':>12}{'calls / s':>12}{'nodes':>8}{'MB / s':>9}")
    for name, robot, states, kind in cases:
        with mb.view.show(robot, states[0], open_browser=False) as viewer:
            updates, calls, nodes, size = counted(viewer, states, kind)
        print(f"{name:36}{updates:12.1f}{calls:12.1f}{nodes:8d}{size:9.2f}")
        if updates < LEAST:
            short.append(f"fewer than {LEAST:g} updates a second arrive of {name}")
    short += pictures()
    if short:
        raise SystemExit("; ".join(short))


if __name__ == "__main__":
    main()
