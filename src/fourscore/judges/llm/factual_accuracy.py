"""Factual accuracy by a model: one question for each claim.

The claims are those that the case expects, or the sentences of its reference answer. If the case
has only sources, the statements of the output are checked against the sources. In the full form
the model itself splits a text into claims, and quotes; a quotation that is not in the text lowers
the confidence.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

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
from fourscore.judges.dimensions.sources import Source
from fourscore.judges.llm.grounding import check_claim, find_source_texts
from fourscore.judges.llm.item_questions import (
    add_spent,
    ask_list,
    fence_each,
    gather_asks,
    rate_confidence,
    set_usage,
)
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import YES_NO, ModelVerdict
from fourscore.judges.reader import support
from fourscore.judges.reader.support import judge_claims
from fourscore.judges.reader.text import MAX_READ, read_text
from fourscore.judges.reader.weights import shipped_weights
from fourscore.models.messages import NO_USAGE

Outcome = Literal["supported", "contradicted", "absent"]
#: The choices of a verdict on a claim, from the worst to the best.
CHOICES = ("contradicted", "absent", "supported")
#: Maximum number of claims taken from a text, and of claims of each kind that a reason names.
TAKEN, _NAMED = 20, 3
#: Joins alternative wordings of an expected answer.
_OR = {"en": "or", "zh": "或"}


class JudgedClaim(NamedTuple):
    """A claim (or expected answer), the model's verdict on it, and the evidence."""

    fact: Fact
    verdict: ModelVerdict
    evidence: tuple[Evidence, ...]

    @property
    def kind(self) -> Outcome:
        choice = self.verdict.choice
        if choice in ("yes", "supported"):
            return "supported"
        return "contradicted" if choice == "contradicted" else "absent"

    @property
    def is_quotation_missing(self) -> bool:
        """Whether the model's quotation for its verdict is not in the text."""
        return self.kind != "absent" and self.verdict.is_quotation_missing

    @property
    def accuracy(self) -> float:
        """The probability that the claim is supported."""
        return self.verdict.get_probability("yes" if self.fact.short else "supported")


class ExtractedClaim(NamedTuple):
    """A claim that was taken from a text, and its position there."""

    fact: Fact
    place: Evidence | None = None


