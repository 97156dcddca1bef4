"""Alerts are claimed by one sender at a time, sent once, retried and repeated."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_alerts import Outbox
from fourscore.stores.monitor_rows import NewAlert, SampleRow

NOW = 1_800_000_000.0


def raise_alert(
    store: MonitorStore, n: int, stream: str = "overall", *, is_open: bool = True
) -> None:
    def fold(
        _state: bytes | None, _entries: Sequence[SampleRow]
    ) -> tuple[bytes, Sequence[NewAlert]]:
        return b"", [NewAlert(stream=stream, at=NOW + n, open=is_open, body=str(n).encode())]

    store.commit(
        "m",
        [
            SampleRow(
                id=f"i{n}",
                at=NOW + n,
                drawn=True,
                status="scored",
                passed=False,
                value=0.0,
                body=b"{}",
            )
        ],
        fold,
        now=NOW,
    )


@pytest.fixture
def store(tmp_path: Path) -> MonitorStore:
    return MonitorStore(tmp_path / "monitor.db")


@pytest.fixture
def outbox(store: MonitorStore) -> Outbox:
    raise_alert(store, 1)
    return store.outbox


def test_one_sender_has_the_claim_at_a_time(outbox: Outbox) -> None:
    (claim,) = outbox.claim("m", "log", NOW)
    assert (claim.alert.body, claim.attempt, claim.alert.open) == (b"1", 1, True)
    assert outbox.claim("m", "log", NOW + 59) == []
    (other,) = outbox.claim("m", "slack", NOW)  # another sink gets it too
    assert other.key != claim.key
    assert outbox.sent(claim)
    assert outbox.claim("m", "log", NOW + 1e6) == []
    assert outbox.claim("another monitor", "log", NOW) == []
    assert outbox.deliveries(claim.alert.number) == {
        "log": ("sent", 1, 0, ""),
        "slack": ("claimed", 0, 1, ""),
    }


def test_claim_is_free_after_the_lease(outbox: Outbox) -> None:
    (late,) = outbox.claim("m", "log", NOW, lease=60)
    (claim,) = outbox.claim("m", "log", NOW + 60)
    assert (claim.attempt, claim.key) == (2, late.key)
    assert not outbox.sent(late)
    assert not outbox.failed(late, "no answer", next=NOW)
    assert outbox.sent(claim)


def test_failed_deliveries_are_due_again_until_given_up(outbox: Outbox) -> None:
    (claim,) = outbox.claim("m", "log", NOW)
    assert outbox.failed(claim, "503", next=NOW + 10)
    assert outbox.claim("m", "log", NOW + 9) == []
    (claim,) = outbox.claim("m", "log", NOW + 10)
    assert claim.attempt == 2
    assert outbox.failed(claim, "404" * 9999, next=None)
    assert outbox.claim("m", "log", NOW + 1e6) == []
    state, sent, attempts, error = outbox.deliveries(claim.alert.number)["log"]
    assert (state, sent, attempts, len(error)) == ("given up", 0, 2, 2000)


def test_sent_alert_is_due_again_while_open(store: MonitorStore, outbox: Outbox) -> None:
    (claim,) = outbox.claim("m", "log", NOW)
    assert outbox.sent(claim, again=NOW + 100)
    assert outbox.claim("m", "log", NOW + 99) == []
    (again,) = outbox.claim("m", "log", NOW + 100)
    assert (again.attempt, again.repetition) == (1, 1)
    assert again.key != claim.key
    assert outbox.sent(again, again=NOW + 200)
    raise_alert(store, 2, is_open=False)
    (over,) = outbox.claim("m", "log", NOW + 200)  # the end, and not the alert that is over
    assert over.alert.body == b"2"
    assert outbox.alerts("m", only_open=True) == []
    newest, first = outbox.alerts("m")
    assert (newest.open, newest.ended) == (False, None)
    assert (first.open, first.ended) == (False, NOW + 2)


def test_alert_ends_only_the_former_one_of_its_stream(store: MonitorStore, outbox: Outbox) -> None:
    raise_alert(store, 2, "tag:refunds")
    raise_alert(store, 3)
    assert [alert.body for alert in outbox.alerts("m", only_open=True)] == [b"3", b"2"]
    newest = outbox.alerts("m", limit=1)
    older = outbox.alerts("m", before=newest[-1].number)
    assert [alert.body for alert in (*newest, *older)] == [b"3", b"2", b"1"]


def test_new_sink_does_not_get_alerts_from_before_since(
    store: MonitorStore, outbox: Outbox
) -> None:
    raise_alert(store, 2)
    assert [claim.alert.body for claim in outbox.claim("m", "new", NOW, since=NOW + 2)] == [b"2"]


SENDER = """
import sys
from fourscore.stores.monitor import MonitorStore

with MonitorStore(sys.argv[1]) as store:
    while claims := store.outbox.claim("m", "log", 1_800_000_100.0, limit=3):
        for claim in claims:
            print(claim.alert.number, flush=True)
            store.outbox.sent(claim)
"""


def test_each_alert_is_claimed_once_among_processes(store: MonitorStore) -> None:
    for n in range(40):
        raise_alert(store, n, f"tag:{n}")
    argv = [sys.executable, "-c", SENDER, str(store.path)]
    senders = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    sent = [int(line) for sender in senders for line in sender.communicate()[0].split()]
    assert [sender.returncode for sender in senders] == [0, 0, 0]
    assert sorted(sent) == sorted(alert.number for alert in store.outbox.alerts("m"))
