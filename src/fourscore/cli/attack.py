"""`fourscore attack`: attack a judge, and measure how often bad answers get good scores."""

import argparse
import json
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from fourscore.cli import model_options
from fourscore.cli.agent_side_effects import protect_stdout
from fourscore.cli.flags import (
    add_json_argument,
    add_report_argument,
    check_report_paths,
    parse_count,
    parse_seconds,
    parse_share,
)
from fourscore.cli.judge_options import add_judge_arguments, load_judge, read_rubric_argument
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, PASSED
from fourscore.core import Case, ConfigError, DataError, Dimension, Rubric
from fourscore.executors import loop
from fourscore.formats.atomic_file import open_atomic
from fourscore.formats.cases import CaseFile
from fourscore.judges.llm.attacks import read_bundled_cases, read_families, read_family
from fourscore.labels.attack import AttackPlan, attack
from fourscore.labels.labelled_outputs import read_labelled_file
from fourscore.labels.question_forms import measure_forms
from fourscore.report import summary_text
from fourscore.report.attack_panel import ProgressLine, markdown, show
from fourscore.report.streams import print_line, print_text

#: The pass threshold, where neither the rubric nor `--threshold` sets it.
THRESHOLD = 0.7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_judge_arguments(parser, required=True)
    add("--base-url", metavar="URL", help="call that model at this address")
    text = (
        "attack with the cases in this file; each has a wrong answer in its metadata, under `wrong`"
    )
    add("--cases", metavar="FILE", help=text)
    text = "also measure the AUC of each form of the judge on the labelled outputs in this file"
    add("--labels", metavar="FILE", help=text)
    text = "try only this family of attacks; may be repeated"
    add("--family", action="append", default=[], metavar="NAME", help=text)
    text = "try this many attempts of each family, or all (50)"
    add("--per-family", default="50", metavar="N", help=text)
    add("--seed", type=int, default=0, metavar="N", help="seed the choice of attempts (0)")
    text = "count a score of at least X as a pass (default: the rubric's threshold, else 0.7)"
    add("--threshold", type=float, metavar="X", help=text)
    text = "exit with 1 if any family of attacks succeeds at a higher rate"
    add("--most", type=parse_share, metavar="RATE", help=text)
    text = "run this many attempts at a time (16)"
    add("--concurrency", type=parse_count, default=16, metavar="N", help=text)
    text = "stop an attempt after this time (60)"
    add("--deadline", type=parse_seconds, default=60.0, metavar="SECONDS", help=text)
    model_options.add_model_flags(parser)
    add_report_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    rubric, plan = _read_rubric(args), _make_plan(args)
    chosen = [read_family(name) for name in dict.fromkeys(args.family)] or read_families()
    cases = _find_cases(args.cases)
    pass_at = min(1.0, rubric.pass_threshold)
    labelled = read_labelled_file(args.labels, None, pass_at) if args.labels else None
    check_report_paths(args.out)
    pool = model_options.make_model_pool(
        model_options.read_model_settings(args), rubric, probe=args.probe
    )
    total = None if plan.per_family is None else plan.per_family * len(chosen)

    async def work() -> dict[str, Any]:
        async with pool:
            found = await attack(rubric, chosen, cases, plan, progress)
            if labelled is not None:
                found["forms"] = await measure_forms(
                    rubric,
                    labelled,
                    pass_at=pass_at,
                    concurrency=plan.concurrency,
                    deadline=plan.deadline,
                )
            return found

    with ProgressLine(total) as progress, protect_stdout():
        found = loop.run(work())
    document = {
        "judge": args.rubric or args.judge,
        **found,
        **pool.document(),
    }
    document["bill"] = summary_text.format_model_costs(document.get("models", ()))
    code = exit_code(document, args.most)
    document |= {"most": args.most, "exit_code": code}
    text = json.dumps(document) + "\n"  # plain ASCII: hidden characters stay escaped
    for path in args.out:
        with open_atomic(path) as stream:
            stream.write((text if path.endswith(".json") else markdown(document)).encode())
    if args.json:
        print_text(text)
    else:
        show(document)
        if code == GATE_FAILED:
            print_line(f"--most {args.most:g} is not met: a family succeeds more often")
    return code


def exit_code(document: dict[str, Any], most: float | None) -> int:
    """Return 1 if a family succeeds too often, 3 if something was not measured, else 0."""
    rates = [line["rate"] for line in document["families"].values()]
    if most is not None and any(rate is not None and rate > most for rate in rates):
        return GATE_FAILED
    whole = document["all"]
    return INCOMPLETE if sum(whole["unmeasured"].values()) or not whole["planned"] else PASSED


def _read_rubric(args: argparse.Namespace) -> Rubric:
    """Return the rubric of a file, or a rubric of one judge and a threshold."""
    if args.threshold is not None and not 0 < args.threshold <= 1:
        raise ConfigError("expected a number above 0, up to 1", field="--threshold")
    if args.rubric is not None:
        rubric = read_rubric_argument(args)
        if args.threshold is None:
            return rubric
        return msgspec.structs.replace(rubric, pass_threshold=args.threshold)
    judge = load_judge(args)
    name = getattr(judge, "name", None) or judge.names[0]  # type: ignore[union-attr]
    return Rubric(
        name=name,
        dimensions=(Dimension(name=name, judge=judge, weight=1.0),),
        pass_threshold=THRESHOLD if args.threshold is None else args.threshold,
    )


def _make_plan(args: argparse.Namespace) -> AttackPlan:
    if args.per_family != "all" and not (args.per_family.isdecimal() and int(args.per_family)):
        raise ConfigError("expected a number above 0, or all", field="--per-family")
    return AttackPlan(
        per_family=None if args.per_family == "all" else int(args.per_family),
        seed=args.seed,
        concurrency=args.concurrency,
        deadline=args.deadline,
    )


def _find_cases(path: str | None) -> Callable[[], Iterable[Case]]:
    """Return a function that reads the cases of the file, or the bundled cases without one."""
    if path is None:
        return read_bundled_cases
    file = CaseFile(path)
    if not file.check().count:
        raise DataError("the file has no cases", file=path)
    return file.cases
