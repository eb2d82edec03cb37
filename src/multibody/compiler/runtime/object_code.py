"""LLVM IR to object code. As a script, a helper process that compiles modules for another process.

A helper reads requests from stdin and writes object code to stdout, until stdin is closed. It imports llvmlite only, so
that it starts in about a tenth of a second.
"""

import json
import signal
import sys
from contextlib import suppress
from functools import cache
from typing import IO, Any, NamedTuple

import llvmlite.binding as llvm


class Request(NamedTuple):
    """A module, and how it is compiled."""

    text: str
    """The LLVM IR."""
    triple: str
    cpu: str
    features: str
    level: int
    """The optimization level of LLVM's code generator, from 0 to 3."""
    options: tuple[str, ...]
    """LLVM's options; they are global to its process."""


@cache
def target_machine(triple: str, cpu: str, features: str, level: int) -> Any:
    """LLVM's target machine at an optimization level."""
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="default"
    )


def parse(request: Request) -> Any:
    """The module of a request in LLVM's memory."""
    module = llvm.parse_assembly(f'target triple = "{request.triple}"\n{request.text}')
    module.data_layout = str(target_machine(*request[1:4], 2).target_data)
    return module


def set_options(options: tuple[str, ...]) -> None:
    """Set options of LLVM, for the whole process."""
    for option in options:
        llvm.set_option("multibody", option)


def emit(request: Request) -> bytes:
    """The object code of a module, with the options that LLVM has now."""
    return target_machine(*request[1:5]).emit_object(parse(request))


def send(stream: IO[bytes], header: object, body: bytes) -> None:
    """Write a line of JSON and the bytes that it announces."""
    stream.write(json.dumps([header, len(body)]).encode() + b"\n" + body)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[Any, bytes] | None:
    """Read what `send` has written; None if the stream has ended."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    header, length = json.loads(line)
    body = stream.read(length)
    return (header, body) if len(body) == length else None


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Compile modules until there are no more requests."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    while (message := receive(requests)) is not None:
        (triple, cpu, features, level, options), text = message
        request = Request(text.decode(), triple, cpu, features, level, tuple(options))
        set_options(request.options)
        send(answers, None, emit(request))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that this one serves
    with suppress(BrokenPipeError):  # that process has ended
        serve(sys.stdin.buffer, sys.stdout.buffer)
