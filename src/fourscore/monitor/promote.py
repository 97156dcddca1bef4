"""`fourscore monitor promote`: add an interaction from production to a file of test cases.

The case has the redacted text from the store; its metadata says which interaction it comes from.
The same interaction is not added twice.
"""

import fcntl
import os
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import Case, DataError
from fourscore.formats.case_records import find_file_kind
from fourscore.formats.case_writer import make_fields
from fourscore.formats.cases import CaseFile
from fourscore.monitor.sample import FullText, Sample, read_sample, read_text
from fourscore.stores.monitor import MonitorStore

#: The key of a case's metadata that says where it comes from.
PROMOTED = "promoted"


def read_case(store: MonitorStore, monitor: str, id_: str) -> Case:
    """Return the case of a stored interaction; raise a `DataError` if its text was deleted."""
    stored = store.sample(monitor, id_)
    if stored is None:
        message = (
            f"no interaction {id_!r} of monitor {monitor!r}; fourscore monitor watch shows ids"
        )
        raise DataError(message, file=str(store.path))
    sample = read_sample(stored.body)
    if stored.text is None:
        message = (
            f"the text of {id_!r} has expired (keep_text, 7 days by default) or was never kept;"
            " only the beginning of its query is left, which is not enough for a case"
        )
        raise DataError(message, file=str(store.path))
    return make_case(monitor, sample, read_text(stored.text))


def make_case(monitor: str, sample: Sample, text: FullText) -> Case:
    """Return a case with the question; the answer and its score go to the metadata."""
    case = text.case
    origin: dict[str, Any] = {
        "from": "fourscore monitor",
        "monitor": monitor,
        "interaction": sample.id,
        "at": sample.at,
        "status": str(sample.status),
        "score": sample.value,
        "reason": sample.reason,
        "output": sample.preview,
    }
    return Case(
        id=sample.id,
        input=case.input,
        expected=case.expected,
        metadata={**case.metadata, PROMOTED: origin},
        tags=case.tags,
        complexity=case.complexity,
        task_type=case.task_type,
    )


def append_case(path: str, case: Case) -> int:
    """Append a case to a JSONL file and return its line number.

    Raises a `DataError` if the file has the case already. The file is locked, so that two processes
    do not add the same case.
    """
    if find_file_kind(path) != "jsonl":
        raise DataError("expected a file name that ends in .jsonl", file=path, field="--to")
    try:
        stream = Path(path).open("ab+")  # noqa: SIM115 - only opening may fail as bad input
    except OSError as error:
        raise DataError(error.strerror or "cannot be written", file=path) from None
    with stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        _refuse_duplicate(path, case)
        size = stream.seek(0, os.SEEK_END)
        is_ended = True
        if size:
            stream.seek(size - 1)
            is_ended = stream.read(1) == b"\n"
        stream.write((b"" if is_ended else b"\n") + msgspec.json.encode(make_fields(case)) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
        stream.seek(0)
        return sum(1 for _ in stream)


def _refuse_duplicate(path: str, case: Case) -> None:
    origin = case.metadata[PROMOTED]
    for line, there in CaseFile(path).lined():
        found = there.metadata.get(PROMOTED)
        if isinstance(found, dict) and _get_source(found) == _get_source(origin):
            raise DataError(f"{case.id!r} is in the file already", file=path, line=line)
        if there.id == case.id:
            raise DataError(
                f"another case has the id {case.id!r}", file=path, line=line, field="id"
            )
        if there.input == case.input:
            message = f"case {there.id!r} has the same input"
            raise DataError(message, file=path, line=line, field="input")


def _get_source(origin: dict[str, Any]) -> tuple[object, object]:
    return origin.get("monitor"), origin.get("interaction")
