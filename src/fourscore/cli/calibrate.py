"""`fourscore calibrate`: a judge held against what people say of the same outputs."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.cli import model_options
from fourscore.cli.calibrate_fit import check_fit, fit_weights
from fourscore.cli.judge_options import (
    add_judge_arguments,
    load_judge,
    read_rubric_argument,
    refuse_judge_options,
)
from fourscore.cli.main import INCOMPLETE, PASSED
from fourscore.cli.run_guard import protect_stdout
from fourscore.core import ConfigError, DataError, Dimension, Rubric, suggest_known
from fourscore.core.judge import is_ranker
from fourscore.executors import loop
from fourscore.formats.atomic_file import open_atomic
from fourscore.formats.label_scale import scale_of
from fourscore.formats.rubric_fields import Counted, RubricCalibration
from fourscore.formats.yaml_file import put_section
from fourscore.judges.rubric_file import read_rubric
from fourscore.labels.calibrate import Calibration, calibrate, judged
from fourscore.labels.labelled_outputs import (
    JudgeVerdict,
    Labelled,
    Output,
    read_judged_file,
    read_labelled_file,
    read_labelled_run,
)
from fourscore.report import exports, summary_text
from fourscore.report.calibration_panel import ProgressLine, markdown, show
from fourscore.stats.corrected_rate import ChanceError, check
from fourscore.stores.sqlite import DEFAULT_STORE, Store

#: What a label counts as a pass from, where no rubric says.
PASS_AT = 0.7
ENDINGS = (".md", ".json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_judge_arguments(parser)
    add("--model", metavar="SPEC", help="for a judge that asks one: openai:gpt-4o-mini, …")
    add("--dimension", metavar="D", help="one dimension of the rubric, or signal of the judge")
    add("--labels", metavar="FILE", help="cases with a recorded output and label or labels")
    add(
        "--run",
        dest="stored",
        metavar="RUN",
        help="instead: a stored run, with the labels of fourscore label",
    )
    add(
        "--store",
        default=DEFAULT_STORE,
        metavar="FILE",
        help=f"where runs are kept ({DEFAULT_STORE})",
    )
    add("--scale", metavar="LOW:HIGH", help="labels are whole numbers on this scale: 0:10")
    add("--pass-at", type=float, metavar="SHARE", help="finer labels pass from here on (0.7)")
    add("--judged", metavar="FILE", help="outputs without labels, whose pass rate is corrected")
    add("--random-sample", action="store_true", help="the labelled ones were drawn at random")
    add("--store-in", metavar="RUBRIC", help="write the calibration into this rubric's YAML")
    add(
        "--fit",
        action="store_true",
        help="fit the weights of factual_accuracy to the labels (100 and more); written beside "
        "the rubric where held-out labels show a gain",
    )
    add("--concurrency", type=int, default=16, metavar="N", help="outputs at a time (16)")
    add("--deadline", type=float, default=60.0, metavar="SECONDS", help="for each output (60)")
    model_options.add_model_flags(parser)
    add("--out", action="append", default=[], metavar="FILE", help="also as .md or .json")
    add("--json", action="store_true", help="one document on stdout")


def run(args: argparse.Namespace) -> int:
    _check(args)
    whole = _rubric(args)
    rubric = _looked_at(whole, args.dimension)
    pass_at = _pass_at(args, rubric)
    if args.stored:
        found, name, fingerprint = _of_run(args, whole, pass_at)
        rest, file = found.rest, args.store
    else:
        scale = None if args.scale is None else scale_of(args.scale)
        found, file = read_labelled_file(args.labels, scale, pass_at), args.labels
        rest = read_judged_file(args.judged, found.scale, pass_at) if args.judged else []
        name = "" if rubric is None else rubric.name
        fingerprint = "" if rubric is None else rubric.provenance.rubric
    if args.fit and rubric is not None:
        return fit_weights(args, rubric, found, pass_at)
    verdicts, others, bill = _verdicts(args, rubric, found.rows, rest)
    calibration = calibrate(
        found, verdicts, others, judge=(name, fingerprint), pass_at=pass_at,
        random_sample=args.random_sample, together=bool(args.stored), file=file,
    )  # fmt: skip
    if args.store_in:
        _store(args, calibration)
    return _report(args, calibration, bill, asked=bool(rest))


def _check(args: argparse.Namespace) -> None:
    if args.fit:
        check_fit(args)
    if (args.labels is None) == (args.stored is None):
        raise ConfigError("give either --labels FILE or --run RUN", field="--labels")
    if args.stored and (args.judged or args.scale):
        field = "--judged" if args.judged else "--scale"
        raise ConfigError("it goes with --labels: a run has its own", field=field)
    if args.random_sample and not (args.stored or args.judged):
        message = "a sample of what? Give --judged FILE, or --run"
        raise ConfigError(message, field="--random-sample")
    for field, value in (("--concurrency", args.concurrency), ("--deadline", args.deadline)):
        if not 0 < value < 1e9:
            raise ConfigError("expected a number above 0", field=field)
    for path in args.out:
        if Path(path).suffix not in ENDINGS:
            raise ConfigError(f"its ending is not {' or '.join(ENDINGS)}", file=path, field="--out")
        exports.check_paths([path])


def _rubric(args: argparse.Namespace) -> Rubric | None:
    """What `--rubric`, `--judge` or `--store-in` names; None where none of them is given.

    A judge on its own keeps its own idea of success.
    """
    if args.rubric is not None:
        return read_rubric_argument(args)
    if args.judge is None:
        refuse_judge_options(args)
        return None if args.store_in is None else read_rubric(args.store_in)
    judge = load_judge(args)
    if is_ranker(judge):
        raise ConfigError(f"{args.judge} ranks; it has no verdict on one output", field="--judge")
    names: Sequence[str] = judge.names  # type: ignore[union-attr]
    lines = tuple(Dimension(name=name, judge=judge) for name in names)
    chosen = [line for line in lines if line.name == args.dimension] or lines[:1]
    return Rubric(name=args.judge, dimensions=tuple(chosen), pass_threshold=PASS_AT)


def _looked_at(rubric: Rubric | None, dimension: str | None) -> Rubric | None:
    """The rubric with nothing but that dimension, which passes at its gate or the threshold."""
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


def _pass_at(args: argparse.Namespace, rubric: Rubric | None) -> float:
    given: float | None = args.pass_at
    if given is None:
        return PASS_AT if rubric is None else min(1.0, max(0.0, rubric.pass_threshold))
    if not 0 <= given <= 1:
        raise ConfigError("expected a share from 0 to 1", field="--pass-at")
    return given


def _of_run(
    args: argparse.Namespace, rubric: Rubric | None, pass_at: float
) -> tuple[Labelled, str, str]:
    with Store(args.store, make=False) as store:
        info = store.run(args.stored)
        judge = info.rubric_fingerprint if rubric is None else rubric.provenance.rubric
        if judge != info.rubric_fingerprint and not any(store.done(info.id, judge)):
            file = args.rubric or args.store_in
            hint = f": fourscore rescore {info.id} --rubric {file}" if file else ""
            field = "--judge" if args.judge else "--rubric"
            raise ConfigError(f"run {info.id} was not scored by it{hint}", field=field)
        found = read_labelled_run(store, info, judge, args.dimension, pass_at)
    name = rubric.name if rubric is not None else (info.name or info.id)
    return found, name, judge if args.dimension is None else f"{judge} {args.dimension}"


def _verdicts(
    args: argparse.Namespace, rubric: Rubric | None, rows: list[Output], rest: list[Output]
) -> tuple[list[JudgeVerdict], list[JudgeVerdict], dict[str, Any]]:
    """Of the labelled and of the other outputs, and what the models cost."""
    files = ((args.labels, rows), (args.judged, rest))
    bare = [(file, row) for file, part in files for row in part if row.verdict is None]
    if rubric is None or not bare:
        if bare:
            file, row = bare[0]
            message = "missing: without --judge or --rubric each output brings its judge's score"
            raise DataError(message, file=file, line=row.line, field="judge_score")
        return (
            [r.verdict or JudgeVerdict() for r in rows],
            [r.verdict or JudgeVerdict() for r in rest],
            {},
        )
    pool = model_options.make_model_pool(model_options.read_model_settings(args), rubric)

    async def work() -> list[JudgeVerdict]:
        async with pool:
            return await judged(
                rubric,
                [*rows, *rest],
                concurrency=args.concurrency,
                deadline=args.deadline,
                done=ticker,
            )

    with protect_stdout(), ProgressLine(len(bare)) as ticker:
        found = loop.run(work())
    return found[: len(rows)], found[len(rows) :], pool.document()


def _store(args: argparse.Namespace, found: Calibration) -> None:
    """Put what was found into the rubric's file, if it is of this rubric's verdict."""
    own = read_rubric(args.store_in).provenance.rubric
    if found.fingerprint != own:
        message = "what was calibrated is not this rubric's pass and fail: give it as --rubric too"
        raise ConfigError(message, file=args.store_in, field="--store-in")
    errors = found.errors
    try:
        check(errors)
    except ChanceError as error:
        raise ConfigError(str(error), field="--store-in") from None
    section = RubricCalibration(
        judge=own,
        data=found.data,
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        n=errors.n,
        sensitivity=_counted(errors.true_pass, errors.passes),
        specificity=_counted(errors.true_fail, errors.fails),
    )
    told = "made by fourscore calibrate: how often people and this rubric agree"
    put_section(args.store_in, "calibration", msgspec.to_builtins(section), told)


def _counted(right: int, of: int) -> Counted:
    return Counted(right=right, of=of, value=round(right / of, 4))


def _report(
    args: argparse.Namespace, found: Calibration, bill: dict[str, Any], *, asked: bool
) -> int:
    refused = asked and found.corrected is None
    code = INCOMPLETE if refused or found.left_out.get("unmeasured") else PASSED
    document = {**found.document(), **bill, "stored_in": args.store_in, "exit_code": code}
    text = msgspec.json.encode(document).decode() + "\n"
    for path in args.out:
        with open_atomic(path) as stream:
            stream.write((text if path.endswith(".json") else markdown(found)).encode())
    if args.json:
        sys.stdout.write(text)
        return code
    show(found)
    for line in summary_text.format_model_costs(bill.get("models", ())):
        sys.stdout.write(f"{line}\n")
    if args.store_in:
        sys.stdout.write(f"stored in {args.store_in}\n")
    return code
