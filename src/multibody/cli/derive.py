"""`multibody derive`: equations of motion as formulas, step by step, by every method; or as C."""

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from multibody._saving import check_place, save
from multibody.cli import _tables
from multibody.cli._c_code import check_c_place, save_c
from multibody.cli._messages import print_note
from multibody.cli._options import Floating, Mimic, MimicOption, Roots, TrustPaths, read
from multibody.cli._progress import progress, working
from multibody.cli._tables import table, terminal
from multibody.errors import InputError, did_you_mean
from multibody.model import robots

if TYPE_CHECKING:  # SymPy takes a while to load, and may not be there
    from multibody.derive import Equations, System
    from multibody.derive.printing.page_elements import Block


class Show(StrEnum):
    """Parts of the result that are shown."""

    equations = "equations"
    steps = "steps"
    linear = "linear"


MAX_DEVIATION = 1e-12
"""The largest relative difference of methods that agree."""
MAX_READABLE_OPERATIONS = 1000
"""Operations of equations beyond which they are no formulas to read."""
QUICKER_WAYS = (
    "Quicker: --method recursive-newton-euler with --c FILE for code; multibody export, or robot.kernel in Python, for "
    "numbers; robot.lock in Python for fewer joints"
)
QUANTITY = "forward_dynamics"
MAX_COLUMNS = 140
"""The width of formulas in a wider terminal."""
_MEANING = {"tau": ": the generalized forces along v", "t": ": the time"}
_VALUE = re.compile(r"(-?)(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)?\*?(pi)?(?:/(0*[1-9]\d*))?")


def derive(
    system: Annotated[
        str | None, typer.Argument(help="A system, or a robot: a name, or a URDF, MJCF or SDF file.")
    ] = None,
    method: Annotated[str, typer.Option(help="How to derive; --list has all.")] = "projected-newton-euler",
    show: Annotated[Show, typer.Option(help="The equations, the steps to them, or A and B where it can rest.")] = (
        Show.equations
    ),
    at: Annotated[str, typer.Option(help='Where linear: "theta=pi, l=0.5"; else all equilibria.')] = "",
    parameters: Annotated[str, typer.Option(help='Values of parameters, where linear and in C: "m=2, g=9.81".')] = "",
    as_unicode: Annotated[bool, typer.Option("--unicode", help="Print text; this is the default.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX document.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, with $ formulas.")] = False,
    html: Annotated[Path | None, typer.Option(help="Save a page here that needs no network.")] = None,
    c: Annotated[Path | None, typer.Option("--c", help="Save C code here, and its header beside it.")] = None,
    quantity: Annotated[str, typer.Option(help=f"What the C code computes; {QUANTITY} by default.")] = "",
    symbols: Annotated[
        str, typer.Option(help="Of a robot: all, or some of masses, centers, inertias, lengths, gravity.")
    ] = "",
    passive: Annotated[
        bool, typer.Option("--passive", help="Of a robot: let springs, dampers and friction of its joints act.")
    ] = False,
    short: Annotated[bool, typer.Option("--short", help="Write c_12 for cos(q1 + q2).")] = False,
    floating: Floating = False,
    mimic: MimicOption = Mimic.coupled,
    roots: Roots = None,
    trust_paths: TrustPaths = False,
    compare: Annotated[str, typer.Option(help="Compare methods: all, or their names with commas.")] = "",
    listed: Annotated[bool, typer.Option("--list", help="List systems and methods, and leave.")] = False,
) -> None:
    """Derive equations of motion as formulas, by each method of the documents."""
    if sum((as_unicode, as_latex, as_markdown)) > 1:
        raise InputError("expected one of --unicode, --latex and --markdown")
    if html is not None:
        check_place(html, "--html")
    if c is not None:
        check_c_place(c)
    if at and show != Show.linear:
        raise InputError("--at needs --show linear")
    if parameters and show != Show.linear and c is None:
        raise InputError("--parameters needs --show linear or --c; --symbols puts symbols for the numbers of a robot")
    if quantity and c is None:
        raise InputError("--quantity needs --c")
    if compare and (as_latex or as_markdown or html or c or show != Show.equations):
        raise InputError("--compare prints a table: leave out --latex, --markdown, --html, --c and --show")
    console = terminal()
    if listed or system is None:
        _list(console)
        return
    from multibody.derive import from_robot, methods, printing
    from multibody.derive.methods.expected_time import why_slow
    from multibody.derive.printing import output_formats
    from multibody.derive.printing.html_document import standalone

    def of_robot() -> "System":
        groups = symbols.replace(",", " ").split()
        robot = read(name, floating, mimic, roots=roots, trust_paths=trust_paths)
        with working(f"placing the bodies of {robot.name}"):
            return from_robot(robot, "all" if groups == ["all"] else groups, passive=passive)

    name, options = system, {"--symbols": symbols, "--passive": passive, "--floating": floating}
    subject = _system(name, next((option for option, value in options.items() if value), ""), of_robot)
    if compare:
        _compare(console, subject, compare)
        return
    place, values = _values(at, "--at"), _values(parameters, "--parameters")
    if slow := why_slow(subject, method):
        print_note(f"{slow}. {QUICKER_WAYS}")
    with working(f"deriving {subject.name} by {method}"):
        equations = methods.equations(subject, method)
    if c is not None:
        _save_c(console, equations, quantity or QUANTITY, values, c)

    def blocks(columns: int = printing.COLUMNS) -> "list[Block]":
        if show != Show.linear:
            return printing.blocks(equations, show == Show.steps, short, columns)
        return printing.linear_blocks(equations, [{**values, **place}] if place else None, short, columns, values)

    if html is not None or as_latex or as_markdown or as_unicode or c is None:
        _note_if_long(equations)
    if html is not None:
        with working("writing formulas"):
            page = standalone(printing.title(equations), output_formats.html(blocks()))
        save(page, html, "--html")
        console.print(f"Saved {html}.", soft_wrap=True)
    if as_latex or as_markdown:
        with working("writing formulas"):
            text = output_formats.document(blocks()) if as_latex else output_formats.markdown(blocks())
        print(text, end="")
    elif as_unicode or (html is None and c is None):
        _print(console, blocks)


