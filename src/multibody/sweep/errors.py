"""What can go wrong with a study, apart from its samples."""

from multibody.errors import MultibodyError


class SweepError(MultibodyError):
    """The root of what goes wrong in a study."""


class StoreError(SweepError):
    """A store that cannot be read or written, or is damaged."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message, errno)  # both, so that a pickle has them
        self.message, self.errno = message, errno

    def __str__(self) -> str:
        return self.message


class StudyChangedError(SweepError):
    """A study that is not the one of its store, with what changed."""


class StudyBusyError(SweepError):
    """A study that another process runs."""


class SweepWarning(UserWarning):
    """What a run noticed: samples that failed, rows that depend on their neighbours."""
