"""What is known of a service as one document, for the command line, metrics and applications."""

from typing import TYPE_CHECKING, Any

import msgspec

from fourscore.core import Status
from fourscore.monitor.drifting import ASPECTS, Drift
from fourscore.monitor.stream import Stream
from fourscore.stats.confusion import Confusion
from fourscore.stats.correction import ChanceError, rogan_gladen, times

if TYPE_CHECKING:
    from fourscore.monitor.judgement import Judgement

#: Of the intervals shown; alarms have their own.
LEVEL = 0.95


def told(judgement: "Judgement", errors: Confusion | None = None) -> dict[str, Any]:
    """`sample_count` is the sum of `statuses`; rates are of `measured`, weighted back."""
    overall = judgement.overall.document()
    document: dict[str, Any] = {
        "sample_count": judgement.samples,
        "measured": overall.pop("n"),
        **overall,
        "level": LEVEL,
        "mode": judgement.mode,
        "statuses": {status.value: judgement.statuses.get(status, 0) for status in Status},
        "dimensions": {name: each.document() for name, each in judgement.dimensions.items()},
        "tags": {name: each.document() for name, each in judgement.tags.items()},
        "tags_unwatched": judgement.unwatched,
        "judge": _judge(judgement.judge),
        "drift": _drift(judgement.drift),
        "first": judgement.first,
        "last": judgement.last,
        "cost": msgspec.to_builtins(msgspec.structs.asdict(judgement.cost)),
        "thresholds": msgspec.to_builtins(judgement.thresholds),
    }
    if errors is not None:
        document |= _corrected(judgement, errors)
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


def _corrected(judgement: "Judgement", errors: Confusion) -> dict[str, Any]:
    """The rate that people would give; outputs of an agent that failed are failures for sure."""
    overall = judgement.overall
    if not judgement.scored:
        return {"pass_rate_corrected": None, "corrected_reason": "nothing was judged"}
    share = judgement.scored / overall.weight
    rate, alike = min(1.0, overall.passed / judgement.scored), overall.alike()
    judged = judgement.statuses[Status.SCORED]
    try:
        found = rogan_gladen(rate, alike * share, errors, level=LEVEL, judged=judged)
    except ChanceError as error:
        return {"pass_rate_corrected": None, "corrected_reason": str(error)}
    if share < 1:
        found = times(found, share, max(1, round(alike)), LEVEL)
    corrected = msgspec.to_builtins(found) | {"n": overall.n, "interval": list(found.interval)}
    return {"pass_rate_corrected": corrected, "corrected_reason": ""}
