"""`fourscore show RUN [CASE]`: show a run's summary, or a case with its answer and signals."""

import argparse
from typing import Any

import msgspec

from fourscore.cli.flags import (
    add_json_argument,
    add_run_argument,
    add_scores_argument,
    add_store_argument,
)
from fourscore.cli.main import PASSED
from fourscore.core import ConfigError, InputError, Score, Signal
from fourscore.core.trace import as_text
from fourscore.formats.plain_text import make_printable as _plain
from fourscore.formats.rubric_fields import RubricFile
from fourscore.formats.validation import convert_value
from fourscore.formats.yaml_file import parse_yaml
from fourscore.judges.calibrated_rate import correct_rate
from fourscore.report import exports
from fourscore.report.run_panel import find_previous_run, make_store_option, print_run
from fourscore.report.streams import print_json, print_line
from fourscore.report.summary_text import describe_judges
from fourscore.stores.run import RunInfo, StoredRow
from fourscore.stores.sqlite import Store
from fourscore.test.run import summarize_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_run_argument(parser)
    add("case_id", nargs="?", metavar="CASE", help="show this case instead of the summary")
    add("--repeat", type=int, default=1, metavar="N", help="show this attempt at the case (1)")
    add_scores_argument(parser)
    add_store_argument(parser)
    add("--out", action="append", default=[], metavar="FILE", help=exports.HELP)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    exports.check_paths(args.out)
    with Store(args.store, make=False) as store:
        info = store.run(args.run_id)
        judge = store.judge(info.id, args.scores) if args.scores else None
        if args.case_id is not None:
            row = store.row(info.id, args.case_id, args.repeat, judge)
            if row is None:
                raise ConfigError(
                    f"run {info.id} has no case {args.case_id!r}, repeat {args.repeat}"
                )
            labels = [label for label in store.labels(info.id) if label.case_id == args.case_id]
            rubric = info.rubric if judge in (None, info.rubric_fingerprint) else ""
            return _print_case(args, row, [msgspec.to_builtins(label) for label in labels], rubric)
        document, before = _read_summary(store, info, judge)
        if judge is not None:
            info = msgspec.structs.replace(info, rubric_fingerprint=judge)
        exports.write_files(args.out, store, info, document)
    if args.json:
        print_json(document)
    else:
        print_run(info, document, before=before, store=make_store_option(args.store))
    return PASSED


def _read_summary(
    store: Store, info: RunInfo, judge: str | None
) -> tuple[dict[str, Any], tuple[RunInfo, dict[str, Any]] | None]:
    """Return the summary and the previous run; a rescoring has neither that nor a calibration."""
    if judge is not None:
        return {"run": info.id, "judge": judge, **summarize_run(store, info.id, judge=judge)}, None
    document = {"run": info.id, **summarize_run(store, info.id)}
    document |= correct_rate(info.rubric, info.rubric_fingerprint, document)
    return document, find_previous_run(store, info)


def _print_case(
    args: argparse.Namespace, row: StoredRow, labels: list[dict[str, Any]], rubric: str
) -> int:
    if args.json:
        document = {**msgspec.to_builtins(row), "labels": labels}
        print_json(document)
        return PASSED
    score = row.score
    print_line(f"case {_plain(row.case.id)}, repeat {row.repeat}")
    print_line(f"input     {_plain(as_text(row.case.input))}")
    if row.case.expected is not None:
        print_line(f"expected  {_plain(as_text(row.case.expected))}")
    for name in ("group", "checks", "turns"):
        if value := getattr(row.case, name):
            print_line(f"{name:9} {_plain(as_text(msgspec.to_builtins(value)))}")
    print_line(f"output    {_plain(as_text(row.trace.output))}")
    if row.trace.fault is not None:
        print_line(f"fault     {row.trace.fault.kind}: {_plain(row.trace.fault.message)}")
    for call in row.trace.tool_calls:
        print_line(f"  tool    {_plain(call.name)} {_plain(as_text(call.arguments))}")
    if score is None:
        print_line("not judged yet")
        return PASSED
    print_line(_describe_result(score, rubric))
    for signal in score.signals:
        value = "–" if signal.value is None else f"{signal.value:.3f}"
        reason = signal.reason or (signal.fault.message if signal.fault else "")
        level = f"  {_plain(signal.level)}" if signal.level else ""
        print_line(f"  {_plain(signal.name)}  {value}{level}  {_plain(reason)}".rstrip())
        for evidence in signal.evidence:
            print_line(f"    “{_plain(evidence.text)}” ({evidence.field})")
        if signal.canary is not None:
            result = "PASSED" if signal.canary.passed else "did not pass"
            print_line(f"    canary ({_plain(signal.canary.kind)}) {result}")
    if judges := describe_judges({"provenance": msgspec.to_builtins(score.provenance)}):
        print_line(f"judged by {_plain(judges)}")
    for label in labels:
        print_line(
            f"  {_plain(label['who'])} says {_plain(label['verdict'])} {_plain(label['note'])}"
        )
    return PASSED


def _describe_result(score: Score, rubric: str) -> str:
    """Return the result and its reason; `rubric` is the rubric file's text, empty if unknown."""
    word = {True: "passed", False: "failed", None: "not measured"}[score.passed]
    value = "" if score.value is None else f"value {score.value:.3f}"
    reason = _plain(score.reason) or _explain_failed_mean(score, rubric)
    return f"{word}: {', '.join(part for part in (score.status, value, reason) if part)}"


def _explain_failed_mean(score: Score, rubric: str) -> str:
    """Return the threshold that the score missed; a single judge may have no threshold."""
    alone = score.signals[0] if len(score.signals) == 1 else Signal(name="mean")
    if score.passed or score.status != "scored" or (alone.passed, alone.reward) != (None, None):
        return ""
    try:
        least = convert_value(parse_yaml(rubric, "").value, RubricFile).pass_threshold
    except InputError:  # the rubric's text is unknown or not in our format
        return "below the pass threshold"
    return f"below the pass threshold of {least:g}"
