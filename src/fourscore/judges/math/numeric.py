"""Evaluate polynomials to high precision, to prove that two formulas differ.

A difference further from zero than its error bound proves that two formulas differ. One inside
the bound proves nothing: only a normal form that cancels does. So `is_zero` returns None there.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal, DecimalException, localcontext
from fractions import Fraction

from fourscore.judges.math.algebra import (
    Atom,
    Frozen,
    Monomial,
    Polynomial,
    Ratio,
    find_kinds,
    find_variables,
)
from fourscore.judges.math.limits import UnsupportedError

PRECISION = 60
# Each atom is right to about 55 digits and a term multiplies a handful of them; the margin of
# 25 digits covers every term the limits allow.
NEGLIGIBLE = Decimal("1e-30")
MAX_MAGNITUDE = 10**9  # decimal exponent beyond which the bound above is not trusted
_CONTEXT = Context(prec=PRECISION, Emax=10**12, Emin=-(10**12))
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
_E = Decimal("2.71828182845904523536028747135266249775724709369995957496696762772407663035354759")
# Points at which functions of variables are compared: positive, so that roots and logarithms
# exist, and of no special form.
_POINTS = (
    ("1.3717", "0.6131", "2.2391", "1.7879", "0.8447", "3.1019"),
    ("0.4273", "1.9531", "1.1173", "0.5527", "2.6417", "0.7901"),
    ("2.7191", "3.3301", "0.3907", "2.0903", "1.4639", "1.2211"),
)


def is_zero(poly: Polynomial) -> bool | None:
    """Whether a normal form is zero: True or False if proven, else None."""
    if not poly:
        return True
    present = find_kinds(poly)
    if _are_independent(present):
        return False
    names = sorted(find_variables(Ratio(poly, {})))
    for values in _POINTS if names else _POINTS[:1]:
        if len(names) > len(values):
            return None
        point = {name: Decimal(text) for name, text in zip(names, values, strict=False)}
        try:
            if _is_nonzero(poly, point):
                return False
        except (UnsupportedError, DecimalException, OverflowError, ValueError):
            continue
    return None


def _are_independent(present: frozenset[tuple[str, str]]) -> bool:
    """Whether a sum over these atoms is zero only if it cancels.

    Roots of primes are independent over the rationals, pi and e are each transcendental over
    algebraic numbers (nothing is known of both together), variables are free.
    """
    constants = 0
    for kind, _name in present:
        if kind == "const":
            constants += 1
        elif kind not in ("root", "i", "var"):
            return False
    return constants <= 1


def _is_nonzero(poly: Polynomial, point: Mapping[str, Decimal]) -> bool:
    with localcontext(_CONTEXT):
        real, imaginary, size = _evaluate_terms(tuple(poly.items()), point)
        if size and size.adjusted() > MAX_MAGNITUDE:
            raise UnsupportedError("too large to compare")
        return abs(real) > size * NEGLIGIBLE or abs(imaginary) > size * NEGLIGIBLE


def real_value(value: Ratio) -> Decimal | None:
    """Return the value of a constant, or None if it is not real, not constant or not known."""
    try:
        with localcontext(_CONTEXT):
            return _evaluate_ratio(tuple(value.num.items()), tuple(value.den.items()), {})
    except (UnsupportedError, DecimalException, OverflowError, ValueError):
        return None


def _evaluate_ratio(num: Frozen, den: Frozen, point: Mapping[str, Decimal]) -> Decimal:
    above, above_i, size = _evaluate_terms(num, point)
    below, below_i, width = _evaluate_terms(den, point)
    if abs(below) <= width * NEGLIGIBLE or abs(below_i) > width * NEGLIGIBLE:
        raise UnsupportedError("not a real number")
    if num and (abs(above) <= size * NEGLIGIBLE or abs(above_i) > size * NEGLIGIBLE):
        raise UnsupportedError("sign not known")
    return above / below


def _evaluate_terms(
    terms: Frozen, point: Mapping[str, Decimal]
) -> tuple[Decimal, Decimal, Decimal]:
    """Return the real part, the imaginary part and the sum of the absolute values of the terms."""
    real = imaginary = size = Decimal(0)
    for monomial, coefficient in terms:
        value = _to_decimal(coefficient)
        turned = False
        angle = Decimal(0)
        for item, exponent in monomial:
            if item[0] == "i":
                turned = True
            elif item[0] == "turn":
                angle += _to_decimal(exponent) * _evaluate_monomial(item[3][0][0][0], point)
            else:
                value *= _evaluate_power(item, exponent, point)
        size += abs(value)
        x, y = value, Decimal(0)
        if angle:
            x, y = value * _evaluate_call("cos", angle), value * _evaluate_call("sin", angle)
        if turned:
            x, y = -y, x
        real += x
        imaginary += y
    return real, imaginary, size


def _to_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _evaluate_power(item: Atom, exponent: Fraction, point: Mapping[str, Decimal]) -> Decimal:
    base = _evaluate_atom(item, point)
    if exponent.denominator == 1:
        if abs(exponent.numerator) > 10**6:
            raise UnsupportedError("power too large")
        return base**exponent.numerator
    if base <= 0:
        raise UnsupportedError("root of a negative number")
    if exponent.denominator == 2 and abs(exponent.numerator) < 100:
        return base.sqrt() ** exponent.numerator
    return (base.ln() * _to_decimal(exponent)).exp()


def _evaluate_atom(item: Atom, point: Mapping[str, Decimal]) -> Decimal:
    kind, name, number, args = item
    if kind in ("root", "radicand"):
        return Decimal(number)
    if kind == "const":
        return +(_PI if name == "pi" else _E)
    if kind == "var":
        return _get_coordinate(point, name)
    if kind == "ln":
        return Decimal(number).ln()
    if kind == "pow":
        base = _E if name == "e" else _get_coordinate(point, name) if name else Decimal(number)
        exponent = _evaluate_monomial(args[0][0][0], point)
        return (base.ln() * exponent).exp()
    if kind == "nest":
        inside = _evaluate_ratio(args[0], args[1], point)
        if inside < 0:
            raise UnsupportedError("root of a negative number")
        return inside.sqrt() if number == 2 else (inside.ln() / number).exp()
    return _evaluate_call(name, _evaluate_ratio(args[0], args[1], point))


def _get_coordinate(point: Mapping[str, Decimal], name: str) -> Decimal:
    if name not in point:
        raise UnsupportedError("not a constant")
    return point[name]


def _evaluate_monomial(monomial: Monomial, point: Mapping[str, Decimal]) -> Decimal:
    value = Decimal(1)
    for item, exponent in monomial:
        value *= _evaluate_power(item, exponent, point)
    return value


def _evaluate_call(name: str, x: Decimal) -> Decimal:
    if name == "ln":
        if x <= 0:
            raise UnsupportedError("logarithm of a negative number")
        return x.ln()
    if name == "abs":
        return abs(x)
    if name in ("sin", "cos", "tan"):
        if abs(x) > 1000:  # the reduction by pi would eat the digits that the bound relies on
            raise UnsupportedError("angle too large")
        sine, cosine = _sine(x), _sine(x + _PI / 2)
        return sine if name == "sin" else cosine if name == "cos" else sine / cosine
    if name == "arctan":
        return _arctangent(x)
    if name == "arcsin":
        if abs(x) >= 1:
            raise UnsupportedError("arcsine of such a number")
        return _arctangent(x / (1 - x * x).sqrt())
    raise UnsupportedError(f"no numeric {name}")


def _sine(x: Decimal) -> Decimal:
    x %= 2 * _PI
    term = total = x
    n = 1
    while abs(term) > Decimal("1e-58"):
        n += 2
        term = -term * x * x / (n * (n - 1))
        total += term
    return total


def _arctangent(x: Decimal) -> Decimal:
    halvings = 0
    while abs(x) > Decimal("0.1"):  # arctan x = 2 arctan(x / (1 + sqrt(1 + x^2)))
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    term, total, n = x, x, 1
    while abs(term) > Decimal("1e-58"):
        term = -term * x * x
        n += 2
        total += term / n
    return total * (1 << halvings)
