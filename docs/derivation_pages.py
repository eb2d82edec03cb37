"""The pages of derivations: each named system by every method that fits, and a table of all of them.

They are written by the library itself when the documentation is built, into docs/derivations/generated:

    python docs/derivation_pages.py cart-pendulum skate    write the pages of these systems, and the table
"""

import hashlib
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from multibody.derive import METHODS, applicable, equal, equations, printing, systems
from multibody.derive.methods.method_table import from_algorithms, terms
from multibody.derive.printing import output_formats
from multibody.derive.printing.page_elements import Block, Heading
from multibody.derive.results.equations import Equations
from multibody.derive.system.system import System
from multibody.errors import InputError

HERE = Path(__file__).resolve().parent
PLACE = HERE / "derivations" / "generated"
MANY = 5
"""From as many systems on, processes share the work."""
LARGE = ("branching-hinges",)
"""Systems whose formulas are too long to read, or to write quickly: their pages are written by hand."""


def found(system: System) -> list[Equations]:
    """Derive the equations by all methods that fit."""
    return [equations(system, method) for method in applicable(system)]


def page(name: str, derived: list[Equations]) -> str:
    """The page of a system, in Markdown."""
    named, first = systems.SYSTEMS[name], derived[0]
    simple = next((each for each in derived if each.method == "projected-newton-euler"), first)
    shown = printing.blocks(simple)[1:]
    code = [
        "```python",
        "from multibody import derive",
        "",
        f'system = derive.systems.system("{name}")',
        f'equations = derive.equations(system, "{simple.method}")',
        "```",
    ]
    parts = [
        f"# {named.title}",
        "\n".join(code),
        _markdown(shown),
        "## Agreement of the methods",
        _agreement(derived),
        *_linear(simple),
    ]
    for each in derived:
        steps = printing.derivation_page.derivation(each, printing.layout_of(each))
        parts += [f"## {_capital(METHODS[each.method].title)}", f'`method="{each.method}"`', _markdown(steps)]
    return "\n\n".join(parts) + "\n"


def jacobians(name: str) -> str:
    """The Jacobians of all bodies, step by step, for a page that is written by hand."""
    derived = equations(systems.system(name), "projected-newton-euler")
    steps = [
        replace(step, results=tuple((name, x) for name, x in step.results if name.startswith("J_")))
        for step in derived.steps
        if step.title.startswith("Jacobians")
    ]
    short = replace(derived, steps=tuple(steps))
    return _markdown(printing.derivation_page.derivation(short, printing.layout_of(short))) + "\n"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _linear(equations: Equations) -> list[str]:
    """Linearise about the equilibria, if these have formulas."""
    try:
        places = printing.linearisation_page.places(equations)
    except InputError:
        return []
    if not 0 < len(places) <= 4 or any(equations.system.units):
        return []
    blocks = printing.linearisation_page.linear(equations, printing.layout_of(equations), places)
    return ["## Linearisation about equilibria", _markdown(blocks)]


def _markdown(blocks: Iterable[Block]) -> str:
    """Blocks under headings of the page: those of steps are bold, so that the page's contents are the methods."""
    written: list[str] = []
    inside = False
    for block in blocks:
        heading = isinstance(block, Heading)
        if heading == inside:
            written.append(":::" if inside else ":::{container} derivation")
            inside = not inside
        written.append(f"**{block.text}**" if isinstance(block, Heading) else output_formats.markdown([block]).strip())
    return "\n\n".join([*written, ":::"] if inside else written)


def _agreement(derived: list[Equations]) -> str:
    first = derived[0]
    rows = ["| method | terms | operations | deviation from the first | deviation from `rnea` |"]
    rows += ["|---|---:|---:|---:|---:|"]
    for each in derived:
        apart = equal(first, each, symbolic=False).numeric
        cells = each.method, terms(each), each.ops, _number(apart), _number(from_algorithms(each))
        rows.append(f"| {' | '.join(map(str, cells))} |")
    rows += [
        "",
        "*Terms* counts the terms of $M$, $b$ and $g$, and *operations* those of $M \\dot v + b + g$ as native code. "
        "Deviations are the largest relative differences at random states.",
    ]
    return "\n".join(rows)


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:.0e}" if x else "0"


def row(name: str, derived: list[Equations]) -> str:
    """The row of a system in the table of all."""
    first = derived[0]
    simple = next((each for each in derived if each.method == "projected-newton-euler"), first)
    worst = max(equal(first, each, symbolic=False).numeric for each in derived)
    kinds = f"{len(first.system.q)}, {len(first.system.v)}, {first.J.rows}"
    link = f"[{systems.SYSTEMS[name].title}](generated/{name}.md)"
    return f"| {link} | {kinds} | {len(derived)} | {terms(simple)} | {simple.ops} | {_number(worst)} |"


def write(names: Iterable[str] = (), place: Path = PLACE) -> None:
    """Write the pages, and the table of all systems; files that do not change are not touched."""
    place.mkdir(parents=True, exist_ok=True)
    rows = ["| system | coordinates, velocities, constraints | methods | terms | operations | agree within |"]
    rows += ["|---|---|---:|---:|---:|---:|"]
    large = () if names else LARGE
    listed = [*large, *(tuple(names) or [name for name in systems.SYSTEMS if name not in LARGE])]
    for name, (text, its_row) in zip(listed, _each(listed), strict=True):
        _update(place / f"{name}.{'txt' if name in LARGE else 'md'}", text)
        rows += its_row
    _update(place / "table.txt", "\n".join(rows) + "\n")


def _each(names: list[str]) -> list[tuple[str, list[str]]]:
    if len(names) < MANY:
        return [_written(name) for name in names]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:  # the large one first, it takes longest
        return list(pool.map(_written, names))


def _written(name: str) -> tuple[str, list[str]]:
    """The page of a system, and its row in the table, if it has one."""
    if name in LARGE:
        return jacobians(name), []
    derived = found(systems.system(name))
    return page(name, derived), [row(name, derived)]


def renew(place: Path = PLACE) -> None:
    """Write all pages unless they are those of the library as it is."""
    sources = [Path(__file__), *sorted((HERE.parent / "src").rglob("*.py"))]
    state = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    stamp = place / "library.sha256"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != state:
        write(place=place)
        stamp.write_text(state, encoding="utf-8")


def _update(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
