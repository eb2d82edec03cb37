"""Errors of NumPy that have their cause in tracing, told in the words of tracing."""

import traceback

from multibody.tracing.array.traced import TraceError, from_user, located

_OBJECTS = ("dtype('O')", "not supported for the input types", "loop of ufunc does not support", "'object'")
_NUMBERS = ("'float' object has no", "'int' object has no", "'bool' object has no")
_INDICES = ("only integers, slices", "arrays used as indices must be")


def explained(error: Exception) -> TraceError | None:
    """The error that a user of a traced function should see in place of one of NumPy; None where NumPy's will do."""
    if isinstance(error, TraceError):
        return None
    if isinstance(error.__cause__, TraceError):  # which NumPy has wrapped in "setting an array element"
        return error.__cause__
    text = str(error)
    if isinstance(error, IndexError) and text.startswith(_INDICES):
        return _at(error, f"{text}. If the index is traced, write multibody.lookup(table, index)")
    if isinstance(error, ValueError) and text.endswith("destination is read-only"):
        return _at(error, f"{text}. np.asarray of a traced array cannot be written into: write np.array(x) or x.copy()")
    plain = isinstance(error, AttributeError) and text.startswith(_NUMBERS)  # of which np.arctan2 asks for a method
    if plain or (isinstance(error, TypeError) and any(sign in text for sign in _OBJECTS)):
        return _at(
            error,
            f"{text}. An array that np.array made of traced values takes arithmetic and @, and np.sin "
            "and its like where no element is a plain number: for all else make it with np.stack",
        )
    return None


def _at(error: Exception, what: str) -> TraceError:
    """With the innermost line of the user's code that the error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if from_user(frame)]
    return located(what, frames[-1] if frames else None)
