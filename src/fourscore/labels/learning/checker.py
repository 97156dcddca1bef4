"""Ask the model about answers: does a criterion hold, what is the rating, what is the ranking.

None of these questions shows a label. Each is asked once; the journal keeps the answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from fourscore.core import Case, Trace, Usage
from fourscore.formats.labelled_samples import Sample, SampleFile
from fourscore.judges.llm.criteria import Criteria
from fourscore.labels.learning.data_split import LabelledAnswer
from fourscore.labels.learning.journal import Journal, make_key
from fourscore.labels.learning.settings import LearningSettings
from fourscore.models.messages import NO_USAGE, ModelError

#: Verdicts on one criterion. EMPTY is an answer that says nothing: it meets no criterion.
YES, NO, EMPTY = 1, 0, -1
#: Failures of a single question: that answer is left out and counted.
SINGLE = frozenset({"refused", "malformed"})
#: After `FEW` questions, more than this share of failures ends the run: the model is at fault.
FEW, MAX_FAILED = 20, 0.25


class Checker:
    """Asks about the samples of one file. `asked` counts questions that were not in the journal."""

    def __init__(
        self,
        samples: SampleFile,
        settings: LearningSettings,
        journal: Journal,
        *,
        on_verdict: Callable[[], None] = lambda: None,
    ) -> None:
        self.samples, self.settings, self.journal = samples, settings, journal
        self.on_verdict = on_verdict
        self.asked = self.failed = 0
        self._get_judge = lru_cache(maxsize=64)(self._make_judge)

    def _make_judge(self, text: str) -> Criteria:
        return self.settings.criteria(text)

    async def check_criteria(
        self, texts: Sequence[str], answers: Sequence[LabelledAnswer]
    ) -> dict[str, dict[LabelledAnswer, int]]:
        """Return whether each criterion holds for each answer, where the model gave a verdict."""
        table: dict[str, dict[LabelledAnswer, int]] = {text: {} for text in texts}

        async def one(pair: tuple[str, LabelledAnswer]) -> None:
            text, answer = pair
            found = await self._ask_once(
                ("check", text, self._get_digest(answer.sample), answer.place),
                lambda: self._ask_verdict(text, answer),
            )
            if found is not None:
                table[text][answer] = found

        pairs = ((text, answer) for answer in answers for text in texts)
        await run_limited(pairs, one, self.settings.concurrency)
        return table

    async def rate(self, answers: Sequence[LabelledAnswer]) -> dict[LabelledAnswer, float]:
        """Return the rating of each answer by the plain prompt, in [0, 1]."""
        judge = self.settings.rating()
        found: dict[LabelledAnswer, float] = {}

        async def ask(answer: LabelledAnswer) -> tuple[float | None, Usage]:
            sample = self.samples.read(answer.sample)
            (signal,) = await judge.judge(_make_case(sample), _make_trace(sample, answer.place))
            return signal.value, signal.usage or NO_USAGE

        async def one(answer: LabelledAnswer) -> None:
            key = ("rate", self._get_digest(answer.sample), answer.place)
            value = await self._ask_once(key, lambda: ask(answer))
            if value is not None:
                found[answer] = value

        await run_limited(answers, one, self.settings.concurrency)
        return found

    async def rank(self, criterion: str, part: Iterable[int]) -> dict[int, list[float]]:
        """Return, by sample, the values of its answers ranked by the criterion: best 1, worst 0."""
        judge = self.settings.ranking(criterion)
        found: dict[int, list[float]] = {}

        async def ask(at: int) -> tuple[list[float], Usage]:
            sample = self.samples.read(at)
            traces = [_make_trace(sample, place) for place in range(len(sample.answers))]
            signals = await judge.rank(_make_case(sample), traces)
            spent = sum((signal.usage or NO_USAGE for signal in signals), NO_USAGE)
            return [signal.value or 0.0 for signal in signals], spent

        async def one(at: int) -> None:
            key = ("rank", criterion, self._get_digest(at))
            value = await self._ask_once(key, lambda: ask(at))
            if value is not None:
                found[at] = value

        # One ranking is asked in several orders at once.
        await run_limited(part, one, max(1, self.settings.concurrency // judge.permutations))
        return found

    async def _ask_verdict(self, text: str, answer: LabelledAnswer) -> tuple[int, Usage]:
        sample = self.samples.read(answer.sample)
        (signal,) = await self._get_judge(text).judge(
            _make_case(sample), _make_trace(sample, answer.place)
        )
        if signal.usage is None:
            return EMPTY, NO_USAGE
        return YES if signal.value else NO, signal.usage

    async def _ask_once(
        self, what: tuple[Any, ...], ask: Callable[[], Awaitable[tuple[Any, Usage]]]
    ) -> Any:
        key = make_key(*what)
        if key in self.journal:
            self.on_verdict()
            return self.journal.get(key)
        self.asked += 1
        try:
            value, usage = await ask()
        except ModelError as error:
            self.journal.add_usage(what[0], error.usage or Usage(calls=1))
            if error.kind not in SINGLE:
                raise
            self.failed += 1
            if self.asked >= FEW and self.failed > MAX_FAILED * self.asked:
                raise
            return None
        self.journal.put(key, what[0], value, usage)
        self.on_verdict()
        return value

    def _get_digest(self, at: int) -> str:
        return self.samples.entries[at].digest


def _make_case(sample: Sample) -> Case:
    return Case(input=sample.query, expected=sample.reference or None)


def _make_trace(sample: Sample, place: int) -> Trace:
    return Trace(output=sample.answers[place])


T = TypeVar("T")


async def run_limited(items: Iterable[T], do: Callable[[T], Awaitable[None]], limit: int) -> None:
    """Run `do` for each item, at most `limit` at a time; items are read only when one is free.

    After a failure nothing new is started. Running calls finish, since they are paid for; then the
    failure is raised.
    """
    waiting = iter(items)
    failures: list[BaseException] = []

    async def work() -> None:
        for item in waiting:
            try:
                await do(item)
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                failures.append(error)
            if failures:
                return

    await asyncio.gather(*(work() for _ in range(limit)))
    if failures:
        raise failures[0]
