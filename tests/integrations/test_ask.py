"""What a user may name, and what is refused before the first step."""

from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Fault, Rubric, Score, Signal, Status, Trace, judge
from fourscore.formats.rows import Recorded
from fourscore.integrations.ask import rewards_of
from fourscore.integrations.verdict import components, error_of, in_short, unit
from fourscore.judges.agentjet import MathAnswerAsJudge
from fourscore.judges.math import MathJudge
from fourscore.judges.workflow import BaseJudge

CASE = Case(id="t", expected="2")
ANSWER = [Recorded(Trace(output=r"\boxed{1} \boxed{2}"))]


def reward(source: Any, options: Any = None) -> float | None:
    (score,) = rewards_of(source, options)(CASE, ANSWER)
    return score.reward


@judge
def half(case: Case, trace: Trace, reward: float = 0.5) -> float:
    return reward


class Generous(BaseJudge):
    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        return 2.0, True


def plain(case: Case, trace: Trace, reward: float = 0.5) -> float:
    return reward


def test_everything_that_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text("ajet:\n  task_judge:\n    judge_protocol: math\n")
    face = MathAnswerAsJudge(None)
    for source in ("math", str(path), path, MathJudge(), Rubric.from_judge(MathJudge()), face):
        assert reward(source) == 1.0
    assert reward(Generous()) == 2.0
    for source in ("math", str(path), path):
        assert reward(source, {"box": "first"}) == 0.0
    assert reward(half) == reward(plain) == 0.5
    assert reward(plain, {"reward": 0.25}) == 0.25


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("maths", {}, "'maths' is no judge"),
        ("math", {"bax": 1}, "judge_options.bax"),
        ("nowhere.yaml", {}, "nowhere.yaml"),
        (plain, {"size": 1}, "options: judge 'plain'"),
        (MathJudge(), {"box": "first"}, "options: only a name or a function"),
        (Rubric.from_judge(half), {"box": "first"}, "options: only a name or a function"),
        (7, {}, "expected a judge, a rubric, a name or a path, got int"),
        (MathJudge, {}, "got the class MathJudge"),
    ],
)
def test_what_is_refused_at_once(source: Any, options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        rewards_of(source, options)


def failed(kind: Any, message: str) -> Score:
    signal = Signal(name="math", fault=Fault(kind, message))
    return Score(status=Status.JUDGE_ERROR, reason=f"math: {message}", signals=(signal,))


def test_an_error_says_whose_fault_it_was() -> None:
    lost = error_of(CASE, failed("data", "task 't': metadata.answer: it is not there"))
    assert (type(lost).__name__, str(lost)) == (
        "CaseError",
        "task 't': metadata.answer: it is not there",
    )
    for kind, words in (
        ("error", "ValueError: x"),
        ("timeout", "late"),
        ("data", "in other words"),
    ):
        error = error_of(CASE, failed(kind, words))
        assert type(error).__name__ == "JudgeError"
        assert str(error) == f"task 't': judge_error: math: {words}"


def test_in_short_there_is_nothing_of_the_judges_words() -> None:
    for kind in ("data", "error", "timeout", "refused", "cancelled"):
        short = in_short(failed(kind, "the secret"))
        assert short.startswith("math: ")
        assert "secret" not in short
    assert in_short(Score(status=Status.SKIPPED, reason="the secret")) == "skipped"


def test_keys_do_not_depend_on_what_was_said() -> None:
    rubric = Rubric.from_judge(MathJudge())
    silent = components(rubric, Score(status=Status.CANCELLED))
    agent = components(
        rubric, Score(status=Status.AGENT_ERROR, reward=0.0, passed=False, value=0.0)
    )
    assert (
        list(silent)
        == list(agent)
        == ["fourscore_judged", "fourscore_passed", "fourscore_signal_math"]
    )
    assert list(silent.values()) == [0.0, None, None]
    assert list(agent.values()) == [1.0, 0.0, None]


def test_a_ranking_is_its_reward_in_the_unit() -> None:
    assert unit(Score(status=Status.SCORED, reward=1.5, passed=True)) == 1.0
    assert unit(Score(status=Status.SCORED, reward=1.5, value=0.75, passed=True)) == 0.75
    assert unit(Score(status=Status.SKIPPED)) is None
