"""Case files as CSV: a header, then one case per row.

A cell is text; an empty cell is absent. Numbers stay text, because `007` and `1e5` are answers as
often as numbers. Other values have two forms: a JSON object (`{"answer": "4"}`) is read as one, and
after `json:` the rest is any JSON value (`json:42`, `json:["a,b"]`). The writer uses both and so
loses nothing. `tags` are separated by commas; `metadata` is a JSON object. A column `check:NAME`
has the value of one check, or after `json:` an object with its options too.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from fourscore.core import Case, DataError
from fourscore.formats.case_records import CaseRecord, decode_json
from fourscore.formats.json_keys import RepeatedKeyError
from fourscore.formats.line_chunks import MAX_LINE, read_chunks

COLUMNS = (
    *("id", "input", "expected", "tags", "complexity", "task_type"),
    *("group", "checks", "turns", "metadata"),
)
#: Columns whose cells are always text, even where they look like an object.
WORDS = frozenset({"id", "complexity", "task_type", "group"})
MARK, CHECK = "json:", "check:"
MAX_COLUMNS = 10_000


def read_csv(stream: BinaryIO) -> Iterator[CaseRecord]:
    """Yield the rows below the header as records."""
    # The limit belongs to the whole process and is 128 KiB; a case may be as long as a line.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    lines = _Lines(stream)
    reader = csv.reader(lines, strict=True)
    header: list[str] | None = None
    while True:
        first = lines.first = reader.line_num + 1
        lines.size = 0
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DataError(f"not CSV: {error}", line=first) from None
        if cells is None:
            break
        if not cells:
            continue  # a blank line
        if header is None:
            header = _header(cells, first)
        elif len(cells) != len(header):
            message = f"the header has {len(header)} columns, this row {len(cells)}"
            raise DataError(message, line=first)
        else:
            yield _record(header, cells, first)
    if header is None:
        raise DataError("expected a header with the names of the columns", line=1)


def write_csv(cases: Iterable[Case]) -> Iterator[bytes]:
    """Yield the cases as CSV, one row at a time; lines end with CRLF (RFC 4180)."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for case in cases:
        yield _taken(text)
        writer.writerow(
            (
                _cell(case.id),
                MARK + "null" if case.input is None else _cell(case.input),
                _cell(case.expected),
                _tags_cell(case.tags),
                _cell(case.complexity),
                _cell(case.task_type),
                _cell(case.group),
                MARK + _json(case.checks) if case.checks else "",
                MARK + _json(case.turns) if case.turns else "",
                _json(case.metadata) if case.metadata else "",
            )
        )
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    written = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return written


class _Lines:
    """The lines of a file; a row of several lines is bounded as one line is."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.first, self.size = 1, 0

    def __iter__(self) -> Iterator[str]:
        for chunk in read_chunks(self.stream):
            lines = chunk.text.split(b"\n")
            if not lines[-1]:
                lines.pop()  # nothing follows the last newline
            for number, line in enumerate(lines, chunk.first):
                self.size += len(line) + 1
                if self.size > MAX_LINE:
                    raise DataError(f"a row longer than {MAX_LINE >> 20} MiB", line=self.first)
                try:
                    yield line.decode() + "\n"
                except UnicodeDecodeError as error:
                    message = f"not UTF-8 at byte {error.start + 1}"
                    raise DataError(message, line=number) from None


def _header(cells: list[str], line: int) -> list[str]:
    if len(cells) > MAX_COLUMNS:
        message = f"the header has {len(cells):,} columns, more than {MAX_COLUMNS:,}"
        raise DataError(message, line=line)
    names: dict[str, None] = {}
    for position, cell in enumerate(cells):
        name = cell.strip()
        if not name:
            raise DataError(f"column {position + 1} of the header has no name", line=line)
        if name in names:
            raise DataError("two columns have this name", line=line, field=name)
        names[name] = None
    if "input" not in names:
        had = ", ".join([*names][:20])
        raise DataError(f"no such column; there are {had}", line=line, field="input")
    return [*names]


def _record(header: list[str], cells: list[str], line: int) -> CaseRecord:
    fields: dict[str, object] = {}
    checks: list[dict[str, object]] = []
    replaced = 0
    for name, cell in zip(header, cells, strict=True):
        if not cell:
            continue
        try:
            value, lone = _read_cell(name, cell)
            if name.startswith(CHECK):
                checks.append(_read_check(name.removeprefix(CHECK), value))
            else:
                fields[name] = value
        except DataError as error:
            field = name + (f".{error.field}".replace(".[", "[", 1) if error.field else "")
            raise DataError(error.message, line=line, field=field) from None
        replaced += lone
    if checks:
        if "checks" in fields:
            message = f"there are columns {CHECK}… too; keep one of the two forms"
            raise DataError(message, line=line, field="checks")
        fields["checks"] = checks
    return CaseRecord(line=line, fields=fields, replaced=replaced)


def _read_cell(name: str, cell: str) -> tuple[object, int]:
    if cell.startswith(MARK):
        return decode_json(cell[len(MARK) :].encode())
    if name == "tags":
        return _tags(cell), 0
    if cell[0] == "{" and name not in WORDS:
        try:
            return decode_json(cell.encode())
        except RepeatedKeyError:
            raise
        except DataError:
            # `{1, 2}` or a template is text; `{"` in `expected` was meant to be an object.
            if name == "expected" and cell[1:].lstrip().startswith('"'):
                raise
    if name == "metadata":
        raise DataError("expected a JSON object")
    return cell, 0


def _read_check(name: str, value: object) -> dict[str, object]:
    """Return one check of a case: its value, or an object that has its name and options."""
    name = name.strip()
    if isinstance(value, str) and value.strip().lower() == "true":
        value = True
    return dict(value) if isinstance(value, dict) and name in value else {name: value}


def _tags(cell: str) -> list[str]:
    return [tag for tag in (part.strip() for part in cell.split(",")) if tag]


def _tags_cell(tags: tuple[str, ...]) -> str:
    cell = ",".join(tags)
    plain = not cell.startswith(MARK) and _tags(cell) == list(tags)
    return cell if plain else MARK + _json(tags)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        plain = value and not value.startswith(("{", MARK))
        return value if plain else MARK + _json(value)
    return _json(value) if isinstance(value, dict) else MARK + _json(value)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
