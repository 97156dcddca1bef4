"""Verdicts out of replies. Whatever is not exactly one object that fits is refused."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core.frozen import FrozenDict
from fourscore.models.messages import ChatMessage, ModelError, Request
from fourscore.models.schema import check_schema, drop_extra_keys, find_mismatch
from fourscore.models.verdict import parse_verdict

SCORE = {"type": "integer", "minimum": 0, "maximum": 10}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "score": SCORE,
        "sure": {"type": "number", "minimum": 0, "maximum": 1},
        "label": {"type": ["string", "null"], "enum": ["good", "bad", None]},
        "flags": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
        "inner": {
            "type": "object",
            "properties": {"a": {"const": 1}},
            "required": ["a"],
            "additionalProperties": False,
        },
    },
    "required": ["score"],
    "additionalProperties": False,
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def refused(text: str, **how: Any) -> str:
    with pytest.raises(ModelError) as caught:
        parse_verdict(text, SCHEMA, **how)
    assert caught.value.kind == "malformed"
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 7}',
        '  \n{"score": 7}\n',
        '```json\n{"score": 7}\n```',
        '```\n{"score": 7}```\n',
        '{"score": 7, "sure": 1, "label": null, "flags": [true], "inner": {"a": 1}}',
    ],
)
def test_accepts_fitting_verdicts(text: str) -> None:
    value, extra_keys = parse_verdict(text, SCHEMA)
    assert value["score"] == 7
    assert type(value) is FrozenDict
    assert extra_keys == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("7", "not one JSON object"),
        ("I would say 7", "not one JSON object"),
        ('[{"score": 7}]', "not one JSON object"),
        ('"{\\"score\\": 7}"', "not one JSON object"),
        ('Sure: {"score": 7}', "not one JSON object"),
        ('{"score": 7} ok?', "goes on after"),
        ('{"score": 7}{"score": 7}', "goes on after"),
        ('```json\n{"score": 7}\n```\n```json\n{"score": 9}\n```', "goes on after"),
        ('```json\n{"score": 7}', "not one JSON object"),
        ('{"score": 7', "not JSON"),
        ('{"score": 7,}', "not JSON"),
        ("{'score': 7}", "not JSON"),
        ('{"score": 07}', "not JSON"),
        ('{"score": 1, "score": 9}', "more than once"),
        ('{"score": 1, "sc\\u006fre": 9}', "more than once"),
        ('{"score": 1, "inner": {"a": 1, "a": 1}}', "more than once"),
        ('{"score": NaN}', "NaN is not JSON"),
        ('{"score": -Infinity}', "Infinity is not JSON"),
        ('{"score": 1, "sure": 1e999}', "not a finite number"),
        ('{"score": %s}' % ("9" * 5000), "400 digits"),
        ('{"score": true}', "score is True, expected a whole number"),
        ('{"score": "7"}', "score is '7', expected a whole number"),
        ('{"score": 7.0}', "score is 7.0, expected a whole number"),
        ('{"score": null}', "expected a whole number"),
        ('{"score": 400}', "score is 400, outside [0, 10]"),
        ('{"score": -1}', "outside [0, 10]"),
        ("{}", "score is missing"),
        ('{"score": 1, "label": "Good"}', "label is 'Good', expected one of 'good', 'bad', None"),
        ('{"score": 1, "flags": []}', "flags has 0 items, expected 1 to 2"),
        ('{"score": 1, "flags": [true, true, true]}', "3 items"),
        ('{"score": 1, "flags": [1]}', "flags[0] is 1, expected true or false"),
        ('{"score": 1, "inner": {"a": true}}', "inner.a is True, expected 1"),
        ('{"score": 1, "inner": {}}', "inner.a is missing"),
        ('{"a":' * 50_000, "too deep"),
        ('{"score": 1, "inner": ' + '{"a":' * 90 + "1" + "}" * 91, "inner.a"),
        ("x" * ((1 << 20) + 1), "longer than"),
    ],
)
def test_refuses_replies_that_are_no_verdict(text: str, why: str) -> None:
    assert why in refused(text)
    assert len(refused(text)) < 600


@pytest.mark.parametrize(
    ("text", "value", "extra_keys"),
    [
        ('{"score": 1, "more": 2}', {"score": 1}, 1),
        ('{"Score": 9, "score": 1, "score ": 9}', {"score": 1}, 2),
        (
            '{"score": 1, "inner": {"a": 1, "b": {"c": 1}}, "d": {"score": 9}}',
            {"inner": {"a": 1}},
            2,
        ),
    ],
)
def test_keys_not_asked_for_are_dropped_and_counted(
    text: str, value: dict[str, Any], extra_keys: int
) -> None:
    assert parse_verdict(text, SCHEMA) == ({"score": 1} | value, extra_keys)
    assert parse_verdict(f"So: {text}", SCHEMA, prose=True).extra_keys == extra_keys


@given(value=JSON)
def test_dropping_extra_keys_leaves_none_and_changes_nothing_else(value: Any) -> None:
    kept, dropped = drop_extra_keys(value, SCHEMA)
    assert drop_extra_keys(kept, SCHEMA) == (kept, 0)
    assert "was not asked for" not in (find_mismatch(kept, SCHEMA) or "")
    if not dropped:
        assert kept == value


def test_error_names_the_model_and_shows_the_beginning_of_the_reply() -> None:
    long = "I would rather not say. \x1b[31m" * 20
    with pytest.raises(ModelError) as caught:
        parse_verdict(long, SCHEMA, model="small")
    message = str(caught.value)
    assert message.startswith(
        "small: the reply is no verdict: it is not one JSON object and nothing else; it began: "
        "'I would rather not say. \\x1b[31m"
    )
    assert len(message) < 300
    assert refused(" ") == "the reply is no verdict: it is empty"


def test_refuses_truncated_reply() -> None:
    with pytest.raises(ModelError, match="cut off") as caught:
        parse_verdict('{"score": 7}', SCHEMA, truncated=True)
    assert not caught.value.transient


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('The set {1, 2} is fine, so: {"score": 7}. Done.', 7),
        ('First I think.\n```json\n{"score": 7}\n```\nThat is all.', 7),
        ('\\frac{1}{2} {x} {"score": 3}', 3),
        ('{"score": 5}', 5),
    ],
)
def test_accepts_prose_around_one_object(text: str, score: int) -> None:
    assert parse_verdict(text, SCHEMA, prose=True).value == {"score": score}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('The answer says {"score": 10}, but I say {"score": 1}', "more than one"),
        ('{"score": 1 oh wait {"score": 10}', "not JSON"),  # the broken one may be the verdict
        ('{"score": 1} {}', "more than one"),
        ("I give it 7 of 10", "it has no JSON object"),
        ('so {"score": 7', "not JSON"),
    ],
)
def test_refuses_ambiguous_prose(text: str, why: str) -> None:
    assert why in refused(text, prose=True)


@pytest.mark.parametrize("hostile", ["{", '{"a":', "{ ", '{"', "[{", "```\n", "{1}", '{"a":1}'])
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    """Anything quadratic would take hours here."""
    text = hostile * (900_000 // len(hostile))
    refused(text)
    refused(text, prose=True)


@given(score=st.integers(), extra=st.dictionaries(st.text(min_size=1), JSON, max_size=2))
def test_accepted_value_is_complete_and_in_range(score: int, extra: dict[str, Any]) -> None:
    text = json.dumps({"score": score, **extra})
    try:
        value = parse_verdict(text, SCHEMA).value
    except ModelError:
        assert not 0 <= score <= 10 or extra.keys() & SCHEMA["properties"].keys()
    else:
        assert type(value["score"]) is int
        assert 0 <= value["score"] <= 10
        assert set(value) <= set(SCHEMA["properties"])


@given(value=JSON)
def test_accepts_only_fitting_objects(value: Any) -> None:
    fits = (
        isinstance(value, dict) and find_mismatch(drop_extra_keys(value, SCHEMA)[0], SCHEMA) is None
    )
    try:
        parse_verdict(json.dumps(value), SCHEMA)
        assert fits
    except ModelError:
        assert not fits


@given(text=st.text(), prose=st.booleans())
def test_any_text_gives_a_verdict_or_a_model_error(text: str, prose: bool) -> None:
    with suppress(ModelError):
        assert isinstance(parse_verdict(text, SCHEMA, prose=prose).value, dict)


@given(before=st.text(), after=st.text(), score=st.integers(0, 10))
def test_surrounding_text_never_changes_the_verdict(before: str, after: str, score: int) -> None:
    text = f'{before}{{"score": {score}}}{after}'
    for prose in (False, True):
        with suppress(ModelError):
            assert parse_verdict(text, SCHEMA, prose=prose).value == {"score": score}


@given(first=st.integers(0, 10), second=st.integers(0, 10), between=st.text())
def test_refuses_two_objects(first: int, second: int, between: str) -> None:
    text = f'{{"score": {first}}}{between}{{"score": {second}}}'
    refused(text)
    refused(text, prose=True)


@given(score=st.integers(0, 10), cut=st.integers(1, 40))
def test_refuses_cut_off_objects(score: int, cut: int) -> None:
    text = json.dumps({"score": score, "sure": 0.25, "label": "good"})
    refused(text[: -min(cut, len(text) - 1)])


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "array"}, "expected type: object"),
        ({"type": "object", "patternProperties": {}}, "patternProperties: not checked here"),
        ({"type": "object", "properties": {"a": {"pattern": "x"}}}, "schema.a: pattern"),
        ({"type": "object", "properties": {"a": {"type": "int"}}}, "'int' is none of"),
        ({"type": "object", "properties": {"a": {"items": {"anyOf": []}}}}, "schema.a[]: anyOf"),
        ({"type": "object", "required": "a"}, "schema.required"),
        ({"type": "object", "properties": {"a": {"minimum": "0"}}}, "schema.a.minimum"),
        ({"type": "object", "properties": {"a": True}}, "expected an object"),
        ({"type": "object", "properties": {"a": {"enum": []}}}, "schema.a.enum"),
    ],
)
def test_refuses_schema_with_unchecked_words(schema: Any, why: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        Request(messages=(ChatMessage("user", "?"),), schema=schema)
    assert why in str(caught.value)


def test_accepts_the_schema_of_this_file() -> None:
    check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"messages": ()}, "expected at least one"),
        ({"messages": ("hi",)}, "wrong type"),
        ({"temperature": float("nan")}, "finite"),
        ({"temperature": -1}, "outside"),
        ({"max_tokens": 0}, "outside"),
        ({"logprobs": 1.5}, "whole number"),
        ({"salt": 7}, "expected text"),
    ],
)
def test_refuses_malformed_requests(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Request(**{"messages": (ChatMessage("user", "?"),), **fields})
    with pytest.raises(ValueError, match="role"):
        ChatMessage("robot", "?")  # type: ignore[arg-type]


def test_digest_identifies_the_request() -> None:
    def digest_request(**fields: Any) -> str:
        return Request(**{"messages": (ChatMessage("user", "?"),), **fields}).digest

    two = {"a": {"type": "string"}, "b": {"type": "string"}}
    turned = dict(reversed(two.items()))
    different = {
        digest_request(),
        digest_request(messages=(ChatMessage("system", "?"),)),
        digest_request(salt="1"),
        digest_request(temperature=1),
        digest_request(seed=0),
        digest_request(schema={"type": "object", "properties": two}),
        digest_request(schema={"type": "object", "properties": turned}),  # written in another order
    }
    assert len(different) == 7
    assert digest_request(temperature=0) == digest_request(temperature=0.0) == digest_request()
