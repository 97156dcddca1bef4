"""OpenRLHF's remote reward model: the request, the reply, and a query cut into prompt and answer.

A query is the prompt and the answer in one text.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

import msgspec

from fourscore.core import Case, DataError, JudgeError, Rubric, Score, Trace
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.train.rollout_groups import BatchRow
from fourscore.train.trainer_input import parse_json_or_text, read_task_id, to_json_value
from fourscore.train.trainer_output import (
    check_on_error,
    describe_failure,
    get_numeric_components,
    get_unit_value,
)


class OpenRLHFRequest(msgspec.Struct):
    """A query is a prompt and its answer; a label is the reference, or an object of metadata."""

    query: list[str]
    prompts: list[str]
    labels: list[Any] | None = None


class OpenRLHFReply(msgspec.Struct):
    """A reward for each query; `extra_logs` has the components of each score, by constant keys."""

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


def read_request(body: object) -> list[tuple[Case, list[RecordedOutput]]]:
    """Read `{"query": […], "prompts": […], "labels": […]}` into cases, in order.

    Neighbours that ask the same are one case. A `DataError` names the field that is wrong.
    """
    if not isinstance(body, dict):
        raise DataError("expected an object")
    queries = _read_texts(body, "query")
    prompts = _read_texts(body, "prompts")
    labels = body.get("labels") or [None] * len(queries)
    if not isinstance(labels, list):
        raise DataError("expected a list", field="labels")
    for field, column in (("prompts", prompts), ("labels", labels)):
        if len(column) != len(queries):
            raise DataError(f"expected {len(queries)} as in query, got {len(column)}", field=field)
    rows: list[BatchRow] = []
    for i, columns in enumerate(zip(queries, prompts, labels, strict=True)):
        try:
            rows.append(read_query(*columns))
        except (DataError, ValueError) as error:
            raise DataError(str(error), field=f"query[{i}]") from None
    return [(case, [row[1] for row in group]) for case, group in groupby(rows, itemgetter(0))]


def write_response(
    rubric: Rubric, scores: Sequence[Score], on_error: Literal["raise", "zero"] = "raise"
) -> dict[str, Any]:
    """Return the reply to a request.

    JSON has no NaN, so an output that was not judged raises a `JudgeError` whose message may be
    sent, or is 0 with `fourscore_judged` 0.
    """
    check_on_error(on_error, ("raise", "zero"), "OpenRLHF over HTTP")
    for index, score in enumerate(scores):
        if score.reward is None and on_error == "raise":
            raise JudgeError(f"query[{index}]: {describe_failure(score)}")
    return {
        "rewards": [0.0 if score.reward is None else score.reward for score in scores],
        "scores": list_unit_values(scores, 0.0),
        "extra_logs": list_components(rubric, scores, 0.0),
    }


def _read_texts(body: Mapping[str, object], field: str) -> list[str]:
    column = body.get(field)
    if not isinstance(column, list) or not column:
        raise DataError("expected a list of texts", field=field)
    for i, text in enumerate(column):
        if not isinstance(text, str):
            raise DataError(f"expected text, got {type(text).__name__}", field=f"{field}[{i}]")
    return column


def read_query(query: str, prompt: str, label: object) -> BatchRow:
    """Return the case and output of a query; a label that is a JSON object is metadata too."""
    expected = to_json_value(label)
    if isinstance(expected, str) and expected.lstrip().startswith("{"):
        expected = parse_json_or_text(expected)  # a set in braces stays text
    metadata = expected if isinstance(expected, dict) else {}
    case = Case(
        id=read_task_id(metadata),
        input=prompt,
        expected=None if expected == "" else expected,
        metadata=metadata,
    )
    return case, RecordedOutput(Trace(output=extract_answer(query, prompt)))


def extract_answer(query: str, prompt: str) -> str:
    """Return what follows the prompt in the query.

    A prompt that is not found is an error: to judge the whole text would pay for a boxed answer in
    the prompt. Tokenizers put a token before the text, or change its spaces on the way back.
    """
    place = query.find(prompt)
    if place >= 0:
        return query[place + len(prompt) :]
    end = 0
    for char in prompt:
        if char.isspace():
            continue
        while end < len(query) and query[end].isspace():
            end += 1
        if end >= len(query) or query[end] != char:
            raise DataError("the query does not begin with its prompt")
        end += 1
    return query[end:]


def list_unit_values(scores: Sequence[Score], missing: float) -> list[float]:
    """Return the scores in [0, 1], for the trainer's dynamic filtering."""
    values = [get_unit_value(score) for score in scores]
    return [missing if value is None else value for value in values]


def list_components(
    rubric: Rubric, scores: Sequence[Score], missing: float
) -> dict[str, list[float]]:
    """Return the components of the scores, one column for each key."""
    parts = [get_numeric_components(rubric, score, missing) for score in scores]
    return {key: [part[key] for part in parts] for key in (parts[0] if parts else ())}
