"""Messages on stderr: errors, which end the command, and notes; with its options in place of arguments of Python."""

import re
import sys
from typing import NoReturn

from rich.text import Text

from multibody.cli._tables import terminal

OPTIONS = {
    r"roots=\[\.\.\.\]": "--root DIRECTORY",
    r"trust_paths=True": "--trust-paths",
    r"floating=True": "--floating",
    r"strict=True": "--strict",
    r"snap=0": "--snap 0",
    r"mimic=['\"](\w+)['\"]": r"--mimic \1",
}
"""Arguments of `mb.load`, and the options that stand for them."""


def exit_with_error(error: Exception) -> NoReturn:
    """Print the message of an error of the library in red, and exit with status 1."""
    said = Text.assemble(("error: ", "bold red"), (spelled(str(error)), "red"))
    terminal(stderr=True).print(said, soft_wrap=True)
    sys.exit(1)


def print_note(text: str) -> None:
    """Print a note in yellow."""
    terminal(stderr=True).print(f"note: {text}", style="yellow", soft_wrap=True)


def spelled(message: str) -> str:
    """A message that advises arguments of Python, with the options of the command line.

    >>> spelled("pass trust_paths=True, or mimic='independent'")
    'pass --trust-paths, or --mimic independent'
    """
    for argument, option in OPTIONS.items():
        message = re.sub(argument, option, message)
    return message
