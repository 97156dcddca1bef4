"""What `fourscore run` is told: by a configuration file, by options, or by the run it resumes."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from fourscore.cli.flags import parse_key_value
from fourscore.cli.model_options import Means
from fourscore.core import ConfigError
from fourscore.formats.conversion import ConversionError, converted
from fourscore.formats.document import read_document
from fourscore.formats.selection import Selection
from fourscore.judges.rubric_file import RESEARCH
from fourscore.stores.sqlite import DEFAULT_STORE
from fourscore.test.run import Plan

#: The configuration of a folder, read where none is named and the options do not say it all.
CONFIG = "fourscore.yaml"
#: What `--judge-deadline` is for.
JUDGE_DEADLINE = (
    "each judge, each case (60); built-in rules are not stopped, their input is bounded"
)


class RunSettings(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The `run` section of a configuration, and what a stored run keeps of it."""

    cases: str
    agent: str
    rubric: str = RESEARCH
    name: str = ""
    store: str = DEFAULT_STORE
    repeats: int = 1
    concurrency: int = 16
    deadline: float = 60.0
    judge_deadline: float = 60.0
    isolate: bool = False
    fail_fast: bool = False
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    tags: list[str] = []
    all_tags: list[str] = []
    not_tags: list[str] = []
    where: dict[str, Any] = {}
    filter: str | None = None
    gates: list[str] = []
    labels: dict[str, str] = {}
    budget: list[str | float] | str | float | None = None
    cache: str | bool | None = None
    prices: str | dict[str, Any] | None = None
    models: dict[str, dict[str, Any]] = {}

    def __post_init__(self) -> None:
        for field in ("repeats", "concurrency"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field}: expected at least 1")
        for field in ("deadline", "judge_deadline"):
            if not 0 < getattr(self, field) < 1e9:
                raise ValueError(f"{field}: expected seconds above 0")
        try:
            self.means.check()
        except ConfigError as error:
            raise ValueError(f"{error.field}: {error.message}") from None

    def anchor(self) -> None:
        """Make the paths absolute."""
        for key in ("rubric", "store"):
            setattr(self, key, str(Path(getattr(self, key)).resolve()))
        if self.cases != "-" and not _is_pipe(Path(self.cases)):
            self.cases = str(Path(self.cases).resolve())
        for key in ("cache", "prices"):
            if isinstance(path := getattr(self, key), str):
                setattr(self, key, str(Path(path).expanduser().absolute()))  # it may be a pipe
        where, colon, name = self.agent.rpartition(":")
        if where.endswith(".py"):
            self.agent = f"{Path(where).resolve()}{colon}{name}"

    @property
    def plan(self) -> Plan:
        return Plan(
            repeats=self.repeats,
            concurrency=self.concurrency,
            deadline=self.deadline,
            judge_deadline=self.judge_deadline,
            fail_fast=self.fail_fast,
        )

    @property
    def means(self) -> Means:
        return Means(budget=self.budget, cache=self.cache, prices=self.prices, settings=self.models)

    @property
    def selection(self) -> Selection:
        return Selection(
            tags_any=tuple(self.tags),
            tags_all=tuple(self.all_tags),
            tags_not=tuple(self.not_tags),
            where=self.where,
            expression=self.filter,
        )


#: Options that are given as they are; those that take several or pairs are below.
PLAIN = (
    "cases",
    "rubric",
    "agent",
    "name",
    "store",
    "repeats",
    "concurrency",
    "deadline",
    "judge_deadline",
    "limit",
    "sample",
    "seed",
    "filter",
    "prices",
)


def settings_of(args: argparse.Namespace) -> RunSettings:
    """The settings of a command line: the file's, with the options over them."""
    config = args.config or _of_folder(args)
    told: dict[str, Any] = _section(config) if config else {}
    told |= {key: getattr(args, key) for key in PLAIN if getattr(args, key) is not None}
    for key, words in (("tags", args.tag), ("all_tags", args.all_tags), ("not_tags", args.not_tag)):
        if words:
            told[key] = words
    if args.gate:
        told["gates"] = args.gate
    if args.budget:
        told["budget"] = args.budget
    if args.no_cache:
        told["cache"] = False
    for key in ("isolate", "fail_fast"):
        if getattr(args, key):
            told[key] = True
    told["where"] = {
        **told.get("where", {}),
        **dict(parse_key_value(text, "--where") for text in args.where),
    }
    labels = {
        key: str(value) for key, value in (parse_key_value(text, "--label") for text in args.label)
    }
    told["labels"] = {**told.get("labels", {}), **labels}
    for key in ("cases", "agent"):
        if key not in told:
            message = f"give --{key}, or a CONFIG (or a {CONFIG} in this folder) that has it"
            raise ConfigError(message, field=f"--{key}")
    try:
        return converted(told, RunSettings)
    except ConversionError as error:
        raise ConfigError(error.message, field=error.field) from None


def _is_pipe(path: Path) -> bool:
    """Whether it is one that a shell made: `/dev/fd/63` is its only name."""
    return str(path).startswith(("/dev/", "/proc/")) and path.is_fifo()


def _of_folder(args: argparse.Namespace) -> str | None:
    """The folder's own configuration, unless the options say what to run on what."""
    return CONFIG if not (args.cases and args.agent) and Path(CONFIG).is_file() else None


def _section(path: str) -> dict[str, Any]:
    """`fourscore.run` of a file, its paths made relative to the file."""
    if path.endswith((".jsonl", ".csv")):
        raise ConfigError("no configuration; a file of cases goes behind --cases", file=path)
    document = read_document(path)
    root = document.value.get("fourscore") if isinstance(document.value, dict) else None
    section = root.get("run") if isinstance(root, dict) else None
    if not isinstance(section, dict):
        rubric = isinstance(document.value, dict) and "dimensions" in document.value
        hint = "; a rubric goes behind --rubric" if rubric else ""
        raise document.error(f"expected a section fourscore: with a section run:{hint}")
    folder = Path(path).parent
    for key in ("cases", "rubric", "store", "cache", "prices"):
        if isinstance(section.get(key), str) and section[key] != "-":
            section[key] = str(folder / section[key])
    agent = section.get("agent")
    if isinstance(agent, str) and ".py:" in agent:
        section["agent"] = str(folder / agent)
    try:
        converted(section, RunSettings)
    except ConversionError as error:
        raise document.error(
            error.message, f"fourscore.run.{error.field or ''}".rstrip(".")
        ) from None
    return section
