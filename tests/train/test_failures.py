"""A trainer is told of answers without a reward: warnings, a rate, and an end where all fail."""

import asyncio
import logging
import math
import pickle
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, JudgeError, Score, Signal, Status, Trace, judge
from fourscore.core.trace import Fault
from fourscore.integrations import agentjet, openrlhf, trl, verifiers, verl
from fourscore.integrations.judge_source import load_scorer
from fourscore.train.failures import FIRST_IN_A_ROW, IN_A_ROW, MAX_KINDS, FailureLog
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

JUDGED = Score(status=Status.SCORED, value=0.0, reward=0.0, passed=False)
SKIPPED = Score(status=Status.SKIPPED, reason="nothing applies")


def failed(message: str = "ValueError: odd") -> Score:
    signal = Signal(name="j", fault=Fault("error", message))
    return Score(status=Status.JUDGE_ERROR, signals=(signal,), reason=f"j: {message}")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == "fourscore.train"]


def test_each_kind_is_told_once_with_its_count_and_the_rate(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = FailureLog("math")
    log.add([JUDGED, failed("task 'a': metadata.answer: missing"), failed("ValueError: odd")])
    log.add([JUDGED, *[failed(f"task '{n}': metadata.answer: missing") for n in range(8)]])
    assert warnings(caplog) == [
        "math: not judged: j: metadata.answer: missing (1 time); 2 of 3 answers so far (66.7%)",
        "math: not judged: j: ValueError: odd (1 time); 2 of 3 answers so far (66.7%)",
    ]
    log.add([JUDGED, failed("task 'z': metadata.answer: missing")])
    assert warnings(caplog)[2:] == [
        "math: not judged: j: metadata.answer: missing (10 times); 11 of 14 answers so far (78.6%)"
    ]
    assert log.rate == 11 / 14


def test_kinds_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    log = FailureLog("math", "none")
    for n in range(1000):
        log.add([JUDGED, failed(f"odd {n}")])
    assert len(warnings(caplog)) <= MAX_KINDS + 4


def test_batch_without_any_reward_raises() -> None:
    with pytest.raises(JudgeError, match=r"math: none of 2 answers could be judged: j: Val.*none"):
        FailureLog("math").add([failed(), failed()])
    FailureLog("math", "none").add([failed(), failed()])
    FailureLog("math").add([failed()])
    FailureLog("math").add([failed(), SKIPPED])
    FailureLog("math").add([SKIPPED, SKIPPED])
    FailureLog("math").add([])
    assert FailureLog("math").rate == 0.0


@pytest.mark.parametrize(("before", "most"), [(0, FIRST_IN_A_ROW), (3, IN_A_ROW)])
def test_many_single_answers_in_a_row_raise(before: int, most: int) -> None:
    log = FailureLog("math")
    for _ in range(before):
        log.add([JUDGED])
    for _ in range(most - 1):
        log.add([failed()])
    with pytest.raises(JudgeError, match=f"none of {most} answers"):
        log.add([failed()])


def test_short_outage_after_a_judged_answer_does_not_raise() -> None:
    log = FailureLog("math")
    log.add([JUDGED])
    for _ in range(IN_A_ROW // 64 - 1):
        log.add([failed()] * 64)
    log.add([JUDGED, failed()])
    for _ in range(IN_A_ROW // 64 - 1):
        log.add([failed()] * 64)
    with pytest.raises(JudgeError, match=f"none of {IN_A_ROW} answers"):
        log.add([failed()] * 64)


def test_one_judged_answer_begins_the_count_anew() -> None:
    log = FailureLog("math")
    for n in range(2000):
        log.add([JUDGED if n % 20 == 0 else failed()])
    assert log.failed == 1900


def test_unknown_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="on_all_failed: expected raise or none"):
        trl.Reward("math", on_all_failed="zero")  # type: ignore[arg-type]


@judge
def broken(case: Case, trace: Trace) -> float:
    if trace.answer == "bad":
        raise RuntimeError("no connection")
    return 1.0


def ask_trl(adapter: Any, answers: list[str]) -> Any:
    return adapter(prompts=["?"] * len(answers), completions=answers)


def ask_openrlhf(adapter: Any, answers: list[str]) -> Any:
    return adapter([f"?{a}" for a in answers], ["?"] * len(answers), [""] * len(answers))["rewards"]


def ask_verl(adapter: Any, answers: list[str]) -> Any:
    return [adapter.compute_score("s", answer, "")["score"] for answer in answers]


def ask_agentjet(adapter: Any, answers: list[str]) -> Any:
    task = WorkflowTask(Task(task_id="t"))
    outputs = [WorkflowOutput(metadata={"final_answer": answer}) for answer in answers]
    return [adapter.compute_reward(task, output)[0] for output in outputs]


ADAPTERS: list[tuple[Any, Any]] = [
    (trl.Reward, ask_trl),
    (openrlhf.RewardFunc, ask_openrlhf),
    (verl.Scorer, ask_verl),
    (agentjet.TaskJudge, ask_agentjet),
]


@pytest.mark.parametrize(("kind", "ask"), ADAPTERS)
def test_adapter_raises_where_nothing_is_judged(
    kind: Any, ask: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(JudgeError, match=r"none of \d+ answers could be judged: broken: Runtime"):
        ask(kind(broken, on_error="zero"), ["bad"] * 40)
    assert "not judged: broken: RuntimeError: no connection" in caplog.text
    lenient = kind(broken, on_error="zero", on_all_failed="none")
    assert list(ask(lenient, ["bad"] * 40)) == [0.0] * 40
    assert lenient.failures.rate == 1.0
    assert pickle.loads(pickle.dumps(lenient)).failures.on_all_failed == "none"


@pytest.mark.parametrize(("kind", "ask"), ADAPTERS)
def test_one_bad_answer_costs_only_itself(kind: Any, ask: Any) -> None:
    answers = ["good", "bad", "good"]
    assert list(ask(kind(broken, on_error="zero"), answers)) == [1.0, 0.0, 1.0]


def test_group_of_agentjet_without_rewards_is_told(caplog: pytest.LogCaptureFixture) -> None:
    adapter = agentjet.TaskJudge(broken)
    outputs = [WorkflowOutput(metadata={"final_answer": "bad"})] * 2
    filled = asyncio.run(adapter.fill_rewards(WorkflowTask(Task(task_id="t")), outputs))
    assert [output.reward for output in filled] == [None, None]
    assert len(warnings(caplog)) == 1


def test_one_bad_answer_does_not_end_a_run_of_verl(caplog: pytest.LogCaptureFixture) -> None:
    scorer = verl.Scorer(broken)
    result = scorer.compute_score("s", "bad", "")
    assert (result["score"], result["fourscore_judged"]) == (0.0, 0.0)
    assert "no connection" in result["fourscore_reason"]
    assert len(warnings(caplog)) == 1


def test_query_that_cannot_be_read_costs_only_itself_with_openrlhf() -> None:
    func = openrlhf.RewardFunc("math", on_error="none")
    rewards = func([r"?\boxed{1}", "other", r"?\boxed{2}"], ["?"] * 3, ["1"] * 3)["rewards"]
    assert [rewards[0], rewards[2]] == [1.0, 0.0]
    assert math.isnan(rewards[1])


def test_misspelt_reference_column_raises() -> None:
    reward = trl.Reward("math", reference="anwser")
    with pytest.raises(ConfigError, match=r"reference: .* no column 'anwser': did you mean answer"):
        reward(prompts=["?"] * 2, completions=["1", "2"], answer=["1", "2"])


def test_missing_column_raises_and_names_the_key() -> None:
    with pytest.raises(
        JudgeError, match=r"none of 2 .*metadata\.answer: the task has no reference"
    ):
        trl.Reward("math")(prompts=["?"] * 2, completions=["1", "2"], solution=["1", "2"])


KINDS: list[Any] = [
    trl.Reward,
    verl.Scorer,
    openrlhf.RewardFunc,
    agentjet.TaskJudge,
    verifiers.rubric_arguments,
    verifiers.TaskReward,
    load_scorer,
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("maths", {}, "did you mean math"),
        ("math", {"mach": "exact"}, "mach"),
        ("missing_module->Judge", {}, "missing_module"),
        ("missing.py->Judge", {}, r"missing\.py"),
        ("rating", {"model": "openai:nobody-has-a-key"}, "there is no key for"),
        ("rating", {"model": "openai:m", "settings": {"key_env": "NO_SUCH"}}, "NO_SUCH"),
    ],
)
def test_mistake_in_the_configuration_raises_at_construction(
    kind: Any, source: str, options: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("FOURSCORE_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match=message):
        kind(source, options)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_extra_raises_at_construction(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from fourscore.core import extras

    monkeypatch.setattr(extras, "find_spec", lambda *_: None, raising=False)
    with pytest.raises(ConfigError, match=r"fourscore\[math\]"):
        kind("math", {"match": "equivalent"})


def test_first_warning_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    FailureLog("math").add([failed()])
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
