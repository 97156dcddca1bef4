"""Flags that choose the judge: `--judge NAME` or `--rubric FILE`, and options of the judge."""

import argparse
from pathlib import Path
from typing import Any

from fourscore.cli.flags import add_judge_model_argument, parse_key_value
from fourscore.core import ConfigError, Judge, Ranker, Rubric
from fourscore.integrations.agentjet_config import rubric_from_config, rubric_from_name
from fourscore.judges.rubric_file import read_rubric


def add_judge_arguments(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add `--judge`, `--rubric`, `--set` and `--judge-model`.

    `required`: one of the first two must be given.
    """
    choice = parser.add_mutually_exclusive_group(required=required)
    known = "math, countdown, …, module->Name or file.py->Name"
    choice.add_argument("--judge", metavar="NAME", help=f"score with this judge: {known}")
    choice.add_argument("--rubric", metavar="FILE", help="score with this rubric (a YAML file)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set an option of the judge, e.g. format_score=0.2; may be repeated",
    )
    add_judge_model_argument(parser)


def add_config_argument(parser: argparse.ArgumentParser) -> None:
    """Add CONFIG, a configuration file that names the judge."""
    text = "take the judge from this configuration file (AgentJet's or Fourscore's YAML)"
    parser.add_argument("config", nargs="?", metavar="CONFIG", help=text)


def is_judge_named(args: argparse.Namespace) -> bool:
    """Whether CONFIG, `--judge` or `--rubric` is given."""
    return bool(_list_sources(args))


def read_judge_arguments(args: argparse.Namespace) -> Rubric:
    """Return the rubric of CONFIG, `--judge` or `--rubric`; a judge becomes a rubric of one."""
    if len(_list_sources(args)) != 1:
        raise ConfigError("give one of: a CONFIG file, --judge NAME, --rubric FILE")
    if args.rubric is not None:
        return read_rubric_argument(args)
    if args.judge is not None:
        return Rubric.from_judge(load_judge(args))
    return rubric_from_config(args.config, read_judge_options(args))


def _list_sources(args: argparse.Namespace) -> list[str]:
    named = (getattr(args, "config", None), args.judge, args.rubric)
    return [value for value in named if value is not None]


def read_rubric_argument(args: argparse.Namespace) -> Rubric:
    """Return the rubric of `--rubric`; refuse options of judges, which belong in the file."""
    refuse_judge_options(args)
    return read_rubric(args.rubric, args.judge_model)


def refuse_judge_options(args: argparse.Namespace) -> None:
    """Refuse `--set` and `--base-url` where no single judge is named."""
    for flag in ("set", "base_url"):
        if getattr(args, flag, None):
            message = "use it with --judge only: a rubric file has the options of its judges"
            raise ConfigError(message, field=f"--{flag.replace('_', '-')}")


def load_judge(args: argparse.Namespace) -> Judge | Ranker:
    """Return the judge of `--judge` with its options."""
    check_judge_name(args.judge)
    return rubric_from_name(args.judge, read_judge_options(args)).dimensions[0].judge


def check_judge_name(name: str) -> None:
    """Refuse the name of a rubric where a judge's name is expected."""
    if Path(name).suffix in (".yaml", ".yml"):
        raise ConfigError(f"{name} is a rubric file: give it as --rubric", field="--judge")
    if name == "research":
        message = "this is a rubric: name one of its judges, or use fourscore run --agent recorded"
        raise ConfigError(f"{message} --cases FILE", field="--judge")


def read_judge_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `--set`, the model of `--judge-model`, the address of `--base-url`.

    A judge that is named by itself asks that model, also where it could do without one.
    """
    options = dict(parse_key_value(text, "--set") for text in args.set)
    if args.judge is not None and args.judge_model is not None:
        options.setdefault("model", args.judge_model)
    if base_url := getattr(args, "base_url", None):
        settings = options.get("settings") or {}
        if isinstance(settings, dict):  # else the judge refuses it
            options["settings"] = {**settings, "base_url": base_url}
    return options
