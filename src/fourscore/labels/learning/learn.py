"""Learn a rubric from labelled samples: propose criteria, try them, revise them, choose, test.

    async with ModelPool(budget=Budget(calls=3000)):
        document = await learn(samples, LearningSettings(model="openai:gpt-4o-mini"))

The result is the document of a rubric file; its section `learned` says what was learned and how.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from msgspec.structs import replace

from fourscore.core import DataError, Usage
from fourscore.formats.labelled_samples import SampleFile
from fourscore.labels.learning.checker import SINGLE, Checker
from fourscore.labels.learning.choose_criteria import (
    WEAK,
    Candidate,
    ChosenCriteria,
    choose_criteria,
    correlate_criterion,
    keep_candidates,
)
from fourscore.labels.learning.cost_plan import BudgetCheck, CostPlan, plan_cost
from fourscore.labels.learning.data_split import (
    FEWEST,
    DataSplit,
    LabelledAnswer,
    list_answers,
    split_samples,
    take_probe,
)
from fourscore.labels.learning.held_out_report import join_criteria, report_rankings, report_scores
from fourscore.labels.learning.journal import Journal, make_key
from fourscore.labels.learning.learned_rubric import (
    LEARNED,
    LearningResult,
    Themes,
    is_measured,
    make_learned_document,
    sort_by_weight,
)
from fourscore.labels.learning.proposer import GradedSample, Proposer
from fourscore.labels.learning.settings import LearningSettings
from fourscore.models.messages import ModelError
from fourscore.models.model_pool import current_pool

__all__ = ["LEARNED", "learn"]
#: The journal's key for the document of a finished run.
DONE = "done"
#: Samples on which a criterion and the grader disagree that are shown to revise it.
DISAGREEMENTS = 4
#: Criteria that are named to the model as known already.
MAX_KNOWN = 24


async def learn(
    samples: SampleFile,
    settings: LearningSettings,
    journal: Journal | None = None,
    *,
    log: Callable[[str], None] = lambda _: None,
    on_verdict: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Learn a rubric and return its document; `log` gets a line per round.

    A failing model, or a budget that ends during the report, raises, and so does a run in which
    nothing was measured; a run with the same journal continues where this one stopped. A run that
    has made its report is finished: more rounds after it would choose by the labels that were held
    out.
    """
    book = journal or Journal(None, settings.fingerprint(samples.digest))
    if DONE in book and is_measured(done := book.get(DONE)):
        return dict(done)
    run = LearningRun(samples, settings, book, log=log, on_verdict=on_verdict)
    document = await run.learn()
    book.put(DONE, "done", document, Usage())
    return document


