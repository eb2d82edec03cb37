"""The picture of docs/gradients-through-contact.md: python docs/figures/gradients_through_contact.py

The end of a bouncing ball's flight over the speed of the throw, its slope, and the mean slope of throws around each.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import multibody as mb
from multibody import simulate
from multibody.model.shapes import Sphere

RADIUS, SPREAD = 0.03, 0.05  # m, m/s


def main() -> None:
    """Draw it."""
    robot = mb.Robot(mb.Builder("ball").body("ball", shape=Sphere(RADIUS), mass=0.06).model(floating=True))
    contacts = [simulate.SphereContact("ball", radius=RADIUS)]
    ground = simulate.Ground(friction=0.4, restitution=0.8)
    simulator = simulate.Simulator(robot, dt=0.01, contacts=contacts, ground=ground)
    slope = simulate.gradient(simulator, lambda q, v: q[2] + 0.0 * v[0])
    hand = robot.neutral()
    hand[2] = 1.0
    speeds = np.linspace(-1.6, 0.2, 901)
    throws = np.zeros((len(speeds), 6))
    throws[:, 2] = speeds
    answer = slope(hand, throws, seconds=1.0)
    around = throws[:, None] + SPREAD * np.random.default_rng(0).normal(size=(1, 256, 1)) * np.eye(6)[2]
    mean = slope(hand, around, seconds=1.0).v[..., 2].mean(axis=-1)
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(speeds, answer.value, lw=1)
    above.set(ylabel="height after 1 s [m]")
    below.plot(speeds, answer.v[:, 2], ".", ms=1.5, color="0.5", label="slope")
    below.plot(speeds, mean, color="tab:red", lw=1.5, label=f"mean slope of throws within {SPREAD:g} m/s")
    below.set(xlabel="upward speed of the throw [m/s]", ylabel="slope [s]")
    below.legend(loc="lower right")
    figure.savefig(Path(__file__).parents[1] / "_static" / "gradients_through_contact.png", dpi=110)


if __name__ == "__main__":
    main()
