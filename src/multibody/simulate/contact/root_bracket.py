"""A bracket around the time at which something happens."""

from typing import Any, NamedTuple

import numpy as np


class Bracket(NamedTuple):
    """Two lengths, and a value at each, not negative at the first and negative at the second."""

    low: Any
    at_low: Any
    high: Any
    at_high: Any
    side: Any
    """Which end moved last: 1 for the first, -1 for the second."""

    @property
    def width(self) -> Any:
        """Of the bracket."""
        return self.high - self.low

    def within(self, least: float) -> Any:
        """Where the value would vanish if it were linear, and not nearer to an end than `least`."""
        s = (self.low * self.at_high - self.high * self.at_low) / (self.at_high - self.at_low)
        return np.minimum(np.maximum(s, self.low + least), self.high - least)

    def narrowed(self, s: Any, value: Any) -> "Bracket":
        """With the value at s; half the weight for an end that stays (Illinois)."""
        above = value >= 0.0
        return Bracket(
            np.where(above, s, self.low),
            np.where(above, value, np.where(self.side < 0.0, 0.5 * self.at_low, self.at_low)),
            np.where(above, self.high, s),
            np.where(above, np.where(self.side > 0.0, 0.5 * self.at_high, self.at_high), value),
            np.where(above, 1.0, -1.0),
        )
