"""Our schema check beside the library's own, on random documents and schemas."""

import json
import random
from typing import Any

import jsonschema
import pytest

from fourscore.judges.checks.documents import DocumentError
from fourscore.judges.checks.json_check import check_schema

SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "required": ["a"], "additionalProperties": False, "properties": {"a": {}}},
    {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    {"type": "array", "uniqueItems": True, "items": {"type": ["integer", "string"]}, "maxItems": 3},
    {"type": "object", "properties": {"a": {"multipleOf": 2}, "b": {"pattern": "^[ab]+$"}}},
    {
        "$defs": {
            "t": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/t"}}]}
        },
        "$ref": "#/$defs/t",
    },
    {"$defs": {"x": {"minimum": 1}}, "oneOf": [{"$ref": "#/$defs/x"}, {"type": "number"}]},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "propertyNames": {"maxLength": 2}},
]


def make_document(source: random.Random, depth: int = 0) -> Any:
    kind = source.randrange(4 if depth > 2 else 6)
    if kind == 4:
        return [make_document(source, depth + 1) for _ in range(source.randrange(4))]
    if kind == 5:
        keys = source.sample(["a", "b", "ab", "c", "abc"], source.randrange(4))
        return {key: make_document(source, depth + 1) for key in keys}
    return [source.randrange(5), source.choice(["a", "ab", "xyz"]), None, True][kind]


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_agrees_with_the_library(schema: dict[str, Any]) -> None:
    source = random.Random(3)
    reference = jsonschema.Draft202012Validator(schema)
    seen = set()
    for _ in range(500):
        document = make_document(source)
        try:
            check_schema(document, json.dumps(schema))
            fits = True
        except DocumentError:
            fits = False
        assert fits is reference.is_valid(document), document
        seen.add(fits)
    assert seen == {True, False}
