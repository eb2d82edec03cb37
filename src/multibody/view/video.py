"""Moving pictures of runs, drawn by the library's own renderer."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.robot import Robot
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.renderer import render
from multibody.view.shapes.decimation import shapes_for_picture


def rows_at(t: NDArray[Any], rate: float) -> list[int]:
    """The rows of a run that are nearest to pictures at a rate in 1/s."""
    times = np.arange(t[0], t[-1] + 0.5 / rate, 1 / rate)
    return np.clip(np.searchsorted(t, times), 0, len(t) - 1).tolist()


def record(robot: Robot, t: NDArray[Any], q: NDArray[Any], path: Path, size: tuple[int, int], rate: float) -> None:
    """Save a motion, q of shape (rows, nq) at the times t, as a GIF or an MP4."""
    kind = path.suffix.lower()
    if kind not in (".gif", ".mp4"):
        raise InputError(f"record: expected a name that ends in .gif or .mp4, got {path.name!r}")
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        raise InputError("record: .mp4 needs the program ffmpeg, which is not there: install it, or record a .gif")
    chosen = rows_at(t, rate)
    frames = _frames(robot, q[chosen], size)
    if kind == ".gif":
        _gif(frames, path, rate)
    else:
        _mp4(frames, path, size, rate)


def has_screen() -> bool:
    """Whether a browser that is opened would be seen."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def is_remote() -> bool:
    """Whether the browser of a notebook is, as far as one can tell, on another machine than this process."""
    return "google.colab" in sys.modules or any(name in os.environ for name in ("JUPYTERHUB_USER", "SSH_CONNECTION"))


def _frames(robot: Robot, q: NDArray[Any], size: tuple[int, int]) -> Iterator[NDArray[Any]]:
    """Pictures, (h, w, 3) as bytes, from one camera that has all of the motion in view."""
    shapes = shapes_for_picture(robot, size)
    points = shapes.points(robot, q[np.linspace(0, len(q) - 1, min(len(q), 8)).round().astype(int)])
    camera = Camera.around(points, "three-quarter", size)
    floor = min(0.0, float(points[:, 2].min()))
    for state in q:
        yield (255 * render(shapes.placed(robot, state), camera, floor)).round().astype(np.uint8)


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
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        for frame in frames:
            process.stdin.write(frame.tobytes())
        _, said = process.communicate()
    if process.returncode:
        raise InputError(f"record: ffmpeg failed: {said.decode(errors='replace').strip()}")
