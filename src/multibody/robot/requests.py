"""Requests: quantities with their frames, constraints and options, checked; what a kernel computes."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from multibody.algorithms.constraints import ConstraintSet
from multibody.errors import InputError
from multibody.model.model import Model
from multibody.model.tree import Tree, unknown
from multibody.robot.constrained import CONSTRAINED
from multibody.robot.quantities import QUANTITIES
from multibody.robot.quantity import VALUES, Quantity, word

TABLE = QUANTITIES | CONSTRAINED
"""Every name that `robot.kernel`, `robot.evaluate` and `robot.derivatives` take."""


def quantity(name: str, owner: str) -> Quantity:
    """The entry of a name."""
    if not isinstance(name, str) or name not in TABLE:
        raise InputError(unknown("quantity", name, tuple(TABLE), owner))
    return TABLE[name]


@dataclass(frozen=True)
class Request:
    """A quantity with its options: what a kernel computes."""

    name: str
    frame: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    wrenches: tuple[str, ...] = ()
    """Frames at which external wrenches act; each is one more input, (6,), after the others, in this order."""
    constraints: ConstraintSet | None = None
    optional: tuple[str, ...] = ()
    """Which of the optional inputs are given, after the wrenches."""

    @staticmethod
    def of(
        model: Model,
        name: str,
        frame: str | None = None,
        /,
        wrenches: Any = (),
        constraints: Any = None,
        optional: Any = (),
        **options: Any,
    ) -> "Request":
        """Checked: the name, the frame, the constraints and the options exist."""
        entry = quantity(name, model.name)
        if entry.frame != (frame is not None):
            needs = "needs a frame" if entry.frame else f"takes no frame, got {frame!r}"
            raise InputError(f"{model.name}.{name} {needs}")
        if frame is not None:
            model.tree.frame(frame)
        if entry.constraints != (constraints is not None):
            needs = "needs constraints=" if entry.constraints else f"takes no constraints, got {constraints!r}"
            raise InputError(f"{model.name}.{name} {needs}")
        chosen = {}
        for option, value in options.items():
            if option not in entry.options:
                takes = ", ".join(entry.options) or "none"
                raise InputError(f"{model.name}.{name} has no option {option!r}; it has {takes}")
            if value is not None:
                chosen[option] = VALUES.get(option, word)(value, f"{model.name}.{name}, {option}")
        for option in entry.required:
            if option not in chosen:
                raise InputError(f"{model.name}.{name} needs {option}=")
        pushed = _distinct(wrenches, f"{model.name}.{name}, wrenches", "frame")
        if pushed and not entry.wrenches:
            raise InputError(f"{model.name}.{name} takes no external wrenches")
        for at in pushed:
            model.tree.frame(at)
        given = (optional,) if isinstance(optional, str) else optional
        given = _distinct(given, f"{model.name}.{name}, optional", "input")
        for each in given:
            if each not in entry.optional:
                takes = ", ".join(entry.optional) or "none"
                raise InputError(f"{model.name}.{name} has no optional input {each!r}; it has {takes}")
        held = None if constraints is None else constraints_on(model, constraints)
        return Request(name, frame, tuple(sorted(chosen.items())), pushed, held, given)

    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return (*TABLE[self.name].inputs, *map(wrench_name, self.wrenches), *self.optional)

    def function(self, tree: Tree) -> Callable[..., Any]:
        """The algorithm as a function of the inputs alone."""
        entry = TABLE[self.name]
        count, options = len(entry.inputs), dict(self.options)
        before = (tree, *(x for x in (self.constraints, self.frame) if x is not None))

        def compute(*args: Any) -> Any:
            end = count + len(self.wrenches)
            given = {"wrenches": dict(zip(self.wrenches, args[count:end], strict=True))} if self.wrenches else {}
            given |= dict(zip(self.optional, args[end:], strict=True))
            return entry.function(*before, *args[:count], **options, **given)

        compute.__name__ = self.name
        return compute

    def lengths(self, model: Model) -> dict[str, int]:
        """The length of each input, by its name."""
        rows = 0 if self.constraints is None else self.constraints.rows
        return {name: rows if name == "active" else length(model, name) for name in self.inputs()}

    def key(self, model: Model) -> str | None:
        """A text that stands for the request on every model with the same dynamics; None where no text can."""
        frames = [name for name in (self.frame, *self.wrenches) if name is not None]
        options = [
            (name, _place(model, value) if self._names_a_frame(model, name, value) else value)
            for name, value in self.options
        ]
        held = ""
        if self.constraints is not None:
            held = self.constraints.digest
            if held is None:
                return None
        places = [_place(model, frame) for frame in frames]
        return repr((self.name, places, self.wrenches, options, "", held, self.optional))

    def _names_a_frame(self, model: Model, option: str, value: Any) -> bool:
        words = TABLE[self.name].frame_options.get(option)
        return words is not None and value not in words and value in model.frames


def constraints_on(model: Model, given: Any) -> ConstraintSet:
    """A set of constraints on a model, from one, or from a list of constraints."""
    if not isinstance(given, ConstraintSet):
        return ConstraintSet(model, given)
    if given.model is not model and given.model != model:
        raise InputError(f"{model.name}: the constraints are those of another robot, {given.model.name!r}")
    return given


def wrench_name(frame: str) -> str:
    """The name of the input for the external wrench at a frame."""
    return f"{WRENCH}{frame}"


WRENCH = "wrench_"
"""What the names of external wrenches begin with."""
SIZES = {"point": 3, "baumgarte": 2, "restitution": 1, "damping": 1}
"""The lengths of inputs that are neither coordinates nor velocities."""


def length(model: Model, name: str) -> int:
    """Of the input of a name: coordinates, a wrench, a point, or velocities and the like."""
    if name.startswith("q"):
        return model.nq
    return 6 if name.startswith(WRENCH) else SIZES.get(name, model.nv)


def _distinct(names: Any, what: str, kind: str) -> tuple[Any, ...]:
    listed = isinstance(names, Collection) and not isinstance(names, str | set | frozenset)  # a set has no order
    try:
        once = listed and len(set(names)) == len(names)
    except TypeError:  # one of them is a list
        listed = once = False
    if not listed:
        raise InputError(f"{what}: expected a list of {kind}s, got {names!r}")
    if not once:
        raise InputError(f"{what}: expected every {kind} once, got {names!r}")
    return tuple(names)


def _place(model: Model, frame: str) -> tuple[Any, ...]:
    i, i_H_F = model.tree.frame(frame)
    return i, *(tuple(array.ravel().tolist()) for array in i_H_F._arrays())
