"""Exact arithmetic on sums of terms, the normal form in which two formulas are compared.

A polynomial is a mapping from monomials to rational coefficients. A monomial is a product of
*atoms* to rational powers: variables, pi, e, i, logarithms of primes, roots of primes, and
opaque calls such as sin(1). A formula is a ratio of two polynomials, so two formulas are equal
when a/b - c/d has a numerator that cancels to nothing.

Roots are kept as primes to exponents in [0, 1): products of distinct such radicals are linearly
independent over the rationals (Besicovitch 1940), so the normal form decides equality there.

Nothing here knows about LaTeX or floating point.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import floor, gcd, lcm
from typing import NamedTuple, TypeAlias

from fourscore.judges.math.limits import (
    MAX_BITS,
    MAX_POWER,
    MAX_TERMS,
    MAX_WORK,
    TRIAL_DIVISOR,
    LimitError,
    UnsupportedError,
)

# kind, name, number, arguments. Kinds: root (of a prime), radicand (of an integer too large to
# factor), const, i, var, ln, pow, nest, call, and turn: e^(i m) for a monomial m, in which sines
# and cosines are written so that their identities cancel.
Atom: TypeAlias = tuple[str, str, int, tuple["Frozen", ...]]
Monomial: TypeAlias = tuple[tuple[Atom, Fraction], ...]
Frozen: TypeAlias = tuple[tuple[Monomial, Fraction], ...]
Polynomial: TypeAlias = dict[Monomial, Fraction]

UNIT: Monomial = ()
I_ATOM: Atom = ("i", "", 0, ())
PI: Atom = ("const", "pi", 0, ())
E: Atom = ("const", "e", 0, ())


HALF_TURN: Atom = ("turn", "", 0, (((((PI, Fraction(1)),), Fraction(1)),),))


class Ratio(NamedTuple):
    num: Polynomial
    den: Polynomial


def rational(value: Fraction | int) -> Ratio:
    """Return a rational number as a ratio of polynomials."""
    return Ratio({UNIT: Fraction(value)} if value else {}, {UNIT: Fraction(1)})


def atom(value: Atom, exponent: Fraction | int = 1) -> Ratio:
    """Return an atom to a power as a ratio of polynomials."""
    return Ratio({((value, Fraction(exponent)),): Fraction(1)}, {UNIT: Fraction(1)})


def variable(name: str) -> Ratio:
    """Return a variable as a ratio of polynomials."""
    return atom(("var", name, 0, ()))


def as_rational(value: Ratio) -> Fraction | None:
    """Return the value as a fraction if its normal form is one, else None."""
    if len(value.num) > 1 or value.den != {UNIT: 1}:
        return None
    if not value.num:
        return Fraction(0)
    return value.num.get(UNIT)


def freeze(poly: Polynomial) -> Frozen:
    """Return a polynomial in a hashable form."""
    return tuple(sorted(poly.items()))


def find_variables(value: Ratio) -> frozenset[str]:
    """Return the names of the variables in a formula."""
    found: set[str] = set()
    pending: list[Monomial] = [*value.num, *value.den]
    while pending:
        for (kind, name, _, args), _exponent in pending.pop():
            if kind == "var" or (kind == "pow" and name not in ("", "e")):
                found.add(name)
            for arg in args:
                pending.extend(monomial for monomial, _ in arg)
    return frozenset(found)


def find_kinds(poly: Polynomial) -> frozenset[tuple[str, str]]:
    """Return kind and name of the atoms in a polynomial."""
    return frozenset((item[0], item[1]) for monomial in poly for item, _ in monomial)


@lru_cache(maxsize=1)
def _primes() -> tuple[int, ...]:
    sieve = bytearray([1]) * TRIAL_DIVISOR
    for n in range(2, int(TRIAL_DIVISOR**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = bytes(len(range(n * n, TRIAL_DIVISOR, n)))
    return tuple(n for n in range(2, TRIAL_DIVISOR) if sieve[n])


def factorise(n: int) -> tuple[list[tuple[int, int]], int]:
    """Return the prime factors found by trial division, and what is left unfactored (1 if none)."""
    if n.bit_length() > 512:
        raise LimitError("radicand too large")
    found: list[tuple[int, int]] = []
    for p in _primes():
        if p * p > n:
            break
        if n % p == 0:
            count = 0
            while n % p == 0:
                n //= p
                count += 1
            found.append((p, count))
    if n > 1 and n < TRIAL_DIVISOR**2:
        found.append((n, 1))
        n = 1
    return found, n


def _join(left: Monomial, right: Monomial) -> tuple[Monomial, Fraction]:
    """Return the product of two monomials, and the rational factor that comes out of it."""
    factor = Fraction(1)
    if not right:
        return left, factor
    exponents = dict(left)
    for item, exponent in right:
        exponents[item] = exponents.get(item, Fraction(0)) + exponent
    kept: list[tuple[Atom, Fraction]] = []
    if HALF_TURN in exponents:  # e^(i pi c): whole quarters are powers of i
        quarters = floor(exponents[HALF_TURN] * 2)
        exponents[HALF_TURN] -= Fraction(quarters, 2)
        exponents[I_ATOM] = exponents.get(I_ATOM, Fraction(0)) + quarters
    for item, exponent in exponents.items():
        if item[0] in ("root", "radicand"):
            whole = floor(exponent)
            if whole:
                if abs(whole) * item[2].bit_length() > MAX_BITS:
                    raise LimitError("power too large")
                factor *= Fraction(item[2]) ** whole
                exponent -= whole
        elif item[0] == "i":
            if exponent.denominator != 1:
                raise UnsupportedError("root of i")
            quarter = exponent.numerator % 4
            if quarter >= 2:
                factor = -factor
            exponent = Fraction(quarter % 2)
        if exponent:
            kept.append((item, exponent))
    kept.sort()
    return tuple(kept), factor


class Algebra:
    """Arithmetic with a limit on the work, so that no text of allowed size is slow."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def charge(self, products: int, bits: int = 0) -> None:
        """Count work done; raise `LimitError` above MAX_WORK.

        A product of big fractions costs a gcd, quadratic in their length.
        """
        if bits > MAX_BITS:
            raise LimitError("number too large")
        self._left -= products * (1 + (bits >> 6) ** 2 // 64)
        if self._left < 0:
            raise LimitError("too much work")

    def add_polynomials(self, left: Polynomial, right: Polynomial) -> Polynomial:
        self.charge(len(right), _bits(right))
        total = dict(left)
        for monomial, coefficient in right.items():
            value = total.get(monomial, 0) + coefficient
            if value:
                total[monomial] = Fraction(value)
            else:
                total.pop(monomial, None)
        if len(total) > MAX_TERMS:
            raise LimitError("too many terms")
        return total

    def multiply_polynomials(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if right == {UNIT: 1}:
            return left
        self.charge(len(left) * len(right), _bits(left) + _bits(right))
        total: Polynomial = {}
        for m, a in left.items():
            for n, b in right.items():
                monomial, factor = _join(m, n)
                value = total.get(monomial, 0) + a * b * factor
                if value:
                    total[monomial] = Fraction(value)
                else:
                    total.pop(monomial, None)
        if len(total) > MAX_TERMS:
            raise LimitError("too many terms")
        return total

    def add(self, left: Ratio, right: Ratio) -> Ratio:
        if left.den == right.den:
            return Ratio(self.add_polynomials(left.num, right.num), left.den)
        times = self.multiply_polynomials
        num = self.add_polynomials(times(left.num, right.den), times(right.num, left.den))
        return Ratio(num, times(left.den, right.den))

    def negate(self, value: Ratio) -> Ratio:
        return Ratio({m: -c for m, c in value.num.items()}, value.den)

    def subtract(self, left: Ratio, right: Ratio) -> Ratio:
        return self.add(left, self.negate(right))

    def multiply(self, left: Ratio, right: Ratio) -> Ratio:
        times = self.multiply_polynomials
        return Ratio(times(left.num, right.num), times(left.den, right.den))

    def divide(self, left: Ratio, right: Ratio) -> Ratio:
        if not right.num:
            raise UnsupportedError("division by zero")
        times = self.multiply_polynomials
        num, divisor = times(left.num, right.den), right.num
        if len(divisor) == 1:
            return Ratio(times(num, self._inverse(divisor)), left.den)
        return Ratio(num, times(left.den, divisor))

    def _inverse(self, poly: Polynomial) -> Polynomial:
        ((monomial, coefficient),) = poly.items()
        inverted, factor = _join(UNIT, tuple((item, -e) for item, e in monomial))
        return {inverted: factor / coefficient}

    def integer_power(self, base: Ratio, exponent: int) -> Ratio:
        if exponent < 0:
            base, exponent = self.divide(rational(1), base), -exponent
        if len(base.num) == 1 and len(base.den) == 1:
            one = {UNIT: Fraction(1)}
            base = self.divide(Ratio(base.num, one), Ratio(base.den, one))
        bits = max(_bits(base.num), _bits(base.den))
        simple = len(base.num) <= 1 and base.den == {UNIT: 1}
        unit = all(abs(c) == 1 for c in base.num.values())
        if not unit and bits * exponent > MAX_BITS:
            raise LimitError("power too large")
        if not simple and exponent > MAX_POWER:
            raise LimitError("power too large")
        if simple and base.num:
            ((monomial, coefficient),) = base.num.items()
            self.charge(1, 0 if unit else bits * exponent)
            raised, factor = _join(UNIT, tuple((item, e * exponent) for item, e in monomial))
            if unit:  # (-1)**huge is a sign, not a product
                power = coefficient if exponent % 2 else Fraction(1)
            else:
                power = coefficient**exponent
            return Ratio({raised: power * factor}, {UNIT: Fraction(1)})
        if not exponent:
            if not base.num:
                raise UnsupportedError("zero to the power of zero")
            return rational(1)
        result = base
        for _ in range(exponent - 1 if base.num else 0):
            result = self.multiply(result, base)
        return result


def _bits(poly: Polynomial) -> int:
    most = 0
    for value in poly.values():
        size = value.numerator.bit_length() + value.denominator.bit_length()
        most = max(most, size)
    return most


def find_content(poly: Polynomial) -> Fraction:
    """Return the positive rational that all coefficients share."""
    values = list(poly.values())
    over = gcd(*(abs(v.numerator) for v in values))
    return Fraction(over, lcm(*(v.denominator for v in values)))
