"""The detectors on the labelled outputs: 0.95 on what they were written against, less on the rest.

Misses are listed for the worked part only: nobody is to learn the frozen one from a failed test.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rubrica.judges.fitness import detectors

pytest.importorskip("tree_sitter")

ROOM = Path(__file__).parents[3] / "labelled" / "detectors"
DETECTORS: dict[str, Callable[[str, str], bool]] = {
    "direct_answer": detectors.has_direct_answer,
    "explanation": detectors.has_explanation,
    "next_steps": lambda output, _request: detectors.has_next_steps(output),
    "follows_format": detectors.follows_format,
    "syntax_error": lambda output, _request: detectors.has_syntax_errors(output),
    "code_block": lambda output, _request: detectors.has_code_block(output),
}


def rows(part: str) -> list[dict[str, Any]]:
    with (ROOM / f"{part}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def figures(name: str, part: str) -> tuple[float, float, list[str]]:
    """Precision, recall, and the ids of what was got wrong."""
    right = alarms = missed = 0
    wrong = []
    for row in rows(part):
        if name not in row["labels"]:
            continue
        said, true = DETECTORS[name](row["output"], row["request"]), row["labels"][name]
        right += said and true
        alarms += said and not true
        missed += true and not said
        if said != true:
            wrong.append(row["id"])
    return right / (right + alarms), right / (right + missed), wrong


@pytest.mark.parametrize("name", DETECTORS)
def test_worked(name: str) -> None:
    precision, recall, wrong = figures(name, "worked")
    assert precision >= 0.95, wrong
    assert recall >= 0.95, wrong


#: The precision and recall to hold on the frozen part.
WANTED = dict.fromkeys(DETECTORS, (0.85, 0.85))


@pytest.mark.parametrize("name", DETECTORS)
def test_frozen(name: str) -> None:
    precision, recall, _wrong = figures(name, "frozen")
    assert precision >= WANTED[name][0]
    assert recall >= WANTED[name][1]
