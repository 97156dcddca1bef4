"""Factual accuracy by a model: each claim that is expected is a question of its own.

The claims are those of the case, or the sentences of the reference answer; or, where the case has
only sources, what the output states, checked against them. In the full form the model takes the
claims apart itself and quotes; a quotation that cannot be found makes its verdict less certain.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from fourscore.core import Case, CaseError, Evidence, Signal, Trace, Usage
from fourscore.core.numbers import check_finite
from fourscore.core.trace import as_text
from fourscore.judges.answer_extraction import Think, blank_thinking, remove_thinking
from fourscore.judges.dimensions.case_fields import find_question, read_expected
from fourscore.judges.dimensions.factual_accuracy import (
    NAME,
    Fact,
    judge_facts,
    quote_claim,
    read_facts,
)
from fourscore.judges.dimensions.signals import (
    MAX_QUOTE,
    make_signal,
    not_applicable,
    quote,
)
from fourscore.judges.llm.grounding import check_claim, texts_of
from fourscore.judges.llm.item_questions import after, each, listed, paid, rate_confidence
from fourscore.judges.llm.model_judge import ModelJudge, Verdict, together
from fourscore.judges.llm.openers import explain_empty
from fourscore.judges.llm.quotations import find_quotation
from fourscore.judges.llm.verdicts import YES_NO
from fourscore.judges.reader import support
from fourscore.judges.reader.support import judge_claims
from fourscore.judges.reader.text import MAX_READ, read_text
from fourscore.judges.reader.weights import shipped_weights
from fourscore.models.messages import FREE

Outcome = Literal["supported", "contradicted", "absent"]
#: From the worst to the best.
CHOICES = ("contradicted", "absent", "supported")
#: Claims that are taken out of a text, and claims that a reason names.
TAKEN, _NAMED = 20, 3
#: Between wordings of an answer, any of which will do.
_OR = {"en": "or", "zh": "或"}


class Found(NamedTuple):
    """A claim, what the model decided about it, and where."""

    fact: Fact
    verdict: Verdict
    evidence: tuple[Evidence, ...]

    @property
    def kind(self) -> Outcome:
        choice = self.verdict.choice
        if choice in ("yes", "supported"):
            return "supported"
        return "contradicted" if choice == "contradicted" else "absent"

    @property
    def is_quotation_missing(self) -> bool:
        """Whether the model decided by words that are not there."""
        return self.kind != "absent" and self.verdict.is_quotation_missing

    @property
    def accuracy(self) -> float:
        """The probability that the claim is supported."""
        return self.verdict.get_probability("yes" if self.fact.short else "supported")


class Taken(NamedTuple):
    """A claim that was taken out of a text, and its place there."""

    fact: Fact
    place: Evidence | None = None


class FactualAccuracy(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weighted mean, over the claims, of the probability that the output supports them.

    Without log-probabilities a claim counts 1 or 0. `contradiction_cost` takes off that part of
    the weight of a contradicted claim; the full form alone tells these from claims not stated.
    `think`: whether thinking in the output counts as part of the answer.
    `escalate_below`: the rules judge first, and the model is asked only about claims of which they
    are less sure than this, a probability from .5 to 1.
    """

    contradiction_cost: float = 0.0
    think: Think = "drop"
    escalate_below: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_finite("contradiction_cost", self.contradiction_cost, low=0, high=1)
        if self.escalate_below is not None:
            check_finite("escalate_below", self.escalate_below, low=0.5, high=1)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        lists = () if self.form == "brief" else ("claims", "statements")
        return self.versions("claim", "short_answer", *lists, "grounding")

    def most(self, case: Case) -> Usage:
        try:
            facts = self._facts(case)
        except CaseError:
            return FREE  # nobody is asked about it
        takes = self.form == "full"
        if not facts:
            most = self.ceiling("statements", case, 1) if takes else FREE
            return most + self.ceiling("grounding", case, TAKEN, own=1000)
        if not (takes and _is_prose(case, facts)):
            longest = max(len(fact.text.encode()) for fact in facts)
            name = "short_answer" if facts[0].short else "claim"
            return self.ceiling(name, case, len(facts), own=400 + longest)
        most = self.ceiling("claims", case, 1)
        return most + self.ceiling("claim", case, max(TAKEN, len(facts)), own=1000)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        facts = self._facts(case)
        shown = [] if facts else texts_of(case, trace)
        if not facts and not shown:
            return (not_applicable(NAME, "the case expects neither claims nor an answer"),)
        answer = trace.answer
        said = remove_thinking(answer) if self.think == "drop" else answer
        if (why := explain_empty(case, said)) is not None:
            return (make_signal(NAME, 0.0, why, "high"),)
        text = blank_thinking(answer) if self.think == "drop" else answer
        if shown:
            return (await self._against(case, said, text, shown),)
        spent = FREE
        if self.escalate_below is not None:
            return (await self._escalated(case, said, text, facts),)
        if self.form == "full" and _is_prose(case, facts):
            facts, spent = await self._claims(case, facts)
        found = await after(spent, self._found(case, said, text, facts))
        return (self._signal(found, spent, said),)

    async def _escalated(self, case: Case, said: str, text: str, facts: Sequence[Fact]) -> Signal:
        """What the rules are sure of by the rules, the rest by the model."""
        read = read_text(text)
        rules = judge_facts(read_facts(case), read, find_question(case.input), shipped_weights())
        settled: dict[int, Found] = {}
        for place, (fact, one) in enumerate(zip(facts, rules, strict=True)):
            if max(one.support, 1 - one.support) >= (self.escalate_below or 0):
                settled[place] = _by_rules(fact, one, text)
        unsure = [place for place in range(len(facts)) if place not in settled]
        asked = await self._found(case, said, text, [facts[place] for place in unsure])
        left = {id(one.fact): one for one in asked}
        found = [settled.get(at) or left[id(fact)] for at, fact in enumerate(facts)]
        signal = self._signal(found, FREE, said)
        note = f"the model was asked about {len(unsure)} of {len(facts)} claims"
        return replace(signal, reason=f"{note}; {signal.reason}")

    def _facts(self, case: Case) -> Sequence[Fact]:
        """The case's facts. An answer in several wordings, and in the brief form one of a single
        sentence, is asked about as an answer: of `No, they do not.` nobody can tell without the
        question what it claims."""
        facts, expected = read_facts(case), read_expected(case)
        is_answer = not expected.claims and not isinstance(expected.answer, dict)
        alone = self.form == "brief" and is_answer and len(facts) == 1
        return [
            fact._replace(
                text=f" {_OR[self.language]} ".join((fact.text, *fact.others)), short=True
            )
            if alone or fact.others
            else fact
            for fact in facts
        ]

    async def _claims(self, case: Case, facts: Sequence[Fact]) -> tuple[Sequence[Fact], Usage]:
        """What the reference answer claims; its sentences where the model sees nothing."""
        material = self.material(case, "", text=as_text(read_expected(case).answer))
        made, spent = await listed(self, "claims", material, "claims", ("text",), TAKEN)
        taken = [Fact(one["text"], float(one["importance"])) for one in made if one["text"].strip()]
        return taken or facts, spent

    async def _found(self, case: Case, said: str, text: str, facts: Sequence[Fact]) -> list[Found]:
        question, brief = as_text(case.input), self.form == "brief"
        claims = [fact for fact in facts if not fact.short]
        answers = [fact for fact in facts if fact.short]
        own = {"question": question, "text" if brief else "answer": said}
        asks = [
            self.decide("claim", one, CHOICES, text=text)
            for one in each(self, own, "claim", [fact.text for fact in claims])
        ]
        own = {"question": question, "given" if brief else "answer": said}
        name = "correct" if brief else "expected"
        asks += [
            self.decide("short_answer", one, YES_NO, text=text)
            for one in each(self, own, name, [fact.text for fact in answers])
        ]
        verdicts = await together(asks)
        pairs = zip(claims + answers, verdicts, strict=True)
        return [Found(fact, one, (one.evidence,) if one.evidence else ()) for fact, one in pairs]

    async def _against(self, case: Case, said: str, text: str, shown: list[Any]) -> Signal:
        """What the output states, checked against sources."""
        spent, taken = FREE, take_sentences(text)
        if self.form == "full":
            taken, spent = await self._statements(case, said, text)
        asks = together([check_claim(self, case, one.fact.text, shown, CHOICES) for one in taken])
        verdicts: list[Verdict] = await after(spent, asks)
        found = []
        for one, verdict in zip(taken, verdicts, strict=True):
            place = verdict.evidence
            if place is None and not verdict.quoted and verdict.choice == "supported":
                place = _find_in_sources(one.fact.text, shown)
            places = [piece for piece in (one.place, place) if piece is not None]
            found.append(Found(one.fact, verdict, tuple(places)))
        return self._signal(found, spent, said, len(shown))

    async def _statements(self, case: Case, said: str, text: str) -> tuple[list[Taken], Usage]:
        """What the output states: only what can be found there; its sentences where that is none.

        An output that talks the model into other claims, or into none, gains nothing by it.
        """
        material = self.material(case, said)
        fields = ("quote", "text")
        made, spent = await listed(self, "statements", material, "claims", fields, TAKEN)
        taken = [
            Taken(Fact(one["text"], float(one["importance"])), place)
            for one in made
            if one["text"].strip() and (place := find_quotation(one["quote"], text)) is not None
        ]
        return (_distinct(taken) if taken else take_sentences(text)), spent

    def _signal(self, found: Sequence[Found], spent: Usage, said: str, sources: int = 0) -> Signal:
        reason = _reason(found, "not in the sources" if sources else "not stated")
        if sources:
            known = "1 source" if sources == 1 else f"{sources} sources"
            reason.append(f"what the output states was checked against {known}")
        unfound = sum(one.is_quotation_missing for one in found)
        if unfound:
            reason.append(f"{unfound} of the model's quotations are not there")
        if len(said) > self.max_chars:
            reason.append(f"{len(said) - self.max_chars} characters of the output were not shown")
        verdicts = [one.verdict for one in found]
        evidence = [
            piece
            for kind in ("contradicted", "supported", "absent")
            for one in found
            if one.kind == kind and (kind != "absent" or sources)
            for piece in one.evidence
        ]
        sure = rate_confidence(verdicts, unfound)
        value = _value(found, self.contradiction_cost)
        signal = make_signal(NAME, value, "; ".join(reason), sure, list(dict.fromkeys(evidence)))
        return paid(signal, verdicts, spent)


