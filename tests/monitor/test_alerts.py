"""What a sink is told of a change, when again, and when there is nothing to tell any more."""

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


class Ear:
    """A sink that hears everything, or fails as often as it is told to."""

    def __init__(self, name: str = "ear", *, together: int = 1, **policy: object) -> None:
        self.name, self.together = name, together
        self.policy = Policy(**policy)  # type: ignore[arg-type]
        self.heard: list[Notice] = []
        self.failures = 0
        self.again: float | None = None

    def send(self, notices: Sequence[Notice]) -> None:
        if self.failures:
            self.failures -= 1
            raise SinkError("503", again=self.again)
        self.heard += notices

    @property
    def words(self) -> list[str]:
        return [f"{one.state} {one.status}" for one in self.heard]


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
    told: dict[str, object] = {
        "estimate": 0.6, "low": 0.5, "high": 0.7, "n": 50, "method": "sequence", "sure": 0.98,
        "evidence": ("req-1", "req-2"), "since": at - 60, **more,
    }  # fmt: skip
    return StatusChange(stream=stream, before=before, after=after, at=at, **told)  # type: ignore[arg-type]


_ids = iter(range(1_000_000))


def raise_(store: MonitorStore, *changes: StatusChange, name: str = "default") -> None:
    """As a fold does it, in the transaction of a sample."""
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


def test_told_once_and_again_by_the_policy_and_when_it_is_over(store: MonitorStore) -> None:
    ear = Ear(repeat=4 * HOUR)
    tell = Deliverer(store, "default", [ear]).deliver_due
    raise_(store, change("healthy", "critical"))
    assert tell(NOW) == {"sent": 1}
    assert tell(NOW + 1) == {}
    assert tell(NOW + 4 * HOUR - 1) == {}
    assert tell(NOW + 4 * HOUR) == {"sent": 1}
    assert ear.words == ["firing critical"] * 2
    assert [one.repetition for one in ear.heard] == [0, 1]
    assert ear.heard[0].id != ear.heard[1].id
    raise_(store, change("critical", "healthy", at=NOW + 5 * HOUR, sure=None, evidence=()))
    assert tell(NOW + 5 * HOUR) == {"sent": 1}
    assert tell(NOW + 50 * HOUR) == {}
    assert ear.words[-1] == "resolved healthy"
    assert ear.heard[-1].severity == "critical"
    assert ear.heard[-1].since == NOW - 60  # of the trouble, not of its end
    assert store.counts("default")["deliveries_sent:ear"] == 3


def test_without_a_repeat_it_is_told_once(store: MonitorStore) -> None:
    ear = Ear(repeat=None)
    raise_(store, change("healthy", "warning"))
    tell = Deliverer(store, "default", [ear]).deliver_due
    assert [tell(NOW), tell(NOW + 1000 * DAY)] == [{"sent": 1}, {}]


def test_who_was_away_hears_how_things_stand(store: MonitorStore) -> None:
    raise_(
        store,
        change("healthy", "warning", at=NOW),
        change("warning", "critical", at=NOW + 10),
        change("healthy", "warning", stream="tag:a", at=NOW + 20),
        change("warning", "healthy", stream="tag:a", at=NOW + 30),
    )
    ear = Ear()
    done = Deliverer(store, "default", [ear]).deliver_due(NOW + 60)
    assert done == {"sent": 2, "skipped": 2}
    assert [(one.stream, one.state) for one in ear.heard] == [
        ("overall", "firing"),
        ("tag:a", "resolved"),
    ]
    assert ear.heard[0].status == "critical"
    assert ear.heard[0].since == NOW - 60


