"""Messages of the library, with the options of the command line in place of the arguments of Python."""

import re

OPTIONS = {
    r"roots=\[\.\.\.\]": "--root DIRECTORY",
    r"trust_paths=True": "--trust-paths",
    r"floating=True": "--floating",
    r"strict=True": "--strict",
    r"snap=0": "--snap 0",
    r"mimic=['\"](\w+)['\"]": r"--mimic \1",
}
"""Arguments of `mb.load`, and the options that stand for them."""


def spelled(message: str) -> str:
    """A message that advises arguments of Python, with the options of the command line.

    >>> spelled("pass trust_paths=True, or mimic='independent'")
    'pass --trust-paths, or --mimic independent'
    """
    for argument, option in OPTIONS.items():
        message = re.sub(argument, option, message)
    return message
