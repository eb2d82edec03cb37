"""Grading for the checks of all sessions: each takes an answer and returns a verdict, with a hint if it is wrong.

An answer is an array, a number or a function. Functions are called with several inputs, and every right answer passes:
lists and arrays, another branch of Euler angles, a quaternion with the other sign, any solution of a redundant problem.
"""

import functools
import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import multibody as mb

COLORS = {"right": "#2e8b57", "wrong": "#d2691e", "open": "#888888"}
SYMBOLS = {"right": "✓", "wrong": "✗", "open": "…"}


@dataclass(frozen=True)
class Verdict:
    """The result of a check. It is true if the answer is right."""

    exercise: str
    state: str
    text: str

    def __bool__(self) -> bool:
        return self.state == "right"

    def __repr__(self) -> str:
        return f"{SYMBOLS[self.state]} Exercise {self.exercise}: {self.text}"

    def _repr_html_(self) -> str:
        style = f"border-left: 4px solid {COLORS[self.state]}; padding: 0.3em 0.8em"
        return f'<div style="{style}">{html.escape(repr(self))}</div>'


class WrongAnswerError(Exception):
    """A wrong answer; the message is the hint."""


class NoAnswerError(Exception):
    """An exercise that is still open."""


def exercise(number: str, praise: str) -> Callable[[Callable[..., None]], Callable[..., Verdict]]:
    """Make a check of an exercise from a function that raises `WrongAnswerError` for a wrong answer."""

    def decorate(check: Callable[..., None]) -> Callable[..., Verdict]:
        @functools.wraps(check)
        def grade(*answers: Any) -> Verdict:
            try:
                for answer in answers:
                    expect_answer(answer)
                check(*answers)
            except NoAnswerError:
                return Verdict(number, "open", "replace the dots by your answer, then run the cell again.")
            except WrongAnswerError as mistake:
                return Verdict(number, "wrong", str(mistake))
            except Exception as error:  # a student's function can raise anything
                return Verdict(number, "wrong", f"your code raised {type(error).__name__}: {error}")
            return Verdict(number, "right", praise)

        return grade

    return decorate


def expect_answer(value: Any) -> None:
    """Raise if a value is a placeholder, or contains one."""
    if value is None or value is ...:
        raise NoAnswerError
    if isinstance(value, list | tuple):
        for item in value:
            expect_answer(item)


def numbers(value: Any, *shape: int) -> NDArray[np.float64]:
    """Return an answer as an array of a shape; rotations become matrices."""
    expect_answer(value)
    value = getattr(value, "matrix", value)
    array = np.asarray(value, float)
    if array.shape != shape:
        if array.size != np.prod(shape) or array.squeeze().shape != shape:
            raise WrongAnswerError(f"expected an array of shape {shape}, got {array.shape}.")
        array = array.reshape(shape)
    if not np.isfinite(array).all():
        raise WrongAnswerError("the result contains NaN or infinite numbers. Is there a division by zero?")
    return array


def is_close(a: NDArray[Any], b: NDArray[Any], tolerance: float = 1e-6) -> bool:
    """Whether two arrays agree, relative to the largest entry or to 1."""
    return bool(np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max()))


def compare(answer: NDArray[Any], right: Any, slips: Sequence[tuple[Any, str]] = (), tolerance: float = 1e-6) -> None:
    """Raise `WrongAnswerError` unless an answer is right, with the hint of the first slip that it equals."""
    right = np.asarray(right, float)
    if is_close(answer, right, tolerance):
        return
    for value, hint in slips:
        if is_close(answer, np.asarray(value, float), tolerance):
            raise WrongAnswerError(hint)
    raise WrongAnswerError(f"the numbers differ from the right ones by up to {np.abs(answer - right).max():.3g}.")


def skew(a: NDArray[Any]) -> NDArray[Any]:
    """The matrix [a]× of the cross product.  [RD §1.2]"""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def rotations(count: int, seed: int = 0) -> list[NDArray[Any]]:
    """Random rotation matrices."""
    return list(mb.Rotation.random(np.random.default_rng(seed), (count,)).matrix)
