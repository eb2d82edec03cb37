"""Requests: the canonical description of what a kernel computes, independent of the method that uses it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multibody.algorithms.constraints import ConstraintSet
from multibody.compiler.optional_inputs import select_optional
from multibody.errors import InputError
from multibody.geometry._arrays import choice
from multibody.model import configuration
from multibody.model.digest import digest
from multibody.model.model import Model
from multibody.model.parameters import NAMES, PLACED, placement_rates, refuse_overlap
from multibody.model.tree import Tree
from multibody.robot.inputs import WRENCH, Input, Kind, arrays_of
from multibody.robot.quantities import TABLE, quantity_of
from multibody.robot.quantity import Quantity
from multibody.tracing.ad.api import jacobian


@dataclass(frozen=True)
class Evaluation:
    """A quantity with its frame, constraints and options, and the optional inputs of the call."""

    name: str
    frame: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    """All options in the order of the quantity's; the others have their defaults."""
    wrenches: tuple[str, ...] = ()
    """Frames with external wrenches; each is one more input, (6,), after the others, in this order."""
    constraints: ConstraintSet | None = None
    optional: tuple[str, ...] = ()
    """The optional inputs of the call, after the wrenches, in the order of the quantity's."""

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
        """Check that the name, the frame, the constraints and the options exist."""
        quantity = quantity_of(name, model.name)
        title = f"{model.name}.{name}"
        if quantity.frame != (frame is not None):
            raise InputError(f"{title} {'needs a frame' if quantity.frame else f'takes no frame, got {frame!r}'}")
        if frame is not None:
            model.tree.frame(frame)
        if quantity.constraints != (constraints is not None):
            needs = "needs constraints=" if quantity.constraints else f"takes no constraints, got {constraints!r}"
            raise InputError(f"{title} {needs}")
        frames = distinct(wrenches, f"{title}, wrenches", "frame")
        if frames and not quantity.wrenches:
            raise InputError(f"{title} takes no external wrenches")
        for wrench_frame in frames:
            model.tree.frame(wrench_frame)
        present = distinct((optional,) if isinstance(optional, str) else optional, f"{title}, optional", "input")
        ordered = select_optional(quantity.optional, present, title)
        active = None if constraints is None else constraints_on(model, constraints)
        return Evaluation(name, frame, _options(quantity, options, title), frames, active, ordered)

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
            rows, nv = dict(self.options).get("task_rows", 0), self.constraints.model.nv
            sizes = {"rows": (self.constraints.rows,), "task": (rows,), "task-jacobian": (rows, nv)}
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
        """Process-independent identity for the cache key; None if user code is involved."""
        constraints = "" if self.constraints is None else self.constraints.digest
        if constraints is None or not self.quantity.is_ours:
            return None
        return self.name, self.frame, self.options, self.wrenches, constraints, self.optional


