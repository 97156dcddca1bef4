"""`fourscore run`: a test set, a rubric and an agent; every row on disk before it counts."""

import argparse
import asyncio
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from fourscore.agents.agent import Agent, agent_of
from fourscore.agents.function import FunctionAgent
from fourscore.agents.process import ProcessAgent
from fourscore.cli import model_options as budget
from fourscore.cli.dry_run import dry_run
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, INTERRUPTED, PASSED
from fourscore.cli.run_guard import Watchdog, stdout_kept, stoppable
from fourscore.cli.run_settings import CONFIG, JUDGE_DEADLINE, RunSettings, settings_of
from fourscore.core import Case, ConfigError, DataError, FourscoreError, Rubric, Status
from fourscore.core.judge import safe_repr
from fourscore.executors import loop
from fourscore.formats.cases import CaseFile
from fourscore.formats.selection import limited, sampled
from fourscore.judges.calibrated_rate import correct_rate_by_file
from fourscore.judges.rubric_file import read_rubric
from fourscore.models.budget import NOTHING, Limits
from fourscore.models.model_pool import ModelPool
from fourscore.report import costs, exports
from fourscore.report.run_panel import Ticker, last_run, show, store_option
from fourscore.stats.gates import Gate
from fourscore.stats.gates import parse as parse_gate
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import DEFAULT_STORE, Store
from fourscore.test.run import Todo, planned, remaining, summarized
from fourscore.test.run import run as run_cases

Parts = tuple[Rubric, Agent, list[Gate]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "config",
        nargs="?",
        metavar="CONFIG",
        help=f"YAML with a section fourscore: run: ({CONFIG})",
    )
    add("--cases", metavar="FILE", help="JSONL, JSON, YAML or CSV; - for stdin")
    add("--rubric", metavar="FILE", help="the rubric's YAML (research answers)")
    add(
        "--agent",
        metavar="SPEC",
        help="file.py:function, module:function, http://…, shell: …, openai:MODEL, anthropic:MODEL,"
        " recorded",
    )
    add("--name", help="what to call the run")
    add("--store", metavar="FILE", help=f"where runs are kept ({DEFAULT_STORE})")
    add("--repeats", type=int, metavar="N", help="attempts at each case (1)")
    add("--concurrency", type=int, metavar="N", help="cases at a time (16)")
    add("--deadline", type=float, metavar="SECONDS", help="for the agent, each case (60)")
    add("--judge-deadline", type=float, metavar="SECONDS", help=JUDGE_DEADLINE)
    add("--isolate", action="store_true", help="each attempt in a process that can be killed")
    add("--fail-fast", action="store_true", help="stop at the first case that does not pass")
    add("--dry-run", action="store_true", help="say what would run, and run nothing")
    add("--tag", action="append", default=[], metavar="TAG", help="cases with any of these tags")
    add("--all-tags", action="append", default=[], metavar="TAG", help="cases with all of these")
    add("--not-tag", action="append", default=[], metavar="TAG", help="cases without these")
    add("--where", action="append", default=[], metavar="KEY=VALUE", help="cases with this field")
    add("--filter", metavar="EXPRESSION", help="cases for which this holds")
    add("--limit", type=int, metavar="N", help="the first N of them")
    add("--sample", type=int, metavar="N", help="N of them, chosen by --seed")
    add("--seed", type=int, metavar="N", help="for --sample (0)")
    add(
        "--gate",
        action="append",
        default=[],
        metavar="'pass_rate>=0.8'",
        help="decides the exit code",
    )
    add("--label", action="append", default=[], metavar="KEY=VALUE", help="kept with the run")
    add("--resume", metavar="RUN", help="go on with a run: only what has no row")
    add("--retry", action="append", default=[], metavar="STATUS", help="with --resume: these again")
    budget.add_arguments(parser)
    add("--out", action="append", default=[], metavar="FILE", help=exports.HELP)
    add("--json", action="store_true", help="the summary as a document on stdout")


