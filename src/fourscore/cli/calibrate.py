"""`fourscore calibrate`: compare a judge with people's labels of the same outputs."""

import argparse
import time
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.cli import model_options
from fourscore.cli.agent_side_effects import protect_stdout
from fourscore.cli.calibrate_fit import check_fit, fit_weights
from fourscore.cli.flags import (
    add_json_argument,
    add_report_argument,
    add_store_argument,
    check_report_paths,
    parse_count,
    parse_seconds,
    parse_share,
)
from fourscore.cli.judge_options import (
    add_judge_arguments,
    load_judge,
    read_rubric_argument,
    refuse_judge_options,
)
from fourscore.cli.main import INCOMPLETE, PASSED
from fourscore.core import ConfigError, DataError, Dimension, Rubric, suggest_known
from fourscore.core.judge import is_ranker
from fourscore.executors import loop
from fourscore.formats.atomic_file import open_atomic
from fourscore.formats.label_scale import parse_scale
from fourscore.formats.rubric_fields import Counted, RubricCalibration
from fourscore.judges.checks.case_checks import add_case_checks
from fourscore.judges.rubric_file import read_rubric, write_calibration
from fourscore.labels.calibrate import Calibration, calibrate, judge_outputs
from fourscore.labels.labelled_outputs import (
    JudgeVerdict,
    LabelledOutput,
    LabelledOutputs,
    read_judged_file,
    read_labelled_file,
    read_labelled_run,
)
from fourscore.report import summary_text
from fourscore.report.calibration_panel import ProgressLine, markdown, show
from fourscore.report.streams import print_json, print_line
from fourscore.stats.corrected_rate import ChanceError, check_better_than_chance
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

#: A label of at least this share is a pass, where neither the rubric nor `--pass-at` sets it.
PASS_AT = 0.7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_judge_arguments(parser)
    text = "calibrate one dimension of the rubric, or one signal of the judge"
    add("--dimension", metavar="D", help=text)
    text = "read cases with a recorded output and people's labels from this file"
    add("--labels", metavar="FILE", help=text)
    text = "read outputs and labels from this stored run (labels by fourscore label)"
    add("--run", dest="run_id", metavar="RUN", help=text)
    add_store_argument(parser)
    text = "read labels as whole numbers on this scale, e.g. 0:10"
    add("--scale", metavar="LOW:HIGH", help=text)
    text = "count a label as a pass from this share of the scale on (0.7)"
    add("--pass-at", type=parse_share, metavar="SHARE", help=text)
    text = "correct the pass rate of the outputs in this file, which have no labels"
    add("--judged", metavar="FILE", help=text)
    text = "assume that the labelled outputs are a random sample of the --judged ones"
    add("--random-sample", action="store_true", help=text)
    add("--store-in", metavar="RUBRIC", help="write the calibration into this rubric's file")
    text = (
        "fit the weights of factual_accuracy to 100 or more labels; write them beside the rubric"
        " if held-out labels show a gain"
    )
    add("--fit", action="store_true", help=text)
    text = "judge this many outputs at a time (16)"
    add("--concurrency", type=parse_count, default=16, metavar="N", help=text)
    text = "stop judging an output after this time (60)"
    add("--deadline", type=parse_seconds, default=60.0, metavar="SECONDS", help=text)
    model_options.add_model_flags(parser)
    add_report_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    _check_flags(args)
    whole = _read_rubric(args)
    rubric = _take_dimension(whole, args.dimension)
    pass_at = _find_pass_threshold(args, rubric)
    if args.run_id:
        found, name, fingerprint = _read_run(args, whole, pass_at)
        rest, file = found.rest, args.store
    else:
        scale = None if args.scale is None else parse_scale(args.scale)
        found, file = read_labelled_file(args.labels, scale, pass_at), args.labels
        rest = read_judged_file(args.judged, found.scale, pass_at) if args.judged else []
        name = "" if rubric is None else rubric.name
        fingerprint = "" if rubric is None else rubric.provenance.rubric
    if args.fit and rubric is not None:
        return fit_weights(args, rubric, found, pass_at)
    verdicts, others, usage = _find_verdicts(args, rubric, found.rows, rest)
    calibration = calibrate(
        found, verdicts, others, judge=(name, fingerprint), pass_at=pass_at,
        random_sample=args.random_sample, together=bool(args.run_id), file=file,
    )  # fmt: skip
    if args.store_in:
        _write_calibration(args, calibration)
    return _report(args, calibration, usage, corrects=bool(rest))


def _check_flags(args: argparse.Namespace) -> None:
    if args.fit:
        check_fit(args)
    if (args.labels is None) == (args.run_id is None):
        raise ConfigError("give either --labels FILE or --run RUN", field="--labels")
    if args.run_id and (args.judged or args.scale):
        field = "--judged" if args.judged else "--scale"
        raise ConfigError("use it with --labels only: a stored run has its own", field=field)
    if args.random_sample and not (args.run_id or args.judged):
        message = "give the outputs that the labels are a sample of: --judged FILE, or --run"
        raise ConfigError(message, field="--random-sample")
    check_report_paths(args.out)


def _read_rubric(args: argparse.Namespace) -> Rubric | None:
    """Return the rubric of `--rubric`, `--judge` or `--store-in`; None without any of them.

    A single judge decides by itself what passes.
    """
    if args.rubric is not None:
        return read_rubric_argument(args)
    if args.judge is None:
        refuse_judge_options(args)
        return None if args.store_in is None else read_rubric(args.store_in, args.judge_model)
    judge = load_judge(args)
    if is_ranker(judge):
        raise ConfigError(
            f"{args.judge} ranks outputs and gives no verdict on a single one", field="--judge"
        )
    names: Sequence[str] = judge.names  # type: ignore[union-attr]
    lines = tuple(Dimension(name=name, judge=judge) for name in names)
    chosen = [line for line in lines if line.name == args.dimension] or lines[:1]
    return Rubric(name=args.judge, dimensions=tuple(chosen), pass_threshold=PASS_AT)


