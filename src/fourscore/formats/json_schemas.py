"""JSON Schemas of test sets, rubrics and configurations, for editors.

They are made from the types that the readers use, so that both accept the same files. The types of
a configuration belong to packages that `formats` does not import: they are passed in.
"""

from typing import Any

import msgspec

from fourscore.formats.case_fields import CaseFields
from fourscore.formats.rubric_fields import RubricFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def make_cases_schema() -> dict[str, Any]:
    """Return the schema of a test set: one case (JSONL), a list, or an object with `cases`."""
    (case,), parts = _components(CaseFields)
    cases = {"type": "array", "items": case}
    return {
        "$schema": DIALECT,
        "title": "Fourscore test set",
        "description": "A list of cases, an object with cases, or one case as a line of JSONL.",
        "anyOf": [
            cases,
            {"type": "object", "properties": {"cases": cases}, "required": ["cases"]},
            case,
        ],
        "$defs": parts,
    }


def make_rubric_schema() -> dict[str, Any]:
    """Return the schema of a rubric file."""
    (rubric,), parts = _components(RubricFile)
    return {"$schema": DIALECT, "title": "Fourscore rubric", **rubric, "$defs": parts}


def make_config_schema(
    task_judge: type[msgspec.Struct], run: type[msgspec.Struct]
) -> dict[str, Any]:
    """Return the schema of a configuration, with sections of the types given.

    `task_judge` may be under `fourscore` or `ajet`, `run` under `fourscore`; other sections are
    ignored.
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
    """Return the schema of each type, and of the types that they refer to, by name."""
    schemas, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    return tuple(_tidy(schema) for schema in schemas), _tidy(parts)


def _tidy(value: Any) -> Any:
    """Return a schema with docstrings on one line and tuples as lists."""
    if isinstance(value, dict):
        return {
            key: " ".join(item.split())
            if key == "description" and isinstance(item, str)
            else _tidy(item)
            for key, item in value.items()
        }
    return [_tidy(item) for item in value] if isinstance(value, list | tuple) else value
