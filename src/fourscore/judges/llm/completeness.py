"""Completeness by a model: each aspect is a question of its own.

The aspects are those that the case gives or the question plainly lists. Where there are none, the
brief form asks one question about the whole, and in the full form the model lists them first.
"""

from collections.abc import Mapping, Sequence

from fourscore.core import Case, CaseError, Signal, Trace, Usage
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.completeness import NAME, read_aspects
from fourscore.judges.dimensions.factual_accuracy import quote_claim
from fourscore.judges.dimensions.signals import make_signal, not_applicable
from fourscore.judges.llm.item_questions import after, each, listed, paid, rate_confidence
from fourscore.judges.llm.model_judge import ModelJudge, Verdict, together
from fourscore.judges.llm.openers import explain_empty
from fourscore.models.messages import FREE

#: Aspects that are taken from a question, and aspects that a reason names.
TAKEN, _NAMED = 12, 8
#: An aspect's text and weight.
Aspect = tuple[str, float]
#: What is asked about where no aspect is known: all of the question.
WHOLE: Aspect = ("all that the question asks for", 1.0)


class Completeness(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weighted mean, over the aspects, of the probability that the output covers them.

    Without log-probabilities an aspect counts 1 or 0.
    """

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions("aspect", "whole" if self.form == "brief" else "aspects")

    def most(self, case: Case) -> Usage:
        try:
            given = list(read_aspects(case))
        except CaseError:
            return FREE  # nobody is asked about it
        if given:
            longest = max(len(text.encode()) for text, _ in given)
            return self.ceiling("aspect", case, len(given), own=400 + longest)
        if self.form == "brief":
            return self.ceiling("whole", case, 1)
        most = self.ceiling("aspects", case, 1)
        return most + self.ceiling("aspect", case, TAKEN, own=1000)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        given = list(read_aspects(case))
        if given and not sum(weight for _, weight in given):
            return (not_applicable(NAME, "no aspect in expected.aspects has any weight"),)
        if not given and not as_text(case.input).strip():
            return (not_applicable(NAME, "no expected.aspects, and no question to take them from"),)
        answer = trace.answer
        if (why := explain_empty(case, answer)) is not None:
            return (make_signal(NAME, 0.0, why, "high"),)
        spent = FREE
        if not given and self.form == "full":
            given, spent = await self._list_aspects(case)
        if not given:
            material = self.material(case, answer)
            return (self._signal([WHOLE], [await self.decide("whole", material)], answer, spent),)
        own = {"question": as_text(case.input), "answer": answer}
        materials = each(self, own, "aspect", [text for text, _ in given])
        asks = together([self.decide("aspect", one, text=answer) for one in materials])
        return (self._signal(given, await after(spent, asks), answer, spent),)

    async def _list_aspects(self, case: Case) -> tuple[list[Aspect], Usage]:
        """What the question asks for; the question itself where the model sees nothing in it."""
        made, spent = await listed(self, "aspects", self.material(case, ""), "aspects", (), TAKEN)
        named = [text for text in dict.fromkeys(one.strip() for one in made) if text]
        return [(text, 1.0) for text in named or [as_text(case.input)]], spent

    def _signal(
        self,
        given: Sequence[Aspect],
        verdicts: Sequence[Verdict],
        answer: str,
        spent: Usage,
    ) -> Signal:
        pairs = list(zip(given, verdicts, strict=True))
        earned = sum(weight * one.get_probability("yes") for (_, weight), one in pairs)
        value = earned / sum(weight for _, weight in given)
        missing = [quote_claim(text) for (text, _), one in pairs if one.choice != "yes"]
        reason = f"{len(pairs) - len(missing)} of {len(pairs)} aspects covered"
        if missing:
            more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
            reason += f"; nothing of substance on {', '.join(missing[:_NAMED])}{more}"
        covering = [one for one in verdicts if one.choice == "yes"]
        unfound = sum(one.is_quotation_missing for one in covering)
        if unfound:
            reason += f"; {unfound} of the model's quotations are not there"
        if len(answer) > self.max_chars:
            reason += f"; {len(answer) - self.max_chars} characters of the output were not shown"
        evidence = [one.evidence for one in covering if one.evidence is not None]
        signal = make_signal(NAME, value, reason, rate_confidence(verdicts, unfound), evidence)
        return paid(signal, verdicts, spent)
