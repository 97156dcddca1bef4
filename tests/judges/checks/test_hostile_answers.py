"""What an outside tester sent: documents that took exponential time, raised, or passed wrongly."""

import json
from typing import Any

import pytest

from fourscore import Case, Signal, Trace
from fourscore.core import ConfigError
from fourscore.judges.checks.case_checks import make_check


def measure(entry: dict[str, Any], answer: str) -> Signal:
    check = make_check(next(iter(entry)), json.dumps(entry))
    return check.measure(Case(input="?"), Trace(output=answer))


def make_node(operator: str) -> dict[str, Any]:
    properties = {"op": {"const": operator}, "arg": {"$ref": "#/$defs/e"}}
    return {"type": "object", "properties": properties, "required": ["op", "arg"]}


TREE = {
    "$defs": {"e": {"anyOf": [*map(make_node, ("abs", "not", "neg")), {"type": "number"}]}},
    "$ref": "#/$defs/e",
}


@pytest.mark.parametrize(("leaf", "passed"), [("1", True), ('"x"', False)])
def test_a_recursive_schema_reads_each_value_once(leaf: str, passed: bool) -> None:
    depth = 40  # 3^40 steps, if each alternative went its own way
    answer = '{"op": "neg", "arg": ' * depth + leaf + "}" * depth
    assert measure({"json": TREE}, answer).passed is passed


def test_definitions_that_lead_twice_to_the_next_take_one_step_each() -> None:
    chain: dict[str, Any] = {
        f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]}
        for i in range(40)
    }
    schema = {"$defs": {**chain, "d40": {"type": "number"}}, "$ref": "#/$defs/d0"}
    assert measure({"json": schema}, "1").passed
    assert not measure({"json": schema}, '"x"').passed


@pytest.mark.parametrize(
    "ref", ["http://127.0.0.1:9/x", "file:///etc/passwd", "other.json", "#/nope"]
)
def test_a_reference_out_of_the_schema_is_refused_before_the_run(ref: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_check("json", json.dumps({"json": {"properties": {"a": {"$ref": ref}}}}))
    assert caught.value.field == "schema.$ref"


@pytest.mark.parametrize(
    ("entry", "answer", "passed"),
    [
        ({"json": {"multipleOf": 0.01}}, "1e999", False),
        ({"json": {"multipleOf": 0.5}}, "9" * 4000, True),
        ({"json": {"multipleOf": 0.01}}, "19.99", True),
        ({"json": {"multipleOf": 0.1}}, "0.35", False),
        ({"xml": "a"}, "<?xml version='1.0' encoding='gb2312'?><a>中</a>", True),
        ({"xml": "a"}, "<?xml version='1.0' encoding='nonsense'?><a>", False),
        ({"rouge": "привет мир"}, "привет мир", True),
        ({"rouge": "café"}, "caf", False),
        ({"equals_ignoring": "-5"}, "5", False),
        ({"equals_ignoring": "3.14"}, "314", False),
        ({"equals_ignoring": "3.14"}, "3.14.", True),
        ({"equals_ignoring": "?!"}, "", False),
        ({"language": "zh"}, "我們建議您先更新軟體，然後重新啟動電腦。", True),
        ({"language": "de"}, "Das ist ein Beispiel:\n```python\nfor i in x: print(i)\n```\n", True),
    ],
    ids=str,
)
def test_answers_of_an_outside_tester(entry: dict[str, Any], answer: str, passed: bool) -> None:
    assert measure(entry, answer).passed is passed


@pytest.mark.parametrize(
    "prose",
    [
        *("Show me the money", "create a table for users", "delete everything", "explain this"),
        *("set it up", "use it", "call me", "DROP THE TABLE users please", "SELECT"),
    ],
)
def test_prose_is_no_sql(prose: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert measure({"sql": True}, prose).passed is False
    assert tuple(capfd.readouterr()) == ("", "")


def test_a_schema_that_nothing_fits_and_limits_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match="expected a JSON Schema, or true"):
        make_check("json", '{"json": false}')
    with pytest.raises(ConfigError, match="above max"):
        make_check("length", '{"length": 5, "min": 9}')


def test_sql_that_takes_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourscore.judges.checks.sql.SECONDS", 1.0)
    found = measure({"sql": True}, "SELECT " + "STRUCT(" * 60 + "1" + ")" * 60)
    assert (found.passed, found.reason) == (False, "it could not be parsed within 1 s")
    assert measure({"sql": True}, "SELECT 1").passed  # the next answer has a worker again


@pytest.mark.parametrize("wanted", [False, {"type": "string"}])
def test_names_of_properties_are_matched_in_linear_time(wanted: object) -> None:
    schema = {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": wanted}
    assert measure({"json": schema}, json.dumps({"a" * 100_000 + "b": 1})).passed is False
    assert measure({"json": schema}, json.dumps({"a" * 100_000: 1})).passed
    with pytest.raises(ConfigError, match="is not supported"):
        make_check("json", json.dumps({"json": {**schema, "unevaluatedProperties": False}}))


def test_data_in_a_schema_is_no_schema() -> None:
    schema = {"const": {"pattern": "(?=x)", "$ref": "http://x"}}
    assert measure({"json": schema}, json.dumps(schema["const"])).passed


def test_a_reference_to_itself_ends() -> None:
    assert measure({"json": {"$ref": "#"}}, "[1]").passed
