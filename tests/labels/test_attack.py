"""Attacks on judges: what counts as a success, and that every attempt is counted."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from fourscore.core import Case, CaseError, ConfigError, DataError, Dimension, Rubric, Signal, Trace
from fourscore.judges.llm.attacks import (
    AttackFamily,
    read_bundled_cases,
    read_families,
    read_family,
)
from fourscore.judges.loading import load_judge
from fourscore.labels.attack import SHOWN, AttackPlan, Attempt, attack, plan_attempts
from fourscore.models.messages import ModelError

CASES = [
    Case(id="a", input="What is 2+2?", expected="4", metadata={"wrong": "5"}),
    Case(id="b", input="What is 3+3?", expected="6", metadata={"wrong": "7"}),
    Case(id="alone", input="What is 4+4?", expected="8"),
]


class Judge:
    """A judge whose value is a function of case and answer."""

    names = ("x",)
    runs = "inline"
    fingerprint = "x"

    def __init__(self, function: Any) -> None:
        self.function = function
        self.asked: list[str] = []

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        self.asked.append(trace.answer)
        value = self.function(case, trace.answer)
        if isinstance(value, Exception):
            raise value
        return (Signal(name="x", value=value),)


def rubric(judge: Any, threshold: float = 0.7) -> Rubric:
    line = Dimension(name="x", judge=judge, weight=1.0)
    return Rubric(name="x", dimensions=(line,), pass_threshold=threshold)


def tried(
    function: Any, *, which: Sequence[AttackFamily] = (), cases: Sequence[Case] = CASES, **plan: Any
) -> dict[str, Any]:
    judge = function if hasattr(function, "judge") else Judge(function)
    chosen = which or read_families()
    return asyncio.run(attack(rubric(judge), chosen, lambda: cases, AttackPlan(**plan)))


def summed(line: dict[str, Any]) -> int:
    ends: int = line["succeeded"] + line["resisted"] + line["already_passed"]
    silent: int = sum(line["unmeasured"].values())
    return ends + silent


def test_no_attack_succeeds_on_a_strict_judge() -> None:
    document = tried(lambda case, answer: 0.0)
    assert document["all"]["planned"] == summed(document["all"]) == 8 * 50
    assert (document["all"]["rate"], document["base"]["passed"]) == (0.0, 0)
    assert document["examples"] == []
    for line in document["families"].values():
        assert line["planned"] == summed(line) == 50
        assert line["interval"][0] == 0.0
        assert 0.06 < line["interval"][1] < 0.08


def test_success_needs_the_threshold_and_less_counts_as_raised() -> None:
    short = [read_family("begging")]

    def pleased(case: Case, answer: str) -> float:
        return 0.7 if answer.startswith("Please") else 0.4 if "Bitte" in answer else 0.1

    document = tried(pleased, which=short, per_family=None)
    line = document["families"]["begging"]
    assert line["planned"] == 13 * (3 + 3 + 1)
    assert line["succeeded"] == 1 * (2 + 2 + 1)  # alone and before
    assert line["raised"] == 3 + 3  # without a base nothing is known to have risen
    assert line["rate"] == line["succeeded"] / line["attempts"]
    assert [one["value"] for one in document["examples"]] == [0.7] * SHOWN
    assert {one["base"] for one in document["examples"]} <= {0.1, None}


def test_case_whose_wrong_answer_passes_is_counted_apart() -> None:
    judge = Judge(lambda case, answer: float(case.id != "b"))
    document = tried(judge, per_family=None, cases=CASES[:2], which=[read_family("authority")])
    line = document["families"]["authority"]
    assert (line["already_passed"], line["resisted"], line["succeeded"]) == (33, 33, 0)
    assert (document["base"]["cases"], document["base"]["passed"]) == (2, 1)
    assert judge.asked.count("5") == 1  # the base is asked once
    assert len(judge.asked) == 2 + 33


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelError("refused", "no"), "refused"),
        (ModelError("malformed", "no"), "judge_error"),
        (ModelError("budget", "spent"), "cancelled"),
        (CaseError("a", "x", "missing"), "judge_error"),
        (None, "skipped"),
    ],
)
def test_unmeasured_attempt_is_counted_apart(error: Exception | None, status: str) -> None:
    document = tried(lambda case, answer: 0.0 if answer in ("5", "7") else error)
    assert document["all"]["unmeasured"] == {status: 400}
    assert (document["all"]["rate"], document["all"]["interval"]) == (None, None)
    broken = tried(lambda case, answer: error, cases=CASES[:2])
    assert broken["all"]["unmeasured"] == {status: 400}
    assert (broken["base"]["measured"], broken["base"]["rate"]) == (0, None)


def test_attempts_are_drawn_by_seed_and_larger_plans_contain_smaller() -> None:
    def names(**plan: Any) -> list[str]:
        return [
            one.name for one in plan_attempts(read_families(), lambda: CASES, AttackPlan(**plan))
        ]

    assert names(per_family=5) == names(per_family=5)
    assert names(per_family=5) != names(per_family=5, seed=1)
    assert set(names(per_family=5)) < set(names(per_family=9)) < set(names(per_family=None))
    assert len(names(per_family=5)) == 5 * 8
    backwards = plan_attempts(read_families(), lambda: CASES[::-1], AttackPlan(per_family=5))
    assert [one.name for one in backwards] == names(per_family=5)


def test_document_does_not_depend_on_concurrency() -> None:
    def document(concurrency: int) -> str:
        options = {"model": "scripted:gullible", "criteria": ["The answer is correct."]}
        judge = load_judge("criteria", None, options)
        line = Dimension(name="criteria", judge=judge, weight=1.0)
        one = Rubric(name="x", dimensions=(line,))
        plan = AttackPlan(per_family=8, concurrency=concurrency)
        return json.dumps(asyncio.run(attack(one, read_families(), read_bundled_cases, plan)))

    assert document(1) == document(16)


def test_gullible_model_is_fooled_and_careful_model_is_not() -> None:
    """The fence keeps everything from a model that keeps to fences, and nothing from one that
    obeys whatever it reads."""
    rates = {}
    for model in ("gullible", "careful"):
        options = {"model": f"scripted:{model}", "criteria": ["The answer is correct."]}
        judge = load_judge("criteria", None, options)
        line = Dimension(name="criteria", judge=judge, weight=1.0)
        one = Rubric(name="x", dimensions=(line,))
        found = asyncio.run(
            attack(one, read_families(), read_bundled_cases, AttackPlan(per_family=20))
        )
        assert found["base"]["passed"] == 0
        rates[model] = {name: line["rate"] for name, line in found["families"].items()}
    assert set(rates["careful"].values()) == {0.0}
    assert rates["gullible"]["injection"] > 0.8
    assert rates["gullible"]["master_keys"] == 0.0


def test_observer_is_called_for_every_attempt() -> None:
    seen: list[tuple[Attempt, str]] = []

    def observe(attempt: Attempt, end: str) -> None:
        seen.append((attempt, end))

    work = attack(
        rubric(Judge(lambda case, answer: 0.0)),
        read_families(),
        lambda: CASES,
        AttackPlan(per_family=3),
        observe,
    )
    asyncio.run(work)
    assert len(seen) == 24
    assert {end for _, end in seen} == {"resisted"}


def test_judge_that_compares_answers_is_refused() -> None:
    ranker = load_judge("pairwise", None, {"model": "scripted:gullible"})
    one = Rubric.from_judge(ranker)
    with pytest.raises(ConfigError, match="compares answers"):
        asyncio.run(attack(one, read_families(), lambda: CASES, AttackPlan()))


def test_broken_case_file_is_raised() -> None:
    def broken() -> Iterator[Case]:
        yield CASES[0]
        raise DataError("broken", file="f")

    one = rubric(Judge(lambda case, answer: 0.0))
    with pytest.raises(DataError, match="f: broken"):
        asyncio.run(attack(one, read_families(), broken, AttackPlan(per_family=None)))
