"""`fourscore compare A B`: compare two runs, and test whether the difference is real."""

import argparse
from contextlib import ExitStack

from fourscore.cli.flags import add_json_argument, add_scores_argument, add_store_argument
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, PASSED
from fourscore.core import ConfigError
from fourscore.report.comparison_panel import print_comparison
from fourscore.report.run_panel import make_store_option
from fourscore.report.streams import print_json, print_line
from fourscore.stats.paired_verdict import VerdictRules
from fourscore.stores.sqlite import Store
from fourscore.test.compare import ScoredRun, check_same_rubric, compare_runs

#: The choices of `--require`, with the verdicts that do not meet them.
UNMET = {"not-worse": {"worse"}, "better": {"worse", "no_difference", "cannot_tell"}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("a", metavar="A", help="the baseline run")
    add("b", metavar="B", help="the run to compare with A")
    add_store_argument(parser)
    add("--store-b", metavar="FILE", help="read run B from this store (default: the store of A)")
    add_scores_argument(parser)
    add(
        "--margin",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="treat a smaller difference as none (0.02)",
    )
    add(
        "--level",
        type=float,
        default=0.95,
        metavar="SHARE",
        help="use this confidence level (0.95)",
    )
    add(
        "--require",
        choices=sorted(UNMET),
        help="exit with 1 unless B is better, or not worse, than A",
    )
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    rules = _read_rules(args)
    with ExitStack() as stack:
        a = stack.enter_context(Store(args.store, make=False))
        b = stack.enter_context(Store(args.store_b, make=False)) if args.store_b else a
        one, other = a.run(args.a), b.run(args.b)
        if args.scores:
            judge = b.judge(other.id, a.judge(one.id, args.scores))
        else:
            judge = check_same_rubric(a, one.id, b, other.id)
        found = compare_runs(
            ScoredRun(store=a, run=one.id, judge=judge),
            ScoredRun(store=b, run=other.id, judge=judge),
            rules,
        )
    verdict = found.whole.verdict
    met = args.require is None or verdict.kind not in UNMET[args.require]
    code = PASSED if met else GATE_FAILED
    if met and not found.whole.passes.n:
        code = INCOMPLETE
    if args.json:
        document = {"a": one.id, "b": other.id, "judge": judge, **found.document()}
        document["exit_code"] = code
        print_json(document)
    else:
        by = f" --scores {judge}" if args.scores else ""
        print_comparison(one, other, found, by + make_store_option(args.store_b or args.store))
        if not met:
            print_line(f"--require {args.require} is not met: B is {verdict.kind}")
    return code


def _read_rules(args: argparse.Namespace) -> VerdictRules:
    if not 0 <= args.margin < 1:
        raise ConfigError("expected a share from 0 to 1", field="--margin")
    if not 0.5 <= args.level < 1:
        raise ConfigError("expected a share from 0.5 to 1", field="--level")
    return VerdictRules(level=args.level, margin=args.margin or None)
