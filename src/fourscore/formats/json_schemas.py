"""JSON schemas of the files that people write, for their editors.

They are made from the types that the readers use, so they cannot promise what is then refused. The
types of a configuration live behind the doors, which this room does not import: they are passed in.
"""

from typing import Any

import msgspec

from fourscore.formats.case_fields import CaseFields
from fourscore.formats.rubric_fields import RubricFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def make_cases_schema() -> dict[str, Any]:
    """A test set: one case (a line of JSONL), a list of them, or an object with `cases`."""
    (case,), parts = _components(CaseFields)
    several = {"type": "array", "items": case}
    return {
        "$schema": DIALECT,
        "title": "Fourscore test set",
        "description": "A list of cases, an object with cases, or one case as a line of JSONL.",
        "anyOf": [
            several,
            {"type": "object", "properties": {"cases": several}, "required": ["cases"]},
            case,
        ],
        "$defs": parts,
    }


def make_rubric_schema() -> dict[str, Any]:
    """A rubric file."""
    (rubric,), parts = _components(RubricFile)
    return {"$schema": DIALECT, "title": "Fourscore rubric", **rubric, "$defs": parts}


def make_config_schema(
    task_judge: type[msgspec.Struct], run: type[msgspec.Struct]
) -> dict[str, Any]:
    """A configuration: `task_judge` under `fourscore` or `ajet`, or `run` under `fourscore`.

    Which keys a section takes is for its own type to say; other sections are left alone.
    """
    (judge_section, run_section), parts = _components(task_judge, run)
    judge, tests = {"task_judge": judge_section}, {"run": run_section}
    ours = {
        "type": "object",
        "properties": judge | tests,
        "anyOf": [{"required": ["task_judge"]}, {"required": ["run"]}],
    }
    ajet = {"type": "object", "properties": judge, "required": ["task_judge"]}
    return {
        "$schema": DIALECT,
        "title": "Fourscore configuration",
        "type": "object",
        "properties": {"fourscore": ours, "ajet": ajet},
        "oneOf": [{"required": ["fourscore"]}, {"required": ["ajet"]}],
        "$defs": parts,
    }


def _components(*kinds: type[msgspec.Struct]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """The schema of each type, and of those they are made of, in plain JSON values with tidy texts."""
    shown, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    return tuple(_tidy(schema) for schema in shown), _tidy(parts)


def _tidy(value: Any) -> Any:
    """Docstrings without their line ends and indentation; tuples as lists."""
    if isinstance(value, dict):
        return {
            key: " ".join(item.split())
            if key == "description" and isinstance(item, str)
            else _tidy(item)
            for key, item in value.items()
        }
    return [_tidy(item) for item in value] if isinstance(value, list | tuple) else value
