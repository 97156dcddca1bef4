"""The fast path: decide by exact arithmetic whether an answer equals the reference.

`decide` has no side effects, bounded cost, and a result for every input.
"""

from __future__ import annotations

from itertools import product

from fourscore.judges.math.compare_values import compare_bounded
from fourscore.judges.math.comparison_result import Decision, Equivalence, different, equal, unknown
from fourscore.judges.math.limits import (
    MAX_ANSWER_CHARS,
    MAX_REFERENCE_CHARS,
    MAX_UNIT_WORDS,
    LimitError,
    MalformedError,
    ProseError,
    SizeError,
)
from fourscore.judges.math.parser import Reading, get_constant, parse_answer, parse_reference
from fourscore.judges.math.values import Words


def decide(answer: str, reference: str) -> Decision:
    """Whether the content of a box equals the reference; UNKNOWN where only Math-Verify can say."""
    answer, reference = answer.strip(), reference.strip()
    if not answer:
        return different("empty answer")
    if answer == reference:
        return equal("same text")
    if len(answer) > MAX_ANSWER_CHARS:
        return different(f"answer longer than {MAX_ANSWER_CHARS} characters")
    if len(reference) > MAX_REFERENCE_CHARS:
        return unknown(f"reference longer than {MAX_REFERENCE_CHARS} characters")
    try:
        return _compare_readings(parse_answer(answer), parse_reference(reference))
    except Exception as error:
        # A bug here may cost time (Math-Verify is asked), but never a wrong reward or a crash.
        return unknown(f"fast path failed: {type(error).__name__}")


def _compare_readings(answer: Reading, reference: Reading) -> Decision:
    if answer.tokens and answer.tokens == reference.tokens:
        return equal("same formula")
    if not answer.values:
        return _decide_unread(answer, reference)
    if not reference.values:
        return unknown(f"reference: {reference.problem}")
    last = unknown("nothing to compare")
    doubt: Decision | None = None
    for mine, theirs in product(answer.values, reference.values):
        last = compare_bounded(mine, theirs)
        if last.verdict is Equivalence.EQUAL:
            return last
        if last.verdict is Equivalence.UNKNOWN:
            doubt = last
    if doubt is None and reference.problem is not None:
        return unknown(f"reference: {reference.problem}")
    return doubt or last


def _decide_unread(answer: Reading, reference: Reading) -> Decision:
    """Decide on an answer that could not be parsed; text that cannot be a formula is different."""
    problem = answer.problem
    if not reference.values:
        return unknown(f"reference: {reference.problem}")
    if isinstance(problem, LimitError) and _is_immense(answer.tokens) and _is_small(reference):
        return different("far larger than the reference")
    if isinstance(problem, SizeError):
        # Larger than any final answer: passing it to Math-Verify would only move the cost.
        return different(f"answer: {problem}")
    if isinstance(problem, MalformedError):
        return different(f"not a formula: {problem}")
    formula = not any(isinstance(v, Words) for v in reference.values)
    words = sum(token.startswith('"') for token in answer.tokens)
    if formula and (isinstance(problem, ProseError) or words > MAX_UNIT_WORDS):
        return different("prose is no formula")
    return unknown(f"answer: {problem}")


def _is_immense(tokens: tuple[str, ...]) -> bool:
    """Whether a formula too large to compute is certainly huge: a tower such as 9^{9^9}, (10^6)!.

    Sums, products, powers and factorials of integers above 1 are at least as large as each of
    their parts, and one part exceeded the limits, which are above 2^9999.
    """
    return all(
        token in ("^", "{", "}", "(", ")", "!", "*", "+")
        or (token.isdigit() and (len(token) > 1 or token > "1") and token[0] != "0")
        for token in tokens
    )


def _is_small(reference: Reading) -> bool:
    values = [get_constant(value) for value in reference.values]
    return all(v is not None and v.numerator.bit_length() < 9_000 for v in values)
