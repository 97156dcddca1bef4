"""Completeness by a model: each aspect is a question of its own.

The aspects are those of the case, or what the model finds asked for. One counts as covered where
the words that cover it can be found in the output.
"""

from collections.abc import Mapping, Sequence

from rubrica.core import Case, CaseError, Signal, Trace, Usage
from rubrica.core.trace import as_text
from rubrica.judges.dimensions.completeness import NAME, told
from rubrica.judges.dimensions.coverage.aspects import listed_aspects
from rubrica.judges.dimensions.coverage.question import parts, question_of
from rubrica.judges.dimensions.finding import finding, inapplicable
from rubrica.judges.prompted.asker import Asker, Verdict, together
from rubrica.judges.prompted.openers import nothing_said
from rubrica.judges.prompted.several import after, each, listed, paid, sure_of
from rubrica.models.asking import FREE

#: Aspects that are taken from a question.
TAKEN = 12


class Completeness(Asker, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weighted share of the aspects of which something of substance is said."""

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions("aspect", "aspects")

    def most(self, case: Case) -> Usage:
        try:
            given = list(listed_aspects(case))
        except CaseError:
            return FREE  # nobody is asked about it
        if given:
            longest = max(len(text.encode()) for text, _ in given)
            return self.ceiling("aspect", case, len(given), own=400 + longest)
        most = self.ceiling("aspects", case, 1)
        return most + self.ceiling("aspect", case, TAKEN, own=1000)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        given = list(listed_aspects(case))
        cut = [] if given else [(part.text, 1.0) for part in parts(question_of(case.input))]
        if not sum(weight for _, weight in given or cut):
            return (inapplicable(NAME, "no expected.aspects, and no question to take them from"),)
        answer = trace.answer
        if (why := nothing_said(case, answer)) is not None:
            return (finding(NAME, 0.0, why, "high"),)
        spent = FREE
        if not given:
            given, spent = await self._aspects(case, cut[:TAKEN])
        own = {"question": as_text(case.input), "answer": answer}
        materials = each(self, own, "aspect", [text for text, _ in given])
        asks = together([self.decide("aspect", one, text=answer) for one in materials])
        return (self._signal(given, await after(spent, asks), answer, spent),)

    async def _aspects(
        self, case: Case, cut: list[tuple[str, float]]
    ) -> tuple[list[tuple[str, float]], Usage]:
        """What the question asks for; its parts by rule where the model sees nothing."""
        made, spent = await listed(self, "aspects", self.material(case, ""), "aspects", (), TAKEN)
        named = dict.fromkeys(text.strip() for text in made)
        return [(text, 1.0) for text in named if text] or cut, spent

    def _signal(
        self,
        given: Sequence[tuple[str, float]],
        verdicts: Sequence[Verdict],
        answer: str,
        spent: Usage,
    ) -> Signal:
        covered = [one.choice == "yes" and one.evidence is not None for one in verdicts]
        value, reason = told(given, covered)
        unfound = sum(one.choice == "yes" and one.evidence is None for one in verdicts)
        if unfound:
            reason += f"; {unfound} count as not covered: what the model quotes is not there"
        if len(answer) > self.max_chars:
            reason += f"; {len(answer) - self.max_chars} characters of the output were not shown"
        pairs = zip(verdicts, covered, strict=True)
        evidence = [one.evidence for one, is_covered in pairs if is_covered and one.evidence]
        signal = finding(NAME, value, reason, sure_of(verdicts, unfound), evidence)
        return paid(signal, verdicts, spent)
