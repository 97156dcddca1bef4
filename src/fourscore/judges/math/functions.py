"""Powers, roots, logarithms and trigonometric functions in the normal form.

Exact if an identity holds everywhere the formula is defined; otherwise an opaque atom, which can
still be compared with itself and refuted numerically. `sqrt(x^2)` is not `x`.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from fourscore.judges.math.algebra import (
    I_ATOM,
    PI,
    UNIT,
    Algebra,
    Atom,
    E,
    Monomial,
    Polynomial,
    Ratio,
    as_rational,
    atom,
    factorise,
    find_content,
    find_variables,
    freeze,
    rational,
)
from fourscore.judges.math.limits import (
    MAX_BINOMIAL,
    MAX_BITS,
    MAX_FACTORIAL,
    MAX_TURNS,
    LimitError,
    UnsupportedError,
)
from fourscore.judges.math.numeric import real_value

_ONE: Polynomial = {UNIT: Fraction(1)}
# sin(k*pi/12) for k = 0..6, as sums of coefficient * sqrt(n)
_SINES: dict[int, tuple[tuple[Fraction, int], ...]] = {
    0: (),
    1: ((Fraction(1, 4), 6), (Fraction(-1, 4), 2)),
    2: ((Fraction(1, 2), 1),),
    3: ((Fraction(1, 2), 2),),
    4: ((Fraction(1, 2), 3),),
    5: ((Fraction(1, 4), 6), (Fraction(1, 4), 2)),
    6: ((Fraction(1), 1),),
}


def power(algebra: Algebra, base: Ratio, exponent: Ratio) -> Ratio:
    """Return base to the power of exponent."""
    q = as_rational(exponent)
    if q is not None:
        if q.denominator == 1:
            if abs(q.numerator).bit_length() > 40 and as_rational(base) not in (1, -1):
                raise LimitError("power too large")
            return algebra.integer_power(base, q.numerator)
        return fractional_power(algebra, base, q)
    return _symbolic_power(algebra, base, exponent)


def root(algebra: Algebra, base: Ratio, index: int) -> Ratio:
    """Return a root; for an odd index the real root, also of a negative number."""
    if not 2 <= index <= 100:
        raise UnsupportedError("root index")
    value = as_rational(base)
    if value is not None and value < 0 and index % 2:
        positive = fractional_power(algebra, rational(-value), Fraction(1, index))
        return algebra.negate(positive)
    return fractional_power(algebra, base, Fraction(1, index))


def fractional_power(algebra: Algebra, base: Ratio, q: Fraction) -> Ratio:
    """Return base to a power that is no integer."""
    if abs(q.numerator) > 10_000 or q.denominator > 1_000:
        raise LimitError("exponent too large")
    if not base.num:
        if q < 0:
            raise UnsupportedError("division by zero")
        return base
    if len(base.num) == 1 and base.den == _ONE:
        ((monomial, coefficient),) = base.num.items()
        if _takes_roots(monomial):
            scaled = _scaled(algebra, monomial, q)
            return algebra.multiply(_rational_root(algebra, coefficient, q, monomial), scaled)
    shared = find_content(base.num) / find_content(base.den)
    num = {m: c / find_content(base.num) for m, c in base.num.items()}
    den = {m: c / find_content(base.den) for m, c in base.den.items()}
    nested: Atom = ("nest", "", q.denominator, (freeze(num), freeze(den)))
    outside = _rational_root(algebra, shared, q, UNIT)
    return algebra.multiply(outside, atom(nested, q.numerator))


def _takes_roots(monomial: Monomial) -> bool:
    """Whether (a*b)^q = a^q * b^q holds: all factors positive, or one bare variable."""
    for kind, name in ((item[0], item[1]) for item, _ in monomial):
        if kind == "turn" or (kind == "pow" and name not in ("", "e")):
            return False
    free = [e for item, e in monomial if item[0] in ("var", "nest", "call", "i")]
    if not free:
        return True
    return len(free) == 1 and free[0] == 1 and any(item[0] == "var" for item, _ in monomial)


def _scaled(algebra: Algebra, monomial: Monomial, q: Fraction) -> Ratio:
    result = rational(1)
    for item, exponent in monomial:
        result = algebra.multiply(result, Ratio({((item, exponent * q),): Fraction(1)}, _ONE))
        # The exponent of a prime may now be outside [0, 1): multiplying by 1 normalises it.
        result = algebra.multiply(Ratio(_ONE, _ONE), result)
    return result


def _rational_root(algebra: Algebra, value: Fraction, q: Fraction, beside: Monomial) -> Ratio:
    result = rational(1)
    if value < 0:
        if q.denominator != 2 or any(item[0] == "var" for item, _ in beside):
            raise UnsupportedError("root of a negative number")
        result = atom(I_ATOM, 1)
        result = algebra.integer_power(result, q.numerator)
        value = -value
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        if number == 1:
            continue
        found, rest = factorise(number)
        for prime, count in found:
            result = algebra.multiply(result, _prime_power(prime, count * sign * q, "root"))
        if rest > 1:
            exact = _exact_root(rest, q.denominator)
            if exact is None:
                result = algebra.multiply(result, _prime_power(rest, sign * q, "radicand"))
            else:
                whole = algebra.integer_power(rational(exact), sign * q.numerator)
                result = algebra.multiply(result, whole)
    return result


def _prime_power(number: int, exponent: Fraction, kind: str) -> Ratio:
    whole = exponent.numerator // exponent.denominator
    if abs(whole) * number.bit_length() > MAX_BITS:
        raise LimitError("power too large")
    factor = Fraction(number) ** whole
    rest = exponent - whole
    monomial: Monomial = (((kind, "", number, ()), rest),) if rest else UNIT
    return Ratio({monomial: factor}, _ONE)


def _exact_root(n: int, index: int) -> int | None:
    low, high = 1, 1 << (n.bit_length() // index + 1)
    while low <= high:
        middle = (low + high) // 2
        power_of_middle = middle**index
        if power_of_middle == n:
            return middle
        low, high = (middle + 1, high) if power_of_middle < n else (low, middle - 1)
    return None


def _symbolic_power(algebra: Algebra, base: Ratio, exponent: Ratio) -> Ratio:
    """Apply a^(u+v) = a^u * a^v and a^(c*u) = (a^u)^c to a positive base or a variable."""
    if exponent.den != _ONE:
        raise UnsupportedError("exponent")
    bases = _bases(base)
    turning = {m: c for m, c in exponent.num.items() if (I_ATOM, Fraction(1)) in m}
    result = rational(1)
    if turning:
        if bases != [("e", 0, 1)]:
            raise UnsupportedError("complex power")
        result = _turn(algebra, Ratio(turning, _ONE))
    for monomial, coefficient in exponent.num.items():
        if monomial in turning:
            continue
        for name, number, count in bases:
            times = coefficient * count
            if monomial == UNIT:
                plain = rational(number) if not name else base
                result = algebra.multiply(result, power(algebra, plain, rational(times)))
            elif name == "e" and len(monomial) == 1 and _is_log(monomial):
                prime = monomial[0][0][2]  # e^(c ln p) = p^c
                result = algebra.multiply(result, _prime_power(prime, times, "root"))
            else:
                item: Atom = ("pow", name, number, (((monomial, Fraction(1)),),))
                result = algebra.multiply(result, atom(item, times))
    return result


def _turn(algebra: Algebra, exponent: Ratio) -> Ratio:
    """Apply Euler's formula to a purely imaginary exponent."""
    return unit_turn(algebra, algebra.divide(exponent, atom(I_ATOM)))


