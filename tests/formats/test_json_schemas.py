"""The schemas that editors use agree with what the readers accept."""

import json
from typing import Any, Literal

import msgspec
import pytest

from fourscore.core import DataError
from fourscore.formats.case_fields import FIELDS, parse_case
from fourscore.formats.json_schemas import make_cases_schema, make_config_schema, make_rubric_schema
from fourscore.formats.rubric_fields import RubricFile
from fourscore.formats.validation import explain_error
from fourscore.formats.yaml_file import parse_yaml

jsonschema = pytest.importorskip("jsonschema")


class Grader(msgspec.Struct, forbid_unknown_fields=True):
    """A part of a section."""

    model_name: str


class Section(msgspec.Struct, forbid_unknown_fields=True):
    """A section as a configuration has it."""

    judge_protocol: str | None = None
    kind: Literal["one", "two"] = "one"
    grader: Grader | None = None


class RunSection(msgspec.Struct, forbid_unknown_fields=True):
    """Another section."""

    cases: str


def accepts(schema: dict[str, Any], value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@pytest.mark.parametrize(
    "schema", [make_cases_schema(), make_rubric_schema(), make_config_schema(Section, RunSection)]
)
def test_schemas_are_valid_json_schemas(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema, allow_nan=False)) == schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


CASES: list[tuple[Any, bool]] = [
    ({"input": "x"}, True),
    ({"input": None, "id": 7, "more": [1]}, True),
    ({"input": {"a": 1}, "expected": 4.5, "tags": ["a"], "complexity": "mine"}, True),
    ({"input": 1, "expected": {"answer": [1], "claims": [{"text": "a"}], "mine": 1}}, True),
    ({"input": 1, "expected": {"tools": {"expected": ["f", {"name": "g"}], "max_calls": 2}}}, True),
    ({"input": 1, "id": None, "tags": None, "metadata": None, "complexity": None}, True),
    ({}, False),
    ({"inputs": "x"}, False),
    ({"input": 1, "id": [1]}, False),
    ({"input": 1, "tags": "a"}, False),
    ({"input": 1, "tags": [1]}, False),
    ({"input": 1, "metadata": 1}, False),
    ({"input": 1, "complexity": 1}, False),
    ({"input": 1, "expected": {"claims": ["a"]}}, False),
    ({"input": 1, "expected": {"claims": [{"text": "a", "weight": -1}]}}, False),
    ({"input": 1, "expected": {"sources": [{"url": 1}]}}, False),
    ({"input": 1, "expected": {"tools": {"max_calls": -1}}}, False),
]


@pytest.mark.parametrize(("case", "good"), CASES)
def test_the_reader_and_the_schema_of_cases_agree(case: Any, good: bool) -> None:
    schema = make_cases_schema()
    for form in (case, [{"input": 1}, case], {"name": "set", "cases": [case]}):
        assert accepts(schema, form) is good
    if good:
        parse_case(case)
    else:
        with pytest.raises(DataError):
            parse_case(case)


def test_every_field_of_a_case_is_described() -> None:
    fields = make_cases_schema()["$defs"]["CaseFields"]["properties"]
    assert set(fields) == set(FIELDS)
    assert all(field["description"] for field in fields.values())


RUBRICS = [
    ("dimensions: {math: {judge: math}}", True),
    (
        """
name: research
pass_threshold: 0.7
dimensions:
  factual_accuracy: {weight: 0.3, judge: a, description: b, levels: {good: 0.8}}
  style: {weight: 0, judge: checks.py->s, with: {strict: true}, gate: 0.5}
""",
        True,
    ),
    ("dimensions: {}", False),
    ("name: x", False),
    ("dimensions: {a: {judge: 1}}", False),
    ("dimensions: {a: {judge: x, weight: -1}}", False),
    ("dimensions: {a: {judge: x, gate: 2}}", False),
    ("dimensions: {a: {judge: x, wieght: 1}}", False),
    ("dimensions: {a: {judge: x}}\ninapplicable: one", False),
    ("dimensions: {a: {judge: x}}\nmin_coverage: 2", False),
]


@pytest.mark.parametrize(("text", "good"), RUBRICS)
def test_the_type_and_the_schema_of_rubrics_agree(text: str, good: bool) -> None:
    value = parse_yaml(text, "r.yaml").value
    assert accepts(make_rubric_schema(), value) is good
    if good:
        rubric = msgspec.convert(value, RubricFile)
        assert list(rubric.dimensions) == list(value["dimensions"])
    else:
        with pytest.raises(msgspec.ValidationError) as caught:
            msgspec.convert(value, RubricFile)
        assert explain_error(caught.value)[0]


def test_options_of_a_judge_are_under_with() -> None:
    rubric = msgspec.convert({"dimensions": {"a": {"judge": "x", "with": {"k": 1}}}}, RubricFile)
    assert rubric.dimensions["a"].options == {"k": 1}


@pytest.mark.parametrize(
    ("config", "good"),
    [
        ({"fourscore": {"task_judge": {"judge_protocol": "math"}}}, True),
        ({"ajet": {"task_judge": {}, "trainer": {"anything": 1}}, "other": 1}, True),
        ({"ajet": {"task_judge": {"grader": {"model_name": "m"}}}}, True),
        ({"ajet": {"task_judge": {"grader": {}}}}, False),
        ({"fourscore": {"run": {"cases": "c.jsonl"}, "monitor": {}}}, True),
        ({"fourscore": {"run": {"casse": "c.jsonl"}}}, False),
        ({"ajet": {"run": {"cases": "c.jsonl"}}}, False),
        ({"ajet": {}}, False),
        ({}, False),
        ({"ajet": {"task_judge": {}}, "fourscore": {"task_judge": {}}}, False),
        ({"fourscore": {"task_judge": {"judge_protocl": "math"}}}, False),
        ({"fourscore": {"task_judge": {"kind": "three"}}}, False),
    ],
)
def test_configuration_schema_checks_only_our_sections(config: Any, good: bool) -> None:
    assert accepts(make_config_schema(Section, RunSection), config) is good
