"""Value against value: equal, different, or not known.

EQUAL needs a proof (a normal form that cancels) or the stated tolerance for decimals. DIFFERENT
needs a refutation: another type, another length, a numeric value apart. Everything else is
UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from fourscore.judges.math.algebra import Algebra, variables
from fourscore.judges.math.compare_scalars import (
    compare_numerals,
    compare_scalars,
    compare_words,
    settled,
)
from fourscore.judges.math.decision import Decision, Equivalence, different, equal, unknown
from fourscore.judges.math.limits import UnsupportedError
from fourscore.judges.math.numeric import real_value
from fourscore.judges.math.relations import is_linear, proportional
from fourscore.judges.math.values import (
    Condition,
    Equation,
    Falsehood,
    Group,
    Infinite,
    Matrix,
    Scalar,
    Union,
    Value,
    Words,
)

_REALS: tuple[Value, ...] = (Infinite(-1), Infinite(1))
_SETS_IN_WORDS: dict[str, tuple[Value, ...]] = {
    "no solution": (), "no solutions": (), "no real solution": (), "no real solutions": (),
    "empty set": (), "all real numbers": _REALS, "all reals": _REALS,
}  # fmt: skip


def compare(answer: Value, reference: Value) -> Decision:
    if isinstance(answer, Falsehood):
        return different("the answer contradicts itself")
    if isinstance(reference, Falsehood):
        return unknown("the reference contradicts itself")
    if isinstance(answer, Condition) or isinstance(reference, Condition):
        return _conditions(answer, reference)
    if isinstance(answer, Equation) or isinstance(reference, Equation):
        return _equations(answer, reference)
    if isinstance(answer, Union) or isinstance(reference, Union):
        return _unions(answer, reference)
    if isinstance(answer, Group) or isinstance(reference, Group):
        return _groups(answer, reference)
    if isinstance(answer, Scalar) and isinstance(reference, Scalar):
        return compare_scalars(answer, reference)
    if isinstance(answer, Words) or isinstance(reference, Words):
        return compare_words(answer, reference)
    if isinstance(answer, Matrix) and isinstance(reference, Matrix):
        return _matrices(answer, reference)
    if isinstance(answer, Infinite) and isinstance(reference, Infinite):
        return settled(answer.sign == reference.sign, "infinite")
    return compare_numerals(answer, reference)


# Lists, sets, tuples, intervals, matrices


def _groups(answer: Value, reference: Value) -> Decision:
    if not isinstance(answer, Group) or not isinstance(reference, Group):
        return _single(answer, reference)
    if answer.variable or reference.variable:
        if not _is_interval(answer) or not _is_interval(reference):
            return different("an inequality is no list")
        if answer.variable and reference.variable and answer.variable != reference.variable:
            return different("an inequality in another variable")
    bracketed = bool(answer.brackets.strip("{}")) + bool(reference.brackets.strip("{}"))
    if bracketed == 2:
        if len(reference.items) == 2 and answer.brackets != reference.brackets:
            return different("other end points included")
        return _ordered(answer.items, reference.items)
    if bracketed == 0:
        return _unordered(answer, reference)
    return _list_or_tuple(answer, reference)


def _is_interval(group: Group) -> bool:
    return bool(group.brackets.strip("{}")) and len(group.items) == 2


def _single(answer: Value, reference: Value) -> Decision:
    """A group against one value: only a set or list of that value alone is it."""
    group, other, turned = answer, reference, False
    if not isinstance(group, Group):
        group, other, turned = reference, answer, True
    assert isinstance(group, Group)
    if isinstance(other, Words) and other.text in _SETS_IN_WORDS:
        return _ordered(group.items, _SETS_IN_WORDS[other.text])
    if isinstance(other, Matrix) and group.brackets == "()":
        return _vector(other, group)
    if isinstance(other, Matrix) and all(isinstance(item, Group) for item in group.items):
        return unknown("matrix or list of lists")
    if group.brackets.strip("{}") or not group.items:
        return different("a tuple or interval is no single value")
    if turned and len(group.items) > 1:
        return different("one value where several are asked for")
    decisions = [compare(other, i) if turned else compare(i, other) for i in group.items]
    return _all(decisions)


def _vector(matrix: Matrix, group: Group) -> Decision:
    """A row or column against a tuple: the same entries are not yet the same object."""
    cells = [cell for row in matrix.rows for cell in row]
    if min(len(matrix.rows), len(matrix.rows[0])) > 1:
        return different("a matrix is no tuple")
    decision = _ordered(cells, group.items)
    return decision if decision.verdict is Equivalence.DIFFERENT else unknown("vector or tuple")


def _all(decisions: Sequence[Decision]) -> Decision:
    """Different if any part is, equal if all are."""
    doubt: Decision | None = None
    for decision in decisions:
        if decision.verdict is Equivalence.DIFFERENT:
            return decision
        if decision.verdict is Equivalence.UNKNOWN:
            doubt = decision
    return doubt or equal("all parts equal")


def _ordered(answer: Sequence[Value], reference: Sequence[Value]) -> Decision:
    if len(answer) != len(reference):
        return different("another number of parts")
    decisions: list[Decision] = []
    for a, r in zip(answer, reference, strict=True):
        decisions.append(compare(a, r))
        if decisions[-1].verdict is Equivalence.DIFFERENT:
            break
    return _all(decisions)


def _match(answer: Sequence[Value], reference: Sequence[Value]) -> Decision:
    """Each value of one side against a value of the other, none used twice."""
    if len(answer) != len(reference):
        return different("another number of parts")
    left = list(answer)
    doubtful = 0
    for r in reference:
        verdicts = []
        for index, a in enumerate(left):
            verdict = compare(a, r).verdict
            if verdict is Equivalence.EQUAL:
                del left[index]
                break
            verdicts.append(verdict)
        else:
            if Equivalence.UNKNOWN not in verdicts:
                return different("a part of the reference is missing")
            doubtful += 1
    return unknown("parts not decided") if doubtful else equal("same parts")


def _distinct(items: Sequence[Value]) -> list[Value]:
    kept: list[Value] = []
    for item in items:
        if all(compare(item, other).verdict is not Equivalence.EQUAL for other in kept):
            kept.append(item)
    return kept


def _unordered(answer: Group, reference: Group) -> Decision:
    named = [_assigned(group) for group in (answer, reference)]
    if named[0] != named[1]:
        return _assignments(answer, reference)
    mine, theirs = answer.items, reference.items
    # In a list the reference's repetitions count (eigenvalues 1, 1, 2); the answer may repeat
    # itself only where the reference does not.
    wanted = _distinct(theirs)
    if len(wanted) == len(theirs) or "{}" in (answer.brackets, reference.brackets):
        return _match(_distinct(mine), wanted)
    return _match(mine, theirs)


def _assigned(group: Group) -> bool:
    """Whether the items are values of different variables, x = 5, y = 6."""
    names = [item.name for item in group.items if isinstance(item, Equation)]
    return len(names) == len(group.items) and len(set(names)) == len(names) > 1


def _by_name(group: Group) -> list[Value]:
    if not _assigned(group):
        return list(group.items)
    return sorted(group.items, key=lambda item: item.name if isinstance(item, Equation) else "")


def _assignments(answer: Group, reference: Group) -> Decision:
    """x = 5, y = 6 against (5, 6): in the order of the names."""
    if not {answer.brackets, reference.brackets} <= {"", "()", "{}"}:
        return different("an interval is no assignment")
    decision = _ordered(_by_name(answer), _by_name(reference))
    if decision.verdict is Equivalence.EQUAL and "{}" in (answer.brackets, reference.brackets):
        return unknown("values without their variables")
    if decision.verdict is Equivalence.DIFFERENT:
        swapped = _match(answer.items, reference.items)
        return (
            decision if swapped.verdict is Equivalence.DIFFERENT else unknown("order of variables")
        )
    return decision


def _list_or_tuple(answer: Group, reference: Group) -> Decision:
    """1, 2 or {1, 2} against (1, 2) or [1, 2]."""
    brackets = {answer.brackets, reference.brackets}
    if _assigned(answer) or _assigned(reference):
        return _assignments(answer, reference)
    decision = _ordered(answer.items, reference.items)
    if decision.verdict is Equivalence.EQUAL and brackets == {"", "()"}:
        return decision
    swapped = _match(answer.items, reference.items)
    if swapped.verdict is Equivalence.DIFFERENT:
        return swapped
    return unknown("same parts in other brackets")


def _unions(answer: Value, reference: Value) -> Decision:
    for side in (answer, reference):
        if isinstance(side, Group) and not side.brackets.strip("{}"):
            return different("a union of intervals is no list")
    parts = [v.parts if isinstance(v, Union) else (v,) for v in (answer, reference)]
    if not all(isinstance(part, Group) for part in (*parts[0], *parts[1])):
        return different("a union is no single value")
    decision = _match(parts[0], parts[1])
    if decision.verdict is Equivalence.DIFFERENT and not all(_separate(side) for side in parts):
        return unknown("parts that touch or overlap")
    return decision


def _separate(parts: Sequence[Value]) -> bool:
    """Whether the intervals lie apart, so that they can be written in one way only."""
    ends: list[tuple[Decimal, Decimal]] = []
    for part in parts:
        if not isinstance(part, Group) or not _is_interval(part):
            return False
        low, high = (_end(item) for item in part.items)
        if low is None or high is None or low >= high:
            return False
        ends.append((low, high))
    ends.sort()
    return all(first[1] < second[0] for first, second in pairwise(ends))


def _end(value: Value) -> Decimal | None:
    if isinstance(value, Infinite):
        return Decimal("Infinity") * value.sign
    return real_value(value.ratio) if isinstance(value, Scalar) else None


def _matrices(answer: Matrix, reference: Matrix) -> Decision:
    if len(answer.rows) != len(reference.rows):
        return different("a matrix of another shape")
    return _ordered_rows(answer, reference)


def _ordered_rows(answer: Matrix, reference: Matrix) -> Decision:
    decisions = [_ordered(a, r) for a, r in zip(answer.rows, reference.rows, strict=True)]
    return _all(decisions)


# Equations and conditions


def _equations(answer: Value, reference: Value) -> Decision:
    if not isinstance(answer, Equation):
        assert isinstance(reference, Equation)
        return compare(answer, reference.value)
    if not isinstance(reference, Equation):
        return compare(answer.value, reference)
    if answer.name == reference.name:
        return compare(answer.value, reference.value)
    if answer.condition and reference.condition:
        if variables(answer.condition.ratio) != variables(reference.condition.ratio):
            return different("an equation in another variable")
        return _conditions(answer.condition, reference.condition)
    return unknown("values of two names")


def _conditions(answer: Value, reference: Value) -> Decision:
    if isinstance(answer, Condition) and _solved(reference):
        # An equation that restates the problem is equivalent to its solution and is not one.
        return _unsolved(answer, reference)
    left = answer.condition if isinstance(answer, Equation) else answer
    right = reference.condition if isinstance(reference, Equation) else reference
    if not isinstance(left, Condition) or not isinstance(right, Condition):
        return unknown("a condition against a value")
    if left.operator != right.operator:
        return different("another relation")
    same = proportional(left, right, Algebra())
    if same:
        return equal("same relation")
    if same is False and is_linear(left) and is_linear(right):
        return different("another relation")
    return unknown("relations not decided")


def _solved(value: Value) -> bool:
    if isinstance(value, Equation):
        return not (isinstance(value.value, Scalar) and variables(value.value.ratio))
    return not isinstance(value, Condition)


def _unsolved(answer: Condition, reference: Value) -> Decision:
    """x^2 = 10 may answer "what is x^2": the side that is a constant counts, if it is equal."""
    if answer.operator == "=" and isinstance(reference, Scalar):
        # "P(x) = 0" says nothing about P(x), so against a formula only the right side counts
        sides = answer.sides[1:] if variables(reference.ratio) else answer.sides
        for side in sides:
            if compare(side, reference).verdict is not Equivalence.DIFFERENT:
                return unknown("value of an expression")
    return different("a condition that is not solved")


def guarded(answer: Value, reference: Value) -> Decision:
    """`compare`, with the work it may cost bounded."""
    try:
        return compare(answer, reference)
    except UnsupportedError as error:
        return unknown(str(error))
