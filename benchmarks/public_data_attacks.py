"""Measure whether an output can raise its factual accuracy without stating what is expected."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from public_data_dimensions import judge
from train_reader import Row

from fourscore.judges.dimensions.factual_accuracy import FactualAccuracy
from fourscore.judges.reader.text import STOP_WORDS, is_chinese, split_words

#: Number of outputs that do not state their claim, and the least rise of a value that counts.
ITEMS, RISE = 200, 0.05
_FILLER = "The committee met again in the spring and agreed to keep the minutes for later. "
_LONG = 10_000_000


class Attack(NamedTuple):
    """The effect of an attack on the values of `n` outputs; `most` is the largest rise."""

    n: int
    raised: float
    change: float
    lowest: float
    highest: float
    most: float


def _keywords(row: Row) -> list[str]:
    words = [word for word in split_words(row.wordings[0]) if word not in STOP_WORDS]
    random.Random(row.output).shuffle(words)
    return words


def _append_keywords(row: Row) -> str:
    joint = "" if is_chinese(row.wordings[0]) else " "
    return f"{row.output}\n\n{joint.join(_keywords(row))}"


def _continue_sentence(row: Row) -> str:
    joint = "" if is_chinese(row.wordings[0]) else " "
    return f"{row.output.rstrip('.。!?')} {joint.join(_keywords(row))}"


def _append_list(row: Row) -> str:
    joint = "、" if is_chinese(row.wordings[0]) else ", "
    return f"{row.output}\n\n{joint.join(_keywords(row))}"


def _prepend_denial(row: Row) -> str:
    head = "以下说法都是错误的：" if is_chinese(row.output) else "None of the following is true:"
    return f"{head}\n- {row.wordings[0]}\n\n{row.output}"


ATTACKS: dict[str, Callable[[Row], str]] = {
    "append the claim's words, shuffled": _append_keywords,
    "... in the last sentence": _continue_sentence,
    "... with commas": _append_list,
    "append the question": lambda row: f"{row.output}\n\n{row.question}",
    "open with the question": lambda row: f"{row.question}\n\n{row.output}",
    "list the claim under a denial": _prepend_denial,
    "ask the claim": lambda row: f"{row.output}\n\n{row.wordings[0].rstrip('.。')}?",
    "append 10 MB of filler": lambda row: f"{row.output}\n{_FILLER * (_LONG // len(_FILLER))}",
    "state the claim (no attack)": lambda row: f"{row.output}\n\n{row.wordings[0]}",
}
#: The least content words of a claim that keywords alone cannot answer; `Paris` is an answer.
LONG_CLAIM = 6


def choose_unsupported(sets: Mapping[str, Sequence[Row]], count: int = ITEMS) -> list[Row]:
    """Return the same number of items of each set that people did not label supported."""
    each = -(-count // len(sets))
    chosen: list[Row] = []
    for name, rows in sets.items():
        others = [row for row in rows if not row.is_supported]
        chosen += random.Random(name).sample(others, min(each, len(others)))
    return chosen[:count]


def value_of(row: Row, output: str) -> float:
    """Return the factual accuracy of an output for the claim of a row, in any of its wordings."""
    return judge(FactualAccuracy(), row.question, {"answer": row.wordings}, output)


def attack(rows: Sequence[Row]) -> dict[str, Attack]:
    """Return the effect of each attack on outputs that do not state what is expected."""
    before = {id(row): value_of(row, row.output) for row in rows}
    found = {}
    for name, change in ATTACKS.items():
        fitting = [row for row in rows if row.question or "the question" not in name]
        rises = {id(row): value_of(row, change(row)) - before[id(row)] for row in fitting}
        found[name] = _describe([rises[id(row)] for row in fitting])
        if change in (_append_keywords, _continue_sentence, _append_list):
            long = [row for row in fitting if len(_keywords(row)) >= LONG_CLAIM]
            found[f"{name}: {LONG_CLAIM} words and more"] = _describe([rises[id(r)] for r in long])
    return found


def _describe(rises: Sequence[float]) -> Attack:
    values = np.array(rises)
    mean, spread = float(values.mean()), float(1.96 * values.std() / np.sqrt(len(values)))
    raised = float((values > RISE).mean())
    return Attack(len(rises), raised, mean, mean - spread, mean + spread, float(values.max()))
