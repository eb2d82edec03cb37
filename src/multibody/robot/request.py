"""Requests: what a kernel computes, in one canonical form, whatever method asks for it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multibody.algorithms.constraints import ConstraintSet
from multibody.errors import InputError
from multibody.geometry._arrays import choice
from multibody.model import configuration
from multibody.model.digest import digest
from multibody.model.model import Model
from multibody.model.parameters import NAMES, PLACED, placement_rates, refuse_overlap
from multibody.model.tree import Tree
from multibody.robot import quantities  # noqa: F401  fills the table
from multibody.robot.inputs import WRENCH, Input, Kind, arrays_of
from multibody.robot.quantity import TABLE, Quantity, quantity_of
from multibody.tracing.ad.api import jacobian


@dataclass(frozen=True)
class Evaluation:
    """A quantity with its frame, constraints and options, all of them, and the inputs that it is given."""

    name: str
    frame: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    """In the order of the quantity's; those that were not given have their defaults."""
    wrenches: tuple[str, ...] = ()
    """Frames at which external wrenches act; each is one more input, (6,), after the others, in this order."""
    constraints: ConstraintSet | None = None
    optional: tuple[str, ...] = ()
    """Which of the optional inputs are given, after the wrenches, in the order of the quantity's."""

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
    ) -> "Evaluation":
        """Checked: the name, the frame, the constraints and the options exist."""
        quantity = quantity_of(name, model.name)
        what = f"{model.name}.{name}"
        if quantity.frame != (frame is not None):
            raise InputError(f"{what} {'needs a frame' if quantity.frame else f'takes no frame, got {frame!r}'}")
        if frame is not None:
            model.tree.frame(frame)
        if quantity.constraints != (constraints is not None):
            needs = "needs constraints=" if quantity.constraints else f"takes no constraints, got {constraints!r}"
            raise InputError(f"{what} {needs}")
        pushed = distinct(wrenches, f"{what}, wrenches", "frame")
        if pushed and not quantity.wrenches:
            raise InputError(f"{what} takes no external wrenches")
        for at in pushed:
            model.tree.frame(at)
        present = distinct((optional,) if isinstance(optional, str) else optional, f"{what}, optional", "input")
        for each in present:
            if each not in quantity.optional:
                takes = ", ".join(quantity.optional) or "none"
                raise InputError(f"{what} has no optional input {each!r}; it has {takes}")
        held = None if constraints is None else constraints_on(model, constraints)
        ordered = tuple(each for each in quantity.optional if each in present)
        return Evaluation(name, frame, _options(quantity, options, what), pushed, held, ordered)

    @property
    def quantity(self) -> Quantity:
        """The entry of the table."""
        return TABLE[self.name]

    @property
    def inputs(self) -> dict[str, Kind]:
        """The names and kinds of the inputs, in the order of the arguments."""
        kinds: dict[str, Any] = dict(self.quantity.inputs)
        kinds |= dict.fromkeys(map(wrench_name, self.wrenches), "wrench")
        kinds |= {name: self.quantity.optional[name] for name in self.optional}
        sizes = {}
        if self.constraints is not None:
            wanted, held = dict(self.options).get("task_rows", 0), self.constraints
            sizes = {"rows": (held.rows,), "task": (wanted,), "task-jacobian": (wanted, held.model.nv)}
        return {name: sizes.get(kind, kind) if isinstance(kind, str) else kind for name, kind in kinds.items()}

    def function(self, tree: Tree) -> Callable[..., Any]:
        """The algorithm as a function of the inputs alone."""
        count, options = len(self.quantity.inputs), dict(self.options)
        before = (tree, *(x for x in (self.constraints, self.frame) if x is not None))

        def compute(*args: Any) -> Any:
            end = count + len(self.wrenches)
            extras = dict(zip(self.optional, args[end:], strict=True))
            if self.wrenches:
                extras["wrenches"] = dict(zip(self.wrenches, args[count:end], strict=True))
            return self.quantity.function(*before, *args[:count], **options, **extras)

        compute.__name__ = self.name
        return compute

    @property
    def content(self) -> tuple[Any, ...] | None:
        """What tells it from others in every process; None where code from outside the library is in it."""
        held = "" if self.constraints is None else self.constraints.digest
        if held is None or not self.quantity.is_ours:
            return None
        return self.name, self.frame, self.options, self.wrenches, held, self.optional


