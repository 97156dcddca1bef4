"""A log file: its kind, recognised by its content, and its traces.

The reader of a kind is imported only when there is such a log.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

from msgspec.structs import replace

from fourscore.core import ConfigError, DataError, Trace
from fourscore.formats.case_records import decode_json
from fourscore.formats.line_chunks import MAX_LINE, read_document
from fourscore.formats.logs.json_objects import BrokenLine, ObjectBatches
from fourscore.formats.logs.tool_record import ToolRecord
from fourscore.formats.yaml_file import parse_yaml

#: The efficiency that a summary notes, once by time and once by tools: it is computed here anyway,
#: and YAML allows no key twice.
_EFFICIENCY = re.compile(r"^[ \t]+efficiency:[ \t]*[0-9.]+[ \t]*(?:#[^\n]*)?$", re.MULTILINE)

LogKind = Literal["executions", "summary", "hooks", "transcript", "messages", "spans", "inspect"]

#: Bytes and objects that are inspected to recognise the kind.
HEAD, LOOKS = 64 * 1024, 50
#: Kinds that may be one large object; the others have one object per call or message.
DOCUMENTS = ("summary", "messages", "spans", "inspect")
#: Keys under which a row may have its messages.
MESSAGES = ("messages", "traj", "trajectory")
_LINES = ("user", "assistant", "summary", "system", "file-history-snapshot", "queue-operation")


class LogFile:
    """A log of a known kind. `broken` counts skipped lines; the first of them are in `noted`."""

    def __init__(self, path: str, *, skip_broken: bool = False) -> None:
        self.path, self.skip = path, skip_broken
        with self.opened() as stream:
            head = _head(stream)
        self.kind: LogKind = _kind_of(head, path)
        #: The file is one document, not a sequence of objects.
        self.whole = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{" or (
            self.kind in DOCUMENTS and _is_one(head)
        )
        self.broken, self.noted = 0, list[BrokenLine]()

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        try:
            stream = Path(self.path).open("rb")  # noqa: SIM115 - only opening may fail as bad input
        except (OSError, ValueError) as error:
            message = getattr(error, "strerror", None) or str(error)
            raise DataError(message, file=self.path) from None
        with stream:
            try:
                yield stream
            except DataError as error:
                if error.file is not None:
                    raise
                message, line, field = error.message, error.line, error.field
                raise DataError(message, file=self.path, line=line, field=field) from None
            except IsADirectoryError as error:  # it opens, and cannot be read
                raise DataError(str(error.strerror), file=self.path) from None

    def traces(self) -> Iterator[Trace]:
        """Yield the traces of the log."""
        with self.opened() as stream:
            try:
                yield from self._traces(stream)
            except ValueError as error:  # a value that no trace can have
                raise DataError(str(error)) from None

    def _traces(self, stream: BinaryIO) -> Iterator[Trace]:
        if self.kind == "executions":
            from fourscore.formats.logs.executions import read_execution_traces

            yield from read_execution_traces(self._records(stream))
        elif self.kind == "summary":
            from fourscore.formats.logs.execution_summary import read_summary

            yield read_summary(self._document(stream))
        elif self.kind == "inspect":
            from fourscore.formats.logs.inspect_ai import read_inspect_traces

            yield from read_inspect_traces(self._document(stream))
        elif self.kind == "hooks":
            from fourscore.formats.logs.hook_log import read_hook_traces

            yield from read_hook_traces(self._objects(stream))
        elif self.kind == "transcript":
            from fourscore.formats.logs.transcripts import read_transcript_traces

            yield from read_transcript_traces(self._objects(stream))
        elif self.kind == "spans":
            from fourscore.formats.otlp.trace import read_span_traces

            yield from read_span_traces(self._objects(stream))
        else:
            yield from _conversations(self._objects(stream), Path(self.path).stem)

    def _records(self, stream: BinaryIO) -> Iterator[tuple[int, ToolRecord]]:
        batches = ObjectBatches(stream, ToolRecord, skip=self.skip)
        yield from batches.numbered() if not self.whole else read_record_list(stream, batches)
        self.broken, self.noted = batches.broken, batches.noted

    def _objects(self, stream: BinaryIO) -> Iterator[tuple[int, dict[str, object]]]:
        if self.whole:
            value = self._document(stream)
            for item in value if isinstance(value, list) else [value]:
                if not isinstance(item, Mapping) and self.kind != "messages":
                    raise DataError(f"expected an object, got {type(item).__name__}", line=1)
                yield 1, item
            return
        batches: ObjectBatches[dict[str, object]] = ObjectBatches(
            stream, dict[str, Any], skip=self.skip
        )
        yield from batches.numbered()
        self.broken, self.noted = batches.broken, batches.noted

    def _document(self, stream: BinaryIO) -> Any:
        text = read_document(stream).removeprefix(b"\xef\xbb\xbf")
        if text.lstrip()[:1] in (b"{", b"["):
            return decode_json(text)[0]
        try:
            written = _EFFICIENCY.sub("", text.decode("utf-8", "replace"))
            return parse_yaml(written, self.path).value
        except ConfigError as error:
            raise DataError(error.message, file=self.path, line=error.line) from None


def read_record_list(
    stream: BinaryIO, batches: ObjectBatches[ToolRecord]
) -> Iterator[tuple[int, ToolRecord]]:
    """Yield the records of one JSON list, or the single record that is the whole file."""
    value, _ = decode_json(read_document(stream))
    for position, item in enumerate(value if isinstance(value, list) else [value]):
        yield position + 1, batches.one(item, f"[{position}]")


def _conversations(rows: Iterator[tuple[int, object]], name: str) -> Iterator[Trace]:
    """Yield one trace for all rows that are messages, and one for each row that has messages."""
    from fourscore.formats.chat_messages import read_messages

    messages: list[object] = []
    for line, row in rows:
        if isinstance(row, Mapping) and "role" in row:
            messages.append(row)
            continue
        held = row if isinstance(row, list) else None
        if isinstance(row, Mapping):
            held = next((row[key] for key in MESSAGES if key in row), None)
        try:
            trace = read_messages(held)
        except DataError as error:
            raise DataError(error.message, line=line, field=error.field) from None
        yield replace(trace, metadata=_about(row, f"{name}:{line}"))
    if messages:
        yield replace(read_messages(messages), metadata={"session": name})


def _about(row: object, name: str) -> dict[str, object]:
    fields = row if isinstance(row, Mapping) else {}
    about = {key: fields[key] for key in ("session", "version", "ts", "task_type") if key in fields}
    return {"session": name, **about}


def _head(stream: BinaryIO) -> bytes:
    """Return the start of the file, with its whole first line: a conversation may be long."""
    head = stream.read(HEAD)
    if b"\n" not in head:
        head += stream.readline(MAX_LINE)
        head += stream.read(HEAD)
    return head


def _is_one(head: bytes) -> bool:
    """Return whether the head of the file contains only one object."""
    try:
        text = head.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        # Longer than the head; or broken, and then it is one of several, on a line of its own.
        return len(head) >= HEAD and b"}\n{" not in head and b"}\r\n{" not in head
    return not text[end:].strip()


def _kind_of(head: bytes, path: str) -> LogKind:
    text = head.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")
    if not text:
        raise DataError("it is empty", file=path)
    if text[0] not in "{[":
        if "execution:" in text:
            return "summary"
        raise DataError(_UNKNOWN, file=path, line=1)
    for value in _values(text):
        kind = _known(value)
        if kind is not None:
            return kind
    kind = _by_words(text)
    if kind is None:
        raise DataError(_UNKNOWN, file=path, line=1)
    return kind


_UNKNOWN = (
    "its kind is not known: expected execution records, a summary, hook events, a transcript, "
    "messages, spans or an inspect_ai log"
)


def _values(text: str) -> Iterator[object]:
    """Return the first readable objects of the file, or of the list that it contains."""
    scanner, at, looks = json.JSONDecoder(), 0, 0
    while at < len(text) and looks < LOOKS:
        looks += 1
        try:
            value, at = scanner.raw_decode(text, at)
            yield value
        except (ValueError, RecursionError):
            # Into the list, or on to the next line that begins an object.
            step = text.find("{", at + 1) if text[at] == "[" else text.find("\n{", at + 1)
            if step < 0:
                return
            at = step
        while at < len(text) and text[at] in ", \t\r\n":
            at += 1


def _known(value: object) -> LogKind | None:
    if isinstance(value, list):
        return next((kind for item in value[:LOOKS] if (kind := _known(item))), None)
    if not isinstance(value, Mapping):
        return None
    if "hook_event_name" in value:
        return "hooks"
    if "resourceSpans" in value or {"context", "attributes"} <= value.keys():
        return "spans"
    if "eval" in value and ("samples" in value or "status" in value):
        return "inspect"
    if isinstance(value.get("execution"), Mapping):
        return "summary"
    if "role" in value or any(isinstance(value.get(key), list) for key in MESSAGES):
        return "messages"
    if value.get("type") in _LINES and not isinstance(value.get("tool"), str):
        return "transcript"
    if isinstance(value.get("tool"), str) or "exit" in value:
        return "executions"
    return None


def _by_words(text: str) -> LogKind | None:
    """Recognise a document that is longer than the head by the keys at its start."""
    marks: tuple[tuple[str, LogKind], ...] = (
        ('"resourceSpans"', "spans"),
        ('"eval"', "inspect"),
        ('"role"', "messages"),
        ('"tool"', "executions"),
    )
    return next((kind for mark, kind in marks if mark in text), None)
