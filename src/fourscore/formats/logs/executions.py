"""`executions.jsonl` as traces: one per session, in the order in which the sessions begin.

For logs that fit in memory; large ones are counted in one pass without traces
(`fourscore.evolve.fitness`), with the same numbers.
"""

from collections.abc import Iterable, Iterator

import msgspec

from fourscore.core import DataError, ToolCall, Trace
from fourscore.formats.logs.tool_record import (
    ToolRecord,
    parse_bool,
    parse_milliseconds,
    parse_name,
    parse_time,
    read_call_outcome,
)


class _Session(msgspec.Struct, kw_only=True):
    calls: list[ToolCall] = []
    moments: list[float] = []
    seconds: float = 0.0
    retries: int = 0
    corrections: int = 0
    version: str = ""


def read_execution_traces(records: Iterable[tuple[int, ToolRecord]]) -> Iterator[Trace]:
    """Read one trace per session from (line number, record) pairs."""
    sessions: dict[str, _Session] = {}
    for line, record in records:
        try:
            session = sessions.setdefault(parse_name(record.session), _Session())
            _add(session, record)
        except DataError as error:
            raise DataError(error.message, line=line, field=error.field) from None
        except ValueError as error:
            raise DataError(str(error), line=line) from None
    for key, session in sessions.items():
        yield _trace(key, session)


def _add(session: _Session, record: ToolRecord) -> None:
    moment, took, outcome = (
        parse_time(record.ts),
        parse_milliseconds(record.duration_ms),
        read_call_outcome(record),
    )
    session.calls.append(
        ToolCall(
            name=record.tool,
            result=record.output,
            exit_code=outcome.exit_code,
            seconds=took,
            error=outcome.error,
        )
    )
    if moment is not None:
        session.moments.append(moment)
    session.seconds += took or 0.0
    session.retries += bool(parse_bool(record.retry, "retry"))
    session.corrections += bool(parse_bool(record.user_correction, "user_correction"))
    session.version = parse_name(record.version) or session.version


def _trace(key: str, session: _Session) -> Trace:
    moments = session.moments
    seconds = session.seconds or None
    if len(moments) > 1:
        seconds = max(moments) - min(moments)
    # Marks a log that has exit codes: a call without one is then left out of the success rate.
    metadata: dict[str, object] = {"session": key, "version": session.version, "exit_codes": True}
    if moments:
        metadata["ts"] = max(moments)
    if session.retries:
        metadata["retries"] = session.retries
    if session.corrections:
        metadata["user_corrections"] = session.corrections
    return Trace(
        steps=tuple(session.calls),
        started=min(moments) if moments else None,
        seconds=seconds,
        metadata=metadata,
    )
