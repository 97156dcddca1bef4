"""`fourscore rescore`: judge the stored traces of a run by another rubric; no agent is called."""

import argparse

import msgspec

from fourscore.agents.agent import load_agent
from fourscore.cli import model_options
from fourscore.cli.agent_side_effects import run_in_pool
from fourscore.cli.flags import (
    add_json_argument,
    add_judge_model_argument,
    add_run_argument,
    add_store_argument,
)
from fourscore.cli.run import exit_code
from fourscore.cli.run_settings import GATE, JUDGE_DEADLINE
from fourscore.core.extras import MissingExtras
from fourscore.executors import loop
from fourscore.judges.calibrated_rate import correct_rate_by_file
from fourscore.judges.checks.case_checks import CaseChecks, add_case_checks
from fourscore.judges.rubric_file import read_rubric
from fourscore.report import exports, summary_text
from fourscore.report.run_panel import ProgressLine, make_store_option, print_run
from fourscore.report.streams import print_json, print_message
from fourscore.stats.gates import parse_gate
from fourscore.stores.sqlite import Store
from fourscore.test.run import (
    ConnectionsLostError,
    RunPlan,
    read_stored_attempts,
    run_attempts,
    summarize_run,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_run_argument(parser)
    add("--rubric", required=True, metavar="FILE", help="score with this rubric (a YAML file)")
    add_judge_model_argument(parser)
    add_store_argument(parser)
    text = "judge this many rows at a time (16)"
    add("--concurrency", type=int, default=16, metavar="N", help=text)
    add("--judge-deadline", type=float, default=60.0, metavar="SECONDS", help=JUDGE_DEADLINE)
    add("--gate", action="append", default=[], metavar="'pass_rate>=0.8'", help=GATE)
    model_options.add_model_flags(parser)
    add("--out", action="append", default=[], metavar="FILE", help=exports.HELP)
    add_json_argument(parser)


def check_stored_cases(store: Store, run_id: str, model: str | None) -> bool:
    """Return whether cases of a run have checks of their own; a `CaseError` for a wrong one."""
    checks, found = CaseChecks(model=model), False
    for row in store.rows(run_id):
        if row.case.checks:
            found = True
            checks.list_checks(row.case)
    return found


def run(args: argparse.Namespace) -> int:
    missing = MissingExtras()
    with missing.collect():
        exports.check_paths(args.out)
    with missing.collect():
        rubric = read_rubric(args.rubric, args.judge_model)
    missing.raise_if_any()
    gates = [parse_gate(text) for text in args.gate]
    with Store(args.store, make=False) as store:
        info = store.run(args.run_id)
        if check_stored_cases(store, info.id, args.judge_model):
            rubric = add_case_checks(rubric, args.judge_model)
        judge = rubric.provenance.rubric
        means = model_options.read_model_settings(args)
        pool = model_options.make_model_pool(means, rubric, probe=args.probe)
        for gate in gates:
            gate.check([line.name for line in rubric.dimensions], info.repeats)
        plan = RunPlan(concurrency=args.concurrency, judge_deadline=args.judge_deadline)
        with store.writer(info.id) as writer, ProgressLine(info.planned) as progress:
            attempts = read_stored_attempts(store, info.id, judge)
            work = run_attempts(
                attempts,
                load_agent("recorded"),
                rubric,
                writer=writer,
                plan=plan,
                observe=progress,
            )
            try:
                loop.run(run_in_pool(work, pool))
            except ConnectionsLostError as lost:
                print_message(f"{lost}; to judge the rest, run the same command again")
        summary = summarize_run(store, info.id, rubric, judge)
        document = {
            "run": info.id,
            "judge": judge,
            **summary,
            **pool.document(),
        }
        document |= correct_rate_by_file(args.rubric, judge, document)
        document["gates"] = [msgspec.to_builtins(gate.evaluate(document)) for gate in gates]
        document["exit_code"] = code = exit_code(document)
        exports.write_files(
            args.out, store, msgspec.structs.replace(info, rubric_fingerprint=judge), document
        )
    if args.json:
        print_json(document)
    else:
        print_run(info, document, store=make_store_option(args.store))
    if spent := summary_text.describe_spent_budget(document):
        print_message(f"{spent}; to judge the rest, run the same command with a larger --budget")
    return code
