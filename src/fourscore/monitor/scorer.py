"""Scores one observation: reserves its budget, judges it, and passes the sample to the writer."""

import time

from fourscore.core import Case, FourscoreError, Rubric, Score, Status, Trace
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.judges.scorer import RubricScorer
from fourscore.monitor.batch_writer import BatchWriter, Counters
from fourscore.monitor.budget import HOUR, HourlyBudget, Reservation
from fourscore.monitor.interaction import Observation
from fourscore.monitor.redaction import Redaction
from fourscore.monitor.sample import Sample, ScoredInteraction, make_sample, make_sample_row

#: A sample scored in fewer seconds may wait for the next one, to share a transaction with it.
QUICK = 0.05
#: Samples that may wait for a shared transaction.
BATCH = 64


class Scorer:
    """Scores with `RubricScorer`, as training does, so that the score is the same."""

    def __init__(
        self,
        rubric: Rubric,
        writer: BatchWriter,
        *,
        deadline: float,
        budget: HourlyBudget,
        redaction: Redaction,
    ) -> None:
        self.rubric, self.writer, self.deadline = rubric, writer, deadline
        self.budget, self.redaction = budget, redaction
        self._scorer: RubricScorer | None = None

    @property
    def counters(self) -> Counters:
        return self.writer.counters

    def score_and_save(self, observation: Observation, has_more: bool) -> None:
        """Score and save. While more are queued and judging is quick, save several at once."""
        try:
            begun = time.monotonic()
            self.evaluate(observation)
            is_quick = time.monotonic() - begun < QUICK
            if not (has_more and is_quick and len(self.writer) < BATCH):
                self.writer.save()
        except BaseException as error:  # the worker thread must not end
            self.counters.failed.add()
            self.writer.log_once(error, "an interaction cannot be scored")

    def evaluate(self, observation: Observation) -> Sample | None:
        """Return the scored sample, which the writer has but has not saved yet.

        Return None if the store has it already, from any process, or if the budget is spent.
        """
        if self._is_stored(observation.id):
            self.counters.twice.add()
            return None
        case, trace = observation.read()
        now = time.time()
        reserved: Reservation | None = Reservation(int(now // HOUR))
        is_judged = trace.fault is None and not observation.problem
        if is_judged:  # an agent that failed is not judged, and costs nothing
            store, name = self.writer.store, self.writer.name
            reserved = self.budget.reserve(store, name, case, now)
        if reserved is None:
            self.counters.over_budget.add()
            return None
        score = self._judge(observation, case, trace)
        scored = ScoredInteraction(
            id=observation.id,
            at=observation.at,
            case=case,
            trace=trace,
            score=score,
            rate=observation.rate,
            drawn=observation.drawn,
        )
        sample = make_sample(scored, self.rubric, self.redaction)
        keeps_text = self.writer.keep_text is not None
        row = make_sample_row(scored, sample, self.redaction, keep_text=keeps_text)
        self.writer.put(sample, row, reserved)
        if not observation.drawn:
            self.counters.extra.add()
        return sample

    def _judge(self, observation: Observation, case: Case, trace: Trace) -> Score:
        if observation.problem:
            return Score(status=Status.JUDGE_ERROR, reason=observation.problem)
        if self._scorer is None:
            self._scorer = RubricScorer(self.rubric, self.deadline)
        (score,) = self._scorer.score(case, [RecordedOutput(trace)])
        return score

    def _is_stored(self, id: str) -> bool:  # noqa: A002
        try:
            return self.writer.store.has(self.writer.name, id)
        except FourscoreError:  # the store fails now; saving the sample checks it again
            return False

    def reset_after_fork(self) -> None:
        """Forget the threads of the parent process."""
        self._scorer = None
