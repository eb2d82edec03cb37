"""The prose of pages, docstrings and messages keeps to the limits and words of tools/language.toml."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import prose  # noqa: E402

PAGE = """# A heading: nothing is counted

Forces act on the robot, see [the page](page.md) and `mb.load("a b c")`. $M(q) + 1$ is one word.

```python
>>> whatever  # told
```

| a cell of four | 1 |
|---|---|

* An item
  of two lines.

```{figure} a.svg
:alt: told

The caption of a figure.
```
"""


def test_sentences_of_a_page():
    found = list(prose.of_page(Path("a.md"), PAGE))
    assert [sentence.words for sentence in found] == [10, 4, 4, 5, 5]
    assert [sentence.line for sentence in found] == [3, 3, 9, 12, 18]


def test_sentences_of_a_source():
    text = '''
def f(x):
    """Return twice x.  [RD 3.5]

    Args:
        x: a number,
            or an array.

    >>> whatever
    """
    raise ValueError(f"x: expected a number, got {x!r}")
'''
    found = [sentence.text for sentence in prose.of_source(Path("a.py"), text)]
    assert found == ["Return twice x.", "a number, or an array.", "x: expected a number, got CODE"]


def test_violations_are_long_sentences_and_replaced_words():
    long = prose.Sentence(Path("a.md"), 1, " ".join(["word"] * 36))
    assert list(long.violations()) == ["36 words, at most 35 are allowed"]
    assert not list(prose.Sentence(Path("a.md"), 1, " ".join(["word"] * 35)).violations())
    told = prose.Sentence(Path("a.md"), 1, "The user is told some 45 times.")
    assert [violation.partition(":")[0] for violation in told.violations()] == ["'told'", "'some 45'"]

    for text, reported in (
        ("What differs is an argument.", 1),
        ("What differs?", 0),
        ("Whatever differs is an argument.", 0),
        ("dt: expected a positive number; got 0", 0),
        ("The step is fixed: it is in s; the default is 1 ms.", 1),
    ):
        assert len(list(prose.Sentence(Path("a.md"), 1, text).violations())) == reported, text


def test_clean_places_have_no_violations():
    for place in prose.PROSE["clean"]:
        assert list(prose.violations(prose.files([place]))) == []
