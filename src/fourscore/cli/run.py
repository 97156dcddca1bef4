"""`fourscore run`: run a test set with an agent and a rubric, and store every row."""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from fourscore.cli import model_options
from fourscore.cli.agent_side_effects import Watchdog, protect_stdout, run_stoppable
from fourscore.cli.dry_run import dry_run
from fourscore.cli.flags import add_flags, add_json_argument
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, INTERRUPTED, PASSED
from fourscore.cli.preflight import add_probe_flag
from fourscore.cli.run_inputs import RunInputs, read_inputs
from fourscore.cli.run_resume import (
    check_unchanged,
    count_spent,
    digest_agent,
    find_remaining,
    parse_statuses,
    resume_command,
    resume_settings,
)
from fourscore.cli.run_settings import (
    CONFIG,
    RunSettings,
    find_config,
    read_config,
    read_settings,
)
from fourscore.core import ConfigError, DataError, Status
from fourscore.executors import loop
from fourscore.formats.cases import CaseFileInfo
from fourscore.judges.calibrated_rate import correct_rate_by_file
from fourscore.models.model_pool import ModelPool
from fourscore.report import exports, summary_text
from fourscore.report.run_panel import ProgressLine, find_previous_run, make_store_option, print_run
from fourscore.report.streams import print_json, print_message
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import DEFAULT_STORE, Store
from fourscore.test.run import (
    ConnectionsLostError,
    PlannedAttempt,
    fit_concurrency,
    plan_attempts,
    run_attempts,
    summarize_run,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    text = f"read settings from the section fourscore: run: of this YAML file ({CONFIG})"
    add("config", nargs="?", metavar="CONFIG", help=text)
    add_flags(parser, RunSettings)
    add_probe_flag(parser)
    add(
        "--dry-run",
        action="store_true",
        help="print what would run and its maximum cost, and run nothing",
    )
    add(
        "--resume",
        metavar="RUN",
        help="go on with this run: run only attempts without a stored result",
    )
    text = "with --resume, run cases with this status again; may be repeated"
    add("--retry", action="append", default=[], metavar="STATUS", help=text)
    add("--out", action="append", default=[], metavar="FILE", help=exports.HELP)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    args.out = [
        str(Path(path).resolve()) for path in args.out
    ]  # an agent may change the working folder
    if args.resume:
        return _resume(args)
    if args.retry:
        raise ConfigError("use it with --resume RUN only", field="--retry")
    return _start(args)


def _start(args: argparse.Namespace) -> int:
    inputs = read_inputs(read_settings(args), args.out)
    settings, file = inputs.settings, inputs.file
    found = file.check()
    if not found.count:
        raise DataError("the file has no cases", file=file.name)
    count = sum(1 for _ in inputs.choose_cases())
    if not count:
        raise DataError(f"none of its {found.count} cases matches the filters", file=file.name)
    models = model_options.make_model_pool(
        settings.model_settings,
        inputs.rubric,
        inputs.agent,
        keys=not args.dry_run,
        probe=args.probe,
    )
    attempts = plan_attempts(inputs.choose_cases(), settings.repeats)
    if args.dry_run:
        return dry_run(inputs, attempts, models, as_json=args.json)
    with Store(_make_folder(settings.store)) as store:
        info = _make_info(inputs, found, count, config=find_config(args))
        store.start(info)
        return _run_and_report(args, store, info, inputs, attempts=attempts, models=models)


def _resume(args: argparse.Namespace) -> int:
    path = args.store or read_config(args).get("store", DEFAULT_STORE)
    with Store(path, make=False) as store:
        info = store.run(args.resume)
        retry = parse_statuses(args.retry)
        inputs = read_inputs(resume_settings(info, args, path), args.out)
        check_unchanged(info, inputs)
        models = model_options.make_model_pool(
            inputs.settings.model_settings,
            inputs.rubric,
            inputs.agent,
            spent=count_spent(store, info, inputs),
            keys=not args.dry_run,
            probe=args.probe,
        )
        attempts = find_remaining(store, info, inputs, retry)
        if args.dry_run:
            return dry_run(inputs, attempts, models, as_json=args.json)
        return _run_and_report(args, store, info, inputs, attempts=attempts, models=models)


def _make_info(inputs: RunInputs, found: CaseFileInfo, count: int, *, config: str) -> RunInfo:
    """Return the run's stored settings and inputs; `count` is the number of chosen cases."""
    settings, agent = inputs.settings, inputs.agent
    return RunInfo(
        name=settings.name,
        labels=settings.labels,
        agent=agent.name if settings.agent.startswith("/") else settings.agent,
        agent_version=getattr(agent, "version", None) or None,
        agent_digest=digest_agent(settings),
        git_commit=_find_commit(),
        cases_digest=found.digest,
        cases_path=settings.cases,
        rubric_fingerprint=inputs.rubric.provenance.rubric,
        rubric=Path(settings.rubric_path).read_text(encoding="utf-8"),
        repeats=settings.repeats,
        planned=count * settings.repeats,
        options=msgspec.to_builtins(settings),
        config=str(Path(config).resolve()) if config else "",
        argv=tuple(sys.argv),
    )


def _run_and_report(
    args: argparse.Namespace,
    store: Store,
    info: RunInfo,
    inputs: RunInputs,
    *,
    attempts: Iterator[PlannedAttempt],
    models: ModelPool,
) -> int:
    """Run the attempts, store them, print the summary; return the exit code."""
    settings, rubric = inputs.settings, inputs.rubric
    at_a_time = fit_concurrency(settings.concurrency, inputs.agent)
    if at_a_time < settings.concurrency:
        fewer = f"--concurrency is {at_a_time} instead of {settings.concurrency}"
        print_message(f"few files or little memory are allowed (ulimit -n, -v), so {fewer}")
    started = time.monotonic()
    resume = resume_command(info, settings, args)
    stopped = "stopped at the first failure"
    with store.writer(info.id) as writer, ProgressLine(info.planned) as progress:
        work = run_attempts(
            attempts,
            inputs.agent,
            rubric,
            writer=writer,
            plan=settings.plan,
            observe=progress,
        )
        try:
            with protect_stdout(), Watchdog(settings.deadline) as watchdog:
                complete = loop.run(run_stoppable(work, models, watchdog))
        except (KeyboardInterrupt, asyncio.CancelledError):
            progress.close()
            print_message(f"interrupted; go on with: {resume}")
            return INTERRUPTED
        except ConnectionsLostError as lost:
            complete, stopped = False, str(lost)
            if lost.last.status is Status.JUDGE_ERROR:
                resume += " --retry judge_error"
        except BaseExceptionGroup:
            progress.close()
            print_message(f"stopped; go on with: {resume}")
            raise
    document = {
        "run": info.id,
        **summarize_run(store, info.id, rubric),
        **models.document(),
    }
    document |= correct_rate_by_file(settings.rubric_path, info.rubric_fingerprint, document)
    if complete:
        store.finish(info.id, document)
    outcomes = [gate.evaluate(document) for gate in inputs.gates]
    document["gates"] = [msgspec.to_builtins(outcome) for outcome in outcomes]
    code = exit_code(document)
    document["exit_code"] = code
    exports.write_files(args.out, store, info, document)
    if args.json:
        print_json(document)
    else:
        took, there = time.monotonic() - started, make_store_option(settings.store)
        before = find_previous_run(store, info)
        print_run(info, document, seconds=took, before=before, store=there)
    if spent := summary_text.describe_spent_budget(document):
        resume = resume_command(info, settings, args, more_budget=True)
        print_message(f"{spent}; go on with: {resume}")
    elif not complete:
        print_message(f"{stopped}; go on with: {resume}")
    elif cancelled := document["statuses"]["cancelled"]:
        print_message(f"{cancelled} cancelled; run them again with: {resume}")
    return code


def exit_code(document: dict[str, Any]) -> int:
    """Return 1 if a gate failed, 3 if something planned was not measured, else 0."""
    if any(not gate["met"] for gate in document["gates"]):
        return GATE_FAILED
    return PASSED if document["total_tests"] == document["planned"] else INCOMPLETE


def _make_folder(path: str) -> str:
    """Make the folder of a store; return the path of the store."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be made", file=path, field="--store") from None
    return path


def _find_commit() -> str | None:
    """Return the git commit of the working folder; None if it is not in a repository."""
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
