"""`fourscore evolve step`: run generations of an evolution, within its limits and budgets."""

import argparse
import asyncio
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from fourscore.cli import model_options
from fourscore.cli.agent_side_effects import Watchdog, protect_stdout, run_stoppable
from fourscore.cli.flags import add_judge_model_argument
from fourscore.cli.main import INCOMPLETE, INTERRUPTED, PASSED
from fourscore.cli.preflight import check_users
from fourscore.core import ConfigError, DataError
from fourscore.evolve.evaluator import EvaluationSetup, Evaluator
from fourscore.evolve.folder import Evolution
from fourscore.evolve.limits import Risk
from fourscore.evolve.lineage import lineage_document, status_document
from fourscore.evolve.loop import SPENT, EvolutionLoop, LoopOptions, LoopResult
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.proposers import KINDS, Proposer, make_proposer
from fourscore.evolve.mutations.strategies import RISKS, select_strategies
from fourscore.evolve.prompted_agent import PromptedAgents
from fourscore.evolve.settings import NAME, Settings
from fourscore.evolve.split import Split, split
from fourscore.executors import loop as event_loop
from fourscore.formats.cases import CaseFile, CaseFileInfo
from fourscore.judges.case_rubric import choose_rubric, read_case_rubric
from fourscore.judges.checks.case_checks import CaseChecks
from fourscore.models.model_pool import ModelPool
from fourscore.report import summary_text
from fourscore.report.lineage_panel import show_lineage
from fourscore.report.run_panel import ProgressLine
from fourscore.report.streams import print_json, print_line, print_message
from fourscore.stores.sqlite import Store
from fourscore.test.run import Observer, RunPlan

#: The unit of a limit on attempts at cases, as in `500cases`.
CASES = "cases"
Proposers = Callable[[Risk], Proposer | None]
#: The stop reasons of an incomplete step: something planned was not measured.
UNFINISHED = (*SPENT, "unmeasured")


def add_arguments(parser: argparse.ArgumentParser, folder: str) -> None:
    add = parser.add_argument
    add("where", nargs="?", metavar="DIR", help=f"folder of the evolution ({folder})")
    add(
        "--dir",
        default=folder,
        metavar="DIR",
        help="folder of the evolution, the same as the argument",
    )
    add("--generations", type=int, default=1, metavar="N", help="number of mutations to try (1)")
    add(
        "--proposer",
        choices=KINDS,
        help="proposer of mutations (default: a model if one is set, else rules)",
    )
    add("--model", metavar="SPEC", help="model that proposes mutations")
    add_judge_model_argument(parser)
    add("--rule", choices=("paired", "literal"), help="rule that decides (paired)")
    add("--seed", type=int, metavar="N", help="seed of all random choices (0)")
    model_options.add_model_flags(
        parser, f"limit the attempts: 500cases; or {model_options.LIMITS}"
    )


def run(args: argparse.Namespace) -> int:
    if args.generations < 1:
        raise ConfigError("expected at least 1", field="--generations")
    args.dir = args.where or args.dir
    # The agent may change the working folder.
    with Evolution(Path(args.dir).resolve()) as evolution:
        settings = _apply_options(evolution.settings, args)
        agents, proposer = _parts(settings, evolution.path)
        found, cases = _cases(settings, args.judge_model)
        rubric = read_case_rubric(settings.rubric, found, args.judge_model)
        most, means = _read_limits(settings, args)
        pool = model_options.make_model_pool(means, rubric, agents.base_agent, probe=args.probe)
        check_users(pool, [proposer("high")], probe=args.probe)
        setup = EvaluationSetup(
            agents=agents,
            rubric=rubric,
            rubric_text=Path(choose_rubric(settings.rubric, found)).read_text(encoding="utf-8"),
            cases_path=str(settings.cases),
            plan=_plan(settings),
            show_progress=_watch,
            max_attempts=most,
        )
        options = LoopOptions(
            rule=settings.rule, seed=settings.seed, proposer=proposer, report=print_message
        )
        with Store(_make_store_folder(settings.store)) as store:
            evaluator = Evaluator(evolution, store, setup)
            work = EvolutionLoop(evolution, evaluator, cases, options).run(args.generations)
            result = _carry_out(args, work, pool, settings)
            if result is None:
                return INTERRUPTED
            return _report(args, evolution, result, evaluator.attempts_made, pool)


def _carry_out(
    args: argparse.Namespace, work: Any, pool: ModelPool, settings: Settings
) -> LoopResult | None:
    """Run the loop and return its result; None if it was interrupted."""
    found: list[LoopResult] = []

    async def kept() -> bool:
        found.append(await work)
        return True

    resume = _resume(args)
    try:
        with protect_stdout(), Watchdog(settings.deadline) as watchdog:
            event_loop.run(run_stoppable(kept(), pool, watchdog))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_message(f"interrupted; go on with: {resume}")
        return None
    except BaseExceptionGroup:
        print_message(f"stopped; go on with: {resume}")
        raise
    return found[0]


