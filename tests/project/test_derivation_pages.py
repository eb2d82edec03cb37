"""The pages of derivations: every method that fits is on the page of a system, and can be shown."""

import importlib.util
import re
from pathlib import Path

import pytest
import sympy as sp

from multibody import derive
from multibody.derive.printing import latex_parser

ROOT = Path(__file__).parents[2]


def _load_tool():
    spec = importlib.util.spec_from_file_location("derivation_pages", ROOT / "docs" / "derivation_pages.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


tool = _load_tool()


@pytest.mark.parametrize("name", ["cart-pendulum", "skate", "free-body-so2"])
def test_the_page_of_a_system(name: str, tmp_path: Path) -> None:
    tool.write([name], tmp_path)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    for method in derive.applicable(derive.systems.system(name)):
        assert f'`method="{method}"`' in page
    for shown in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", page, re.DOTALL):
        assert not latex_parser.unknown("".join(shown))
    assert page.count(":::{container}") == page.count("\n:::\n")
    assert f"](generated/{name}.md)" in (tmp_path / "table.txt").read_text(encoding="utf-8")


def test_pages_that_do_not_change_are_not_written_again(tmp_path: Path) -> None:
    tool.write(["free-body-r1"], tmp_path)
    before = (tmp_path / "free-body-r1.md").stat().st_mtime_ns
    tool.write(["free-body-r1"], tmp_path)
    assert (tmp_path / "free-body-r1.md").stat().st_mtime_ns == before


def test_the_text_of_the_first_example_is_what_is_printed() -> None:
    index = (ROOT / "docs" / "derivations" / "index.md").read_text(encoding="utf-8")
    x, phi = derive.coordinates("x phi")
    M, m, l, g, F = derive.symbols("M m l g F")
    bob = (x + l * sp.sin(phi), 0, -l * sp.cos(phi))
    bodies = (derive.particle("cart", M, (x, 0, 0)), derive.particle("bob", m, bob))
    loads = [derive.Force("cart", (F, 0, 0))]
    system = derive.System("cart and bob", (x, phi), bodies, gravity=(0, 0, -g), loads=loads)
    assert f"```text\n{derive.equations(system, 'lagrange').unicode()}```" in index


def test_the_index_names_every_method_and_every_system() -> None:
    index = (ROOT / "docs" / "derivations" / "index.md").read_text(encoding="utf-8")
    for method in derive.METHODS:
        assert f"| `{method}` |" in index
    assert re.findall(r"^generated/(.+)$", index, re.MULTILINE) == [
        name for name in derive.systems.SYSTEMS if name not in tool.LARGE
    ]
