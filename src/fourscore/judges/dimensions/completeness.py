"""Completeness: how many of the expected aspects does the output cover?

The aspects are `expected.aspects`, topics and statements alike, or the parts that the question
lists. Without either, completeness does not apply. How far an aspect is covered is the share of
its words that stand together in the output; words that other aspects have too count less.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from fourscore.core import Case, CaseError, Signal, Trace
from fourscore.judges.dimensions.case_fields import (
    cache_by_identity,
    find_question,
    list_parts,
    read_expected,
)
from fourscore.judges.dimensions.factual_accuracy import quote_claim
from fourscore.judges.dimensions.signals import Confidence, make_signal, not_applicable, quote
from fourscore.judges.empty_answers import explain_empty_answer
from fourscore.judges.reader.coverage import Coverage, cover_aspects
from fourscore.judges.reader.text import MAX_READ, Text, read_text

NAME = "completeness"
#: Most aspects that are judged, most that a reason names, and most characters of one.
_MAX_ASPECTS, _MAX_NAMED, _MAX_ASPECT = 60, 8, 400
#: The least share at which the reason counts an aspect as covered.
COVERED = 0.5

Aspect = tuple[str, float]


class Completeness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weighted mean of how much of each aspect is covered."""

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline", "thread"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        aspects = read_aspects(case)
        if not any(weight for _, weight in aspects):
            return (not_applicable(NAME, "no expected.aspects, and the question lists no parts"),)
        answer = trace.answer
        if (reason := explain_empty_answer(case, answer)) is not None:
            return (make_signal(NAME, 0.0, reason, "high"),)
        texts = [text for text, _ in aspects]
        found = self.find_coverages(texts, read_text(answer), find_question(case.input))
        return (write_signal(aspects, found, answer),)

    def find_coverages(self, aspects: Sequence[str], text: Text, question: str) -> list[Coverage]:
        """Return how much of each aspect the output covers, by shared words."""
        return cover_aspects(aspects, text, question)


@cache_by_identity
def read_aspects(case: Case) -> Sequence[Aspect]:
    """Read text and weight of the aspects that the case expects, or that its question lists."""
    given = [
        _read_aspect(case, place, item)
        for place, item in enumerate(read_expected(case).aspects[:_MAX_ASPECTS])
    ]
    return given or [(part, 1.0) for part in list_parts(find_question(case.input))[:_MAX_ASPECTS]]


def _read_aspect(case: Case, place: int, item: str | dict[str, Any]) -> Aspect:
    where = f"expected.aspects[{place}]"
    fields: dict[str, Any] = {"text": item} if isinstance(item, str) else item
    text, weight = fields.get("text", fields.get("name")), fields.get("weight", 1.0)
    if not isinstance(text, str) or not text.strip():
        raise CaseError(case.id, where, "expected text, or an object with text")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
        raise CaseError(case.id, where, f"weight: expected a number of at least 0, got {weight!r}")
    return text.strip()[:_MAX_ASPECT], float(weight)


def write_signal(aspects: Sequence[Aspect], found: Sequence[Coverage], answer: str) -> Signal:
    """Return the weighted mean of the coverages, a reason, and where each aspect is covered."""
    total = sum(weight for _, weight in aspects)
    pairs = list(zip(aspects, found, strict=True))
    value = sum(weight * one.share for (_, weight), one in pairs) / total
    missing = [text for (text, _), one in pairs if one.share < COVERED]
    reason = f"{len(pairs) - len(missing)} of {len(pairs)} aspects covered"
    if missing:
        more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
        named = ", ".join(map(quote_claim, missing[:_MAX_NAMED]))
        reason += f"; little or nothing on {named}{more}"
    if len(answer) > MAX_READ:
        reason += f"; only the first {MAX_READ:,} characters were read"
    spans = dict.fromkeys((one.start, one.end) for one in found if one.share >= COVERED)
    evidence = [quote(answer, start, end) for start, end in spans]
    return make_signal(NAME, value, reason, _find_confidence(found), evidence)


def _find_confidence(found: Sequence[Coverage]) -> Confidence:
    """Return "high" if nearly every aspect is covered completely or not at all."""
    plain = sum(one.share >= 0.9 or one.share <= 0.1 for one in found) / len(found)
    return "high" if plain > 0.9 else "medium" if plain >= 0.5 else "low"
