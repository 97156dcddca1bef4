"""Write cases to a file, so that reading it gives the same cases.

All four formats are written a case at a time. `metadata` stays one object: spread over the
case, its keys could collide with those of the fields.
"""

import os
import re
from collections.abc import Iterable, Iterator

import msgspec

from fourscore.core import Case, DataError
from fourscore.formats.atomic_file import open_atomic
from fourscore.formats.case_csv import write_csv
from fourscore.formats.case_records import ENDINGS, find_file_kind

#: Characters that YAML wants escaped and JSON does not.
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
#: A longer key would need YAML's complex key syntax.
YAML_KEY = 1000

_ENCODER = msgspec.json.Encoder()


def write_cases(path: str | os.PathLike[str], cases: Iterable[Case]) -> int:
    """Write JSONL, JSON, YAML or CSV by the ending of the name (`-`: JSONL to stdout)."""
    name = os.fspath(path)
    kind = "jsonl" if name == "-" else find_file_kind(name)
    if kind is None:
        raise DataError(f"its name ends in none of {', '.join(ENDINGS)}", file=name)
    writer = {"jsonl": _jsonl, "json": _json, "yaml": _yaml, "csv": write_csv}[kind]
    counted = _Counted(cases)
    with open_atomic(name) as stream:
        for part in writer(counted):
            stream.write(part)
    return counted.n


def make_fields(case: Case) -> dict[str, object]:
    """Return the fields of a case for a file: id and input always, the rest where it is set."""
    fields: dict[str, object] = {"id": case.id, "input": case.input}
    if case.expected is not None:
        fields["expected"] = case.expected
    if case.tags:
        fields["tags"] = list(case.tags)
    if case.complexity is not None:
        fields["complexity"] = case.complexity
    if case.task_type is not None:
        fields["task_type"] = case.task_type
    if case.group is not None:
        fields["group"] = case.group
    if case.checks:
        fields["checks"] = list(case.checks)
    if case.turns:
        fields["turns"] = msgspec.to_builtins(case.turns)
    if case.metadata:
        fields["metadata"] = case.metadata
    return fields


class _Counted:
    """Cases that are counted while they are iterated."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self.cases, self.n = cases, 0

    def __iter__(self) -> Iterator[Case]:
        for case in self.cases:
            self.n += 1
            yield case


def _jsonl(cases: Iterable[Case]) -> Iterator[bytes]:
    for case in cases:
        yield _ENCODER.encode(make_fields(case)) + b"\n"


def _json(cases: Iterable[Case]) -> Iterator[bytes]:
    before = b"[\n"
    for case in cases:
        yield before + b"  " + _ENCODER.encode(make_fields(case))
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


def _yaml(cases: Iterable[Case]) -> Iterator[bytes]:
    """Yield cases as YAML: one key per line, with values in JSON, which is valid YAML."""
    empty = True
    for case in cases:
        empty = False
        lines: list[str] = []
        for field, value in make_fields(case).items():
            _check_keys(case.id, field, value)
            text = _UNPRINTED.sub(_escaped, _ENCODER.encode(value).decode())
            lines.append(f"{'  ' if lines else '- '}{field}: {text}\n")
        yield "".join(lines).encode()
    if empty:
        yield b"[]\n"


def _escaped(found: "re.Match[str]") -> str:
    return f"\\u{ord(found[0]):04x}"


def _check_keys(case_id: str, field: str, value: object) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if len(key) > YAML_KEY:
                message = f"case {case_id!r} has a key of {len(key)} characters, too long for YAML"
                raise DataError(message, field=field)
            _check_keys(case_id, field, item)
    elif isinstance(value, list):
        for item in value:
            _check_keys(case_id, field, item)
