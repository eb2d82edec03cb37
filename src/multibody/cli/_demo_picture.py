"""The picture of the demo: a flight, its energies, and speeds."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.robot import Robot

SNAPSHOTS = 6
SIZE = (1100, 560)
"""The size of the picture of the flight, in pixels."""
LEGEND: dict[str, Any] = {"fontsize": "small", "frameon": False, "handlelength": 1.2, "columnspacing": 1.0}


class Flight(NamedTuple):
    """Samples over time of a robot in the air."""

    time: NDArray[Any]
    """(steps,) in s."""
    q: NDArray[Any]
    kinetic: NDArray[Any]
    """(steps,) in J."""
    potential: NDArray[Any]
    """(steps,) in J."""
    momentum: NDArray[Any]
    """(steps, 3): angular, about the centre of mass, in kg m²/s."""

    @property
    def energy_drift(self) -> float:
        """The largest change of the total energy, relative to the kinetic energy at the start."""
        total = self.kinetic + self.potential
        return float(np.abs(total - total[0]).max() / self.kinetic[0])

    @property
    def momentum_drift(self) -> float:
        """The largest change of the angular momentum, relative to its size."""
        change = np.linalg.norm(self.momentum - self.momentum[0], axis=-1)
        return float(change.max() / np.linalg.norm(self.momentum[0]))


def draw(robot: Robot, flight: Flight, speeds: dict[str, dict[str, float]], path: Path) -> None:
    """Save the picture.

    Args:
        robot: the robot that flies.
        flight: its motion.
        speeds: evaluations per second, by quantity and robot.
        path: the file.
    """
    from matplotlib.figure import Figure  # here, because it takes longer to import than all the rest

    figure = Figure(figsize=(13, 3.8), layout="constrained")
    air, energy, speed = figure.subplots(1, 3, width_ratios=(2.2, 1, 1))
    _air(air, robot, flight)
    _energy(energy, flight)
    _speed(speed, speeds)
    figure.savefig(path, dpi=110)


def _air(axes: Any, robot: Robot, flight: Flight) -> None:
    """The robot on its way, the first pictures paler, and the path of its centre of mass."""
    from multibody.view.rendering.camera import Camera
    from multibody.view.rendering.renderer import render
    from multibody.view.shapes.visual_shapes import visual_shapes

    chosen = np.linspace(0, len(flight.time) - 1, SNAPSHOTS).round().astype(int)
    surfaces = visual_shapes(robot).placed(robot, flight.q[chosen])
    camera = Camera.around(np.concatenate([surface.vertices for surface in surfaces]), "side", SIZE)
    axes.imshow(render(surfaces, camera, 0.0), extent=(0, SIZE[0], SIZE[1], 0))
    com = camera.project(robot.center_of_mass(flight.q))
    axes.plot(com[:, 0], com[:, 1], "--", color="tab:red", lw=1.2, label="centre of mass")
    axes.set(title=f"{robot.name}, thrown and let go", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.legend(loc="upper right", **LEGEND)


def _energy(axes: Any, flight: Flight) -> None:
    potential = flight.potential - flight.potential[0]
    axes.plot(flight.time, flight.kinetic, color="tab:blue", label="kinetic")
    axes.plot(flight.time, potential, color="tab:orange", label="potential")
    axes.plot(flight.time, flight.kinetic + potential, color="0.2", label="total")
    axes.set(title=f"energy, drift {flight.energy_drift:.0e}", xlabel="time [s]", ylabel="J")
    axes.set_ylim(top=1.35 * flight.kinetic[0])
    axes.legend(loc="upper center", ncols=3, **LEGEND)


def _speed(axes: Any, speeds: dict[str, dict[str, float]]) -> None:
    robots = list(next(iter(speeds.values())))
    height = 0.8 / len(robots)
    for k, robot in enumerate(robots):
        places = [i + (k - (len(robots) - 1) / 2) * height for i in range(len(speeds))]
        bars = axes.barh(places, [row[robot] / 1e6 for row in speeds.values()], height, label=robot)
        axes.bar_label(bars, fmt="%.3g", padding=2, fontsize="small")
    axes.set_yticks(range(len(speeds)), [name.replace(" ", "\n", 1) for name in speeds])
    axes.set(title="million per second, one core", xscale="log")
    axes.invert_yaxis()
    axes.margins(x=0.22)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.08), ncols=3, **LEGEND)
