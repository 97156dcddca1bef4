"""The files that are derived from the log: the texts of the versions, and state.json.

`versions/` has the texts in use, `archive/` all others. The log has the digest of each text, so a
text that somebody edited by hand is refused.

state.json has the current position, for people and programs that do not read the log, and the
number of log lines that it was derived from. If it has fewer lines than the log, a process was
killed, and it is written again. Any other difference means that a file was edited by hand: that is
an error, which names the field.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from fourscore.core import DataError
from fourscore.evolve import atomic_files as files
from fourscore.evolve.history import History, Version
from fourscore.formats.validation import explain_json_error
from fourscore.formats.yaml_file import parse_yaml

FOLDERS = ("versions", "archive")
#: The most bytes of a version's text.
MAX_BYTES = 1_000_000


class VersionTexts:
    """The texts of all versions in one evolution folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def prepare(self, number: int, text: str) -> str:
        """Write a new text under a hidden name; return its digest."""
        data = text.encode()
        path = self._file("versions", number)
        if path.exists():
            message = "this file is not in log.jsonl: move it away"
            raise DataError(message, file=str(path))
        self.make_folders()
        files.prepare(path, data)
        return digest_text(data)

    def make_folders(self) -> None:
        for folder in FOLDERS:
            (self._path / folder).mkdir(exist_ok=True)

    def place(self, versions: Iterable[Version], kept: set[int]) -> None:
        """Move each text to its folder; remove drafts that are not in the log."""
        self.make_folders()
        for version in versions:
            wanted, other = FOLDERS if version.number in kept else FOLDERS[::-1]
            self._settle(version, wanted, other)
        for draft in self._path.glob("versions/.*.tmp"):
            draft.unlink()

    def find_file(self, number: int) -> Path:
        for folder in FOLDERS:
            path = self._file(folder, number)
            if path.is_file():
                return path
        return self._file("versions", number)

    def read(self, version: Version) -> str:
        number = version.number
        places = [self._file(folder, number) for folder in FOLDERS]
        # Another process may be moving the text right now, so both folders are tried twice.
        for place in (*places, files.get_draft_path(places[0]), *places):
            try:
                data = place.read_bytes()
            except FileNotFoundError:
                continue
            if digest_text(data) == version.digest:
                return data.decode()
            if place in places:
                message = f"this is not the text that version {number} was recorded with"
                hint = "restore it; a changed text is a new version"
                raise DataError(f"{message}; {hint}", file=str(place))
        message = f"the text of version {number} is missing; restore it"
        raise DataError(message, file=str(places[0]))

    def _settle(self, version: Version, wanted: str, other: str) -> None:
        path, elsewhere = (self._file(folder, version.number) for folder in (wanted, other))
        draft = files.get_draft_path(self._file("versions", version.number))
        if path.exists():
            return
        if elsewhere.exists():
            files.move_into_place(elsewhere, path)
        elif draft.exists() and digest_text(draft.read_bytes()) == version.digest:
            files.move_into_place(draft, path)

    def _file(self, folder: str, number: int) -> Path:
        return self._path / folder / f"{number:04d}.md"


def digest_text(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def check_text(text: str) -> None:
    """Raise a `DataError` for a text that is empty, too long or not UTF-8."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise DataError("expected text that is UTF-8", field="prompt") from None
    if not text.strip():
        raise DataError("expected some text", field="prompt")
    if size > MAX_BYTES:
        raise DataError(f"{size:,} bytes, expected at most {MAX_BYTES:,}", field="prompt")


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
    except msgspec.ValidationError as error:
        message, field = explain_json_error(error, text, State)
        raise _make_error(path, text, message, field or "") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
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
        document = parse_yaml(text.decode("utf-8", "replace"), str(path))
        line = document.lines.get(place)
    return DataError(message + hint, file=str(path), line=line, field=field or None)
