"""Vectors of lanes as Python values, whose operators write LLVM IR.

Every operation acts on each lane alone, without fast-math flags, in the order in which Python performs it. So a lane's
result depends neither on the other lanes nor on how many there are.
"""

from collections.abc import Mapping, Sequence

from multibody.compiler.codegen.vector_math.function import Function

_MIN_SPLIT_TERMS = 8
"""Polynomials of at least this many terms are faster as two chains; measured."""


class Vector:
    """A value of a function under construction."""

    __slots__ = ("function", "kind", "name")

    def __init__(self, function: Function, name: str, element: str) -> None:
        self.function = function
        self.name = name
        self.kind = f"<{function.tiling.lanes} x {element}>"

    def __str__(self) -> str:
        """The type and the name, as in an argument list."""
        return f"{self.kind} {self.name}"

    def _binary(self, instruction: str, other: "Vector") -> str:
        return self.function.let(f"{instruction} {self}, {other.name}")

    def _converted(self, instruction: str, element: str) -> str:
        return self.function.let(f"{instruction} {self} to <{self.function.tiling.lanes} x {element}>")


class Mask(Vector):
    """A boolean in every lane."""

    __slots__ = ()

    def __init__(self, function: Function, name: str) -> None:
        super().__init__(function, name, "i1")

    @property
    def bits(self) -> "Bits":
        """All bits set where it holds."""
        return Bits(self.function, self._converted("sext", self.function.fmt.integer))

    def __or__(self, other: "Mask") -> "Mask":
        return Mask(self.function, self._binary("or", other))


class Bits(Vector):
    """An integer in every lane, as wide as the reals."""

    __slots__ = ()

    def __init__(self, function: Function, name: str) -> None:
        super().__init__(function, name, function.fmt.integer)

    @property
    def real(self) -> "Real":
        """The number that has this pattern."""
        return Real(self.function, self._converted("bitcast", self.function.fmt.real))

    @property
    def negative(self) -> Mask:
        """Whether the highest bit is set."""
        return Mask(self.function, self.function.let(f"icmp slt {self}, zeroinitializer"))

    def __add__(self, other: "Bits | int") -> "Bits":
        return self._with("add", other)

    def __sub__(self, other: "Bits | int") -> "Bits":
        return self._with("sub", other)

    def __and__(self, other: "Bits | int") -> "Bits":
        return self._with("and", other)

    def __or__(self, other: "Bits | int") -> "Bits":
        return self._with("or", other)

    def __xor__(self, other: "Bits | int") -> "Bits":
        return self._with("xor", other)

    def __lshift__(self, count: int) -> "Bits":
        return self._with("shl", count)

    def __rshift__(self, count: int) -> "Bits":
        return self._with("lshr", count)

    def _with(self, instruction: str, other: "Bits | int") -> "Bits":
        if isinstance(other, int):
            other = Bits(self.function, self.function.tiling.splat(self.function.fmt.spell_integer(other)))
        return Bits(self.function, self._binary(instruction, other))


class Real(Vector):
    """A floating-point number in every lane."""

    __slots__ = ()

    def __init__(self, function: Function, name: str) -> None:
        super().__init__(function, name, function.fmt.real)

    @property
    def bits(self) -> Bits:
        """The pattern of the number."""
        return Bits(self.function, self._converted("bitcast", self.function.fmt.integer))

    def __add__(self, other: "Real | float") -> "Real":
        return self._with("fadd", other)

    def __sub__(self, other: "Real | float") -> "Real":
        return self._with("fsub", other)

    def __mul__(self, other: "Real | float") -> "Real":
        return self._with("fmul", other)

    def __truediv__(self, other: "Real | float") -> "Real":
        return self._with("fdiv", other)

    def __abs__(self) -> "Real":
        return Real(self.function, self.function.intrinsic("fabs", self.name))

    def __lt__(self, other: "Real | float") -> Mask:
        return self._compare("olt", other)

    def __gt__(self, other: "Real | float") -> Mask:
        return self._compare("ogt", other)

    def equals(self, other: "Real | float") -> Mask:
        """Whether the numbers are equal; never true of NaN."""
        return self._compare("oeq", other)

    def signed(self, sign: Bits) -> "Real":
        """The number, negated where the highest bit of `sign` is set."""
        return (self.bits ^ (sign & self.function.fmt.sign)).real

    def _with(self, instruction: str, other: "Real | float") -> "Real":
        return Real(self.function, self._binary(instruction, constant(self.function, other)))

    def _compare(self, predicate: str, other: "Real | float") -> Mask:
        return Mask(self.function, self._binary(f"fcmp {predicate}", constant(self.function, other)))


def constant(function: Function, number: Real | float) -> Real:
    """A number in every lane; a vector remains as it is."""
    return number if isinstance(number, Real) else Real(function, function.constant(number))


def fma(a: Real, b: Real | float, c: Real | float) -> Real:
    """a b + c, with one rounding if the machine has fused multiply-adds."""
    if not a.function.tiling.fma:
        return a * b + c
    operands = (a, constant(a.function, b), constant(a.function, c))
    return Real(a.function, a.function.intrinsic("fma", *(x.name for x in operands)))


def sqrt(x: Real) -> Real:
    """The square root, correctly rounded; NaN for negative numbers."""
    return Real(x.function, x.function.intrinsic("sqrt", x.name))


def where(condition: Mask, a: Real | float, b: Real | float) -> Real:
    """a in the lanes where the condition holds, b in the others."""
    function = condition.function
    chosen = function.let(f"select {condition}, {constant(function, a)}, {constant(function, b)}")
    return Real(function, chosen)


def polynomial(x: Real, coefficients: Mapping[str, Sequence[float]]) -> Real:
    """The polynomial with the coefficients for the format of x, constant term first.

    By Horner's scheme; a long one as p(x) + x^n q(x), two chains with instruction-level parallelism. (Separate even and
    odd powers would be shorter, but cancel if the signs alternate.)
    """
    terms = coefficients[x.function.fmt.name]
    if len(terms) < _MIN_SPLIT_TERMS:
        return _horner(x, terms)
    n, power = 1, x
    while 4 * n <= len(terms):
        n, power = 2 * n, power * power
    return fma(power, _horner(x, terms[n:]), _horner(x, terms[:n]))


def _horner(x: Real, coefficients: Sequence[float]) -> Real:
    *others, leading = coefficients
    value = constant(x.function, leading)
    for c in reversed(others):
        value = fma(value, x, c)
    return value
