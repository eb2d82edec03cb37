"""The command line inside of the test's process."""

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

from multibody.cli import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: str, columns: int = 80, live: bool = False, command: Callable[[], Any] = main) -> Done:
    """What `multibody ARGUMENTS` or another command prints in a terminal of this width, and its exit code.

    `live`: as in a terminal in which things move, instead of in a file.
    """
    moving = {"TERM": "xterm", "TTY_COMPATIBLE": "1", "TTY_INTERACTIVE": "1"} if live else {"TERM": "dumb"}
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["multibody", *arguments]),
        mock.patch.dict("os.environ", {"COLUMNS": str(columns)} | moving),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            command()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def widest(text: str) -> int:
    return max(len(line.rstrip()) for line in text.splitlines())
