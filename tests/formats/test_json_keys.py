"""Keys that an object of a JSON text has twice are found, however they are written."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import DataError
from fourscore.formats.json_keys import are_lines_sound, check_undecoded, find_repeated_key


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('{"a": 1, "a": 2}', "a", 1),
        ('{"a":1,"\\u0061":1}', "a", 1),
        ('{\n "a": {"b": [0, {"c": 1,\n "c": 1}]}}', "a.b[1].c", 3),
        ('[{"a": "x:y"}, {"k\\"": 1, "k\\"" : 2}]', '[1].k"', 1),
        ('{"": 1, "": 1}', "", 1),
        # An escaped colon makes up for the one that the decoder dropped with the key.
        ('{"a": "\\u003a", "b": 1, "b": 2}', "b", 1),
        # Both keys are read as the same replacement character.
        ('{"\\ud800": 1, "\\udfff": 2}', "\ufffd", 1),
        ('{"\\ufffd": 1, "\\ud800": 2}', "\ufffd", 1),
    ],
)
def test_repeated_key_is_refused_with_its_path(text: str, path: str, line: int) -> None:
    with pytest.raises(DataError) as caught:
        check_undecoded(text.encode())
    assert caught.value.message == "the key is used twice"
    assert (caught.value.field, caught.value.line) == (path, line)
    assert not are_lines_sound(text.replace("\n", "").encode())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"a": 1}, "b": {"a": 1}}',
        '[{"a": 1}, {"a": 1}]',
        '{"a": "a", "b": "a\\": 1, \\"a\\": 2"}',
        '{"a": "\\u003a\\\\u003a"}',
        '{"a": "\\ud800"}',
        "[]",
        '"a"',
    ],
)
def test_other_keys_are_accepted(text: str) -> None:
    check_undecoded(text.encode())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


def has_repeated(text: str) -> bool:
    """What the decoder of the standard library sees."""
    found = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        found.append(len({key for key, _ in pairs}) != len(pairs))

    json.loads(text, object_pairs_hook=look)
    return any(found)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_decoded_values_have_no_repeated_keys(value: Any, escape: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=escape, indent=indent)
    assert find_repeated_key(text) is None
    check_undecoded(text.encode("utf-8", "surrogatepass"))
    assert are_lines_sound(msgspec.json.encode(value)) or "\\u003" in text


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", ":", '"', "\\", "{", ","]), VALUES), max_size=4)
)
def test_agrees_with_a_decoder_that_sees_all_pairs(pairs: list[tuple[str, Any]]) -> None:
    items = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs)
    text = f"[{{{', '.join(items)}}}]"
    assert (find_repeated_key(text) is not None) == has_repeated(text)
    try:
        check_undecoded(text.encode())
    except DataError:
        assert has_repeated(text)
    else:
        assert not has_repeated(text)
