"""Correct the pass rate of a run for the judge's known errors, by the calibration in its rubric.

Only outputs that a judge has scored are corrected; where the agent itself failed, the failure is
certain. A calibration of another rubric, or of this one before it was changed, is stale: it is
reported and not used.
"""

from pathlib import Path
from typing import Any

from fourscore.formats.rubric_fields import RubricCalibration
from fourscore.judges.rubric_file import read_calibration
from fourscore.stats.classification import Confusion
from fourscore.stats.corrected_rate import ChanceError, include_failed, rogan_gladen
from fourscore.stats.intervals import wilson_from_rate
from fourscore.stats.quantiles import normal_quantile

#: The methods of correction, as reports name them.
METHODS = {"rogan_gladen": "Rogan-Gladen", "ppi": "prediction-powered"}


def correct_rate_by_file(path: str, fingerprint: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return `correct_rate` for the rubric in a file; empty if the file cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return correct_rate(text, fingerprint, document)


def correct_rate(rubric: str, fingerprint: str, document: dict[str, Any]) -> dict[str, Any]:
    """Return the summary fields for a run's corrected pass rate; empty without a calibration.

    `rubric` is the text of the rubric's file, `fingerprint` the fingerprint of the rubric that gave
    the scores, `document` the run's summary.
    """
    calibration = read_calibration(rubric)
    if calibration is None:
        return {}
    state, reason, rate = "used", "", None
    if calibration.judge != fingerprint:
        state, reason = "stale", "the rubric has changed since its calibration"
    else:
        try:
            rate = _correct(calibration, document)
        except ChanceError as error:
            state, reason = "refused", str(error)
    origin = {"date": calibration.date, "n": calibration.n, "data": calibration.data}
    return {
        "calibration": {"state": state, "reason": reason, **origin},
        "pass_rate_corrected": rate,
    }


def _correct(calibration: RubricCalibration, document: dict[str, Any]) -> dict[str, Any] | None:
    measured, judged = document["total_tests"], document["statuses"]["scored"]
    if not judged:
        return None
    sensitivity, specificity = calibration.sensitivity, calibration.specificity
    errors = Confusion(
        true_pass=sensitivity.right,
        false_fail=sensitivity.of - sensitivity.right,
        true_fail=specificity.right,
        false_pass=specificity.of - specificity.right,
    )
    level = document["level"]
    # Repeats of a case are not independent, so the share is below 1 if cases were repeated.
    independent = _count_independent(document, level) / measured
    rate = document["passed"] / judged
    found = rogan_gladen(rate, judged * independent, errors, level=level, judged=judged)
    found = include_failed(found, judged / measured, measured, level)
    return {
        "value": found.value,
        "interval": list(found.interval),
        "method": found.method,
        "n": found.n,
        "labels": found.labels,
    }


def _count_independent(document: dict[str, Any], level: float) -> float:
    """Return how many independent outputs would give the raw rate an interval of the same width."""
    n, ends = document["total_tests"], document["pass_rate_interval"]
    if document["repeats"] == 1 or ends is None:
        return float(n)
    z, rate, width = normal_quantile(level), document["pass_rate"], ends[1] - ends[0]
    few, many = 1e-3, float(n)
    for _ in range(60):
        middle = (few + many) / 2
        low, high = wilson_from_rate(rate, middle, z)
        few, many = (middle, many) if high - low > width else (few, middle)
    return many


def describe_corrected_rate(document: dict[str, Any]) -> str:
    """Return one line about the corrected pass rate of a run; empty without a calibration."""
    calibration = document.get("calibration")
    if calibration is None:
        return ""
    rate = document.get("pass_rate_corrected")
    if rate is None:
        is_stale = calibration["state"] == "stale"
        stale = f"stale calibration of {calibration['date']}: " if is_stale else ""
        return f"no, {stale}{calibration['reason'] or 'nothing was judged'}"
    ends = "[{:.1%}, {:.1%}]".format(*rate["interval"])
    method = METHODS.get(rate["method"], rate["method"])
    return f"{rate['value']:.1%} {ends}   n={rate['n']}, {method} with {rate['labels']} labels"