def test_a_new_sink_hears_of_what_is_open_and_not_of_the_past(store: MonitorStore) -> None:
    raise_(
        store,
        change("healthy", "critical", stream="tag:a", at=NOW - 9 * DAY),
        change("critical", "healthy", stream="tag:a", at=NOW - 8 * DAY),
        change("healthy", "warning", at=NOW - 7 * DAY),
    )
    ear = Ear()
    assert Deliverer(store, "default", [ear]).deliver_due(NOW) == {"sent": 1, "skipped": 2}
    assert ear.words == ["firing warning"]


def test_an_end_that_is_late_does_not_end_what_has_begun_since(store: MonitorStore) -> None:
    ear = Ear()
    deliverer = Deliverer(store, "default", [ear])
    raise_(store, change("healthy", "critical"))
    deliverer.deliver_due(NOW)
    ear.failures = 1
    raise_(store, change("critical", "healthy", at=NOW + 10))
    assert deliverer.deliver_due(NOW + 10) == {"failed": 1}
    raise_(store, change("healthy", "critical", at=NOW + 12))
    assert deliverer.deliver_due(NOW + 60) == {"skipped": 1, "sent": 1}
    assert ear.words == ["firing critical", "firing critical"]


def test_a_sink_for_critical_alerts_hears_when_they_ease(store: MonitorStore) -> None:
    ear = Ear(least="critical")
    tell = Deliverer(store, "default", [ear]).deliver_due
    raise_(store, change("healthy", "warning"))
    assert tell(NOW) == {"skipped": 1}
    raise_(store, change("warning", "critical", at=NOW + 1))
    raise_(store, change("critical", "warning", at=NOW + 2))
    assert tell(NOW + 3) == {"skipped": 1, "sent": 1}  # came and went: told as over
    raise_(store, change("warning", "critical", at=NOW + 4))
    assert tell(NOW + 5) == {"sent": 1}
    raise_(store, change("critical", "warning", at=NOW + 6))
    assert tell(NOW + 7) == {"sent": 1}
    raise_(store, change("warning", "healthy", at=NOW + 8))
    assert tell(NOW + 9) == {"skipped": 1}
    assert ear.words == ["resolved warning", "firing critical", "resolved warning"]
    assert headline(ear.heard[-1]) == "default: the pass rate is warning, no longer critical"


def test_a_sink_that_fails_is_tried_again_later_with_the_same_id(store: MonitorStore) -> None:
    ear, other = Ear(), Ear("other")
    ear.failures = 2
    deliverer = Deliverer(store, "default", [ear, other])
    raise_(store, change("healthy", "critical"), change("healthy", "warning", stream="tag:a"))
    assert deliverer.deliver_due(NOW) == {"failed": 1, "sent": 2}  # it rests after a failure
    assert (len(ear.heard), len(other.heard)) == (0, 2)
    assert deliverer.deliver_due(NOW + 1) == {}
    assert deliverer.deliver_due(NOW + FIRST_RETRY) == {"failed": 1}
    (state, sent, attempts, error) = store.outbox.deliveries(1)["ear"]
    assert (state, sent, attempts, error) == ("due", 0, 2, "503")
    assert deliverer.deliver_due(NOW + 4 * FIRST_RETRY) == {"sent": 2}
    assert store.counts("default")["deliveries_failed:ear"] == 2
    assert store.outbox.deliveries(1)["ear"] == ("sent", 1, 0, "")


def test_a_sink_may_say_when_to_come_again(store: MonitorStore) -> None:
    ear = Ear()
    ear.failures, ear.again = 1, 100.0
    deliverer = Deliverer(store, "default", [ear])
    raise_(store, change("healthy", "critical"))
    assert deliverer.deliver_due(NOW) == {"failed": 1}
    assert deliverer.deliver_due(NOW + 99) == {}
    assert deliverer.deliver_due(NOW + 100) == {"sent": 1}