@dataclass(frozen=True)
class Request:
    """What a kernel computes: evaluations, together, on the tree of a robot or on one with other numbers."""

    evaluations: tuple[Evaluation, ...]
    inputs: tuple[str, ...]
    """The names of the inputs of all, in the order of the arguments."""
    parameters: tuple[str, ...] = ()
    """Which numbers of the tree are further inputs, after the others."""
    single: bool = True
    """Whether the result is that of the only evaluation, and not a tuple of results."""
    derivatives: bool = False
    """Whether the result is the derivatives by each of the inputs, in the tangent space."""

    @staticmethod
    def of(model: Model, *args: Any, parameters: Any = (), derivatives: bool = False, **options: Any) -> "Request":
        """One evaluation, as `Evaluation.of` takes it."""
        evaluation = Evaluation.of(model, *args, **options)
        return Request((evaluation,), tuple(evaluation.inputs), parameter_names(parameters), derivatives=derivatives)

    @staticmethod
    def together(
        model: Model, items: Sequence[tuple[Any, ...]], wrenches: tuple[str, ...], inputs: tuple[str, ...]
    ) -> "Request":
        """The request of several quantities at once: (name, frame or constraints, {option: value}) each."""
        if not items:
            raise InputError("evaluate: expected at least one quantity, got none")
        evaluations = tuple(_item_evaluation(model, item, wrenches) for item in items)
        if wrenches and not any(each.wrenches for each in evaluations):
            raise InputError("evaluate: expected a quantity that takes external wrenches, got none")
        kinds: dict[str, Any] = {"q": "configuration", "v": "velocity", "a": "acceleration", "tau": "force"}
        for each in evaluations:
            missing = [name for name in each.inputs if name not in inputs]
            if missing:
                raise InputError(f"evaluate: {each.name!r} needs {', '.join(missing)}, which is not given")
            for name, kind in each.inputs.items():
                if kinds.setdefault(name, kind) != kind:
                    raise InputError(f"evaluate: {name!r} means different things to these quantities: ask one by one")
        unknown = [name for name in inputs if name not in kinds]
        if unknown:
            raise InputError(f"evaluate: no quantity asks for {unknown[0]!r}; they take {', '.join(kinds)}")
        return Request(evaluations, inputs, single=False)

    @property
    def name(self) -> str:
        """The name of the kernel."""
        first = self.evaluations[0].name
        return f"{first}_derivatives" if self.derivatives else first if self.single else "evaluate"

    @property
    def solves(self) -> bool:
        """Whether it divides by the mass matrix of the robot itself."""
        varied = {"inertias", "masses", "armature"} & set(self.parameters)
        return not varied and any(each.quantity.solves for each in self.evaluations)

    def arrays(self, tree: Tree) -> list[Input]:
        """The inputs as arrays of a kernel."""
        kinds: dict[str, Any] = {}
        for each in self.evaluations:
            kinds |= each.inputs
        ordered = {name: kinds.get(name, "configuration" if name == "q" else "velocity") for name in self.inputs}
        ordered |= {name: tree.parameter_shapes[name] for name in self.parameters}
        return arrays_of(tree, ordered, any_length=all(each.quantity.any_length for each in self.evaluations))

    def function(self, tree: Tree) -> Callable[..., Any]:
        """What is computed, as a function of the inputs."""
        needs = [[self.inputs.index(name) for name in each.inputs] for each in self.evaluations]
        count = len(self.inputs)

        def compute(*args: Any) -> Any:
            own = tree.with_values(**dict(zip(self.parameters, args[count:], strict=True))) if self.parameters else tree
            results = [
                each.function(own)(*(args[k] for k in needed))
                for each, needed in zip(self.evaluations, needs, strict=True)
            ]
            return results[0] if self.single else tuple(results)

        return _derivatives(tree, compute, self.arrays(tree)) if self.derivatives else compute

    def key(self, model: Model) -> str | None:
        """A text that stands for the request on all models with the same tree; None where no text can."""
        contents = tuple(each.content for each in self.evaluations)
        if model.tree_digest is None or None in contents:
            return None
        return digest(model.tree_digest, contents, self.inputs, self.parameters, self.single, self.derivatives)


def _item_evaluation(model: Model, item: tuple[Any, ...], wrenches: tuple[str, ...]) -> Evaluation:
    name, *rest = item or ((),)
    options = rest.pop() if rest and isinstance(rest[-1], Mapping) else {}
    if len(rest) > 1:
        raise InputError(f"evaluate: expected (name, frame, {{option: value}}), got {item!r}")
    quantity = quantity_of(name, model.name)
    if rest and quantity.constraints:
        options = {**options, "constraints": rest.pop()}
    return Evaluation.of(model, name, *rest, **{"wrenches": wrenches if quantity.wrenches else (), **options})


