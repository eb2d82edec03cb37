"""Jupyter notebooks of the course, written from its pages.

    python docs/course_notebooks.py [FOLDER]    write the notebooks, by default into the current folder

A page is a MyST notebook: Markdown with `{code-cell}` blocks. A notebook needs no other file, because its first cell
writes the checks. Answers are folded in JupyterLab, VS Code and Colab.
"""

import re
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

COURSE = Path(__file__).parent / "course"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?::tags: \[(.*?)\]\n\n?)?(.*?)\n```$", re.MULTILINE | re.DOTALL)
HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
PAGE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")
SETUP = """# @title Checks of the exercises: run this cell once
from pathlib import Path

CHECKS = {checks!r}
Path("checks").mkdir(exist_ok=True)
for name, text in CHECKS.items():
    Path("checks", name).write_text(text, encoding="utf-8")"""
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}


def pages() -> list[Path]:
    """The pages of the sessions, in their order."""
    return sorted(COURSE.glob("[0-9]-*.md"))


def read(page: Path) -> nbformat.NotebookNode:
    """Return a page as a notebook."""
    text = HEADER.sub("", page.read_text(encoding="utf-8"))
    cells, end = [], 0
    for block in CELL.finditer(text):
        cells += _markdown(text[end : block.start()])
        tags = [tag.strip() for tag in (block[1] or "").split(",") if tag.strip()]
        cells.append(new_code_cell(block[2].strip("\n"), metadata={"tags": tags} if tags else {}))
        end = block.end()
    cells += _markdown(text[end:])
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def standalone(page: Path) -> nbformat.NotebookNode:
    """Return a page as a notebook that needs no other file."""
    notebook = read(page)
    session = re.search(r"^from checks import (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    names = ["__init__.py", "grading.py"] + ([f"{session[1]}.py"] if session else [])
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = PAGE_LINK.sub(r"\1", cell.source)
        elif "hide-cell" in cell.metadata.get("tags", []):
            cell.source = f"# @title Answer\n{cell.source}"
            cell.metadata |= FOLDED
    checks = {name: (COURSE / "checks" / name).read_text(encoding="utf-8") for name in names}
    notebook.cells.insert(1, new_code_cell(SETUP.format(checks=checks), id="setup", metadata=FOLDED))
    return notebook


def write(folder: Path) -> list[Path]:
    """Write all notebooks into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{page.stem}.ipynb" for page in pages()]
    for page, path in zip(pages(), paths, strict=True):
        nbformat.write(standalone(page), path)
    return paths


def _markdown(text: str) -> list[nbformat.NotebookNode]:
    return [new_markdown_cell(text.strip())] if text.strip() else []


if __name__ == "__main__":
    for written in write(Path(sys.argv[1] if len(sys.argv) > 1 else ".")):
        print(written)