class LearningRun:
    """One learning run. Held-out labels are used only for the report, after all choices."""

    def __init__(
        self,
        samples: SampleFile,
        settings: LearningSettings,
        journal: Journal,
        *,
        log: Callable[[str], None],
        on_verdict: Callable[[], None],
    ) -> None:
        self.samples, self.settings, self.journal, self.log = samples, settings, journal, log
        self.split: DataSplit = split_samples(samples, settings.seed)
        self.checker = Checker(samples, settings, journal, on_verdict=on_verdict)
        self.proposer = Proposer(**settings.options())
        self.grouped = settings.mode == "listwise"
        self.probe = list_answers(samples, take_probe(samples, self.split.check))
        self.check = list_answers(samples, self.split.check)
        self.selection = list_answers(samples, self.split.selection)
        self.candidates: dict[str, Candidate] = {}
        self.rejected: dict[str, None] = {}
        self.verdicts: dict[str, dict[LabelledAnswer, int]] = {}

    async def learn(self) -> dict[str, Any]:
        """Run the rounds, test the chosen criteria on held-out labels, and return the document."""
        count = len(self.samples)
        if count < FEWEST and not self.settings.without_proof:
            why = f"{count} samples are too few to show anything: at least {FEWEST} are needed"
            raise DataError(why, file=str(self.samples.path))
        plan = plan_cost(self.samples, self.split, self.settings)
        price = current_pool().find_price(self.settings.pool_model.name)
        result = await self.run_rounds(plan, BudgetCheck(current_pool().budget, plan, price))
        if not result.rounds:
            needed = plan.round_calls + plan.count_report_calls(1)
            message = f"{result.stopped}: it takes about {needed} calls"
            raise ModelError("budget", message, usage=Usage())
        if not result.verdicts:
            message = "it gave no verdict on any criterion, so nothing was measured"
            raise ModelError("malformed", message, usage=Usage())
        if not result.choice.chosen and self.settings.without_proof:
            result = replace(result, choice=self._keep_candidates())
        if not result.choice.chosen:
            why = "no criterion raised agreement with the labels"
            return self._make_document(result, {"why": why})
        figures = await self._report(result.choice)
        if not (figures["learned"]["n"] and figures["plain"]["n"]):
            message = "it gave no verdict on any held-out answer, so nothing was measured"
            raise ModelError("malformed", message, usage=Usage())
        if not figures["learned_something"]:
            if not self.settings.without_proof:
                return self._make_document(result, figures)
            figures["why"] = f"kept without proof: {figures['why']}"
        themes = await self._sort_into_themes(result.choice)
        return self._make_document(result, figures, result.choice, themes)

    async def run_rounds(self, plan: CostPlan, budget: BudgetCheck) -> LearningResult:
        """Run rounds until criteria, patience, rounds or budget are used up."""
        settings = self.settings
        choice, stale, done = self._choose(), 0, 0
        stopped = f"{settings.rounds} rounds are done"
        for number in range(1, settings.rounds + 1):
            most = min(settings.max_rubrics, len(choice.chosen) + settings.proposals)
            needed = plan.round_calls + plan.count_report_calls(most)
            # A round that an earlier run began has had its calls set aside then.
            if not (self._was_begun(number) or budget.covers(needed)):
                stopped = "the budget does not cover another round and the report"
                break
            before = choice.agreement
            fresh = await self._run_round(number)
            choice, done = self._choose(), number
            self._log_round(number, fresh, choice)
            if len(choice.chosen) >= settings.max_rubrics:
                stopped = f"{settings.max_rubrics} criteria are found"
                break
            stale = 0 if choice.agreement >= before + settings.min_gain else stale + 1
            if stale >= settings.patience:
                stopped = f"{stale} rounds brought no gain"
                break
        kept = {one.text for one in choice.chosen}
        left = [text for text in self.candidates if text not in kept]
        rejected = (*self.rejected, *left)
        return LearningResult(
            choice=choice,
            rejected=rejected,
            rounds=done,
            stopped=stopped,
            verdicts=sum(map(len, self.verdicts.values())),
        )

    async def _run_round(self, number: int) -> int:
        """Propose criteria, try them, revise failed ones; return how many were new."""
        most = self.settings.proposals
        shown = [GradedSample(self.samples.read(at), self._bounds) for at in self._batch(number)]
        ask = partial(self.proposer.propose, shown, self._known, most)
        texts = await self._ask_once(self._proposal_key(number), ask)
        fresh = [text for text in texts or () if not self._is_known(text)]
        passed = await self._try_criteria(fresh, self.probe)
        for text in fresh:
            if text not in passed:
                passed += await self._revise(text)
        probed = set(self.probe)
        rest = [answer for answer in [*self.check, *self.selection] if answer not in probed]
        table = await self.checker.check_criteria(passed, rest)
        for text in passed:
            self.verdicts[text] |= table[text]
            found = correlate_criterion(text, self.verdicts, self.check, self.grouped)
            self.candidates[text] = Candidate(text, "yes" if found > 0 else "no")
        return len(fresh)

    @property
    def _known(self) -> list[str]:
        """The latest criteria that need not be proposed again."""
        return [*self.candidates, *self.rejected][-MAX_KNOWN:]

    def _proposal_key(self, number: int) -> tuple[Any, ...]:
        names = [self.samples.entries[at].digest for at in self._batch(number)]
        return ("propose", number, names, self._known, self.settings.proposals)

    def _was_begun(self, number: int) -> bool:
        return make_key(*self._proposal_key(number)) in self.journal

    async def _try_criteria(
        self, texts: Sequence[str], answers: Sequence[LabelledAnswer]
    ) -> list[str]:
        """Return the criteria that correlate with the labels, either way; reject the others."""
        table = await self.checker.check_criteria(texts, self.probe)
        passed = []
        for text in texts:
            self.verdicts[text] = table[text]
            found = correlate_criterion(text, self.verdicts, answers, self.grouped)
            if abs(found) >= WEAK:
                passed.append(text)
            else:
                self.rejected[text] = None
            self.journal.note("tried", {"criterion": text, "correlation": round(found, 4)})
        return passed

    async def _revise(self, text: str) -> list[str]:
        """Ask for a better criterion than one that failed, with samples on which it disagrees."""
        for _ in range(self.settings.revisions):
            odd = self._find_disagreements(text)
            if not odd:
                return []
            shown = [self._show_verdicts(text, at) for at in odd]
            names = [self.samples.entries[at].digest for at in odd]
            ask = partial(self.proposer.revise, text, shown)
            better = await self._ask_once(("revise", text, names), ask)
            if not better or self._is_known(better):
                return []
            others = [answer for answer in self.probe if answer.sample not in odd]
            passed = await self._try_criteria([better], others)
            if passed:
                return passed
            text = better
        return []

    def _find_disagreements(self, text: str) -> list[int]:
        """Return the samples where the criterion disagrees most with the labels."""
        odd: dict[int, float] = {}
        verdicts = self.verdicts[text]
        for answer in self.probe:
            if answer in verdicts:
                wrong = abs(Candidate(text).measure_met(verdicts[answer]) - answer.label)
                odd[answer.sample] = max(odd.get(answer.sample, 0.0), wrong)
        worst = sorted(odd, key=lambda at: (-odd[at], at))
        # At most half of the probe: the rest has to show whether the new criterion is better.
        return worst[: min(DISAGREEMENTS, len(odd) // 2)]

    def _show_verdicts(self, text: str, at: int) -> GradedSample:
        answers = [answer for answer in self.probe if answer.sample == at]
        given = tuple(self.verdicts[text].get(answer, -1) for answer in answers)
        return GradedSample(self.samples.read(at), self._bounds, given)

    def _batch(self, number: int) -> list[int]:
        """Return the samples to propose from: spread over the labels, others in each round."""
        settings, source = self.settings, self.split.source
        size = settings.batch if not self.grouped else max(1, settings.batch // 3)
        chance = Random(f"{settings.seed}/{number}")  # noqa: S311 - which samples is no secret
        if self.grouped:
            return sorted(chance.sample(source, min(size, len(source))))
        ordered = sorted(source, key=lambda at: (self.samples.entries[at].labels, at))
        size = min(size, len(ordered))
        edges = [round(i * len(ordered) / size) for i in range(size + 1)]
        return [chance.choice(ordered[a:b]) for a, b in pairwise(edges)]

    def _is_known(self, text: str) -> bool:
        known = {one.casefold() for one in self.verdicts}
        return text.casefold() in known

    def _choose(self) -> ChosenCriteria:
        return choose_criteria(
            list(self.candidates.values()),
            self.verdicts,
            self.check,
            self.selection,
            most=self.settings.max_rubrics,
            min_gain=self.settings.min_gain,
            grouped=self.grouped,
        )

    def _keep_candidates(self) -> ChosenCriteria:
        return keep_candidates(
            list(self.candidates.values()),
            self.verdicts,
            [*self.check, *self.selection],
            most=self.settings.max_rubrics,
            grouped=self.grouped,
        )

    async def _ask_once(
        self, what: tuple[Any, ...], ask: Callable[[], Awaitable[tuple[Any, Usage]]]
    ) -> Any:
        """Return the model's reply, from the journal if it is there; None if it gave none."""
        key = make_key(*what)
        if key not in self.journal:
            try:
                value, usage = await ask()
            except ModelError as error:
                self.journal.add_usage(what[0], error.usage or Usage(calls=1))
                if error.kind not in SINGLE:
                    raise
                return None
            self.journal.put(key, what[0], value, usage)
        return self.journal.get(key)

    def _log_round(self, number: int, fresh: int, choice: ChosenCriteria) -> None:
        kept = [one.text for one in choice.chosen]
        summary = {"round": number, "kept": kept, "agreement": round(choice.agreement, 4)}
        self.journal.note("round", {**summary, "n": choice.n})
        self.log(
            f"round {number}: {fresh} proposed, {len(self.candidates)} correlate with the labels, "
            f"{len(kept)} kept, agreement {choice.agreement:.2f} (n={choice.n})"
        )

    @property
    def _bounds(self) -> tuple[float, float] | None:
        return None if self.grouped else self.settings.bounds

    async def _report(self, choice: ChosenCriteria) -> dict[str, Any]:
        samples, split, settings = self.samples, self.split, self.settings
        if settings.mode == "listwise":
            text = join_criteria(sort_by_weight(choice).chosen, settings.language)
            return await report_rankings(samples, split, self.checker, text)
        return await report_scores(samples, split, self.checker, choice, settings.threshold)

    async def _sort_into_themes(self, choice: ChosenCriteria) -> Themes:
        categories = self.settings.categories
        if categories is None or len(choice.chosen) < 2:
            return ()
        texts = [one.text for one in choice.chosen]
        key = make_key("themes", texts, categories)
        if key not in self.journal:
            try:
                value, usage = await self.proposer.propose_themes(texts, categories)
            except ModelError as error:
                if error.kind not in SINGLE:
                    raise
                value, usage = [], error.usage or Usage(calls=1)
            self.journal.put(key, "themes", value, usage)
        return [(name, list(members)) for name, members in self.journal.get(key)]

    def _make_document(
        self,
        result: LearningResult,
        figures: dict[str, Any],
        choice: ChosenCriteria | None = None,
        themes: Themes = (),
    ) -> dict[str, Any]:
        return make_learned_document(
            self.samples,
            self.settings,
            self.split,
            result,
            choice=choice,
            themes=themes,
            figures=figures,
            usage=self.journal.usage,
        )
