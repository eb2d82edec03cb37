"""Draw the picture of docs/contacts-as-algebra.md: forces on the feet of a standing quadruped, from two sides.

Run from the root of the repository: python docs/figures/internal_forces.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import multibody as mb
from multibody.algorithms.constraints import ConstraintSet, PointContact

OUT = Path(__file__).parent.parent / "_static" / "internal_forces.svg"


def main() -> None:
    robot = mb.load("quadruped")
    feet = [frame for frame in robot.frames if frame.startswith("foot")]
    q, v = robot.home(), np.zeros(robot.nv)
    places = np.array([robot.pose(foot, q).position for foot in feet])
    J = ConstraintSet(robot.model, [PointContact(foot, foot) for foot in feet]).jacobian(q)
    carry = np.linalg.pinv(J[:, :6].T) @ robot.bias(q, v)[:6]
    basis = np.linalg.svd(J[:, :6].T)[2][6:]
    # internal forces that one can name: along the lines between two feet
    pairs = [(0, 1), (0, 2), (0, 3)]
    squeezes = []
    for i, j in pairs:
        line = places[i] - places[j]
        force = np.zeros(12)
        force[3 * i : 3 * i + 3], force[3 * j : 3 * j + 3] = line, -line
        assert np.abs(basis.T @ (basis @ force) - force).max() < 1e-9
        squeezes.append(25 * force / np.linalg.norm(force))
    figure, axes = plt.subplots(2, 4, figsize=(11, 4.6), height_ratios=(1, 1.1))
    titles = ["carries the weight", *(f"squeeze {feet[i][5:]}, {feet[j][5:]}" for i, j in pairs)]
    for column, (title, force) in enumerate(zip(titles, [carry, *squeezes], strict=True)):
        for row, (x, y) in enumerate(((0, 2), (0, 1))):
            axis = axes[row, column]
            vectors = force.reshape(4, 3)
            axis.scatter(places[:, x], places[:, y], color="black", zorder=3)
            axis.quiver(
                places[:, x],
                places[:, y],
                vectors[:, x],
                vectors[:, y],
                color="tab:red",
                angles="xy",
                scale_units="xy",
                scale=200,
            )
            axis.set_aspect("equal")
            axis.set_xlim(-0.4, 0.35)
            axis.set_ylim(*((-0.05, 0.22) if row == 0 else (-0.25, 0.25)))
            axis.set_xlabel("x [m]")
            axis.set_ylabel(("z [m]", "y [m]")[row])
        axes[0, column].set_title(title)
    figure.tight_layout()
    figure.savefig(OUT)


if __name__ == "__main__":
    main()
