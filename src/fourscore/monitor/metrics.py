"""Metrics of a monitor for Prometheus, with a collector for `prometheus-client`.

    metrics_text(store)                         # the text of one scrape
    REGISTRY.register(MonitorCollector(store))  # or among the metrics of your own application

Every value is read from the store at each scrape, so all processes of a service report the same
and a restart does not reset a counter. `fourscore serve --monitor` answers /metrics with this.

Names of tags come with the traffic: they are cut, and the state has at most 64 of them.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fourscore.monitor.status import monitor_document, select_monitors
from fourscore.stats.classification import Confusion
from fourscore.stores.monitor import MonitorStore

if TYPE_CHECKING:
    from prometheus_client import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: A status as a number; 1 and above needs attention.
NUMBERS = {"insufficient_data": -1, "healthy": 0, "warning": 1, "critical": 2}
#: Characters of a label's value.
MAX_LABEL = 80
PREFIX = "fourscore_monitor_"

Labels = Mapping[str, str]


class Family(NamedTuple):
    """The type and help text of a metric; the name of a counter ends in `_total`."""

    kind: Literal["counter", "gauge"]
    help: str


FAMILIES = {
    "samples_total": Family(
        "counter", "Samples by status; scored ones and agent failures are in the pass rate."
    ),
    "observed_total": Family("counter", "Interactions, sampled or not."),
    "status": Family("gauge", "-1 insufficient data, 0 healthy, 1 warning, 2 critical."),
    "pass_rate": Family("gauge", "Share of all samples that passed, weighted."),
    "pass_rate_low": Family("gauge", "Lower bound of the pass rate, 95%, valid at any time."),
    "pass_rate_high": Family("gauge", "Upper bound of the pass rate, 95%, valid at any time."),
    "current_pass_rate": Family("gauge", "Share that passed in the current block of samples."),
    "current_pass_rate_low": Family("gauge", "Lower bound of the current pass rate, 95%."),
    "current_pass_rate_high": Family("gauge", "Upper bound of the current pass rate, 95%."),
    "average_score": Family("gauge", "Mean score, weighted."),
    "measured_total": Family("counter", "Samples that count in a pass rate."),
    "corrected_pass_rate": Family("gauge", "Pass rate corrected for the judge's errors."),
    "judge_errors_total": Family("counter", "Samples that the judge could not measure."),
    "judge_error_rate": Family("gauge", "Share of samples that the judge could not measure."),
    "judge_calls_total": Family("counter", "Calls to models by the judge."),
    "judge_tokens_total": Family("counter", "Tokens that the judge read and wrote."),
    "judge_cost_dollars_total": Family("counter", "Cost of the judge in dollars."),
    "drift_distance": Family("gauge", "Distance of the last window from the reference."),
    "not_sampled_total": Family("counter", "Drawn but not scored: full queue, budget or failure."),
    "spans_total": Family("counter", "Spans received, by outcome."),
    "traces_total": Family("counter", "Traces assembled, by outcome."),
    "alerts_open": Family("gauge", "Alerts that are open, by severity."),
    "deliveries_total": Family("counter", "Deliveries of alerts to a sink, by outcome."),
    "last_sample_timestamp_seconds": Family("gauge", "When the newest sample was observed."),
}

#: Counts of interactions that were drawn but not scored.
LOST = ("dropped", "over_budget", "failed", "unsaved")
SPANS = ("new", "twice", "late", "beyond", "rejected")


class Point(NamedTuple):
    """One value of a metric."""

    family: str
    labels: Labels
    value: float


class MonitorCollector:
    """A collector for `prometheus-client`: all monitors of a store, or the one called `name`."""

    def __init__(
        self,
        store: MonitorStore,
        name: str | None = None,
        *,
        calibration: Confusion | None = None,
    ) -> None:
        self._store, self._name, self._calibration = store, name, calibration

    def describe(self) -> "list[Metric]":
        """Return nothing, so that registering the collector does not read the store."""
        return []

    def collect(self) -> "Iterator[Metric]":
        """Yield the metrics that have a value, in the order of `FAMILIES`."""
        from prometheus_client import Metric  # takes 150 ms

        points: dict[str, list[Point]] = {}
        for monitor in select_monitors(self._store, self._name):
            for point in _read_points(monitor_document(self._store, monitor, self._calibration)):
                points.setdefault(point.family, []).append(point)
        for name, family in FAMILIES.items():
            if name in points:
                metric = Metric(PREFIX + name.removesuffix("_total"), family.help, family.kind)
                for _, labels, value in points[name]:
                    shown = {key: _label(text) for key, text in labels.items()}
                    metric.add_sample(PREFIX + name, shown, value)
                yield metric


def metrics_text(
    store: MonitorStore, name: str | None = None, calibration: Confusion | None = None
) -> str:
    """Return the text of a scrape: all monitors of a store, or the one called `name`."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(MonitorCollector(store, name, calibration=calibration))
    return generate_latest(registry).decode()


