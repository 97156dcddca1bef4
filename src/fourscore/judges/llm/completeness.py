"""Completeness by a model: one question for each aspect.

The aspects are those of the case, or those that its question lists. If there are none, the
brief form asks one question about the whole; in the full form the model lists the aspects first.
"""

from collections.abc import Mapping, Sequence

from fourscore.core import Case, CaseError, Signal, Trace, Usage
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.completeness import NAME, read_aspects
from fourscore.judges.dimensions.factual_accuracy import quote_claim
from fourscore.judges.dimensions.signals import make_signal, not_applicable
from fourscore.judges.llm.item_questions import (
    add_spent,
    ask_list,
    fence_each,
    gather_asks,
    rate_confidence,
    set_usage,
)
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import ModelVerdict
from fourscore.models.messages import NO_USAGE

#: Maximum number of aspects that the model may list, and of aspects that a reason names.
TAKEN, _NAMED = 12, 8
#: An aspect's text and weight.
Aspect = tuple[str, float]
#: The single aspect if none is known: all of the question.
WHOLE: Aspect = ("all that the question asks for", 1.0)


class Completeness(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean probability that the output covers an aspect, weighted by the aspects' weights.

    Without log-probabilities an aspect counts 1 or 0.
    """

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions("aspect", "whole" if self.form == "brief" else "aspects")

    def most(self, case: Case) -> Usage:
        try:
            given = list(read_aspects(case))
        except CaseError:
            return NO_USAGE  # the case is invalid: no model is asked
        if given:
            longest = max(len(text.encode()) for text, _ in given)
            return self.ceiling("aspect", case, len(given), other_bytes=400 + longest)
        if self.form == "brief":
            return self.ceiling("whole", case, 1)
        most = self.ceiling("aspects", case, 1)
        return most + self.ceiling("aspect", case, TAKEN, other_bytes=1000)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        given = list(read_aspects(case))
        if given and not sum(weight for _, weight in given):
            return (not_applicable(NAME, "no aspect in expected.aspects has any weight"),)
        if not given and not as_text(case.input).strip():
            return (not_applicable(NAME, "no expected.aspects, and no question to take them from"),)
        answer = trace.answer
        if (why := self.explain_empty(case, answer)) is not None:
            return (make_signal(NAME, 0.0, why, "high"),)
        spent = NO_USAGE
        if not given and self.form == "full":
            given, spent = await self._list_aspects(case)
        if not given:
            fenced = self.fence_case(case, answer)
            return (self._signal([WHOLE], [await self.decide("whole", fenced)], answer, spent),)
        own = {"question": as_text(case.input), "answer": answer}
        questions = fence_each(self, own, "aspect", [text for text, _ in given])
        asks = gather_asks([self.decide("aspect", one, text=answer) for one in questions])
        return (self._signal(given, await add_spent(spent, asks), answer, spent),)

    async def _list_aspects(self, case: Case) -> tuple[list[Aspect], Usage]:
        """Return the aspects that the model lists; the question itself if it lists none."""
        fenced = self.fence_case(case, "")
        texts, spent = await ask_list(
            self, "aspects", fenced, "aspects", item_fields=(), most=TAKEN
        )
        named = [text for text in dict.fromkeys(one.strip() for one in texts) if text]
        return [(text, 1.0) for text in named or [as_text(case.input)]], spent

    def _signal(
        self,
        given: Sequence[Aspect],
        verdicts: Sequence[ModelVerdict],
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
        missing_quotations = sum(one.is_quotation_missing for one in covering)
        if missing_quotations:
            reason += f"; {missing_quotations} of the model's quotations are not in the output"
        if len(answer) > self.max_chars:
            reason += f"; {len(answer) - self.max_chars} characters of the output were not shown"
        evidence = [one.evidence for one in covering if one.evidence is not None]
        signal = make_signal(
            NAME, value, reason, rate_confidence(verdicts, missing_quotations), evidence
        )
        return set_usage(signal, verdicts, spent)
