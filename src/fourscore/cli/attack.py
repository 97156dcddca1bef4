"""`fourscore attack`: how far a judge can be talked into a good score."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from fourscore.cli import model_options
from fourscore.cli.judge_options import add_judge_arguments, load_judge, read_rubric_argument
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, PASSED
from fourscore.cli.run_guard import protect_stdout
from fourscore.core import Case, ConfigError, DataError, Dimension, Rubric
from fourscore.executors import loop
from fourscore.formats.cases import CaseFile
from fourscore.judges.llm.attacks import read_bundled_cases, read_families, read_family
from fourscore.labels.attack import attack
from fourscore.labels.attack_plan import Plan
from fourscore.labels.labelled_outputs import read_labelled_file
from fourscore.labels.question_forms import measure_forms
from fourscore.report import summary_text
from fourscore.report.attack_panel import ProgressLine, markdown, show

ENDINGS = (".md", ".json")
THRESHOLD = 0.7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_judge_arguments(parser, required=True)
    add("--model", metavar="SPEC", help="for a judge that asks one: openai:gpt-4o-mini, …")
    add("--base-url", metavar="URL", help="where that model is served")
    add("--cases", metavar="FILE", help="your own; `wrong` in the metadata is a wrong answer")
    add("--labels", metavar="FILE", help="labelled outputs: AUC of the judge in each form, too")
    add("--family", action="append", default=[], metavar="NAME", help="only these families")
    add("--per-family", default="50", metavar="N", help="attempts of each; all for all (50)")
    add("--seed", type=int, default=0, metavar="N", help="for the choice of them (0)")
    add("--threshold", type=float, metavar="X", help="a pass (0.7, or the rubric's own)")
    add("--most", type=float, metavar="RATE", help="exit with 1 where a family's rate is above")
    add("--concurrency", type=int, default=16, metavar="N", help="attempts at a time (16)")
    add("--deadline", type=float, default=60.0, metavar="SECONDS", help="for each attempt (60)")
    model_options.add_model_flags(parser)
    add("--out", action="append", default=[], metavar="FILE", help="also as .md or .json")
    add("--json", action="store_true", help="one document on stdout")


def run(args: argparse.Namespace) -> int:
    rubric, plan = _rubric(args), _plan(args)
    chosen = [read_family(name) for name in dict.fromkeys(args.family)] or read_families()
    cases = _cases(args.cases)
    pass_at = min(1.0, rubric.pass_threshold)
    labelled = read_labelled_file(args.labels, None, pass_at) if args.labels else None
    _check_out(args.out)
    pool = model_options.make_model_pool(model_options.read_model_settings(args), rubric)
    known = None if plan.per_family is None else plan.per_family * len(chosen)

    async def work() -> dict[str, Any]:
        async with pool:
            found = await attack(rubric, chosen, cases, plan, ticker)
            if labelled is not None:
                found["forms"] = await measure_forms(
                    rubric,
                    labelled,
                    pass_at=pass_at,
                    concurrency=plan.concurrency,
                    deadline=plan.deadline,
                )
            return found

    with ProgressLine(known) as ticker, protect_stdout():
        found = loop.run(work())
    document = {
        "judge": args.rubric or args.judge,
        **found,
        **pool.document(),
    }
    document["bill"] = summary_text.format_model_costs(document.get("models", ()))
    code = exit_code(document, args.most)
    document |= {"most": args.most, "exit_code": code}
    text = json.dumps(document) + "\n"  # plain ASCII: what attacks hide stays escaped
    for path in args.out:
        _write(Path(path), text if path.endswith(".json") else markdown(document))
    if args.json:
        sys.stdout.write(text)
    else:
        show(document)
        if code == GATE_FAILED:
            sys.stdout.write(f"required: at most {args.most:g} of each family. It is more.\n")
    return code


def exit_code(document: dict[str, Any], most: float | None) -> int:
    """1 a family succeeds too often, 3 something planned was not measured, 0."""
    rates = [line["rate"] for line in document["families"].values()]
    if most is not None and any(rate is not None and rate > most for rate in rates):
        return GATE_FAILED
    whole = document["all"]
    return INCOMPLETE if sum(whole["unmeasured"].values()) or not whole["planned"] else PASSED


def _rubric(args: argparse.Namespace) -> Rubric:
    """The rubric of a file, or one judge and a threshold."""
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


def _plan(args: argparse.Namespace) -> Plan:
    if args.per_family != "all" and not (args.per_family.isdecimal() and int(args.per_family)):
        raise ConfigError("expected a number above 0, or all", field="--per-family")
    for field, value in (("--concurrency", args.concurrency), ("--deadline", args.deadline)):
        if not 0 < value < 1e9:
            raise ConfigError("expected a number above 0", field=field)
    if args.most is not None and not 0 <= args.most <= 1:
        raise ConfigError("expected a share from 0 to 1", field="--most")
    return Plan(
        per_family=None if args.per_family == "all" else int(args.per_family),
        seed=args.seed,
        concurrency=args.concurrency,
        deadline=args.deadline,
    )


def _cases(path: str | None) -> Callable[[], Iterable[Case]]:
    if path is None:
        return read_bundled_cases
    file = CaseFile(path)
    if not file.check().count:
        raise DataError("it holds no cases", file=path)
    return file.cases


def _check_out(paths: list[str]) -> None:
    for path in paths:
        if Path(path).suffix not in ENDINGS:
            known = " or ".join(ENDINGS)
            raise ConfigError(f"its ending is not {known}", file=path, field="--out")
        if not Path(path).resolve().parent.is_dir():
            raise ConfigError("there is no such folder", file=path, field="--out")


def _write(path: Path, text: str) -> None:
    """Complete or not at all."""
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
