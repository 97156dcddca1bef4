"""`fourscore calibrate --fit`: fit weights to labels, and write them beside the rubric."""

import argparse
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from fourscore.cli.main import INCOMPLETE, PASSED
from fourscore.core import ConfigError, Rubric
from fourscore.formats.atomic_file import open_atomic
from fourscore.judges.dimensions.factual_accuracy import NAME, FactualAccuracy
from fourscore.labels.fit_weights import Fit, fit_labelled
from fourscore.labels.labelled_outputs import LabelledOutputs
from fourscore.report.streams import print_json, print_line
from fourscore.stats.intervals import IntervalEstimate

#: Flags that are refused with `--fit`: they concern the judge with its old weights.
_REFUSED = ("judged", "random_sample", "store_in", "out")


def check_fit(args: argparse.Namespace) -> None:
    """Refuse flags that cannot be combined with `--fit`."""
    for name in _REFUSED:
        if getattr(args, name):
            message = (
                "cannot be combined with --fit, which changes the judge: calibrate again afterwards"
            )
            raise ConfigError(message, field=f"--{name.replace('_', '-')}")
    if args.judge is None and args.rubric is None:
        message = "give --rubric: the rubric whose weights are fitted"
        raise ConfigError(message, field="--fit")


def fit_weights(
    args: argparse.Namespace, rubric: Rubric, found: LabelledOutputs, pass_at: float
) -> int:
    """Fit the weights, write them if they are better, print the result; return the exit code."""
    name, judge = _find_dimension(rubric)
    fit = fit_labelled(found, judge, pass_at, time.strftime("%Y-%m-%d", time.gmtime()))
    path = _make_weights_path(args.rubric, name)
    if not fit.refused:
        with open_atomic(str(path)) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(fit.weights), indent=1) + b"\n")
    code = INCOMPLETE if fit.refused else PASSED
    if args.json:
        document = _make_document(fit, path, name) | {"exit_code": code}
        print_json(document)
        return code
    for line in _format_lines(fit, None if found.scale.kind == "verdict" else pass_at):
        print_line(line)
    if not fit.refused:
        option = msgspec.json.encode(path.name).decode()
        print_line(f"written to {path}; to use it, add to dimension {name}:")
        print_line(f"  with: {{weights: {option}}}")
    return code


def _find_dimension(rubric: Rubric) -> tuple[str, FactualAccuracy]:
    """Return name and judge of the one dimension whose weights can be fitted."""
    found = [
        (line.name, line.judge)
        for line in rubric.dimensions
        # Not its model-based subclass, which has other weights.
        if type(line.judge) is FactualAccuracy
    ]
    if not found:
        message = f"nothing to fit: no dimension of the rubric uses the judge {NAME} with by: rules"
        raise ConfigError(message, field="--fit")
    if len(found) > 1:
        names = " or ".join(name for name, _ in found)
        raise ConfigError(
            f"several dimensions can be fitted: choose --dimension {names}", field="--fit"
        )
    return found[0]


def _make_weights_path(rubric: str | None, dimension: str) -> Path:
    """Return a path beside the rubric file; for a single judge, in the working folder."""
    safe = re.sub(r"[^\w-]", "_", dimension)
    if rubric is not None:
        return Path(rubric).with_name(f"{Path(rubric).stem}.{safe}.weights.json")
    return Path(f"{safe}.weights.json")


def _make_document(fit: Fit, path: Path, dimension: str) -> dict[str, Any]:
    weights = fit.weights
    return {
        "dimension": dimension,
        "labels": weights.labels,
        "cases": weights.cases,
        "left_out": fit.left_out,
        "data": weights.data,
        "shipped": _describe_held_out(weights.shipped.log_loss, fit.shipped_accuracy),
        "fitted": _describe_held_out(weights.fitted.log_loss, fit.fitted_accuracy),
        "log_loss_gain": msgspec.to_builtins(fit.gain),
        "refused": fit.refused,
        "weights": None if fit.refused else str(path),
    }


def _describe_held_out(log_loss: float, accuracy: IntervalEstimate) -> dict[str, Any]:
    return {"log_loss": log_loss, "balanced_accuracy": msgspec.to_builtins(accuracy)}


def _format_lines(fit: Fit, pass_at: float | None) -> Iterator[str]:
    weights, gain = fit.weights, fit.gain
    cut = "" if pass_at is None else f", a pass from {pass_at:g} on"
    yield f"fitted to {weights.labels} labels of {weights.cases} cases{cut}; held out, five folds:"
    for name, held, accuracy in (
        ("shipped", weights.shipped, fit.shipped_accuracy),
        ("fitted", weights.fitted, fit.fitted_accuracy),
    ):
        balanced = _format_figure(accuracy)
        loss = f"log loss {held.log_loss:.3f}"
        yield f"  {name:8} {loss}   balanced accuracy {balanced}   n={accuracy.n}"
    least = "" if gain.interval is None else f", at least {gain.interval[0]:.3f} (95%)"
    yield f"  gain     log loss {gain.value or 0.0:.3f}{least}   n={gain.n}"
    if fit.left_out:
        left_out = ", ".join(f"{n} {word}" for word, n in fit.left_out.items())
        yield f"left out: {left_out}"
    if fit.refused:
        yield f"refused, nothing is written: {fit.refused}"


def _format_figure(figure: IntervalEstimate) -> str:
    ends = "" if figure.interval is None else " [{:.3f}, {:.3f}]".format(*figure.interval)
    return f"{figure.value or 0.0:.3f}{ends}"
