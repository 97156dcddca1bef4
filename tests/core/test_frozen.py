"""JSON values that cannot be edited."""

import copy
import pickle
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from enum import IntEnum, StrEnum
from math import inf, nan
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core.frozen import (
    MAX_DEPTH,
    MAX_INT_BITS,
    FrozenDict,
    FrozenList,
    digest,
    freeze,
    freeze_field,
    replace_surrogates,
    thaw,
)

steady = settings(deadline=None)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
json_values = st.recursive(
    scalars | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)

Edit = Callable[[Any], Any]

DICT_EDITS: dict[str, Edit] = {
    "__setitem__": lambda value: value.__setitem__("a", 2),
    "__delitem__": lambda value: value.__delitem__("a"),
    "__ior__": lambda value: value.__ior__({"b": 1}),
    "clear": lambda value: value.clear(),
    "pop": lambda value: value.pop("a"),
    "popitem": lambda value: value.popitem(),
    "setdefault": lambda value: value.setdefault("b", 1),
    "update": lambda value: value.update(b=1),
}
LIST_EDITS: dict[str, Edit] = {
    "__setitem__": lambda value: value.__setitem__(slice(None), []),
    "__delitem__": lambda value: value.__delitem__(0),
    "__iadd__": lambda value: value.__iadd__([1]),
    "__imul__": lambda value: value.__imul__(2),
    "append": lambda value: value.append(1),
    "clear": lambda value: value.clear(),
    "extend": lambda value: value.extend([1]),
    "insert": lambda value: value.insert(0, 1),
    "pop": lambda value: value.pop(),
    "remove": lambda value: value.remove(3),
    "reverse": lambda value: value.reverse(),
    "sort": lambda value: value.sort(),
}


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Measured(float):
    """Like numpy.float64, a float by inheritance."""


def test_every_mutating_method_is_tested() -> None:
    private = {"_MutableMapping__marker"}
    assert set(dir(MutableMapping)) - set(dir(Mapping)) - private <= DICT_EDITS.keys()
    assert set(dir(MutableSequence)) - set(dir(Sequence)) <= LIST_EDITS.keys()


@pytest.mark.parametrize("edit", DICT_EDITS.values(), ids=DICT_EDITS)
def test_a_frozen_dictionary_refuses_every_edit(edit: Edit) -> None:
    value = freeze({"a": 1})
    with pytest.raises(TypeError, match="frozen"):
        edit(value)
    assert value == {"a": 1}


@pytest.mark.parametrize("edit", LIST_EDITS.values(), ids=LIST_EDITS)
def test_a_frozen_list_refuses_every_edit(edit: Edit) -> None:
    value = freeze([3, 1, 2])
    with pytest.raises(TypeError, match="frozen"):
        edit(value)
    assert value == [3, 1, 2]


def unfrozen(value: Any) -> list[Any]:
    """The containers inside a value that could still be edited."""
    if isinstance(value, dict):
        own: list[Any] = [] if type(value) is FrozenDict else [value]
        return own + [found for item in value.values() for found in unfrozen(item)]
    if isinstance(value, list):
        own = [] if type(value) is FrozenList else [value]
        return own + [found for item in value for found in unfrozen(item)]
    return []


