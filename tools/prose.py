"""Count what can be counted of the prose: long sentences, and words that the style replaces.

    python tools/prose.py [PATH ...]    the violations in pages and sources, or in all of them
    python tools/prose.py --clean       in the places that are free of them, as `make lint` runs it
    python tools/prose.py --counts      a table: sentences, share of long ones, violations

language.toml has the limits, the words and the clean places.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from language import DOCUMENTED, ROOT, RULES

PROSE = RULES["prose"]
REPLACED = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), better) for pattern, better in PROSE["replace"].items()]
FIRST_WORDS = re.compile(rf"(?:{'|'.join(PROSE['first_words'])})\b")
MARK = re.compile(r"[;:](?=\s)")
LABEL = re.compile(r"^(?:[^\s;:]+ ){0,2}[^\s;:]+: ")
"""The name before the text of an item or message, as in "dt: expected a positive number"."""
CODE = "CODE"
"""The word that stands for a piece of code or a formula in a sentence."""
RAISED = ("Error", "Warning", "Exception")
FIGURE = re.compile(r"^```\{figure\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A figure: its options, and its caption, which is prose."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and where it is."""

    path: Path
    line: int
    text: str

    @property
    def words(self) -> int:
        """The number of words; numbers, names and formulas count as one each."""
        return len(re.findall(r"[^\s–—-]*[^\W_][^\s–—]*", self.text))

    def violations(self) -> Iterator[str]:
        """What breaks the rules for prose."""
        if self.words > PROSE["max_words"]:
            yield f"{self.words} words, at most {PROSE['max_words']} are allowed"
        if FIRST_WORDS.match(self.text) and not self.text.endswith("?"):
            yield f"begins with {self.text.split()[0]!r}: begin with the subject"
        if len(MARK.findall(LABEL.sub("", self.text, count=1))) > PROSE["max_marks"]:
            yield f"more than {PROSE['max_marks']} colon or semicolon: make two sentences of it"
        for pattern, better in REPLACED:
            if found := pattern.search(self.text):
                yield f"{found[0]!r}: {better}"


def plain(text: str) -> str:
    """Text in which code, formulas, links and references are one word each, or nothing."""
    text = re.sub(r"`+[^`]*`+|\$[^$]*\$|\{\w+\}", f" {CODE} ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[(RD|QT|MDN|Kindr|F|From)[^\]]*\]", "", text)
    return re.sub(r"[*_]{1,3}(\S[^*_]*)[*_]{1,3}", r"\1", text)


