"""Factual accuracy by a model: each claim that is expected is a question of its own.

The claims are those of the case; or what the model takes out of the reference answer; or, where the
case has only sources, what the output states, checked against them. A verdict stands on words that
are there: one whose quotation cannot be found counts as absent.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rubrica.core import Case, CaseError, Evidence, Signal, Trace, Usage
from rubrica.core.numbers import finite
from rubrica.core.trace import as_text
from rubrica.judges.answer import Think, without_thinking
from rubrica.judges.citing.sources import Source
from rubrica.judges.dimensions.expected import expected_of
from rubrica.judges.dimensions.factual import NAME, Fact, facts_of, short, told, value_of
from rubrica.judges.dimensions.finding import LONGEST, finding, inapplicable, quote
from rubrica.judges.prompted.asker import Asker, Verdict, together
from rubrica.judges.prompted.form import YES_NO
from rubrica.judges.prompted.openers import nothing_said
from rubrica.judges.prompted.quoting import located
from rubrica.judges.prompted.several import after, each, listed, paid, sure_of
from rubrica.judges.prompted.sourced import grounded, texts_of
from rubrica.judges.text.looks import Outcome
from rubrica.judges.text.passages import blanked
from rubrica.judges.text.sentences import Sentence, sentences
from rubrica.models.asking import FREE

#: From the worst to the best.
CHOICES = ("contradicted", "absent", "supported")
#: Claims that a model takes out of a text.
TAKEN = 20


class Found(NamedTuple):
    """A claim, what became of it, and where."""

    fact: Fact
    kind: Outcome
    verdict: Verdict
    evidence: tuple[Evidence, ...]

    @property
    def unfound(self) -> bool:
        """Whether the model said more than it could quote."""
        return self.kind == "absent" and self.verdict.choice not in ("absent", "no")


class Taken(NamedTuple):
    """A claim that a model took out of a text, and its place there."""

    fact: Fact
    place: Evidence | None = None


class FactualAccuracy(Asker, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weight of the claims that the output supports, less a part of what it contradicts."""

    contradiction_cost: float = 0.5
    think: Think = "drop"

    def __post_init__(self) -> None:
        super().__post_init__()
        finite("contradiction_cost", self.contradiction_cost, low=0, high=1)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions("claim", "short_answer", "claims", "statements", "grounding")

    def most(self, case: Case) -> Usage:
        try:
            facts = facts_of(case)
        except CaseError:
            return FREE  # nobody is asked about it
        if not facts:
            most = self.ceiling("statements", case, 1)
            return most + self.ceiling("grounding", case, TAKEN, own=1000)
        if not _is_prose(case, facts):
            longest = max(len(fact.text.encode()) for fact in facts)
            return self.ceiling("claim", case, len(facts), own=400 + longest)
        most = self.ceiling("claims", case, 1)
        return most + self.ceiling("claim", case, max(TAKEN, len(facts)), own=1000)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        facts = facts_of(case)
        shown = [] if facts else texts_of(case, trace)
        if not facts and not shown:
            return (inapplicable(NAME, "the case expects neither claims nor an answer"),)
        answer = trace.answer
        said = without_thinking(answer) if self.think == "drop" else answer
        if (why := nothing_said(case, said)) is not None:
            return (finding(NAME, 0.0, why, "high"),)
        text = blanked(answer) if self.think == "drop" else answer
        if shown:
            return (await self._against(case, said, text, shown),)
        spent = FREE
        if _is_prose(case, facts):
            facts, spent = await self._claims(case, facts)
        found = await after(spent, self._found(case, said, text, facts))
        return (self._signal(found, spent, said),)

    async def _claims(self, case: Case, facts: Sequence[Fact]) -> tuple[Sequence[Fact], Usage]:
        """What the reference answer claims; its sentences where the model sees nothing."""
        material = self.material(case, "", text=as_text(expected_of(case).answer))
        made, spent = await listed(self, "claims", material, "claims", ("text",), TAKEN)
        taken = [Fact(one["text"], float(one["importance"])) for one in made if one["text"].strip()]
        return taken or facts, spent

    async def _found(self, case: Case, said: str, text: str, facts: Sequence[Fact]) -> list[Found]:
        own = {"question": as_text(case.input), "answer": said}
        plain = [fact for fact in facts if not fact.short]
        brief = [fact for fact in facts if fact.short]
        claims = each(self, own, "claim", [fact.text for fact in plain])
        results = each(self, own, "expected", [fact.text for fact in brief])
        asks = [self.decide("claim", one, CHOICES, text=text) for one in claims]
        asks += [self.decide("short_answer", one, YES_NO, text=text) for one in results]
        verdicts = await together(asks)
        pairs = zip(plain + brief, verdicts, strict=True)
        return [_weighed(fact, verdict, text) for fact, verdict in pairs]

    async def _against(self, case: Case, said: str, text: str, shown: list[Source]) -> Signal:
        """What the output states, held against sources."""
        taken, spent = await self._statements(case, said, text)
        asks = together([grounded(self, case, one.fact.text, shown, CHOICES) for one in taken])
        verdicts: list[Verdict] = await after(spent, asks)
        found = []
        for one, verdict in zip(taken, verdicts, strict=True):
            weighed = _weighed(one.fact, verdict, "")
            places = (*((one.place,) if one.place else ()), *weighed.evidence)
            found.append(weighed._replace(evidence=places))
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
            if one["text"].strip() and (place := located(one["quote"], text)) is not None
        ]
        if not taken:
            whole = [Taken(Fact(one.text, 1.0), _place(one, text)) for one in sentences(text)]
            taken = whole or [Taken(Fact(said[:LONGEST], 1.0))]
        # The same again is no claim of its own: a truth told twenty times would hide a lie.
        once = {" ".join(one.fact.text.casefold().split()): one for one in reversed(taken)}
        return list(reversed(once.values()))[:TAKEN], spent

    def _signal(self, found: Sequence[Found], spent: Usage, said: str, sources: int = 0) -> Signal:
        value = value_of([(one.fact.weight, one.kind) for one in found], self.contradiction_cost)
        lacking = "not in the sources" if sources else "not stated"
        reason = told([(one.fact.text, one.kind, _by(one)) for one in found], lacking)
        if sources:
            known = "1 source" if sources == 1 else f"{sources} sources"
            reason.append(f"what the output states was checked against {known}")
        unfound = sum(one.unfound for one in found)
        if unfound:
            reason.append(f"{unfound} verdicts count as absent: what they quote is not there")
        if len(said) > self.max_chars:
            reason.append(f"{len(said) - self.max_chars} characters of the output were not shown")
        verdicts = [one.verdict for one in found]
        evidence = [
            piece
            for kind in ("contradicted", "supported", "absent")
            for one in found
            if one.kind == kind
            for piece in one.evidence
        ]
        sure = sure_of(verdicts, unfound)
        signal = finding(NAME, value, "; ".join(reason), sure, list(dict.fromkeys(evidence)))
        return paid(signal, verdicts, spent)


