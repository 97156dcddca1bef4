"""Errors name the whole path to a value that does not fit, keys of mappings too."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from fourscore.formats.validation import ConversionError, convert_value, explain_json_error


class Leaf(msgspec.Struct, forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=0)] = 0
    kind: Literal["red", "green"] | None = None
    more: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if self.size == 13:
            raise ValueError("size: nobody wants 13")


class Tree(msgspec.Struct):
    leaves: dict[str, list[Leaf]] = {}
    named: Annotated[dict[str, Leaf] | None, Meta(description="by name")] = None
    pairs: tuple[dict[str, int], ...] = ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"named": {"a": {}, "b": {"size": -1}}}, "named.b.size: expected int >= 0"),
        ({"named": {"a.b [c]": 3}}, "named.a.b [c]: expected object, got int"),
        ({"named": {"a": {"kind": "x"}}}, "named.a.kind: expected one of red, green, got 'x'"),
        ({"named": {"a": {"size": 13}}}, "named.a.size: nobody wants 13"),
        ({"named": {"叶": {"size": "x"}}}, "named.叶.size: expected int, got str"),
        ({"leaves": {"x": [], "y": [{}, {"size": ""}]}}, "leaves.y[1].size: expected int, got str"),
        ({"leaves": {"x": [{"siez": 1}]}}, "leaves.x[0].siez: unknown key; did you mean size?"),
        ({"pairs": [{}, {"one": "1"}]}, "pairs[1].one: expected int, got str"),
        ({"pairs": [{1: 1}]}, "pairs[0]: a key of it: expected str, got int"),
        ({"named": {"a": {"more": {1: 1}}}}, "named.a.more: a key of it: expected str, got int"),
        (7, "expected object, got int"),
    ],
)  # fmt: skip
def test_error_names_the_whole_path(value: Any, expected: str) -> None:
    with pytest.raises(ConversionError) as caught:
        convert_value(value, Tree)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"named": {"a": {}, "b": {"more": {"x": [1, {"y": 1e400}]}}}}', "named.b.more.x[1].y"),
        ('{"named": {"a": {"more": {"x": %s}}}}' % ("9" * 5000), "named.a.more.x"),
        ('{"named": {"a": {"size": "x"}}, "pairs": oops', "named[…].size"),
    ],
)
def test_error_in_json_text_names_the_whole_path(text: str, expected: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(text.encode(), type=Tree)
    assert explain_json_error(caught.value, text.encode(), Tree)[1] == expected
