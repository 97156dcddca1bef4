"""Files of hook events, one trace per session: `PreToolUse` and `PostToolUse` make one call."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from fourscore.core import DataError, Message, Trace
from fourscore.formats.logs.hook_event import AFTER, BEFORE, FAILED, read_event_outcome
from fourscore.formats.logs.open_call import OpenCall, make_step
from fourscore.formats.logs.tool_record import parse_foreign_time


class _Session(msgspec.Struct, kw_only=True):
    steps: list[OpenCall | Message] = []
    open: dict[str, OpenCall] = {}
    moments: list[float] = []
    output: Any = None


def read_hook_traces(events: Iterable[tuple[int, dict[str, object]]]) -> Iterator[Trace]:
    """Read one trace per session from (line number, event) pairs.

    A call that never finished has no result.
    """
    sessions: dict[str, _Session] = {}
    for line, event in events:
        try:
            key = str(event.get("session_id") or "")
            _add(sessions.setdefault(key, _Session()), event)
        except DataError as error:
            raise DataError(error.message, line=line, field=error.field) from None
        except ValueError as error:
            raise DataError(str(error), line=line) from None
    for key, session in sessions.items():
        moments = session.moments
        yield Trace(
            output=session.output,
            steps=tuple(map(make_step, session.steps)),
            started=min(moments) if moments else None,
            seconds=max(moments) - min(moments) if len(moments) > 1 else None,
            metadata={"session": key, **({"ts": max(moments)} if moments else {})},
        )


def _add(session: _Session, event: dict[str, object]) -> None:
    kind = event.get("hook_event_name")
    moment = parse_foreign_time(event.get("ts", event.get("timestamp")))
    if moment is not None:
        session.moments.append(moment)
    if kind == "UserPromptSubmit" and isinstance(event.get("prompt"), str):
        session.steps.append(Message(role="user", content=event["prompt"]))
    if kind == "Stop" and isinstance(event.get("last_assistant_message"), str):
        session.output = event["last_assistant_message"]
    if kind not in (BEFORE, AFTER, FAILED):
        return
    tool = event.get("tool_name")
    if not isinstance(tool, str) or not tool:
        raise DataError("expected text", field="tool_name")
    key = str(event.get("tool_use_id") or "")
    asked = event.get("tool_input")
    if not key:  # older versions send no id: match by the tool's input
        key = f"{tool}\0{msgspec.json.encode(asked).decode()}"
    call = session.open.pop(key, None)
    if call is None:
        call = OpenCall(name=tool, arguments=asked)
        session.steps.append(call)
    if kind == BEFORE:
        session.open[key] = call
        return
    call.exit_code, call.error = read_event_outcome(event)
    call.result = event.get("tool_response")
