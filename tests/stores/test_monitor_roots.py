"""When a trace is complete, the outcome of each span, and which copy of one stays."""

from pathlib import Path

import pytest

from fourscore.stores.monitor import MonitorStore
from fourscore.stores.received_spans import ReceivedCounts, SpanRow, SpanTable

NOW = 1_800_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> MonitorStore:
    return MonitorStore(tmp_path / "monitor.db")


@pytest.fixture
def spans(store: MonitorStore) -> SpanTable:
    return store.spans


def row(trace: str, span: str, at: float = 0.0, *, root: bool = False, body: str = "x") -> SpanRow:
    return SpanRow(trace, span, NOW + at, body.encode(), root)


def test_trace_is_complete_with_root_and_after_a_pause(spans: SpanTable) -> None:
    spans.receive([[row("t", "a"), row("u", "a")]])
    assert spans.claim_complete(NOW + 1000, 10, 9) == []
    spans.receive([[row("t", "r", 1000, root=True)]])
    assert spans.claim_complete(NOW + 1009, 10, 9) == []
    spans.receive([[row("t", "b", 1009)]])
    assert spans.claim_complete(NOW + 1018, 10, 9) == []
    assert spans.claim_complete(NOW + 1019, 10, 9) == ["t"]
    spans.mark_done("t", now=NOW + 1019)
    assert spans.claim_complete(NOW + 3600, 10, 9) == ["u"]  # the other root never came


def test_outcome_of_each_span_is_returned_and_counted(store: MonitorStore) -> None:
    spans = store.spans
    first = spans.receive([[row("t", "a"), row("t", "a")], [], [row("t", "b")]], monitor="m")
    assert first == [ReceivedCounts(new=1, twice=1), ReceivedCounts(), ReceivedCounts(new=1)]
    spans.mark_done("t", now=NOW, monitor="m", counts={"traces_scored": 1, "traces_broken": 0})
    assert spans.receive([[row("t", "c"), row("u", "a")]], monitor="m") == [
        ReceivedCounts(new=1, late=1)
    ]
    assert store.counts("m") == {
        "spans_new": 3,
        "spans_twice": 1,
        "spans_late": 1,
        "traces_scored": 1,
    }


def test_bytes_of_a_trace_are_bounded(spans: SpanTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourscore.stores.received_spans.MOST_BYTES", 10)
    assert spans.receive([[row("t", "a", body="x" * 20)]]) == [ReceivedCounts(new=1)]
    assert spans.receive([[row("t", "b"), row("u", "a")]]) == [ReceivedCounts(new=1, beyond=1)]
    assert len(spans.read("t")) == 1


@pytest.mark.parametrize("order", [("ab", "abc", "abd"), ("abd", "abc", "ab")])
def test_kept_copy_does_not_depend_on_the_order(spans: SpanTable, order: tuple[str, ...]) -> None:
    for body in order:
        spans.receive([[row("t", "a", body=body)]])
    assert spans.read("t") == [b"abd"]


def test_root_is_remembered_across_batches(spans: SpanTable) -> None:
    spans.receive([[row("t", "r", root=True)], [row("t", "a", 1)]])
    assert spans.claim_complete(NOW + 11, 10, 9) == ["t"]


def test_done_spans_are_overwritten_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.db"
    secret = "a secret that was never redacted " * 500
    with MonitorStore(path) as store:
        store.spans.receive([[row(f"t{n}", "a", body=f"{n} {secret}") for n in range(20)]])
        store.spans.mark_done(*(f"t{n}" for n in range(20)), now=NOW)
    assert b"never redacted" not in path.read_bytes()  # closing moved the log into the file
    assert not path.with_name("own.db-wal").exists()
