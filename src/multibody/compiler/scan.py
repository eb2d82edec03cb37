"""`compile_scan`: a step that native code repeats over time.

Rollouts, integrators and closed loops use it: the state stays in native code, inputs are read at each step, outputs are
stored at a chosen interval, and Python is not called between steps. Within a traced function a scan is a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from multibody._signatures import readable
from multibody.compiler.cache import code_cache
from multibody.compiler.cache.key import key as key_of
from multibody.compiler.codegen.scan_modules import Plan, scan_modules_of
from multibody.compiler.compiled_scan import Scan, ScanSource, Step
from multibody.compiler.config import config
from multibody.compiler.ir.nested_shapes import flatten_shapes
from multibody.compiler.optional_inputs import OptionalInputs, extend_key
from multibody.compiler.runtime.signature import Signature
from multibody.errors import InputError
from multibody.tracing.record.layout import flatten, rebuild
from multibody.tracing.record.purity import SideEffects
from multibody.tracing.record.trace import Trace, float_kind, trace


@readable
def compile_scan(
    step: Step,
    state: Any,
    inputs: Sequence[Any] = (),
    parameters: Sequence[Any] = (),
    *,
    until: Callable[[Any], Any] | None = None,
    optional: Mapping[str, Any] | None = None,
    dtype: DTypeLike | None = None,
    key: str | None = None,
) -> Scan:
    """Compile a step of time, to be repeated in the kernel.

    Args:
        step: `step(state, *inputs, *parameters)` in plain NumPy; returns the next state and an
            output (or None).
        state: the shape of the state, or tuples, lists and dicts of shapes; a list stands for a
            tuple.
        inputs: shapes of what changes from step to step, each nested in the same way.
        parameters: shapes of what stays.
        until: of the state, the truth value that a sample is done, asked before every step: it
            then keeps its state, and its outputs are NaN from then on.
        optional: shapes of further inputs, by name, that a call may give or leave out; the step
            has None as their default.
        dtype: float64 or float32; by default that of `mb.config`.
        key: a text that stands for the step, all that it uses and their versions, as in
            `compile`.

    >>> scan = compile_scan(lambda x, u: (0.5 * x + u, x), (1,), [(1,)])
    >>> last, seen = scan([1.0], [[0.0], [0.0], [1.0]])
    >>> last, seen[:, 0]
    (array([1.125]), array([1.  , 0.5 , 0.25]))
    """
    layout, shapes = flatten_shapes(state)
    per_step, fixed = [[flatten_shapes(spec) for spec in specs] for specs in (inputs, parameters)]
    moving, still = [sum(len(part) for _, part in parts) for parts in (per_step, fixed)]
    stops = until is not None
    states = len(shapes) + stops
    plan = Plan(states, moving, still, layout, [nested for nested, _ in (*per_step, *fixed)], len(fixed), stops)
    flat = _flat(step, until, plan)
    shapes += [*[()] * stops, *(shape for _, part in (*per_step, *fixed) for shape in part)]
    names = [f"state{k}" for k in range(states)] + [f"input{k}" for k in range(moving)]
    names += [f"parameter{k}" for k in range(still)]
    kind = float_kind(config.dtype if dtype is None else dtype)
    name = getattr(step, "__name__", "scan")

    def record() -> Trace:
        side_effects = SideEffects(step, until)
        traced = trace(flat, shapes, names, kind)
        side_effects.check(f"the step {name}")
        for spec, ids in zip(traced.inputs[:states], traced.outputs, strict=False):
            if ids.shape != spec.shape:
                raise InputError(f"a step must keep the shape of the state: {spec.shape} became {ids.shape}")
        return traced

    text_key = None if key is None else key_of(("scan of a key", key, plan), shapes, names, kind)
    code = code_cache.code(name, record, lambda trace: scan_modules_of(trace, plan), ("scan", plan), text_key)
    signature = Signature.of_header(code.header)

    def with_optional(present: tuple[str, ...]) -> Scan:
        first, last = len(inputs), len(inputs) + len(present)

        def bound(now: Any, *args: Any) -> Any:
            extra = dict(zip(present, args[first:last], strict=True))
            return step(now, *args[:first], *args[last:], **extra)

        bound.__name__ = name
        more = [*inputs, *(dict(optional or {})[option] for option in present)]
        text = extend_key(key, present)
        return compile_scan(bound, state, more, parameters, until=until, dtype=kind, key=text)

    variants = OptionalInputs(optional or {}, with_optional)
    source = ScanSource(record, flat, step, until, variants)
    return Scan(name, signature, code, plan, source)


def _flat(step: Step, until: Callable[[Any], Any] | None, plan: Plan) -> Step:
    """The step as a function of arrays: (states, inputs, parameters) -> ((states), output)."""
    own = plan.states - plan.stops

    def flat(*args: Any) -> Any:
        rest = iter(args[plan.states :])
        now = rebuild(plan.state_layout, iter(args[:own]))
        result = step(now, *(rebuild(layout, rest) for layout in plan.rest_layouts))
        if not isinstance(result, tuple) or len(result) != 2:
            raise InputError("a step must return the next state and an output: (state, output), or (state, None)")
        following, output = result
        states: list[Any] = []
        if flatten(following, states.append) != plan.state_layout:
            raise InputError("a step must return a state that is nested as the one it takes")
        if until is not None:
            done: Any = (args[own] != 0.0) | until(now)
            states = [np.where(done, before, after) for before, after in zip(args[:own], states, strict=True)]
            states.append(np.where(done, 1.0, 0.0))
            parts: list[Any] = []
            layout = flatten(output, parts.append) if output is not None else None
            output = None if layout is None else rebuild(layout, iter([np.where(done, np.nan, part) for part in parts]))
        return (tuple(states), *(() if output is None else (output,)))

    return flat
