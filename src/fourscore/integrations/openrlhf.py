"""OpenRLHF: `reward_func(queries, prompts, labels)` in a file, or the same over HTTP.

A query is the prompt and the answer in one text. OpenRLHF has no word for "no reward": after an
exception the sample has none, and the step fails. NaN poisons its group's advantages, unless
dynamic filtering is on: then the whole group is drawn again.
"""

import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from fourscore.core import Case, DataError, JudgeError, Rubric, Score, Trace
from fourscore.formats.rows import Recorded
from fourscore.integrations.ask import Row, Source, rewards_of, score_rows
from fourscore.integrations.material import decoded, identity, plain
from fourscore.integrations.verdict import (
    OnError,
    check_word,
    components,
    in_short,
    numbers,
    reward_of,
    unit,
)

NAN = float("nan")


class RewardFunc:
    """`reward_func = RewardFunc("math")` in the file that `--reward.remote_url` names."""

    def __init__(
        self,
        source: Source,
        options: Mapping[str, Any] | None = None,
        *,
        on_error: OnError = "raise",
        deadline: float = 30.0,
    ) -> None:
        check_word(on_error, ("raise", "zero", "none"), "OpenRLHF")
        self.rewards, self.on_error = rewards_of(source, options, deadline), on_error
        self.__name__ = "reward_func"

    def __call__(
        self,
        queries: Sequence[str],
        prompts: Sequence[str],
        labels: Sequence[Any],
        **_more: Any,  # earlier versions added some
    ) -> dict[str, Any]:
        rows = [_row(*columns) for columns in zip(queries, prompts, labels, strict=True)]
        scores = score_rows(self.rewards, rows)
        missing = NAN if self.on_error == "none" else 0.0
        rewards = [
            reward_of(case, score, self.on_error)
            for (case, _), score in zip(rows, scores, strict=True)
        ]
        return {
            "rewards": _tensor([missing if reward is None else reward for reward in rewards]),
            "scores": _tensor(_units(scores, missing)),
            "extra_logs": {
                key: _tensor(column)
                for key, column in _columns(self.rewards.rubric, scores, missing).items()
            },
        }


def read_request(body: Any) -> list[tuple[Case, list[Recorded]]]:
    """`{"query": […], "prompts": […], "labels": […]}` as cases, in order; neighbours that ask
    the same are one case. A `DataError` names the field that is wrong.
    """
    if not isinstance(body, dict):
        raise DataError("expected an object")
    queries = _texts(body, "query")
    prompts = _texts(body, "prompts")
    labels = body.get("labels") or [None] * len(queries)
    if not isinstance(labels, list):
        raise DataError("expected a list", field="labels")
    for field, column in (("prompts", prompts), ("labels", labels)):
        if len(column) != len(queries):
            raise DataError(f"expected {len(queries)} as in query, got {len(column)}", field=field)
    rows: list[Row] = []
    for i, columns in enumerate(zip(queries, prompts, labels, strict=True)):
        try:
            rows.append(_row(*columns))
        except (DataError, ValueError) as error:
            raise DataError(str(error), field=f"query[{i}]") from None
    return [(case, [row[1] for row in group]) for case, group in groupby(rows, itemgetter(0))]


def write_response(
    rubric: Rubric, scores: Sequence[Score], on_error: Literal["raise", "zero"] = "raise"
) -> dict[str, Any]:
    """The reply to `read_request`'s rows. JSON has no NaN, so what was not judged raises a
    `JudgeError`, in words fit for a reply, or is 0 with `fourscore_judged` 0.
    """
    check_word(on_error, ("raise", "zero"), "OpenRLHF over HTTP")
    for index, score in enumerate(scores):
        if score.reward is None and on_error == "raise":
            raise JudgeError(f"query[{index}]: {in_short(score)}")
    return {
        "rewards": [0.0 if score.reward is None else score.reward for score in scores],
        "scores": _units(scores, 0.0),
        "extra_logs": _columns(rubric, scores, 0.0),
    }


def _texts(body: Mapping[str, Any], field: str) -> list[str]:
    column = body.get(field)
    if not isinstance(column, list) or not column:
        raise DataError("expected a list of texts", field=field)
    for i, text in enumerate(column):
        if not isinstance(text, str):
            raise DataError(f"expected text, got {type(text).__name__}", field=f"{field}[{i}]")
    return column


def _row(query: str, prompt: str, label: Any) -> Row:
    """A label is the reference, or a JSON object of what the judge needs to know."""
    expected = plain(label)
    if isinstance(expected, str) and expected.lstrip().startswith("{"):
        expected = decoded(expected)  # a set in braces stays text
    metadata = expected if isinstance(expected, dict) else {}
    case = Case(
        id=identity(metadata),
        input=prompt,
        expected=None if expected == "" else expected,
        metadata=metadata,
    )
    return case, Recorded(Trace(output=answer_in(query, prompt)))


def answer_in(query: str, prompt: str) -> str:
    """What follows the prompt.

    Not found, it is an error: to judge the whole text would pay for a box in the prompt.
    Tokenizers put a token before the text, or change its spaces on the way back.
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


def _units(scores: Sequence[Score], missing: float) -> list[float]:
    """In [0, 1], for the trainer's dynamic filtering."""
    units = [unit(score) for score in scores]
    return [missing if value is None else value for value in units]


def _columns(rubric: Rubric, scores: Sequence[Score], missing: float) -> dict[str, list[float]]:
    parts = [numbers(components(rubric, score), missing) for score in scores]
    return {key: [part[key] for part in parts] for key in (parts[0] if parts else ())}


def _tensor(values: list[float]) -> Any:
    """A tensor where the caller has torch: a list makes its batches a dimension deeper."""
    torch = sys.modules.get("torch")
    return values if torch is None else torch.tensor(values, dtype=torch.float32)
