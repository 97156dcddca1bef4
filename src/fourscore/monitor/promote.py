"""`fourscore monitor promote`: an interaction of production as a case of a test set.

What is written is what was kept: the redacted text. The case says where it comes from, and stands
in the file once.
"""

import fcntl
import os
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import Case, DataError
from fourscore.formats.case_records import kind_of
from fourscore.formats.case_writer import fields_of
from fourscore.formats.cases import CaseFile
from fourscore.monitor.sample import FullText, Sample, read_sample, read_text
from fourscore.stores.monitor import MonitorStore

#: Where a case says where it comes from, in its metadata.
PROMOTED = "promoted"


def promoted(store: MonitorStore, monitor: str, id_: str) -> Case:
    """The case that a kept interaction is; a `DataError` where its text is not there."""
    kept = store.sample(monitor, id_)
    if kept is None:
        message = (
            f"no interaction {id_!r} of monitor {monitor!r}; fourscore monitor watch shows ids"
        )
        raise DataError(message, file=str(store.path))
    sample = read_sample(kept.body)
    if kept.text is None:
        message = (
            f"the text of {id_!r} has expired (after 7 days, unless told otherwise) or was never"
            " kept; of its query there is only the beginning, which is no case"
        )
        raise DataError(message, file=str(store.path))
    return case_of(monitor, sample, read_text(kept.text))


def case_of(monitor: str, sample: Sample, text: FullText) -> Case:
    """The question as it was asked; how it went is told in its metadata, not expected again."""
    case = text.case
    told: dict[str, Any] = {
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
        metadata={**case.metadata, PROMOTED: told},
        tags=case.tags,
        complexity=case.complexity,
        task_type=case.task_type,
    )


def append(path: str, case: Case) -> int:
    """Add the case at the end of a JSONL file; its line. A `DataError` where it is there already.

    The file is locked meanwhile, so that of two who promote the same one comes first.
    """
    if kind_of(path) != "jsonl":
        raise DataError("expected a name that ends in .jsonl", file=path, field="--to")
    try:
        stream = Path(path).open("ab+")  # noqa: SIM115 - only opening may fail as bad input
    except OSError as error:
        raise DataError(error.strerror or "cannot be written", file=path) from None
    with stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        _refuse_twice(path, case)
        size = stream.seek(0, os.SEEK_END)
        ended = True
        if size:
            stream.seek(size - 1)
            ended = stream.read(1) == b"\n"
        stream.write((b"" if ended else b"\n") + msgspec.json.encode(fields_of(case)) + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
        stream.seek(0)
        return sum(1 for _ in stream)


def _refuse_twice(path: str, case: Case) -> None:
    origin = case.metadata[PROMOTED]
    for line, there in CaseFile(path).lined():
        told = there.metadata.get(PROMOTED)
        if isinstance(told, dict) and _origin(told) == _origin(origin):
            raise DataError(f"{case.id!r} is there already", file=path, line=line)
        if there.id == case.id:
            raise DataError(f"another case is called {case.id!r}", file=path, line=line, field="id")
        if there.input == case.input:
            message = f"{there.id!r} asks the same"
            raise DataError(message, file=path, line=line, field="input")


def _origin(told: dict[str, Any]) -> tuple[object, object]:
    return told.get("monitor"), told.get("interaction")