class FactualAccuracy(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean probability that the output supports a claim, weighted by the claims' weights.

    Without log-probabilities a claim counts 1 or 0.
    `contradiction_cost`: part of a claim's weight that is subtracted if it is contradicted. Only
    the full form distinguishes contradicted claims from claims that are not stated.
    `think`: whether thinking in the output counts as part of the answer.
    `escalate_below`: the rules judge first, and the model is asked only about claims for which the
    rules' probability of their own verdict is below this, from .5 to 1.
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
        return self.read_versions("claim", "short_answer", *lists, "grounding")

    def most(self, case: Case) -> Usage:
        try:
            facts = self._read_claims(case)
        except CaseError:
            return NO_USAGE  # the case is invalid: no model is asked
        is_full = self.form == "full"
        if not facts:
            most = self.ceiling("statements", case, 1) if is_full else NO_USAGE
            return most + self.ceiling("grounding", case, TAKEN, other_bytes=1000)
        if not (is_full and _is_prose(case, facts)):
            longest = max(len(fact.text.encode()) for fact in facts)
            name = "short_answer" if facts[0].short else "claim"
            return self.ceiling(name, case, len(facts), other_bytes=400 + longest)
        most = self.ceiling("claims", case, 1)
        return most + self.ceiling("claim", case, max(TAKEN, len(facts)), other_bytes=1000)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        facts = self._read_claims(case)
        sources = [] if facts else find_source_texts(case, trace)
        if not facts and not sources:
            return (not_applicable(NAME, "the case expects neither claims nor an answer"),)
        answer = trace.answer
        output = remove_thinking(answer) if self.think == "drop" else answer
        if (why := self.explain_empty(case, output)) is not None:
            return (make_signal(NAME, 0.0, why, "high"),)
        text = blank_thinking(answer) if self.think == "drop" else answer
        if sources:
            return (await self._judge_by_sources(case, output, text, sources),)
        spent = NO_USAGE
        if self.escalate_below is not None:
            return (await self._judge_unsure(case, output, text, facts),)
        if self.form == "full" and _is_prose(case, facts):
            facts, spent = await self._ask_claims(case, facts)
        found = await add_spent(spent, self._judge_claims(case, output, text, facts))
        return (self._signal(found, spent, output),)

    async def _judge_unsure(
        self, case: Case, output: str, text: str, facts: Sequence[Fact]
    ) -> Signal:
        """Return the signal: claims are judged by rules where these are sure, else by the model."""
        read = read_text(text)
        rules = judge_facts(read_facts(case), read, find_question(case.input), shipped_weights())
        settled: dict[int, JudgedClaim] = {}
        for place, (fact, one) in enumerate(zip(facts, rules, strict=True)):
            if max(one.support, 1 - one.support) >= (self.escalate_below or 0):
                settled[place] = _use_rules(fact, one, text)
        unsure = [place for place in range(len(facts)) if place not in settled]
        asked = await self._judge_claims(case, output, text, [facts[place] for place in unsure])
        left = {id(one.fact): one for one in asked}
        found = [settled.get(at) or left[id(fact)] for at, fact in enumerate(facts)]
        signal = self._signal(found, NO_USAGE, output)
        note = f"the model was asked about {len(unsure)} of {len(facts)} claims"
        return replace(signal, reason=f"{note}; {signal.reason}")

    def _read_claims(self, case: Case) -> Sequence[Fact]:
        """Return the facts that the case expects, some of them marked as a short answer.

        An expected answer in several wordings, and in the brief form one of a single sentence, is
        compared as an answer to the question: alone, `No, they do not.` is no claim.
        """
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

    async def _ask_claims(self, case: Case, facts: Sequence[Fact]) -> tuple[Sequence[Fact], Usage]:
        """Return the reference answer's claims listed by the model; `facts` if it lists none."""
        fenced = self.fence_case(case, "", text=as_text(read_expected(case).answer))
        listed, spent = await ask_list(
            self, "claims", fenced, "claims", item_fields=("text",), most=TAKEN
        )
        claims = [
            Fact(one["text"], float(one["importance"])) for one in listed if one["text"].strip()
        ]
        return claims or facts, spent

    async def _judge_claims(
        self, case: Case, output: str, text: str, facts: Sequence[Fact]
    ) -> list[JudgedClaim]:
        """Return the model's verdict on each claim and short answer; evidence is from `text`."""
        question, brief = as_text(case.input), self.form == "brief"
        claims = [fact for fact in facts if not fact.short]
        answers = [fact for fact in facts if fact.short]
        own = {"question": question, "text" if brief else "answer": output}
        asks = [
            self.decide("claim", one, CHOICES, text=text)
            for one in fence_each(self, own, "claim", [fact.text for fact in claims])
        ]
        own = {"question": question, "given" if brief else "answer": output}
        name = "correct" if brief else "expected"
        asks += [
            self.decide("short_answer", one, YES_NO, text=text)
            for one in fence_each(self, own, name, [fact.text for fact in answers])
        ]
        verdicts = await gather_asks(asks)
        pairs = zip(claims + answers, verdicts, strict=True)
        return [
            JudgedClaim(fact, one, (one.evidence,) if one.evidence else ()) for fact, one in pairs
        ]

    async def _judge_by_sources(
        self, case: Case, output: str, text: str, sources: Sequence[Source]
    ) -> Signal:
        """Return the signal with the output's statements checked against the sources."""
        spent, claims = NO_USAGE, extract_claims(text)
        if self.form == "full":
            claims, spent = await self._ask_statements(case, output, text)
        asks = gather_asks(
            [check_claim(self, case, one.fact.text, sources, CHOICES) for one in claims]
        )
        verdicts: list[ModelVerdict] = await add_spent(spent, asks)
        found = []
        for one, verdict in zip(claims, verdicts, strict=True):
            place = verdict.evidence
            if place is None and not verdict.asked_to_quote and verdict.choice == "supported":
                place = _find_in_sources(one.fact.text, sources)
            places = [piece for piece in (one.place, place) if piece is not None]
            found.append(JudgedClaim(one.fact, verdict, tuple(places)))
        return self._signal(found, spent, output, len(sources))

    async def _ask_statements(
        self, case: Case, output: str, text: str
    ) -> tuple[list[ExtractedClaim], Usage]:
        """Return the output's statements by the model, or its sentences if none is in the output.

        So an output gains nothing by persuading the model to list other claims, or none.
        """
        fenced = self.fence_case(case, output)
        listed, spent = await ask_list(
            self, "statements", fenced, "claims", item_fields=("quote", "text"), most=TAKEN
        )
        claims = [
            ExtractedClaim(Fact(one["text"], float(one["importance"])), place)
            for one in listed
            if one["text"].strip()
            and (place := self.find_quotation(one["quote"], text)) is not None
        ]
        return (_drop_repeated(claims) if claims else extract_claims(text)), spent

    def _signal(
        self, found: Sequence[JudgedClaim], spent: Usage, output: str, sources: int = 0
    ) -> Signal:
        reason = _write_reason(found, "not in the sources" if sources else "not stated")
        if sources:
            known = "1 source" if sources == 1 else f"{sources} sources"
            reason.append(f"the output's statements were checked against {known}")
        missing = sum(one.is_quotation_missing for one in found)
        if missing:
            reason.append(f"{missing} of the model's quotations are not in the text")
        if len(output) > self.max_chars:
            reason.append(f"{len(output) - self.max_chars} characters of the output were not shown")
        verdicts = [one.verdict for one in found]
        evidence = [
            piece
            for kind in ("contradicted", "supported", "absent")
            for one in found
            if one.kind == kind and (kind != "absent" or sources)
            for piece in one.evidence
        ]
        sure = rate_confidence(verdicts, missing)
        value = _compute_value(found, self.contradiction_cost)
        signal = make_signal(NAME, value, "; ".join(reason), sure, list(dict.fromkeys(evidence)))
        return set_usage(signal, verdicts, spent)


def _use_rules(fact: Fact, verdict: support.ClaimVerdict, text: str) -> JudgedClaim:
    """Return the rules' verdict on a claim, in the form of a model's verdict."""
    yes, no = ("yes", "no") if fact.short else ("supported", "absent")
    probabilities = {yes: verdict.support, no: 1 - verdict.support}
    place = quote(text, verdict.start, verdict.end)
    choice = yes if verdict.kind == "supported" else no
    by_rules = ModelVerdict(
        choice=choice,
        evidence=place,
        probabilities=probabilities,
        usage=NO_USAGE,
        asked_to_quote=False,
    )
    return JudgedClaim(fact, by_rules, (place,) if choice == yes else ())


def _find_in_sources(claim: str, sources: Sequence[Source]) -> Evidence | None:
    """Return the sentence, of all sources, that best supports the claim."""
    found = [(read_text(source.text[:MAX_READ]), source) for source in sources]
    judged = [(judge_claims([claim], text)[0], source) for text, source in found]
    best, source = max(judged, key=lambda one: one[0].support)
    if best.start >= best.end:
        return None
    return quote(source.text, best.start, best.end, f"source {source.id}"[:MAX_QUOTE])


def extract_claims(text: str) -> list[ExtractedClaim]:
    """Return the sentences of a text as at most `TAKEN` claims, of several sentences if needed.

    Grouping them, and not dropping the last ones, leaves no statement unchecked.
    """
    sentences = _drop_repeated(
        [
            ExtractedClaim(Fact(one.text, 1.0), quote(text, one.start, one.end))
            for one in read_text(text[:MAX_READ]).sentences
        ]
    )
    size = -(-len(sentences) // TAKEN)
    groups = [sentences[at : at + size] for at in range(0, len(sentences), size or 1)]
    claims = [
        ExtractedClaim(
            Fact(" ".join(one.fact.text for one in group), float(len(group))), group[0].place
        )
        for group in groups
    ]
    return claims or [ExtractedClaim(Fact(text.strip()[:MAX_QUOTE], 1.0))]


def _drop_repeated(claims: Sequence[ExtractedClaim]) -> list[ExtractedClaim]:
    """Return the claims without repeats: a true one repeated 20 times would hide a false one."""
    first = {" ".join(one.fact.text.casefold().split()): one for one in reversed(claims)}
    return list(reversed(first.values()))


def _is_prose(case: Case, facts: Sequence[Fact]) -> bool:
    """Whether the facts are sentences of a reference answer; a model splits that text better."""
    expected = read_expected(case)
    prose = not expected.claims and isinstance(expected.answer, str)
    return prose and bool(facts) and not any(fact.short for fact in facts)


def _compute_value(found: Sequence[JudgedClaim], cost: float) -> float:
    """Return the weighted mean of the claims' accuracy, less the cost of contradicted claims."""
    earned = sum(
        one.fact.weight * (one.accuracy - cost * (one.kind == "contradicted")) for one in found
    )
    return earned / sum(one.fact.weight for one in found)


def _write_reason(found: Sequence[JudgedClaim], lacking: str) -> list[str]:
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
