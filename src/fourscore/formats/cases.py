"""A file of cases: checked as a whole in bounded memory, then streamed.

Everything later refers to cases by id, so `check` makes sure that ids are unique before the first
case runs. It keeps eight bytes per case, a hash of the id; where two hashes are equal, a second
pass compares those ids. A case without an id gets the digest of its input, and the same input again
`<digest>#2`, `#3` in the order of the file.

A run may read the file for hours: a file that changes after the check is refused. A pipe is copied
to a temporary file, so that it too can be read twice.
"""

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from fourscore.core import Case, CaseError, DataError
from fourscore.formats.atomic_file import make_draft, remove_dead_drafts
from fourscore.formats.case_csv import read_csv
from fourscore.formats.case_fields import has_own_id, parse_case
from fourscore.formats.case_records import (
    ENDINGS,
    CaseRecord,
    FileKind,
    find_file_kind,
    read_json,
    read_jsonl,
    read_yaml,
)
from fourscore.formats.case_writer import write_cases

__all__ = ["CaseFile", "CaseFileInfo", "write_cases"]

READERS = {"jsonl": read_jsonl, "json": read_json, "yaml": read_yaml, "csv": read_csv}
#: Hashes are split into this many buckets, and one at a time is searched for duplicates.
HEAPS = 64

_ENCODER = msgspec.json.Encoder(order="sorted")


class CaseFileInfo(msgspec.Struct, frozen=True):
    """Facts about a checked file.

    `digest` covers its cases in order, whatever the format; `replaced` counts lone surrogates that
    were read as U+FFFD, `with_checks` the cases that have checks of their own.
    """

    count: int
    digest: str
    replaced: int = 0
    with_checks: int = 0


class _Read(msgspec.Struct, frozen=True, kw_only=True):
    line: int
    case: Case
    named: bool
    replaced: int


class _Checked(NamedTuple):
    info: CaseFileInfo
    stamp: tuple[int, ...]
    repeated: frozenset[str]


