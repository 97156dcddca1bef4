"""A test run: each attempt (a case × a repeat) is run, stored, judged, and its score stored.

No list is kept in memory: cases come from an iterator, rows go to a store, and the summary is made
from the store at the end, so a run that was killed and resumed ends with the same summary. An
attempt counts as done once the store has it on disk.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from fourscore.agents.agent import Agent, attempt_case, open_agent
from fourscore.agents.replay import RecordedAgent
from fourscore.core import (
    INLINE,
    Case,
    CaseError,
    Executor,
    FourscoreError,
    Rubric,
    Score,
    Status,
    Trace,
    Usage,
    score,
)
from fourscore.core.open_files import fit_to_open_files
from fourscore.executors.local import LocalExecutor
from fourscore.executors.thread_pool import THREAD_BYTES, fit_to_memory
from fourscore.models.messages import NO_USAGE, ModelError
from fourscore.models.model_pool import current_pool
from fourscore.stats.summary import Summary
from fourscore.stores.sqlite import Store
from fourscore.stores.writer import Writer

#: Files that an attempt holds open, for an agent that does not say.
ATTEMPT_FILES = 3
#: Key in the metadata of a trace whose case has no recorded output; judging it again says so too.
UNRECORDED = "fourscore_unrecorded"


#: Attempts in a row without a connection, of the agent or of a judge, after which a run stops.
MAX_LOST = 20


class ConnectionsLostError(FourscoreError):
    """The run stopped: `MAX_LOST` attempts in a row had no connection. What is stored stays.

    `last` is the last of their scores.
    """

    def __init__(self, last: Score) -> None:
        self.last = last
        message = f"stopped after {MAX_LOST} attempts in a row without a connection"
        super().__init__(f"{message}; the last: {last.reason}")


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a run goes through its cases: repeats, attempts at a time, deadlines in seconds."""

    repeats: int = 1
    concurrency: int = 16
    deadline: float = 60.0
    judge_deadline: float = 60.0
    fail_fast: bool = False


class AttemptOutcome(msgspec.Struct, frozen=True):
    """The score of an attempt that has just ended and is on disk."""

    case_id: str
    repeat: int
    score: Score


class PlannedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One case × repeat that is to be run; where there is a trace already, it is only judged.

    `spent` is what judging it has cost before without a score; it is added to the score's cost.
    """

    position: int
    case: Case
    repeat: int
    trace: Trace | None = None
    spent: Usage = NO_USAGE


class Observer(Protocol):
    """Called with each outcome, once it is on disk."""

    def __call__(self, outcome: AttemptOutcome) -> None: ...


async def run_attempts(
    attempts: Iterable[PlannedAttempt],
    agent: Agent,
    rubric: Rubric,
    *,
    writer: Writer,
    plan: RunPlan,
    observe: Observer,
) -> bool:
    """Run all attempts; return False if `fail_fast` or a spent budget stopped the run early.

    Raises `ConnectionsLostError` where the agent or a judge is out of reach for good; all attempts
    that had begun have ended and are stored.
    """
    runner = _Runner(
        attempts=iter(attempts),
        agent=agent,
        rubric=rubric,
        writer=writer,
        plan=plan,
        observe=observe,
    )
    async with open_agent(agent), asyncio.TaskGroup() as tasks:
        for _ in range(fit_concurrency(plan.concurrency, agent)):
            tasks.create_task(runner.work())
    if len(runner.lost) == MAX_LOST:
        raise ConnectionsLostError(runner.lost[-1])
    return not runner.is_stopped


def fit_concurrency(concurrency: int, agent: Agent) -> int:
    """Return how many attempts can be under way within the limits of this process."""
    by_files = fit_to_open_files(concurrency, getattr(agent, "files", ATTEMPT_FILES))
    return min(by_files, fit_to_memory(concurrency, 2 * THREAD_BYTES))  # the agent's and a judge's


class _Done(NamedTuple):
    """An outcome, and the trace where that is not on disk yet.

    A recorded trace is stored together with its score: until then it can be read again.
    """

    attempt: PlannedAttempt
    outcome: AttemptOutcome
    trace: Trace | None


class _Runner:
    def __init__(
        self,
        *,
        attempts: Iterator[PlannedAttempt],
        agent: Agent,
        rubric: Rubric,
        writer: Writer,
        plan: RunPlan,
        observe: Observer,
    ) -> None:
        self.attempts, self.agent, self.rubric, self.writer = attempts, agent, rubric, writer
        self.plan, self.observe = plan, observe
        self.judge = rubric.provenance.rubric
        self.executor: Executor = (
            INLINE if rubric.is_bounded else LocalExecutor(plan.judge_deadline)
        )
        self.is_stopped = False
        self.lost: list[Score] = []  # the last attempts in a row without a connection

    async def work(self) -> None:
        """Run one attempt after the other, until there are no more.

        While a row is written to disk the next attempt has begun; a worker waits for the row before
        it writes another.
        """
        writing: asyncio.Future[None] | None = None
        for planned in self.attempts:
            if self.is_stopped or _is_budget_spent():
                self.is_stopped = True
                break
            done = await self._run(planned)
            if done is None:
                continue
            self._count_lost(planned, done.outcome.score)
            if self.plan.fail_fast and done.outcome.score.passed is not True:
                self.is_stopped = True
            if writing is not None:
                await writing
            writing = self._store(done)
        if writing is not None:
            await writing

    async def _run(self, planned: PlannedAttempt) -> _Done | None:
        """Run the agent and judge its trace; return None if the budget did not let it begin."""
        trace, writing, recorded = planned.trace, None, isinstance(self.agent, RecordedAgent)
        case, repeat = planned.case, planned.repeat
        if trace is None:
            try:
                trace = await attempt_case(self.agent, case, repeat - 1, self.plan.deadline)
            except CaseError as error:  # a recorded case has no output: nobody's answer is wrong
                trace = Trace(metadata={UNRECORDED: str(error)})
            except ModelError:
                self.is_stopped = True
                return None
            if not recorded:  # what an agent answered is stored before it is judged
                writing = self.writer.put_trace(planned.position, case, repeat, trace)
        try:
            scored = await self._score(planned, trace)
        finally:
            if writing is not None:
                await writing
        outcome = AttemptOutcome(case.id, repeat, scored)
        return _Done(planned, outcome, trace if recorded and planned.trace is None else None)

    async def _score(self, planned: PlannedAttempt, trace: Trace) -> Score:
        if UNRECORDED in trace.metadata:
            reason, provenance = trace.metadata[UNRECORDED], self.rubric.provenance
            scored = Score(status=Status.JUDGE_ERROR, reason=reason, provenance=provenance)
        else:
            (scored,) = await score(self.rubric, planned.case, [trace], executor=self.executor)
        if planned.spent == NO_USAGE:
            return scored
        return replace(scored, cost=scored.cost + planned.spent)

    def _count_lost(self, planned: PlannedAttempt, scored: Score) -> None:
        """Count attempts in a row without a connection; stop at `MAX_LOST`."""
        was_called = planned.trace is None and not isinstance(self.agent, RecordedAgent)
        if len(self.lost) == MAX_LOST or (_is_agent_lost(scored) and not was_called):
            return
        if _is_agent_lost(scored) or _is_judge_lost(scored):
            self.lost.append(scored)
            self.is_stopped = self.is_stopped or len(self.lost) == MAX_LOST
        else:
            self.lost.clear()

    def _store(self, done: _Done) -> "asyncio.Future[None]":
        """Write the score, and the trace if that is missing; then call the observer."""
        planned, outcome = done.attempt, done.outcome
        if done.trace is None:
            writing = self.writer.put_score(
                outcome.case_id, outcome.repeat, self.judge, outcome.score
            )
        else:
            writing = self.writer.put_both(
                planned.position,
                planned.case,
                planned.repeat,
                done.trace,
                judge=self.judge,
                score=outcome.score,
            )
        writing.add_done_callback(lambda written: self._report(written, outcome))
        return writing

    def _report(self, written: "asyncio.Future[None]", outcome: AttemptOutcome) -> None:
        if not written.cancelled() and written.exception() is None:
            self.observe(outcome)


def _is_budget_spent() -> bool:
    """Return whether the budget has refused a call; then no new attempt begins."""
    budget = current_pool().budget
    return budget is not None and budget.exceeded is not None


def _is_agent_lost(scored: Score) -> bool:
    """Return whether the agent could not be reached; a spent budget leaves signals."""
    return scored.status is Status.CANCELLED and not scored.signals


def _is_judge_lost(scored: Score) -> bool:
    """Return whether there is no score because a judge's model could not be reached."""
    faults = [signal.fault.kind for signal in scored.signals if signal.fault is not None]
    return scored.status is Status.JUDGE_ERROR and "connection" in faults


