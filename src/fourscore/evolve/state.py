"""state.json: the current position of an evolution, derived from its log.

It is for people and programs that do not read the log, and has the number of log lines that it was
derived from. If it has fewer lines than the log, a process was killed, and it is written again. Any
other difference means that a file was edited by hand: that is an error, which names the field.
"""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from fourscore.core import ConfigError, DataError
from fourscore.evolve.history import History
from fourscore.formats.json_keys import check_undecoded
from fourscore.formats.validation import explain_json_error
from fourscore.formats.yaml_file import parse_yaml

FORMAT = 1


class State(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of state.json; `lines` is the length of the log that it was derived from."""

    format: int = FORMAT
    active: int
    best: int
    branches: tuple[int, ...] = ()
    pending: int | None = None
    versions: int
    lines: Annotated[int, Meta(ge=1)]


def make_state(history: History) -> State:
    pending = history.pending
    return State(
        active=history.active,
        best=history.best,
        branches=history.branches,
        pending=None if pending is None else pending.number,
        versions=len(history.versions),
        lines=history.lines,
    )


def encode_state(state: State) -> bytes:
    return msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n"


def read_state(path: Path) -> State | None:
    """Return the content of state.json; None where there is no such file."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        state = msgspec.json.decode(text, type=State)
        check_undecoded(text)
    except DataError as error:
        raise _make_error(path, text, error.message, error.field or "") from None
    except msgspec.ValidationError as error:
        message, field = explain_json_error(error, text, State)
        raise _make_error(path, text, message, field or "") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _make_error(path, text, f"not JSON: {error}") from None
    if state.format != FORMAT:
        message = f"{state.format}: this version of fourscore can read format {FORMAT} only"
        raise _make_error(path, text, message, "format")
    return state


def check_state(path: Path, state: State, history: History) -> bool:
    """Return whether the state is up to date; raise a `DataError` where it contradicts the log."""
    if state.lines < history.lines:
        return False
    text = path.read_bytes()
    if state.lines > history.lines:
        message = f"it was derived from {state.lines} lines of log.jsonl, which has {history.lines}"
        hint = "restore the log, or delete state.json to use the log as it is"
        raise _make_error(path, text, f"{message}; {hint}", "lines")
    expected = make_state(history)
    for field in State.__struct_fields__:
        found, wanted = getattr(state, field), getattr(expected, field)
        if found != wanted:
            message = f"{_show(found)}, but {_show(wanted)} according to log.jsonl"
            hint = "use fourscore evolve rollback to change versions, or delete state.json"
            raise _make_error(path, text, f"{message}; {hint}", field)
    return True


def _show(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _make_error(path: Path, text: bytes, message: str, field: str = "") -> DataError:
    """Return the error with its line, found by the YAML reader, which can read JSON."""
    hint = "" if field else "; delete it, and it is made again from log.jsonl"
    place, line = field.partition("[")[0], None
    if field:
        with suppress(ConfigError):
            document = parse_yaml(text.decode("utf-8", "replace"), str(path))
            line = document.lines.get(place)
    return DataError(message + hint, file=str(path), line=line, field=field or None)
