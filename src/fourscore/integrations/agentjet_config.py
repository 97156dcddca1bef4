"""Read the judge of a configuration file: AgentJet's YAML as it is, or the same under `fourscore:`.

Everything inside `task_judge` is checked; AgentJet's other sections are ignored.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError, Dimension, Judge, Ranker, Rubric, suggest_known
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.formats.yaml_file import YamlDocument, read_yaml_file
from fourscore.judges.loading import load_judge
from fourscore.labels.auto_grader_config import AutoGraderSection

ROOTS = ("ajet", "fourscore")


class TaskJudge(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The section `task_judge`. The `alien_llm_…` keys are for custom judges."""

    judge_type: Literal["customized_protocol", "rubrics_auto_grader"] = "customized_protocol"
    judge_protocol: str | None = None
    judge_options: dict[str, Any] | None = None
    alien_llm_model: str | None = None
    alien_llm_response_length: int | None = None
    rubrics_auto_grader: AutoGraderSection | None = None


class Settings(dict[str, Any]):
    """The whole configuration with attributes, as AgentJet's judges read it: `config.ajet.…`."""

    def __getattr__(self, name: str) -> Any:
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(name) from None
        return Settings(value) if isinstance(value, Mapping) else value


def rubric_from_config(path: str, overrides: Mapping[str, object] | None = None) -> Rubric:
    """Return the judge of a configuration file as a rubric of one judge."""
    document = read_yaml_file(path)
    root = _find_root(document)
    task_judge = _read_task_judge(document, root)
    options = {**(task_judge.judge_options or {}), **(overrides or {})}
    document.value[root]["task_judge"]["judge_options"] = options
    folder = str(Path(path).resolve().parent)
    if task_judge.judge_type == "rubrics_auto_grader":
        return _load_auto_grader(
            document, f"{root}.task_judge.rubrics_auto_grader", task_judge, folder
        )
    protocol = task_judge.judge_protocol or ""
    try:
        judge = load_judge(protocol, Settings(document.value), options, [folder])
    except ConfigError as error:
        if error.file is not None:
            raise
        inner = "judge_protocol" if error.field is None else error.field
        raise document.error(error.message, f"{root}.task_judge.{inner}") from error
    return Rubric.from_judge(judge)


def _load_auto_grader(
    document: YamlDocument, place: str, task_judge: TaskJudge, folder: str
) -> Rubric:
    from fourscore.labels.auto_grader import make_grader  # heavy: only where it is used

    section = task_judge.rubrics_auto_grader
    assert section is not None
    if task_judge.judge_options:
        message = "an auto grader's options belong in the section rubrics_auto_grader"
        raise document.error(message, f"{place.rpartition('.')[0]}.judge_options")
    try:
        judge: Any = make_grader(section, [folder])
    except ConfigError as error:
        raise document.error(error.message, f"{place}.{error.field or ''}".rstrip(".")) from None
    except ValueError as error:
        raise document.error(str(error), place) from None
    dimension = Dimension(name=section.grader_name, judge=judge)
    return Rubric(
        name=section.grader_name, dimensions=(dimension,), pass_threshold=section.success_threshold
    )


def rubric_from_name(protocol: str, options: Mapping[str, object]) -> Rubric:
    """Return a judge that is named by its protocol string as a rubric of one judge."""
    section = {"judge_protocol": protocol, "judge_options": dict(options)}
    judge: Judge | Ranker = load_judge(
        protocol, Settings({"fourscore": {"task_judge": section}}), options
    )
    return Rubric.from_judge(judge)


def _find_root(document: YamlDocument) -> str:
    value = document.value
    found = [root for root in ROOTS if isinstance(value, dict) and root in value]
    if len(found) != 1:
        if not found and isinstance(value, dict) and "dimensions" in value:
            message = "this is a rubric's file, not a configuration: give it as --rubric"
            raise document.error(message, "dimensions")
        wanted = "one of ajet: and fourscore:" if found else "a section ajet: or fourscore:"
        raise document.error(f"expected {wanted} at the top")
    root = found[0]
    if not isinstance(value[root], dict) or "task_judge" not in value[root]:
        hint = suggest_known("task_judge", value[root]) if isinstance(value[root], dict) else ""
        raise document.error(f"it has no task_judge section; {hint}".rstrip("; "), root)
    return root


def _read_task_judge(document: YamlDocument, root: str) -> TaskJudge:
    place = f"{root}.task_judge"
    try:
        task_judge = convert_value(document.value[root]["task_judge"], TaskJudge)
    except ConversionError as error:
        field = f"{place}.{error.field}" if error.field else place
        raise document.error(error.message, field) from None
    if task_judge.judge_type == "customized_protocol":
        if not task_judge.judge_protocol:
            raise document.error("customized_protocol needs a judge_protocol", place)
    elif task_judge.rubrics_auto_grader is None:
        raise document.error("rubrics_auto_grader needs a section of that name", place)
    if task_judge.rubrics_auto_grader is not None:
        _check_auto_grader(document, task_judge.rubrics_auto_grader, f"{place}.rubrics_auto_grader")
    return task_judge


def _check_auto_grader(document: YamlDocument, grader: AutoGraderSection, place: str) -> None:
    try:
        grader.check()
    except ConfigError as error:
        raise document.error(error.message, f"{place}.{error.field}") from None
