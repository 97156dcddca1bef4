"""Spans wait for their trace: stored once, claimed by one process, deleted when done."""

from pathlib import Path

import pytest

from fourscore.stores.monitor import MonitorStore
from fourscore.stores.received_spans import REMEMBERED, SpanRow, SpanTable

NOW = 1_800_000_000.0


@pytest.fixture(params=["file", "memory"])
def spans(request: pytest.FixtureRequest, tmp_path: Path) -> SpanTable:
    return MonitorStore(tmp_path / "monitor.db" if request.param == "file" else None).spans


def row(trace: str, span: str, at: float = 0.0) -> SpanRow:
    return SpanRow(trace, span, NOW + at, f"{trace}/{span}".encode())


def put(spans: SpanTable, rows: list[SpanRow]) -> int:
    return spans.receive([rows])[0].new


def test_late_unordered_and_repeated_spans(spans: SpanTable) -> None:
    assert put(spans, []) == 0
    assert put(spans, [row("t", "b"), row("u", "x"), row("t", "b")]) == 2
    assert put(spans, [row("t", "a", 5), row("t", "b", 5)]) == 1
    assert spans.claim_complete(NOW + 9, 5, 10) == ["u"]
    assert spans.claim_complete(NOW + 10, 5, 10) == ["t"]
    assert spans.read("t") == [b"t/b", b"t/a"]
    spans.mark_done("t", "u", now=NOW + 10)
    assert spans.count_waiting() == 0
    assert spans.read("t") == []
    assert put(spans, [row("t", "late", 11)]) == 0
    assert spans.claim_complete(NOW + 1000, 5, 10) == []


def test_claimed_trace_is_free_after_the_lease(spans: SpanTable) -> None:
    put(spans, [row("t", "a"), row("u", "a", 1)])
    assert spans.claim_complete(NOW + 10, 5, 1, lease=60) == ["t"]
    assert spans.claim_complete(NOW + 10, 5, 9, lease=60) == ["u"]
    assert spans.claim_complete(NOW + 11, 5, 9) == []
    assert spans.claim_complete(NOW + 71, 5, 9) == ["t", "u"]


def test_trace_that_never_pauses_is_complete_after_the_longest_time(spans: SpanTable) -> None:
    for at in range(0, 100, 5):
        put(spans, [row("t", str(at), at)])
    assert spans.claim_complete(NOW + 96, 10, 9) == []
    assert spans.claim_complete(NOW + 96, 10, 9, longest=90) == ["t"]


def test_spans_of_a_trace_are_bounded(spans: SpanTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourscore.stores.received_spans.MOST_SPANS", 30)
    new = [put(spans, [row("t", f"{n}-{k}") for k in range(10)]) for n in range(5)]
    assert new == [10, 10, 10, 0, 0]
    assert len(spans.read("t")) == 30


def test_done_traces_are_forgotten_after_a_day(spans: SpanTable) -> None:
    put(spans, [row("t", "a")])
    spans.mark_done("t", now=NOW)
    assert put(spans, [row("t", "a", REMEMBERED - 1)]) == 0
    put(spans, [row("u", "a", REMEMBERED + 1)])
    assert put(spans, [row("t", "a", REMEMBERED + 2)]) == 1
