"""NumPy errors that are caused by tracing, as trace errors."""

import traceback

from multibody.tracing.array.traced import TraceError, from_user, located

_OBJECTS = ("dtype('O')", "not supported for the input types", "loop of ufunc does not support", "'object'")
_NUMBERS = ("'float' object has no", "'int' object has no", "'bool' object has no")
_INDICES = ("only integers, slices", "arrays used as indices must be")


def explain(error: Exception) -> TraceError | None:
    """The trace error to raise in place of a NumPy error; None if NumPy's is clear."""
    if isinstance(error, TraceError):
        return None
    if isinstance(error.__cause__, TraceError):  # wrapped by NumPy in "setting an array element"
        return error.__cause__
    text = str(error)
    if isinstance(error, IndexError) and text.startswith(_INDICES):
        return _at(error, f"{text}. If the index is traced, write multibody.lookup(table, index)")
    if isinstance(error, ValueError) and text.endswith("destination is read-only"):
        return _at(error, f"{text}. np.asarray of a traced array cannot be written into: write np.array(x) or x.copy()")
    plain = isinstance(error, AttributeError) and text.startswith(_NUMBERS)  # np.arctan2 calls a method of each element
    if plain or (isinstance(error, TypeError) and any(sign in text for sign in _OBJECTS)):
        return _at(
            error,
            f"{text}. An array that np.array made of traced values takes arithmetic and @, and np.sin "
            "and its like where no element is a plain number: for all else make it with np.stack",
        )
    return None


def _at(error: Exception, what: str) -> TraceError:
    """The error with the innermost line of the user's code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if from_user(frame)]
    return located(what, frames[-1] if frames else None)