def run(args: argparse.Namespace) -> int:
    if args.resume:
        return _resume(args)
    if args.retry:
        raise ConfigError("it goes with --resume", field="--retry")
    settings = settings_of(args)
    rubric, agent, gates = _parts(settings)
    exports.check(args.out)
    settings.anchor()  # an agent may change the folder, and a run may be resumed from another
    args.out = [str(Path(path).resolve()) for path in args.out]
    file = CaseFile(settings.cases)  # one for all: what flows can be read by its first reader only
    if file.flows:
        settings.cases = "-"
    info = file.check()
    if not info.count:
        raise DataError("it holds no cases", file=file.name)
    count = sum(1 for _ in _chosen(settings, file))
    if not count:
        raise DataError(f"none of its {info.count} cases is chosen", file=file.name)
    pool = budget.make_model_pool(settings.means, rubric, agent, keys=not args.dry_run)
    if args.dry_run:
        todo = planned(_chosen(settings, file), settings.repeats)
        return _dry_run(args, settings, (rubric, agent, gates), todo, pool, file)
    with Store(_folder_made(settings.store)) as store:
        started = RunInfo(
            name=settings.name,
            labels=settings.labels,
            agent=agent.name if settings.agent.startswith("/") else settings.agent,
            agent_version=getattr(agent, "version", None) or None,
            git_commit=_commit(),
            cases_digest=info.digest,
            cases_path=str(Path(settings.cases).resolve()) if settings.cases != "-" else "-",
            rubric_fingerprint=rubric.provenance.rubric,
            rubric=Path(settings.rubric).read_text(encoding="utf-8"),
            repeats=settings.repeats,
            planned=count * settings.repeats,
            options=msgspec.to_builtins(settings),
            argv=tuple(sys.argv),
        )
        store.start(started)
        todo = planned(_chosen(settings, file), settings.repeats)
        return _carry_out(args, store, started, settings, (rubric, agent, gates), todo, pool)


def _resume(args: argparse.Namespace) -> int:
    exports.check(args.out)
    with Store(args.store or DEFAULT_STORE, make=False) as store:
        info = store.run(args.resume)
        settings = msgspec.convert(info.options, RunSettings)
        settings.gates = args.gate or settings.gates
        for key in ("concurrency", "deadline", "judge_deadline"):
            setattr(settings, key, getattr(args, key) or getattr(settings, key))
        settings.budget = args.budget or settings.budget
        settings.cache = False if args.no_cache else settings.cache
        settings.prices = args.prices or settings.prices
        again = {_status(word) for word in args.retry}
        rubric, agent, gates = _parts(settings)
        if rubric.provenance.rubric != info.rubric_fingerprint:
            message = f"the rubric has changed since run {info.id}; see fourscore rescore"
            raise ConfigError(message, file=settings.rubric)
        if settings.cases == "-":
            if not args.cases:
                message = f"the cases of run {info.id} came from stdin or a pipe: give them again"
                raise ConfigError(message, field="--cases")
            settings.cases = args.cases
        file = CaseFile(settings.cases)
        if file.check().digest != info.cases_digest:
            raise ConfigError(f"the cases have changed since run {info.id}", file=settings.cases)
        judge = info.rubric_fingerprint
        todo = remaining(_chosen(settings, file), info.repeats, store, info.id, judge, again)
        unlimited = settings.means.limits == Limits()
        spent = NOTHING if unlimited else budget.spent_before(store, info.id, agent)
        keys = not args.dry_run
        pool = budget.make_model_pool(settings.means, rubric, agent, spent=spent, keys=keys)
        if args.dry_run:
            return _dry_run(args, settings, (rubric, agent, gates), todo, pool, file)
        return _carry_out(args, store, info, settings, (rubric, agent, gates), todo, pool)


def _status(word: str) -> Status:
    try:
        return Status(word)
    except ValueError:
        raise ConfigError(f"{word!r} is none of {', '.join(Status)}", field="--retry") from None


def _parts(settings: RunSettings) -> Parts:
    """Rubric, agent and gates: a typo in any of them fails before the first case runs."""
    rubric = read_rubric(settings.rubric)
    gates = [parse_gate(text) for text in settings.gates]
    for gate in gates:
        gate.check([line.name for line in rubric.dimensions], settings.repeats)
    folders = [str(Path.cwd())]
    agent = agent_of(settings.agent, folders=folders)
    if settings.isolate and isinstance(agent, FunctionAgent):  # the others are elsewhere already
        agent = ProcessAgent(settings.agent, folders, settings.concurrency)
    return rubric, agent, gates


