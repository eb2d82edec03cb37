"""What the parts of the face build on: the model, and a way to call a kernel."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.model.model import Model


class Face(ABC):
    """The abstract base of the parts of Robot."""

    model: Model
    dtype: np.dtype[Any]
    _tasks: dict[Any, Any]
    """What kernels compute, by their keys."""
    _calls: dict[Any, Callable[..., Any]]
    """Kernels by their keys, made when first asked for; the methods that are called most often use it themselves."""
    _poses: dict[str, Callable[..., Any]]
    """Those of poses, by the frame alone."""
    _jacobians: dict[str, Callable[..., Any]]
    """Those of mixed Jacobians, by the frame alone."""

    @abstractmethod
    def _run(self, key: Any, args: tuple[Any, ...], out: Any = None, threads: int | None = None) -> Any:
        """Call the kernel of a key.

        That is a name, (name, frame, *values of options), (name, frames with wrenches), or, for what constraints do,
        (name, frames with wrenches, constraints, optional inputs, *values of options).
        """

    @abstractmethod
    def _explained(self, error: Exception, key: Any, args: tuple[Any, ...]) -> Exception:
        """The error of a kernel, in the words of the robot."""

    @abstractmethod
    def _with(self, model: Model) -> Any:
        """A robot of another model, with the same precision."""
