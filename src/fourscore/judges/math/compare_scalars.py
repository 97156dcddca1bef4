"""Compare two single values: numbers, formulas, units, words, numerals.

Nothing here looks inside a list or an equation; `compare_values` does, and calls this for parts.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from fourscore.judges.math.algebra import (
    PI,
    Algebra,
    Ratio,
    as_rational,
    atom,
    find_kinds,
    find_variables,
    rational,
)
from fourscore.judges.math.comparison_result import Decision, Equivalence, different, equal, unknown
from fourscore.judges.math.numeric import is_zero, real_value
from fourscore.judges.math.relations import get_variable_name
from fourscore.judges.math.units import Unit
from fourscore.judges.math.values import NumeralInBase, Proportion, Scalar, Value, Words

# A decimal equals every number that agrees with it to its last place, if it has enough digits:
# 0.333333 is one third, 0.33 is not. Both bounds matter: 0.000001 has six places but one digit.
ROUNDED_PLACES = 6
ROUNDED_DIGITS = 6
ROUNDED_ERROR = Fraction(1, 2 * 10**ROUNDED_PLACES)
_PLAIN_KINDS = frozenset({"root", "const", "i", "var"})


def decide_same(same: bool, what: str) -> Decision:
    """Return equal or different, with a reason about `what`."""
    return equal(f"same {what}") if same else different(f"another {what}")


def compare_scalars(answer: Scalar, reference: Scalar) -> Decision:
    """Compare two numbers or formulas, each with or without a unit."""
    if answer.unit is None or reference.unit is None or answer.unit.name == reference.unit.name:
        return _compare_in_one_unit(answer, reference)
    return _compare_in_two_units(answer, reference, answer.unit, reference.unit)


def _compare_in_one_unit(answer: Scalar, reference: Scalar) -> Decision:
    decision = _compare_ratios(answer, reference)
    if decision.verdict is not Equivalence.DIFFERENT:
        return decision
    degrees = [_is_in_degrees(s) for s in (answer, reference)]
    one_sided = degrees[0] != degrees[1] and _mentions_pi(answer if degrees[1] else reference)
    if one_sided and _are_equal(_to_radians(answer), _to_radians(reference)):
        return equal("same angle")  # 90 degrees, pi/2
    if answer.log_in_doubt or reference.log_in_doubt:
        return unknown("the base of a logarithm is not stated")
    return decision


def _is_in_degrees(value: Scalar) -> bool:
    return value.unit is not None and value.unit.name == "degree"


def _mentions_pi(value: Scalar) -> bool:
    return ("const", "pi") in find_kinds(value.ratio.num)


def _to_radians(value: Scalar) -> Ratio:
    if not _is_in_degrees(value):
        return value.ratio
    algebra = Algebra()
    turn = algebra.multiply(atom(PI), rational(Fraction(1, 180)))
    return algebra.multiply(value.ratio, turn)


def _compare_in_two_units(answer: Scalar, reference: Scalar, mine: Unit, theirs: Unit) -> Decision:
    if mine.dimension is None or theirs.dimension is None:
        # "5 students" and "5 people": only the number can be judged here
        decision = _compare_ratios(answer, reference)
        return unknown("other unit") if decision.verdict is Equivalence.EQUAL else decision
    if mine.dimension != theirs.dimension:
        return different("unit of another kind")
    algebra = Algebra()
    converted = [
        algebra.multiply(value.ratio, rational(unit.factor))
        for value, unit in ((answer, mine), (reference, theirs))
    ]
    same = _are_equal(converted[0], converted[1])
    if same is None:
        return unknown("not decided after conversion")
    return decide_same(same, "quantity")


def _compare_ratios(answer: Scalar, reference: Scalar) -> Decision:
    a, b = as_rational(answer.ratio), as_rational(reference.ratio)
    if a is not None and b is not None:
        if a == b:
            return equal("same number")
        gap: Fraction | None = abs(a - b)
        return _compare_rounded(answer, reference, gap) or different("another number")
    same = _are_equal(answer.ratio, reference.ratio)
    if same:
        return equal("same normal form")
    rounded = _compare_rounded(answer, reference, _find_gap(answer, reference))
    if rounded is not None:
        return rounded
    if same is None:
        return unknown("equal to many digits, not proven")
    if _differ_in_case(answer.ratio, reference.ratio):
        return unknown("variables differ in case only")
    return different("another value")


def _are_equal(left: Ratio, right: Ratio) -> bool | None:
    """Whether two formulas are equal: True if proven, False if refuted, else None."""
    if left == right:
        return True if _is_defined(left) else None
    algebra = Algebra()
    if not _is_defined(left) or not _is_defined(right):
        return None
    return is_zero(algebra.subtract(left, right).num)


def _is_defined(value: Ratio) -> bool:
    """Whether the denominator is known not to be zero: 0/(sin^2 + cos^2 - 1) is no number."""
    if all(kind in _PLAIN_KINDS for kind, _ in find_kinds(value.den)):
        return True
    return is_zero(value.den) is False


def _differ_in_case(left: Ratio, right: Ratio) -> bool:
    a, b = find_variables(left), find_variables(right)
    return a != b and {n.lower() for n in a} == {n.lower() for n in b}


def _find_gap(answer: Scalar, reference: Scalar) -> Fraction | None:
    if answer.places is None and reference.places is None:
        return None
    a, b = real_value(answer.ratio), real_value(reference.ratio)
    if a is None or b is None or max(abs(a), abs(b)) > Decimal(10) ** 40:
        return None
    return abs(Fraction(a) - Fraction(b))


def _compare_rounded(answer: Scalar, reference: Scalar, gap: Fraction | None) -> Decision | None:
    if gap is None or gap > ROUNDED_ERROR:
        return None
    shown = [
        (value.places, value.digits) for value in (answer, reference) if value.places is not None
    ]
    if not shown:
        return None
    places, digits = min(shown)
    if places < ROUNDED_PLACES or digits < ROUNDED_DIGITS or gap >= Fraction(1, 10**places):
        return None
    return equal("same to the digits shown")


def compare_words(answer: Value, reference: Value) -> Decision:
    """Compare words with words, or with a value of any other type."""
    if isinstance(answer, Words) and isinstance(reference, Words):
        return decide_same(answer.text == reference.text, "word")
    word, other = (answer, reference) if isinstance(answer, Words) else (reference, answer)
    assert isinstance(word, Words)
    if isinstance(other, Scalar):
        names = find_variables(other.ratio)
        name = get_variable_name(other)
        if name and name.lower() == word.text:
            return equal("same letter")  # \text{A}, A
        if names and sorted(word.text) == sorted("".join(names).lower()):
            return unknown("word or product of letters")
    return different("words are no number")


def compare_numerals(answer: Value, reference: Value) -> Decision:
    """Compare numerals in a stated base, proportions and times of day."""
    if isinstance(answer, NumeralInBase) and isinstance(reference, NumeralInBase):
        if answer.base == reference.base:
            return decide_same(answer.digits == reference.digits, "numeral")
        values = _value_in_base(answer), _value_in_base(reference)
        if None in values or values[0] == values[1]:
            return unknown("numerals in two bases")
        return different("another numeral")
    if isinstance(answer, Proportion) and isinstance(reference, Proportion):
        if answer.parts == reference.parts:
            if answer.suffix == reference.suffix:
                return equal("same proportion")
            if answer.suffix and reference.suffix:
                return different("another time of day")
            return unknown("half of the day left out")
        a, b = _find_quotients(answer), _find_quotients(reference)
        if a is not None and a == b:
            return unknown("proportion or time")
        return different("another proportion")
    for one, other in ((answer, reference), (reference, answer)):
        if isinstance(other, Scalar) and isinstance(one, NumeralInBase):
            number = as_rational(other.ratio)
            if number is None or number not in (Fraction(one.digits), _value_in_base(one)):
                return different("another numeral")
            return unknown("base left out")
        if isinstance(other, Scalar) and isinstance(one, Proportion):
            quotients = _find_quotients(one)
            if quotients is None or [as_rational(other.ratio)] != quotients:
                return different("a proportion is no such number")
            return unknown("proportion or quotient")
    return different("another type")


def _value_in_base(numeral: NumeralInBase) -> Fraction | None:
    if not 2 <= numeral.base <= 36 or len(numeral.digits) > 100:
        return None
    try:
        return Fraction(int(numeral.digits, numeral.base))
    except ValueError:
        return None


def _find_quotients(proportion: Proportion) -> list[Fraction] | None:
    first, *rest = proportion.parts
    return None if 0 in rest else [first / part for part in rest]
