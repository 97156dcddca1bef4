"""`state.json`: where an evolution stands, for people and for whoever wants to know quickly.

It follows from the log, and says after how many lines. Behind the log, it is what a killed process
left, and is written anew. In any other disagreement somebody has changed a file by hand, and it is
said which.
"""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from fourscore.core import DataError
from fourscore.evolve.history import History
from fourscore.formats.validation import explained_line
from fourscore.formats.yaml_file import parse_document

FORMAT = 1


class State(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`pending` is the candidate that waits for a decision, `lines` how long the log was."""

    format: int = FORMAT
    active: int
    best: int
    branches: tuple[int, ...] = ()
    pending: int | None = None
    versions: int
    lines: Annotated[int, Meta(ge=1)]


def state_of(history: History) -> State:
    pending = history.pending
    return State(
        active=history.active,
        best=history.best,
        branches=history.branches,
        pending=None if pending is None else pending.number,
        versions=len(history.versions),
        lines=history.lines,
    )


def encoded(state: State) -> bytes:
    return msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n"


def read_state(path: Path) -> State | None:
    """None where there is none."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        state = msgspec.json.decode(text, type=State)
    except msgspec.ValidationError as error:
        message, field = explained_line(error, text, State)
        raise _wrong(path, text, message, field or "") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _wrong(path, text, f"not JSON: {error}") from None
    if state.format != FORMAT:
        message = f"{state.format}: this version of fourscore knows format {FORMAT}"
        raise _wrong(path, text, message, "format")
    return state


def check_state(path: Path, state: State, history: History) -> bool:
    """Whether it is up to date; an error where it cannot have come from this log."""
    if state.lines < history.lines:
        return False
    text = path.read_bytes()
    if state.lines > history.lines:
        message = f"it knows {state.lines} lines of log.jsonl, which has {history.lines}"
        hint = "restore the log, or delete state.json to go by the log as it is"
        raise _wrong(path, text, f"{message}; {hint}", "lines")
    expected = state_of(history)
    for field in State.__struct_fields__:
        found, wanted = getattr(state, field), getattr(expected, field)
        if found != wanted:
            message = f"{_told(found)}, but by log.jsonl it is {_told(wanted)}"
            hint = "use fourscore evolve rollback to change versions, or delete state.json"
            raise _wrong(path, text, f"{message}; {hint}", field)
    return True


def _told(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _wrong(path: Path, text: bytes, message: str, field: str = "") -> DataError:
    """JSON is YAML, whose reader knows the lines."""
    hint = "" if field else "; delete it to have it made again from log.jsonl"
    place, line = field.partition("[")[0], None
    if field:
        document = parse_document(text.decode("utf-8", "replace"), str(path))
        line = document.lines.get(place)
    return DataError(message + hint, file=str(path), line=line, field=field or None)
