"""The settings of `fourscore run`: from a configuration file and flags, or from a stored run.

Each setting is one field of `RunSettings`. A field is also a flag, a key of the section
`fourscore: run:`, an entry of `fourscore schema config`, and has a rule for `--resume`.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import asdict, replace

from fourscore.cli.flags import JUDGE_MODEL, list_settings, read_flags, setting
from fourscore.cli.model_options import BudgetSetting, CacheSetting, ModelSettings, PricesSetting
from fourscore.core import ConfigError
from fourscore.formats.case_filter import CaseFilter
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.judges.rubric_file import RESEARCH
from fourscore.stores.sqlite import DEFAULT_STORE
from fourscore.test.run import RunPlan

#: The configuration file that is read without CONFIG, unless --cases and --agent are given.
CONFIG = "fourscore.yaml"
JUDGE_DEADLINE = (
    "stop a judge after this time on a case (60); built-in rules have bounded input instead"
)
GATE = "exit with 1 if the results do not meet this condition"
AGENTS = "file.py:function, module:function, http://…, shell: …, openai:MODEL, anthropic:MODEL"


class RunSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `run` of a configuration file; it is stored with each run."""

    cases: Annotated[
        str,
        setting(
            "--cases",
            "read the test cases from this file (JSONL, JSON, YAML or CSV; - for stdin)",
            metavar="FILE",
            resume="same content",
            is_path=True,
        ),
    ]
    agent: Annotated[
        str,
        setting(
            "--agent", f"test this agent: {AGENTS}, recorded", metavar="SPEC", resume="give again"
        ),
    ]
    rubric: Annotated[
        str | None,
        setting(
            "--rubric",
            "score with this rubric file (default: the checks of the cases, or, if they have none, "
            "the built-in rubric for research answers)",
            metavar="FILE",
            resume="same content",
            is_path=True,
        ),
    ] = None
    judge_model: Annotated[
        str | None, setting("--judge-model", JUDGE_MODEL, metavar="SPEC", resume="give again")
    ] = None
    name: Annotated[str, setting("--name", "give the run a name", metavar="NAME")] = ""
    store: Annotated[
        str,
        setting(
            "--store",
            f"store the run in this file ({DEFAULT_STORE})",
            metavar="FILE",
            resume="change",
            is_path=True,
        ),
    ] = DEFAULT_STORE
    repeats: Annotated[
        int, setting("--repeats", "run each case this many times (1)", metavar="N")
    ] = 1
    concurrency: Annotated[
        int,
        setting(
            "--concurrency", "run this many cases at a time (16)", metavar="N", resume="change"
        ),
    ] = 16
    deadline: Annotated[
        float,
        setting(
            "--deadline",
            "stop the agent after this time on a case (60)",
            metavar="SECONDS",
            resume="change",
        ),
    ] = 60.0
    judge_deadline: Annotated[
        float,
        setting("--judge-deadline", JUDGE_DEADLINE, metavar="SECONDS", resume="change"),
    ] = 60.0
    isolate: Annotated[
        bool, setting("--isolate", "run each attempt in a process that can be killed")
    ] = False
    fail_fast: Annotated[
        bool,
        setting("--fail-fast", "stop at the first case that does not pass", resume="change"),
    ] = False
    limit: Annotated[
        int | None, setting("--limit", "take the first N of the chosen cases", metavar="N")
    ] = None
    sample: Annotated[
        int | None,
        setting("--sample", "take N of the chosen cases at random, by --seed", metavar="N"),
    ] = None
    seed: Annotated[
        int, setting("--seed", "seed of the random choice of --sample (0)", metavar="N")
    ] = 0
    tags: Annotated[
        list[str], setting("--tag", "choose cases with any of these tags", metavar="TAG")
    ] = []
    all_tags: Annotated[
        list[str], setting("--all-tags", "choose cases with all of these tags", metavar="TAG")
    ] = []
    not_tags: Annotated[
        list[str], setting("--not-tag", "leave out cases with this tag", metavar="TAG")
    ] = []
    where: Annotated[
        dict[str, Any],
        setting("--where", "choose cases with this value of a field", metavar="KEY=VALUE"),
    ] = {}
    filter: Annotated[
        str | None,
        setting("--filter", "choose cases for which this expression is true", metavar="EXPRESSION"),
    ] = None
    gates: Annotated[
        list[str],
        setting(
            "--gate",
            GATE,
            metavar="'pass_rate>=0.8'",
            resume="change",
        ),
    ] = []
    labels: Annotated[
        dict[str, str],
        setting("--label", "store this label with the run", metavar="KEY=VALUE"),
    ] = {}
    budget: BudgetSetting = None
    cache: CacheSetting = None
    prices: PricesSetting = None
    models: Annotated[
        dict[str, dict[str, Any]],
        setting(None, "set options of single models, by specification", resume="give again"),
    ] = {}

    def __post_init__(self) -> None:
        for field in ("repeats", "concurrency"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field}: expected at least 1")
        for field in ("deadline", "judge_deadline"):
            if not 0 < getattr(self, field) < 1e9:
                raise ValueError(f"{field}: expected seconds above 0")
        try:
            self.model_settings.check()
        except ConfigError as error:
            raise ValueError(f"{error.field}: {error.message}") from None

    def resolve_paths(self) -> "RunSettings":
        """Return the settings with absolute paths: a run may be resumed from another folder."""
        return replace(self, **_map_paths(asdict(self), Path.resolve))

    @property
    def rubric_path(self) -> str:
        """The path of the rubric; without one, that of the built-in rubric for research."""
        return self.rubric or RESEARCH

    @property
    def plan(self) -> RunPlan:
        return RunPlan(
            repeats=self.repeats,
            concurrency=self.concurrency,
            deadline=self.deadline,
            judge_deadline=self.judge_deadline,
            fail_fast=self.fail_fast,
        )

    @property
    def model_settings(self) -> ModelSettings:
        return ModelSettings(
            budget=self.budget, cache=self.cache, prices=self.prices, settings=self.models
        )

    @property
    def case_filter(self) -> CaseFilter:
        return CaseFilter(
            tags_any=tuple(self.tags),
            tags_all=tuple(self.all_tags),
            tags_not=tuple(self.not_tags),
            where=self.where,
            expression=self.filter,
        )


