"""Which notices a sink gets, when they are repeated, and when an alert is not sent any more."""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from fourscore.core import Case, ConfigError, Trace, judge
from fourscore.monitor.alert_text import facts, headline
from fourscore.monitor.alerts import DAY, HOUR, Notice, Policy, StatusChange, make_local_notice
from fourscore.monitor.delivery import FIRST_RETRY, LEASE, Deliverer, SinkError
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.state import MonitorState, read_current_rate
from fourscore.stats.rate_alarm import AlarmStatus
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_rows import NewAlert, SampleRow

NOW = 1_800_000_000.0


class RecordingSink:
    """A sink that records all notices, or fails a given number of times."""

    def __init__(self, name: str = "ear", *, together: int = 1, **policy: object) -> None:
        self.name, self.together = name, together
        self.policy = Policy(**policy)  # type: ignore[arg-type]
        self.received: list[Notice] = []
        self.failures = 0
        self.again: float | None = None

    def send(self, notices: Sequence[Notice]) -> None:
        if self.failures:
            self.failures -= 1
            raise SinkError("503", again=self.again)
        self.received += notices

    @property
    def words(self) -> list[str]:
        return [f"{one.state} {one.status}" for one in self.received]


@judge
def fine(case: Case, trace: Trace) -> bool:
    return trace.answer == "good"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MonitorStore]:
    with MonitorStore(tmp_path / "monitor.db") as store:
        yield store


def change(
    before: AlarmStatus,
    after: AlarmStatus,
    stream: str = "overall",
    at: float = NOW,
    **more: object,
) -> StatusChange:
    details: dict[str, object] = {
        "estimate": 0.6, "low": 0.5, "high": 0.7, "n": 50, "method": "sequence", "sure": 0.98,
        "evidence": ("req-1", "req-2"), "since": at - 60, **more,
    }  # fmt: skip
    return StatusChange(stream=stream, before=before, after=after, at=at, **details)  # type: ignore[arg-type]


_ids = iter(range(1_000_000))


def raise_alert(store: MonitorStore, *changes: StatusChange, name: str = "default") -> None:
    """Store alerts in the transaction of a sample, as a fold does."""
    rows = [
        NewAlert(
            stream=each.stream,
            at=each.at,
            open=each.kind != "resolved",
            body=msgspec.json.encode(each),
        )
        for each in changes
    ]
    entry = SampleRow(
        id=f"id-{next(_ids)}",
        at=NOW,
        drawn=True,
        status="scored",
        passed=True,
        value=1.0,
        body=b"{}",
    )
    store.commit(name, [entry], lambda _state, _new: (b"{}", rows))


def test_alert_is_sent_once_then_repeated_then_resolved(store: MonitorStore) -> None:
    sink = RecordingSink(repeat=4 * HOUR)
    deliver = Deliverer(store, "default", [sink]).deliver_due
    raise_alert(store, change("healthy", "critical"))
    assert deliver(NOW) == {"sent": 1}
    assert deliver(NOW + 1) == {}
    assert deliver(NOW + 4 * HOUR - 1) == {}
    assert deliver(NOW + 4 * HOUR) == {"sent": 1}
    assert sink.words == ["firing critical"] * 2
    assert [one.repetition for one in sink.received] == [0, 1]
    assert sink.received[0].id != sink.received[1].id
    raise_alert(store, change("critical", "healthy", at=NOW + 5 * HOUR, sure=None, evidence=()))
    assert deliver(NOW + 5 * HOUR) == {"sent": 1}
    assert deliver(NOW + 50 * HOUR) == {}
    assert sink.words[-1] == "resolved healthy"
    assert sink.received[-1].severity == "critical"
    assert sink.received[-1].since == NOW - 60  # when the problem began, not when it ended
    assert store.counts("default")["deliveries_sent:ear"] == 3


def test_alert_is_sent_once_without_repeat(store: MonitorStore) -> None:
    sink = RecordingSink(repeat=None)
    raise_alert(store, change("healthy", "warning"))
    deliver = Deliverer(store, "default", [sink]).deliver_due
    assert [deliver(NOW), deliver(NOW + 1000 * DAY)] == [{"sent": 1}, {}]


def test_sink_that_was_down_gets_the_present_status(store: MonitorStore) -> None:
    raise_alert(
        store,
        change("healthy", "warning", at=NOW),
        change("warning", "critical", at=NOW + 10),
        change("healthy", "warning", stream="tag:a", at=NOW + 20),
        change("warning", "healthy", stream="tag:a", at=NOW + 30),
    )
    sink = RecordingSink()
    done = Deliverer(store, "default", [sink]).deliver_due(NOW + 60)
    assert done == {"sent": 2, "skipped": 2}
    assert [(one.stream, one.state) for one in sink.received] == [
        ("overall", "firing"),
        ("tag:a", "resolved"),
    ]
    assert sink.received[0].status == "critical"
    assert sink.received[0].since == NOW - 60


