"""`fourscore rescore`: the stored traces of a run judged by another rubric; no agent is called."""

import argparse
import sys

import msgspec

from fourscore.agents.agent import agent_of
from fourscore.cli import model_options
from fourscore.cli.run import exit_code
from fourscore.cli.run_guard import run_in_pool
from fourscore.cli.run_settings import JUDGE_DEADLINE
from fourscore.core.extras import MissingExtras
from fourscore.executors import loop
from fourscore.judges.calibrated_rate import correct_rate_by_file
from fourscore.judges.rubric_file import read_rubric
from fourscore.report import exports, summary_text
from fourscore.report.run_panel import ProgressLine, make_store_option, print_run
from fourscore.stats.gates import parse as parse_gate
from fourscore.stores.sqlite import DEFAULT_STORE, Store
from fourscore.test.run import RunPlan, read_stored_attempts, run_attempts, summarize_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run_id", metavar="RUN", help="the run, or the beginning of its id")
    add("--rubric", required=True, metavar="FILE", help="the rubric's YAML")
    add(
        "--store",
        default=DEFAULT_STORE,
        metavar="FILE",
        help=f"where runs are kept ({DEFAULT_STORE})",
    )
    add("--concurrency", type=int, default=16, metavar="N", help="rows at a time (16)")
    add("--judge-deadline", type=float, default=60.0, metavar="SECONDS", help=JUDGE_DEADLINE)
    add(
        "--gate",
        action="append",
        default=[],
        metavar="'pass_rate>=0.8'",
        help="decides the exit code",
    )
    model_options.add_model_flags(parser)
    add("--out", action="append", default=[], metavar="FILE", help=exports.HELP)
    add("--json", action="store_true", help="the summary as a document on stdout")


def run(args: argparse.Namespace) -> int:
    missing = MissingExtras()
    with missing.collect():
        exports.check_paths(args.out)
    with missing.collect():
        rubric = read_rubric(args.rubric)
    missing.raise_if_any()
    gates = [parse_gate(text) for text in args.gate]
    judge = rubric.provenance.rubric
    pool = model_options.make_model_pool(model_options.read_model_settings(args), rubric)
    with Store(args.store, make=False) as store:
        info = store.run(args.run_id)
        for gate in gates:
            gate.check([line.name for line in rubric.dimensions], info.repeats)
        plan = RunPlan(concurrency=args.concurrency, judge_deadline=args.judge_deadline)
        with store.writer(info.id) as writer, ProgressLine(info.planned) as ticker:
            attempts = read_stored_attempts(store, info.id, judge)
            work = run_attempts(
                attempts,
                agent_of("recorded"),
                rubric,
                writer=writer,
                plan=plan,
                observe=ticker,
            )
            loop.run(run_in_pool(work, pool))
        summary = summarize_run(store, info.id, rubric, judge)
        document = {
            "run": info.id,
            "judge": judge,
            **summary,
            **model_options.summarize_model_usage(pool),
        }
        document |= correct_rate_by_file(args.rubric, judge, document)
        document["gates"] = [msgspec.to_builtins(gate.evaluate(document)) for gate in gates]
        document["exit_code"] = code = exit_code(document)
        exports.write_files(
            args.out, store, msgspec.structs.replace(info, rubric_fingerprint=judge), document
        )
    if args.json:
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    else:
        print_run(info, document, store=make_store_option(args.store))
    if spent := summary_text.describe_spent_budget(document):
        sys.stderr.write(f"{spent}; the same again with a larger --budget asks for the rest\n")
    return code