def _note_if_long(equations: "Equations") -> None:
    """Print before formulas are written that this takes minutes."""
    from multibody.derive.algebra.forms_to_expressions import cost

    operations = cost(*equations.M, *equations.b, *equations.g)
    if operations > MAX_READABLE_OPERATIONS:
        size = f"the formulas of {equations.system.name} have {operations} operations, with common parts counted once"
        print_note(f"{size}: to write them out can take minutes, and nobody reads them. {QUICKER_WAYS}")


# What to derive


def _system(name: str, option: str, robot: "Callable[[], System]") -> "System":
    """A system of that name; else that of a robot, if no option that only robots have was given for the former."""
    from multibody.derive import systems

    if name in systems.SYSTEMS and not option:
        return systems.system(name)
    if name in systems.SYSTEMS and name not in robots.names():
        raise InputError(f"{option} is for robots: leave it out, {name} has symbols and forces of its own")
    if name not in robots.names() and not Path(name).is_file():
        names = dict.fromkeys([*systems.SYSTEMS, *robots.names()])
        hint = did_you_mean(name, names) or f"there are {', '.join(names)}"
        raise InputError(f"{name!r} is neither a system, nor an embedded robot, nor a file; {hint}")
    return robot()


def _list(console: Console) -> None:
    from multibody.derive import METHODS, applicable, systems

    made = table("system", "q", "what it is")
    fits = table("method", "fits")
    whose: dict[str, list[str]] = {name: [] for name in METHODS}
    for name, named in systems.SYSTEMS.items():
        example = systems.system(name)
        made.add_row(name, str(len(example.q)), named.title)
        for method in applicable(example):
            whose[method].append(name)
    _tables.show(console, made, "Systems", "also embedded robots, URDF, MJCF and SDF files: see --symbols and --help")
    for name, those in whose.items():
        fits.add_row(name, "all of them" if len(those) == len(systems.SYSTEMS) else ", ".join(those))
    _tables.show(console, fits, "Methods")


