"""Factual accuracy: which of the facts that are expected does the output state, and which deny?

The facts are `expected.claims`, or the sentences of `expected.answer`. The value is the weight of
those supported, less half the weight of those contradicted, over all weight. A short answer such as
`42` or `Canberra` is one fact, read together with the question.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from rubrica.core import Case, CaseError, Evidence, Signal, Trace
from rubrica.core.numbers import finite
from rubrica.core.trace import as_text
from rubrica.judges.answer import Think
from rubrica.judges.dimensions.expected import expected_of
from rubrica.judges.dimensions.finding import READ, Sure, finding, inapplicable, quote
from rubrica.judges.dimensions.known import known
from rubrica.judges.text.looks import Outcome
from rubrica.judges.text.passages import passages_of
from rubrica.judges.text.question import answers, question_of
from rubrica.judges.text.sentences import Sentence, sentences
from rubrica.judges.text.short import is_short, short_verdict
from rubrica.judges.text.support import Verdict, verdicts
from rubrica.judges.text.wanted import wanted

NAME = "factual_accuracy"
#: Claims that are judged, and claims that a reason tells of.
_MOST, _TOLD = 100, 3
#: Characters of one claim that are read: every word of it is held against every sentence.
_LONGEST = 2000


class FactualAccuracy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weight of the claims that the output supports, less a part of what it contradicts."""

    contradiction_cost: float = 0.5
    think: Think = "drop"

    def __post_init__(self) -> None:
        finite("contradiction_cost", self.contradiction_cost, low=0, high=1)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        facts = facts_of(case)
        if not facts:
            return (inapplicable(NAME, "the case expects neither claims nor an answer"),)
        text = trace.answer
        if not text.strip():
            return (finding(NAME, 0.0, "the output is empty", "high"),)
        question = question_of(case.input)
        passages = answers(passages_of(text[:READ], self.think), question, text[:READ])
        found = _verdicts(facts, passages, question)
        return (_signal(found, text, self.contradiction_cost),)


class Fact(NamedTuple):
    """Something that a good answer states."""

    text: str
    weight: float
    short: bool = False


@known
def facts_of(case: Case) -> Sequence[Fact]:
    """The claims of a case, or else the sentences of its answer."""
    expected = expected_of(case)
    if not expected.claims:
        return _answer_facts(expected.answer)
    if not any(claim.weight for claim in expected.claims[:_MOST]):
        raise CaseError(case.id, "expected.claims", "no claim has any weight")
    return [Fact(claim.text, claim.weight) for claim in expected.claims[:_MOST]]


def _answer_facts(answer: Any) -> list[Fact]:
    if answer is None or answer == "":
        return []
    if isinstance(answer, list):
        return [fact for one in answer[:_MOST] for fact in _answer_facts(one)]
    if isinstance(answer, dict):
        return [Fact(f"{key}: {as_text(value)}", 1.0) for key, value in answer.items()][:_MOST]
    text = as_text(answer)
    # The form of many sets of sums: the way to it, a mark, the result.
    text = text.rpartition("####")[2].strip()
    # Two sides and which way round they stand are a sentence, however few its words.
    if is_short(text) and wanted(text, "").sides is None:
        return [Fact(text, 1.0, short=True)]
    return [Fact(one.text, 1.0) for one in sentences(text)[:_MOST]]


def _verdicts(
    facts: Sequence[Fact], passages: Sequence[Sentence], question: str
) -> list[tuple[Fact, Verdict]]:
    claims = [fact.text[:_LONGEST] for fact in facts if not fact.short]
    long = verdicts(claims, passages, question)
    left = iter(long)
    return [
        (fact, short_verdict(fact.text, passages, question) if fact.short else next(left))
        for fact in facts
    ]


def _signal(found: Sequence[tuple[Fact, Verdict]], text: str, cost: float) -> Signal:
    value = value_of([(fact.weight, one.kind) for fact, one in found], cost)
    said = told(
        [
            (fact.text, one.kind, _by(one, text) if one.kind == "contradicted" else "")
            for fact, one in found
        ]
    )
    if len(text) > READ:
        said.append(f"only the first {READ} characters were read")
    if max([len(fact.text) for fact, _ in found]) > _LONGEST:
        said.append(f"only the first {_LONGEST} characters of a claim were read")
    return finding(NAME, value, "; ".join(said), _sure(found), _evidence(found, text))


def _by(one: Verdict, text: str) -> str:
    return f" ({one.note}) by {short(text[one.start : one.end])}"


def value_of(found: Sequence[tuple[float, Outcome]], cost: float) -> float:
    """The weight supported, less the cost of what is contradicted, over all weight."""
    total = earned = 0.0
    for weight, kind in found:
        total += weight
        if kind != "absent":
            earned += weight if kind == "supported" else -cost * weight
    return earned / total


def told(found: Sequence[tuple[str, Outcome, str]], lacking: str = "not stated") -> list[str]:
    """The parts of a reason: of each claim its text, what became of it, and by what."""
    kinds = [kind for _, kind, _ in found]
    said = [f"{kinds.count('supported')} of {len(found)} claims are supported"]
    denied = [(text, by) for text, kind, by in found if kind == "contradicted"]
    absent = [text for text, kind, _ in found if kind == "absent"]
    said += [f"{short(text)} is contradicted{by}" for text, by in denied[:_TOLD]]
    if len(denied) > _TOLD:
        said.append(f"{len(denied) - _TOLD} more are contradicted")
    if absent:
        more = f" and {len(absent) - _TOLD} more" if len(absent) > _TOLD else ""
        said.append(f"{lacking}: {', '.join(map(short, absent[:_TOLD]))}{more}")
    return said


def short(text: str) -> str:
    """A piece of text, fit for a reason."""
    cut = " ".join(text[:400].split())
    return f"'{cut}'" if len(cut) <= 100 else f"'{cut[:97]}...'"


def _sure(found: Sequence[tuple[Fact, Verdict]]) -> Sure:
    """As sure as the verdicts are; what was not found may have been said in other words."""
    total = low = high = 0.0
    for fact, one in found:
        total += fact.weight
        if one.kind == "absent":
            continue
        if one.sure == "low":
            low += fact.weight
        elif one.sure == "high":
            high += fact.weight
    if low > 0.3 * total:
        return "low"
    return "high" if high >= 0.7 * total else "medium"


def _evidence(found: Sequence[tuple[Fact, Verdict]], text: str) -> list[Evidence]:
    """The sentences that contradict, then those that support, each once."""
    denied = [(one.start, one.end) for _, one in found if one.kind == "contradicted"]
    spans = denied + [(one.start, one.end) for _, one in found if one.kind == "supported"]
    return [quote(text, start, end) for start, end in dict.fromkeys(spans)]
