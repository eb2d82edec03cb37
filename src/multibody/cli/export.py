"""`multibody export`: a quantity of a robot as source code, in C, NumPy or SymPy."""

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multibody._saving import check_place, save
from multibody.cli import _options
from multibody.cli._c_code import check_c_place, save_c
from multibody.cli._progress import working
from multibody.cli._tables import terminal
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.tracing.record.trace import Trace


class Precision(StrEnum):
    """The type of the numbers."""

    float64 = "float64"
    float32 = "float32"


def export(
    file: _options.File = "",
    quantity: Annotated[str, typer.Option(help="What to compute; --list has all.")] = "inverse_dynamics",
    frame: Annotated[str | None, _options.frame_option("Its frame, for quantities of a frame, as jacobian.")] = None,
    representation: Annotated[
        str | None, typer.Option(help="Of a twist, for quantities that have one: mixed, left or right.")
    ] = None,
    wrench: Annotated[
        list[str] | None,
        _options.frame_option("A frame at which an external wrench acts, a further input; repeatable."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(help="Numbers of the robot that become inputs: masses, inertias, gravity...; repeatable."),
    ] = None,
    c: Annotated[Path | None, typer.Option("--c", help="Save C99 here, and its header beside it.")] = None,
    as_numpy: Annotated[Path | None, typer.Option("--numpy", help="Save a Python file here that uses NumPy.")] = None,
    as_sympy: Annotated[Path | None, typer.Option("--sympy", help="Save a Python file here with expressions.")] = None,
    name: Annotated[str | None, typer.Option(help="Of the function; that of the quantity by default.")] = None,
    precision: Annotated[Precision, typer.Option(help="Of the numbers: double or single.")] = Precision.float64,
    floating: _options.Floating = False,
    mimic: _options.MimicOption = _options.Mimic.coupled,
    strict: _options.Strict = False,
    roots: _options.Roots = None,
    trust_paths: _options.TrustPaths = False,
    listed: Annotated[bool, typer.Option("--list", help="List the quantities with their inputs, and leave.")] = False,
) -> None:
    """Write a quantity of a robot as code that needs nothing of this library: C, NumPy or SymPy.

    The code says which inputs it takes, their shapes, order and units: radians and metres, quaternions as w, x, y, z,
    twists and wrenches with the linear part first, matrices row by row. Without a place for it, C is printed.
    """
    from multibody.cli._code_comments import describe, with_comment
    from multibody.compiler.export.to_c import RESERVED, to_c
    from multibody.compiler.export.to_numpy import to_numpy
    from multibody.robot.quantities import CONSTRAINED, QUANTITIES
    from multibody.tracing.emission import function_name

    console = terminal()
    if listed or not file:
        for each, entry in QUANTITIES.items():
            inputs = ", ".join((["frame"] if entry.frame else []) + list(entry.inputs))
            console.print(f"{each}({inputs})")
        return
    if quantity in CONSTRAINED:
        raise InputError(f"--quantity: {quantity} needs constraints, which Python has: robot.kernel({quantity!r}, ...)")
    if c is not None:
        check_c_place(c)
    for option, path in (("--numpy", as_numpy), ("--sympy", as_sympy)):
        if path is not None:
            check_place(path, option)
    title = function_name(quantity if name is None else name, RESERVED)
    places = {"roots": roots, "trust_paths": trust_paths}
    robot = _options.read(file, floating, mimic, strict=strict, dtype=precision.value, **places)
    options = {} if representation is None else {"representation": representation}
    with working(f"compiling {quantity}"):
        kernel = robot.kernel(quantity, frame, wrenches=wrench or [], parameters=parameter or [], **options)
        trace = kernel.trace()
    about = describe(robot, kernel, quantity, frame, options)
    what = f"{quantity} in {sum(kernel.ops.values())} operations"
    if c is not None or (as_numpy is None and as_sympy is None):
        code = with_comment(to_c(trace, title), about)
        if c is None:
            print(code.source, end="")
        else:
            save_c(console, code, c, what)
    remarks = "".join(f"# {line}".rstrip() + "\n" for line in about)
    if as_numpy is not None:
        save(remarks + to_numpy(trace, title), as_numpy, "--numpy")
        console.print(f"Saved {as_numpy}: {what}.", soft_wrap=True)
    if as_sympy is not None:
        save(remarks + _sympy_source(trace), as_sympy, "--sympy")
        console.print(f"Saved {as_sympy}: {what}.", soft_wrap=True)


def _sympy_source(trace: "Trace") -> str:
    """A Python file that has the inputs as symbols, every value that is used twice as a step, and the result."""
    from multibody.compiler.export.to_sympy import symbols_of, to_sympy_steps

    steps, result = to_sympy_steps(trace)
    printer = _printer()
    lines = ["from sympy import *", ""]
    for spec in trace.inputs:
        entries = symbols_of(trace)[spec.name]
        flat = list(entries) if math.prod(spec.shape) > 1 or spec.shape else [entries]
        lines += [f"{x} = Symbol({x.name!r}, real=True)" for x in flat]
    lines += [f"{symbol} = {printer.doprint(value)}" for symbol, value in steps]
    return "\n".join([*lines, f"result = {printer.doprint(result)}", ""])


def _printer() -> Any:
    from sympy.printing.str import StrPrinter

    class Exact(StrPrinter):
        """As SymPy prints, with all digits of numbers."""

        def _print_Float(self, expr: Any) -> str:
            return repr(float(expr))

    return Exact()