def _is_prose(case: Case, facts: Sequence[Fact]) -> bool:
    """Whether the facts are sentences of a reference answer, which a model reads better."""
    expected = expected_of(case)
    prose = not expected.claims and isinstance(expected.answer, str)
    return prose and not any(fact.short for fact in facts)


def _weighed(fact: Fact, verdict: Verdict, text: str) -> Found:
    place = verdict.evidence
    if place is None and fact.short:
        place = _sign(verdict.said, text)
    kind: Outcome = "absent"
    if place is not None and verdict.choice in ("yes", "supported"):
        kind = "supported"
    elif place is not None and verdict.choice == "contradicted":
        kind = "contradicted"
    return Found(fact, kind, verdict, () if place is None or kind == "absent" else (place,))


def _sign(words: str, text: str) -> Evidence | None:
    """An answer may be one digit or letter, which is too little to be looked for elsewhere."""
    sign = words.strip(" .\"'*")
    if len(sign) != 1:
        return None
    alone = list(re.finditer(rf"(?<!\w){re.escape(sign)}(?!\w)", text))
    return quote(text, alone[-1].start(), alone[-1].end()) if alone else None


def _place(one: Sentence, text: str) -> Evidence:
    return quote(text, one.start, one.end)


def _by(one: Found) -> str:
    return f" by {short(one.evidence[-1].text)}" if one.evidence else ""
