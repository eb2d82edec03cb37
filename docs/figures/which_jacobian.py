"""Draw the pictures of docs/which-jacobian.md; all arrows are computed by the library.

Run from the root of the repository: python docs/figures/which_jacobian.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle

import multibody as mb

STATIC = Path(__file__).parent.parent / "_static"
INK, FAINT, WORLD, TOOL, GREEN = "#222832", "#8a94a3", "#1f6fb4", "#c0561b", "#1a8a4c"
JOINTS = ("#7a3fa0", "#1a8a4c", "#c2185b")
XZ = [0, 2]

ARM = mb.load("planar-arm")
POSE = np.array([0.5, 0.9, 0.6])


def arrow(ax, start, vector, color, width=2.0, style="-|>", size=13):
    properties = {"arrowstyle": style, "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": size}
    ax.annotate("", np.asarray(start) + vector, start, arrowprops=properties, zorder=6)


def frame(ax, origin, axes, name, color, away):
    for k, label in enumerate("xz"):
        arrow(ax, origin, 0.55 * axes[:, k], color, 1.5)
        ax.text(*(origin + 0.68 * axes[:, k]), label, color=color, ha="center", va="center", fontsize=10)
    ax.text(*(origin + away), name, color=color, ha="center", va="center", fontsize=12, weight="bold")


def places(q):
    """The hinges and the tip of the arm, (4, 2), and the axes x and z of the tool, (2, 2), in the plane."""
    frames = ARM.poses(q)
    links = [joint.child for joint in ARM.joints]
    points = np.array([frames[name].position[XZ] for name in (*links, "tool")])
    return points, frames["tool"].rotation.matrix[np.ix_(XZ, XZ)]


def draw_arm(ax, points):
    chain = np.vstack([[0.0, 0.0], points])
    ax.plot(*chain.T, color="#d8dde4", lw=11, solid_capstyle="round", solid_joinstyle="round", zorder=1)
    for point, color in zip(points[:3], JOINTS, strict=True):
        ax.add_patch(Circle(point, 0.085, fc="white", ec=color, lw=2.2, zorder=5))


def columns(path):
    """The linear halves of the columns, one arrow for each joint, where and along which axes they are written."""
    points, tool = places(POSE)
    panels = (
        ("mixed", points[3], np.eye(2), "at the tool, in the world's axes", WORLD),
        ("left", points[3], tool, "at the tool, in the tool's axes", TOOL),
        ("right", np.zeros(2), np.eye(2), "at the world's origin, in its axes", WORLD),
    )
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.4))
    for ax, (name, at, along, what, color) in zip(axes, panels, strict=True):
        draw_arm(ax, points)
        frame(ax, np.zeros(2), np.eye(2), "W", WORLD, np.array([-0.2, -0.2]))
        frame(ax, points[3], tool, "T", TOOL, np.array([-0.2, 0.2]))
        J = ARM.jacobian("tool", POSE, name)[XZ]
        for k, joint_color in enumerate(JOINTS):
            seen = along @ J[:, k]  # the numbers of the column, drawn along the axes that they are for
            if name == "right":  # the arm from the hinge to the point whose velocity the column is
                ax.plot(*np.array([points[k], at]).T, color=joint_color, lw=0.8, ls=(0, (2, 3)), zorder=2)
            arrow(ax, at, 0.6 * seen, joint_color, 2.4, size=15)
            if k == 0 and name != "right":  # its components along the axes that it is written in
                for axis, other in ((0, 1), (1, 0)):
                    corner = at + 0.6 * J[axis, k] * along[:, axis]
                    ax.plot(*np.array([at, corner]).T, color=color, lw=1.2, ls=(0, (2, 2)), zorder=4)
                    ax.plot(*np.array([corner, corner + 0.6 * J[other, k] * along[:, other]]).T, color=color, lw=0.7)
            numbers = "  ".join(f"{x:+.2f}" for x in J[:, k].round(6) + 0.0)
            ax.text(0.15, -0.95 - 0.29 * k, f"q{k + 1}:  {numbers}", color=joint_color, family="monospace", fontsize=12)
        ax.text(-1.35, 2.75, name, fontsize=16, color=INK, weight="bold")
        ax.text(-0.2, 2.75, what, fontsize=12, color=color)
        ax.text(-1.35, -0.95, "columns (x, z)", color=INK, fontsize=11)
        ax.set(xlim=(-1.45, 3.5), ylim=(-1.75, 3.05), aspect="equal")
        ax.axis("off")
    figure.subplots_adjust(left=0.0, right=1.0, top=1.0, bottom=0.0, wspace=0.02)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


def relative(path):
    """Only the first joint turns, so elbow E and tool T move as one body."""
    points, _ = places(POSE)
    E, T = ARM.joints[1].child, "tool"
    v = np.array([0.8, 0.0, 0.0])
    v_E, v_T = (ARM.velocity(name, POSE, v)[XZ] for name in (E, T))
    difference = (ARM.relative_jacobian(T, E, POSE, kind="difference") @ v)[XZ]
    twist = ARM.relative_jacobian(T, E, POSE, kind="twist") @ v
    assert np.allclose(twist, 0, atol=1e-12)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.9))
    for ax in (left, right):
        draw_arm(ax, points)
        ax.text(points[1][0] - 0.3, points[1][1] + 0.1, "E", color=WORLD, fontsize=13, weight="bold", ha="center")
        ax.text(points[3][0] + 0.12, points[3][1] + 0.12, "T", color=TOOL, fontsize=13, weight="bold", ha="center")
        ax.set(xlim=(-0.6, 4.0), ylim=(-0.75, 2.45), aspect="equal")
        ax.axis("off")
    arrow(left, points[1], 0.8 * v_E, WORLD)
    arrow(left, points[3], 0.8 * v_T, TOOL)
    arrow(left, points[3], 0.8 * v_E, WORLD, 1.2)
    arrow(left, points[3] + 0.8 * v_E, 0.8 * difference, GREEN, 2.4)
    left.set_title("kind='difference'  [RD 2.153-2.154]", fontsize=13, color=INK, loc="left")
    left.text(-0.5, -0.6, f"v_T − v_E = ({difference[0]:.2f}, {difference[1]:.2f}) m/s", color=GREEN, fontsize=12)
    frame(right, points[1], _axes_of(E), "", WORLD, np.zeros(2))
    right.plot(*points[[1, 3]].T, color=GREEN, lw=1.4, ls=(0, (3, 3)))
    right.set_title("kind='twist'  [MDN 32-33]", fontsize=13, color=INK, loc="left")
    right.text(-0.5, -0.6, "seen from E, T stands still: 0", color=GREEN, fontsize=12)
    figure.subplots_adjust(left=0.01, right=0.99, top=0.92, bottom=0.0, wspace=0.05)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


def _axes_of(name):
    return ARM.pose(name, POSE).rotation.matrix[np.ix_(XZ, XZ)]


def analytical(path):
    """The gain from joint rates to what a Jacobian maps to, along the pitch of a wrist."""
    wrist = mb.load("zyx-wrist")
    pitch = np.linspace(-1.45, 1.45, 301)
    q = np.stack([np.full_like(pitch, 0.4), pitch, np.full_like(pitch, 0.3)], axis=-1)
    shown = {
        "geometric (angular velocity)": wrist.jacobian("tool", q)[:, 3:],
        "analytical, euler-zyx": wrist.analytical_jacobian("tool", q, "euler-zyx")[:, 3:],
        "analytical, quaternion": wrist.analytical_jacobian("tool", q, "quaternion")[:, 3:],
        "analytical, euler-xyz": wrist.analytical_jacobian("tool", q, "euler-xyz")[:, 3:],
    }
    figure, ax = plt.subplots(figsize=(8.2, 3.9), layout="constrained")
    styles = ((INK, "-"), (TOOL, "-"), (WORLD, "--"), (GREEN, "-."))
    for (name, J), (color, style) in zip(shown.items(), styles, strict=True):
        smallest = np.linalg.svd(J, compute_uv=False)[:, -1]
        ax.plot(np.degrees(pitch), smallest, style, color=color, lw=2, label=name)
    ax.set(xlabel="second joint of the wrist [degrees]", ylabel="smallest singular value", ylim=(0, 1.1))
    ax.legend(frameon=False, loc="lower center")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


def base(path):
    """A stick that turns on a straight way: the linear half of its velocity in each representation."""
    stick = mb.load("free-body-se3")
    q = np.array([-1.5, 0.8, 0.0, 1.0, 0.0, 0.0, 0.0])
    v = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.6])  # along x, turning about z
    times = np.linspace(0.0, 3.0, 181)
    path_q = np.stack([stick.integrate(q, t * v) for t in times])
    frame_name = stick.bodies[0].name
    figure, (ax, *plots) = plt.subplots(1, 4, figsize=(12.6, 3.5), width_ratios=(1.5, 1, 1, 1), layout="constrained")
    H = stick.pose(frame_name, path_q)
    for k in range(0, 181, 36):
        x, R = H.position[k], H.rotation.matrix[k]
        ends = np.stack([x - 0.45 * R[:, 0], x + 0.45 * R[:, 0]])
        ax.plot(*ends[:, :2].T, color="#e3b99f", lw=7, solid_capstyle="round", zorder=2)
        arrow(ax, x[:2], 0.35 * R[:2, 0], TOOL, 1.4)
        arrow(ax, x[:2], 0.55 * v[:2], GREEN, 1.8)
    arrow(ax, np.zeros(2), np.array([0.5, 0.0]), WORLD, 1.5)
    arrow(ax, np.zeros(2), np.array([0.0, 0.5]), WORLD, 1.5)
    ax.text(-0.15, -0.2, "W", color=WORLD, weight="bold", fontsize=12)
    ax.set(xlim=(-2.2, 2.4), ylim=(-0.5, 1.6), aspect="equal", title="moves straight, turns steadily")
    ax.axis("off")
    seen = {name: stick.velocity(frame_name, path_q, v, name) for name in ("mixed", "left", "right")}
    titles = {"kindr and mixed": seen["mixed"], "left": seen["left"], "right": seen["right"]}
    for plot, (title, values) in zip(plots, titles.items(), strict=True):
        for k, (label, style) in enumerate((("x", "-"), ("y", "--"))):
            plot.plot(times, values[:, k], style, color=GREEN, lw=2, label=label)
        plot.set(title=title, ylim=(-3.2, 3.2), xlabel="time [s]")
        plot.spines[["top", "right"]].set_visible(False)
    plots[0].set_ylabel("linear velocity [m/s]")
    plots[0].legend(frameon=False, loc="lower left")
    figure.savefig(path, metadata={"Date": None}, facecolor="white")


def main():
    plt.rcParams.update({"svg.hashsalt": "multibody", "font.family": "DejaVu Sans"})
    for draw in (columns, relative, analytical, base):
        draw(STATIC / f"jacobian_{draw.__name__}.svg")


if __name__ == "__main__":
    main()