@dataclass(frozen=True)
class Request:
    """One or several evaluations on the tree of a robot, possibly with parameters of the tree as inputs."""

    evaluations: tuple[Evaluation, ...]
    inputs: tuple[str, ...]
    """The names of all inputs, in the order of the arguments."""
    parameters: tuple[str, ...] = ()
    """The parameters of the tree that are further inputs, after the others."""
    single: bool = True
    """Whether the result is that of the only evaluation instead of a tuple."""
    derivatives: bool = False
    """Whether the results are the derivatives by each input, in the tangent space."""

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
        if wrenches and not any(evaluation.wrenches for evaluation in evaluations):
            raise InputError("evaluate: expected a quantity that takes external wrenches, got none")
        kinds: dict[str, Any] = {"q": "configuration", "v": "velocity", "a": "acceleration", "tau": "force"}
        for evaluation in evaluations:
            missing = [name for name in evaluation.inputs if name not in inputs]
            if missing:
                raise InputError(f"evaluate: {evaluation.name!r} needs {', '.join(missing)}, which is not given")
            for name, kind in evaluation.inputs.items():
                if kinds.setdefault(name, kind) != kind:
                    raise InputError(f"evaluate: {name!r} has different kinds in these quantities: compute them apart")
        unknown = [name for name in inputs if name not in kinds]
        if unknown:
            raise InputError(f"evaluate: no quantity takes {unknown[0]!r}; they take {', '.join(kinds)}")
        return Request(evaluations, inputs, single=False)

    @property
    def name(self) -> str:
        """The name of the kernel."""
        first = self.evaluations[0].name
        return f"{first}_derivatives" if self.derivatives else first if self.single else "evaluate"

    @property
    def solves(self) -> bool:
        """Whether it solves with the mass matrix of the model's own parameters."""
        varied = {"inertias", "masses", "armature"} & set(self.parameters)
        return not varied and any(evaluation.quantity.solves for evaluation in self.evaluations)

    def arrays(self, tree: Tree) -> list[Input]:
        """The inputs as arrays of a kernel."""
        kinds: dict[str, Any] = {}
        for evaluation in self.evaluations:
            kinds |= evaluation.inputs
        ordered = {name: kinds.get(name, "configuration" if name == "q" else "velocity") for name in self.inputs}
        ordered |= {name: tree.parameter_shapes[name] for name in self.parameters}
        return arrays_of(
            tree, ordered, any_length=all(evaluation.quantity.any_length for evaluation in self.evaluations)
        )

    def function(self, tree: Tree) -> Callable[..., Any]:
        """The computation as a function of the inputs."""
        needs = [[self.inputs.index(name) for name in evaluation.inputs] for evaluation in self.evaluations]
        count = len(self.inputs)

        def compute(*args: Any) -> Any:
            varied = dict(zip(self.parameters, args[count:], strict=True))
            own_tree = tree.with_values(**varied) if varied else tree
            results = [
                evaluation.function(own_tree)(*(args[k] for k in needed))
                for evaluation, needed in zip(self.evaluations, needs, strict=True)
            ]
            return results[0] if self.single else tuple(results)

        return _derivatives(tree, compute, self.arrays(tree)) if self.derivatives else compute

    def key(self, model: Model) -> str | None:
        """The cache key of the request on all models with the same tree; None if user code is involved."""
        contents = tuple(evaluation.content for evaluation in self.evaluations)
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
    """The derivatives of a function by each of its inputs: a tuple, or a tuple of tuples for several results.

    Derivatives by q are along velocities: with q' = F(q) v, f' is (df/dq) F v.  [Kindr §Coordinate Rates]
    Derivatives by placements are along velocities too: see `placement_rates`.
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
    """The Jacobians of one or several results by all inputs, with those by coordinates multiplied by F."""
    if not isinstance(by_inputs, tuple):  # of one result by its only input
        by_inputs = (by_inputs,)
    elif count == 1 or isinstance(by_inputs[0], tuple):
        return tuple(_in_tangent_space(J, count, maps) for J in by_inputs)
    return tuple(_times(J, *maps[k]) if k in maps else J for k, J in enumerate(by_inputs))


def _times(J: Any, F: Any, axes: int) -> Any:
    """(..., result, nq) times (..., nq, nv), or (..., result, n, 7) times (..., n, 7, 6), over the batch of F."""
    batch, core = F.shape[:-axes], F.shape[-axes:]
    spread = F.reshape(*batch, *[1] * (J.ndim + 1 - axes - len(batch)), *core)
    return np.matmul(J[..., None, :], spread)[..., 0, :]


def _options(quantity: Quantity, options: Mapping[str, Any], title: str) -> tuple[tuple[str, Any], ...]:
    """Check the options of a quantity, and fill in the defaults; None stands for the default."""
    for option in options:
        if option not in quantity.options:
            raise InputError(f"{title} has no option {option!r}; it has {', '.join(quantity.options) or 'none'}")
    chosen = []
    for option, value_of in quantity.options.items():
        value = options.get(option)
        if value is not None:
            value = value_of(value, f"{title}, {option}")
        elif option in quantity.defaults:
            value = quantity.defaults[option]
        else:
            raise InputError(f"{title} needs {option}=")
        chosen.append((option, value))
    return tuple(chosen)


def constraints_on(
    model: Model, constraints: Any, call: str = "constrained_dynamics(constraints, q, v, tau)"
) -> ConstraintSet:
    """Return a set of constraints on a model, from a set or a list of constraints; `call` is the call of errors."""
    numbers = isinstance(constraints, list | tuple) and any(isinstance(x, float | int) for x in constraints)
    if numbers or isinstance(constraints, np.ndarray | float | int):
        kind = type(constraints).__name__
        raise InputError(f"{model.name}: expected constraints first, as in robot.{call}, got {kind}")
    if not isinstance(constraints, ConstraintSet):
        return ConstraintSet(model, constraints)
    if constraints.model is not model and constraints.model != model:
        raise InputError(f"{model.name}: the constraints belong to another robot, {constraints.model.name!r}")
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
    """The input name of the external wrench at a frame."""
    return f"{WRENCH}{frame}"


def distinct(names: Any, title: str, kind: str) -> tuple[Any, ...]:
    """Return a list of different names as a tuple."""
    is_list = isinstance(names, Collection) and not isinstance(names, str | set | frozenset)  # a set has no order
    try:
        is_distinct = is_list and len(set(names)) == len(names)
    except TypeError:  # one of them is a list
        is_list = is_distinct = False
    if not is_list:
        raise InputError(f"{title}: expected a list of {kind}s, got {names!r}")
    if not is_distinct:
        raise InputError(f"{title}: expected every {kind} once, got {names!r}")
    return tuple(names)
