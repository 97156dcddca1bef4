"""Labelled samples: both formats, and what is wrong with a line."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import DataError
from fourscore.formats.labelled_samples import Sample, SampleFields, SampleFile

POINT = {"main_query": "Q", "metadata": {"answer": "A", "score": 8}}
LIST = {
    "main_query": "Q",
    "metadata": {"candidates": [{"answer": "A", "rank": 2}, {"answer": "B", "rank": 1}]},
}


def file(path: Path, *rows: Any) -> Path:
    place = path / "train.jsonl"
    place.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return place


def test_reads_pointwise_samples(tmp_path: Path) -> None:
    samples = SampleFile(file(tmp_path, POINT, "", {**POINT, "main_query": "R"}))
    assert len(samples) == 2
    assert samples.read(1) == Sample(query="R", answers=("A",), labels=(8.0,))
    assert samples.values(0) == [0.8]
    assert [entry.line for entry in samples.entries] == [1, 3]


def test_reads_listwise_samples(tmp_path: Path) -> None:
    samples = SampleFile(file(tmp_path, LIST), mode="listwise")
    assert samples.read(0) == Sample(query="Q", answers=("A", "B"), labels=(2.0, 1.0))
    assert samples.values(0) == [0.0, 1.0]


def test_reads_custom_fields_and_a_reference(tmp_path: Path) -> None:
    row = {"question": "Q", "text": "A", "score": 3, "metadata": {"gold": "G"}}
    fields = SampleFields(query="question", answer="text", reference="gold")
    samples = SampleFile(file(tmp_path, row), fields=fields, bounds=(1, 5))
    assert samples.read(0) == Sample(query="Q", answers=("A",), labels=(3.0,), reference="G")
    assert samples.values(0) == [0.5]
    both = {"main_query": "Q", "metadata": {"final_answer": "mine", "answer": "gold", "score": 1}}
    assert SampleFile(file(tmp_path, both)).read(0) == Sample(
        query="Q", answers=("mine",), labels=(1.0,), reference="gold"
    )


def test_repeated_sample_gets_the_mean_label(tmp_path: Path) -> None:
    again = {"main_query": "Q", "metadata": {"answer": "A", "score": 4}}
    samples = SampleFile(file(tmp_path, POINT, again, POINT))
    assert (len(samples), samples.repeated) == (1, 2)
    assert samples.entries[0].labels == ((8 + 4 + 8) / 3,)


def ranks(*given: Any) -> dict[str, Any]:
    listed = [{"answer": str(i), "rank": rank} for i, rank in enumerate(given)]
    return {"main_query": "Q", "metadata": {"candidates": listed}}


@pytest.mark.parametrize(
    ("mode", "row", "message"),
    [
        ("pointwise", {"main_query": "Q", "metadata": {"answer": "A"}}, "metadata.score: missing"),
        (
            "pointwise",
            {"main_query": "Q", "metadata": {"answer": "A", "score": None}},
            "metadata.score: missing: the sample has no label",
        ),
        (
            "pointwise",
            {"main_query": "Q", "metadata": {"answer": "A", "score": "8"}},
            "metadata.score: expected a number, got str",
        ),
        (
            "pointwise",
            {"main_query": "Q", "metadata": {"answer": "A", "score": True}},
            "metadata.score: expected a number, got bool",
        ),
        (
            "pointwise",
            {"main_query": "Q", "metadata": {"answer": "A", "score": 11}},
            "metadata.score: 11 is outside [0, 10]",
        ),
        ("pointwise", {"metadata": {"answer": "A", "score": 1}}, "main_query: missing"),
        ("pointwise", {"main_query": "Q", "metadata": {"score": 1}}, "metadata.answer: missing"),
        (
            "pointwise",
            {"main_query": "Q", "metadata": {"answer": ["A"], "score": 1}},
            "metadata.answer: expected text, got list",
        ),
        ("pointwise", LIST, "metadata.answer: missing; the row has candidates"),
        ("pointwise", {"main_query": "Q", "metadata": 5}, "metadata: expected an object, got int"),
        ("pointwise", [1], "expected an object, got list"),
        ("pointwise", "{", "not JSON"),
        (
            "pointwise",
            '{"main_query": "Q", "metadata": {"answer": "A", "score": 1, "score": 9}}',
            "metadata.score: the key is used twice",
        ),
        ("listwise", POINT, "metadata.candidates: missing"),
        ("listwise", ranks(1), "metadata.candidates: expected a list of at least two"),
        ("listwise", ranks(1, 1), "metadata.candidates[].rank: the ranks 1, 1 are not 1 to 2"),
        ("listwise", ranks(1, 3), "metadata.candidates[].rank: the ranks 1, 3 are not 1 to 2"),
        ("listwise", ranks(1, 1.5), "metadata.candidates[].rank: the ranks 1, 1.5"),
        ("listwise", ranks(1, None), "metadata.candidates[1].rank: missing"),
        ("listwise", ranks(1, "2"), "metadata.candidates[1].rank: expected a number, got str"),
        (
            "listwise",
            {"main_query": "Q", "metadata": {"candidates": [{"rank": 1}, {"rank": 2}]}},
            "metadata.candidates[0].answer: missing",
        ),
    ],
)
def test_error_names_file_line_and_field(tmp_path: Path, mode: Any, row: Any, message: str) -> None:
    path = file(tmp_path, POINT if mode == "pointwise" else LIST, row)
    with pytest.raises(DataError) as caught:
        SampleFile(path, mode=mode)
    assert str(caught.value).startswith(f"{path}:2: {message}")


def test_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there are no samples in it"):
        SampleFile(file(tmp_path, "", ""))
    with pytest.raises(DataError, match="No such file"):
        SampleFile(tmp_path / "none.jsonl")


def test_changed_file_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path, POINT)
    samples = SampleFile(path)
    file(tmp_path, {**POINT, "main_query": "another"})
    with pytest.raises(DataError, match=r"train.jsonl:1: the file has changed"):
        samples.read(0)


def test_reads_chinese_byte_order_mark_and_lone_surrogates(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    row = '{"main_query": "天空", "metadata": {"answer": "\\ud800蓝", "score": 1}}\n'
    path.write_bytes(b"\xef\xbb\xbf" + row.encode())
    assert SampleFile(path).read(0) == Sample(query="天空", answers=("\ufffd蓝",), labels=(1.0,))