@steady
@given(json_values)
def test_freezing_keeps_the_value_and_reaches_every_depth(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert unfrozen(frozen) == []
    assert freeze(frozen) is frozen or not isinstance(frozen, dict | list)


@steady
@given(json_values)
def test_copies_and_pickles_are_equal_and_frozen_too(value: Any) -> None:
    frozen = freeze({"inside": [value]})
    for twin in (copy.copy(frozen), copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert twin == frozen
        assert unfrozen(twin) == []
        assert hash(twin) == hash(frozen)


@steady
@given(json_values)
def test_thaw_returns_an_independent_copy(value: Any) -> None:
    frozen = freeze({"inside": [value]})
    thawed = thaw(frozen)
    assert thawed == frozen
    thawed["inside"].append("mine")
    thawed["other"] = 1
    assert frozen == {"inside": [value]}


@pytest.mark.parametrize(
    ("given_value", "kept", "kind"),
    [
        (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}, FrozenDict),
        ((1, (2,)), [1, [2]], FrozenList),
        (Colour.RED, "red", str),
        (Level.HIGH, 3, int),
        (Measured(0.5), 0.5, float),
        (True, True, bool),
    ],
)
def test_values_equivalent_to_json_are_converted(given_value: Any, kept: Any, kind: type) -> None:
    frozen = freeze(given_value)
    assert frozen == kept
    assert type(frozen) is kind


FORBIDDEN = [nan, inf, -inf, Measured(nan), b"bytes", {1, 2}, object(), 1j, {1: "a"}, 10**5000]
WRAPPERS: list[Callable[[Any], Any]] = [
    lambda leaf: {"key": leaf},
    lambda leaf: [0, leaf],
    lambda leaf: ({"deep": [leaf]},),
]


@pytest.mark.parametrize("leaf", FORBIDDEN, ids=lambda leaf: type(leaf).__name__)
@steady
@given(path=st.lists(st.sampled_from(WRAPPERS), max_size=5))
def test_refuses_values_that_are_not_json_at_any_depth(
    leaf: Any, path: list[Callable[[Any], Any]]
) -> None:
    value = leaf
    for wrap in path:
        value = wrap(value)
    with pytest.raises(ValueError, match=r"finite|JSON value|not text|refused"):
        freeze(value)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_depth_has_a_limit() -> None:
    assert freeze(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        freeze(nested(MAX_DEPTH + 1))


def test_refuses_a_value_that_contains_itself() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested"):
        freeze(loop)


def test_integers_stay_printable() -> None:
    largest = (1 << MAX_INT_BITS) - 1
    assert freeze(largest) == largest
    assert len(str(largest)) < 4300
    with pytest.raises(ValueError, match="4,000 digits"):
        freeze(largest + 1)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain", "plain"),
        ("naïve 分数", "naïve 分数"),
        ("a\ud800b", "a�b"),
        ("\udfff", "�"),
        ("\ud83d\ude00", "😀"),
        ("\x00", "\x00"),
    ],
)
def test_lone_surrogates_become_the_replacement_character(text: str, kept: str) -> None:
    assert replace_surrogates(text) == kept
    assert freeze({text: [text]}) == {kept: [kept]}


def test_a_wrong_field_is_named() -> None:
    with pytest.raises(ValueError, match=r"^metadata\.a: nan is not a finite number$"):
        freeze_field("metadata", {"a": nan})
    with pytest.raises(ValueError, match=r"^metadata\.b\[1\]\.价格: inf is not a finite number$"):
        freeze_field("metadata", {"a": [1.0], "b": ["x", {"y": 1, "价格": inf}], "c": nan})
    with pytest.raises(ValueError, match=r"^input\[0\]: object is not a JSON value$"):
        freeze_field("input", (object(),))
    with pytest.raises(ValueError, match=r"^metadata: expected an object, got list$"):
        freeze_field("metadata", [], dict)
    assert freeze_field("metadata", {"a": 1}, dict) == {"a": 1}


@steady
@given(st.dictionaries(st.text(), json_values, max_size=6), st.randoms())
def test_a_digest_does_not_depend_on_key_order(value: dict[str, Any], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert digest({"outer": dict(items)}) == digest({"outer": value})
    assert digest(freeze(dict(items))) == digest(value)
    assert hash(freeze(dict(items))) == hash(freeze(value))


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (1, True), (1, "1"), (None, "null"), ([1, 2], [2, 1]), ({}, []), ({"a": 1}, {})],
)
def test_different_values_have_different_digests(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_the_size_of_a_digest_is_in_bytes() -> None:
    assert len(digest("a")) == 32
    assert len(digest("a", size=8)) == 16
