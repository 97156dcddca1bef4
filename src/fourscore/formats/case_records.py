"""Case files in JSONL, JSON and YAML as streams of records; CSV is in `case_csv.py`.

JSONL is streamed. A JSON text is held in memory, but its cases are decoded one at a time, which
also gives their lines. YAML is for sets that people edit, and is read whole.
"""

import json
import re
from collections.abc import Generator, Iterator, Mapping
from pathlib import PurePath
from typing import Any, BinaryIO, Literal

import msgspec

from fourscore.core import ConfigError, DataError
from fourscore.core.frozen import EMPTY
from fourscore.formats.json_keys import check_decoded, check_json
from fourscore.formats.line_chunks import read_chunks, read_document
from fourscore.formats.validation import explain_json_error
from fourscore.formats.yaml_file import MAX_SIZE, check_size, parse_yaml

FileKind = Literal["jsonl", "json", "yaml", "csv"]
ENDINGS: dict[str, FileKind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".csv": "csv",
}
BOM = "\ufeff"


class CaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a case, its line, its path in the document and the lines of its keys."""

    line: int
    fields: Any
    replaced: int = 0
    place: str = ""
    lines: Mapping[str, int] = EMPTY


def find_file_kind(path: str) -> FileKind | None:
    """Return the format of a file by the ending of its name."""
    return ENDINGS.get(PurePath(path).suffix.lower())


def decode_json(text: bytes) -> tuple[Any, int]:
    """Return a JSON value and its number of lone surrogates, which the fast decoder refuses."""
    try:
        value = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _second_reading(text, error)
    check_decoded(text, value)
    return value, 0


def count_lone_surrogates(value: object) -> int:
    """Return the number of lone surrogates, in keys too; a Case replaces them by U+FFFD."""
    return len(_LONE.findall(json.dumps(value, ensure_ascii=False)))


_DECODER = msgspec.json.Decoder()
_LONE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n]*")


def read_jsonl(stream: BinaryIO) -> Iterator[CaseRecord]:
    for chunk in read_chunks(stream):
        for number, line in chunk.lines():
            try:
                value, replaced = decode_json(line)
            except DataError as error:
                raise DataError(error.message, line=number, field=error.field) from None
            yield CaseRecord(line=number, fields=value, replaced=replaced)


def _second_reading(text: bytes, first: Exception) -> tuple[object, int]:
    try:
        whole = text.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 at byte {error.start + 1}") from None
    if isinstance(first, RecursionError):
        raise DataError("nested too deeply")
    if isinstance(first, msgspec.ValidationError):  # an integer with too many digits
        message, field = explain_json_error(first, whole)
        raise DataError(message, field=field)
    if "\\ud" not in whole.lower():
        raise DataError(f"not JSON: {first}")
    try:
        value = _SCANNER.decode(whole)
        replaced = count_lone_surrogates(value)
    except RecursionError:
        raise DataError("nested too deeply") from None
    except ValueError as error:
        raise DataError(f"not JSON: {error}") from None
    check_json(text)
    return value, replaced


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


_SCANNER = json.JSONDecoder(parse_constant=_no_constant)


def _text(raw: bytes) -> str:
    try:
        return raw.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        start = raw.rfind(b"\n", 0, error.start) + 1
        raise DataError(f"not UTF-8 at byte {error.start - start + 1}", line=line) from None


def read_json(stream: BinaryIO) -> Iterator[CaseRecord]:
    """Yield the cases of a list, or of an object with a list under `cases`."""
    text = _text(read_document(stream))
    start = _after_space(text, 0)
    if text[start : start + 1] == "[":
        end = yield from _items(text, start, "")
    elif text[start : start + 1] == "{":
        end = yield from _members(text, start)
    else:
        raise DataError("expected a list of cases, or an object with cases", line=1)
    end = _after_space(text, end)
    if end < len(text):
        raise DataError("not JSON: something follows its end", line=_line(text, end))


def _members(text: str, start: int) -> Generator[CaseRecord, None, int]:
    """Yield the cases of an object; its other keys (a name, a description) are ignored."""
    found, at = set[str](), _after_space(text, start + 1)
    while text[at : at + 1] != "}":
        begins = at
        key, at = _value(text, at)
        if not isinstance(key, str):
            raise DataError("not JSON: expected a key", line=_line(text, begins))
        if key in found:
            raise DataError("the key is used twice", line=_line(text, at), field=key)
        found.add(key)
        at = _expect(text, at, ":")
        if key == "cases":
            if text[at : at + 1] != "[":
                raise DataError("expected a list", line=_line(text, at), field="cases")
            at = yield from _items(text, at, "cases")
        else:
            _, at = _value(text, at)
        at = _after_space(text, at)
        if text[at : at + 1] != "}":
            at = _expect(text, at, ",")
            if text[at : at + 1] == "}":
                raise DataError("not JSON: expected a key", line=_line(text, at))
    if "cases" not in found:
        raise DataError("missing", line=_line(text, start), field="cases")
    return at + 1


def _items(text: str, start: int, place: str) -> Generator[CaseRecord, None, int]:
    at = _after_space(text, start + 1)
    line, seen, position = _line(text, at), at, 0
    if text[at : at + 1] == "]":
        return at + 1
    while True:
        line, seen = line + text.count("\n", seen, at), at
        value, end = _value(text, at)
        raw = text[at:end]
        replaced = count_lone_surrogates(value) if "\\ud" in raw.lower() else 0
        try:
            check_decoded(raw.encode(), value)
        except DataError as error:
            field = f"{place}[{position}].{error.field}"
            raise DataError(error.message, line=line + (error.line or 1) - 1, field=field) from None
        yield CaseRecord(line=line, fields=value, replaced=replaced, place=f"{place}[{position}]")
        position += 1
        at = _after_space(text, end)
        if text[at : at + 1] == "]":
            return at + 1
        at = _expect(text, at, ",")


def _value(text: str, at: int) -> tuple[object, int]:
    try:
        return _SCANNER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise DataError("nested too deeply", line=_line(text, at)) from None
    except ValueError as error:  # NaN, or an integer that Python refuses to read
        raise DataError(f"not JSON: {error}", line=_line(text, at)) from None


def _expect(text: str, at: int, mark: str) -> int:
    at = _after_space(text, at)
    if text[at : at + 1] != mark:
        raise DataError(f"not JSON: expected {mark!r}", line=_line(text, at))
    return _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def read_yaml(stream: BinaryIO) -> Iterator[CaseRecord]:
    """Yield the cases of a YAML list or object, with the line of every key."""
    try:
        raw = stream.read(MAX_SIZE + 1)
        check_size(len(raw), "")
        document = parse_yaml(_text(raw), "")
    except ConfigError as error:
        raise DataError(error.message, line=error.line, field=error.field) from None
    value, place, lines = document.value, "", document.lines
    if isinstance(value, dict) and isinstance(value.get("cases"), list):
        value, place = value["cases"], "cases"
    if not isinstance(value, list):
        raise DataError("expected a list of cases, or an object with cases", line=1)
    for position, item in enumerate(value):
        here = f"{place}[{position}]"
        yield CaseRecord(line=lines.get(here, 1), fields=item, replaced=0, place=here, lines=lines)