def _is_log(monomial: Monomial) -> bool:
    (item, exponent) = monomial[0]
    return item[0] == "ln" and exponent == 1


def _bases(base: Ratio) -> list[tuple[str, int, int]]:
    value = as_rational(base)
    if value is not None:
        if value <= 0:
            raise UnsupportedError("power of a negative number")
        above, rest = factorise(value.numerator)
        below, left = factorise(value.denominator)
        if rest > 1 or left > 1:
            raise UnsupportedError("base too large")
        return [("", p, n) for p, n in above] + [("", p, -n) for p, n in below]
    if len(base.num) == 1 and base.den == _ONE:
        ((monomial, coefficient),) = base.num.items()
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            item = monomial[0][0]
            if item == E or item[0] == "var":
                return [(item[1], 0, 1)]
    raise UnsupportedError("base of a power")


def logarithm(algebra: Algebra, value: Ratio, base: Ratio | None = None) -> Ratio:
    """Return the logarithm of a value, natural if no base is given."""
    if base is not None:
        return algebra.divide(logarithm(algebra, value), logarithm(algebra, base))
    if len(value.num) == 1 and value.den == _ONE:
        ((monomial, coefficient),) = value.num.items()
        if coefficient <= 0:
            raise UnsupportedError("logarithm of a negative number")
        if all(item[0] in ("root", "const") and item != PI for item, _ in monomial):
            total = _log_rational(algebra, coefficient)
            for item, exponent in monomial:
                one = rational(1) if item == E else atom(("ln", "", item[2], ()))
                total = algebra.add(total, algebra.multiply(one, rational(exponent)))
            return total
    return make_call("ln", value)


def _log_rational(algebra: Algebra, value: Fraction) -> Ratio:
    total = rational(0)
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        found, rest = factorise(number)
        if rest > 1:
            found = [*found, (rest, 1)]
        for prime, count in found:
            term = Ratio({((("ln", "", prime, ()), Fraction(1)),): Fraction(count * sign)}, _ONE)
            total = algebra.add(total, term)
    return total


