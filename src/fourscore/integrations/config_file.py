"""Configuration files: AgentJet's YAML as it is, and the same under `fourscore:`.

Everything inside `task_judge` is checked; AgentJet's other sections are left alone.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError, Dimension, Judge, Ranker, Rubric, suggest_known
from fourscore.formats.conversion import ConversionError, converted
from fourscore.formats.document import Document, parse_document, read_document
from fourscore.judges.loading import load
from fourscore.labels.auto_grader_config import AutoGrader

ROOTS = ("ajet", "fourscore")


class TaskJudge(msgspec.Struct, forbid_unknown_fields=True):
    """`task_judge`: which judge, and its options. The `alien_llm_…` keys are for custom judges."""

    judge_type: Literal["customized_protocol", "rubrics_auto_grader"] = "customized_protocol"
    judge_protocol: str | None = None
    judge_options: dict[str, Any] | None = None
    alien_llm_model: str | None = None
    alien_llm_response_length: int | None = None
    rubrics_auto_grader: AutoGrader | None = None


class Settings(dict[str, Any]):
    """The whole configuration as AgentJet's judges read it: `config.ajet.task_judge.…`."""

    def __getattr__(self, name: str) -> Any:
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(name) from None
        return Settings(value) if isinstance(value, Mapping) else value


def rubric_from_config(path: str, overrides: Mapping[str, Any] | None = None) -> Rubric:
    """The judge of a configuration file as a rubric of one."""
    document = read_document(path)
    root = _root(document)
    task_judge = _task_judge(document, root)
    options = {**(task_judge.judge_options or {}), **(overrides or {})}
    document.value[root]["task_judge"]["judge_options"] = options
    folder = str(Path(path).resolve().parent)
    if task_judge.judge_type == "rubrics_auto_grader":
        return _auto_grader(document, f"{root}.task_judge.rubrics_auto_grader", task_judge, folder)
    protocol = task_judge.judge_protocol or ""
    try:
        judge = load(protocol, Settings(document.value), options, [folder])
    except ConfigError as error:
        if error.file is not None:
            raise
        inner = "judge_protocol" if error.field is None else error.field
        raise document.error(error.message, f"{root}.task_judge.{inner}") from error
    return Rubric.from_judge(judge)


def _auto_grader(document: Document, place: str, task_judge: TaskJudge, folder: str) -> Rubric:
    from fourscore.labels.auto_grader import grader_of  # asks models: only where it is named

    section = task_judge.rubrics_auto_grader
    assert section is not None
    if task_judge.judge_options:
        message = "an auto grader takes its options in its own section"
        raise document.error(message, f"{place.rpartition('.')[0]}.judge_options")
    try:
        judge: Any = grader_of(section, [folder])
    except ConfigError as error:
        raise document.error(error.message, f"{place}.{error.field or ''}".rstrip(".")) from None
    except ValueError as error:
        raise document.error(str(error), place) from None
    line = Dimension(name=section.grader_name, judge=judge)
    return Rubric(
        name=section.grader_name, dimensions=(line,), pass_threshold=section.success_threshold
    )


def rubric_from_name(protocol: str, options: Mapping[str, Any]) -> Rubric:
    """A judge named on the command line as a rubric of one."""
    section = {"judge_protocol": protocol, "judge_options": dict(options)}
    judge: Judge | Ranker = load(
        protocol, Settings({"fourscore": {"task_judge": section}}), options
    )
    return Rubric.from_judge(judge)


def add_judge_arguments(parser: argparse.ArgumentParser) -> None:
    """What a command takes that can be told a judge in two ways."""
    parser.add_argument(
        "config", nargs="?", metavar="CONFIG", help="AgentJet's or Fourscore's YAML"
    )
    parser.add_argument(
        "--judge", metavar="NAME", help="math, countdown, module->Name, file.py->Name"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the judge, e.g. format_score=0.2",
    )


def rubric_from_options(config: str | None, judge: str | None, settings: list[str]) -> Rubric:
    """The rubric of a command that takes a CONFIG or `--judge`, with `--set` over either."""
    options = dict(parse_option(text) for text in settings)
    if (config is None) == (judge is None):
        raise ConfigError("give either a CONFIG file or --judge NAME")
    if config is not None:
        return rubric_from_config(config, options)
    if judge == "research" or Path(judge or "").suffix in (".yaml", ".yml"):
        raise ConfigError(_rubric_told(judge if judge != "research" else None), field="--judge")
    return rubric_from_name(judge or "", options)


def _rubric_told(file: str | None) -> str:
    """What to do with a rubric where one judge is wanted; None is the rubric that ships."""
    told = f"fourscore run{f' --rubric {file}' if file else ''} --agent recorded --cases FILE"
    return f"it is a rubric, and a judge is wanted: name one of its judges, or use {told}"


def parse_option(text: str, option: str = "--set") -> tuple[str, Any]:
    """`key=value` of an option; the value is read as YAML, so 0.2 is a number."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"{text!r}: expected key=value", field=option)
    return key.strip(), parse_document(value, option).value


def _root(document: Document) -> str:
    value = document.value
    found = [root for root in ROOTS if isinstance(value, dict) and root in value]
    if len(found) != 1:
        if not found and isinstance(value, dict) and "dimensions" in value:
            raise document.error(_rubric_told(document.file), "dimensions")
        wanted = "one of ajet: and fourscore:" if found else "a section ajet: or fourscore:"
        raise document.error(f"expected {wanted} at the top")
    root = found[0]
    if not isinstance(value[root], dict) or "task_judge" not in value[root]:
        hint = suggest_known("task_judge", value[root]) if isinstance(value[root], dict) else ""
        raise document.error(f"it has no task_judge section; {hint}".rstrip("; "), root)
    return root


def _task_judge(document: Document, root: str) -> TaskJudge:
    place = f"{root}.task_judge"
    try:
        task_judge = converted(document.value[root]["task_judge"], TaskJudge)
    except ConversionError as error:
        field = f"{place}.{error.field}" if error.field else place
        raise document.error(error.message, field) from None
    if task_judge.judge_type == "customized_protocol":
        if not task_judge.judge_protocol:
            raise document.error("customized_protocol needs a judge_protocol", place)
    elif task_judge.rubrics_auto_grader is None:
        raise document.error("rubrics_auto_grader needs a section of that name", place)
    if task_judge.rubrics_auto_grader is not None:
        _check_grader(document, task_judge.rubrics_auto_grader, f"{place}.rubrics_auto_grader")
    return task_judge


def _check_grader(document: Document, grader: AutoGrader, place: str) -> None:
    try:
        grader.check()
    except ConfigError as error:
        raise document.error(error.message, f"{place}.{error.field}") from None
