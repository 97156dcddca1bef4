"""`fourscore rubric learn`: labelled samples in, a rubric out, and whether it is worth anything."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec

from fourscore.cli import model_options
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, PASSED
from fourscore.core import ConfigError
from fourscore.executors import loop
from fourscore.formats.labelled_samples import Fields, Samples
from fourscore.formats.yaml_file import read_document
from fourscore.labels.learning.cost_plan import plan_of
from fourscore.labels.learning.data_split import parts_of
from fourscore.labels.learning.journal import Journal
from fourscore.labels.learning.learn import LEARNED, learn
from fourscore.labels.learning.learned_rubric import write_learned_rubric
from fourscore.labels.learning.settings import Learning
from fourscore.models.budget import NO_COST, Budget, Cost, parse_limits
from fourscore.models.endpoint import EndpointModel
from fourscore.models.messages import ModelError
from fourscore.models.model_pool import ModelPool
from fourscore.models.prices import Prices
from fourscore.models.wrapper import find_layer
from fourscore.report import summary_text
from fourscore.report.learning_panel import Counter, plan_words, report_words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    told = "learn a rubric from labelled samples"
    add = actions.add_parser("learn", help=told, description=told).add_argument
    add("--data", required=True, metavar="FILE", help="labelled samples as JSONL")
    add("--model", required=True, metavar="SPEC", help="such as openai:gpt-4o-mini")
    add("--base-url", metavar="URL", help="another endpoint of the model's kind")
    add("--mode", choices=("pointwise", "listwise"), default="pointwise", help="scores or ranks")
    add("--language", choices=("en", "zh"), default="en", help="of the prompts (en)")
    add("--out", default="rubric.yaml", metavar="FILE", help="where the rubric goes (rubric.yaml)")
    add("--max-rubrics", type=int, default=8, metavar="N", help="criteria at the most (8)")
    add("--categories", type=int, metavar="N", help="sort the criteria into so many themes")
    add("--rounds", type=int, default=6, metavar="N", help="rounds of proposals at the most (6)")
    add("--bind", choices=("reply", "schema"), default="reply", help="schema: for small models")
    add("--seed", type=int, default=0, metavar="N", help="which samples go where (0)")
    add("--concurrency", type=int, default=16, metavar="N", help="calls at a time (16)")
    add("--min-score", type=float, default=0.0, metavar="X", help="the lowest label (0)")
    add("--max-score", type=float, default=10.0, metavar="X", help="the highest label (10)")
    add("--query-field", default="main_query", metavar="KEY", help="what was asked (main_query)")
    add("--answer-field", default="final_answer", metavar="KEY", help="the graded answer")
    add("--reference-field", default="answer", metavar="KEY", help="the reference, if there is one")
    add("--dry-run", action="store_true", help="what it would take; nothing is asked")
    add("--json", action="store_true", help="one document on stdout")
    model_options.add_model_flags(actions.choices["learn"])


def run(args: argparse.Namespace) -> int:
    with _make_pool(args, None).activate() as pool:
        settings = _settings(args)
        samples = Samples(args.data, settings.mode, settings.fields, settings.bounds)
        plan = plan_of(samples, parts_of(samples, settings.seed), settings)
        about = settings.fingerprint(samples.digest)
        if args.dry_run:
            return _planned(args, plan.document(pool), settings.pool_model.name, pool)
    out = Path(args.out)
    _check_out(out)
    with Journal(out.with_name(f"{out.name}.journal.jsonl"), about, args.concurrency) as journal:
        counter = Counter(plan.calls)
        if journal.resumed:
            counter.tell(f"going on: {journal.resumed} findings stand in {journal.path}")
        with _make_pool(args, journal).activate() as pool:
            client = find_layer(settings.pool_model, EndpointModel)
            if client is not None:
                client.check()  # a missing key shows now, not in the first call
            planned = plan.document(pool)
            for line in plan_words(planned, settings.pool_model.name, pool):
                counter.tell(line)
        try:
            document = loop.run(_learned(samples, settings, journal, pool, counter))
        except ModelError as error:
            return _unfinished(args, error, pool)
        finally:
            counter.clear()
    write_learned_rubric(out, document)
    return _reported(args, document, planned, pool)


def _make_pool(args: argparse.Namespace, journal: Journal | None) -> ModelPool:
    return ModelPool(
        budget=_make_budget(args, journal),
        cache=args.cache,
        prices=Prices(args.prices or None),
        settings={args.model: {"concurrency": max(1, args.concurrency)}},
    )


async def _learned(
    samples: Samples, settings: Learning, journal: Journal, pool: ModelPool, counter: Counter
) -> dict[str, Any]:
    async with pool:
        return await learn(samples, settings, journal, tell=counter.tell, observe=counter.step)


def _settings(args: argparse.Namespace) -> Learning:
    try:
        return Learning(
            model=args.model,
            settings={"base_url": args.base_url} if args.base_url else {},
            mode=args.mode,
            language=args.language,
            min_score=args.min_score,
            max_score=args.max_score,
            max_rubrics=args.max_rubrics,
            categories=args.categories,
            rounds=args.rounds,
            seed=args.seed,
            bind=args.bind,
            concurrency=args.concurrency,
            fields=Fields(
                query=args.query_field, answer=args.answer_field, reference=args.reference_field
            ),
            name=Path(args.out).stem,
        )
    except ConfigError as error:
        field = f"--{(error.field or 'model').replace('_', '-')}"
        raise ConfigError(error.message, field=field) from None
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        raise ConfigError(message, field=f"--{field.replace('_', '-')}") from None


def _check_out(out: Path) -> None:
    """A rubric that somebody wrote is not written over."""
    if out.exists() and out.is_file():
        value = read_document(str(out)).value
        if not (isinstance(value, dict) and "learned" in value):
            message = "it is there, and was not learned: give another --out"
            raise ConfigError(message, file=str(out))


def _make_budget(args: argparse.Namespace, journal: Journal | None) -> Budget | None:
    """The budget is that of the rubric: what a run before this one spent counts."""
    spent = NO_COST
    if journal is not None:
        usage = journal.spent
        spent = Cost(usage.calls, usage.input_tokens + usage.output_tokens, usage.dollars)
    return Budget.from_limits(parse_limits(args.budget), spent)


def _planned(args: argparse.Namespace, plan: dict[str, Any], model: str, pool: ModelPool) -> int:
    if args.json:
        sys.stdout.write(msgspec.json.encode({"plan": plan}).decode() + "\n")
        return PASSED
    for line in plan_words(plan, model, pool):
        sys.stdout.write(f"{line}\n")
    return PASSED


def _unfinished(args: argparse.Namespace, error: ModelError, pool: ModelPool) -> int:
    if args.json:
        told = {
            "error": {"message": str(error), "kind": error.kind},
            **pool.document(),
        }
        document = {**told, "exit_code": INCOMPLETE}
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    sys.stderr.write(f"fourscore: {error}\n")
    larger = "" if error.kind != "budget" else ", with a larger --budget"
    words = shlex.join(["fourscore", *sys.argv[1:]])
    sys.stderr.write(f"what was found is kept; to go on{larger}: {words}\n")
    return INCOMPLETE


def _reported(
    args: argparse.Namespace, document: dict[str, Any], plan: dict[str, Any], pool: ModelPool
) -> int:
    code = PASSED if document["learned"]["outcome"] == LEARNED else GATE_FAILED
    bill = pool.document()
    if args.json:
        told = {"out": args.out, "rubric": document, "plan": plan, **bill, "exit_code": code}
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
        return code
    for line in report_words(document):
        sys.stdout.write(f"{line}\n")
    for line in summary_text.format_model_costs(bill.get("models", [])):
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"written: {args.out}\n")
    return code