def _report(
    args: argparse.Namespace,
    evolution: Evolution,
    result: LoopResult,
    attempts_made: int,
    pool: ModelPool,
) -> int:
    unfinished = result.reason in UNFINISHED or result.missing
    code = INCOMPLETE if unfinished else PASSED
    held = result.held_out
    lineage = lineage_document(evolution)
    document = {
        **status_document(evolution),
        "generations": result.generations,
        "ended": result.reason,
        "why": result.why,
        "cases_run": attempts_made,
        "not_measured": result.missing,
        "held_out": None if held is None else held.to_document(),
        "lineage": lineage,
        **pool.document(),
        "exit_code": code,
    }
    if result.why:
        print_message(result.why)
    if result.missing:
        print_message(f"{result.missing} cases were not measured")
    if unfinished and result.reason != "done":
        print_message(f"go on with: {_resume(args)}")
    if args.json:
        print_json(document)
        return code
    show_lineage(lineage)
    history = evolution.history
    print_line(
        f"active: {history.active}; {len(history.decisions)} decisions, {history.accepted} accepted"
        f" (at most {history.expected_false:.2g} expected by chance);"
        f" {attempts_made} cases run"
    )
    if held is not None:
        print_line(f"held out: {held.summary}")
    for line in summary_text.format_model_costs(document.get("models", ())):
        print_line(line)
    return code


def _apply_options(settings: Settings, args: argparse.Namespace) -> Settings:
    """Return the settings, overridden by the options."""
    given = {key: getattr(args, key) for key in ("proposer", "model", "rule", "seed")}
    return msgspec.structs.replace(
        settings, **{key: value for key, value in given.items() if value is not None}
    )


def _parts(settings: Settings, folder: Path) -> tuple[PromptedAgents, Proposers]:
    """Load agent and proposers; raise for a mistake in them before the first case runs."""
    file = str(folder / NAME)
    for field in ("cases", "agent"):
        if getattr(settings, field) is None:
            raise ConfigError("missing: fourscore evolve step needs it", file=file, field=field)
    proposers = _proposers(settings)
    try:
        agents = PromptedAgents(str(settings.agent), [str(folder), str(Path.cwd())])
        proposers("high")
    except ConfigError as error:
        if error.file is not None:
            raise
        raise ConfigError(error.message, file=file, field=error.field or "agent") from None
    return agents, proposers


def _cases(settings: Settings, model: str | None) -> tuple[CaseFileInfo, Split]:
    """Check and split the cases; a step needs some for the proposer and some for decisions."""
    file = CaseFile(str(settings.cases), check_case=CaseChecks(model=model).list_checks)
    found = file.check()
    parts = split(file.cases(), settings.split)
    for name, least in (("inform", 1), ("decide", 2)):
        count = len(getattr(parts, name))
        if count < least:
            message = f"{count} cases are in the part {name}, expected at least {least}: add cases"
            raise DataError(message, file=str(settings.cases))
    return found, parts


def _read_limits(
    settings: Settings, args: argparse.Namespace
) -> tuple[int | None, model_options.ModelSettings]:
    """Return the maximum number of attempts at cases, and the settings of models."""
    most, money = None, []
    for word in args.budget or ():
        number, found, rest = word.strip().partition(CASES)
        if not found:
            money.append(word)
        elif rest or not number.strip().isdecimal() or most is not None:
            raise ConfigError(f"{word!r}: expected one limit such as 500cases", field="--budget")
        else:
            most = int(number)
    means = model_options.ModelSettings(
        budget=money or None,
        cache=args.cache,
        prices=args.prices or settings.prices,
    )
    means.check()
    return most, means


def _make_store_folder(path: str) -> str:
    """Create the folder of the store; return the path of the store."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be made", file=path, field="store") from None
    return path


def _plan(settings: Settings) -> RunPlan:
    return RunPlan(
        repeats=settings.repeats,
        concurrency=settings.concurrency,
        deadline=settings.deadline,
        judge_deadline=settings.judge_deadline,
    )


def _proposers(settings: Settings) -> Proposers:
    kind = settings.proposer or ("rules" if settings.model is None else "model")

    def proposer(risk: Risk) -> Proposer | None:
        if not select_strategies(tuple(settings.strategies), risk) or (
            kind == "gepa" and RISKS.index(risk) < RISKS.index("high")
        ):
            return None
        return make_proposer(
            kind,
            None if kind == "rules" else settings.model,
            checks=Checks(
                shortest=settings.shortest,
                longest=settings.longest,
                required=tuple(settings.required),
                placeholders=tuple(settings.placeholders),
                forbidden=tuple(settings.forbidden),
            ),
            strategies=settings.strategies,
            max_risk=risk,
            constraints=settings.constraints,
            language=settings.language,
            prompt_folder=settings.prompt_folder,
        )

    return proposer


def _watch(planned: int) -> AbstractContextManager[Observer]:
    return ProgressLine(planned)


def _resume(args: argparse.Namespace) -> str:
    words = [f"fourscore evolve step {shlex.quote(str(args.dir))}"]
    options = {name: getattr(args, name) for name in ("proposer", "model", "rule", "seed")}
    words += [f"--{name} {shlex.quote(str(v))}" for name, v in options.items() if v is not None]
    words += [f"--budget {shlex.quote(word)}" for word in args.budget or ()]
    return " ".join(words) + model_options.repeat_model_flags(args)