def _take_dimension(rubric: Rubric | None, dimension: str | None) -> Rubric | None:
    """Return the rubric with that dimension only; it passes at its gate, else the threshold."""
    if rubric is None or dimension is None:
        return rubric
    lines = {line.name: line for line in rubric.dimensions}
    if dimension not in lines:
        raise ConfigError(suggest_known(dimension, lines), field="--dimension")
    line = lines[dimension]
    return replace(
        rubric,
        dimensions=(replace(line, weight=None, gate=None),),
        pass_threshold=rubric.pass_threshold if line.gate is None else line.gate,
        min_coverage=0.0,
    )


def _find_pass_threshold(args: argparse.Namespace, rubric: Rubric | None) -> float:
    if args.pass_at is not None:
        return float(args.pass_at)
    return PASS_AT if rubric is None else min(1.0, max(0.0, rubric.pass_threshold))


def _find_scores(store: Store, info: RunInfo, rubric: Rubric, model: str | None) -> str:
    """Return the fingerprint of a rubric's scores; a run of cases with checks adds these to it."""
    own = rubric.provenance.rubric
    with_checks = add_case_checks(rubric, model).provenance.rubric
    known = info.rubric_fingerprint
    is_known = with_checks == known or any(store.done(info.id, with_checks))
    return with_checks if own != known and is_known else own


def _read_run(
    args: argparse.Namespace, rubric: Rubric | None, pass_at: float
) -> tuple[LabelledOutputs, str, str]:
    with Store(args.store, make=False) as store:
        info = store.run(args.run_id)
        judge = info.rubric_fingerprint
        if rubric is not None:
            judge = _find_scores(store, info, rubric, args.judge_model)
        if judge != info.rubric_fingerprint and not any(store.done(info.id, judge)):
            file = args.rubric or args.store_in
            hint = f": fourscore rescore {info.id} --rubric {file}" if file else ""
            field = "--judge" if args.judge else "--rubric"
            raise ConfigError(f"run {info.id} was not scored by it{hint}", field=field)
        found = read_labelled_run(store, info, judge, args.dimension, pass_at)
    name = rubric.name if rubric is not None else (info.name or info.id)
    return found, name, judge if args.dimension is None else f"{judge} {args.dimension}"


def _find_verdicts(
    args: argparse.Namespace,
    rubric: Rubric | None,
    rows: list[LabelledOutput],
    rest: list[LabelledOutput],
) -> tuple[list[JudgeVerdict], list[JudgeVerdict], dict[str, Any]]:
    """Return the verdicts on the labelled outputs, on the others, and what models cost."""
    files = ((args.labels, rows), (args.judged, rest))
    unjudged = [(file, row) for file, part in files for row in part if row.verdict is None]
    if rubric is None or not unjudged:
        if unjudged:
            file, row = unjudged[0]
            message = "missing: without --judge or --rubric each output needs a judge_score"
            raise DataError(message, file=file, line=row.line, field="judge_score")
        return (
            [r.verdict or JudgeVerdict() for r in rows],
            [r.verdict or JudgeVerdict() for r in rest],
            {},
        )
    pool = model_options.make_model_pool(
        model_options.read_model_settings(args), rubric, probe=args.probe
    )

    async def work() -> list[JudgeVerdict]:
        async with pool:
            return await judge_outputs(
                rubric,
                [*rows, *rest],
                concurrency=args.concurrency,
                deadline=args.deadline,
                done=progress,
            )

    with protect_stdout(), ProgressLine(len(unjudged)) as progress:
        found = loop.run(work())
    return found[: len(rows)], found[len(rows) :], pool.document()


def _write_calibration(args: argparse.Namespace, found: Calibration) -> None:
    """Write the calibration into the rubric file; refuse one of another judge or dimension."""
    rubric = read_rubric(args.store_in, args.judge_model)
    own = (rubric.provenance.rubric, add_case_checks(rubric, args.judge_model).provenance.rubric)
    if found.fingerprint not in own:
        message = (
            "the calibration is of another judge or dimension: give this rubric as --rubric too"
        )
        raise ConfigError(message, file=args.store_in, field="--store-in")
    errors = found.errors
    try:
        check_better_than_chance(errors)
    except ChanceError as error:
        raise ConfigError(str(error), field="--store-in") from None
    section = RubricCalibration(
        judge=found.fingerprint,
        data=found.data,
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        n=errors.n,
        sensitivity=_counted(errors.true_pass, errors.passes),
        specificity=_counted(errors.true_fail, errors.fails),
    )
    write_calibration(args.store_in, section)


def _counted(right: int, of: int) -> Counted:
    return Counted(right=right, of=of, value=round(right / of, 4))


def _report(
    args: argparse.Namespace, found: Calibration, usage: dict[str, Any], *, corrects: bool
) -> int:
    refused = corrects and found.corrected is None
    code = INCOMPLETE if refused or found.left_out.get("unmeasured") else PASSED
    document = {**found.document(), **usage, "stored_in": args.store_in, "exit_code": code}
    text = msgspec.json.encode(document).decode() + "\n"
    for path in args.out:
        with open_atomic(path) as stream:
            stream.write((text if path.endswith(".json") else markdown(found)).encode())
    if args.json:
        print_json(document)
        return code
    show(found)
    for line in summary_text.format_model_costs(usage.get("models", ())):
        print_line(line)
    if args.store_in:
        print_line(f"stored in {args.store_in}")
    return code
