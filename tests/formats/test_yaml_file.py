"""YAML as people write it: plain values, and the line of every key."""

from pathlib import Path

import pytest

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