def _values(text: str, option: str) -> dict[Any, Any]:
    """Values by name from a text such as "theta=pi, m=0.5"."""
    values: dict[Any, Any] = {}
    for part in text.split(",") if text.strip() else ():
        name, equals, value = (x.strip() for x in part.partition("="))
        if not (name and equals):
            raise InputError(f'{option}: expected "name=value, name=value", got {part.strip()!r}')
        if name in values:
            raise InputError(f"{option}: expected one value of {name}, got two")
        values[name] = _value(name, value, option)
    return values


def _value(name: str, text: str, option: str) -> Any:
    import sympy as sp

    match = _VALUE.fullmatch(text.replace(" ", ""))
    if not match or not (match[2] or match[3]):
        raise InputError(f"{option}: expected a number or a multiple of pi for {name}, got {text!r}")
    sign, number, pi, under = match.groups()
    size = sp.Rational(number or 1) / int(under or 1) * (sp.pi if pi else 1)
    return -size if sign else size


# How to show it


def _print(console: Console, blocks: "Callable[[int], list[Block]]") -> None:
    """Print formulas as text that fits the terminal."""
    from multibody.derive.printing import output_formats
    from multibody.derive.printing.page_elements import Heading, Sentence

    columns = min(console.width, MAX_COLUMNS)
    with working("writing formulas"):
        page = blocks(columns - output_formats.INDENT)
    for block in page:
        style = "bold" if isinstance(block, Heading) else "dim" if isinstance(block, Sentence) else ""
        for line in output_formats.lines(block, columns):
            console.print(Text(line.rstrip(), style=style), soft_wrap=True)


def _save_c(console: Console, equations: "Equations", quantity: str, values: dict[Any, Any], path: Path) -> None:
    kernel = equations.kernel(quantity, values)
    save_c(console, kernel.to_c(), path, f"{quantity} in {sum(kernel.ops.values())} operations")
    system = equations.system
    left = [x for x in system.parameters if x.name not in values]
    rows = {"q": system.q, "v": system.v, "a": system.a, "u": system.inputs, "parameters": left}
    for argument in kernel.signature.inputs:
        entries = ", ".join(x.name for x in rows.get(argument.name, ()))
        meaning = f" = ({entries})" if entries else _MEANING[argument.name]
        console.print(f"  {argument.name}{meaning}", soft_wrap=True)


# Which method


def _compare(console: Console, system: "System", asked: str) -> None:
    """A table of methods; exits with 1 when one of them disagrees."""
    from multibody.derive.methods.method_table import method_table

    names = [] if asked == "all" else [name.strip() for name in asked.split(",") if name.strip()]
    if not names and asked != "all":
        raise InputError(f"--compare: expected all, or names of methods with commas, got {asked!r}")
    with progress() as bar:

        def track(methods: Iterable[str]) -> Iterator[str]:
            task = bar.add_task("")
            for name in bar.track(methods, task_id=task):
                bar.update(task, description=name)
                yield name

        entries = method_table(system, names, track)
    made = table("method", "terms", "operations", "s", "from first", "from RNEA", numbers=5)
    for entry in entries:
        if entry.equations is None:
            continue
        counts = str(entry.terms), str(entry.operations), f"{entry.seconds:.2f}"
        made.add_row(entry.method, *counts, _difference(entry.deviation), _difference(entry.from_algorithms))
    caption = (
        "terms of M, b and g; operations of inverse dynamics, compiled; seconds to derive; largest relative differences"
    )
    if made.row_count:
        _tables.show(console, made, f"{system.name}, {len(system.v)} velocities", caption)
    for entry in entries:
        if entry.why_not:
            console.print(Text(f"{entry.method} is left out: {entry.why_not}.", style="yellow"))
    fitting = [entry for entry in entries if entry.equations is not None]
    if not fitting:
        raise InputError(f"{system.name}: none of these methods fits")
    bad = [entry.method for entry in fitting if max(entry.deviation, entry.from_algorithms or 0.0) > MAX_DEVIATION]
    if bad:
        console.print(Text(f"These differ: {', '.join(bad)}.", style="bold red"))
        raise typer.Exit(1)
    agree = f"All {len(fitting)} agree within {MAX_DEVIATION:g} at random states."
    console.print(Text(agree if len(fitting) > 1 else "One method, and no other to compare it with.", style="green"))


def _difference(x: float | None) -> str:
    return "" if x is None else f"{x:.0e}" if x else "0"
