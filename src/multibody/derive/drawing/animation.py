"""Derived systems that move: from equations and a first state to a picture that plays."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._saving import check_place
from multibody._signatures import readable
from multibody.derive.drawing.mechanism import Anatomy, plane_of
from multibody.derive.drawing.sketch import scale_of, sketch
from multibody.derive.results.compiled import source
from multibody.derive.results.equations import Equations
from multibody.derive.system.values import numbers
from multibody.errors import InputError
from multibody.geometry._arrays import floats

RATE = 25
"""Pictures in a second."""
STEPS = 20
"""Of Runge and Kutta from one picture to the next."""
SAMPLES = 25
"""Pictures from which the size of all is found."""


@readable
def animate(
    equations: Equations,
    q: ArrayLike,
    v: ArrayLike,
    path: str | PathLike[str],
    seconds: float = 4.0,
    values: Mapping[Any, float] | None = None,
) -> NDArray[Any]:
    """Let a derived system move without inputs, and save its picture as a GIF.

    Args:
        equations: of `derive`.
        q: the coordinates at the start.
        v: the velocities at the start.
        path: where to, .gif.
        seconds: how long.
        values: numbers of parameters, by symbol or name; 1 by default, and 9.81 for g.

    Returns:
        The coordinates of each picture, (pictures, q).
    """
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.figure import Figure

    place = check_place(path, "path")
    if place.suffix.lower() != ".gif":
        raise InputError(f"path: expected a name that ends in .gif, got {place.name!r}")
    if not isinstance(equations, Equations):
        raise InputError(f"animate: expected equations of derive, got {type(equations).__name__}")
    system = equations.system
    known = {x: 9.81 if x.name == "g" else 1.0 for x in system.parameters} | numbers(system, values, "parameters")
    states = motion(equations, floats(q, "q", len(system.q)), floats(v, "v", len(system.v)), seconds, known)
    anatomy = Anatomy(system, known)
    made = [anatomy.at(state, k / RATE) for k, state in enumerate(states)]
    plane = plane_of(made[0])
    scale = float(np.median([scale_of(each, plane) for each in made]))
    figure = Figure(figsize=(4.8, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for each in made[:: max(1, len(made) // SAMPLES)]:  # what they need together
        sketch(axes, each, plane, scale)
    low, high = np.array(axes.dataLim.min) - 0.1 * scale, np.array(axes.dataLim.max) + 0.1 * scale

    def show(k: int) -> list[Any]:
        axes.clear()
        sketch(axes, made[k], plane, scale)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        return []

    FuncAnimation(figure, show, frames=len(made)).save(place, writer=PillowWriter(fps=RATE), dpi=80)
    return states


def motion(
    equations: Equations, q: NDArray[Any], v: NDArray[Any], seconds: float, known: Mapping[Any, float]
) -> NDArray[Any]:
    """(pictures, q): by the method of Runge and Kutta, without inputs."""
    kernel = equations.kernel("state_rate", values=dict(known))
    extra = [np.zeros(len(equations.system.inputs))] if equations.system.inputs else []
    timed = "t" in source(equations, "state_rate", known)[1]

    def rate(t: float, x: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate(kernel(x[: len(q)], x[len(q) :], *extra, *([t] if timed else [])))

    x, h = np.concatenate([q, v]), 1 / (RATE * STEPS)
    states = [x[: len(q)]]
    for k in range(max(1, round(seconds * RATE))):
        for j in range(STEPS):
            t = (k * STEPS + j) * h
            a = rate(t, x)
            b = rate(t + h / 2, x + h / 2 * a)
            c = rate(t + h / 2, x + h / 2 * b)
            d = rate(t + h, x + h * c)
            x = x + h / 6 * (a + 2 * b + 2 * c + d)
        states.append(x[: len(q)])
    return np.array(states)
