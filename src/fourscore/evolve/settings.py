"""`evolution.yaml`: all settings of an evolution, in one file beside its versions."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from fourscore.core import ConfigError
from fourscore.evolve.decision import Rule
from fourscore.evolve.limits import Limits
from fourscore.evolve.mutations.checks import compile_patterns
from fourscore.evolve.rollback import RollbackRules
from fourscore.evolve.split import Shares
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.stats.sequential import SequentialPlan

NAME = "evolution.yaml"
#: Settings that are file names, relative to the folder of the settings.
FILES = ("cases", "rubric", "store", "prices", "prompt_folder")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings; without a `rubric` the built-in one for research answers is used.

    A candidate must keep the `placeholders` and the `required` lines, and match none of the
    `forbidden` patterns; its length is between `shortest` and `longest` times its parent's.
    `strategies` are those to use (none named: all), `constraints` lines to try first. `repeats`,
    `concurrency` and the deadlines are those of `fourscore run`. `budget`, `looks`, `level` and
    `margin` are options of the paired rule. The newest `keep` versions are not archived.
    """

    cases: str | None = None
    agent: str | None = None
    rubric: str | None = None
    store: str = "runs.db"
    model: str | None = None
    prices: str | None = None
    proposer: Literal["rules", "model", "gepa"] | None = None
    strategies: list[str] = []
    constraints: list[str] = []
    language: Literal["en", "zh"] = "en"
    prompt_folder: str | None = None
    shortest: Annotated[float, Meta(ge=0, le=1)] = 0.5
    longest: Annotated[float, Meta(ge=1)] = 2.0
    placeholders: list[str] = []
    required: list[str] = []
    forbidden: list[str] = []
    rule: Rule = "paired"
    budget: Annotated[int, Meta(ge=2)] = 200
    looks: Annotated[int, Meta(ge=1, le=4)] = 4
    level: Annotated[float, Meta(gt=0, le=0.5)] = 0.05
    margin: Annotated[float, Meta(ge=0, le=100)] = 2.0
    split: Shares = Shares()
    limits: Limits = Limits()
    rollback: RollbackRules = RollbackRules()
    keep: Annotated[int, Meta(ge=1)] = 5
    repeats: Annotated[int, Meta(ge=1)] = 1
    concurrency: Annotated[int, Meta(ge=1)] = 16
    deadline: Annotated[float, Meta(gt=0, lt=1e9)] = 60.0
    judge_deadline: Annotated[float, Meta(gt=0, lt=1e9)] = 60.0
    seed: int = 0

    @property
    def plan(self) -> SequentialPlan:
        return SequentialPlan(
            budget=self.budget, looks=self.looks, level=self.level, margin=self.margin
        )

    def plan_for(self, cases: int) -> SequentialPlan:
        """Return the plan for this number of `decide` cases, which limits its budget."""
        return msgspec.structs.replace(self.plan, budget=max(2, min(self.budget, cases)))


def read_settings(path: Path) -> Settings:
    """Return the settings of a file; their file names are joined to the folder of that file."""
    document = read_yaml_file(str(path))
    value = {} if document.value is None else document.value
    if not isinstance(value, dict):
        raise document.error("expected settings with their values, such as budget: 200")
    try:
        settings = convert_value(value, Settings)
    except ConversionError as error:
        field, message = error.field or "", error.message
        inner, colon, rest = message.partition(": ")
        if colon and inner.isidentifier():  # a message "field: problem" of a nested type
            field, message = f"{field}.{inner}".lstrip("."), rest
        raise document.error(message, field) from None
    try:
        compile_patterns(settings.forbidden)
    except ConfigError as error:
        raise document.error(error.message, error.field or "") from None
    try:
        _ = settings.plan
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        raise document.error(message, field) from None
    return _resolve_paths(settings, path.parent)


def _resolve_paths(settings: Settings, folder: Path) -> Settings:
    found: dict[str, str] = {}
    for field in FILES:
        name = getattr(settings, field)
        if name is not None:
            found[field] = str(folder / name)
    agent = settings.agent
    if agent is not None and ".py:" in agent and not agent.partition(".py:")[0].count(" "):
        found["agent"] = str(folder / agent)
    return msgspec.structs.replace(settings, **found)


def format_settings(values: dict[str, object]) -> str:
    """Return the text of a new evolution.yaml: these values, and the defaults as comments."""
    known = Settings.__struct_fields__
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ConfigError("unknown setting", field=unknown[0])
    lines = ["# The settings of this evolution. File names are relative to this folder."]
    lines += [f"{key}: {msgspec.json.encode(value).decode()}" for key, value in values.items()]
    usual = {
        key: msgspec.to_builtins(getattr(Settings(), key))
        for key in (
            "rule",
            "budget",
            "looks",
            "level",
            "margin",
            "split",
            "limits",
            "rollback",
            "keep",
        )
        if key not in values
    }
    for key, value in usual.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{name}: {each}" for name, each in value.items())
            lines.append(f"# {key}: {{{inner}}}")
        else:
            lines.append(f"# {key}: {value}")
    return "\n".join(lines) + "\n"
