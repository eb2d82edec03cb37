"""A bracket around the time of an event, narrowed by regula falsi."""

from typing import Any, NamedTuple

import numpy as np


class Bracket(NamedTuple):
    """Two times, and a value at each: at least 0 at the first, negative at the second."""

    low: Any
    at_low: Any
    high: Any
    at_high: Any
    side: Any
    """The end that moved last: 1 for the first, -1 for the second."""

    @property
    def width(self) -> Any:
        """The length of the bracket."""
        return self.high - self.low

    def root(self, margin: float) -> Any:
        """The root of the line through both values, clipped to a margin from both ends."""
        s = (self.low * self.at_high - self.high * self.at_low) / (self.at_high - self.at_low)
        return np.minimum(np.maximum(s, self.low + margin), self.high - margin)

    def narrow(self, s: Any, value: Any) -> "Bracket":
        """Replace the end on the side of the value at s; halve the value of an end that stays (Illinois)."""
        above = value >= 0.0
        return Bracket(
            np.where(above, s, self.low),
            np.where(above, value, np.where(self.side < 0.0, 0.5 * self.at_low, self.at_low)),
            np.where(above, self.high, s),
            np.where(above, np.where(self.side > 0.0, 0.5 * self.at_high, self.at_high), value),
            np.where(above, 1.0, -1.0),
        )
