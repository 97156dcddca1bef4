"""Sources of judges that are loaded, and those that are refused at once."""

from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Rubric, Trace, judge
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.integrations.judge_source import load_scorer
from fourscore.judges.agentjet import MathAnswerAsJudge
from fourscore.judges.math import MathJudge
from fourscore.judges.workflow import BaseJudge

CASE = Case(id="t", expected="2")
ANSWER = [RecordedOutput(Trace(output=r"\boxed{1} \boxed{2}"))]


def reward(source: Any, options: Any = None) -> float | None:
    (score,) = load_scorer(source, options).score(CASE, ANSWER)
    return score.reward


@judge
def half(case: Case, trace: Trace, reward: float = 0.5) -> float:
    return reward


class Generous(BaseJudge):
    def compute_reward(self, workflow_task: Any, workflow_output: Any) -> tuple[float, bool]:
        return 2.0, True


def plain(case: Case, trace: Trace, reward: float = 0.5) -> float:
    return reward


def test_names_files_rubrics_judges_and_functions_are_loaded(tmp_path: Path) -> None:
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
def test_unusable_judge_source_is_refused(source: Any, options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_scorer(source, options)
