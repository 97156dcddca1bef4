"""The pass rate of a run as people would give it, by the calibration that stands in its rubric.

Only outputs that a judge has seen are corrected; those of an agent that failed are failures for
sure. A calibration of another rubric, or of this one before it was changed, is stale: it is named
and not used.
"""

from pathlib import Path
from typing import Any

from fourscore.core import ConfigError
from fourscore.formats.rubric_fields import RubricCalibration
from fourscore.formats.validation import ConversionError, converted
from fourscore.formats.yaml_file import parse_document
from fourscore.stats.classification import Confusion
from fourscore.stats.corrected_rate import ChanceError, rogan_gladen, times
from fourscore.stats.intervals import wilson_at
from fourscore.stats.quantiles import normal

#: How a person reads the method.
METHODS = {"rogan_gladen": "Rogan-Gladen", "ppi": "prediction-powered"}


def correct_rate_by_file(path: str, fingerprint: str, document: dict[str, Any]) -> dict[str, Any]:
    """`corrected` by the calibration in a rubric's file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return correct_rate(text, fingerprint, document)


def correct_rate(rubric: str, fingerprint: str, document: dict[str, Any]) -> dict[str, Any]:
    """What a summary says of the corrected rate; nothing where the rubric was never calibrated.

    `rubric` is the text of its file, `fingerprint` that of the rubric which gave the scores.
    """
    calibration = read_calibration(rubric)
    if calibration is None:
        return {}
    told = {"date": calibration.date, "n": calibration.n, "data": calibration.data}
    if calibration.judge != fingerprint:
        reason = "the rubric has changed since it was calibrated"
        return {
            "calibration": {"state": "stale", "reason": reason, **told},
            "pass_rate_corrected": None,
        }
    try:
        found = _rate(calibration, document)
    except ChanceError as error:
        return {
            "calibration": {"state": "refused", "reason": str(error), **told},
            "pass_rate_corrected": None,
        }
    return {"calibration": {"state": "used", "reason": "", **told}, "pass_rate_corrected": found}


def read_calibration(rubric: str) -> RubricCalibration | None:
    """The calibration in the text of a rubric's file, if there is one that can be read."""
    try:
        value = parse_document(rubric, "").value
        section = value.get("calibration") if isinstance(value, dict) else None
        return converted(section, RubricCalibration) if isinstance(section, dict) else None
    except (ConfigError, ConversionError):  # whoever reads the rubric itself says so
        return None


def _rate(calibration: RubricCalibration, document: dict[str, Any]) -> dict[str, Any] | None:
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
    alike = _independent(document, level) / measured  # below 1 where cases were tried repeatedly
    rate = document["passed"] / judged
    found = rogan_gladen(rate, judged * alike, errors, level=level, judged=judged)
    found = times(found, judged / measured, measured, level)
    return {
        "value": found.value,
        "interval": list(found.interval),
        "method": found.method,
        "n": found.n,
        "labels": found.labels,
    }


def _independent(document: dict[str, Any], level: float) -> float:
    """How many independent outputs would have the interval that the raw rate has."""
    n, ends = document["total_tests"], document["pass_rate_interval"]
    if document["repeats"] == 1 or ends is None:
        return float(n)
    z, rate, width = normal(level), document["pass_rate"], ends[1] - ends[0]
    few, many = 1e-3, float(n)
    for _ in range(60):
        middle = (few + many) / 2
        low, high = wilson_at(rate, middle, z)
        few, many = (middle, many) if high - low > width else (few, middle)
    return many


def describe_corrected_rate(document: dict[str, Any]) -> str:
    """A line for people; nothing where there is nothing to say."""
    told = document.get("calibration")
    if told is None:
        return ""
    rate = document.get("pass_rate_corrected")
    if rate is None:
        stale = f"stale calibration of {told['date']}: " if told["state"] == "stale" else ""
        return f"no, {stale}{told['reason'] or 'nothing was judged'}"
    ends = "[{:.1%}, {:.1%}]".format(*rate["interval"])
    method = METHODS.get(rate["method"], rate["method"])
    return f"{rate['value']:.1%} {ends}   n={rate['n']}, {method} with {rate['labels']} labels"