def trigonometric(algebra: Algebra, name: str, angle: Ratio) -> Ratio:
    """Return a trigonometric function of an angle, exact for multiples of 15 degrees."""
    if name in ("cot", "sec", "csc"):
        inverse = {"cot": "tan", "sec": "cos", "csc": "sin"}[name]
        return algebra.divide(rational(1), trigonometric(algebra, inverse, angle))
    if name == "tan":
        sine, cosine = (trigonometric(algebra, part, angle) for part in ("sin", "cos"))
        return algebra.divide(sine, cosine)
    if angle.den != _ONE or len(angle.num) > MAX_TURNS:
        return make_call(name, angle)
    turn = angle.num.get(((PI, Fraction(1)),), Fraction(0))
    if len(angle.num) == (1 if turn else 0) and 12 % turn.denominator == 0:
        return _sine(algebra, int(turn * 12) + (0 if name == "sin" else 6))
    forward, backward = unit_turn(algebra, angle), unit_turn(algebra, algebra.negate(angle))
    if name == "cos":
        return algebra.multiply(algebra.add(forward, backward), rational(Fraction(1, 2)))
    half = Ratio({((I_ATOM, Fraction(1)),): Fraction(-1, 2)}, _ONE)
    return algebra.multiply(algebra.subtract(forward, backward), half)


def unit_turn(algebra: Algebra, angle: Ratio) -> Ratio:
    """Return e^(i angle) as a product over the angle's terms, so that sums of angles multiply."""
    result = rational(1)
    for monomial, coefficient in angle.num.items():
        if any(item[0] in ("i", "turn") for item, _ in monomial):
            raise UnsupportedError("complex angle")
        if monomial == ((PI, Fraction(1)),) and 12 % coefficient.denominator == 0:
            twelfths = int(coefficient * 12)
            sine = algebra.multiply(atom(I_ATOM), _sine(algebra, twelfths))
            factor = algebra.add(_sine(algebra, twelfths + 6), sine)
        else:
            factor = atom(("turn", "", 0, (((monomial, Fraction(1)),),)), coefficient)
        result = algebra.multiply(result, factor)
    return result


def inverse_trigonometric(algebra: Algebra, name: str, value: Ratio) -> Ratio:
    """Return an inverse trigonometric function, exact for known sines and tangents."""
    if name == "arccos":
        right = algebra.multiply(atom(PI), rational(Fraction(1, 2)))
        return algebra.subtract(right, inverse_trigonometric(algebra, "arcsin", value))
    for twelfths in range(-5, 6) if name == "arctan" else range(-6, 7):
        known = _sine(algebra, twelfths)
        if name == "arctan":
            known = algebra.divide(known, _sine(algebra, twelfths + 6))
        if not algebra.subtract(known, value).num:
            return algebra.multiply(atom(PI), rational(Fraction(twelfths, 12)))
    return make_call(name, value)


def _sine(algebra: Algebra, twelfths: int) -> Ratio:
    k = twelfths % 24
    sign = 1 if k < 12 else -1
    k %= 12
    total = rational(0)
    for coefficient, radicand in _SINES[min(k, 12 - k)]:
        term = fractional_power(algebra, rational(radicand), Fraction(1, 2))
        total = algebra.add(total, algebra.multiply(rational(sign * coefficient), term))
    return total


def make_call(name: str, argument: Ratio) -> Ratio:
    """Return an opaque atom for a function that has no exact value."""
    present = {item[0] for m in (*argument.num, *argument.den) for item, _ in m}
    if "i" in present and "turn" not in present:
        raise UnsupportedError(f"{name} of a complex number")
    return atom(("call", name, 0, (freeze(argument.num), freeze(argument.den))))


def absolute(algebra: Algebra, value: Ratio) -> Ratio:
    """Return the absolute value."""
    exact = as_rational(value)
    if exact is not None:
        return rational(abs(exact))
    if not find_variables(value):
        number = real_value(value)
        if number is None:
            raise UnsupportedError("sign not known")
        return algebra.negate(value) if number < 0 else value
    lead = value.num[max(value.num)]
    return make_call("abs", algebra.negate(value) if lead < 0 else value)


def round_exact(value: Ratio, upward: bool) -> Ratio:
    """Return the floor, or the ceiling if `upward`."""
    exact = as_rational(value)
    if exact is None:
        raise UnsupportedError("rounding of an irrational number")
    return rational(-(-exact.numerator // exact.denominator) if upward else exact // 1)


def compute_factorial(value: Ratio) -> Ratio:
    """Return the factorial of a small natural number."""
    n = as_rational(value)
    if n is None or n.denominator != 1 or n < 0:
        raise UnsupportedError("factorial")
    if n > MAX_FACTORIAL:
        raise LimitError("factorial too large")
    return rational(factorial(int(n)))


def binomial(top: Ratio, bottom: Ratio) -> Ratio:
    """Return the binomial coefficient of two small natural numbers."""
    n, k = as_rational(top), as_rational(bottom)
    if n is None or k is None or n.denominator != 1 or k.denominator != 1 or n < 0 or k < 0:
        raise UnsupportedError("binomial")
    if n > MAX_BINOMIAL or k > MAX_BINOMIAL:
        raise LimitError("binomial too large")
    return rational(comb(int(n), int(k)))