def _chosen(settings: RunSettings, file: CaseFile) -> Iterator[Case]:
    cases: Iterator[Case] = filter(settings.selection.matches, file.cases())
    if settings.sample is not None:
        cases = sampled(cases, settings.sample, settings.seed)
    return limited(cases, settings.limit) if settings.limit is not None else cases


def _carry_out(
    args: argparse.Namespace,
    store: Store,
    info: RunInfo,
    settings: RunSettings,
    parts: Parts,
    todo: Iterator[Todo],
    pool: ModelPool,
) -> int:
    rubric, agent, gates = parts
    started = time.monotonic()
    again = " --cases -" if info.cases_path == "-" else ""
    again += "".join(f" --retry {word}" for word in args.retry) + budget.options_of(args)
    resume = f"fourscore run --resume {info.id} --store {shlex.quote(settings.store)}{again}"
    more = "".join(f" --budget {shlex.quote(word)}" for word in args.budget or ())
    with store.writer(info.id) as writer, Ticker(info.planned) as ticker:
        work = run_cases(todo, agent, rubric, writer, settings.plan, ticker)
        try:
            with stdout_kept(), Watchdog(settings.deadline) as watchdog:
                complete = loop.run(stoppable(work, pool, watchdog))
        except (KeyboardInterrupt, asyncio.CancelledError):
            ticker.close()
            sys.stderr.write(f"interrupted; go on with: {resume}{more}\n")
            return INTERRUPTED
        except BaseExceptionGroup as group:
            ticker.close()
            sys.stderr.write(f"stopped; go on with: {resume}{more}\n")
            if isinstance(group.exceptions[0], FourscoreError):
                raise group.exceptions[0] from None
            raise OSError(safe_repr(group.exceptions[0])) from None  # incomplete, whatever it was
    document = {"run": info.id, **summarized(store, info.id, rubric), **budget.bill(pool)}
    document |= correct_rate_by_file(settings.rubric, info.rubric_fingerprint, document)
    if complete:
        store.finish(info.id, document)
    outcomes = [gate.evaluate(document) for gate in gates]
    document["gates"] = [msgspec.to_builtins(outcome) for outcome in outcomes]
    code = exit_code(document)
    document["exit_code"] = code
    exports.write(args.out, store, info, document)
    if args.json:
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    else:
        took, there = time.monotonic() - started, store_option(settings.store)
        show(info, document, took, last_run(store, info), there)
    spent = costs.spent_words(document)
    if spent:
        sys.stderr.write(f"{spent}; go on with: {_with_more(resume, settings)}\n")
    elif not complete:
        sys.stderr.write(f"stopped at the first failure; go on with: {resume}{more}\n")
    return code


def _dry_run(
    args: argparse.Namespace,
    settings: RunSettings,
    parts: Parts,
    todo: Iterator[Todo],
    pool: ModelPool,
    file: CaseFile,
) -> int:
    rubric, agent, _ = parts
    attempts, first = (item.case for item in todo), _chosen(settings, file)
    repeats = settings.repeats
    return dry_run(attempts, first, rubric, agent, pool, repeats=repeats, as_json=args.json)


def _with_more(resume: str, settings: RunSettings) -> str:
    retry = "" if "--retry cancelled" in resume else " --retry cancelled"
    return f"{resume}{retry}{budget.larger(settings.means.limits)}"


def exit_code(document: dict[str, Any]) -> int:
    """1 a gate failed, 3 something planned was not measured, 0."""
    if any(not gate["met"] for gate in document["gates"]):
        return GATE_FAILED
    return PASSED if document["total_tests"] == document["planned"] else INCOMPLETE


def _folder_made(path: str) -> str:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be made", file=path, field="--store") from None
    return path


def _commit() -> str | None:
    """The commit that the working folder is at, if it is at one."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
