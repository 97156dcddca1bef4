"""`fourscore evolve decide`: decide by two runs or two scores whether a version is better."""

import argparse
from contextlib import ExitStack
from random import Random
from typing import Any

import msgspec

from fourscore.cli.flags import add_scores_argument
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, PASSED
from fourscore.core import ConfigError, DataError
from fourscore.evolve.comparison import PairedRuns, pair_runs
from fourscore.evolve.decision import Decision, decide_by_pairs, decide_by_scores
from fourscore.report import evolution_panel as terminal
from fourscore.report.streams import print_json
from fourscore.stats.sequential import SequentialPlan
from fourscore.stores.sqlite import DEFAULT_STORE, Store
from fourscore.test.compare import ScoredRun, check_same_rubric


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "runs", nargs="*", metavar="RUN", help="run of the old version, then run of the new version"
    )
    add("--old", type=float, metavar="SCORE", help="score of the old version, from 0 to 100")
    add("--new", type=float, metavar="SCORE", help="score of the new version, from 0 to 100")
    add(
        "--rule", choices=("paired", "literal"), default="paired", help="rule that decides (paired)"
    )
    add("--seed", type=int, metavar="N", help="seed of the literal rule's exploration")
    add(
        "--store",
        default=DEFAULT_STORE,
        metavar="FILE",
        help=f"store of the runs ({DEFAULT_STORE})",
    )
    add("--store-b", metavar="FILE", help="store of the second run (default: that of the first)")
    add_scores_argument(parser)
    text = "maximum number of pairs, tested at up to four sizes (default: all pairs, tested once)"
    add("--budget", type=int, metavar="N", help=text)
    add(
        "--level",
        type=float,
        default=0.05,
        metavar="SHARE",
        help="chance of a false acceptance (0.05)",
    )
    add(
        "--margin",
        type=float,
        default=2.0,
        metavar="POINTS",
        help="smallest gain that counts, in points (2)",
    )


def run(args: argparse.Namespace) -> int:
    if args.runs:
        return _decide_runs(args)
    if args.old is None or args.new is None:
        raise ConfigError("give two runs, or --old and --new with --rule literal")
    if args.rule != "literal":
        message = "two scores cannot show chance: give two runs, or add --rule literal"
        raise ConfigError(message, field="--rule")
    return _decided(args, _by_scores(args, args.old, args.new), None)


def _decide_runs(args: argparse.Namespace) -> int:
    if len(args.runs) != 2 or args.old is not None or args.new is not None:
        raise ConfigError("expected two runs, or --old and --new", field="RUN")
    with ExitStack() as stack:
        a = stack.enter_context(Store(args.store, make=False))
        b = stack.enter_context(Store(args.store_b, make=False)) if args.store_b else a
        one, other = a.run(args.runs[0]), b.run(args.runs[1])
        judge = args.scores or check_same_rubric(a, one.id, b, other.id)
        old, new = (
            ScoredRun(store=a, run=one.id, judge=judge),
            ScoredRun(store=b, run=other.id, judge=judge),
        )
        found = pair_runs(old, new)
    if args.rule == "paired":
        return _decided(args, decide_by_pairs(found.pairs, _plan(args, len(found.pairs))), found)
    if not found.pairs:
        raise DataError("no case was measured in both runs", field="RUN")
    means = [sum(side) / len(found.pairs) for side in zip(*found.pairs, strict=True)]
    return _decided(args, _by_scores(args, means[0], means[1], len(found.pairs)), found)


def _by_scores(args: argparse.Namespace, old: float, new: float, n: int = 0) -> Decision:
    rng = None if args.seed is None else Random(args.seed)  # noqa: S311 - a choice, not a secret
    for field, value in (("--old", old), ("--new", new)):
        if not 0 <= value <= 100:
            raise ConfigError(f"{value} is not a score from 0 to 100", field=field)
    return decide_by_scores(old, new, rng, n)


def _plan(args: argparse.Namespace, pairs: int) -> SequentialPlan:
    try:
        if args.budget is None:
            return SequentialPlan(
                budget=max(2, pairs), looks=1, level=args.level, margin=args.margin
            )
        return SequentialPlan(budget=args.budget, level=args.level, margin=args.margin)
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        raise ConfigError(message, field=f"--{field}") from None


def _decided(args: argparse.Namespace, decision: Decision, found: PairedRuns | None) -> int:
    code = PASSED if decision.accepted else GATE_FAILED
    if found is not None and not found.pairs:
        code = INCOMPLETE
    names = ("accepted", "reason", "delta")
    document: dict[str, Any] = {name: getattr(decision, name) for name in names}
    if found is not None:
        document.update(msgspec.to_builtins(decision))
        document["expected_false"] = decision.level
        document["left_out"] = {
            "only_in_old": found.only_old,
            "only_in_new": found.only_new,
            "changed": found.changed,
            "not_measured": found.unmeasured,
        }
        document["exit_code"] = code
    if args.json:
        print_json(document)
    else:
        terminal.show_decision({**document, "rule": decision.rule, "why": decision.why})
    return code