def test_new_sink_gets_open_alerts_and_no_history(store: MonitorStore) -> None:
    raise_alert(
        store,
        change("healthy", "critical", stream="tag:a", at=NOW - 9 * DAY),
        change("critical", "healthy", stream="tag:a", at=NOW - 8 * DAY),
        change("healthy", "warning", at=NOW - 7 * DAY),
    )
    sink = RecordingSink()
    assert Deliverer(store, "default", [sink]).deliver_due(NOW) == {"sent": 1, "skipped": 2}
    assert sink.words == ["firing warning"]


def test_late_resolution_does_not_resolve_a_newer_alert(store: MonitorStore) -> None:
    sink = RecordingSink()
    deliverer = Deliverer(store, "default", [sink])
    raise_alert(store, change("healthy", "critical"))
    deliverer.deliver_due(NOW)
    sink.failures = 1
    raise_alert(store, change("critical", "healthy", at=NOW + 10))
    assert deliverer.deliver_due(NOW + 10) == {"failed": 1}
    raise_alert(store, change("healthy", "critical", at=NOW + 12))
    assert deliverer.deliver_due(NOW + 60) == {"skipped": 1, "sent": 1}
    assert sink.words == ["firing critical", "firing critical"]


def test_sink_for_critical_alerts_is_notified_when_they_ease(store: MonitorStore) -> None:
    sink = RecordingSink(least="critical")
    deliver = Deliverer(store, "default", [sink]).deliver_due
    raise_alert(store, change("healthy", "warning"))
    assert deliver(NOW) == {"skipped": 1}
    raise_alert(store, change("warning", "critical", at=NOW + 1))
    raise_alert(store, change("critical", "warning", at=NOW + 2))
    assert deliver(NOW + 3) == {
        "skipped": 1,
        "sent": 1,
    }  # raised and resolved between two deliveries: sent as resolved
    raise_alert(store, change("warning", "critical", at=NOW + 4))
    assert deliver(NOW + 5) == {"sent": 1}
    raise_alert(store, change("critical", "warning", at=NOW + 6))
    assert deliver(NOW + 7) == {"sent": 1}
    raise_alert(store, change("warning", "healthy", at=NOW + 8))
    assert deliver(NOW + 9) == {"skipped": 1}
    assert sink.words == ["resolved warning", "firing critical", "resolved warning"]
    assert headline(sink.received[-1]) == "default: the pass rate is warning, no longer critical"


def test_failed_delivery_is_retried_with_the_same_id(store: MonitorStore) -> None:
    sink, other = RecordingSink(), RecordingSink("other")
    sink.failures = 2
    deliverer = Deliverer(store, "default", [sink, other])
    raise_alert(store, change("healthy", "critical"), change("healthy", "warning", stream="tag:a"))
    assert deliverer.deliver_due(NOW) == {
        "failed": 1,
        "sent": 2,
    }  # the second alert waits after the failure
    assert (len(sink.received), len(other.received)) == (0, 2)
    assert deliverer.deliver_due(NOW + 1) == {}
    assert deliverer.deliver_due(NOW + FIRST_RETRY) == {"failed": 1}
    (state, sent, attempts, error) = store.outbox.deliveries(1)["ear"]
    assert (state, sent, attempts, error) == ("due", 0, 2, "503")
    assert deliverer.deliver_due(NOW + 4 * FIRST_RETRY) == {"sent": 2}
    assert store.counts("default")["deliveries_failed:ear"] == 2
    assert store.outbox.deliveries(1)["ear"] == ("sent", 1, 0, "")


def test_sink_error_may_set_the_retry_delay(store: MonitorStore) -> None:
    sink = RecordingSink()
    sink.failures, sink.again = 1, 100.0
    deliverer = Deliverer(store, "default", [sink])
    raise_alert(store, change("healthy", "critical"))
    assert deliverer.deliver_due(NOW) == {"failed": 1}
    assert deliverer.deliver_due(NOW + 99) == {}
    assert deliverer.deliver_due(NOW + 100) == {"sent": 1}


