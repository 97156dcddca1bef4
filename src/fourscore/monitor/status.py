"""What a monitor's store knows, as one document for `status`, `watch` and `/metrics`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError, DataError, Status, suggest_known
from fourscore.judges.calibrated_rate import read_calibration
from fourscore.monitor.alerts import SKIPPED, read_change
from fourscore.monitor.batch_writer import Counters
from fourscore.monitor.drift import ASPECTS, Drift
from fourscore.monitor.state import MonitorState, read_state
from fourscore.monitor.stream import Stream
from fourscore.stats.classification import Confusion
from fourscore.stats.corrected_rate import ChanceError, rogan_gladen, times
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_alerts import Alert

#: Words of a status, the better first.
WORDS = ("insufficient_data", "healthy", "warning", "critical")
#: What the sinks were told, among the counts of a monitor.
SENT, FAILED = "deliveries_sent:", "deliveries_failed:"


def select_monitors(store: MonitorStore, asked: str | None) -> list[str]:
    """The monitors of a store, or the one that is asked for."""
    known = store.monitors()
    if asked is None:
        return known
    if asked not in known:
        hint = suggest_known(asked, known) if known else "the store has none"
        raise DataError(f"no monitor {asked!r}; {hint}", file=str(store.path), field="--name")
    return [asked]


def store_document(
    store: MonitorStore, names: Sequence[str], errors: Confusion | None = None
) -> dict[str, Any]:
    """All of these monitors; `status` is the worst of what they say of the agent and the judge."""
    monitors = [monitor_document(store, name, errors) for name in names]
    return {
        "store": str(store.path),
        "status": worst([one["worst_status"] for one in monitors]),
        "monitors": monitors,
    }


def monitor_document(
    store: MonitorStore, name: str, errors: Confusion | None = None
) -> dict[str, Any]:
    """One monitor: its judgement, its counts, its open alerts, what became of telling of them."""
    document = state_document(read_state(store.state(name)), errors)
    counts = dict.fromkeys(Counters.NAMES, 0) | store.counts(name)
    return {
        "name": name,
        "worst_status": worst(_statuses(document)),
        **document,
        "counts": {word: n for word, n in counts.items() if ":" not in word},
        "dropped": counts["dropped"],
        "alerts": [alert_document(store, alert) for alert in open_alerts(store, name)],
        "deliveries": _deliveries(counts),
    }


def _statuses(document: dict[str, Any]) -> list[str]:
    streams = (*document["dimensions"].values(), *document["tags"].values())
    parts = (document, document["judge"], document["drift"], *streams)
    return [part["status"] for part in parts]


def open_alerts(store: MonitorStore, name: str) -> list[Alert]:
    return store.outbox.alerts(name, only_open=True)


def alert_document(store: MonitorStore, alert: Alert) -> dict[str, Any]:
    """A change of status, and what each sink was told of it."""
    change = read_change(alert.body)
    return {
        "number": alert.number,
        "open": alert.open,
        "ended": alert.ended,
        "kind": change.kind,
        **msgspec.to_builtins(change),
        "deliveries": {
            sink: _delivery(*told) for sink, told in store.outbox.deliveries(alert.number).items()
        },
    }


def _delivery(state: str, sent: int, attempts: int, error: str) -> dict[str, Any]:
    skipped = error.startswith(SKIPPED)
    return {
        "state": "not told" if skipped else state,
        "sent": sent,
        "attempts": attempts,
        "error": error.removeprefix(SKIPPED),
    }


def _deliveries(counts: dict[str, int]) -> dict[str, dict[str, int]]:
    sinks = {word.partition(":")[2] for word in counts if word.startswith((SENT, FAILED))}
    return {
        sink: {"sent": counts.get(SENT + sink, 0), "failed": counts.get(FAILED + sink, 0)}
        for sink in sorted(sinks)
    }


def worst(words: Sequence[str]) -> str:
    """The worst of some words; nothing at all is no data."""
    return max(words, key=WORDS.index, default="insufficient_data")


def read_judge_errors(path: str | None) -> Confusion | None:
    """The judge's errors, by the calibration that stands in a rubric's file."""
    if path is None:
        return None
    from fourscore.judges.rubric_file import read_rubric

    fingerprint = read_rubric(path).provenance.rubric
    calibration = read_calibration(Path(path).read_text(encoding="utf-8"))
    if calibration is None:
        message = "it has no calibration; fourscore calibrate --store-in puts one there"
        raise ConfigError(message, file=path, field="calibration")
    if calibration.judge != fingerprint:
        message = f"the rubric has changed since it was calibrated on {calibration.date}"
        raise ConfigError(message, file=path, field="calibration")
    right, wrong = calibration.sensitivity, calibration.specificity
    return Confusion(
        true_pass=right.right,
        false_fail=right.of - right.right,
        true_fail=wrong.right,
        false_pass=wrong.of - wrong.right,
    )


#: Of the intervals shown; alarms have their own.
LEVEL = 0.95


def state_document(state: MonitorState, errors: Confusion | None = None) -> dict[str, Any]:
    """Return a state as a JSON document.

    `sample_count` is the sum of `statuses`; rates are of `measured` samples, weighted.
    """
    overall = state.overall.document()
    document: dict[str, Any] = {
        "sample_count": state.samples,
        "measured": overall.pop("n"),
        **overall,
        "level": LEVEL,
        "mode": state.mode,
        "statuses": {status.value: state.statuses.get(status, 0) for status in Status},
        "dimensions": {name: each.document() for name, each in state.dimensions.items()},
        "tags": {name: each.document() for name, each in state.tags.items()},
        "tags_unwatched": state.unwatched,
        "judge": _judge(state.judge),
        "drift": _drift(state.drift),
        "first": state.first,
        "last": state.last,
        "cost": msgspec.to_builtins(msgspec.structs.asdict(state.cost)),
        "thresholds": msgspec.to_builtins(state.thresholds),
    }
    if errors is not None:
        document |= _corrected(state, errors)
    return document


def _judge(stream: Stream) -> dict[str, Any]:
    """Of what a judge was asked, how much it could not measure."""
    document = stream.document()
    rate, ends = stream.rate(), stream.interval()
    return {
        "status": document["status"],
        "since": document["since"],
        "n": stream.n,
        "error_rate": None if rate is None else 1 - rate,
        "error_rate_interval": None if ends is None else [1 - ends[1], 1 - ends[0]],
        "newest": document["worst"],
    }


def _drift(drift: Drift) -> dict[str, Any]:
    marks = {aspect: drift.marks[aspect] for aspect in ASPECTS}
    compared = drift.windows > 0
    word = "warning" if any(mark.on for mark in marks.values()) else "healthy"
    return {
        "status": word if compared else "insufficient_data",
        "reference": drift.reference.n,
        "windows": drift.windows,
        "in_window": drift.window.n,
        "aspects": {
            aspect: {
                "status": ("warning" if mark.on else "healthy")
                if compared
                else "insufficient_data",
                "since": mark.since if mark.on else None,
                "distance": mark.distance,
                "p": mark.p,
                "detail": mark.detail,
            }
            for aspect, mark in marks.items()
        },
    }


def _corrected(state: MonitorState, errors: Confusion) -> dict[str, Any]:
    """The rate that people would give; outputs of an agent that failed are failures for sure."""
    overall = state.overall
    if not state.scored:
        return {"pass_rate_corrected": None, "corrected_reason": "nothing was judged"}
    share = state.scored / overall.weight
    rate, alike = min(1.0, overall.passed / state.scored), overall.effective_n()
    judged = state.statuses[Status.SCORED]
    try:
        found = rogan_gladen(rate, alike * share, errors, level=LEVEL, judged=judged)
    except ChanceError as error:
        return {"pass_rate_corrected": None, "corrected_reason": str(error)}
    if share < 1:
        found = times(found, share, max(1, round(alike)), LEVEL)
    corrected = msgspec.to_builtins(found) | {"n": overall.n, "interval": list(found.interval)}
    return {"pass_rate_corrected": corrected, "corrected_reason": ""}
