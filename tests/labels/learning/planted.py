"""Samples graded by hidden criteria, and a scripted model that can find these criteria.

An answer has marks such as `#example #source`; the hidden grader gives points for some of them. The
model proposes criteria from a list with a few right ones, answers yes or no by the marks (sometimes
wrongly), and rates mostly by length.
"""

import json
import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

from fourscore.models.messages import Request
from fourscore.models.scripted import ScriptedModel

#: Marks that the grader gives points for.
PLANTED = {"example": 4.0, "source": 3.0, "summary": 2.0}
#: Marks without points.
DECOYS = ("greeting", "emoji", "table", "quote", "joke", "heading")
MARKS = (*PLANTED, *DECOYS)
NUMBER = re.compile(r"number of this (?:check|request|ranking) is ([0-9a-f]{12})")
ANSWER = re.compile(r"\[[0-9a-f]{12} (?:ANSWER|[A-Z])\]\n(.*?)\n\[", re.DOTALL)
CRITERION = re.compile(r"Statement about the answer: (.*)")


def criterion(mark: str) -> str:
    return f"The answer has a {mark}."


def chance(*parts: Any) -> float:
    """Return a number in [0, 1) that depends only on the parts: repeatable noise."""
    seed = blake2b("\0".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(seed) / 2**64


def answer(number: int, seed: int = 0) -> str:
    draw = Random(f"{seed}/{number}")
    marks = [mark for mark in MARKS if draw.random() < 0.5]
    return (
        f"Answer {number} " + " ".join(f"#{mark}" for mark in marks) + " word" * draw.randint(1, 30)
    )


def score(text: str, noise: float, seed: int = 0) -> int:
    """Return the hidden grader's score, from 0 to 10."""
    paid = sum(weight for mark, weight in PLANTED.items() if f"#{mark}" in text)
    return max(0, min(10, round(0.5 + paid + noise * (chance("grade", seed, text) - 0.5) * 2)))


def rows(n: int, *, noise: float = 1.0, seed: int = 0, shuffled: bool = False) -> list[Any]:
    answers = [answer(number, seed) for number in range(n)]
    scores = [score(text, noise, seed) for text in answers]
    if shuffled:
        Random(seed).shuffle(scores)
    return [
        {"main_query": f"Question {at}", "metadata": {"answer": text, "score": given}}
        for at, (text, given) in enumerate(zip(answers, scores, strict=True))
    ]


def ranked_rows(n: int, size: int = 4, *, seed: int = 0, shuffled: bool = False) -> list[Any]:
    found = []
    for at in range(n):
        answers = [answer(at * size + place, seed) for place in range(size)]
        value = {text: score(text, 0.0, seed) + chance("rank", seed, text) for text in answers}
        ordered = sorted(answers, key=lambda text: -value[text])
        ranks = {text: rank for rank, text in enumerate(ordered, 1)}
        given = [ranks[text] for text in answers]
        if shuffled:
            Random(f"{seed}/{at}").shuffle(given)
        candidates = [
            {"answer": text, "rank": rank} for text, rank in zip(answers, given, strict=True)
        ]
        found.append({"main_query": f"Question {at}", "metadata": {"candidates": candidates}})
    return found


def line(row: Any) -> str:
    return json.dumps(row) + "\n"


def write(path: Path, given: list[Any]) -> Path:
    path.write_text("".join(map(line, given)))
    return path


def reply(user: str, *, error: float = 0.05, seed: int = 0) -> Mapping[str, Any]:
    """Return the model's reply to a question; `error` is the share of wrong verdicts."""
    found = NUMBER.search(user)
    assert found is not None, user
    number = {"number": found[1], "evidence": ""}
    if asked := CRITERION.search(user):
        shown = ANSWER.search(user)
        assert shown is not None
        holds = any(f"a {mark}." in asked[1] and f"#{mark}" in shown[1] for mark in MARKS)
        wrong = chance("check", seed, asked[1], shown[1]) < error
        return {**number, "verdict": "yes" if holds != wrong else "no"}
    if '"criteria"' in user:
        order = sorted(MARKS, key=lambda mark: chance("propose", seed, mark))
        new = [criterion(mark) for mark in order if criterion(mark) not in user]
        return {**number, "criteria": new[:4]}
    if '"criterion"' in user:
        return {**number, "criterion": criterion("table")}
    if '"themes"' in user:
        n = len(re.findall(r"^\d+\. ", user, re.MULTILINE))
        members = [
            {"name": "Content", "members": [1]},
            {"name": "Rest", "members": [*range(2, n + 1)]},
        ]
        return {**number, "themes": members[: 2 if n > 1 else 1]}
    if '"ranking"' in user:
        return {**number, "ranking": _ranking(user, seed)}
    shown = ANSWER.search(user)
    assert shown is not None
    return {**number, "score": min(10, shown[1].count("word") // 4 + shown[1].count("#example"))}


def _ranking(user: str, seed: int) -> list[str]:
    """Return the ranking by the criteria in the question; by length if there are none."""
    shown = dict(re.findall(r"\[[0-9a-f]{12} ([A-Z])\]\n(.*?)\n\[", user, re.DOTALL))
    asked = user.partition("To decide:")[2]
    marks = [mark for mark in MARKS if f"a {mark}" in asked]

    def worth(text: str) -> tuple[float, ...]:
        met = sum(PLANTED.get(mark, 1.0) for mark in marks if f"#{mark}" in text)
        return (met + 0.01 * len(text) if marks else float(len(text)), chance("tie", seed, text))

    return sorted(shown, key=lambda letter: worth(shown[letter]), reverse=True)


def model(
    *, error: float = 0.05, seed: int = 0, name: str = "planted", **options: Any
) -> ScriptedModel:
    script: Callable[[Request], Any] = lambda ask: reply(  # noqa: E731
        ask.messages[1].content, error=error, seed=seed
    )
    return ScriptedModel(script, name=name, **options)
