"""The JSON documents behind `fourscore monitor status`, `watch`, `alerts` and `/metrics`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError, DataError, Status, suggest_known
from fourscore.judges.rubric_file import read_calibration
from fourscore.monitor.alerts import SKIPPED, read_change
from fourscore.monitor.batch_writer import Counters
from fourscore.monitor.drift import ASPECTS, Drift
from fourscore.monitor.state import MonitorState, read_state
from fourscore.monitor.stream import Stream
from fourscore.stats.classification import Confusion
from fourscore.stats.corrected_rate import ChanceError, include_failed, rogan_gladen
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_alerts import Alert

#: The statuses, the best first.
STATUSES = ("insufficient_data", "healthy", "warning", "critical")
#: Prefixes of the counts of deliveries to a sink.
SENT, FAILED = "deliveries_sent:", "deliveries_failed:"


def select_monitors(store: MonitorStore, name: str | None) -> list[str]:
    """Return the names of a store's monitors, or only `name`; raise if there is no such monitor."""
    known = store.monitors()
    if name is None:
        return known
    if name not in known:
        hint = suggest_known(name, known) if known else "the store has none"
        raise DataError(f"no monitor {name!r}; {hint}", file=str(store.path), field="--name")
    return [name]


def store_document(
    store: MonitorStore, names: Sequence[str], errors: Confusion | None = None
) -> dict[str, Any]:
    """Return the document of these monitors; `status` is their worst, including judge and drift."""
    monitors = [monitor_document(store, name, errors) for name in names]
    return {
        "store": str(store.path),
        "status": worst_status([one["worst_status"] for one in monitors]),
        "monitors": monitors,
    }


def monitor_document(
    store: MonitorStore, name: str, errors: Confusion | None = None
) -> dict[str, Any]:
    """Return one monitor's state, counts, open alerts and their deliveries."""
    document = state_document(read_state(store.state(name)), errors)
    counts = dict.fromkeys(Counters.NAMES, 0) | store.counts(name)
    return {
        "name": name,
        "worst_status": worst_status(_all_statuses(document)),
        **document,
        "counts": {word: n for word, n in counts.items() if ":" not in word},
        "dropped": counts["dropped"],
        "alerts": [alert_document(store, alert) for alert in open_alerts(store, name)],
        "deliveries": _delivery_counts(counts),
    }


def _all_statuses(document: dict[str, Any]) -> list[str]:
    streams = (*document["dimensions"].values(), *document["tags"].values())
    parts = (document, document["judge"], document["drift"], *streams)
    return [part["status"] for part in parts]


def open_alerts(store: MonitorStore, name: str) -> list[Alert]:
    """Return a monitor's open alerts, the newest first."""
    return store.outbox.alerts(name, only_open=True)


def alert_document(store: MonitorStore, alert: Alert) -> dict[str, Any]:
    """Return a change of status and its deliveries to each sink."""
    change = read_change(alert.body)
    return {
        "number": alert.number,
        "open": alert.open,
        "ended": alert.ended,
        "kind": change.kind,
        **msgspec.to_builtins(change),
        "deliveries": {
            sink: _delivery_document(*delivery)
            for sink, delivery in store.outbox.deliveries(alert.number).items()
        },
    }


def _delivery_document(state: str, sent: int, attempts: int, error: str) -> dict[str, Any]:
    is_skipped = error.startswith(SKIPPED)
    return {
        "state": "not told" if is_skipped else state,
        "sent": sent,
        "attempts": attempts,
        "error": error.removeprefix(SKIPPED),
    }


def _delivery_counts(counts: dict[str, int]) -> dict[str, dict[str, int]]:
    sinks = {word.partition(":")[2] for word in counts if word.startswith((SENT, FAILED))}
    return {
        sink: {"sent": counts.get(SENT + sink, 0), "failed": counts.get(FAILED + sink, 0)}
        for sink in sorted(sinks)
    }


def worst_status(statuses: Sequence[str]) -> str:
    """Return the worst of some statuses; `insufficient_data` if there are none."""
    return max(statuses, key=STATUSES.index, default="insufficient_data")


def read_judge_errors(path: str | None) -> Confusion | None:
    """Return the judge's confusion counts from the calibration in a rubric file."""
    if path is None:
        return None
    from fourscore.judges.rubric_file import read_rubric

    fingerprint = read_rubric(path).provenance.rubric
    calibration = read_calibration(Path(path).read_text(encoding="utf-8"))
    if calibration is None:
        message = "the file has no calibration; fourscore calibrate --store-in adds one"
        raise ConfigError(message, file=path, field="calibration")
    if calibration.judge != fingerprint:
        message = f"the rubric has changed since its calibration on {calibration.date}; repeat it"
        raise ConfigError(message, file=path, field="calibration")
    right, wrong = calibration.sensitivity, calibration.specificity
    return Confusion(
        true_pass=right.right,
        false_fail=right.of - right.right,
        true_fail=wrong.right,
        false_pass=wrong.of - wrong.right,
    )


#: Confidence of the intervals shown; alarms have their own.
LEVEL = 0.95


def state_document(state: MonitorState, errors: Confusion | None = None) -> dict[str, Any]:
    """Return a state as a JSON document.

    `sample_count` is the sum of `statuses`; rates are weighted rates of the `measured` samples.
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
        "judge": _judge_document(state.judge),
        "drift": _drift_document(state.drift),
        "first": state.first,
        "last": state.last,
        "cost": msgspec.to_builtins(msgspec.structs.asdict(state.cost)),
        "thresholds": msgspec.to_builtins(state.thresholds),
    }
    if errors is not None:
        document |= _corrected_rate(state, errors)
    return document


def _judge_document(stream: Stream) -> dict[str, Any]:
    """Return the judge's status, and the share of samples that it could not measure."""
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


def _drift_document(drift: Drift) -> dict[str, Any]:
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


def _corrected_rate(state: MonitorState, errors: Confusion) -> dict[str, Any]:
    """Return the pass rate corrected for the judge's errors; failed agents need no correction."""
    overall = state.overall
    if not state.scored:
        return {"pass_rate_corrected": None, "corrected_reason": "nothing was judged"}
    share = state.scored / overall.weight
    rate, effective_n = min(1.0, overall.passed / state.scored), overall.effective_n()
    judged = state.statuses[Status.SCORED]
    try:
        found = rogan_gladen(rate, effective_n * share, errors, level=LEVEL, judged=judged)
    except ChanceError as error:
        return {"pass_rate_corrected": None, "corrected_reason": str(error)}
    if share < 1:
        found = include_failed(found, share, max(1, round(effective_n)), LEVEL)
    corrected = msgspec.to_builtins(found) | {"n": overall.n, "interval": list(found.interval)}
    return {"pass_rate_corrected": corrected, "corrected_reason": ""}
