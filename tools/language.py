"""The countable rules of language: which files break them.

    python tools/language.py [ROOM ...]    the violations of some rooms, or of all that are checked

language.toml has the lists; tests/project/test_language.py keeps the checked rooms free of violations.
"""

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "multibody"
RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Line, name and first line of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            name = "the module" if isinstance(node, ast.Module) else node.name
            yield getattr(node, "lineno", 1), name, text.splitlines()[0]


def constants(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each constant of a module or class."""
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.Module | ast.ClassDef):
            continue
        for node in scope.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                for name in ast.walk(target) if isinstance(node, ast.Assign | ast.AnnAssign) and target else ():
                    if isinstance(name, ast.Name) and name.id.isupper() and isinstance(name.ctx, ast.Store):
                        yield name.lineno, name.id


def begins_with(line: str, words: str) -> bool:
    """Whether a line begins with these whole words."""
    rest = line[len(words) :]
    return line.lower().startswith(words.lower()) and not (rest[:1].isalnum() or rest[:1] in ("_", "-"))


def of_file(path: Path, text: str) -> Iterator[str]:
    """Violations within one file."""
    tree = ast.parse(text)
    for line, name, first in docstrings(tree):
        for words in RULES["docstrings"]["first_words"]:
            if begins_with(first, words):
                yield f"{path}:{line}: docstring of {name} begins with {words!r}: {first}"
    for line, name in constants(tree):
        bare = name.strip("_")
        if bare in RULES["constants"]["names"] or set(bare.split("_")) & set(RULES["constants"]["words"]):
            yield f"{path}:{line}: constant {name}: name it by what it bounds"
    count, limit = len(text.splitlines()), RULES["files"]["max_lines"]
    if count > limit and not any(path.as_posix().endswith(longer) for longer in RULES["files"]["longer"]):
        yield f"{path}: {count} lines, at most {limit} are allowed"


def of_room(texts: dict[Path, str]) -> Iterator[str]:
    """Violations within the files of one room, and names that it has more than once."""
    names, classes = defaultdict(list), defaultdict(list)
    for path, text in sorted(texts.items()):
        yield from of_file(path, text)
        if path.name != "__init__.py":
            names[path.name].append(path)
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(path)
    for kind, places in (("file name", names), ("class", classes)):
        for name, paths in sorted(places.items()):
            if len(paths) > 1:
                yield f"{paths[0]}: {kind} {name} is used {len(paths)} times in a room: {', '.join(map(str, paths))}"


def room_texts(room: str) -> dict[Path, str]:
    """The sources of a room (a folder, or one file), by their paths."""
    place = SOURCES / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return {file.relative_to(ROOT): file.read_text(encoding="utf-8") for file in files}


def main(rooms: list[str]) -> int:
    """Print the violations of rooms; the exit status says whether there are any."""
    found = [line for room in rooms or RULES["rooms"]["checked"] for line in of_room(room_texts(room))]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