def sentences(path: Path, line: int, text: str) -> Iterator[Sentence]:
    """The sentences of a paragraph."""
    text = re.sub(r"\b(e\.g|i\.e|etc|vs|cf|Eq|Fig|Sec|Ex|Alg|Ch|No|approx)\.", r"\1", plain(text))
    for sentence in re.split(r"(?<=[.!?])[\"')]?\s+(?=[\"'(]?[A-Z0-9`])", " ".join(text.split())):
        if re.search(r"[^\W\d_]", sentence):
            yield Sentence(path, line, sentence.strip())


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each paragraph, item and cell of a page, without code, formulas and headings."""
    text = re.sub(r"<!--.*?-->|\$\$.*?\$\$", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    text = FIGURE.sub(lambda found: "\n" * (1 + found[1].count("\n")) + found[2], text)
    start, lines, fence = 1, [], ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = "" if line.startswith("    ") and not lines else line.strip()  # an indented block is code
        mark = re.match(r"(`{3,}|:{3,}|~{3,})", bare)
        item = re.match(r"([-*+]|\d+\.) ", bare)
        ends = not bare or mark or item or fence or bare.startswith(("#", "|", ":", "<", "("))
        if ends and lines:
            yield start, " ".join(lines)
            lines = []
        if mark and (not fence or bare == fence):
            fence = "" if fence else mark[0] * mark[0].startswith(("`", "~"))
        elif fence or bare.startswith(("#", ":", "<")):
            pass
        elif bare.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", bare.strip("|")):
                if not re.fullmatch(r"[\s:-]*", cell):
                    yield number, cell
        elif bare:
            start = start if lines else number
            lines.append(re.sub(r"^([-*+]|\d+\.) +", "", bare))


def of_page(path: Path, text: str) -> Iterator[Sentence]:
    """The sentences of a page in Markdown."""
    for line, paragraph in paragraphs(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)):
        yield from sentences(path, line, paragraph)


def of_docstring(path: Path, line: int, text: str) -> Iterator[Sentence]:
    """The sentences of a docstring, without its examples."""
    lines: list[str] = []
    example = False
    for each in [*text.splitlines(), ""]:
        bare = each.strip()
        example = bare.startswith(">>>") or (example and bool(bare))
        row = re.search(
            r"\S {2,}[^\s\[]|^\s{4,}.*[=(\[{]", each
        )  # of a table or of code; equation tags follow two spaces
        entry = row or re.match(r"[-*] |\*{0,2}\w+: |\w+:$", bare)
        if (not bare or example or entry) and lines:
            yield from sentences(path, line, " ".join(lines))
            lines = []
        if bare and not example and not re.fullmatch(r"\w+:", bare):
            lines.append(re.sub(r"^([-*] |\*{0,2}\w+: )", "", bare))


def messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of the messages of errors and warnings."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (name.endswith(RAISED) or name == "warn") and node.args:
            text = text_of(node.args[0])
            if len(text.split()) > 2:
                yield node.lineno, text


def text_of(node: ast.expr) -> str:
    """The text of a string or f-string, with a word for each value."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    if isinstance(node, ast.FormattedValue):
        return CODE
    return text_of(node.left) + text_of(node.right) if isinstance(node, ast.BinOp) else ""


def of_source(path: Path, text: str) -> Iterator[Sentence]:
    """The sentences of docstrings and messages of a Python file."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (doc := ast.get_docstring(node)):
            yield from of_docstring(path, node.body[0].lineno, doc)
    for line, message in messages(tree):
        yield from sentences(path, line, message)


def of_file(path: Path) -> list[Sentence]:
    """The sentences of a page or source."""
    text = path.read_text(encoding="utf-8")
    return list((of_page if path.suffix == ".md" else of_source)(path.relative_to(ROOT), text))


def files(places: list[str]) -> list[Path]:
    """The pages and sources under some folders, or of the whole project."""
    found: set[Path] = set()
    for place in places or PROSE["places"]:
        path = ROOT / place
        found |= {path} if path.is_file() else {*path.rglob("*.md"), *path.rglob("*.py")}
    left_out = [ROOT / place for place in PROSE["left_out"]]
    return sorted(path for path in found if not any(path.is_relative_to(place) for place in left_out))


def violations(paths: list[Path]) -> Iterator[str]:
    """What breaks the rules: in single sentences, and too large a share of long ones."""
    every = [sentence for path in paths for sentence in of_file(path)]
    for sentence in every:
        for violation in sentence.violations():
            yield f"{sentence.path}:{sentence.line}: {violation}\n    {sentence.text}"
    long = sum(sentence.words > PROSE["long"] for sentence in every)
    if long > PROSE["max_share"] * len(every):
        yield f"{long} of {len(every)} sentences have over {PROSE['long']} words, at most {PROSE['max_share']:.0%} may"


def main(arguments: list[str]) -> int:
    """Print the violations, or a table of counts; the exit status says whether there are any."""
    if "--counts" in arguments:
        for place in [each for each in arguments if each != "--counts"] or PROSE["places"]:
            every = [sentence for path in files([place]) for sentence in of_file(path)]
            long = sum(sentence.words > PROSE["long"] for sentence in every)
            wrong = sum(1 for sentence in every for _ in sentence.violations())
            print(f"{place:24} {len(every):6} sentences  {long / max(len(every), 1):6.1%} long  {wrong:5} violations")
        return 0
    sets = [[place] for place in PROSE["clean"]] if arguments == ["--clean"] else [arguments]
    found = [violation for places in sets for violation in violations(files(places))]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