def test_undeliverable_resolution_is_given_up_after_a_day(store: MonitorStore) -> None:
    sink = RecordingSink()
    deliverer = Deliverer(store, "default", [sink])
    raise_alert(store, change("healthy", "critical"))
    deliverer.deliver_due(NOW)
    raise_alert(store, change("critical", "healthy", at=NOW + 1))
    sink.failures = 10
    assert deliverer.deliver_due(NOW + 2 * DAY) == {"failed": 1}
    assert deliverer.deliver_due(NOW + 3 * DAY) == {}
    assert store.outbox.deliveries(2)["ear"][0] == "given up"


def test_another_process_takes_over_after_the_lease_with_the_same_id(store: MonitorStore) -> None:
    raise_alert(store, change("healthy", "critical"))
    seen: list[str] = []

    class Dies(RecordingSink):
        def send(self, notices: Sequence[Notice]) -> None:
            seen.append(notices[0].id)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Deliverer(store, "default", [Dies()]).deliver_due(NOW)
    sink = RecordingSink()
    second = Deliverer(store, "default", [sink])
    assert second.deliver_due(NOW + LEASE - 1) == {}
    assert second.deliver_due(NOW + 2 * LEASE) == {"sent": 1}
    assert [one.id for one in sink.received] == seen


def test_sink_that_exits_in_the_thread_does_not_hold_up_the_next_one(store: MonitorStore) -> None:
    class Exits(RecordingSink):
        def send(self, notices: Sequence[Notice]) -> None:
            raise SystemExit(1)

    raise_alert(store, change("healthy", "critical"))
    second = RecordingSink("second")
    deliver = Deliverer(store, "default", [Exits("first"), second]).deliver_due
    thread = threading.Thread(target=deliver, args=(NOW,))
    thread.start()
    thread.join()
    assert second.words == ["firing critical"]


def test_exception_in_a_sink_counts_as_a_failed_delivery(store: MonitorStore) -> None:
    class Breaks(RecordingSink):
        def send(self, notices: Sequence[Notice]) -> None:
            raise ZeroDivisionError

    raise_alert(store, change("healthy", "critical"))
    assert Deliverer(store, "default", [Breaks()]).deliver_due(NOW) == {"failed": 1}
    assert store.outbox.deliveries(1)["ear"][3] == "ZeroDivisionError"


def test_alerts_are_batched_for_sinks_that_take_several(store: MonitorStore) -> None:
    sizes: list[int] = []

    class Counts(RecordingSink):
        def send(self, notices: Sequence[Notice]) -> None:
            sizes.append(len(notices))

    raise_alert(store, *(change("healthy", "warning", stream=f"tag:{n}") for n in range(7)))
    sink = Counts(together=5)
    assert Deliverer(store, "default", [sink]).deliver_due(NOW) == {"sent": 7}
    assert sizes == [5, 2]


def test_thread_delivers_and_close_delivers_the_rest(store: MonitorStore) -> None:
    sink = RecordingSink()
    deliverer = Deliverer(store, "default", [sink], pause=0.01)
    deliverer.start()
    deliverer.start()  # one thread
    raise_alert(store, change("healthy", "critical", at=time.time()))
    deadline = time.monotonic() + 60
    while not sink.received and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sink.words == ["firing critical"]
    deliverer.close(60)
    slow = Deliverer(store, "default", [other := RecordingSink("other")], pause=3600)
    slow.start()
    while not other.received and time.monotonic() < deadline:
        time.sleep(0.01)
    raise_alert(store, change("critical", "healthy", at=time.time()))
    slow.close(60)
    assert other.words == ["firing critical", "resolved healthy"]


def test_repeated_alert_has_the_current_pass_rate(store: MonitorStore) -> None:
    judgement = MonitorState()
    with ProductionMonitor(1.0, rubric=fine, store=store) as monitor:
        for number in range(60):
            monitor.sample_and_evaluate("q", "bad", id=str(number))
        before = RecordingSink(repeat=HOUR)
        now = time.time()
        deliverer = Deliverer(store, "default", [before])
        deliverer.deliver_due(now)
        for number in range(60, 70):
            monitor.sample_and_evaluate("q", "good", id=str(number))
        deliverer.deliver_due(now + HOUR)
    first, again = (one for one in before.received if one.stream == "overall")
    assert (first.lately, first.repetition, again.repetition) == (None, 0, 1)
    assert again.lately is not None
    assert again.lately.low < again.lately.pass_rate == pytest.approx(10 / again.lately.n)
    assert facts(again)["by now"].endswith(f"n={again.lately.n}")
    assert headline(again) == "default: the pass rate is still critical"
    assert read_current_rate(None, "overall") is None
    state = msgspec.json.encode(judgement)
    assert read_current_rate(state, "overall") is None
    assert read_current_rate(state, "tag:never seen") is None
    assert read_current_rate(state, "judge") is None


