"""YAML as people write it: plain values, and the line of every key."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import ConfigError
from fourscore.formats.yaml_file import parse_yaml, read_yaml_file


def refused(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "file.yaml")
    assert caught.value.file == "file.yaml"
    return caught.value


def test_every_key_has_its_line() -> None:
    document = parse_yaml("# first\na:\n  b: 1\n\n  c:\n    - x\n    - d: 2\n", "f")
    assert document.value == {"a": {"b": 1, "c": ["x", {"d": 2}]}}
    assert document.lines == {"a": 2, "a.b": 3, "a.c": 5, "a.c[0]": 6, "a.c[1]": 7, "a.c[1].d": 7}


def test_error_has_line_of_its_key_or_the_nearest_above() -> None:
    document = parse_yaml("a:\n  b:\n    c: 1\n", "f")
    assert str(document.error("is wrong", "a.b.c")) == "f:3: a.b.c: is wrong"
    assert str(document.error("is missing", "a.b.x.y")) == "f:2: a.b.x.y: is missing"
    assert str(document.error("is no good")) == "f: is no good"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "duplicate key"),
        ("a:\n  x: 1\n  x: 1\n", 3, "duplicate key"),
        ("a: [1\n", 2, "expected"),
        ("a: 1\n b: 2\n", 2, "mapping values"),
        ("a:\n\t- b\n", 2, "cannot start any token"),
        ("a: *nowhere\n", 1, "undefined alias"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
        (
            "a: 1\nb: !!python/object/apply:os.system ['true']\n",
            2,
            "python/object/apply:os.system is not allowed",
        ),
        ("a: !mine x\n", 1, "the tag !mine is not allowed"),
    ],
)
def test_broken_yaml_is_refused_at_its_line(text: str, line: int, words: str) -> None:
    error = refused(text)
    assert error.line == line
    assert error.message.startswith(("not YAML: ", "the tag"))
    assert words in error.message


@pytest.mark.parametrize("text", ["a: \0", "a: " + "9" * 5000])
def test_refuses_null_bytes_and_too_long_integers(text: str) -> None:
    assert refused(text).message.startswith("not YAML: ")


def test_refuses_deep_nesting() -> None:
    assert "nested more than 110 deep" in refused("[" * 500 + "]" * 500).message


def nested_merges(levels: int, each: int) -> str:
    """Mappings that merge the one before several times: each level multiplies the work by `each`"""
    lines = ["a0: &a0 {k: 1}"]
    for level in range(1, levels + 1):
        lines += [f"a{level}: &a{level}", f"  <<: [{', '.join([f'*a{level - 1}'] * each)}]"]
    return "\n".join(lines)


def nested_aliases(levels: int, each: int) -> str:
    lines = ["a0: &a0 x"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * each)}]" for n in range(1, levels + 1)]
    return "\n".join(lines)


@pytest.mark.parametrize(("levels", "each"), [(12, 9), (400, 3)])
def test_merge_keys_of_merge_keys_are_followed_once(levels: int, each: int) -> None:
    value = parse_yaml(nested_merges(levels, each), "f").value
    assert value == {f"a{level}": {"k": 1} for level in range(levels + 1)}


def test_merge_key_adds_what_the_mapping_lacks() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 3\n"
    document = parse_yaml(text, "f")
    assert document.value["c"] == {"x": 3, "y": 1, "z": 2}
    assert (document.lines["c.x"], document.lines["c.z"]) == (5, 2)


MERGED = "&m {" + ", ".join(f"k{n}: 1" for n in range(500)) + "}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (nested_aliases(9, 9), "more than 5,000 values, its aliases and merge keys written out"),
        (f"a: {MERGED}\nb:\n" + "  - {<<: *m}\n" * 20, "more than 5,000 values"),
        (
            "a: &a " + "x" * 20_000 + "\nb: [" + "*a, " * 2000 + "]",
            "more than 16,777,216 characters",
        ),
        ("a: {? " + "k" * 20_000 + "\n : &b 1}\n", None),
        ("a: &a\n  - *a\n", "an alias contains itself"),
        ("a: &a\n  <<: *a\n", "an alias contains itself"),
        ("a: {<<: [1]}\n", "expected a mapping to merge"),
        ("a: 1\n<<: {a: 2}\n<<: {b: 3}\n", "duplicate key"),
        ("<<: {a: 2}\na: 1\na: 3\n", "duplicate key"),
        ("1: a\n1.0: b\n", "duplicate key"),
        ("? [1]\n: b\n", "expected a plain key"),
        ("a: " + "1" * 4301, "a number of more than 4,300 characters"),
        ("%YAML 1.1\n---\na: 1" + ":1" * 3000, "a number of more than 4,300 characters"),
        ("a: 0x" + "f" * 5000, "a number of more than 4,300 characters"),
        ("a: 0x" + "f" * 4000, "an integer of more than 4,000 digits"),
        ("a: !!bool maybe", "'maybe' is not of the type bool"),
        ("a: !!int ''", "'' is not of the type int"),
        ("a: !!str {b: 1}", "the tag tag:yaml.org,2002:str is not allowed"),
        ('a: "\\UFFFFFFFF"', "not YAML"),
        ("a: [" + "1, " * 6_000, "more than 5,000 values"),
        ("#" * (16 << 20) + "\n", "longer than 16 MiB"),
    ],
)
def test_bounds_hold_before_anything_is_built(
    text: str, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourscore.formats.yaml_tree.MAX_VALUES", 5_000)
    if words is None:
        parse_yaml(text, "f")
    else:
        assert words in refused(text).message


def test_long_keys_over_many_values_take_little_memory() -> None:
    text = "? " + "k" * 20_000 + "\n: [" + "1," * 5_000 + "]\n"
    parse_yaml(text, "f")
    tracemalloc.start()
    try:
        document = parse_yaml(text, "f")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert document.lines[f"{'k' * 20_000}[4999]"] == 2
    assert peak < 1000 * len(text)  # 200 MB of paths before


KEYS = st.text(alphabet="ab.[]0", min_size=1, max_size=3)
TREES = st.recursive(
    st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=15,
)


@given(TREES)
def test_every_path_of_a_document_has_its_line(value: object) -> None:
    document = parse_yaml(json.dumps(value, indent=1), "f")
    assert document.value == value
    assert all(line >= 1 for line in document.lines.values())


def test_yes_and_no_stay_text() -> None:
    value = parse_yaml("a: no\nb: yes\nc: on\nd: true\ne: 1:30\n", "f").value
    assert value == {"a": "no", "b": "yes", "c": "on", "d": True, "e": "1:30"}


def test_dates_stay_text() -> None:
    assert parse_yaml("a: 2024-01-31\nb: [2024-01-31]\n", "f").value == {
        "a": "2024-01-31",
        "b": ["2024-01-31"],
    }


def test_alias_is_replaced_by_its_value() -> None:
    document = parse_yaml("a: &x {k: 1}\nb: *x\n", "f")
    assert document.value == {"a": {"k": 1}, "b": {"k": 1}}
    assert document.lines["b"] == 2


def test_empty_file_is_none() -> None:
    assert parse_yaml("# only a remark\n", "f").value is None


def test_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    document = read_yaml_file(str(path))
    assert document.value == {"a": 1, "b": 2}
    assert document.lines == {"a": 1, "b": 2}


@pytest.mark.parametrize(("content", "words"), [(None, "No such file"), (b"a: \xff", "not UTF-8")])
def test_a_file_that_cannot_be_read_is_named(
    content: bytes | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "c.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_yaml_file(str(path))
    assert caught.value.file == str(path)
    assert words in caught.value.message
