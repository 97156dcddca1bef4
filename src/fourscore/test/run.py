"""A test run: every case × repeat asked, stored, judged, stored.

Nothing is held: cases come from an iterator, rows go to a store, and the summary is made from the
store at the end, so a run that was killed and resumed ends with the same one. What counts as done
is what the store has on disk.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from fourscore.agents.agent import Agent, attempt, opened
from fourscore.agents.replay import RecordedAgent
from fourscore.core import (
    INLINE,
    Case,
    CaseError,
    Executor,
    Rubric,
    Score,
    Status,
    Trace,
    Usage,
    score,
)
from fourscore.executors.local import Local
from fourscore.models.messages import FREE, ModelError
from fourscore.models.model_pool import current_pool
from fourscore.stats.summary import Summary
from fourscore.stores.sqlite import Store
from fourscore.stores.writer import Writer

#: Marks the trace of a case that has no recorded output, so that judging it again ends the same.
UNRECORDED = "fourscore_unrecorded"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How a run goes about its cases."""

    repeats: int = 1
    concurrency: int = 16
    deadline: float = 60.0
    judge_deadline: float = 60.0
    fail_fast: bool = False


class Outcome(msgspec.Struct, frozen=True):
    """One case × repeat that has just ended."""

    case_id: str
    repeat: int
    score: Score


class Todo(msgspec.Struct, frozen=True):
    """One case × repeat that is to be done; a trace that is already there is only judged.

    `spent` is what judging it has cost before, without a score: the cost of a run stays whole.
    """

    position: int
    case: Case
    repeat: int
    trace: Trace | None = None
    spent: Usage = FREE


class Observer(Protocol):
    def __call__(self, outcome: Outcome) -> None: ...


async def run(
    todo: Iterable[Todo],
    agent: Agent,
    rubric: Rubric,
    writer: Writer,
    plan: Plan,
    observe: Observer,
) -> bool:
    """Work through the list; False where it was cut short, by `fail_fast` or a spent budget."""
    runner = _Runner(iter(todo), agent, rubric, writer, plan, observe)
    async with opened(agent), asyncio.TaskGroup() as tasks:
        for _ in range(plan.concurrency):
            tasks.create_task(runner.work())
    return not runner.stopped


class _Done(NamedTuple):
    """What came of an item, and the trace where that is not on the disk yet: a recorded one would
    be read again."""

    item: Todo
    outcome: Outcome
    trace: Trace | None


class _Runner:
    def __init__(
        self,
        todo: Iterator[Todo],
        agent: Agent,
        rubric: Rubric,
        writer: Writer,
        plan: Plan,
        observe: Observer,
    ) -> None:
        self.todo, self.agent, self.rubric, self.writer = todo, agent, rubric, writer
        self.plan, self.observe = plan, observe
        self.judge = rubric.provenance.rubric
        self.executor: Executor = INLINE if rubric.is_bounded else Local(plan.judge_deadline)
        self.stopped = False

    async def work(self) -> None:
        """One case after the other. While the row of one is on its way to the disk the next has
        begun; no worker has more than one on the way."""
        kept: asyncio.Future[None] | None = None
        for item in self.todo:
            if self.stopped or _spent():
                self.stopped = True
                break
            done = await self.one(item)
            if done is None:
                continue
            if self.plan.fail_fast and done.outcome.score.passed is not True:
                self.stopped = True
            if kept is not None:
                await kept
            kept = self.keep(done)
        if kept is not None:
            await kept

    async def one(self, item: Todo) -> "_Done | None":
        """How it ended; None where it was not even begun, because the budget is spent."""
        trace, writing, recorded = item.trace, None, isinstance(self.agent, RecordedAgent)
        if trace is None:
            try:
                trace = await attempt(self.agent, item.case, item.repeat - 1, self.plan.deadline)
            except CaseError as error:  # a recorded case has no output: nobody's answer is wrong
                trace = Trace(metadata={UNRECORDED: str(error)})
            except ModelError:
                self.stopped = True
                return None
            if not recorded:  # what an agent said is safe before anyone judges it
                writing = self.writer.put_trace(item.position, item.case, item.repeat, trace)
        try:
            scored = await self.scored(item, trace)
        finally:
            if writing is not None:
                await writing
        outcome = Outcome(item.case.id, item.repeat, scored)
        return _Done(item, outcome, trace if recorded and item.trace is None else None)

    async def scored(self, item: Todo, trace: Trace) -> Score:
        if UNRECORDED in trace.metadata:
            scored = _unmeasured(trace.metadata[UNRECORDED], self.rubric)
        else:
            (scored,) = await score(self.rubric, item.case, [trace], executor=self.executor)
        return scored if item.spent == FREE else replace(scored, cost=scored.cost + item.spent)

    def keep(self, done: "_Done") -> "asyncio.Future[None]":
        """On the disk before it counts."""
        item, outcome = done.item, done.outcome
        if done.trace is None:
            kept = self.writer.put_score(outcome.case_id, item.repeat, self.judge, outcome.score)
        else:
            kept = self.writer.put_both(
                item.position, item.case, item.repeat, done.trace, self.judge, outcome.score
            )
        kept.add_done_callback(lambda done: self.kept(done, outcome))
        return kept

    def kept(self, done: "asyncio.Future[None]", outcome: Outcome) -> None:
        if not done.cancelled() and done.exception() is None:
            self.observe(outcome)


def _spent() -> bool:
    """Whether a model has been refused for the budget's sake: then nothing new is begun."""
    budget = current_pool().budget
    return budget is not None and budget.over is not None


def _unmeasured(reason: str, rubric: Rubric) -> Score:
    return Score(status=Status.JUDGE_ERROR, reason=reason, provenance=rubric.provenance)


def planned(cases: Iterable[Case], repeats: int) -> Iterator[Todo]:
    """Every case × repeat; repeats of a case follow one another."""
    for position, case in enumerate(cases):
        for repeat in range(1, repeats + 1):
            yield Todo(position, case, repeat)


def stored(store: Store, run_id: str, judge: str) -> Iterator[Todo]:
    """The traces of a run, to be judged by another rubric."""
    for row in store.rows(run_id, judge):
        yield Todo(row.position, row.case, row.repeat, row.trace)


def summarized(
    store: Store, run_id: str, rubric: Rubric | None = None, judge: str | None = None
) -> dict[str, Any]:
    """The summary of a run, from what the store has; the rubric gives the order of dimensions."""
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
