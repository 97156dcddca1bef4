"""A line is a row or is refused whole, with the path of what is wrong."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import DataError
from fourscore.formats.recorded_outputs import read_row


def line(task: Any = None, **rest: Any) -> bytes:
    return json.dumps({"task": task or {}, **rest}).encode()


def refused(text: bytes) -> DataError:
    with pytest.raises(DataError) as caught:
        read_row(text)
    return caught.value


def test_reads_a_row_with_one_output() -> None:
    task = {"task_id": "t", "main_query": "1+1?", "metadata": {"answer": "2"}}
    row = read_row(line(task, output={"reward": None, "metadata": {"final_answer": "2"}}))
    assert (row.case.id, row.case.input) == ("t", "1+1?")
    assert row.case.metadata == {"answer": "2"}
    (output,) = row.outputs
    assert output.trace.answer == "2"
    assert (output.reward, output.is_success) == (None, None)
    assert row.replaced == 0


def test_a_group_keeps_its_order_and_its_rewards() -> None:
    outputs = [{"metadata": {"final_answer": "a"}}, {"reward": 0.5, "is_success": True}]
    row = read_row(line(outputs=outputs))
    assert [output.trace.answer for output in row.outputs] == ["a", ""]
    assert [output.reward for output in row.outputs] == [None, 0.5]
    assert [output.is_success for output in row.outputs] == [None, True]


def test_null_is_read_like_an_absent_key() -> None:
    task = {"task_id": None, "main_query": None, "metadata": None}
    output = {"reward": None, "is_success": None, "metadata": None, "log_metrics": None}
    assert read_row(line(task, output=output, outputs=None)) == read_row(line(output={}))


@pytest.mark.parametrize("given_id", [7, 0, -3])
def test_accepts_a_number_as_id(given_id: int) -> None:
    assert read_row(line({"task_id": given_id}, output={})).case.id == str(given_id)


def test_without_an_id_the_input_is_the_identity() -> None:
    first, again, other = (
        read_row(line({"main_query": query}, output={})).case.id for query in ("a", "a", "b")
    )
    assert first == again != other


def test_unknown_keys_of_a_task_are_ignored() -> None:
    row = read_row(line({"task_id": "t", "env_type": "x"}, output={}, note="by hand"))
    assert row.case.id == "t"


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        (line({}), "output", "neither output nor outputs"),
        (line({}, output={}, outputs=[{}]), "outputs", "both output and outputs"),
        (line({}, outputs=[]), "outputs", "at least one"),
        (b'{"output": {}}', "task", "missing"),
        (line(output={"rewrd": 1}), "output.rewrd", "unknown key"),
        (line(outputs=[{}, {"rewrd": 1}]), "outputs[1].rewrd", "unknown key"),
        (line(output={"reward": "1"}), "output.reward", "got str"),
        (line(output={"reward": True}), "output.reward", "got bool"),
        (line(outputs=[{}, {}, {"reward": []}]), "outputs[2].reward", "got array"),
        (line(output={"is_success": 1}), "output.is_success", "got int"),
        (line(output={"metadata": []}), "output.metadata", "got array"),
        (line(output=3), "output", "got int"),
        (line(outputs={}), "outputs", "got object"),
        (line({"task_id": 1.5}, output={}), "task.task_id", "got float"),
        (line({"task_id": True}, output={}), "task.task_id", "got bool"),
        (line({"metadata": "x"}, output={}), "task.metadata", "got str"),
        (b'{"task": 3, "output": {}}', "task", "got int"),
        (b"[]", None, "got array"),
        (b"null", None, "got null"),
    ],
)
def test_error_names_the_path_of_the_field(text: bytes, field: str | None, words: str) -> None:
    error = refused(text)
    assert error.field == field
    assert words in error.message


@pytest.mark.parametrize(
    "text",
    [b"{", b'{"task": {}', b"plainly not", line(output={}) + b" x", b"\xef\xbb\xbf" + b"{}"],
)
def test_invalid_json_is_refused_as_such(text: bytes) -> None:
    assert "not a JSON object" in refused(text).message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
@pytest.mark.parametrize("neighbour", ["x", "\\ud800"])  # the second takes the slow way in
@pytest.mark.parametrize(
    "place",
    [
        '{"task": {"main_query": "%s"}, "output": {"reward": %s}}',
        '{"task": {"main_query": "%s", "metadata": {"x": [%s]}}, "output": {}}',
    ],
)
def test_numbers_that_are_not_finite_are_refused(number: str, neighbour: str, place: str) -> None:
    assert refused((place % (neighbour, number)).encode()).message


def test_too_long_integer_is_refused() -> None:
    digits = b"9" * 5000
    error = refused(b'{"task": {"metadata": {"x": %s}}, "output": {}}' % digits)
    assert error.field is not None
    assert error.field.startswith("task.metadata")


def test_lone_surrogates_are_replaced_and_counted() -> None:
    text = (
        rb'{"task": {"task_id": "\ud800", "metadata": {"\udfff": "a\uDC00b\ud83d"}}, "output": {}}'
    )
    row = read_row(text)
    assert row.case.id == "\ufffd"
    assert row.case.metadata == {"\ufffd": "a\ufffdb\ufffd"}
    assert row.replaced == 4


def test_a_pair_of_surrogates_is_one_character_and_not_counted() -> None:
    row = read_row(rb'{"task": {"main_query": "\ud83d\ude00 \ud83d"}, "output": {}}')
    assert row.case.input == "\U0001f600 \ufffd"
    assert row.replaced == 1


def test_slow_decoder_names_the_wrong_field_too() -> None:
    error = refused(rb'{"task": {"main_query": "\ud800"}, "outputs": [{"reward": "x"}]}')
    assert error.field == "outputs[0].reward"


def test_bytes_that_are_not_utf8_between_values_are_refused() -> None:
    assert refused(b"\xff" + line(output={})).message == "not UTF-8 at byte 1"


@pytest.mark.parametrize("depth", [150, 5_000, 100_000])
@pytest.mark.parametrize("neighbour", [b"x", rb"\ud800"])
def test_deep_nesting_is_refused(depth: int, neighbour: bytes) -> None:
    nest = b"[" * depth + b"]" * depth
    text = b'{"task": {"main_query": "%s", "metadata": {"x": %s}}, "output": {}}'
    assert "nested" in str(refused(text % (neighbour, nest)))


def test_null_bytes_and_a_carriage_return_are_read() -> None:
    row = read_row(line({"main_query": "\0"}, output={"metadata": {"final_answer": "\0"}}) + b"\r")
    assert row.case.input == row.outputs[0].trace.answer == "\0"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(query=json_values, metadata=st.dictionaries(st.text(), json_values))
def test_any_json_value_is_kept_unchanged(query: Any, metadata: dict[str, Any]) -> None:
    task = {"main_query": query, "metadata": metadata}
    row = read_row(line(task, output={"metadata": metadata}))
    assert row.case.input == query
    assert row.case.metadata == row.outputs[0].trace.metadata == metadata


@given(st.binary(max_size=60))
def test_any_bytes_are_a_row_or_a_data_error(text: bytes) -> None:
    """A row or a `DataError`, never another exception."""
    # Bytes inside of a string that are not UTF-8 are a test of their own.
    text = text.decode("utf-8", "replace").encode()
    try:
        outcome: object = read_row(b'{"task": {"main_query": "' + text).outputs
    except DataError as error:
        outcome = error.message
    assert outcome
