"""The loop: propose, try, revise, choose; again while it helps and the budget lasts."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from fourscore.core import Usage
from fourscore.formats.labelled_samples import SampleFile
from fourscore.labels.learning.checker import SINGLE, Checker
from fourscore.labels.learning.choose_criteria import (
    WEAK,
    Candidate,
    Choice,
    choose_criteria,
    correlate_criterion,
)
from fourscore.labels.learning.cost_plan import BudgetCheck, Plan
from fourscore.labels.learning.data_split import Parts, Unit, list_answers, take_probe
from fourscore.labels.learning.journal import Journal, make_key
from fourscore.labels.learning.proposer import Proposer, Shown
from fourscore.labels.learning.settings import Learning
from fourscore.models.messages import ModelError

#: Samples on which a criterion and the grader disagree that are shown with it.
DISAGREEMENTS = 4


class Found(NamedTuple):
    """What the loop ended with, and why it ended."""

    choice: Choice
    rejected: tuple[str, ...]
    rounds: int
    stopped: str


class Loop:
    """One learning run up to the choice of criteria; labels held out are not touched."""

    def __init__(
        self,
        samples: SampleFile,
        settings: Learning,
        parts: Parts,
        journal: Journal,
        checker: Checker,
        tell: Callable[[str], None],
    ) -> None:
        self.samples, self.settings, self.parts = samples, settings, parts
        self.journal, self.checker, self.tell = journal, checker, tell
        self.proposer = Proposer(**settings.options())
        self.grouped = settings.mode == "listwise"
        self.probe = list_answers(samples, take_probe(samples, parts.check))
        self.check = list_answers(samples, parts.check)
        self.selection = list_answers(samples, parts.selection)
        self.pool: dict[str, Candidate] = {}
        self.rejected: dict[str, None] = {}
        self.verdicts: dict[str, dict[Unit, int]] = {}

    async def run(self, plan: Plan, allowance: BudgetCheck) -> Found:
        settings = self.settings
        choice, stale, done = self._choose(), 0, 0
        stopped = f"{settings.rounds} rounds are done"
        for number in range(1, settings.rounds + 1):
            most = min(settings.max_rubrics, len(choice.chosen) + settings.proposals)
            needed = plan.round_calls + plan.report_calls(most)
            # A round that was begun before has had its calls set aside for it then.
            if not (self._begun(number) or allowance.covers(needed)):
                stopped = "the budget does not cover another round and the report"
                break
            before = choice.agreement
            fresh = await self._round(number)
            choice, done = self._choose(), number
            self._told(number, fresh, choice)
            if len(choice.chosen) >= settings.max_rubrics:
                stopped = f"{settings.max_rubrics} criteria are found"
                break
            stale = 0 if choice.agreement >= before + settings.min_gain else stale + 1
            if stale >= settings.patience:
                stopped = f"{stale} rounds brought no gain"
                break
        left = [text for text in self.pool if text not in {one.text for one in choice.chosen}]
        return Found(choice, (*self.rejected, *left), done, stopped)

    async def _round(self, number: int) -> int:
        """One round; how many criteria were new."""
        known, most = self._known, self.settings.proposals
        shown = [Shown(self.samples.read(at), self._bounds) for at in self._batch(number)]
        ask = partial(self.proposer.propose, shown, known, most)
        texts = await self._once(self._proposal(number), ask)
        fresh = [text for text in texts or () if not self._seen(text)]
        passed = await self._tried(fresh, self.probe)
        for text in fresh:
            if text not in passed:
                passed += await self._revised(text)
        rest = [unit for unit in [*self.check, *self.selection] if unit not in set(self.probe)]
        table = await self.checker.verdicts(passed, rest)
        for text in passed:
            self.verdicts[text] |= table[text]
            found = correlate_criterion(text, self.verdicts, self.check, self.grouped)
            self.pool[text] = Candidate(text, "yes" if found > 0 else "no")
        return len(fresh)

    @property
    def _known(self) -> list[str]:
        """Criteria that need not be proposed again: the latest, as many as fit a prompt."""
        return [*self.pool, *self.rejected][-24:]

    def _proposal(self, number: int) -> tuple[Any, ...]:
        names = [self.samples.entries[at].digest for at in self._batch(number)]
        return ("propose", number, names, self._known, self.settings.proposals)

    def _begun(self, number: int) -> bool:
        return make_key(*self._proposal(number)) in self.journal

    async def _tried(self, texts: Sequence[str], units: Sequence[Unit]) -> list[str]:
        """Those that go with the labels, one way or the other, on answers not shown with them."""
        table = await self.checker.verdicts(texts, self.probe)
        passed = []
        for text in texts:
            self.verdicts[text] = table[text]
            found = correlate_criterion(text, self.verdicts, units, self.grouped)
            if abs(found) >= WEAK:
                passed.append(text)
            else:
                self.rejected[text] = None
            self.journal.decide("tried", {"criterion": text, "correlation": round(found, 4)})
        return passed

    async def _revised(self, text: str) -> list[str]:
        """What becomes of a criterion that failed, shown where it disagrees with the grader."""
        for _ in range(self.settings.revisions):
            odd = self._disagreements(text)
            if not odd:
                return []
            shown = [self._with_verdicts(text, at) for at in odd]
            names = [self.samples.entries[at].digest for at in odd]
            ask = partial(self.proposer.revise, text, shown)
            better = await self._once(("revise", text, names), ask)
            if not better or self._seen(better):
                return []
            passed = await self._tried([better], [u for u in self.probe if u.sample not in odd])
            if passed:
                return passed
            text = better
        return []

    def _disagreements(self, text: str) -> list[int]:
        """Samples where a criterion is most at odds with the labels: met by poor answers, not by
        good ones."""
        odd: dict[int, float] = {}
        verdicts = self.verdicts[text]
        for unit in self.probe:
            if unit in verdicts:
                wrong = abs(Candidate(text).met(verdicts[unit]) - unit.y)
                odd[unit.sample] = max(odd.get(unit.sample, 0.0), wrong)
        worst = sorted(odd, key=lambda at: (-odd[at], at))
        # At most half of the probe: the rest has to show whether the new one is better.
        return worst[: min(DISAGREEMENTS, len(odd) // 2)]

    def _with_verdicts(self, text: str, at: int) -> Shown:
        units = [unit for unit in self.probe if unit.sample == at]
        given = tuple(self.verdicts[text].get(unit, -1) for unit in units)
        return Shown(self.samples.read(at), self._bounds, given)

    def _batch(self, number: int) -> list[int]:
        """Samples to propose from: spread over the labels, others each round."""
        settings, source = self.settings, self.parts.source
        size = settings.batch if not self.grouped else max(1, settings.batch // 3)
        chance = Random(f"{settings.seed}/{number}")  # noqa: S311 - which samples is no secret
        if self.grouped:
            return sorted(chance.sample(source, min(size, len(source))))
        ordered = sorted(source, key=lambda at: (self.samples.entries[at].labels, at))
        size = min(size, len(ordered))
        edges = [round(i * len(ordered) / size) for i in range(size + 1)]
        return [chance.choice(ordered[a:b]) for a, b in pairwise(edges)]

    def _seen(self, text: str) -> bool:
        known = {one.casefold() for one in self.verdicts}
        return text.casefold() in known

    def _choose(self) -> Choice:
        return choose_criteria(
            list(self.pool.values()),
            self.verdicts,
            self.check,
            self.selection,
            most=self.settings.max_rubrics,
            min_gain=self.settings.min_gain,
            grouped=self.grouped,
        )

    async def _once(
        self, what: tuple[Any, ...], ask: Callable[[], Awaitable[tuple[Any, Usage]]]
    ) -> Any:
        """The model's answer, from the journal where it stands there; None where it had none."""
        key = make_key(*what)
        if key not in self.journal:
            try:
                value, usage = await ask()
            except ModelError as error:
                self.journal.paid(what[0], error.usage or Usage(calls=1))
                if error.kind not in SINGLE:
                    raise
                return None
            self.journal.put(key, what[0], value, usage)
        return self.journal.get(key)

    def _told(self, number: int, fresh: int, choice: Choice) -> None:
        kept = [one.text for one in choice.chosen]
        told = {"round": number, "kept": kept, "agreement": round(choice.agreement, 4)}
        self.journal.decide("round", {**told, "n": choice.n})
        self.tell(
            f"round {number}: {fresh} proposed, {len(self.pool)} hold up, {len(kept)} kept, "
            f"agreement {choice.agreement:.2f} (n={choice.n})"
        )

    @property
    def _bounds(self) -> tuple[float, float] | None:
        return None if self.grouped else self.settings.bounds
