"""Draw docs/_static/twists.svg: one planar motion of a body, and what the three twists say of it.

Run from the root of the repository: python docs/figures/twists.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc, Ellipse

OUT = Path(__file__).parent.parent / "_static" / "twists.svg"
INK, FAINT, A_COLOR, B_COLOR, V_COLOR = "#222832", "#8a94a3", "#1f6fb4", "#c0561b", "#1a8a4c"

ANGLE = np.deg2rad(35)
A_R_B = np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])
A_o_B = np.array([2.3, 1.15])
A_o_B_DOT = np.array([0.35, 0.95])  # the velocity of B's origin, m/s
OMEGA = 0.6  # rad/s, counterclockwise

AT_A = "velocity of the body's point\nthat is now at A's origin"
PANELS = (
    ("left", "B_v_AB", "velocity of B's origin", "axes of B", A_o_B, A_R_B, B_COLOR),
    ("right", "A_v_AB", AT_A, "axes of A", np.zeros(2), np.eye(2), A_COLOR),
    ("mixed", "BA_v_AB", "velocity of B's origin", "axes of A", A_o_B, np.eye(2), A_COLOR),
)


def velocity_of(point):
    """The velocity of the point of the (enlarged) body that is now at `point`."""
    x, y = point - A_o_B
    return A_o_B_DOT + OMEGA * np.array([-y, x])


def arrow(ax, start, vector, color, width=1.6, style="-|>", **kwargs):
    ax.annotate(
        "", start + vector, start, zorder=5,
        arrowprops={"arrowstyle": style, "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0, **kwargs},
    )  # fmt: skip


def frame(ax, origin, axes, name, color, away):
    for k, label in enumerate("xy"):
        arrow(ax, origin, 1.05 * axes[:, k], color)
        ax.text(*(origin + 1.2 * axes[:, k]), label, color=color, ha="center", va="center", fontsize=10)
    ax.plot(*origin, "o", color=color, ms=4.5, zorder=6)
    ax.text(*(origin + away), name, color=color, ha="center", va="center", fontsize=13, weight="bold")


def panel(ax, title, name, what, axes_text, point, axes, color):
    degrees = np.rad2deg(ANGLE)
    if title == "right":
        ax.add_patch(Ellipse(A_o_B / 2 + [0.1, 0.0], 5.0, 2.9, angle=27, fc="#f6f1ec", ec=FAINT, ls=(0, (4, 3)), lw=1))
    ax.add_patch(Ellipse(A_o_B, 2.5, 1.5, angle=degrees, fc="#f3e3d8", ec=B_COLOR, lw=1))
    frame(ax, np.zeros(2), np.eye(2), "A", A_COLOR, np.array([-0.22, -0.24]))
    frame(ax, A_o_B, A_R_B, "B", B_COLOR, np.array([0.03, -0.32]))
    ax.add_patch(Arc(A_o_B, 2.3, 2.3, theta1=-50, theta2=-8, color=INK, lw=1.4))
    end = A_o_B + 1.15 * np.array([np.cos(np.deg2rad(-8)), np.sin(np.deg2rad(-8))])
    arrow(ax, end - [0.012, 0.08], np.array([0.02, 0.14]), INK, 1.4)
    ax.text(A_o_B[0] + 1.15, A_o_B[1] - 0.75, "ω", color=INK, fontsize=13, ha="center", va="center")

    v = 0.95 * velocity_of(point)
    for k in range(2):  # the components along the axes that the twist is written in
        along = axes[:, k] * (axes[:, k] @ v)
        arrow(ax, point, along, color, 1.1, "-", ls=(0, (2, 2)))
        ax.plot(*np.array([point + along, point + v]).T, color=color, lw=0.9, ls=(0, (1, 2)), zorder=4)
    arrow(ax, point, v, V_COLOR, 2.6, mutation_scale=16)
    ax.plot(*point, "o", color=V_COLOR, ms=7.5, zorder=7, mec="white", mew=1)

    ax.text(-1.2, 3.05, title, fontsize=15, color=INK, weight="bold")
    ax.text(4.05, 3.05, name, fontsize=14, family="monospace", color=INK, ha="right")
    ax.text(-1.2, -1.25, what, fontsize=11.5, color=V_COLOR, va="top")
    ax.text(4.05, -1.25, axes_text, fontsize=11.5, color=color, va="top", ha="right")
    ax.set(xlim=(-1.3, 4.15), ylim=(-1.9, 3.4), aspect="equal")
    ax.axis("off")


def main():
    plt.rcParams.update({"svg.hashsalt": "multibody", "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.2))
    for ax, entry in zip(axes, PANELS, strict=True):
        panel(ax, *entry)
    figure.subplots_adjust(left=0.01, right=0.99, top=1.0, bottom=0.0, wspace=0.05)
    figure.savefig(OUT, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