def item_name(item: Any) -> Any:
    """A hashable name of an item of `Robot.evaluate`."""
    if isinstance(item, tuple):
        item = tuple(tuple(sorted(part.items())) if isinstance(part, Mapping) else part for part in item)
    try:
        hash(item)
    except TypeError:
        raise InputError(f"evaluate: expected a name or a tuple (name, frame, options), got {item!r}") from None
    return item


def _derivatives(tree: Tree, function: Callable[..., Any], arrays: Sequence[Input]) -> Callable[..., Any]:
    """The derivatives of a function by each of its inputs: a tuple, or tuples for several results.

    By q they are along the velocities of the robot: with q' = F(q) v, f' is (df/dq) F v.  [Kindr §Coordinate Rates]
    By placements they are along velocities, too: see `placement_rates`.
    """

    def compute(*args: Any) -> Any:
        by_inputs = jacobian(function, tuple(range(len(arrays))), tuple(x.shape for x in arrays))(*args)
        maps: dict[int, Any] = {}
        for k, (x, value) in enumerate(zip(arrays, args, strict=True)):
            if x.kind == "configuration":
                maps[k] = configuration.rate_matrix(tree, value), 2
            elif x.name in PLACED:
                maps[k] = placement_rates(value), 3
        return _in_tangent_space(by_inputs, len(arrays), maps)

    return compute


def _in_tangent_space(by_inputs: Any, count: int, maps: Mapping[int, tuple[Any, int]]) -> Any:
    """The Jacobians of one result by all inputs, or of several results, with those by coordinates times F."""
    if not isinstance(by_inputs, tuple):  # of one result by its only input
        by_inputs = (by_inputs,)
    elif count == 1 or isinstance(by_inputs[0], tuple):
        return tuple(_in_tangent_space(each, count, maps) for each in by_inputs)
    return tuple(_times(J, *maps[k]) if k in maps else J for k, J in enumerate(by_inputs))


def _times(J: Any, F: Any, axes: int) -> Any:
    """(..., result, nq) times (..., nq, nv), or (..., result, n, 7) times (..., n, 7, 6), over the batch of F."""
    batch, core = F.shape[:-axes], F.shape[-axes:]
    spread = F.reshape(*batch, *[1] * (J.ndim + 1 - axes - len(batch)), *core)
    return np.matmul(J[..., None, :], spread)[..., 0, :]


def _options(quantity: Quantity, options: Mapping[str, Any], what: str) -> tuple[tuple[str, Any], ...]:
    """All options of a quantity, checked; None stands for the default."""
    for option in options:
        if option not in quantity.options:
            raise InputError(f"{what} has no option {option!r}; it has {', '.join(quantity.options) or 'none'}")
    chosen = []
    for option, value_of in quantity.options.items():
        value = options.get(option)
        if value is not None:
            value = value_of(value, f"{what}, {option}")
        elif option in quantity.defaults:
            value = quantity.defaults[option]
        else:
            raise InputError(f"{what} needs {option}=")
        chosen.append((option, value))
    return tuple(chosen)


def constraints_on(model: Model, constraints: Any) -> ConstraintSet:
    """A set of constraints on a model, from one, or from a list of constraints."""
    if not isinstance(constraints, ConstraintSet):
        return ConstraintSet(model, constraints)
    if constraints.model is not model and constraints.model != model:
        raise InputError(f"{model.name}: the constraints are those of another robot, {constraints.model.name!r}")
    return constraints


def parameter_names(names: Any) -> tuple[str, ...]:
    """The numbers of a tree that a caller names: one name or several, each once, in their order."""
    if not isinstance(names, str | tuple | list):
        raise InputError(f"parameters: expected a name or a tuple of names ({', '.join(NAMES)}), got {names!r}")
    chosen = (names,) if isinstance(names, str) else tuple(names)
    for name in chosen:
        choice(name, "parameters", NAMES)
    if len(set(chosen)) < len(chosen):
        raise InputError(f"parameters: expected each kind once, got {', '.join(map(repr, chosen))}")
    refuse_overlap(chosen)
    return chosen


def wrench_name(frame: str) -> str:
    """The name of the input for the external wrench at a frame."""
    return f"{WRENCH}{frame}"


def distinct(names: Any, what: str, kind: str) -> tuple[Any, ...]:
    """Names in a list, each once."""
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