def test_an_end_that_nobody_takes_is_given_up_after_a_day(store: MonitorStore) -> None:
    ear = Ear()
    deliverer = Deliverer(store, "default", [ear])
    raise_(store, change("healthy", "critical"))
    deliverer.deliver_due(NOW)
    raise_(store, change("critical", "healthy", at=NOW + 1))
    ear.failures = 10
    assert deliverer.deliver_due(NOW + 2 * DAY) == {"failed": 1}
    assert deliverer.deliver_due(NOW + 3 * DAY) == {}
    assert store.outbox.deliveries(2)["ear"][0] == "given up"


def test_whoever_dies_while_sending_is_replaced_and_the_id_stays(store: MonitorStore) -> None:
    raise_(store, change("healthy", "critical"))
    seen: list[str] = []

    class Dies(Ear):
        def send(self, notices: Sequence[Notice]) -> None:
            seen.append(notices[0].id)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Deliverer(store, "default", [Dies()]).deliver_due(NOW)
    ear = Ear()
    second = Deliverer(store, "default", [ear])
    assert second.deliver_due(NOW + LEASE - 1) == {}
    assert second.deliver_due(NOW + 2 * LEASE) == {"sent": 1}
    assert [one.id for one in ear.heard] == seen


def test_a_sink_whose_code_breaks_is_a_failure_and_no_more(store: MonitorStore) -> None:
    class Breaks(Ear):
        def send(self, notices: Sequence[Notice]) -> None:
            raise ZeroDivisionError

    raise_(store, change("healthy", "critical"))
    assert Deliverer(store, "default", [Breaks()]).deliver_due(NOW) == {"failed": 1}
    assert store.outbox.deliveries(1)["ear"][3] == "ZeroDivisionError"


def test_alerts_go_together_where_a_sink_takes_them_so(store: MonitorStore) -> None:
    sizes: list[int] = []

    class Counts(Ear):
        def send(self, notices: Sequence[Notice]) -> None:
            sizes.append(len(notices))

    raise_(store, *(change("healthy", "warning", stream=f"tag:{n}") for n in range(7)))
    ear = Counts(together=5)
    assert Deliverer(store, "default", [ear]).deliver_due(NOW) == {"sent": 7}
    assert sizes == [5, 2]


def test_the_thread_tells_and_the_end_tells_what_is_left(store: MonitorStore) -> None:
    ear = Ear()
    deliverer = Deliverer(store, "default", [ear], pause=0.01)
    deliverer.start()
    deliverer.start()  # one thread
    raise_(store, change("healthy", "critical", at=time.time()))
    deadline = time.monotonic() + 60
    while not ear.heard and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ear.words == ["firing critical"]
    deliverer.close(60)
    slow = Deliverer(store, "default", [other := Ear("other")], pause=3600)
    slow.start()
    while not other.heard and time.monotonic() < deadline:
        time.sleep(0.01)
    raise_(store, change("critical", "healthy", at=time.time()))
    slow.close(60)
    assert other.words == ["firing critical", "resolved healthy"]


def test_who_is_told_again_hears_how_it_is_by_now(store: MonitorStore) -> None:
    judgement = MonitorState()
    with ProductionMonitor(1.0, rubric=fine, store=store) as monitor:
        for number in range(60):
            monitor.sample_and_evaluate("q", "bad", id=str(number))
        before = Ear(repeat=HOUR)
        now = time.time()
        deliverer = Deliverer(store, "default", [before])
        deliverer.deliver_due(now)
        for number in range(60, 70):
            monitor.sample_and_evaluate("q", "good", id=str(number))
        deliverer.deliver_due(now + HOUR)
    first, again = (one for one in before.heard if one.stream == "overall")
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


def test_an_alert_that_cannot_be_read_does_not_stop_the_others(store: MonitorStore) -> None:
    rows = [NewAlert(stream="overall", at=NOW, open=True, body=b"{}")]
    entry = SampleRow(
        id="odd", at=NOW, drawn=True, status="scored", passed=True, value=1.0, body=b"{}"
    )
    store.commit("default", [entry], lambda _state, _new: (b"{}", rows))
    raise_(store, change("healthy", "critical", stream="tag:a"))
    ear = Ear()
    assert Deliverer(store, "default", [ear]).deliver_due(NOW) == {"skipped": 1, "sent": 1}
    assert store.outbox.deliveries(1)["ear"][3].startswith("the alert cannot be read")