class CaseFile:
    """Cases in JSONL, JSON, YAML or CSV, by the ending of the name; `-` is JSONL from stdin.

    Only one object can read a stream (stdin, a pipe): a second one finds nothing. `check_case`
    raises a `CaseError` for a case whose own checks are wrong.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        check_case: Callable[[Case], object] | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self._check_case = check_case
        self.name = "stdin" if self.path == "-" else self.path
        self._kept: tempfile._TemporaryFileWrapper[bytes] | None = None
        self._checked: _Checked | None = None
        self._kind: FileKind = self._kind_of()

    def check(self) -> CaseFileInfo:
        """Read the whole file; raise a `DataError` with line and field at the first mistake."""
        return self._check().info

    def cases(self) -> Iterator[Case]:
        """Yield the cases in the order of the file, which is checked first."""
        return (case for _, case in self.lined())

    def lined(self) -> Iterator[tuple[int, Case]]:
        """Yield each case with its line number."""
        checked = self._check()
        seen: Counter[str] = Counter()
        with self._opened() as stream:
            self._unchanged(stream, checked)
            for read in self._read(stream):
                case = read.case
                if not read.named and case.id in checked.repeated:
                    seen[case.id] += 1
                    case_id = _numbered(case.id, seen[case.id])
                    case = msgspec.structs.replace(case, id=case_id)
                yield read.line, case
            self._unchanged(stream, checked)

    def _kind_of(self) -> FileKind:
        kind = find_file_kind(self.path)
        if kind is None and not self.flows:
            raise DataError(f"its name ends in none of {', '.join(ENDINGS)}", file=self.name)
        return kind or "jsonl"

    @property
    def flows(self) -> bool:
        """Return whether this is stdin or a pipe, which can be read only once."""
        if self.path == "-":
            return True
        try:
            mode = Path(self.path).stat().st_mode
        except (OSError, ValueError):
            return False  # opening it will say why
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if self._kept is None and self.flows:
            self._kept = self._keep()
        path = self.path if self._kept is None else self._kept.name
        try:
            stream = Path(path).open("rb")  # noqa: SIM115 - only opening may fail as bad input
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None) or str(error)
            raise DataError(words, file=self.name) from None
        with stream:
            yield stream

    def _keep(self) -> "tempfile._TemporaryFileWrapper[bytes]":
        folder = Path(tempfile.gettempdir())
        remove_dead_drafts(folder)
        handle, path = make_draft(folder, "cases")
        kept = tempfile._TemporaryFileWrapper(os.fdopen(handle, "w+b"), path)
        if self.path != "-":
            with Path(self.path).open("rb") as stream:
                shutil.copyfileobj(stream, kept)
        elif sys.stdin is None:
            raise DataError("it is closed", file=self.name)
        else:
            shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        return kept

    def _read(self, stream: BinaryIO) -> Iterator[_Read]:
        try:
            for record in READERS[self._kind](stream):
                fields = record.fields
                if not isinstance(fields, dict):
                    message = f"expected an object, got {type(fields).__name__}"
                    raise self._refused(DataError(message), record)
                try:
                    case = parse_case(fields)
                    if self._check_case is not None:
                        self._check_case(case)
                except CaseError as error:
                    raise self._refused(DataError(error.message, field=error.key), record) from None
                except DataError as error:
                    raise self._refused(error, record) from None
                yield _Read(
                    line=record.line, case=case, named=has_own_id(fields), replaced=record.replaced
                )
        except DataError as error:
            if error.file is not None:
                raise
            raise DataError(
                error.message, file=self.name, line=error.line, field=error.field
            ) from None
        except OSError as error:  # a folder opens, and cannot be read
            raise DataError(error.strerror or "cannot be read", file=self.name) from None

    def _refused(self, error: DataError, record: CaseRecord) -> DataError:
        """Return the error with the line of its field where that is known, else of its case."""
        field = ".".join(part for part in (record.place, error.field) if part)
        path, line = field, record.line
        while path:
            if path in record.lines:
                line = record.lines[path]
                break
            path = path.rpartition(".")[0]
        return DataError(error.message, file=self.name, line=line, field=field or None)

    def _check(self) -> _Checked:
        with self._opened() as stream:
            stamp = _stamp(stream)
            if self._checked is not None and self._checked.stamp == stamp:
                return self._checked
            count, named, replaced, with_checks = 0, 0, 0, 0
            content = hashlib.blake2b(digest_size=16)
            heaps = [array("q") for _ in range(HEAPS)]
            for read in self._read(stream):
                count += 1
                named += read.named
                replaced += read.replaced
                with_checks += bool(read.case.checks)
                content.update(_ENCODER.encode(read.case))
                content.update(b"\n")
                mark = hash(read.case.id)
                heaps[mark % HEAPS].append(mark)
        twice = {mark for heap in heaps for mark in _repeated(heap)}
        own = self._own_ids(twice) if twice and named else {}
        repeated = self._repeated_inputs(twice, own) if twice and named < count else frozenset()
        info = CaseFileInfo(count, content.hexdigest(), replaced, with_checks)
        self._checked = _Checked(info, stamp, repeated)
        return self._checked

    def _own_ids(self, twice: set[int]) -> dict[str, int]:
        """Return the lines of explicit ids with these hashes; an error where one is used twice.

        `<digest>#2` is included: a case without an id may get that id.
        """
        lines: dict[str, int] = {}
        with self._opened() as stream:
            for read in self._read(stream):
                case_id = read.case.id
                if read.named and (
                    hash(case_id) in twice or hash(case_id.partition("#")[0]) in twice
                ):
                    if case_id in lines:
                        raise self._used_twice(case_id, lines[case_id], read.line)
                    lines[case_id] = read.line
        return lines

    def _repeated_inputs(self, twice: set[int], own: dict[str, int]) -> frozenset[str]:
        """Return the digests of inputs that occur more than once without an id."""
        counts: Counter[str] = Counter()
        with self._opened() as stream:
            for read in self._read(stream):
                if not read.named and hash(read.case.id) in twice:
                    counts[read.case.id] += 1
                    case_id = _numbered(read.case.id, counts[read.case.id])
                    if case_id in own:
                        raise self._used_twice(case_id, own[case_id], read.line)
        return frozenset(case_id for case_id, n in counts.items() if n > 1)

    def _used_twice(self, case_id: str, one: int, other: int) -> DataError:
        first, second = sorted((one, other))
        message = f"{case_id!r} is used twice, in line {first} and line {second}"
        return DataError(message, file=self.name, line=second, field="id")

    def _unchanged(self, stream: BinaryIO, checked: _Checked) -> None:
        if _stamp(stream) != checked.stamp:
            raise DataError("it changed after it was checked", file=self.name)


def _numbered(case_id: str, n: int) -> str:
    return case_id if n == 1 else f"{case_id}#{n}"


def _repeated(heap: "array[int]") -> set[int]:
    if len(set(heap)) == len(heap):
        return set()
    return {mark for mark, n in Counter(heap).items() if n > 1}


def _stamp(stream: BinaryIO) -> tuple[int, ...]:
    status = os.fstat(stream.fileno())
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