def _read_points(document: dict[str, Any]) -> Iterator[Point]:
    monitor = {"monitor": document["name"]}
    yield from _sample_points(document, monitor)
    overall = {**document, "n": document["measured"]}
    yield from _stream_points(overall, {**monitor, "kind": "overall", "name": ""})
    for kind in ("dimension", "tag"):
        for name, stream in document[f"{kind}s"].items():
            yield from _stream_points(stream, {**monitor, "kind": kind, "name": name})
    yield from _judge_points(document, monitor)
    for aspect, mark in document["drift"]["aspects"].items():
        labels = {**monitor, "kind": "drift", "name": aspect}
        yield Point("status", labels, NUMBERS[mark["status"]])
        if mark["distance"] is not None:
            yield Point("drift_distance", {**monitor, "aspect": aspect}, mark["distance"])
    corrected = document.get("pass_rate_corrected")
    if corrected:
        yield Point("corrected_pass_rate", monitor, corrected["value"])
    yield from _alert_points(document, monitor)


def _sample_points(document: dict[str, Any], monitor: Labels) -> Iterator[Point]:
    counts = document["counts"]
    for status, n in document["statuses"].items():
        yield Point("samples_total", {**monitor, "status": status}, n)
    yield Point("observed_total", monitor, counts["observed"])
    for word in LOST:
        yield Point("not_sampled_total", {**monitor, "reason": word}, counts[word])
    for word in SPANS:
        labels = {**monitor, "outcome": word}
        yield Point("spans_total", labels, counts.get(f"spans_{word}", 0))
    for word in sorted(counts):
        if word.startswith("traces_"):
            labels = {**monitor, "outcome": word.removeprefix("traces_")}
            yield Point("traces_total", labels, counts[word])
    if document["last"] is not None:
        yield Point("last_sample_timestamp_seconds", monitor, document["last"])


def _stream_points(stream: dict[str, Any], labels: Labels) -> Iterator[Point]:
    yield Point("status", labels, NUMBERS[stream["status"]])
    yield Point("measured_total", labels, stream["n"])
    current = stream["current"]
    for name, part in (("pass_rate", stream), ("current_pass_rate", current)):
        if part["pass_rate"] is not None:
            low, high = part["pass_rate_interval"]
            yield Point(name, labels, part["pass_rate"])
            yield Point(f"{name}_low", labels, low)
            yield Point(f"{name}_high", labels, high)
    if stream["average_score"] is not None:
        yield Point("average_score", labels, stream["average_score"])


def _judge_points(document: dict[str, Any], monitor: Labels) -> Iterator[Point]:
    judge, statuses, cost = document["judge"], document["statuses"], document["cost"]
    labels = {**monitor, "kind": "judge", "name": ""}
    yield Point("status", labels, NUMBERS[judge["status"]])
    yield Point("judge_errors_total", monitor, statuses["judge_error"] + statuses["refused"])
    if judge["error_rate"] is not None:
        yield Point("judge_error_rate", monitor, judge["error_rate"])
    yield Point("judge_calls_total", monitor, cost["calls"])
    for way in ("input", "output"):
        yield Point("judge_tokens_total", {**monitor, "direction": way}, cost[f"{way}_tokens"])
    yield Point("judge_cost_dollars_total", monitor, cost["dollars"])


def _alert_points(document: dict[str, Any], monitor: Labels) -> Iterator[Point]:
    for severity in ("warning", "critical"):
        n = sum(alert["after"] == severity for alert in document["alerts"])
        yield Point("alerts_open", {**monitor, "severity": severity}, n)
    for sink, outcomes in document["deliveries"].items():
        for outcome, n in outcomes.items():
            yield Point("deliveries_total", {**monitor, "sink": sink, "outcome": outcome}, n)


def _label(text: str) -> str:
    """Return a label's value, cut, with characters that UTF-8 cannot encode replaced."""
    cut = text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"
    return cut.encode("utf-8", "replace").decode()
