"""Kinematics, dynamics, control and simulation of robots."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multibody import geometry
from multibody.errors import InputError, MultibodyError, SingularityError
from multibody.geometry import Pose, Rotation, SpatialInertia, Twist, Wrench

if TYPE_CHECKING:
    from multibody.compiler.compile import compile  # noqa: A004
    from multibody.compiler.config import config, eager
    from multibody.compiler.differentiate import gradient, hessian_vector, jacobian, jvp, vjp
    from multibody.compiler.kernel import Kernel
    from multibody.compiler.loop import loop
    from multibody.compiler.scan import compile_scan
    from multibody.compiler.traced import TraceError

__version__ = "0.1.0"

_COMPILER = {
    "Kernel": "kernel",
    "TraceError": "traced",
    "compile": "compile",
    "compile_scan": "scan",
    "config": "config",
    "eager": "config",
    "gradient": "differentiate",
    "hessian_vector": "differentiate",
    "jacobian": "differentiate",
    "jvp": "differentiate",
    "loop": "loop",
    "vjp": "differentiate",
}
"""Names that come from a module of the compiler, which is imported when the first is used: LLVM takes a while."""

__all__ = [
    "InputError",
    "Kernel",
    "MultibodyError",
    "Pose",
    "Rotation",
    "SingularityError",
    "SpatialInertia",
    "TraceError",
    "Twist",
    "Wrench",
    "compile",
    "compile_scan",
    "config",
    "eager",
    "geometry",
    "gradient",
    "hessian_vector",
    "jacobian",
    "jvp",
    "loop",
    "vjp",
]


def __getattr__(name: str) -> Any:
    if name in _COMPILER:
        value = getattr(import_module(f"multibody.compiler.{_COMPILER[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'multibody' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
