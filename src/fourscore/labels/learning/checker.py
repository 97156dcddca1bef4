"""The model's word on answers: does a criterion hold, what is the rating, what is the ranking.

None of these questions shows a label. Each is asked once; the journal remembers the answer.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from fourscore.core import Case, Trace, Usage
from fourscore.formats.labelled_samples import Sample, SampleFile
from fourscore.judges.llm.criteria import Criteria
from fourscore.labels.learning.data_split import Unit
from fourscore.labels.learning.journal import Journal, make_key
from fourscore.labels.learning.pool import pooled
from fourscore.labels.learning.settings import Learning
from fourscore.models.messages import NO_USAGE, ModelError

#: Verdicts on one criterion. SILENT is an answer that says nothing: it meets nothing.
YES, NO, SILENT = 1, 0, -1
#: The model's own failures with one question: that answer is left out, and counted.
SINGLE = frozenset({"refused", "malformed"})
#: Of so many questions more than this share unanswered is the end: it is not the answers' fault.
FEW, BEARABLE = 20, 0.25


class Checker:
    """Asks about the samples of one file. `asked` counts what was not known before."""

    def __init__(
        self,
        samples: SampleFile,
        settings: Learning,
        journal: Journal,
        observe: Callable[[], None] = lambda: None,
    ) -> None:
        self.samples, self.settings, self.journal = samples, settings, journal
        self.observe = observe
        self.asked = self.unanswered = 0
        self._judge = lru_cache(maxsize=64)(self._criteria)

    def _criteria(self, text: str) -> Criteria:
        return self.settings.criteria(text)

    async def verdicts(
        self, texts: Sequence[str], units: Sequence[Unit]
    ) -> dict[str, dict[Unit, int]]:
        """Whether each of the criteria holds for each of the answers, where the model could say."""
        table: dict[str, dict[Unit, int]] = {text: {} for text in texts}

        async def one(pair: tuple[str, Unit]) -> None:
            text, unit = pair
            found = await self._known(
                ("check", text, self._name(unit.sample), unit.place),
                lambda: self._verdict(text, unit),
            )
            if found is not None:
                table[text][unit] = found

        pairs = ((text, unit) for unit in units for text in texts)
        await pooled(pairs, one, self.settings.concurrency)
        return table

    async def ratings(self, units: Sequence[Unit]) -> dict[Unit, float]:
        """What the plain prompt gives each answer, in [0, 1]."""
        judge = self.settings.rating()
        found: dict[Unit, float] = {}

        async def ask(unit: Unit) -> tuple[float | None, Usage]:
            sample = self.samples.read(unit.sample)
            (signal,) = await judge.judge(_case(sample), _trace(sample, unit.place))
            return signal.value, signal.usage or NO_USAGE

        async def one(unit: Unit) -> None:
            key = ("rate", self._name(unit.sample), unit.place)
            value = await self._known(key, lambda: ask(unit))
            if value is not None:
                found[unit] = value

        await pooled(units, one, self.settings.concurrency)
        return found

    async def rankings(self, criterion: str, part: Iterable[int]) -> dict[int, list[float]]:
        """The values of a sample's answers in a ranking by the criterion, best 1, worst 0."""
        judge = self.settings.ranking(criterion)
        found: dict[int, list[float]] = {}

        async def ask(at: int) -> tuple[list[float], Usage]:
            sample = self.samples.read(at)
            traces = [_trace(sample, place) for place in range(len(sample.answers))]
            signals = await judge.rank(_case(sample), traces)
            spent = sum((signal.usage or NO_USAGE for signal in signals), NO_USAGE)
            return [signal.value or 0.0 for signal in signals], spent

        async def one(at: int) -> None:
            key = ("rank", criterion, self._name(at))
            value = await self._known(key, lambda: ask(at))
            if value is not None:
                found[at] = value

        # One ranking is asked in several orders at once.
        await pooled(part, one, max(1, self.settings.concurrency // judge.permutations))
        return found

    async def _verdict(self, text: str, unit: Unit) -> tuple[int, Usage]:
        sample = self.samples.read(unit.sample)
        (signal,) = await self._judge(text).judge(_case(sample), _trace(sample, unit.place))
        if signal.usage is None:
            return SILENT, NO_USAGE
        return YES if signal.value else NO, signal.usage

    async def _known(
        self, what: tuple[Any, ...], ask: Callable[[], Awaitable[tuple[Any, Usage]]]
    ) -> Any:
        key = make_key(*what)
        if key in self.journal:
            self.observe()
            return self.journal.get(key)
        self.asked += 1
        try:
            value, usage = await ask()
        except ModelError as error:
            self.journal.paid(what[0], error.usage or Usage(calls=1))
            if error.kind not in SINGLE:
                raise
            self.unanswered += 1
            if self.asked >= FEW and self.unanswered > BEARABLE * self.asked:
                raise
            return None
        self.journal.put(key, what[0], value, usage)
        self.observe()
        return value

    def _name(self, at: int) -> str:
        return self.samples.entries[at].digest


def _case(sample: Sample) -> Case:
    return Case(input=sample.query, expected=sample.reference or None)


def _trace(sample: Sample, place: int) -> Trace:
    return Trace(output=sample.answers[place])
