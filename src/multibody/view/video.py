"""GIF and MP4 of motions, drawn by the library's own renderer."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody._notebook import is_notebook, updated_line
from multibody.compiler.runtime.progress import hidden
from multibody.errors import InputError
from multibody.geometry._arrays import truth
from multibody.robot import Robot
from multibody.view.picture import check_size
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.renderer import render
from multibody.view.shapes.decimation import shapes_for_picture


def rows_at(t: NDArray[Any], rate: float) -> list[int]:
    """Return the rows of a run that are nearest to frames at a rate in 1/s."""
    times = np.arange(t[0], t[-1] + 0.5 / rate, 1 / rate)
    return np.clip(np.searchsorted(t, times), 0, len(t) - 1).tolist()


def record(
    robot: Robot,
    t: NDArray[Any],
    q: NDArray[Any],
    path: Path,
    size: tuple[int, int],
    rate: float,
    progress: bool | None = None,
) -> None:
    """Save a motion, q of shape (rows, nq) at the times t, as a GIF or an MP4; see `Viewer.record`."""
    kind = path.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise InputError(f"record: expected a name that ends in .gif or .mp4, got {path.name!r}")
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError("record: .mp4 needs the program ffmpeg, which is not there: install it, or record a .gif")
    check_size(size)
    if not isinstance(rate, int | float) or not 0 < rate <= 1000:
        raise InputError(f"rate: expected frames a second, from 0 to 1000, got {rate!r}")
    states = q[rows_at(t, rate)]
    draw = _frame_drawer(robot, states, size)
    start = time.perf_counter()
    draw(states[0])
    seconds = (time.perf_counter() - start) * len(states)
    cost = f"recording {len(states)} frames of {size[0]} x {size[1]} pixels, about {seconds:.0f} s"
    with _tracked(states, cost, path.name, progress) as tracked:
        frames = (draw(state) for state in tracked)
        if kind == ".gif":
            _gif(frames, path, rate)
        else:
            _mp4(frames, path, size, rate)


@contextmanager
def _tracked(states: NDArray[Any], cost: str, name: str, progress: bool | None) -> Iterator[Iterable[NDArray[Any]]]:
    """Yield the states; while the caller goes through them, their cost and a bar are shown, in a notebook one line."""
    from rich.console import Console
    from rich.progress import Progress

    console, notebook = Console(stderr=True), is_notebook(sys.stderr)
    shown = notebook or console.is_interactive if progress is None else truth(progress, "progress")
    if shown and notebook:
        with hidden(), updated_line() as show:
            yield _announced(states, show, cost)
        return
    if shown:
        console.print(cost)
    with hidden() if shown else nullcontext(), Progress(console=console, transient=True, disable=not shown) as bar:
        yield bar.track(states, total=len(states), description=name)


def _announced(states: NDArray[Any], show: Callable[[str], None], cost: str) -> Iterator[NDArray[Any]]:
    for k, state in enumerate(states):
        show(f"{cost}: frame {k + 1}")
        yield state


def _frame_drawer(robot: Robot, q: NDArray[Any], size: tuple[int, int]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """A function that draws a configuration, (h, w, 3) as bytes, with a camera that has all of the motion in view."""
    shapes = shapes_for_picture(robot, size)
    points = shapes.points(robot, q[np.linspace(0, len(q) - 1, min(len(q), 8)).round().astype(int)])
    camera = Camera.around(points, "three-quarter", size)
    floor = min(0.0, float(points[:, 2].min()))
    return lambda state: (255 * render(shapes.placed(robot, state), camera, floor)).round().astype(np.uint8)


def _gif(frames: Iterator[NDArray[Any]], path: Path, rate: float) -> None:
    from PIL import Image  # matplotlib needs it, so that it is there

    images: list[Any] = []
    for frame in frames:  # one palette for all: the robot has its colours from the first frame on
        image = Image.fromarray(frame)
        images.append(image.quantize(palette=images[0], dither=Image.Dither.NONE) if images else image.quantize(128))
    images[0].save(path, save_all=True, append_images=images[1:], duration=round(1000 / rate), loop=0)


def _mp4(frames: Iterator[NDArray[Any]], path: Path, size: tuple[int, int], rate: float) -> None:
    command = [
        "ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}",
        "-r", f"{rate:g}", "-i", "-", "-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p", os.fspath(path),
    ]  # fmt: skip
    with (
        tempfile.TemporaryFile() as messages,  # a pipe could fill up while frames are written
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=messages) as process,
    ):
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended already; its message says why
            for frame in frames:
                process.stdin.write(frame.tobytes())
            process.stdin.close()
        complete = process.stdin.closed
        process.communicate()
        messages.seek(0)
        reason = messages.read().decode(errors="replace").strip()
    if process.returncode or not complete:
        raise InputError(f"record: ffmpeg failed: {reason or f'it ended with status {process.returncode}'}")
