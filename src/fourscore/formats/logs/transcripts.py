"""Session transcripts of Claude Code: JSONL below `~/.claude/projects`, one trace per session.

A line is one message, or one block of it: the blocks of a reply are on separate lines with the
same message id. Lines of other types (summaries, snapshots of files) are ignored. Calls of
subagents count as calls; their text is not the output.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from fourscore.core import DataError, Message, Trace, Usage
from fourscore.formats.logs.open_call import OpenCall, make_step
from fourscore.formats.logs.tool_record import parse_foreign_time

TYPES = ("user", "assistant")
#: Texts in a transcript that mean a person stopped the agent or refused a call.
STOPPED = (
    "[Request interrupted by user",
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
)


class _Session(msgspec.Struct, kw_only=True):
    steps: list[OpenCall | Message] = []
    open: dict[str, OpenCall] = {}
    moments: list[float] = []
    usage: dict[str, Usage] = {}
    output: str | None = None
    corrections: int = 0
    version: str = ""


def read_transcript_traces(lines: Iterable[tuple[int, dict[str, object]]]) -> Iterator[Trace]:
    """Read one trace per session from (line number, line) pairs."""
    sessions: dict[str, _Session] = {}
    for number, line in lines:
        if line.get("type") not in TYPES or line.get("isMeta") is True:
            continue
        try:
            key = str(line.get("sessionId") or "")
            _add(sessions.setdefault(key, _Session()), line)
        except DataError as error:
            raise DataError(error.message, line=number, field=error.field) from None
        except ValueError as error:
            raise DataError(str(error), line=number) from None
    for key, session in sessions.items():
        yield _trace(key, session)


def _add(session: _Session, line: Mapping[str, object]) -> None:
    message = line.get("message")
    if not isinstance(message, Mapping):
        raise DataError("expected an object", field="message")
    try:
        moment = parse_foreign_time(line.get("timestamp"))
    except (DataError, TypeError):
        raise DataError("expected a time", field="timestamp") from None
    if moment is not None:
        session.moments.append(moment)
    session.version = str(line.get("version") or session.version)
    if isinstance(message.get("usage"), Mapping):
        session.usage[str(message.get("id") or len(session.usage))] = _usage(message["usage"])
    role, content = str(line["type"]), message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise DataError("expected text or a list of blocks", field="message.content")
    for position, block in enumerate(content):
        if not isinstance(block, Mapping):
            raise DataError("expected an object", field=f"message.content[{position}]")
        _block(session, role, block, aside=line.get("isSidechain") is True)


def _block(session: _Session, role: str, block: Mapping[str, object], *, aside: bool) -> None:
    kind = block.get("type")
    text = block.get("text")
    if kind == "text" and isinstance(text, str):
        if role == "user" and text.startswith(STOPPED):
            session.corrections += 1
        session.steps.append(Message(role=role, content=text))
        if role == "assistant" and not aside and text.strip():
            session.output = text
    elif kind == "tool_use":
        name = block.get("name")
        if not isinstance(name, str) or not name:
            raise DataError("expected text", field="message.content.name")
        call = OpenCall(name=name, arguments=block.get("input"))
        session.steps.append(call)
        session.open[str(block.get("id"))] = call
    elif kind == "tool_result":
        answered = session.open.pop(str(block.get("tool_use_id")), None)
        if answered is not None:
            _result(session, answered, block)


def _result(session: _Session, call: OpenCall, block: Mapping[str, object]) -> None:
    content = block.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        if len(words := [text for text in texts if isinstance(text, str)]) == len(content):
            content = "\n".join(words)
    if isinstance(content, str) and content.startswith(STOPPED):
        session.corrections += 1  # the person refused: not a failure of the tool
        return
    call.result = "" if content is None else content
    if block.get("is_error") is True:
        call.error = content[:500] if isinstance(content, str) and content else "it failed"
    else:
        call.exit_code = 0  # a result that is not marked as an error is a success


def _usage(given: Mapping[str, object]) -> Usage:
    def count(*keys: str) -> int:
        found = (given.get(key) for key in keys)
        return sum(n for n in found if type(n) is int and n > 0)

    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        calls=1,
        input_tokens=count("input_tokens", *cached),
        output_tokens=count("output_tokens"),
    )


def _trace(key: str, session: _Session) -> Trace:
    moments = session.moments
    metadata: dict[str, object] = {"session": key, "version": session.version}
    if moments:
        metadata["ts"] = max(moments)
    if session.corrections:
        metadata["user_corrections"] = session.corrections
    usage = Usage()
    for each in session.usage.values():
        usage += each
    return Trace(
        output=session.output,
        steps=tuple(map(make_step, session.steps)),
        started=min(moments) if moments else None,
        seconds=max(moments) - min(moments) if len(moments) > 1 else None,
        usage=usage if session.usage else None,
        metadata=metadata,
    )
