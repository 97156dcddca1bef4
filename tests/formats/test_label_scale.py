"""Labels as people write them, and a section put into a file that people edit."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import ConfigError, DataError
from fourscore.formats.label_scale import Scale, detect_scale, parse_scale, read_labels
from fourscore.formats.yaml_file import parse_yaml, replace_section, write_section


@pytest.mark.parametrize(
    ("labels", "kind", "values"),
    [
        ([True, False, "pass", "FAIL", 1, "0", "no"], "verdict", [1, 0, 1, 0, 1, 0, 0]),
        ([1, 0.5, "0.25", 0], "share", [1, 0.5, 0.25, 0]),
        (["failed", "good", "Excellent ", "poor"], "level", [0, 0.8, 1, 0.3]),
    ],
)
def test_the_coarsest_kind_that_fits_is_found(labels: Any, kind: str, values: Any) -> None:
    scale = detect_scale(labels)
    assert scale.kind == kind
    assert [scale.value(label) for label in labels] == values


@pytest.mark.parametrize(
    ("labels", "wrong", "words"),
    [
        (["good", 0.4], 0.4, "one of excellent, good"),
        ([0.5, "good"], "good", "a number from 0 to 1, as before"),
        ([7], 7, "true or false, a number from 0 to 1, or a level"),
        ([None.__class__], 1.5, "of one kind throughout"),
    ],
)
def test_a_label_of_another_kind_is_refused(labels: Any, wrong: Any, words: str) -> None:
    scale = detect_scale(labels)
    with pytest.raises(ValueError, match=words):
        scale.value(wrong)


def test_reads_whole_numbers_on_a_scale() -> None:
    scale = parse_scale("0:10")
    assert (scale.value(7), scale.value("10"), scale.value(0)) == (0.7, 1.0, 0.0)
    assert (scale.category(0.68), scale.categories) == (7, 11)
    assert scale.grade(6.5) == 0.65  # a judge may stand between two steps
    for wrong in (11, -1, 6.5, "good", True, None, float("nan")):
        with pytest.raises(ValueError, match="a whole number from 0 to 10"):
            scale.value(wrong)
    with pytest.raises(ValueError, match="a number from 0 to 10"):
        scale.grade(12)
    for text in ("10", "a:b", "5:5", "9:1", "0:1000", "1.5:3"):
        with pytest.raises(ConfigError, match="LOW:HIGH"):
            parse_scale(text)


@given(st.floats(0, 1), st.sampled_from(["verdict", "share", "level"]))
def test_category_is_defined_for_every_value(value: float, kind: Any) -> None:
    scale = Scale(kind)
    assert 0 <= scale.category(value) < scale.categories


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({}, "label", "missing"),
        ({"label": None}, "label", "missing"),
        ({"label": ""}, "label", "missing"),
        ({"labels": []}, "labels", "nobody"),
        ({"labels": [None, None]}, "labels", "nobody"),
        ({"labels": "pass"}, "labels", "expected a list"),
        ({"label": True, "labels": [True]}, "labels", "not both"),
    ],
)
def test_a_row_without_a_label_is_refused(fields: Any, field: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read_labels(fields)
    assert caught.value.field == field


def test_reads_labels_of_a_row() -> None:
    assert read_labels({"label": False}) == [False]
    assert read_labels({"labels": [True, None, "fail"]}) == [True, None, "fail"]


RUBRIC = """# for the team
name:   sums   # odd spacing stays

dimensions:
  right: {judge: math}   # exact
"""
NEW = {"n": 3, "date": "2026-01-31", "sensitivity": {"right": 2, "of": 3}}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_a_section_is_added_and_nothing_else_changes(
    tmp_path: Path, ending: str, last: bool
) -> None:
    text = RUBRIC.replace("\n", ending)
    text = text if last else text.removesuffix(ending)
    path = tmp_path / "rubric.yaml"
    path.write_bytes(text.encode())
    write_section(str(path), "calibration", NEW, "made by us")
    written = path.read_bytes().decode()
    assert written.startswith(text)
    assert parse_yaml(written, "").value["calibration"] == NEW
    write_section(str(path), "calibration", NEW, "made by us")
    assert path.read_bytes().decode() == written  # again, and nothing is doubled


@pytest.mark.parametrize(
    "old",
    [
        "calibration: {n: 1}\n",
        "calibration:\n  n: 1\n  sensitivity:\n    right: 1\n    of: 1\n",
        "calibration: {n: 1,\n  of: 2}   # by hand\n",
        "calibration:\n",
    ],
)
def test_section_is_replaced_in_place(tmp_path: Path, old: str) -> None:
    path = tmp_path / "rubric.yaml"
    after = "\n# about the threshold\npass_threshold: 0.5\n"
    path.write_text(f"name: a # first\n{old}{after}dimensions: {{right: {{judge: math}}}}\n")
    write_section(str(path), "calibration", NEW)
    text = path.read_text()
    assert text.startswith("name: a # first\ncalibration:\n  n: 3\n")
    assert text.endswith(f"{after}dimensions: {{right: {{judge: math}}}}\n")
    assert parse_yaml(text, "").value["calibration"] == NEW


@pytest.mark.parametrize("text", ["{name: a, dimensions: {}}\n", "name: a\n...\n", "- a\n", ""])
def test_file_that_cannot_take_a_section_is_unchanged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="cannot write the section"):
        write_section(str(path), "calibration", NEW)
    assert path.read_text() == text


def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        write_section(str(tmp_path / "none.yaml"), "calibration", NEW)
    (tmp_path / "odd.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        write_section(str(tmp_path / "odd.yaml"), "calibration", NEW)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text() | st.integers()))
def test_written_section_is_read_back_unchanged(value: dict[str, Any]) -> None:
    value = {key: item for key, item in value.items() if _sayable(item)} or {"n": 1}
    text = replace_section(RUBRIC, "calibration", value)
    assert parse_yaml(text, "").value["calibration"] == value


def _sayable(item: Any) -> bool:
    """JSON lets stand what YAML refuses to see; fingerprints and dates have none of it."""
    return not isinstance(item, str) or (item.isascii() and item.isprintable())
