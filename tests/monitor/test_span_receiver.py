"""A reply means that the spans are on the disk; a bad body fails only its own request."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import DataError
from fourscore.formats.otlp.span import Span
from fourscore.monitor.otel.receiver import QueueFullError, Receipt, SpanReceiver, make_span_rows
from fourscore.stores.errors import StoreError
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.received_spans import ReceivedCounts


def span(trace: int, number: int = 1) -> Span:
    return Span(
        trace=f"{trace:032x}",
        id=f"{number:016x}",
        parent="",
        name="s",
        start=1.0,
        end=2.0,
        attributes={},
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MonitorStore]:
    with MonitorStore(tmp_path / "monitor.db") as store:
        yield store


def test_many_requests_share_a_transaction(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    receive = store.spans.receive

    def counted(batches: Any, **more: Any) -> Any:
        sizes.append(len(batches))
        return receive(batches, **more)

    monkeypatch.setattr(store.spans, "receive", counted)
    receiver = SpanReceiver(store.spans, "m")

    async def send() -> list[Receipt]:
        puts = [receiver.put(10, lambda n=n: [span(n)]) for n in range(1, 101)]  # type: ignore[misc]
        return await asyncio.gather(*puts)

    receipts = asyncio.run(send())
    receiver.close()
    assert receipts == [Receipt(ReceivedCounts(new=1))] * 100
    assert store.counts("m") == {"spans_new": 100}
    assert sum(sizes) == 100
    assert len(sizes) < 100


def test_unreadable_body_fails_only_its_own_request(store: MonitorStore) -> None:
    receiver = SpanReceiver(store.spans, "m")

    def broken() -> list[Span]:
        raise DataError("no protobuf")

    def buggy() -> list[Span]:
        raise ZeroDivisionError

    async def send() -> list[Any]:
        good = receiver.put(
            1,
            lambda: [
                span(1),
                Span(trace="t", id="", parent="", name="", start=None, end=None, attributes={}),
            ],
        )
        puts = (receiver.put(1, broken), good, receiver.put(1, buggy))
        return list(await asyncio.gather(*puts, return_exceptions=True))

    no, yes, bug = asyncio.run(send())
    receiver.close()
    assert isinstance(no, DataError)
    assert isinstance(bug, ZeroDivisionError)
    assert (yes.kept, yes.rejected) == (ReceivedCounts(new=1), 1)
    assert "span 2: traceId" in yes.message
    assert store.counts("m") == {"spans_new": 1, "spans_rejected": 1}


def test_requests_fail_while_the_store_fails_and_work_again(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = SpanReceiver(store.spans, "m")
    receive = store.spans.receive

    def full(*_: Any, **__: Any) -> Any:
        raise StoreError("the disk is full")

    async def send() -> Receipt:
        monkeypatch.setattr(store.spans, "receive", full)
        with pytest.raises(StoreError):
            await receiver.put(1, lambda: [span(1)])
        monkeypatch.setattr(store.spans, "receive", receive)
        return await receiver.put(1, lambda: [span(1)])

    assert asyncio.run(send()).kept == ReceivedCounts(new=1)
    receiver.close()


def test_waiting_bytes_are_bounded(store: MonitorStore) -> None:
    receiver = SpanReceiver(store.spans, "m", max_waiting=100)

    async def send() -> tuple[int, int]:
        puts = [receiver.put(60, lambda n=n: [span(n)]) for n in range(1, 6)]  # type: ignore[misc]
        found = await asyncio.gather(*puts, return_exceptions=True)
        again = await receiver.put(
            600, lambda: [span(9)]
        )  # a request of any size is accepted if no other waits
        assert again.kept == ReceivedCounts(new=1)
        full = sum(isinstance(one, QueueFullError) for one in found)
        return full, sum(isinstance(one, Receipt) for one in found)

    assert asyncio.run(send()) == (4, 1)
    receiver.close()


def test_close_stores_waiting_requests(store: MonitorStore) -> None:
    receiver = SpanReceiver(store.spans, "m")

    async def send() -> Receipt:
        task = asyncio.ensure_future(receiver.put(1, lambda: [span(1)]))
        await asyncio.sleep(0)
        await asyncio.to_thread(receiver.close)
        return await task

    assert asyncio.run(send()).kept == ReceivedCounts(new=1)
    assert store.spans.count_waiting() == 1


def test_rejected_span_is_named() -> None:
    found = make_span_rows(
        [span(1), Span(trace="", id="", parent="", name="", start=None, end=None, attributes={})],
        5.0,
    )
    assert (len(found.rows), found.rejected) == (1, 1)
    assert found.rows[0].at == 5.0
    assert found.message.startswith("span 2: traceId")
