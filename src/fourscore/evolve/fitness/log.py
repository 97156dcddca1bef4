"""Score an execution log: records in one pass, every other format through its traces.

For records, only counts are in memory, of a limited number of sessions at a time; the other formats
are conversations, which fit in memory. Both ways give the same scores.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from fourscore.core import Case, DataError, Message, Rubric, Trace, score
from fourscore.core.trace import as_text
from fourscore.evolve.fitness.aggregate import LogTotals, NewestExecution, Scored
from fourscore.formats.logs.json_objects import BrokenLine, ObjectBatches
from fourscore.formats.logs.log_file import LogFile, read_record_list
from fourscore.formats.logs.tool_record import PlainRecord, ToolRecord, parse_time
from fourscore.judges.fitness.counters import SessionCounter, SessionTally, SpilledTallies
from fourscore.judges.fitness.execution import Execution, count_execution

AnyRecord = ToolRecord | PlainRecord
#: The most sessions whose counts are in memory at a time.
MAX_OPEN_SESSIONS = 100_000


class TaskInfo(NamedTuple):
    """What the user states besides the log. `output` is that of the newest execution."""

    output: str | None = None
    task_type: str | None = None
    complexity: str | None = None


class ScoredLog(NamedTuple):
    """The totals of a log; `records` is None for formats other than execution records."""

    kind: str
    totals: LogTotals
    records: int | None
    broken: int
    noted: list[BrokenLine]


async def score_log(
    path: str,
    rubric: Rubric,
    task: TaskInfo | None = None,
    *,
    skip_broken: bool = False,
    open_sessions: int = MAX_OPEN_SESSIONS,
) -> ScoredLog:
    """Score the executions of a file, whatever kind of log it is."""
    scored_log = score_records(
        path, rubric, task, skip_broken=skip_broken, open_sessions=open_sessions
    )
    if scored_log is not None:
        return scored_log
    return await score_traces(path, rubric, task, skip_broken=skip_broken)


async def score_traces(
    path: str, rubric: Rubric, task: TaskInfo | None = None, *, skip_broken: bool = False
) -> ScoredLog:
    """Score a log through its traces, which any judge can score."""
    log, totals = LogFile(path, skip_broken=skip_broken), LogTotals(rubric)
    await _score_all_traces(log.traces(), totals, task or TaskInfo())
    return ScoredLog(log.kind, totals, None, log.broken, log.noted)


def score_records(
    path: str,
    rubric: Rubric,
    task: TaskInfo | None = None,
    *,
    skip_broken: bool = False,
    open_sessions: int = MAX_OPEN_SESSIONS,
) -> ScoredLog | None:
    """Score execution records in one pass; None where only `score_traces` can score the log."""
    log = LogFile(path, skip_broken=skip_broken)
    countable = all(hasattr(line.judge, "compute_value") for line in rubric.dimensions)
    if log.kind != "executions" or not countable:
        return None
    return _score_record_log(log, LogTotals(rubric), task or TaskInfo(), open_sessions)


def _score_record_log(log: LogFile, totals: LogTotals, task: TaskInfo, most: int) -> ScoredLog:
    counter, spill = SessionCounter(), SpilledTallies()
    with log.opened() as stream:
        batches: ObjectBatches[AnyRecord] = ObjectBatches(
            stream, ToolRecord, skip=log.skip, lean=PlainRecord
        )
        lists: Iterable[list[AnyRecord]] = batches
        if log.whole:
            records = ObjectBatches(stream, ToolRecord)
            lists = [[record for _, record in read_record_list(stream, records)]]
        for batch in lists:
            try:
                counter.add(batch)
            except DataError as error:
                raise _locate_error(log, error) from None
            if len(counter.open) > most:
                spill.add(counter.open.values())
                counter.open.clear()
    _score_tallies(spill.merge_all(counter.open.values()), totals, task)
    return ScoredLog(log.kind, totals, counter.records, batches.broken, batches.noted)


def _score_tallies(tallies: Iterable[SessionTally], totals: LogTotals, task: TaskInfo) -> None:
    """Score each session and add it to the totals."""
    measures = [
        (line.name, line.judge.compute_value)  # type: ignore[union-attr]
        for line in totals.rubric.dimensions
    ]
    newest: tuple[Scored, dict[str, float | None], Execution] | None = None
    for tally, known in _newest_last(tallies, task):
        execution = tally.make_execution()
        execution.output, execution.task_type, execution.complexity = known
        values = {name: compute_value(execution) for name, compute_value in measures}
        end = tally.last if tally.moments else None
        totals.mixed += tally.versions > 1
        scored = totals.add((tally.session, tally.version), end, values, execution)
        if scored is not None and (newest is None or scored.end >= newest[0].end):
            newest = scored, values, execution
    if newest is not None:
        scored, values, execution = newest
        totals.newest = NewestExecution(scored, values, partial(_reasons, totals.rubric, execution))


def _newest_last(
    tallies: Iterable[SessionTally], task: TaskInfo
) -> Iterator[tuple[SessionTally, TaskInfo]]:
    """Yield each session with its task; the output belongs to the newest one."""
    newest, latest = None, (False, 0.0, 0)
    bare = task._replace(output=None)
    for tally in tallies:
        when = (tally.moments > 0, tally.last, tally.order)
        if newest is None:
            newest, latest = tally, when
        elif when >= latest:
            yield newest, bare
            newest, latest = tally, when
        else:
            yield tally, bare
    if newest is not None:
        yield newest, task


def _locate_error(log: LogFile, error: DataError) -> DataError:
    """Return the error with its line number, found by reading the log again."""
    with log.opened() as stream:
        batches = ObjectBatches(stream, ToolRecord, skip=True)
        probe = SessionCounter()
        for line, record in batches.numbered():
            try:
                probe.add([record])
            except DataError as found:
                return DataError(found.message, file=log.path, line=line, field=found.field)
            probe.open.clear()
    return DataError(error.message, file=log.path, field=error.field)


def _reasons(rubric: Rubric, execution: Execution) -> dict[str, str]:
    return {
        line.name: line.judge.measure(execution).reason  # type: ignore[union-attr]
        for line in rubric.dimensions
    }


async def _score_all_traces(traces: Iterable[Trace], totals: LogTotals, task: TaskInfo) -> None:
    found = list(traces)
    ends = [_end(trace) for trace in found]
    newest = max(range(len(found)), key=lambda i: (ends[i] or 0.0, i), default=None)
    for place, trace in enumerate(found):
        if place == newest and task.output is not None:
            trace = replace(trace, output=task.output)
        await _score_trace(trace, ends[place], totals, task)


async def _score_trace(trace: Trace, end: float | None, totals: LogTotals, task: TaskInfo) -> None:
    who = str(trace.metadata.get("session") or ""), str(trace.metadata.get("version") or "")
    kind = task.task_type or trace.metadata.get("task_type")
    word = task.complexity or trace.metadata.get("complexity")
    case = Case(id=who[0] or "-", input=_request(trace), task_type=kind, complexity=word)
    (given,) = await score(totals.rubric, case, [trace])
    execution = count_execution(case, trace)
    values: dict[str, float | None] = dict.fromkeys(totals.means)
    reasons = {signal.name: signal.reason for signal in given.signals}
    for signal in given.signals:
        if signal.name in values:
            values[signal.name] = signal.value
    if trace.fault is not None:  # the agent's own failure scores 0
        values = dict.fromkeys(values, 0.0)
        reasons = dict.fromkeys(values, f"the agent failed: {trace.fault.message}")
    scored = totals.add(who, end, values, execution)
    if scored is not None and totals.is_newest(scored):
        totals.newest = NewestExecution(scored, values, lambda: reasons)


def _request(trace: Trace) -> str:
    """Return the last user message, which is the request that the output answers."""
    messages = (step for step in reversed(trace.steps) if isinstance(step, Message))
    return next((as_text(step.content) for step in messages if step.role == "user"), "")


def _end(trace: Trace) -> float | None:
    given: Any = trace.metadata.get("ts")
    if given is not None:
        try:
            return parse_time(given)
        except (DataError, TypeError):
            return None
    return None if trace.started is None else trace.started + (trace.seconds or 0.0)
