"""Kinematics, dynamics, control and simulation of robots."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multibody import _sources  # noqa: F401  first: it records which modules are imported
from multibody.errors import InputError, MultibodyError, RobotFileError, RobotFileWarning, SingularityError

if TYPE_CHECKING:
    from multibody import control, derive, geometry, identification, simulate, sweep, view
    from multibody.algorithms import constraints
    from multibody.compiler.compile import compile  # noqa: A004
    from multibody.compiler.config import config
    from multibody.compiler.eager import eager
    from multibody.compiler.kernel import Kernel
    from multibody.compiler.scan import compile_scan
    from multibody.geometry import Pose, Rotation, SpatialInertia, Twist, Wrench
    from multibody.model import robots
    from multibody.model.builder import Builder
    from multibody.robot import Robot, load
    from multibody.tracing.ad.api import gradient, hessian, hessian_vector, jacobian, jvp, vjp
    from multibody.tracing.ad.custom import custom
    from multibody.tracing.ad.fixed_point import fixed_point
    from multibody.tracing.array.lookup import lookup
    from multibody.tracing.array.traced import TraceError
    from multibody.tracing.matrices import linalg
    from multibody.tracing.record.loop import loop

__version__ = "0.1.0"

_LATER = {
    "Builder": "model.builder",
    "Kernel": "compiler.kernel",
    "Pose": "geometry",
    "Robot": "robot",
    "Rotation": "geometry",
    "SpatialInertia": "geometry",
    "TraceError": "tracing.array.traced",
    "Twist": "geometry",
    "Wrench": "geometry",
    "compile": "compiler.compile",
    "compile_scan": "compiler.scan",
    "config": "compiler.config",
    "custom": "tracing.ad.custom",
    "eager": "compiler.eager",
    "fixed_point": "tracing.ad.fixed_point",
    "gradient": "tracing.ad.api",
    "hessian": "tracing.ad.api",
    "hessian_vector": "tracing.ad.api",
    "jacobian": "tracing.ad.api",
    "jvp": "tracing.ad.api",
    "load": "robot",
    "lookup": "tracing.array.lookup",
    "loop": "tracing.record.loop",
    "vjp": "tracing.ad.api",
}
"""Names that are imported at their first use, and their modules: loading NumPy and LLVM takes time."""

_ROOMS = {
    "constraints": "algorithms.constraints",
    "derive": "derive",
    "geometry": "geometry",
    "identification": "identification",
    "linalg": "tracing.matrices.linalg",
    "control": "control",
    "robots": "model.robots",
    "simulate": "simulate",
    "sweep": "sweep",
    "view": "view",
}
"""Packages, and where they are."""

__all__ = [
    "Builder",
    "InputError",
    "Kernel",
    "MultibodyError",
    "Pose",
    "Robot",
    "RobotFileError",
    "RobotFileWarning",
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
    "custom",
    "derive",
    "eager",
    "fixed_point",
    "geometry",
    "gradient",
    "hessian",
    "hessian_vector",
    "identification",
    "jacobian",
    "jvp",
    "linalg",
    "load",
    "lookup",
    "loop",
    "robots",
    "simulate",
    "sweep",
    "view",
    "vjp",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value: Any = import_module(f"multibody.{_ROOMS[name]}")
    elif name in _LATER:
        value = getattr(import_module(f"multibody.{_LATER[name]}"), name)
    else:
        from multibody._foreign_names import unknown_attribute

        unknown_attribute("multibody")(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
