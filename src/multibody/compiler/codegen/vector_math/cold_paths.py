"""Cold paths: calls of the C library, lane by lane."""

from multibody.compiler.codegen.vector_math.vectors import Mask, Real

_UNLIKELY = '!prof !{!"branch_weights", i32 1, i32 1000000}'


def lane_by_lane(symbol: str, kind: str, *arguments: Real) -> Real:
    """Apply a function of the C library, of type "double" or "float", to every lane."""
    function = arguments[0].function
    real = function.fmt.real
    result = "poison"
    for lane in range(function.tiling.lanes):
        scalars = [function.let(f"extractelement {x}, i32 {lane}") for x in arguments]
        if kind != real:
            scalars = [function.let(f"fpext {real} {x} to {kind}") for x in scalars]
        value = function.call(symbol, *scalars, kind=kind)
        if kind != real:
            value = function.let(f"fptrunc {kind} {value} to {real}")
        result = function.let(f"insertelement {arguments[0].kind} {result}, {real} {value}, i32 {lane}")
    return Real(function, result)


def exit_if_any(condition: Mask, helper: str, x: Real, *results: Real) -> None:
    """Return the result of the helper operation on x and the results if the condition holds in any lane.

    The helper is a tail call, so that the common path needs no stack frame.
    """
    function = x.function
    function.helpers.add(helper)
    kind = function.results(len(results))
    flags = function.let(f"bitcast {condition} to i{function.tiling.lanes}")
    some = function.let(f"icmp ne i{function.tiling.lanes} {flags}, 0")
    function.emit(f"br i1 {some}, label %rare, label %common, {_UNLIKELY}")
    function.begin("rare")
    value = function.let(f"tail call {kind} @{function.symbol(helper)}({', '.join(map(str, (x, *results)))}) cold")
    function.emit(f"ret {kind} {value}")
    function.begin("common")
