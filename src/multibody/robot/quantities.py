"""What a robot can compute: a table from names to algorithms, their arguments and their options."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from multibody.algorithms import (
    analytical_jacobian,
    centroidal,
    coriolis,
    crba,
    energy,
    forward_dynamics,
    forward_dynamics_derivatives,
    hessian,
    jacobian,
    kinematics,
    regressor,
    rnea,
    rnea_derivatives,
)
from multibody.errors import InputError
from multibody.model import actuation, configuration
from multibody.model.model import Model, unknown


@dataclass(frozen=True)
class Quantity:
    """An algorithm: function(model, *options before, *inputs, **options), the inputs named as in the face."""

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    frame: bool = False
    """Whether the first argument is the name of a frame."""
    options: tuple[str, ...] = ()
    """Names of further keyword options."""
    wrenches: bool = False
    """Whether external wrenches are taken."""
    solves: bool = False
    """Whether it divides by the mass matrix."""
    any_length: bool = False
    """Whether quaternions need not be units."""
    frame_options: tuple[str, ...] = ()
    """Those of the options that name frames."""
    whole: bool = False
    """Whether it depends on more of the model than its dynamics: on all frames, or on passive forces."""


def _pose(model: Model, frame: str, q: Any) -> Any:
    return kinematics.pose(model, frame, q)._arrays()


def _poses(model: Model, q: Any) -> Any:
    parts = [pose._arrays() for pose in kinematics.frame_poses(model, q).values()]
    return np.stack([R for R, _ in parts], axis=-3), np.stack([p for _, p in parts], axis=-2)


def _relative_jacobian(model: Model, frame: str, q: Any, *, reference: str, **options: Any) -> Any:
    return jacobian.relative_jacobian(model, frame, reference, q, **options)


REPRESENTATION = ("representation",)
CHART = ("rotation", "position")

QUANTITIES: dict[str, Quantity] = {
    "pose": Quantity(_pose, ("q",), frame=True),
    "poses": Quantity(_poses, ("q",), whole=True),
    "velocity": Quantity(kinematics.velocity, ("q", "v"), frame=True, options=REPRESENTATION),
    "acceleration": Quantity(
        kinematics.acceleration, ("q", "v", "a"), frame=True, options=(*REPRESENTATION, "intrinsic")
    ),
    "jacobian": Quantity(jacobian.jacobian, ("q",), frame=True, options=REPRESENTATION),
    "jacobian_dot": Quantity(jacobian.jacobian_dot, ("q", "v"), frame=True, options=REPRESENTATION),
    "hessian": Quantity(hessian.hessian, ("q",), frame=True, options=REPRESENTATION),
    "relative_jacobian": Quantity(
        _relative_jacobian,
        ("q",),
        frame=True,
        options=("reference", "kind", *REPRESENTATION),
        frame_options=("reference",),
    ),
    "point_jacobian": Quantity(jacobian.point_jacobian, ("q", "point"), frame=True),
    "point_velocity": Quantity(kinematics.point_velocity, ("q", "v", "point"), frame=True),
    "point_acceleration": Quantity(kinematics.point_acceleration, ("q", "v", "a", "point"), frame=True),
    "analytical_jacobian": Quantity(analytical_jacobian.analytical_jacobian, ("q",), frame=True, options=CHART),
    "end_effector": Quantity(analytical_jacobian.parameters, ("q",), frame=True, options=CHART),
    "inverse_dynamics": Quantity(rnea.rnea, ("q", "v", "a"), wrenches=True),
    "joint_wrenches": Quantity(rnea.joint_wrenches, ("q", "v", "a"), wrenches=True),
    "forward_dynamics": Quantity(forward_dynamics.forward_dynamics, ("q", "v", "tau"), wrenches=True, solves=True),
    "mass_matrix": Quantity(crba.crba, ("q",)),
    "mass_matrix_product": Quantity(crba.mass_matrix_product, ("q", "x")),
    "bias": Quantity(coriolis.bias, ("q", "v")),
    "gravity": Quantity(coriolis.gravity, ("q",)),
    "coriolis": Quantity(coriolis.coriolis, ("q", "v")),
    "inverse_dynamics_derivatives": Quantity(rnea_derivatives.rnea_derivatives, ("q", "v", "a")),
    "forward_dynamics_derivatives": Quantity(
        forward_dynamics_derivatives.forward_dynamics_derivatives, ("q", "v", "tau"), solves=True
    ),
    "center_of_mass": Quantity(centroidal.center_of_mass, ("q",)),
    "com_jacobian": Quantity(centroidal.com_jacobian, ("q",)),
    "com_velocity": Quantity(centroidal.com_velocity, ("q", "v")),
    "momentum": Quantity(centroidal.momentum, ("q", "v")),
    "centroidal_momentum": Quantity(centroidal.centroidal_momentum, ("q", "v")),
    "centroidal_momentum_rate": Quantity(centroidal.centroidal_momentum_rate, ("q", "v", "a")),
    "centroidal_momentum_matrix": Quantity(centroidal.centroidal_momentum_matrix, ("q",)),
    "centroidal_momentum_matrix_dot": Quantity(centroidal.centroidal_momentum_matrix_dot, ("q", "v")),
    "centroidal_inertia": Quantity(centroidal.centroidal_inertia, ("q",)),
    "kinetic_energy": Quantity(energy.kinetic_energy, ("q", "v")),
    "potential_energy": Quantity(energy.potential_energy, ("q",)),
    "power": Quantity(energy.power, ("q", "v", "a")),
    "regressor": Quantity(regressor.regressor, ("q", "v", "a")),
    "passive": Quantity(actuation.passive, ("q", "v"), whole=True),
    "integrate": Quantity(configuration.integrate, ("q", "dv")),
    "difference": Quantity(configuration.difference, ("q0", "q1")),
    "normalize": Quantity(configuration.normalize, ("q",), any_length=True),
    "rate_matrix": Quantity(configuration.rate_matrix, ("q",)),
    "rate_inverse": Quantity(configuration.rate_inverse, ("q",)),
}
"""Every name that `robot.kernel` and `robot.evaluate` take."""


def quantity(name: str, owner: str) -> Quantity:
    """The entry of a name."""
    if not isinstance(name, str) or name not in QUANTITIES:
        raise InputError(unknown("quantity", name, tuple(QUANTITIES), owner))
    return QUANTITIES[name]


@dataclass(frozen=True)
class Request:
    """A quantity with its options: what a kernel computes."""

    name: str
    frame: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    wrenches: tuple[str, ...] = ()
    """Frames at which external wrenches act; each is one more input, (6,), after the others."""

    @staticmethod
    def of(model: Model, name: str, frame: str | None = None, /, wrenches: Any = (), **options: Any) -> "Request":
        """Checked: the name, the frame and the options exist."""
        entry = quantity(name, model.name)
        if entry.frame != (frame is not None):
            needs = "needs a frame" if entry.frame else f"takes no frame, got {frame!r}"
            raise InputError(f"{model.name}.{name} {needs}")
        if frame is not None:
            model.frame(frame)
        for option, value in options.items():
            if option not in entry.options:
                takes = ", ".join(entry.options) or "none"
                raise InputError(f"{model.name}.{name} has no option {option!r}; it has {takes}")
            if not isinstance(value, str | bool):
                raise InputError(f"{model.name}.{name}, {option}: expected a name, got {value!r}")
        if wrenches and not entry.wrenches:
            raise InputError(f"{model.name}.{name} takes no external wrenches")
        if isinstance(wrenches, str):
            raise InputError(f"{model.name}.{name}, wrenches: expected a list of frames, got the text {wrenches!r}")
        for at in wrenches:
            model.frame(at)
        if len(set(wrenches)) < len(wrenches):
            raise InputError(f"{model.name}.{name}, wrenches: expected every frame once, got {wrenches!r}")
        return Request(name, frame, tuple(sorted(options.items())), tuple(sorted(wrenches)))

    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return (*QUANTITIES[self.name].inputs, *(f"wrench_{k}" for k in range(len(self.wrenches))))

    def function(self, model: Model) -> Callable[..., Any]:
        """The algorithm as a function of the inputs alone."""
        entry = QUANTITIES[self.name]
        count, options = len(entry.inputs), dict(self.options)
        before = () if self.frame is None else (self.frame,)

        def compute(*args: Any) -> Any:
            given = {"wrenches": dict(zip(self.wrenches, args[count:], strict=True))} if self.wrenches else {}
            return entry.function(model, *before, *args[:count], **options, **given)

        compute.__name__ = self.name
        return compute

    def shapes(self, model: Model) -> tuple[int, ...]:
        """The length of each input."""
        return tuple(length(model, name) for name in self.inputs())

    def key(self, model: Model) -> str:
        """A text that stands for the request on every model with the same dynamics."""
        entry = QUANTITIES[self.name]
        frames = [name for name in (self.frame, *self.wrenches) if name is not None]
        options = [
            (name, _place(model, value) if name in entry.frame_options else value) for name, value in self.options
        ]
        places = [_place(model, frame) for frame in frames]
        return repr((self.name, places, options, model.digest if entry.whole else ""))


def length(model: Model, name: str) -> int:
    """Of the input of a name: coordinates, a wrench, a point, or velocities and the like."""
    if name.startswith("q"):
        return model.nq
    return 6 if name.startswith("wrench_") else 3 if name == "point" else model.nv


def _place(model: Model, frame: str) -> tuple[Any, ...]:
    i, i_H_F = model.frame(frame)
    return i, *(tuple(array.ravel().tolist()) for array in i_H_F._arrays())
