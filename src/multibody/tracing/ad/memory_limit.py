"""The memory limit of reverse mode; `multibody.config` sets it."""

from dataclasses import dataclass


@dataclass(slots=True)
class Limits:
    """Limits of derivatives."""

    tape: int = 2**20
    """Bytes per sample that a loop may store for its gradient; above it iterations are recomputed."""


limits = Limits()
