"""From an observed interaction to a saved sample, in one thread: read, afford, judge, keep."""

import time

from fourscore.core import FourscoreError, Rubric
from fourscore.formats.recorded_outputs import Recorded
from fourscore.judges.scorer import RubricScorer
from fourscore.monitor.batch_writer import Saving, Tallies
from fourscore.monitor.budget import HOUR, Budget, Reservation
from fourscore.monitor.interaction import Observed
from fourscore.monitor.redaction import Redaction
from fourscore.monitor.sample import Sample, Scored, entry_of, sample_of

#: Seconds of scoring up to which a sample may wait for the next one to share its transaction.
QUICK = 0.05
#: Samples that may wait so.
TOGETHER = 64


class Scorer:
    """Scores with `RubricScorer`, as training does, so that the score is the same."""

    def __init__(
        self,
        rubric: Rubric,
        deadline: float,
        budget: Budget,
        redaction: Redaction,
        saving: Saving,
        *,
        keep_text: bool,
    ) -> None:
        self.rubric, self.deadline, self.budget = rubric, deadline, budget
        self.redaction, self.saving, self.keep_text = redaction, saving, keep_text
        self._scorer: RubricScorer | None = None

    @property
    def tallies(self) -> Tallies:
        return self.saving.tallies

    def work(self, seen: Observed, more: bool) -> None:
        """Score and save; where `more` wait and judging is quick, they share a transaction."""
        try:
            begun = time.monotonic()
            self.evaluate(seen)
            quick = time.monotonic() - begun < QUICK
            if not (more and quick and len(self.saving) < TOGETHER):
                self.saving.save()
        except BaseException as error:  # whatever it is, the thread goes on
            self.tallies.failed.add()
            self.saving.tell(error, "an interaction cannot be scored")

    def evaluate(self, seen: Observed) -> Sample | None:
        """The sample, which waits to be saved.

        None where it is there already, from whichever process, or the budget does not allow for it.
        """
        if self._known(seen.id):
            self.tallies.twice.add()
            return None
        case, trace = seen.read()
        now = time.time()
        reserved: Reservation | None = Reservation(int(now // HOUR))
        if trace.fault is None:  # whose agent failed is not judged, and costs nothing
            store, name = self.saving.store, self.saving.name
            reserved = self.budget.reserve(store, name, case, now)
        if reserved is None:
            self.tallies.over_budget.add()
            return None
        if self._scorer is None:
            self._scorer = RubricScorer(self.rubric, self.deadline)
        (score,) = self._scorer.score(case, [Recorded(trace)])
        scored = Scored(seen.id, seen.at, case, trace, score, seen.rate, seen.drawn)
        sample = sample_of(scored, self.rubric, self.redaction)
        entry = entry_of(scored, sample, self.redaction, keep_text=self.keep_text)
        self.saving.put(sample, entry, reserved)
        if not seen.drawn:
            self.tallies.extra.add()
        return sample

    def _known(self, id: str) -> bool:  # noqa: A002
        try:
            return self.saving.store.has(self.saving.name, id)
        except FourscoreError:  # a store that fails now is asked again with the sample
            return False

    def forked(self) -> None:
        self._scorer = None  # its threads are the parent's