def test_a_lease_begins_when_it_is_taken(store: MonitorStore) -> None:
    """Slow sinks must not let the claims that follow expire before they are sent."""
    raise_(store, *(change("healthy", "warning", stream=f"tag:{n}") for n in range(3)))
    claimed: list[float] = []

    class Slow(Ear):
        def send(self, notices: Sequence[Notice]) -> None:
            (row,) = store._file.rows("SELECT next FROM deliveries WHERE state = 'claimed'")
            claimed.append(row[0])
            time.sleep(0.05)

    Deliverer(store, "default", [Slow()]).deliver_due(NOW)
    assert claimed[1] - claimed[0] >= 0.05
    assert claimed[2] - claimed[1] >= 0.05


def test_two_monitors_of_a_store_are_told_apart(store: MonitorStore) -> None:
    raise_(store, change("healthy", "critical"), name="a")
    raise_(store, change("healthy", "critical"), name="b")
    ear = Ear()
    for name in ("a", "b"):
        assert Deliverer(store, name, [ear]).deliver_due(NOW) == {"sent": 1}
    assert [one.monitor for one in ear.heard] == ["a", "b"]
    assert ear.heard[0].id != ear.heard[1].id


def test_two_sinks_of_one_name_are_refused(store: MonitorStore) -> None:
    with pytest.raises(ConfigError, match="two sinks are called 'ear'"):
        Deliverer(store, "default", [Ear(), Ear()])


@pytest.mark.parametrize(
    ("stream", "after", "words"),
    [
        ("overall", "critical", "m: the pass rate is critical"),
        ("dimension:tone", "warning", "m: the pass rate of dimension tone is warning"),
        ("tag:refunds", "critical", "m: the pass rate of tag refunds is critical"),
        ("judge", "critical", "m: the judge is failing (critical); this says nothing of the agent"),
        ("drift:length", "warning", "m: the length of outputs has drifted"),
        ("overall", "healthy", "m: the pass rate is healthy again"),
        ("judge", "healthy", "m: the judge measures again"),
        ("drift:mix", "healthy", "m: the mix of traffic is as in the reference again"),
    ],
)
def test_headlines(store: MonitorStore, stream: str, after: AlarmStatus, words: str) -> None:
    raise_(store, change("critical" if after == "healthy" else "healthy", after, stream), name="m")
    (alert,) = store.outbox.alerts("m")
    assert headline(make_local_notice("m", alert)) == words


def test_facts_name_the_evidence_since_when_and_how_sure(store: MonitorStore) -> None:
    raise_(store, change("healthy", "critical"), change("healthy", "critical", stream="judge"))
    judge, overall = (make_local_notice("m", alert) for alert in store.outbox.alerts("default"))
    told = facts(overall, repr)
    assert told["pass rate"] == "60.0% [50.0%, 70.0%], n=50"
    assert told["since"] == "2027-01-15 07:59:00 UTC"
    assert told["noticed"] == "2027-01-15 08:00:00 UTC"
    assert told["how sure"].startswith("98.00%")
    assert told["evidence"] == "'req-1', 'req-2'"
    assert facts(judge)["not measured"] == "40.0% [30.0%, 50.0%], n=50"


def test_a_rule_without_a_promise_promises_nothing(store: MonitorStore) -> None:
    raise_(store, change("healthy", "critical", method="simple", sure=None, estimate=None))
    (alert,) = store.outbox.alerts("default")
    told = facts(make_local_notice("m", alert))
    assert told["how sure"].startswith("not stated")
    assert told["pass rate"] == "unknown, n=50"
