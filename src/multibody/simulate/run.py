"""`Run`: the record of a simulation, and the state from which it continues."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._rooms import room_above
from multibody.errors import InputError
from multibody.geometry._arrays import floats
from multibody.robot import Robot
from multibody.simulate.clock import NAMES
from multibody.simulate.contact import height_jump
from multibody.simulate.contact.ground import Ground
from multibody.simulate.divergence import WORDS, SimulationWarning
from multibody.simulate.nested_state import with_prefix

ROWS = ("q", "v", "tau", "forces", "residual", "sweeps", "pair_forces", "constraint_forces", "touchdown", "liftoff")
"""The recorded quantities besides the user's outputs."""
SCENE = {
    "contacts": "contacts",
    "spheres": "radii and points of contacts",
    "grounds": "grounds",
    "pairs": "pairs of spheres",
    "joints": "joints with limits or dry friction",
    "constraints": "constraints",
}
"""Keys of `about` that the state depends on, and their names in messages."""
PLACES = np.random.default_rng(0).uniform(-3.0, 3.0, (32, 2))
"""In m: where heights of two grounds are compared."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Rows over time of one sample or a batch; arrays are (..., rows, *shape)."""

    t: NDArray[Any]
    """(rows,): times in s, those at which steps end."""
    q: NDArray[Any]
    """(..., rows, nq)."""
    v: NDArray[Any]
    """(..., rows, nv)."""
    tau: NDArray[Any]
    """(..., rows, nv): the controller's forces, their mean over the step that ends at t."""
    forces: NDArray[Any]
    """(..., rows, contacts, 3): on the robot, along the world's axes, their mean over the step."""
    residual: NDArray[Any] | None
    """(..., rows): in m/s, the largest change of a velocity in the last sweep; None without contacts."""
    sweeps: NDArray[Any] | None
    """(..., rows): the number of sweeps in the step."""
    pair_forces: NDArray[Any] | None
    """(..., rows, pairs, 3): on the first of two spheres, opposite on the second; None without pairs of spheres."""
    constraint_forces: NDArray[Any] | None
    """(..., rows, rows of constraints): along what each row of J measures, as in `constrained_dynamics`; the smallest
    where rows are redundant; None without constraints."""
    touchdown: NDArray[Any] | None
    """(..., rows, contacts): in s, in "events", the last touch-down so far; NaN for none."""
    liftoff: NDArray[Any] | None
    """(..., rows, contacts): the last lift-off; a contact is closed while its touch-down is later."""
    outputs: Mapping[str, NDArray[Any]]
    """The arrays of the functions in `outputs=`, by name."""
    state: Mapping[str, Any]
    """All that the next step depends on."""
    parameters: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """The robot's parameters of this run, under the names of `Tree.with_values`."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """The method, dt, the robot's name and digest, contacts and constraints, the library's version."""
    robot: Robot | None = None

    @staticmethod
    def of(t: NDArray[Any], record: Mapping[str, Any], **rest: Any) -> "Run":
        """Make a run of the arrays that a scan returns, and of its other fields.

        Args:
            t: (rows,), in s.
            record: the arrays of each row by name.
            **rest: the other fields of a run, such as robot and dt.
        """
        rows = {name: record.get(name) for name in ROWS}
        return Run(t, **rows, outputs=with_prefix(record, "output:"), **rest)  # type: ignore[arg-type]

    @property
    def last(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """(q, v) at the end of the run, also if `every` leaves that row out."""
        return self.state["q"], self.state["v"]

    @property
    def failed(self) -> NDArray[Any]:
        """(...): the first step after which q or v is not finite; -1 if there is none."""
        return np.asarray(self.state["failed"]).astype(int)

    @property
    def taken(self) -> NDArray[Any]:
        """(...): in J, the energy that the energy limiter removed, because no force had put it in.

        Zero in ordinary motion: more than a share of a percent of the energy says that dt is
        too long for the motion.
        """
        return self._bound(2).sum(axis=-1)

    @property
    def share_taken(self) -> NDArray[Any]:
        """(...): `taken` by the largest kinetic energy of the run; above 1, what is
        left is not the robot's motion.

        Of several robots that exchange no forces it is the largest of their shares.
        """
        # of a robot at rest only rounding errors are left
        rounding = np.finfo(self.q.dtype).eps * np.abs(self._bound(0)) + np.finfo(np.float32).tiny
        return (self._bound(2) / np.fmax(self._bound(3), rounding)).max(axis=-1)

    def _bound(self, entry: int) -> NDArray[Any]:
        """(..., parts): an entry of the energy limiter's bounds; 0 without a limiter."""
        bound = self.state.get("bound")
        return np.zeros((*self.q.shape[:-2], 1)) if bound is None else np.asarray(bound)[..., entry::4]

    @property
    def failures(self) -> list[str]:
        """A sentence for each sample that diverged: its index, its time and the likely cause."""
        sentences = []
        for index in np.argwhere(self.failed >= 0).tolist():
            step, why = int(self.failed[tuple(index)]), WORDS[int(np.asarray(self.state["fault"])[tuple(index)])]
            which = f"sample {', '.join(map(str, index))}" if index else "the run"
            sentences.append(f"{which}: not finite from step {step} (t = {step * self.about['dt']:g} s) on; {why}")
        return sentences

    @property
    def warnings(self) -> list[str]:
        """A sentence for each sample in which the ground's height jumps under a
        contact: which, when, how deep.
        """
        return list(height_jump.sentences(self.state, self.about))

    def energy(self) -> NDArray[Any]:
        """(..., rows): kinetic and potential energy together, in J.  [RD 3.28-3.33]"""
        robot = self._robot("energy")
        own: dict[str, Any] = {"parameters": self._values()}
        return robot.kinetic_energy(self.q, self.v, **own) + robot.potential_energy(self.q, **own)

    def momentum(self) -> NDArray[Any]:
        """(..., rows, 6): the momentum, linear first, the angular one about the centre of mass."""
        return self._robot("momentum").centroidal_momentum(self.q, self.v, parameters=self._values())

    def _values(self) -> dict[str, Any] | None:
        """The parameters of inertia and gravity, with an axis for the rows."""
        shapes = self._robot("parameters").tree.parameter_shapes
        values = {}
        for name, x in self.parameters.items():
            if name not in ("damping", "friction"):
                core = len(shapes[name])
                values[name] = np.expand_dims(x, np.ndim(x) - core) if np.ndim(x) > core else x
        return values or None

    def resample(self, t: ArrayLike) -> "Run":
        """Return the run at other times (n,) within its own: interpolated on the
        configuration's groups, v linearly.

        Forces, tau and outputs are those of the step that contains the time.
        """
        robot = self._robot("resample")
        times = floats(t, "t")
        if times.ndim != 1 or not len(self.t) or not ((times >= self.t[0]) & (times <= self.t[-1])).all():
            span = f"from {self.t[0]:g} to {self.t[-1]:g} s" if len(self.t) else "none: the run has no rows"
            raise InputError(f"resample: expected times (n,) within those of the run, {span}")
        after = np.clip(np.searchsorted(self.t, times), 0, len(self.t) - 1)
        before = np.maximum(after - 1, 0)
        width = np.where(after > before, self.t[after] - self.t[before], 1.0)
        part = np.where(after > before, (times - self.t[before]) / width, 1.0)
        q = robot.interpolate(self.q[..., before, :], self.q[..., after, :], part)
        v = self.v[..., before, :] + part[:, None] * (self.v[..., after, :] - self.v[..., before, :])
        axis = self.q.ndim - 2

        def take(x: Any) -> Any:
            return None if x is None else np.take(x, after, axis=axis)

        outputs = {name: take(x) for name, x in self.outputs.items()}
        rows = {name: take(getattr(self, name)) for name in ROWS if name not in ("q", "v")}
        return replace(self, t=times, q=q, v=v, outputs=outputs, **rows)

    def plot(self, path: str | PathLike[str] | None = None, *, sample: int | tuple[int, ...] | None = None) -> Any:
        """Return a figure of the motion: configuration, velocities, contact forces,
        energy; save it if a path is given.

        Args:
            path: where to save it, .png, .svg or .pdf.
            sample: which of a batch; by default the first.
        """
        from multibody.simulate.plot import plot

        return plot(self, path, sample)

    def _repr_png_(self) -> bytes | None:
        return self.plot()._repr_png_() if len(self.t) else None

    def view(self, **options: Any) -> Any:
        """Play the run in the browser and return the `Viewer`.

        Args:
            **options: those of `mb.view.show`: q, host, port, hosts and open_browser.
        """
        return room_above("view").play(self, **options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the run to a file .npz, which `simulate.load` reads, with or without the robot."""
        from multibody.simulate.saving import save

        save(self, path)

    def check_simulator(self, simulator: Mapping[str, Any], shapes: Mapping[str, Any]) -> None:
        """Refuse a simulator in which the state has another meaning: another robot,
        method, dt, or contacts.

        Friction, restitution, stiffness and damping, gains and inputs may differ.
        """
        for name, words in (("digest", "robot"), ("method", "method"), ("dt", "time step")):
            if self.about.get(name) != simulator[name]:
                shown = "robot" if name == "digest" else name  # a digest tells a reader nothing
                mine, other = self.about.get(shown), simulator[shown]
                same = ", of other numbers" if mine == other else ""
                raise InputError(
                    f"the run is of another {words} than the simulator: {mine!r}{same}, expected {other!r}"
                )
        for name, words in SCENE.items():
            mine = self.about.get(name, simulator[name])  # runs in files of before have fewer of them
            if mine != simulator[name]:
                raise InputError(
                    f"the run has other {words} than the simulator: {mine}, expected {simulator[name]}; "
                    "simulator(*run.last, seconds=...) starts anew where the run ended"
                )
        if set(shapes) - {*NAMES, "jump"} != set(self.state) - {*NAMES, "jump"}:
            raise InputError(
                f"the run's state has {', '.join(self.state)}, the simulator's {', '.join(shapes)}: expected the same "
                "controller"
            )
        if self.about["version"] != simulator["version"]:
            warnings.warn(
                f"the run is from multibody {self.about['version']}: going on may differ in the last digits",
                stacklevel=4,
            )

    def _robot(self, what: str) -> Robot:
        if self.robot is None:
            raise InputError(f"run.{what} needs the robot: simulate.load(path, robot)")
        return self.robot

    def __repr__(self) -> str:
        batch = self.q.shape[:-2]
        several = f", batch {batch}" if batch else ""
        bad = int(((self.failed >= 0) | (self.share_taken > 1)).sum())
        told = f", {bad} diverged" if bad else ""
        end = float(self.t[-1]) if len(self.t) else 0.0
        return f"<Run of {self.about.get('robot')}, {len(self.t)} rows to {end:g} s{several}{told}>"


def with_warning(run: Run) -> Run:
    """Return the run; warn if the energy limiter removed more energy than the motion had."""
    bad = run.share_taken > 1
    if bad.any():
        which = f"in {int(bad.sum())} of {bad.size} samples " if bad.ndim else ""
        warnings.warn(
            f"{which}the energy limiter removed more energy than the motion ever had, "
            f"{np.nanmax(run.taken):.2g} J: steps are too long for the controller, or for links that whirl; "
            "simulator.advice(run) says which",
            SimulationWarning,
            stacklevel=3,
        )
    height_jump.warn(run.state, run.about, " in run.warnings", stacklevel=3)
    return run


def about(simulator: Any) -> dict[str, Any]:
    """The content of a simulator that the state of its runs depends on, as JSON."""
    pairs = [[[each.frame, each.radius, *each.point] for each in (a.first, a.second)] for a in simulator.pairs]
    return {
        "robot": simulator.robot.name,
        "digest": simulator.robot.model.digest,
        "method": simulator.method,
        "dt": simulator.dt,
        "contacts": [contact.frame for contact in simulator.contacts],
        "spheres": [[contact.radius, *contact.point] for contact in simulator.contacts],
        "grounds": [_surface(ground) for ground in simulator.grounds],
        "pairs": pairs,
        "joints": simulator._step.scene.bounds.velocities.tolist(),
        "constraints": [] if simulator.constraints is None else list(simulator.constraints.row_names),
        "version": import_module("multibody").__version__,
    }


def _surface(ground: Ground) -> list[Any]:
    """The normal and the offset of a ground, or its heights at some places."""
    if ground.height is None:
        return [*ground.normal, ground.offset]
    with np.errstate(all="ignore"):
        return [f"{float(ground.height(x, y)):.9g}" for x, y in PLACES]
