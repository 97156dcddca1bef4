"""`fourscore rubric learn`: learn a rubric from labelled samples, and test it on held-out ones."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from fourscore.cli import model_options
from fourscore.cli.flags import add_json_argument
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, INTERRUPTED, PASSED
from fourscore.cli.preflight import check_users
from fourscore.core import ConfigError
from fourscore.executors import loop
from fourscore.formats.labelled_samples import SampleFields, SampleFile
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.labels.learning.cost_plan import plan_cost
from fourscore.labels.learning.data_split import split_samples
from fourscore.labels.learning.journal import Journal
from fourscore.labels.learning.learn import LEARNED, learn
from fourscore.labels.learning.learned_rubric import write_learned_rubric
from fourscore.labels.learning.settings import LearningSettings
from fourscore.models.budget import NO_COST, Budget, Cost, parse_limits
from fourscore.models.messages import ModelError
from fourscore.models.model_pool import ModelPool
from fourscore.models.prices import Prices
from fourscore.report import summary_text
from fourscore.report.learning_panel import ProgressCounter, format_plan, format_report
from fourscore.report.streams import print_json, print_line, print_message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    text = "Learn a rubric from labelled samples"
    parser = actions.add_parser("learn", help=text, description=text)
    add = parser.add_argument
    add("--data", required=True, metavar="FILE", help="read the labelled samples from this JSONL")
    text = "call this model, such as openai:gpt-4o-mini"
    add("--model", required=True, metavar="SPEC", help=text)
    add("--base-url", metavar="URL", help="call the model at this address")
    text = "learn to give scores (pointwise) or ranks (listwise)"
    add("--mode", choices=("pointwise", "listwise"), default="pointwise", help=text)
    text = "write the prompts in this language (en)"
    add("--language", choices=("en", "zh"), default="en", help=text)
    text = "write the rubric to this file (rubric.yaml)"
    add("--out", default="rubric.yaml", metavar="FILE", help=text)
    text = "keep at most this many criteria (8)"
    add("--max-rubrics", type=int, default=8, metavar="N", help=text)
    add("--categories", type=int, metavar="N", help="group the criteria into this many themes")
    text = "stop after this many rounds of proposals (6)"
    add("--rounds", type=int, default=6, metavar="N", help=text)
    text = "ask for replies in plain text (reply), or by JSON Schema for small models (schema)"
    add("--bind", choices=("reply", "schema"), default="reply", help=text)
    add("--seed", type=int, default=0, metavar="N", help="seed the split of the samples (0)")
    text = "make this many calls at a time (16)"
    add("--concurrency", type=int, default=16, metavar="N", help=text)
    text = "lowest score that a label can have (0)"
    add("--min-score", type=float, default=0.0, metavar="X", help=text)
    text = "highest score that a label can have (10)"
    add("--max-score", type=float, default=10.0, metavar="X", help=text)
    text = "read the question from this key (main_query)"
    add("--query-field", default="main_query", metavar="KEY", help=text)
    text = "read the graded answer from this key (final_answer)"
    add("--answer-field", default="final_answer", metavar="KEY", help=text)
    text = "read the reference answer, if there is one, from this key (answer)"
    add("--reference-field", default="answer", metavar="KEY", help=text)
    text = "print the number of calls it would take, and make no call"
    add("--dry-run", action="store_true", help=text)
    add_json_argument(parser)
    model_options.add_model_flags(parser)


def run(args: argparse.Namespace) -> int:
    with _make_pool(args, None).activate() as pool:
        settings = _read_settings(args)
        samples = SampleFile(
            args.data, mode=settings.mode, fields=settings.fields, bounds=settings.bounds
        )
        plan = plan_cost(samples, split_samples(samples, settings.seed), settings)
        about = settings.fingerprint(samples.digest)
        if args.dry_run:
            return _print_plan(args, plan.document(pool), settings.pool_model.name, pool)
    out = Path(args.out)
    _check_out(out)
    check_users(pool, [settings], probe=args.probe)
    with Journal(out.with_name(f"{out.name}.journal.jsonl"), about, args.concurrency) as journal:
        counter = ProgressCounter(plan.calls)
        if journal.resumed:
            counter.log(f"resuming: {journal.resumed} results are in {journal.path}")
        with _make_pool(args, journal).activate() as pool:
            planned = plan.document(pool)
            for line in format_plan(planned, settings.pool_model.name, pool):
                counter.log(line)
        try:
            document = loop.run(_learn(samples, settings, journal, pool, counter))
        except ModelError as error:
            return _report_unfinished(args, error, pool)
        except KeyboardInterrupt:
            counter.clear()
            print_message(f"interrupted; the results so far are saved; to go on: {_repeat()}")
            return INTERRUPTED
        finally:
            counter.clear()
    write_learned_rubric(out, document)
    return _report(args, document, planned, pool)


def _make_pool(args: argparse.Namespace, journal: Journal | None) -> ModelPool:
    return ModelPool(
        budget=_make_budget(args, journal),
        cache=args.cache,
        prices=Prices(args.prices or None),
        settings={args.model: {"concurrency": max(1, args.concurrency)}},
    )


async def _learn(
    samples: SampleFile,
    settings: LearningSettings,
    journal: Journal,
    pool: ModelPool,
    counter: ProgressCounter,
) -> dict[str, Any]:
    async with pool:
        return await learn(samples, settings, journal, log=counter.log, on_verdict=counter.step)


def _read_settings(args: argparse.Namespace) -> LearningSettings:
    try:
        return LearningSettings(
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
            fields=SampleFields(
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
    """Refuse to overwrite a rubric that was not learned."""
    if out.exists() and out.is_file():
        value = read_yaml_file(str(out)).value
        if not (isinstance(value, dict) and "learned" in value):
            message = "the file exists and is not a learned rubric: give another --out"
            raise ConfigError(message, file=str(out))


def _make_budget(args: argparse.Namespace, journal: Journal | None) -> Budget | None:
    """Return the budget; what earlier runs of the same command spent counts."""
    spent = NO_COST
    if journal is not None:
        usage = journal.spent
        spent = Cost(usage.calls, usage.input_tokens + usage.output_tokens, usage.dollars)
    return Budget.from_limits(parse_limits(args.budget), spent)


def _print_plan(args: argparse.Namespace, plan: dict[str, Any], model: str, pool: ModelPool) -> int:
    if args.json:
        print_json({"plan": plan})
        return PASSED
    for line in format_plan(plan, model, pool):
        print_line(line)
    return PASSED


def _report_unfinished(args: argparse.Namespace, error: ModelError, pool: ModelPool) -> int:
    if args.json:
        document = {
            "error": {"message": str(error), "kind": error.kind},
            **pool.document(),
            "exit_code": INCOMPLETE,
        }
        print_json(document)
    print_message(f"fourscore: {error}")
    larger = "" if error.kind != "budget" else ", with a larger --budget"
    print_message(f"the results so far are saved; to go on{larger}: {_repeat()}")
    return INCOMPLETE


def _repeat() -> str:
    """Return the command as it was typed: what it has learned is in the journal."""
    return shlex.join(["fourscore", *sys.argv[1:]])


def _report(
    args: argparse.Namespace, document: dict[str, Any], plan: dict[str, Any], pool: ModelPool
) -> int:
    code = PASSED if document["learned"]["outcome"] == LEARNED else GATE_FAILED
    usage = pool.document()
    if args.json:
        result = {"out": args.out, "rubric": document, "plan": plan, **usage, "exit_code": code}
        print_json(result)
        return code
    for line in format_report(document):
        print_line(line)
    for line in summary_text.format_model_costs(usage.get("models", [])):
        print_line(line)
    print_line(f"written: {args.out}")
    return code