def read_settings(args: argparse.Namespace) -> RunSettings:
    """Return the settings of a new run: those of the configuration file, overridden by flags."""
    given = add_flag_values(read_config(args), args)
    for key in ("cases", "agent"):
        if key not in given:
            message = f"give --{key}, or a CONFIG (or a {CONFIG} in this folder) that has it"
            raise ConfigError(message, field=f"--{key}")
    return make_settings(given)


def add_flag_values(base: dict[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """Return the values overridden by the flags; a dictionary is extended, not replaced."""
    given = read_flags(args, RunSettings)
    for key, value in given.items():
        if isinstance(value, dict):
            given[key] = {**(base.get(key) or {}), **value}
    return base | given


def make_settings(values: dict[str, Any]) -> RunSettings:
    """Return typed settings; raise a `ConfigError` that names the field of a wrong value."""
    try:
        return convert_value(values, RunSettings)
    except ConversionError as error:
        raise ConfigError(error.message, field=error.field) from None


def find_config(args: argparse.Namespace) -> str:
    """Return the path of CONFIG, else of the file in the working folder; empty if not needed."""
    given: str = args.config or ""
    return given or (CONFIG if not (args.cases and args.agent) and Path(CONFIG).is_file() else "")


def read_config(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the configuration file; empty without one."""
    path = find_config(args)
    return _read_section(path) if path else {}


def _read_section(path: str) -> dict[str, Any]:
    """Return the section `fourscore: run:` of a file; its paths are relative to the file."""
    if path.endswith((".jsonl", ".csv")):
        raise ConfigError(
            "this is a file of cases, not a configuration: give it as --cases", file=path
        )
    document = read_yaml_file(path)
    root = document.value.get("fourscore") if isinstance(document.value, dict) else None
    section = root.get("run") if isinstance(root, dict) else None
    if not isinstance(section, dict):
        rubric = isinstance(document.value, dict) and "dimensions" in document.value
        hint = "; this is a rubric file: give it as --rubric" if rubric else ""
        raise document.error(f"expected a section fourscore: with a section run:{hint}")
    section |= _map_paths(section, lambda written: Path(path).parent / written)
    try:
        convert_value(section, RunSettings)
    except ConversionError as error:
        raise document.error(
            error.message, f"fourscore.run.{error.field or ''}".rstrip(".")
        ) from None
    return section


def _map_paths(values: dict[str, Any], change: Callable[[Path], Path]) -> dict[str, str]:
    """Change the paths among the values; stdin and the pipe of a shell stay as they are."""
    changed: dict[str, str] = {}
    for each in list_settings(RunSettings):
        path = values.get(each.key)
        if each.is_path and isinstance(path, str) and path != "-" and not _is_shell_pipe(path):
            changed[each.key] = str(change(Path(path).expanduser()))
    file, colon, function = str(values.get("agent", "")).rpartition(":")
    if file.endswith(".py"):
        changed["agent"] = f"{change(Path(file))}{colon}{function}"
    return changed


def _is_shell_pipe(path: str) -> bool:
    """Whether a shell made it for `<(…)`: `/dev/fd/63` is its only name."""
    return path.startswith(("/dev/", "/proc/")) and Path(path).is_fifo()
