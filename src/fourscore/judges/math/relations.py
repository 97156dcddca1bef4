r"""Read equations and inequalities: which value do they give?

`x = 5` gives 5, and so does `6 - 1 = 5`; `41 = 42` gives none; `2x = 10` has not been solved.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from fourscore.judges.math.algebra import Algebra, Ratio, as_rational, find_variables, variable
from fourscore.judges.math.formula_parser import GREEK
from fourscore.judges.math.limits import MalformedError, UnsupportedError
from fourscore.judges.math.numeric import is_zero, real_value
from fourscore.judges.math.values import (
    Condition,
    Contradiction,
    Equation,
    Group,
    Infinity,
    Scalar,
    Value,
)

_FLIPPED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}


def read_relation(
    operators: list[str], sides: list[list[str]], values: list[Value | None], algebra: Algebra
) -> Value:
    """Return the value, interval or condition that a chain of relations states."""
    kinds = set(operators)
    if kinds <= {"=", r"\approx"}:
        return _read_equation(operators, sides, values, algebra)
    if kinds <= set(_FLIPPED) and len(operators) <= 2:
        found = _read_interval(*_remove_minus(operators, sides, values))
        if found is not None:
            return found
    if len(operators) == 1:
        return _read_condition(operators[0], values, algebra)
    raise UnsupportedError("chain of relations")


def _read_name(tokens: list[str]) -> str | None:
    """Return the name on a side: a variable, x_1, f(x), \\text{Area} or AB; None for a formula."""
    if not tokens:
        return ""
    first = tokens[0]
    if first.startswith('"') and all(t.startswith('"') for t in tokens):
        return " ".join(t[1:].lower() for t in tokens)
    rest = tokens[1:]
    for mark in (["'"], ["^", "{", "-", "1", "}"]):  # f'(x), f^{-1}(x)
        if rest[: len(mark)] == mark and rest[len(mark) : len(mark) + 1] == ["("]:
            rest = rest[len(mark) :]
    if first == r"\angle" and rest and all(len(t) == 1 and t.isupper() for t in rest):
        return "".join(tokens)
    if not (len(first) == 1 and first.isalpha()) and first not in GREEK:
        return None
    if not rest:
        return first
    if _is_subscripted(tokens) or rest == ["'"]:
        return "".join(t for t in tokens if t not in "{}")
    if rest[:1] == ["("] and rest[-1] == ")" and rest.count("(") == 1:
        return "".join(tokens)
    if all(len(t) == 1 and t.isupper() for t in rest):
        return "".join(tokens)  # AB
    return None


def _is_subscripted(tokens: list[str]) -> bool:
    """Whether it is a variable with one subscript and nothing after it: x_1, x_{max}."""
    if len(tokens) < 3 or tokens[1] != "_":
        return False
    if tokens[2] != "{":
        return len(tokens) == 3
    return tokens.index("}") == len(tokens) - 1 if "}" in tokens else False


def _read_equation(
    operators: list[str], sides: list[list[str]], values: list[Value | None], algebra: Algebra
) -> Value:
    name = _read_name(sides[0])
    if name is None and len(sides) == 2 and (turned := _read_name(sides[1])):
        # 42 = x
        name, sides, values = turned, sides[::-1], values[::-1]
    if name is None and len(values) == 2 and _are_variables(values[0], values[1]):
        assert values[1] is not None
        return values[1]  # (x, y) = (5, 6)
    if name is None and values[0] is None:
        raise UnsupportedError("left-hand side")
    first = 0 if name is None else 1
    chain = values[first:]
    if not chain or any(v is None for v in chain):
        raise UnsupportedError("side not understood")
    known = [v for v in chain if v is not None]
    loose = [op == r"\approx" for op in operators[first:]]
    if name is None and len(known) == 2 and not loose[0]:
        unsolved = _read_condition("=", values, algebra)
        if isinstance(unsolved, Condition) and find_variables(unsolved.ratio):
            return unsolved
    label = known[0]
    labelled = name is None and isinstance(label, Scalar) and bool(find_variables(label.ratio))
    if labelled and len(known) > 1:
        # AB * CD = 6 * 7 = 42: what is to be found, then its value
        known, loose = known[1:], loose[1:]
    for index, (left, right) in enumerate(pairwise(known)):
        if not loose[index] and _are_equal(left, right, algebra):
            continue
        # 1/3 = 0.33 is sloppy, not false; 41 = 42 is false
        if not (loose[index] or _shows_decimals(right)) or not _rounds_to(left, right):
            return Contradiction()
        loose[index] = True
    value = _find_value(known, loose)
    if labelled:
        return _read_condition("=", [label, value], algebra)
    if not name:
        return value
    return Equation(name, value, _make_condition(name, value, algebra))


def _are_variables(left: Value | None, right: Value | None) -> bool:
    if not isinstance(left, Group) or not isinstance(right, Group):
        return False
    names = [get_variable_name(item) for item in left.items]
    return all(names) and len(names) == len(right.items) and left.brackets == right.brackets


def get_variable_name(value: Value) -> str | None:
    """Return the name of the variable that a value is, or None if it is anything else."""
    if not isinstance(value, Scalar) or value.unit is not None:
        return None
    names = find_variables(value.ratio)
    return min(names) if len(names) == 1 and value.ratio == variable(min(names)) else None


def _find_value(chain: list[Value], loose: list[bool]) -> Value:
    """Return the last value of a consistent chain, or the exact one before a rounding."""
    for value, rough in zip(chain, loose, strict=False):
        if rough:
            return value
    return chain[-1]


def _are_equal(left: Value, right: Value, algebra: Algebra) -> bool:
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        raise UnsupportedError("chain of values")
    zero = is_zero(algebra.subtract(left.ratio, right.ratio).num)
    if zero is None:
        raise UnsupportedError("equation not decided")
    return zero


def _shows_decimals(value: Value) -> bool:
    return isinstance(value, Scalar) and value.places is not None and value.places >= 2


def _rounds_to(exact: Value, rough: Value) -> bool:
    """Whether two sides agree to the digits that they show."""
    if not isinstance(exact, Scalar) or not isinstance(rough, Scalar):
        raise UnsupportedError("chain of values")
    a, b = real_value(exact.ratio), real_value(rough.ratio)
    if a is None or b is None:
        raise UnsupportedError("approximation not decided")
    shown = [p for p in (_count_places(exact), _count_places(rough)) if p is not None]
    step = Fraction(1, 10 ** min(shown)) if shown else Fraction(0)
    return abs(Fraction(a) - Fraction(b)) < step


def _count_places(value: Scalar) -> int | None:
    if value.places is not None:
        return value.places
    number = as_rational(value.ratio)
    return 0 if number is not None and number.denominator == 1 else None


def _make_condition(name: str, value: Value, algebra: Algebra) -> Condition | None:
    if not isinstance(value, Scalar) or len(name) != 1:
        return None
    left = Scalar(variable(name))
    return Condition("=", algebra.subtract(left.ratio, value.ratio), (left, value))


def _read_condition(operator: str, values: list[Value | None], algebra: Algebra) -> Value:
    left, right = values
    if isinstance(left, Group | Infinity) or isinstance(right, Group | Infinity):
        raise UnsupportedError("relation between groups")
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        raise UnsupportedError("side not understood")
    if operator in ("<", r"\le"):
        left, right, operator = right, left, _FLIPPED[operator]
    ratio = algebra.subtract(left.ratio, right.ratio)
    return Condition(operator, ratio, (left, right))


def _read_interval(
    operators: list[str], sides: list[list[str]], values: list[Value | None]
) -> Value | None:
    """Read `x > 3` or `1 <= x < 2`, a variable between constants, as an interval."""
    names = [_read_name(side) for side in sides]
    places = [i for i, name in enumerate(names) if name]
    if len(places) != 1:
        return None
    at = places[0]
    others = [v for i, v in enumerate(values) if i != at]
    if not all(_is_bound(v) for v in others):
        return None
    if len(operators) == 1:
        operator = operators[0] if at == 0 else _FLIPPED[operators[0]]
        bound = others[0]
        assert bound is not None
        closed = operator in (r"\le", r"\ge")
        if operator in ("<", r"\le"):
            return _make_interval("(", "]" if closed else ")", Infinity(-1), bound, names[at])
        return _make_interval("[" if closed else "(", ")", bound, Infinity(1), names[at])
    if at != 1:
        return None
    low, high = others
    assert low is not None
    assert high is not None
    up = [op in ("<", r"\le") for op in operators]
    if up[0] != up[1]:
        raise MalformedError("inequalities that point both ways")
    ends = [op in (r"\le", r"\ge") for op in operators]
    if not up[0]:
        low, high, ends = high, low, ends[::-1]
    return _make_interval("[" if ends[0] else "(", "]" if ends[1] else ")", low, high, names[at])


def _remove_minus(
    operators: list[str], sides: list[list[str]], values: list[Value | None]
) -> tuple[list[str], list[list[str]], list[Value | None]]:
    """Multiply inequalities of -x and constants by -1: `-x < 3` becomes `x > -3`."""
    at = [i for i, side in enumerate(sides) if side[:1] == ["-"] and _read_name(side[1:])]
    others = [value for i, value in enumerate(values) if i not in at]
    if len(at) != 1 or not all(map(_is_bound, others)):
        return operators, sides, values
    sides = [side[1:] if i == at[0] else side for i, side in enumerate(sides)]
    return [_FLIPPED[one] for one in operators], sides, [_negate(value) for value in values]


def _negate(value: Value | None) -> Value | None:
    if isinstance(value, Infinity):
        return Infinity(-value.sign)
    if isinstance(value, Scalar):
        negative = Ratio({m: -c for m, c in value.ratio.num.items()}, value.ratio.den)
        return replace(value, ratio=negative)
    return value


def _is_bound(value: Value | None) -> bool:
    if isinstance(value, Scalar):
        return not find_variables(value.ratio)
    return isinstance(value, Infinity)


def _make_interval(left: str, right: str, low: Value, high: Value, name: str | None) -> Group:
    left = "(" if isinstance(low, Infinity) else left
    right = ")" if isinstance(high, Infinity) else right
    return Group(left + right, (low, high), name)


def are_proportional(left: Condition, right: Condition, algebra: Algebra) -> bool | None:
    """Whether two conditions differ by a constant factor only; None if that is not known."""
    a, b = left.ratio, right.ratio
    if not a.num or not b.num:
        return None
    lead_a, lead_b = a.num[max(a.num)], b.num[max(b.num)]
    if max(a.num) != max(b.num):
        plain = all(item[0] == "var" for m in (*a.num, *b.num) for item, _ in m)
        return False if plain else None
    factor = lead_a / lead_b
    if left.operator != "=" and left.operator != r"\ne" and factor < 0:
        return False
    scaled = Ratio({m: c * factor for m, c in b.num.items()}, b.den)
    return is_zero(algebra.subtract(a, scaled).num)


def is_linear(condition: Condition) -> bool:
    """Whether a condition is linear in its variables."""
    return as_rational(Ratio({}, condition.ratio.den)) is not None and all(
        sum(e for item, e in monomial if item[0] == "var") <= 1
        and all(item[0] in ("var", "root", "const") for item, _ in monomial)
        for monomial in condition.ratio.num
    )
