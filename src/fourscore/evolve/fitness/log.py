"""A log scored: records in one pass, every other kind through its traces.

Of records only numbers are held, for so many sessions at a time; the others are conversations,
which fit in memory. Both ways give the same scores.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from fourscore.core import Case, DataError, Message, Rubric, Trace, score
from fourscore.core.trace import as_text
from fourscore.evolve.fitness.aggregate import Newest, Scored, Standing
from fourscore.formats.logs.json_objects import Batches, Broken
from fourscore.formats.logs.log_file import Log, listed
from fourscore.formats.logs.tool_record import PlainRecord, ToolRecord, instant
from fourscore.judges.fitness.counters import Spill, Tallies, Tally
from fourscore.judges.fitness.execution import Execution, execution_of

AnyRecord = ToolRecord | PlainRecord
#: Sessions whose counts are held at a time.
OPEN = 100_000


class Task(NamedTuple):
    """What is known beside the log. The output is that of the newest execution."""

    output: str | None = None
    task_type: str | None = None
    complexity: str | None = None


class Reading(NamedTuple):
    """A log, scored."""

    kind: str
    standing: Standing
    records: int | None
    broken: int
    noted: list[Broken]


async def score_log(
    path: str,
    rubric: Rubric,
    task: Task | None = None,
    *,
    skip_broken: bool = False,
    open_sessions: int = OPEN,
) -> Reading:
    """Score the executions of a file, whatever kind of log it is."""
    counted = score_records(
        path, rubric, task, skip_broken=skip_broken, open_sessions=open_sessions
    )
    if counted is not None:
        return counted
    return await score_traces(path, rubric, task, skip_broken=skip_broken)


async def score_traces(
    path: str, rubric: Rubric, task: Task | None = None, *, skip_broken: bool = False
) -> Reading:
    """The same by way of traces, which any judge can score."""
    log, standing = Log(path, skip_broken=skip_broken), Standing(rubric)
    await _judged(log.traces(), standing, task or Task())
    return Reading(log.kind, standing, None, log.broken, log.noted)


def score_records(
    path: str,
    rubric: Rubric,
    task: Task | None = None,
    *,
    skip_broken: bool = False,
    open_sessions: int = OPEN,
) -> Reading | None:
    """The same in one pass, which waits for nothing; None where it has to go by traces."""
    log = Log(path, skip_broken=skip_broken)
    countable = all(hasattr(line.judge, "value_of") for line in rubric.dimensions)
    if log.kind != "executions" or not countable:
        return None
    return _counted(log, Standing(rubric), task or Task(), open_sessions)


def _counted(log: Log, standing: Standing, task: Task, most: int) -> Reading:
    tallies, spill = Tallies(), Spill()
    with log.opened() as stream:
        batches: Batches[AnyRecord] = Batches(stream, ToolRecord, skip=log.skip, lean=PlainRecord)
        lists: Iterable[list[AnyRecord]] = batches
        if log.whole:
            records = Batches(stream, ToolRecord)
            lists = [[record for _, record in listed(stream, records)]]
        for batch in lists:
            try:
                tallies.add(batch)
            except DataError as error:
                raise _placed(log, error) from None
            if len(tallies.open) > most:
                spill.add(tallies.open.values())
                tallies.open.clear()
    _fold(spill.merged(tallies.open.values()), standing, task)
    return Reading(log.kind, standing, tallies.records, batches.broken, batches.noted)


def _fold(tallies: Iterable[Tally], standing: Standing, task: Task) -> None:
    """Score each."""
    measures = [
        (line.name, line.judge.value_of)  # type: ignore[union-attr]
        for line in standing.rubric.dimensions
    ]
    newest: tuple[Scored, dict[str, float | None], Execution] | None = None
    for tally, known in _newest_last(tallies, task):
        execution = tally.execution()
        execution.output, execution.task_type, execution.complexity = known
        values = {name: value_of(execution) for name, value_of in measures}
        end = tally.last if tally.moments else None
        standing.mixed += tally.versions > 1
        scored = standing.add((tally.session, tally.version), end, values, execution)
        if scored is not None and (newest is None or scored.end >= newest[0].end):
            newest = scored, values, execution
    if newest is not None:
        scored, values, execution = newest
        standing.newest = Newest(scored, values, partial(_reasons, standing.rubric, execution))


def _newest_last(tallies: Iterable[Tally], task: Task) -> Iterator[tuple[Tally, Task]]:
    """Each with what is known of it: the output is that of the newest."""
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


def _placed(log: Log, error: DataError) -> DataError:
    """Counting a batch does not know lines: the line is looked for once something is wrong."""
    with log.opened() as stream:
        batches = Batches(stream, ToolRecord, skip=True)
        probe = Tallies()
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


async def _judged(traces: Iterable[Trace], standing: Standing, task: Task) -> None:
    found = list(traces)
    ends = [_end(trace) for trace in found]
    newest = max(range(len(found)), key=lambda i: (ends[i] or 0.0, i), default=None)
    for place, trace in enumerate(found):
        if place == newest and task.output is not None:
            trace = replace(trace, output=task.output)
        await _judge(trace, ends[place], standing, task)


async def _judge(trace: Trace, end: float | None, standing: Standing, task: Task) -> None:
    who = str(trace.metadata.get("session") or ""), str(trace.metadata.get("version") or "")
    kind = task.task_type or trace.metadata.get("task_type")
    word = task.complexity or trace.metadata.get("complexity")
    case = Case(id=who[0] or "-", input=_request(trace), task_type=kind, complexity=word)
    (given,) = await score(standing.rubric, case, [trace])
    execution = execution_of(case, trace)
    values: dict[str, float | None] = dict.fromkeys(standing.means)
    reasons = {signal.name: signal.reason for signal in given.signals}
    for signal in given.signals:
        if signal.name in values:
            values[signal.name] = signal.value
    if trace.fault is not None:  # the agent's own failure is worth nothing
        values = dict.fromkeys(values, 0.0)
        reasons = dict.fromkeys(values, f"the agent failed: {trace.fault.message}")
    scored = standing.add(who, end, values, execution)
    if scored is not None and standing.is_newest(scored):
        standing.newest = Newest(scored, values, lambda: reasons)


def _request(trace: Trace) -> str:
    """What the user said last: that is what the output answers."""
    said = (step for step in reversed(trace.steps) if isinstance(step, Message))
    return next((as_text(step.content) for step in said if step.role == "user"), "")


def _end(trace: Trace) -> float | None:
    given: Any = trace.metadata.get("ts")
    if given is not None:
        try:
            return instant(given)
        except (DataError, TypeError):
            return None
    return None if trace.started is None else trace.started + (trace.seconds or 0.0)
