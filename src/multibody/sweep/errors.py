"""Errors and warnings of a study as a whole; those of its samples are `FailedSample`."""

from multibody.errors import MultibodyError


class SweepError(MultibodyError):
    """The root of the errors of studies."""


class StoreError(SweepError):
    """A store that cannot be read or written, or is damaged."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message, errno)  # both, so that a pickle has them
        self.message, self.errno = message, errno

    def __str__(self) -> str:
        return self.message


class StudyChangedError(SweepError):
    """A study that is not the one of its store; the message says what has changed."""


class StudyBusyError(SweepError):
    """A study that another process runs."""


class SweepWarning(UserWarning):
    """Warnings of a run: samples that failed, rows that depend on their neighbours."""
