"""One exception root. Every message says what was given, what was expected, and where."""


class MultibodyError(Exception):
    """The root of all errors that this library raises on purpose."""


class InputError(MultibodyError, ValueError):
    """An argument has the wrong shape, type, name or value."""


class SingularityError(MultibodyError, ArithmeticError):
    """A quantity was asked for at a place where it does not exist."""


class MissingPackageError(MultibodyError, ImportError):
    """A package that only an optional part of the library uses is not installed."""
