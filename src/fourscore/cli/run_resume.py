"""`fourscore run --resume`: settings that may change, remaining attempts, the resume command."""

import argparse
import shlex
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.cli.flags import list_settings, read_flags
from fourscore.cli.model_options import double_budget, repeat_model_flags
from fourscore.cli.run_inputs import RunInputs
from fourscore.cli.run_settings import RunSettings, add_flag_values, make_settings
from fourscore.core import ConfigError, Status
from fourscore.core.rubric import list_models
from fourscore.models.budget import NO_COST, Cost, Limits
from fourscore.models.messages import NO_USAGE
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.run import PlannedAttempt, summarize_run


def resume_settings(info: RunInfo, args: argparse.Namespace, store: str) -> RunSettings:
    """Return the settings of a stored run, overridden by the flags that may change.

    A flag that may not change is refused if it differs from the run's setting.
    """
    if args.config:
        raise ConfigError("a resumed run keeps its settings: leave CONFIG out", file=args.config)
    stored = replace(msgspec.convert(info.options, RunSettings), store=store)
    values: dict[str, Any] = msgspec.to_builtins(stored)
    settings = make_settings(add_flag_values(values, args))
    resolved, flags = settings.resolve_paths(), read_flags(args, RunSettings)
    for each in list_settings(RunSettings):
        own, given = getattr(stored, each.key), getattr(resolved, each.key)
        if each.key in flags and each.resume == "keep" and given != own:
            message = f"run {info.id} has {own!r}; --resume cannot change that to {given!r}"
            raise ConfigError(f"{message}: start a new run", field=each.flag or each.key)
    if settings.cases == "-" and not args.cases:
        message = (
            f"the cases of run {info.id} came from stdin or a pipe: give them again with --cases"
        )
        raise ConfigError(message, field="--cases")
    return settings


def check_unchanged(info: RunInfo, inputs: RunInputs) -> None:
    """Refuse a rubric or cases that have changed since the run began."""
    if inputs.rubric.provenance.rubric != info.rubric_fingerprint:
        message = f"the rubric has changed since run {info.id}; see fourscore rescore"
        raise ConfigError(message, file=inputs.settings.rubric)
    if inputs.file.check().digest != info.cases_digest:
        message = f"the cases have changed since run {info.id}"
        raise ConfigError(message, file=inputs.settings.cases)


def parse_statuses(words: list[str]) -> set[Status]:
    """Return the statuses of `--retry`."""
    for word in words:
        if word not in list(Status):
            raise ConfigError(
                f"{word!r} is no status: expected one of {', '.join(Status)}", field="--retry"
            )
    return {Status(word) for word in words}


def find_remaining(
    store: Store, info: RunInfo, inputs: RunInputs, retry: set[Status]
) -> Iterator[PlannedAttempt]:
    """Yield the attempts without a row or a score, and those with a status to retry.

    A cancelled attempt that has an answer is only judged; the agent is not called again.
    """
    judge = info.rubric_fingerprint
    for position, case in enumerate(inputs.choose_cases()):
        statuses = store.statuses(info.id, case.id, judge)
        for repeat in range(1, info.repeats + 1):
            if repeat not in statuses:
                yield PlannedAttempt(position=position, case=case, repeat=repeat)
                continue
            status = statuses[repeat]
            if status is None or status in retry:
                row = store.row(info.id, case.id, repeat, judge)
                has_answer = row is not None and status in (None, Status.CANCELLED)
                trace = row.trace if row is not None and has_answer else None
                spent = row.score.cost if row is not None and row.score is not None else NO_USAGE
                yield PlannedAttempt(
                    position=position, case=case, repeat=repeat, trace=trace, spent=spent
                )


def count_spent(store: Store, info: RunInfo, inputs: RunInputs) -> Cost:
    """Return what a run with a budget has cost so far; an agent counts if it is a model."""
    if inputs.settings.model_settings.limits == Limits():
        return NO_COST
    document = summarize_run(store, info.id)
    spent = NO_COST
    for side in ["judges", *(["agent"] if list_models(inputs.agent) else [])]:
        line = document["cost"][side]
        tokens = line["input_tokens"] + line["output_tokens"]
        spent = spent.plus(Cost(line["calls"], tokens, line["dollars"]))
    return spent


def resume_command(
    info: RunInfo, settings: RunSettings, args: argparse.Namespace, *, more_budget: bool = False
) -> str:
    """Return the command that resumes a run, with twice the budget if it is spent."""
    words = ["fourscore", "run", "--resume", info.id, "--store", settings.store]
    if info.cases_path == "-":
        words += ["--cases", "-"]
    retry = [*args.retry, *(["cancelled"] if more_budget and "cancelled" not in args.retry else [])]
    words += [word for status in retry for word in ("--retry", status)]
    budget = "".join(f" --budget {shlex.quote(limit)}" for limit in args.budget or ())
    if more_budget:
        budget = double_budget(settings.model_settings.limits)
    return shlex.join(words) + repeat_model_flags(args) + budget