def get_answered(trace: Trace) -> Trace | None:
    """Return a stored trace to be judged; None where the agent was not reached: it is run again."""
    lost = trace.fault is not None and trace.fault.kind == "connection"
    return None if lost else trace


def plan_attempts(cases: Iterable[Case], repeats: int) -> Iterator[PlannedAttempt]:
    """Return every case × repeat; the repeats of a case follow one another."""
    for position, case in enumerate(cases):
        for repeat in range(1, repeats + 1):
            yield PlannedAttempt(position=position, case=case, repeat=repeat)


def read_stored_attempts(store: Store, run_id: str, judge: str) -> Iterator[PlannedAttempt]:
    """Return the attempts of a stored run with their traces, to be judged by another rubric."""
    for row in store.rows(run_id, judge):
        yield PlannedAttempt(
            position=row.position, case=row.case, repeat=row.repeat, trace=row.trace
        )


def summarize_run(
    store: Store, run_id: str, rubric: Rubric | None = None, judge: str | None = None
) -> dict[str, Any]:
    """Return the summary of a run, from its rows; the rubric gives the order of dimensions."""
    info = store.run(run_id)
    if rubric is not None:
        names = [dimension.name for dimension in rubric.dimensions]
    elif judge in (None, info.rubric_fingerprint):  # in the order that the run itself had
        names = list((store.summary(run_id) or {}).get("dimensions", ()))
    else:
        names = []
    summary = Summary(planned=info.planned, repeats=info.repeats, dimensions=names)
    models: dict[str, None] = {}
    prompts: dict[str, str] = {}
    weights: dict[str, str] = {}
    for row in store.rows(run_id, judge):
        if row.score is not None:
            summary.add(row.case, row.repeat, row.score, row.trace)
            models |= dict.fromkeys(row.score.provenance.models)
            prompts |= row.score.provenance.prompts
            weights |= row.score.provenance.weights
    document = summary.document()
    if models or prompts or weights:
        document["provenance"] = {"models": list(models), "prompts": prompts}
    if weights:
        document["provenance"]["weights"] = weights
    document["statuses"]["cancelled"] += document["not_run"]  # planned is the sum of the statuses
    return document