def _by_rules(fact: Fact, verdict: support.ClaimVerdict, text: str) -> Found:
    """A verdict of the rules in the shape of a model's."""
    yes, no = ("yes", "no") if fact.short else ("supported", "absent")
    shares = {yes: verdict.support, no: 1 - verdict.support}
    place = quote(text, verdict.start, verdict.end)
    choice = yes if verdict.kind == "supported" else no
    made = Verdict(choice, "", place, shares, FREE, quoted=False)
    return Found(fact, made, (place,) if choice == yes else ())


def _find_in_sources(claim: str, sources: Sequence[Any]) -> Evidence | None:
    """The sentence that says most of the claim, in the source that says most of it."""
    found = [(read_text(source.text[:MAX_READ]), source) for source in sources]
    judged = [(judge_claims([claim], text)[0], source) for text, source in found]
    best, source = max(judged, key=lambda one: one[0].support)
    if best.start >= best.end:
        return None
    return quote(source.text, best.start, best.end, f"source {source.id}"[:MAX_QUOTE])


def take_sentences(text: str) -> list[Taken]:
    """All that a text states, in at most `TAKEN` statements of some sentences each: nothing that
    is stated late goes unchecked."""
    sentences = _distinct(
        [
            Taken(Fact(one.text, 1.0), quote(text, one.start, one.end))
            for one in read_text(text[:MAX_READ]).sentences
        ]
    )
    size = -(-len(sentences) // TAKEN)
    groups = [sentences[at : at + size] for at in range(0, len(sentences), size or 1)]
    taken = [
        Taken(Fact(" ".join(one.fact.text for one in group), float(len(group))), group[0].place)
        for group in groups
    ]
    return taken or [Taken(Fact(text.strip()[:MAX_QUOTE], 1.0))]


def _distinct(taken: Sequence[Taken]) -> list[Taken]:
    """Each statement once: a truth told twenty times would hide a lie."""
    first = {" ".join(one.fact.text.casefold().split()): one for one in reversed(taken)}
    return list(reversed(first.values()))


def _is_prose(case: Case, facts: Sequence[Fact]) -> bool:
    """Whether the facts are sentences of a reference answer, which a model reads better."""
    expected = read_expected(case)
    prose = not expected.claims and isinstance(expected.answer, str)
    return prose and bool(facts) and not any(fact.short for fact in facts)


def _value(found: Sequence[Found], cost: float) -> float:
    """The weighted mean of the claims' accuracy, less the cost of what is contradicted."""
    earned = sum(
        one.fact.weight * (one.accuracy - cost * (one.kind == "contradicted")) for one in found
    )
    return earned / sum(one.fact.weight for one in found)


def _reason(found: Sequence[Found], lacking: str) -> list[str]:
    kinds = [one.kind for one in found]
    parts = [f"{kinds.count('supported')} of {len(found)} claims are supported"]
    denied = [one for one in found if one.kind == "contradicted"]
    absent = [quote_claim(one.fact.text) for one in found if one.kind == "absent"]
    for one in denied[:_NAMED]:
        by = f" by {quote_claim(one.evidence[-1].text)}" if one.evidence else ""
        parts.append(f"{quote_claim(one.fact.text)} is contradicted{by}")
    if len(denied) > _NAMED:
        parts.append(f"{len(denied) - _NAMED} more are contradicted")
    if absent:
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        parts.append(f"{lacking}: {', '.join(absent[:_NAMED])}{more}")
    return parts
