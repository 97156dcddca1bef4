"""What can go wrong, and how it reads."""

import pickle
from typing import Any

import pytest

from fourscore.core import (
    CaseError,
    ConfigError,
    DataError,
    FourscoreError,
    InputError,
    JudgeError,
    suggest_known,
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "is wrong"),
        ({"file": "a.yaml"}, "a.yaml: is wrong"),
        ({"file": "a.yaml", "line": 3}, "a.yaml:3: is wrong"),
        ({"file": "a.yaml", "line": 0, "field": "x.y"}, "a.yaml:0: x.y: is wrong"),
        ({"line": 3}, "line 3: is wrong"),
        ({"field": "x.y"}, "x.y: is wrong"),
    ],
)
def test_message_names_file_line_and_field(place: dict[str, Any], text: str) -> None:
    error = ConfigError("is wrong", **place)
    assert str(error) == text
    assert error.message == "is wrong"


@pytest.mark.parametrize(
    "error",
    [
        InputError("m"),
        ConfigError("m", file="f", line=1, field="x"),
        DataError("m", line=2),
    ],
)
def test_an_input_error_survives_pickling(error: InputError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert (again.message, again.file, again.line, again.field) == (
        error.message,
        error.file,
        error.line,
        error.field,
    )


def test_a_case_error_names_the_task_and_the_key_and_survives_pickling() -> None:
    error = CaseError("t-7", "metadata.answer", "is missing")
    assert str(error) == "task 't-7': metadata.answer: is missing"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CaseError
    assert (again.case_id, again.key, again.message) == ("t-7", "metadata.answer", "is missing")
    assert str(again) == str(error)


def test_a_judge_error_survives_pickling() -> None:
    again = pickle.loads(pickle.dumps(JudgeError("judge 'x' is lost")))
    assert (type(again), str(again)) == (JudgeError, "judge 'x' is lost")


@pytest.mark.parametrize("kind", [InputError, ConfigError, DataError, CaseError, JudgeError])
def test_all_errors_share_one_base_class(kind: type) -> None:
    assert issubclass(kind, FourscoreError)


def test_suggests_closest_known_word_else_all() -> None:
    known = ["judge_type", "judge_protocol", "judge_options"]
    assert suggest_known("judge_tpye", known) == "did you mean judge_type?"
    assert suggest_known("zzz", known) == "known: judge_options, judge_protocol, judge_type"
