"""The floating-point formats, and their constants in LLVM IR."""

import struct
from typing import NamedTuple

import numpy as np


class Format(NamedTuple):
    """A binary floating-point format of IEEE 754."""

    name: str
    real: str
    """LLVM's name of the format."""
    integer: str
    """LLVM's name of the integers of the same width."""
    width: int
    mantissa: int
    """Bits of the fraction."""

    @property
    def bias(self) -> int:
        """The bias of the exponent, which is also the largest exponent."""
        return (1 << (self.width - self.mantissa - 2)) - 1

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << (self.width - 1)

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def shift(self) -> float:
        """Adding it rounds to an integer, which then occupies the lowest bits, whatever its sign."""
        return 1.5 * 2.0**self.mantissa

    def bits(self, number: float) -> int:
        """The bit pattern of a number."""
        code, integer = ("d", "Q") if self.width == 64 else ("f", "I")
        return struct.unpack(f"<{integer}", struct.pack(f"<{code}", number))[0]

    def spell(self, number: float) -> str:
        """A constant, rounded to the format, in LLVM's hexadecimal notation: the bit pattern of a double."""
        if self.width == 32:
            with np.errstate(over="ignore"):
                number = float(np.float32(number))
        return f"{self.real} 0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"

    def spell_integer(self, pattern: int) -> str:
        """An integer constant, modulo the width."""
        pattern %= 1 << self.width
        return f"{self.integer} {pattern - (1 << self.width) if pattern & self.sign else pattern}"


FORMATS = {
    "float64": Format("float64", "double", "i64", 64, 52),
    "float32": Format("float32", "float", "i32", 32, 23),
}