def test_unreadable_alert_does_not_stop_the_others(store: MonitorStore) -> None:
    rows = [NewAlert(stream="overall", at=NOW, open=True, body=b"{}")]
    entry = SampleRow(
        id="odd", at=NOW, drawn=True, status="scored", passed=True, value=1.0, body=b"{}"
    )
    store.commit("default", [entry], lambda _state, _new: (b"{}", rows))
    raise_alert(store, change("healthy", "critical", stream="tag:a"))
    sink = RecordingSink()
    assert Deliverer(store, "default", [sink]).deliver_due(NOW) == {"skipped": 1, "sent": 1}
    assert store.outbox.deliveries(1)["ear"][3].startswith("the alert cannot be read")


def test_lease_starts_when_the_alert_is_claimed(store: MonitorStore) -> None:
    """Slow sinks must not let the claims that follow expire before they are sent."""
    raise_alert(store, *(change("healthy", "warning", stream=f"tag:{n}") for n in range(3)))
    claimed: list[float] = []

    class Slow(RecordingSink):
        def send(self, notices: Sequence[Notice]) -> None:
            (row,) = store._file.rows("SELECT next FROM deliveries WHERE state = 'claimed'")
            claimed.append(row[0])
            time.sleep(0.05)

    Deliverer(store, "default", [Slow()]).deliver_due(NOW)
    assert claimed[1] - claimed[0] >= 0.05
    assert claimed[2] - claimed[1] >= 0.05


def test_alerts_of_two_monitors_in_one_store_are_separate(store: MonitorStore) -> None:
    raise_alert(store, change("healthy", "critical"), name="a")
    raise_alert(store, change("healthy", "critical"), name="b")
    sink = RecordingSink()
    for name in ("a", "b"):
        assert Deliverer(store, name, [sink]).deliver_due(NOW) == {"sent": 1}
    assert [one.monitor for one in sink.received] == ["a", "b"]
    assert sink.received[0].id != sink.received[1].id


def test_two_sinks_of_the_same_name_are_refused(store: MonitorStore) -> None:
    with pytest.raises(ConfigError, match="two sinks have the name 'ear'"):
        Deliverer(store, "default", [RecordingSink(), RecordingSink()])


@pytest.mark.parametrize(
    ("stream", "after", "words"),
    [
        ("overall", "critical", "m: the pass rate is critical"),
        ("dimension:tone", "warning", "m: the pass rate of dimension tone is warning"),
        ("tag:refunds", "critical", "m: the pass rate of tag refunds is critical"),
        (
            "judge",
            "critical",
            "m: the judge is failing (critical); this says nothing about the agent",
        ),
        ("drift:length", "warning", "m: the length of outputs has drifted"),
        ("overall", "healthy", "m: the pass rate is healthy again"),
        ("judge", "healthy", "m: the judge works again"),
        ("drift:mix", "healthy", "m: the mix of traffic matches the reference again"),
    ],
)
def test_headline_of_each_kind_of_alert(
    store: MonitorStore, stream: str, after: AlarmStatus, words: str
) -> None:
    raise_alert(
        store, change("critical" if after == "healthy" else "healthy", after, stream), name="m"
    )
    (alert,) = store.outbox.alerts("m")
    assert headline(make_local_notice("m", alert)) == words


def test_facts_have_evidence_start_time_and_confidence(store: MonitorStore) -> None:
    raise_alert(store, change("healthy", "critical"), change("healthy", "critical", stream="judge"))
    judge, overall = (make_local_notice("m", alert) for alert in store.outbox.alerts("default"))
    details = facts(overall, repr)
    assert details["pass rate"] == "60.0% [50.0%, 70.0%], n=50"
    assert details["since"] == "2027-01-15 07:59:00 UTC"
    assert details["noticed"] == "2027-01-15 08:00:00 UTC"
    assert details["how sure"].startswith("98.00%")
    assert details["evidence"] == "'req-1', 'req-2'"
    assert facts(judge)["not measured"] == "40.0% [30.0%, 50.0%], n=50"


def test_simple_mode_states_no_confidence(store: MonitorStore) -> None:
    raise_alert(store, change("healthy", "critical", method="simple", sure=None, estimate=None))
    (alert,) = store.outbox.alerts("default")
    details = facts(make_local_notice("m", alert))
    assert details["how sure"].startswith("not stated")
    assert details["pass rate"] == "unknown, n=50"
