"""Draw the picture of docs/rotation-errors.md: the ways of RD's example 2.9.7, computed by the library.

Run from the root of the repository: python docs/figures/rotation_paths.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import multibody as mb
from multibody import control

STATIC = Path(__file__).parent.parent / "_static"
INK, FAINT = "#222832", "#c9d0d9"
AXES = ("#c0561b", "#1a8a4c", "#1f6fb4")

WRIST = mb.load("zyx-wrist")
START, GOAL = np.array([-0.7, 0.0, 1.5]), np.array([0.7, 1.5, -0.5])
PANELS = {
    "euler-zyx": "Euler ZYX",
    "euler-xyz": "Euler XYZ",
    "euler-zxz": "Euler ZXZ",
    "quaternion": "quaternion",
    "rotation-vector-difference": "rotation vector, difference",
    "rotation-vector": "shortest rotation",
}
ELEVATION, AZIMUTH = 20.0, -60.0
TOWARD = mb.Rotation.from_euler("zyx", np.radians([AZIMUTH, -ELEVATION, 0.0])) @ [1.0, 0.0, 0.0]
"""Where we look from."""


def ball(ax):
    """The unit sphere, as meridians and parallels, those in front darker."""
    u = np.linspace(0, 2 * np.pi, 61)
    for angle in np.radians(np.arange(0, 180, 30)):
        line(ax, np.array([np.cos(u) * np.cos(angle), np.cos(u) * np.sin(angle), np.sin(u)]), FAINT, 0.7)
    for angle in np.radians(np.arange(-60, 90, 30)):
        line(
            ax,
            np.array([np.cos(angle) * np.cos(u), np.cos(angle) * np.sin(u), np.full_like(u, np.sin(angle))]),
            FAINT,
            0.7,
        )


def line(ax, points, color, width):
    front = TOWARD @ points >= 0
    for mask, opacity in ((front, 1.0), (~front, 0.35)):
        ax.plot(*np.where(mask, points, np.nan), color=color, lw=width, alpha=opacity)


def frame(ax, R, style):
    for k, color in enumerate(AXES):
        ax.plot(*np.stack([np.zeros(3), R[:, k]], axis=-1), color=color, lw=1.8, ls=style)


def draw(path):
    figure = plt.figure(figsize=(9.6, 6.9))
    target = WRIST.pose("roll", GOAL)
    for number, (error, title) in enumerate(PANELS.items(), start=1):
        ax = figure.add_subplot(2, 3, number, projection="3d")
        history = control.iterate(WRIST, "roll", target, START, error=error, step=0.02, iterations=600)
        R = WRIST.pose("roll", history.q).rotation.matrix
        ball(ax)
        frame(ax, R[0], ":")
        frame(ax, target.rotation.matrix, "-")
        for k, color in enumerate(AXES):
            line(ax, R[::4, :, k].T, color, 2.2)
        turned = np.sum(mb.Rotation.from_matrix(R[:-1]).angle_to(mb.Rotation.from_matrix(R[1:])))
        ax.set_title(f"{title}\nturned by {np.degrees(turned):.0f}° on the way", fontsize=10, color=INK, y=0.96)
        ax.view_init(elev=ELEVATION, azim=AZIMUTH)
        ax.set_proj_type("ortho")
        ax.set_box_aspect((1, 1, 1), zoom=1.35)
        ax.set_axis_off()
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.95, wspace=0, hspace=0.08)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "rotation_paths"
    draw(STATIC / "rotation_paths.svg")
    print("saved", STATIC / "rotation_paths.svg")
