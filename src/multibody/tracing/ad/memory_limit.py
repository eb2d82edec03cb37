"""How much derivatives may store; `multibody.config` sets it."""

from dataclasses import dataclass


@dataclass(slots=True)
class Limits:
    """Limits of what is recorded."""

    tape: int = 2**20
    """Bytes that a loop may keep for its gradient, in every sample; beyond, rounds are computed anew."""


limits = Limits()
