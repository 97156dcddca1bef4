"""`fourscore run --resume`: settings that may change, remaining attempts, the resume command."""

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from fourscore.cli.flags import list_settings, read_flags
from fourscore.cli.model_options import double_budget, repeat_model_flags
from fourscore.cli.run_inputs import RunInputs
from fourscore.cli.run_settings import (
    RunSettings,
    add_flag_values,
    find_config,
    make_settings,
    read_config,
)
from fourscore.core import ConfigError, Status, digest
from fourscore.core.rubric import list_models
from fourscore.core.secrets import hide_in_spec
from fourscore.judges.rubric_file import CHECKS, RESEARCH
from fourscore.models.budget import NO_COST, Cost, Limits
from fourscore.models.messages import NO_USAGE
from fourscore.report.streams import print_message
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.run import PlannedAttempt, get_answered, summarize_run


def resume_settings(info: RunInfo, args: argparse.Namespace, store: str) -> RunSettings:
    """Return the settings of a resumed run.

    What names code, an address, a key or a file comes from the flags or the configuration file: a
    store may come from somebody else, and naming a run must not start what its store names. All
    else is kept. A flag that may not change is refused if it differs from the run's setting.
    """
    stored = replace(_read_options(info, store), store=store)
    section, flags = read_config(args), read_flags(args, RunSettings)
    rules = {each.key: each for each in list_settings(RunSettings)}
    kept = msgspec.to_builtins(stored)
    base = {key: value for key, value in kept.items() if not rules[key].is_local}
    base |= {key: value for key, value in section.items() if rules[key].resume != "keep"}
    if missing := _list_missing(stored, base | flags):
        _refuse(info, stored, f"needs {', '.join(missing)} again", missing[0])
    settings = make_settings(add_flag_values({**base, "store": store}, args))
    resolved = settings.resolve_paths()
    if digest_agent(resolved) != (info.agent_digest or digest_agent(stored)):
        _refuse(info, stored, "began with another agent or other options of models", "--agent")
    for each in rules.values():
        own, given = getattr(stored, each.key), getattr(resolved, each.key)
        if each.key in flags and each.resume == "keep" and given != own:
            message = f"run {info.id} has {own!r}; --resume cannot change that to {given!r}"
            raise ConfigError(f"{message}: start a new run", field=each.flag or each.key)
        if each.key in section and each.resume == "keep" and section[each.key] != kept[each.key]:
            print_message(f"run {info.id} keeps its own {each.key}: {own!r}")
    return settings


def _read_options(info: RunInfo, store: str) -> RunSettings:
    try:
        return msgspec.convert(info.options, RunSettings)
    except msgspec.ValidationError as error:
        message = f"its options are not those of fourscore run, so it cannot be resumed: {error}"
        raise ConfigError(message, file=store, field=f"run {info.id}") from None


def _list_missing(stored: RunSettings, given: dict[str, Any]) -> list[str]:
    """Return the flags of what the run needs and a store may not name."""
    needed = [f"--{key}" for key in ("cases", "agent") if key not in given]
    if "rubric" not in given and not _is_built_in(stored.rubric_path):
        needed.append("--rubric")
    if stored.judge_model is not None and "judge_model" not in given:
        needed.append("--judge-model")
    return [*needed, *(["CONFIG"] if stored.models and "models" not in given else [])]


def _is_built_in(rubric: str) -> bool:
    """Whether it is a built-in rubric, which may have been installed elsewhere at that time."""
    return Path(rubric).parts[-4:] in [Path(path).parts[-4:] for path in (RESEARCH, CHECKS)]


def _refuse(info: RunInfo, stored: RunSettings, what: str, field: str) -> NoReturn:
    command = resume_command(info, stored)
    why = "a store does not choose what is started"
    message = f"run {info.id} {what}: {why}; check this command, then type it: {command}"
    raise ConfigError(message, field=field)


def digest_agent(settings: RunSettings) -> str:
    """Return a digest of the agent, the judges' model and the options of models, without secrets.

    A file may lie in another folder, or be repaired, as long as it has the same name.
    """
    file, _, function = settings.agent.rpartition(":")
    agent = f"{Path(file).name}:{function}" if file.endswith(".py") else settings.agent
    return digest([hide_in_spec(agent), settings.models, settings.judge_model])


def check_unchanged(info: RunInfo, inputs: RunInputs) -> None:
    """Refuse a rubric or cases that have changed since the run began; warn of a changed agent."""
    if inputs.rubric.provenance.rubric != info.rubric_fingerprint:
        message = f"the rubric has changed since run {info.id}; see fourscore rescore"
        raise ConfigError(message, file=inputs.settings.rubric)
    if inputs.file.check().digest != info.cases_digest:
        message = f"the cases have changed since run {info.id}"
        raise ConfigError(message, file=inputs.settings.cases)
    if (getattr(inputs.agent, "version", None) or None) != info.agent_version:
        print_message(f"the agent's file has changed since run {info.id} began")


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
    """Yield the attempts without a row or a score, cancelled ones, and those to retry.

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
            if status in (None, Status.CANCELLED) or status in retry:
                row = store.row(info.id, case.id, repeat, judge)
                has_answer = row is not None and status in (None, Status.CANCELLED)
                trace = get_answered(row.trace) if row is not None and has_answer else None
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
    info: RunInfo,
    settings: RunSettings,
    args: argparse.Namespace | None = None,
    *,
    more_budget: bool = False,
) -> str:
    """Return the whole command that resumes a run, with twice the budget if it is spent.

    `args` are those of the running command; without them the command is made from the store.
    """
    config = str(Path(found).resolve()) if args and (found := find_config(args)) else ""
    words = ["fourscore", "run", *filter(None, [config if args else info.config])]
    for key in ("cases", "agent", "rubric", "judge_model"):
        value = getattr(settings, key)
        if value is None or (config and getattr(args, key) is None):
            continue  # it is in the configuration
        words += [f"--{key.replace('_', '-')}", hide_in_spec(value) if key == "agent" else value]
    words += ["--store", settings.store, "--resume", info.id]
    if args is None:
        return shlex.join(words)
    retry = [*args.retry, *(["cancelled"] if more_budget and "cancelled" not in args.retry else [])]
    words += [word for status in retry for word in ("--retry", status)]
    budget = "".join(f" --budget {shlex.quote(limit)}" for limit in args.budget or ())
    if more_budget:
        budget = double_budget(settings.model_settings.limits)
    return shlex.join(words) + repeat_model_flags(args) + budget
