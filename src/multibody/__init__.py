"""Kinematics, dynamics, control and simulation of robots."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multibody import (
    _sources,  # noqa: F401  first, to note what is imported from here on
    geometry,
)
from multibody.errors import InputError, MultibodyError, RobotFileError, SingularityError
from multibody.geometry import Pose, Rotation, SpatialInertia, Twist, Wrench

if TYPE_CHECKING:
    from multibody import control, derive
    from multibody.algorithms import constraints
    from multibody.compiler.compile import compile  # noqa: A004
    from multibody.compiler.config import config, eager
    from multibody.compiler.kernel import Kernel
    from multibody.compiler.scan import compile_scan
    from multibody.model import robots
    from multibody.model.builder import Builder
    from multibody.robot import Robot, load
    from multibody.tracing.differentiate import gradient, hessian_vector, jacobian, jvp, vjp
    from multibody.tracing.loop import loop
    from multibody.tracing.traced import TraceError

__version__ = "0.1.0"

_LATER = {
    "Builder": "model.builder",
    "Kernel": "compiler.kernel",
    "Robot": "robot",
    "TraceError": "tracing.traced",
    "compile": "compiler.compile",
    "compile_scan": "compiler.scan",
    "config": "compiler.config",
    "eager": "compiler.config",
    "gradient": "tracing.differentiate",
    "hessian_vector": "tracing.differentiate",
    "jacobian": "tracing.differentiate",
    "jvp": "tracing.differentiate",
    "load": "robot",
    "loop": "tracing.loop",
    "vjp": "tracing.differentiate",
}
"""Names from rooms that are imported when the first is used: LLVM takes a while."""

_ROOMS = {
    "constraints": "algorithms.constraints",
    "control": "control",
    "derive": "derive",
    "robots": "model.robots",
}
"""Packages under shorter names."""

__all__ = [
    "Builder",
    "InputError",
    "Kernel",
    "MultibodyError",
    "Pose",
    "Robot",
    "RobotFileError",
    "Rotation",
    "SingularityError",
    "SpatialInertia",
    "TraceError",
    "Twist",
    "Wrench",
    "compile",
    "compile_scan",
    "config",
    "constraints",
    "control",
    "derive",
    "eager",
    "geometry",
    "gradient",
    "hessian_vector",
    "jacobian",
    "jvp",
    "load",
    "loop",
    "robots",
    "vjp",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value: Any = import_module(f"multibody.{_ROOMS[name]}")
    elif name in _LATER:
        value = getattr(import_module(f"multibody.{_LATER[name]}"), name)
    else:
        raise AttributeError(f"module 'multibody' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
