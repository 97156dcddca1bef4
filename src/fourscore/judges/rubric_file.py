"""Read rubrics: YAML files and mappings with dimensions, their judges, weights and gates.

A file may also hold the rubric's calibration, which `write_calibration` stores in it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError, Dimension, FunctionJudge, Judge, Rubric
from fourscore.core.extras import MissingExtraError, MissingExtras
from fourscore.formats.rubric_fields import RubricCalibration, RubricFile, RubricLine
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.formats.yaml_file import YamlDocument, parse_yaml, read_yaml_file, write_section
from fourscore.judges.loading import BUILT_IN, add_default_model, load_judge

#: The rubric for research answers, the default of `fourscore run`.
RESEARCH = str(Path(__file__).parent / "dimensions" / "research.yaml")
#: The rubric of the checks that cases bring along, the default where every case has some.
CHECKS = str(Path(__file__).parent / "checks" / "checks.yaml")


def read_rubric(path: str, model: str | None = None) -> Rubric:
    """Return the rubric in a YAML file; an error names the file, the line and the field.

    `model` is for judges that ask a model and name none.
    """
    document = read_yaml_file(path)
    try:
        spec = convert_value(document.value, RubricFile)
    except ConversionError as error:
        raise document.error(error.message, error.field or "") from None
    folder = str(Path(path).resolve().parent)
    dimensions, missing = [], MissingExtras()
    for name, dimension in spec.dimensions.items():
        with missing.collect():
            options = add_default_model(dimension.judge or name, dimension.options, model)
            line = msgspec.structs.replace(dimension, options=dict(options))
            dimensions.append(_make_dimension(document, name, line, folder))
    missing.raise_if_any()
    try:
        return Rubric(
            name=spec.name or Path(path).stem,
            dimensions=tuple(dimensions),
            pass_threshold=spec.pass_threshold,
            min_coverage=spec.min_coverage,
            inapplicable=spec.inapplicable,
        )
    except ConfigError as error:
        raise document.error(error.message, error.field or "") from None
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        raise document.error(message, field) from None


def _make_dimension(document: YamlDocument, name: str, spec: RubricLine, folder: str) -> Dimension:
    place = f"dimensions.{name}"
    try:
        judge = load_judge(spec.judge or name, None, spec.options, [folder])
        return Dimension(
            name=name,
            judge=judge,
            weight=spec.weight,
            gate=spec.gate,
            description=spec.description,
            levels=spec.levels,
        )
    except ConfigError as error:
        if error.file is not None or isinstance(error, MissingExtraError):
            raise
        field = (error.field or "judge").replace("judge_options", "with")
        raise document.error(error.message, f"{place}.{field}") from error
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        raise document.error(message, f"{place}.{field}") from None


def rubric_from_mapping(mapping: Mapping[str, Any], name: str = "rubric") -> Rubric:
    """Return the rubric that a mapping from dimension names to weight, judge and options states."""
    lines = mapping.items()
    return Rubric(name=name, dimensions=tuple(_mapped_dimension(*line) for line in lines))


def _mapped_dimension(name: str, config: Any) -> Dimension:
    if not isinstance(config, Mapping):
        message = f"expected a mapping with a weight, got {type(config).__name__}"
        raise ConfigError(message, field=name)
    return Dimension(
        name=name,
        judge=judge_from_mapping(name, config),
        weight=config.get("weight"),
        gate=config.get("gate"),
        description=config.get("description") or "",
        levels=config.get("levels") or {},
    )


def judge_from_mapping(name: str, config: Any) -> Judge:
    """Return the judge of one dimension: `judge`, else the built-in judge of the same name."""
    judge = config.get("judge") if isinstance(config, Mapping) else None
    if judge is None and name in BUILT_IN:
        judge = name
    if judge is None:
        message = "the dimension has no judge, and no built-in judge has its name; set `judge`"
        raise ConfigError(message, field=name)
    found: Judge
    if isinstance(judge, str):
        found = load_judge(judge, None, config.get("with") or {})
    else:
        found = judge if hasattr(judge, "judge") else FunctionJudge(judge, name=name)
    return found


def read_calibration(rubric: str) -> RubricCalibration | None:
    """Read the calibration in the text of a rubric's file; None if there is no valid one."""
    try:
        value = parse_yaml(rubric, "").value
        section = value.get("calibration") if isinstance(value, dict) else None
        return convert_value(section, RubricCalibration) if isinstance(section, dict) else None
    except (ConfigError, ConversionError):  # reading the rubric itself reports it
        return None


def write_calibration(path: str, calibration: RubricCalibration) -> None:
    """Write the calibration into the file of its rubric; no other byte of the file changes."""
    comment = "made by fourscore calibrate: how often people and this rubric agree"
    write_section(path, "calibration", msgspec.to_builtins(calibration), comment)
