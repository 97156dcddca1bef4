"""Compare two parsed values: equal, different, or unknown.

EQUAL needs a proof (a normal form that cancels) or the stated tolerance for decimals. DIFFERENT
needs a refutation: another type, another length, a different numeric value. Everything else is
UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from fourscore.judges.math.algebra import Algebra, find_variables
from fourscore.judges.math.compare_scalars import (
    compare_numerals,
    compare_scalars,
    compare_words,
    decide_same,
)
from fourscore.judges.math.comparison_result import Decision, Equivalence, different, equal, unknown
from fourscore.judges.math.limits import UnsupportedError
from fourscore.judges.math.numeric import real_value
from fourscore.judges.math.relations import are_proportional, is_linear
from fourscore.judges.math.values import (
    Condition,
    Contradiction,
    Equation,
    Group,
    Infinity,
    Matrix,
    Scalar,
    Union,
    Value,
    Words,
)

_REALS: tuple[Value, ...] = (Infinity(-1), Infinity(1))
_SETS_IN_WORDS: dict[str, tuple[Value, ...]] = {
    "no solution": (), "no solutions": (), "no real solution": (), "no real solutions": (),
    "empty set": (), "all real numbers": _REALS, "all reals": _REALS,
}  # fmt: skip


def compare(answer: Value, reference: Value) -> Decision:
    """Compare the value of an answer with that of the reference."""
    if isinstance(answer, Contradiction):
        return different("the answer contradicts itself")
    if isinstance(reference, Contradiction):
        return unknown("the reference contradicts itself")
    if isinstance(answer, Condition) or isinstance(reference, Condition):
        return _compare_conditions(answer, reference)
    if isinstance(answer, Equation) or isinstance(reference, Equation):
        return _compare_equations(answer, reference)
    if isinstance(answer, Union) or isinstance(reference, Union):
        return _compare_unions(answer, reference)
    if isinstance(answer, Group) or isinstance(reference, Group):
        return _compare_groups(answer, reference)
    if isinstance(answer, Scalar) and isinstance(reference, Scalar):
        return compare_scalars(answer, reference)
    if isinstance(answer, Words) or isinstance(reference, Words):
        return compare_words(answer, reference)
    if isinstance(answer, Matrix) and isinstance(reference, Matrix):
        return _compare_matrices(answer, reference)
    if isinstance(answer, Infinity) and isinstance(reference, Infinity):
        return decide_same(answer.sign == reference.sign, "infinite")
    return compare_numerals(answer, reference)


# Lists, sets, tuples, intervals, matrices


def _compare_groups(answer: Value, reference: Value) -> Decision:
    if not isinstance(answer, Group) or not isinstance(reference, Group):
        return _compare_group_with_value(answer, reference)
    if answer.variable or reference.variable:
        if not _is_interval(answer) or not _is_interval(reference):
            return different("an inequality is no list")
        if answer.variable and reference.variable and answer.variable != reference.variable:
            return different("an inequality in another variable")
    bracketed = bool(answer.brackets.strip("{}")) + bool(reference.brackets.strip("{}"))
    if bracketed == 2:
        if len(reference.items) == 2 and answer.brackets != reference.brackets:
            return different("other end points included")
        return _compare_ordered(answer.items, reference.items)
    if bracketed == 0:
        return _compare_unordered(answer, reference)
    return _compare_list_with_tuple(answer, reference)


def _is_interval(group: Group) -> bool:
    return bool(group.brackets.strip("{}")) and len(group.items) == 2


def _compare_group_with_value(answer: Value, reference: Value) -> Decision:
    """Compare a group with one value: equal only if the group is a set or list of that value."""
    group, other, turned = answer, reference, False
    if not isinstance(group, Group):
        group, other, turned = reference, answer, True
    assert isinstance(group, Group)
    if isinstance(other, Words) and other.text in _SETS_IN_WORDS:
        return _compare_ordered(group.items, _SETS_IN_WORDS[other.text])
    if isinstance(other, Matrix) and group.brackets == "()":
        return _compare_vector(other, group)
    if isinstance(other, Matrix) and all(isinstance(item, Group) for item in group.items):
        return unknown("matrix or list of lists")
    if group.brackets.strip("{}") or not group.items:
        return different("a tuple or interval is no single value")
    if turned and len(group.items) > 1:
        return different("one value where several are asked for")
    decisions = [compare(other, i) if turned else compare(i, other) for i in group.items]
    return _combine(decisions)


def _compare_vector(matrix: Matrix, group: Group) -> Decision:
    """Compare a row or column with a tuple: the same entries are not yet the same object."""
    cells = [cell for row in matrix.rows for cell in row]
    if min(len(matrix.rows), len(matrix.rows[0])) > 1:
        return different("a matrix is no tuple")
    decision = _compare_ordered(cells, group.items)
    return decision if decision.verdict is Equivalence.DIFFERENT else unknown("vector or tuple")


def _combine(decisions: Sequence[Decision]) -> Decision:
    """Return different if any part is, equal if all are, else unknown."""
    doubt: Decision | None = None
    for decision in decisions:
        if decision.verdict is Equivalence.DIFFERENT:
            return decision
        if decision.verdict is Equivalence.UNKNOWN:
            doubt = decision
    return doubt or equal("all parts equal")


def _compare_ordered(answer: Sequence[Value], reference: Sequence[Value]) -> Decision:
    if len(answer) != len(reference):
        return different("another number of parts")
    decisions: list[Decision] = []
    for a, r in zip(answer, reference, strict=True):
        decisions.append(compare(a, r))
        if decisions[-1].verdict is Equivalence.DIFFERENT:
            break
    return _combine(decisions)


def _match_unordered(answer: Sequence[Value], reference: Sequence[Value]) -> Decision:
    """Match each value of one side with a value of the other, none used twice."""
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


def _drop_duplicates(items: Sequence[Value]) -> list[Value]:
    kept: list[Value] = []
    for item in items:
        if all(compare(item, other).verdict is not Equivalence.EQUAL for other in kept):
            kept.append(item)
    return kept


def _compare_unordered(answer: Group, reference: Group) -> Decision:
    named = [_is_assignment(group) for group in (answer, reference)]
    if named[0] != named[1]:
        return _compare_assignments(answer, reference)
    mine, theirs = answer.items, reference.items
    # In a list the reference's repetitions count (eigenvalues 1, 1, 2); the answer may repeat
    # itself only where the reference does not.
    wanted = _drop_duplicates(theirs)
    if len(wanted) == len(theirs) or "{}" in (answer.brackets, reference.brackets):
        return _match_unordered(_drop_duplicates(mine), wanted)
    return _match_unordered(mine, theirs)


def _is_assignment(group: Group) -> bool:
    """Whether the items are values of different variables, x = 5, y = 6."""
    names = [item.name for item in group.items if isinstance(item, Equation)]
    return len(names) == len(group.items) and len(set(names)) == len(names) > 1


def _sort_by_name(group: Group) -> list[Value]:
    if not _is_assignment(group):
        return list(group.items)
    return sorted(group.items, key=lambda item: item.name if isinstance(item, Equation) else "")


def _compare_assignments(answer: Group, reference: Group) -> Decision:
    """Compare x = 5, y = 6 with (5, 6), in the order of the names."""
    if not {answer.brackets, reference.brackets} <= {"", "()", "{}"}:
        return different("an interval is no assignment")
    decision = _compare_ordered(_sort_by_name(answer), _sort_by_name(reference))
    if decision.verdict is Equivalence.EQUAL and "{}" in (answer.brackets, reference.brackets):
        return unknown("values without their variables")
    if decision.verdict is Equivalence.DIFFERENT:
        swapped = _match_unordered(answer.items, reference.items)
        return (
            decision if swapped.verdict is Equivalence.DIFFERENT else unknown("order of variables")
        )
    return decision


def _compare_list_with_tuple(answer: Group, reference: Group) -> Decision:
    """Compare 1, 2 or {1, 2} with (1, 2) or [1, 2]."""
    brackets = {answer.brackets, reference.brackets}
    if _is_assignment(answer) or _is_assignment(reference):
        return _compare_assignments(answer, reference)
    decision = _compare_ordered(answer.items, reference.items)
    if decision.verdict is Equivalence.EQUAL and brackets == {"", "()"}:
        return decision
    swapped = _match_unordered(answer.items, reference.items)
    if swapped.verdict is Equivalence.DIFFERENT:
        return swapped
    return unknown("same parts in other brackets")


def _compare_unions(answer: Value, reference: Value) -> Decision:
    for side in (answer, reference):
        if isinstance(side, Group) and not side.brackets.strip("{}"):
            return different("a union of intervals is no list")
    parts = [v.parts if isinstance(v, Union) else (v,) for v in (answer, reference)]
    if not all(isinstance(part, Group) for part in (*parts[0], *parts[1])):
        return different("a union is no single value")
    decision = _match_unordered(parts[0], parts[1])
    if decision.verdict is Equivalence.DIFFERENT and not all(_are_separate(side) for side in parts):
        return unknown("parts that touch or overlap")
    return decision


def _are_separate(parts: Sequence[Value]) -> bool:
    """Whether the intervals do not touch, so that there is only one way to write their union."""
    ends: list[tuple[Decimal, Decimal]] = []
    for part in parts:
        if not isinstance(part, Group) or not _is_interval(part):
            return False
        low, high = (_find_end(item) for item in part.items)
        if low is None or high is None or low >= high:
            return False
        ends.append((low, high))
    ends.sort()
    return all(first[1] < second[0] for first, second in pairwise(ends))


def _find_end(value: Value) -> Decimal | None:
    if isinstance(value, Infinity):
        return Decimal("Infinity") * value.sign
    return real_value(value.ratio) if isinstance(value, Scalar) else None


def _compare_matrices(answer: Matrix, reference: Matrix) -> Decision:
    if len(answer.rows) != len(reference.rows):
        return different("a matrix of another shape")
    return _compare_rows(answer, reference)


def _compare_rows(answer: Matrix, reference: Matrix) -> Decision:
    decisions = [_compare_ordered(a, r) for a, r in zip(answer.rows, reference.rows, strict=True)]
    return _combine(decisions)


# Equations and conditions


def _compare_equations(answer: Value, reference: Value) -> Decision:
    if not isinstance(answer, Equation):
        assert isinstance(reference, Equation)
        return compare(answer, reference.value)
    if not isinstance(reference, Equation):
        return compare(answer.value, reference)
    if answer.name == reference.name:
        return compare(answer.value, reference.value)
    if answer.condition and reference.condition:
        if find_variables(answer.condition.ratio) != find_variables(reference.condition.ratio):
            return different("an equation in another variable")
        return _compare_conditions(answer.condition, reference.condition)
    return unknown("values of two names")


def _compare_conditions(answer: Value, reference: Value) -> Decision:
    if isinstance(answer, Condition) and _is_solved(reference):
        # An equation that restates the problem is equivalent to its solution and is not one.
        return _compare_unsolved(answer, reference)
    left = answer.condition if isinstance(answer, Equation) else answer
    right = reference.condition if isinstance(reference, Equation) else reference
    if not isinstance(left, Condition) or not isinstance(right, Condition):
        return unknown("a condition against a value")
    if left.operator != right.operator:
        return different("another relation")
    same = are_proportional(left, right, Algebra())
    if same:
        return equal("same relation")
    if same is False and is_linear(left) and is_linear(right):
        return different("another relation")
    return unknown("relations not decided")


def _is_solved(value: Value) -> bool:
    if isinstance(value, Equation):
        return not (isinstance(value.value, Scalar) and find_variables(value.value.ratio))
    return not isinstance(value, Condition)


def _compare_unsolved(answer: Condition, reference: Value) -> Decision:
    """Compare x^2 = 10, which may answer "what is x^2", by its constant side."""
    if answer.operator == "=" and isinstance(reference, Scalar):
        # "P(x) = 0" says nothing about P(x), so against a formula only the right side counts
        sides = answer.sides[1:] if find_variables(reference.ratio) else answer.sides
        for side in sides:
            if compare(side, reference).verdict is not Equivalence.DIFFERENT:
                return unknown("value of an expression")
    return different("a condition that is not solved")


def compare_bounded(answer: Value, reference: Value) -> Decision:
    """Return `compare`, or unknown if the comparison exceeds the limits on work."""
    try:
        return compare(answer, reference)
    except UnsupportedError as error:
        return unknown(str(error))
