"""Labelled samples: an answer with its score, or several answers to one question with their ranks.

    {"main_query": "…", "metadata": {"answer": "…", "score": 8}}
    {"main_query": "…", "metadata": {"candidates": [{"answer": "…", "rank": 1}, …]}}

A file is checked line by line once; then only the offset of each sample is kept, and texts are read
again when needed, so that memory does not grow with them.
"""

import hashlib
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from fourscore.core import DataError, digest
from fourscore.core.frozen import freeze
from fourscore.core.trace import as_text
from fourscore.formats.case_records import decode_json

Mode = Literal["pointwise", "listwise"]
#: A longer line is refused.
MAX_LINE = 16 * 1024 * 1024


class SampleFields(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a row, in its `metadata` or, where that does not have them, at its top.

    The answer is read from the key that `answer` names, else from `answer` itself. The key that
    `reference` names is the reference where it is not the answer.
    """

    query: str = "main_query"
    answer: str = "final_answer"
    reference: str = "answer"


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A question, its answers, and a label for each: a score, or a rank."""

    query: Any
    answers: tuple[str, ...]
    labels: tuple[float, ...]
    reference: str = ""


class SampleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a sample in the file, its digest and its labels."""

    line: int
    offset: int
    size: int
    digest: str
    labels: tuple[float, ...]
    chars: int


class SampleFile:
    """The samples of a file. `repeated` counts lines with the same question and answers."""

    def __init__(
        self,
        path: str | Path,
        *,
        mode: Mode = "pointwise",
        fields: SampleFields | None = None,
        bounds: tuple[float, float] = (0.0, 10.0),
    ) -> None:
        self.path, self.mode, self.bounds = Path(path), mode, bounds
        self.fields = fields or SampleFields()
        self.repeated = 0
        self.entries: list[SampleEntry] = []
        self.digest = self._index()
        if not self.entries:
            raise DataError("there are no samples in it", file=str(self.path))

    def __len__(self) -> int:
        return len(self.entries)

    def read(self, at: int) -> Sample:
        """Read a sample from the file; a `DataError` where the file has changed."""
        entry = self.entries[at]
        with self._opened() as stream:
            stream.seek(entry.offset)
            line = stream.read(entry.size)
        try:
            sample = self._sample(line)
            same = digest_sample(sample) == entry.digest
        except DataError:
            same = False
        if not same:
            message = "the file has changed since it was first read"
            raise DataError(message, file=str(self.path), line=entry.line)
        return sample

    def value(self, label: float, n: int) -> float:
        """Return a label, a score or a rank among n, as a value in [0, 1]."""
        if self.mode == "listwise":
            return (n - label) / (n - 1)
        low, high = self.bounds
        return (label - low) / (high - low)

    def values(self, at: int) -> list[float]:
        """Return the labels of a sample as values in [0, 1]."""
        labels = self.entries[at].labels
        return [self.value(label, len(labels)) for label in labels]

    def _opened(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise DataError(error.strerror or "cannot be read", file=str(self.path)) from None

    def _index(self) -> str:
        whole, offset = hashlib.blake2b(digest_size=16), 0
        seen: dict[str, int] = {}
        scores: dict[str, list[float]] = {}
        with self._opened() as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE), b""), 1):
                whole.update(line)
                start, offset = offset, offset + len(line)
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                    start = offset - len(line)
                if not line.strip():
                    continue
                try:
                    sample = self._sample(line)
                except DataError as error:
                    raise DataError(
                        error.message, file=str(self.path), line=number, field=error.field
                    ) from None
                name = digest_sample(sample)
                if name in seen:  # graded twice: one sample, with the mean of its scores
                    self.repeated += 1
                    scores[name].append(sample.labels[0])
                    continue
                seen[name] = len(self.entries)
                scores[name] = [sample.labels[0]]
                chars = len(as_text(sample.query)) + sum(map(len, sample.answers))
                entry = SampleEntry(
                    line=number,
                    offset=start,
                    size=len(line),
                    digest=name,
                    labels=sample.labels,
                    chars=chars,
                )
                self.entries.append(entry)
        if self.mode == "pointwise":
            for name, given in scores.items():
                if len(given) > 1:
                    at = seen[name]
                    mean = (sum(given) / len(given),)
                    self.entries[at] = msgspec.structs.replace(self.entries[at], labels=mean)
        return whole.hexdigest()

    def _sample(self, line: bytes) -> Sample:
        row, _ = decode_json(line)
        if not isinstance(row, dict):
            raise DataError(f"expected an object, got {_kind(row)}")
        metadata = row.get("metadata", {})
        if not isinstance(metadata, dict):
            raise DataError(f"expected an object, got {_kind(metadata)}", field="metadata")
        query = _found(row, metadata, self.fields.query)
        if query is None or query[1] in ("", None):
            raise DataError("missing: the question", field=self.fields.query)
        question = _frozen(query[1], query[0])
        if self.mode == "listwise":
            return self._ranked(question, row, metadata)
        return self._scored(question, row, metadata)

    def _scored(
        self, query: object, row: Mapping[str, object], metadata: Mapping[str, object]
    ) -> Sample:
        found = _found(row, metadata, self.fields.answer) or _found(row, metadata, "answer")
        if found is None:
            if "candidates" in metadata:
                message = "missing; the row has candidates: is it for the mode listwise?"
                raise DataError(message, field="metadata.answer")
            raise DataError("missing: the answer that was graded", field="metadata.answer")
        place, answer = found
        label = _found(row, metadata, "score")
        if label is None or label[1] is None:
            raise DataError("missing: the sample has no label", field="metadata.score")
        score = _number(label[1], label[0])
        low, high = self.bounds
        if not low <= score <= high:
            raise DataError(f"{score:g} is outside [{low:g}, {high:g}]", field=label[0])
        return Sample(
            query=query,
            answers=(_text(answer, place),),
            labels=(score,),
            reference=self._reference(row, metadata, place),
        )

    def _ranked(
        self, query: object, row: Mapping[str, object], metadata: Mapping[str, object]
    ) -> Sample:
        found = _found(row, metadata, "candidates")
        if found is None:
            raise DataError("missing: the answers and their ranks", field="metadata.candidates")
        place, listed = found
        if not isinstance(listed, list) or len(listed) < 2:
            raise DataError("expected a list of at least two", field=place)
        answers, ranks = [], []
        for position, one in enumerate(listed):
            here = f"{place}[{position}]"
            if not isinstance(one, dict):
                raise DataError(f"expected an object, got {_kind(one)}", field=here)
            key = self.fields.answer if self.fields.answer in one else "answer"
            if key not in one:
                raise DataError("missing: the answer that was ranked", field=f"{here}.answer")
            if one.get("rank") is None:
                raise DataError("missing: the sample has no label", field=f"{here}.rank")
            answers.append(_text(one[key], f"{here}.{key}"))
            ranks.append(_number(one["rank"], f"{here}.rank"))
        if sorted(ranks) != list(range(1, len(ranks) + 1)):
            shown = ", ".join(f"{rank:g}" for rank in ranks)
            message = f"the ranks {shown} are not 1 to {len(ranks)}, each once"
            raise DataError(message, field=f"{place}[].rank")
        reference = self._reference(row, metadata, place)
        return Sample(query=query, answers=tuple(answers), labels=tuple(ranks), reference=reference)

    def _reference(
        self, row: Mapping[str, object], metadata: Mapping[str, object], taken: str
    ) -> str:
        found = _found(row, metadata, self.fields.reference)
        if found is None or found[0] == taken or found[1] is None:
            return ""
        return as_text(_frozen(found[1], found[0]))


def digest_sample(sample: Sample) -> str:
    """Return the identity of a sample: the digest of question and answers, without labels."""
    return digest([sample.query, list(sample.answers)])


def _found(
    row: Mapping[str, object], metadata: Mapping[str, object], key: str
) -> tuple[str, object] | None:
    if key in metadata:
        return f"metadata.{key}", metadata[key]
    return (key, row[key]) if key in row else None


def _frozen(value: object, place: str) -> Any:
    try:
        return freeze(value)
    except ValueError as error:
        raise DataError(str(error), field=place) from None


def _text(value: object, place: str) -> str:
    if value is None or isinstance(value, dict | list):
        raise DataError(f"expected text, got {_kind(value)}", field=place)
    return as_text(_frozen(value, place))


def _number(value: object, place: str) -> float:
    try:
        if not isinstance(value, bool) and isinstance(value, int | float) and isfinite(value):
            return float(value)
    except OverflowError:  # an integer of hundreds of digits
        pass
    raise DataError(f"expected a number, got {_kind(value)}", field=place)


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
