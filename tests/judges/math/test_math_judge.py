"""`MathAnswerAsJudge`: the box against the reference, by exact text."""

import asyncio
import builtins
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import Case, CaseError, ConfigError, Rubric, Signal, Status, Trace, score
from fourscore.judges.agentjet import MathAnswerAsJudge
from fourscore.judges.math import MathJudge, read_reference
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

steady = settings(deadline=None)


def reward(
    final_answer: Any, answer: Any = "42", config: dict[str, Any] | None = None
) -> tuple[float, bool]:
    task = WorkflowTask(Task(task_id="t-1", metadata={"answer": answer}))
    output = WorkflowOutput(metadata={"final_answer": final_answer})
    return MathAnswerAsJudge(config).compute_reward(task, output)


def signal_of(case: Case, trace: Trace, judge: MathJudge | None = None) -> Signal:
    (signal,) = asyncio.run((judge or MathJudge()).judge(case, trace))
    return signal


@pytest.mark.parametrize(
    ("final_answer", "answer"),
    [
        (r"The answer is \boxed{42}.", "42"),
        (r"\boxed{ 42 }", " 42 "),
        (r"\boxed{1} no, \boxed{42}", "42"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\fbox{42}", "42"),
        (r"\boxed 42", "42"),
        (r"<think>\boxed{1}</think> \boxed{42}", "42"),
        (r"\boxed{42} <think>or \boxed{1}?</think>", "42"),
        (r"<think>a<think>\boxed{1}</think>b</think>\boxed{42}", "42"),
        (r"\boxed{42}", 42),
        (r"\boxed{42}", 42.0),
        (r"\boxed{0.5}", 0.5),
        (r"\boxed{-3}", -3),
        (r"\boxed{0.0000001}", 1e-7),
        (r"\boxed{10000000000000000000000}", 1e22),
        (r"\boxed{42}", "6 times 7\n#### 42"),
        (r"\boxed{42}", "#### 1 #### 42 "),
        (r"\boxed{x+1}", "x+1"),
        (r"\boxed{答案}", "答案"),
    ],
)
def test_right_answers_earn_one(final_answer: str, answer: Any) -> None:
    assert reward(final_answer, answer) == (1.0, True)


@pytest.mark.parametrize(
    ("final_answer", "answer"),
    [
        (r"\boxed{41}", "42"),
        ("42", "42"),
        (r"\boxed{42", "42"),
        (r"\boxed{}", "42"),
        (r"\boxed{42} \boxed{}", "42"),
        (r"\boxed{42} \boxed{41}", "42"),
        (r"<think>\boxed{42}</think>", "42"),
        (r"<think>\boxed{42}", "42"),
        (r"\boxed{42.0}", "42"),
        (r"\boxed{42}", "42.0"),
        (r"\boxed{1/2}", "0.5"),
        (r"\boxed{4 2}", "42"),
        (r"\boxed{X}", "x"),
        ("", "42"),
        (None, "42"),
        (42, "42"),
    ],
)
def test_wrong_answers_earn_zero(final_answer: Any, answer: Any) -> None:
    assert reward(final_answer, answer) == (0.0, False)


def test_a_missing_final_answer_earns_zero() -> None:
    task = WorkflowTask(Task(metadata={"answer": "42"}))
    assert MathAnswerAsJudge(None).compute_reward(task, WorkflowOutput()) == (0.0, False)


@pytest.mark.parametrize(
    ("option", "final_answer", "answer"),
    [
        ({"box": "first"}, r"\boxed{42} \boxed{1}", "42"),
        ({"box_forms": "braces"}, r"\boxed{42} \fbox{1} \boxed 2", "42"),
        ({"think": "keep"}, r"<think>\boxed{42}</think>", "42"),
        ({"reference": "whole"}, r"\boxed{a #### 42}", "a #### 42"),
    ],
)
def test_options_restore_the_original_agentjet_rules(
    option: dict[str, Any], final_answer: str, answer: str
) -> None:
    assert reward(final_answer, answer) == (0.0, False)
    assert reward(final_answer, answer, option) == (1.0, True)


@pytest.mark.parametrize(
    "metadata",
    [{}, {"answer": None}, {"answer": ""}, {"answer": "  "}, {"answer": "#### "}]
    + [{"answer": value} for value in (True, ["42"], {"value": 42}, float("nan"), object())],
)
def test_a_task_without_reference_is_a_case_error_that_names_the_task(
    metadata: dict[str, Any],
) -> None:
    task = WorkflowTask(Task(metadata=metadata), task_id="t-9")
    output = WorkflowOutput(metadata={"final_answer": r"\boxed{42}"})
    with pytest.raises(CaseError, match=r"^task 't-9': metadata\.answer: ") as caught:
        MathAnswerAsJudge(None).compute_reward(task, output)
    assert (caught.value.case_id, caught.value.key) == ("t-9", "metadata.answer")
    assert MathAnswerAsJudge({"on_error": "zero"}).compute_reward(task, output) == (0.0, False)


def test_a_missing_reference_is_an_error_even_without_an_answer() -> None:
    with pytest.raises(CaseError):
        MathAnswerAsJudge(None).compute_reward(WorkflowTask(Task()), WorkflowOutput())


def test_a_missing_reference_is_a_judge_error_not_a_zero() -> None:
    (one,) = asyncio.run(score(Rubric.from_judge(MathJudge()), Case(id="t", input="q"), [Trace()]))
    assert (one.status, one.reward) == (Status.JUDGE_ERROR, None)
    assert one.reason == "math: task 't': metadata.answer: the task has no reference answer"


@pytest.mark.parametrize(
    ("case", "reference"),
    [
        (Case(expected="1", metadata={"answer": "2"}), "1"),
        (Case(metadata={"answer": "2"}), "2"),
        (Case(expected={"answer": "3", "claims": []}), "3"),
        (Case(expected={"claims": []}, metadata={"answer": "2"}), "2"),
        (Case(expected=7.0), "7"),
    ],
)
def test_reads_the_reference_from_expected_else_from_metadata(case: Case, reference: str) -> None:
    assert read_reference(case) == reference


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"thnk": "keep"}, r"judge_options\.thnk: unknown key; did you mean think\?"),
        ({"zzz": 1}, r"judge_options\.zzz: unknown key; known: answer_in, box, box_forms, "),
        ({"box": "frist"}, r"judge_options\.box: "),
        ({"match": 7}, r"judge_options\.match: "),
        ({"on_error": "shrug"}, r"judge_options\.on_error: expected raise or zero"),
    ],
)
def test_the_error_for_a_wrong_option_names_it(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        MathAnswerAsJudge(config)


@pytest.mark.parametrize(
    ("final_answer", "reason"),
    [
        ("", "the agent gave no final_answer"),
        ("42", "no \\boxed{…} in the answer"),
        (r"\boxed{}", "the box is empty"),
        (r"\boxed{41}", "the box holds '41', the reference is '42'"),
        (r"\boxed{42}", "the box holds the reference"),
        ("\\boxed{\x1b[2J}", "the box holds '\\x1b[2J', the reference is '42'"),
    ],
)
def test_the_reason_is_safe_to_print_on_a_terminal(final_answer: str, reason: str) -> None:
    case = Case(input="q", expected="42")
    assert signal_of(case, Trace(output=final_answer)).reason == reason


@pytest.mark.parametrize(
    ("final_answer", "reason"),
    [
        ("<answer>41</answer>", "the answer is '41', the reference is '42'"),
        ("<answer>42</answer>", "the answer is the reference"),
        ("<answer></answer>", "the answer is empty"),
    ],
)
def test_the_reason_names_a_box_only_where_one_is_asked_for(final_answer: str, reason: str) -> None:
    case = Case(input="q", expected="42")
    assert signal_of(case, Trace(output=final_answer), MathJudge(answer_in="tag")).reason == reason


def test_the_evidence_quotes_a_wrong_answer_and_cuts_a_long_one() -> None:
    case = Case(input="q", expected="42")
    signal = signal_of(case, Trace(output="\\boxed{" + "9" * 10_000 + "}"))
    assert signal.evidence[0].text == "9" * 200
    assert len(signal.reason) < 200


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("something was evaluated")


@pytest.mark.parametrize(
    ("hostile", "right"),
    [
        ("\\boxed{" * 100_000, False),
        ("\\boxed" + "{" * 100_000, False),
        ("x" * 10_000_000, False),
        ("\\boxed{" + "9" * 10_000_000 + "}", False),
        ("\\boxed{__import__('pathlib').Path('ran').touch()}", False),
        ("\\boxed{９**９**９**９}", False),
        ("\\boxed{42\x00}", False),
        ("\\boxed{4\ud8002}", False),
        ("\\boxed{４２}", False),
        ("<think>" * 100_000 + "\\boxed{42}", False),
        ("\ud800\x00\\boxed{42}" + "}" * 100_000 + "\\boxed{", True),
    ],
    ids=range(11),
)
def test_hostile_answers_get_a_verdict_and_run_nothing(
    hostile: str, right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in ("eval", "exec", "compile", "__import__"):
        monkeypatch.setattr(builtins, word, refuse)
    verdict = reward(hostile)
    monkeypatch.undo()
    assert verdict == (float(right), right)
    assert list(tmp_path.iterdir()) == []


@steady
@given(st.text())
def test_an_answer_matches_itself_and_nothing_else(text: str) -> None:
    content = text.translate(str.maketrans("", "", "\\{}<#")).strip()
    if content:
        assert reward(f"\\boxed{{{content}}}", content) == (1.0, True)
        assert reward(f"\\boxed{{{content}x}}", content) == (0.0, False)


def test_the_judge_compares_and_pickles_by_value() -> None:
    judge = MathJudge(box="first")
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert judge.names == ("math",)
    assert judge.runs == "inline"
