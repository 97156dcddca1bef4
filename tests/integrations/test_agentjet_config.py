"""AgentJet's YAML, and the same under `fourscore:`; mistakes are reported with their place."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Rubric, Trace, score
from fourscore.integrations.agentjet_config import rubric_from_config, rubric_from_name
from fourscore.judges.countdown import CountdownJudge
from fourscore.judges.math import MathJudge

AUTO_GRADER = """\
fourscore:
  task_judge:
    judge_type: rubrics_auto_grader
    rubrics_auto_grader:
      model_name: "qwen-plus"
      api_key: "a-key"
      grader_mode: "pointwise"
      language: "en"
      min_score: 0
      max_score: 10
      input_data_type: "dataset_file"
      dataset_file:
        training:
          file_path: "samples.jsonl"
      query_field: "main_query"
      answer_field: "final_answer"
      reference_field: "answer"
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rubric(text: str, **overrides: Any) -> Rubric:
    Path("config.yaml").write_text(text, encoding="utf-8")
    return rubric_from_config("config.yaml", overrides)


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        rubric(text)
    return str(caught.value)


def config(*lines: str, root: str = "ajet") -> str:
    return "\n".join([f"{root}:", "  task_judge:", *(f"    {line}" for line in lines), ""])


MATH = "tutorial.example_math_agent.math_answer_as_judge->MathAnswerAsJudge"
COUNTDOWN = "tutorial.example_countdown.countdown_answer_as_judge->CountdownAnswerAsJudge"


@pytest.mark.parametrize("root", ["ajet", "fourscore"])
@pytest.mark.parametrize(
    ("protocol", "judge"),
    [
        (MATH, MathJudge()),
        (COUNTDOWN, CountdownJudge()),
        ("math", MathJudge()),
        ("fourscore.judges.agentjet->MathAnswerAsJudge", MathJudge()),
    ],
)
def test_agentjet_judges_load_under_ajet_and_fourscore(
    root: str, protocol: str, judge: object
) -> None:
    text = config("judge_type: customized_protocol", f"judge_protocol: {protocol}", root=root)
    (dimension,) = rubric(text).dimensions
    assert dimension.judge == judge


def test_judge_type_is_customized_protocol_by_default() -> None:
    assert rubric(config("judge_protocol: math")).dimensions[0].judge == MathJudge()


def test_options_reach_the_judge_and_overrides_win() -> None:
    text = config(
        f"judge_protocol: {COUNTDOWN}", "judge_options: {format_score: 0.3, correct_score: 2}"
    )
    judge = rubric(text, format_score=0.2).dimensions[0].judge
    assert judge == CountdownJudge(format_score=0.2, correct_score=2)


def test_other_sections_of_agentjet_are_ignored() -> None:
    text = (
        "defaults: [trinity, verl]\n"
        "ajet:\n"
        "  project_name: tests\n"
        "  model: {path: /models/qwen, tmperature: 1}\n"
        "  rollout: {n: 8}\n"
        "  task_judge:\n"
        "    judge_type: customized_protocol\n"
        "    judge_protocol: math\n"
        "    alien_llm_model: qwen3\n"
        "    alien_llm_response_length: 512\n"
        "trainer: [anything, 2024-01-01]\n"
    )
    assert rubric(text).name == "math"


def test_custom_judge_gets_the_whole_configuration() -> None:
    Path("mine.py").write_text(
        "from ajet.task_judge.base_judge import BaseJudge\n"
        "class Mine(BaseJudge):\n"
        "    def compute_reward(self, workflow_task, workflow_output):\n"
        "        ajet = self.config.ajet\n"
        "        return ajet.bonus.much, ajet.task_judge.judge_options.sure\n"
    )
    text = config("judge_protocol: mine.py->Mine", "judge_options: {sure: true}")
    mine = rubric(text + "  bonus: {much: 0.25}\n")
    (scored,) = asyncio.run(score(mine, Case(id="c"), [Trace()]))
    assert (scored.reward, scored.passed) == (0.25, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "config.yaml: expected a section ajet: or fourscore: at the top"),
        ("- ajet\n", "config.yaml: expected a section ajet: or fourscore: at the top"),
        ("agentjet: {}\n", "config.yaml: expected a section ajet: or fourscore: at the top"),
        (
            config("judge_protocol: math") + config("judge_protocol: math", root="fourscore"),
            "config.yaml: expected one of ajet: and fourscore: at the top",
        ),
        ("x: 1\najet: 3\n", "config.yaml:2: ajet: it has no task_judge section"),
        (
            "ajet:\n  task_juge: {}\n",
            "config.yaml:1: ajet: it has no task_judge section; did you mean task_juge?",
        ),
    ],
)
def test_config_without_a_task_judge_section_is_refused(text: str, message: str) -> None:
    assert refused(text) == message


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["judge_type: customized_protocol", "judge_protocl: math"],
            "config.yaml:4: ajet.task_judge.judge_protocl: unknown key; did you mean judge",
        ),
        (
            ["judge_protocol: math", "7: math"],
            "config.yaml:4: ajet.task_judge.7: unknown key; known: ",
        ),
        (
            ["judge_type: customised_protocol", "judge_protocol: math"],
            (
                "config.yaml:3: ajet.task_judge.judge_type: expected one of "
                "customized_protocol, rubrics_auto_grader, got 'customised_protocol'"
            ),
        ),
        (
            ["judge_protocol: [math]"],
            "config.yaml:3: ajet.task_judge.judge_protocol: expected str | null, got array",
        ),
        (
            ["judge_protocol: math", "judge_options: match"],
            "config.yaml:4: ajet.task_judge.judge_options: expected object | null, got str",
        ),
        (
            ["judge_protocol: math", "judge_options:", "  macth: exact"],
            "config.yaml:5: ajet.task_judge.judge_options.macth: unknown key; did you mean",
        ),
        (
            ["judge_protocol: countdown", "judge_options:", "  format_score: much"],
            "config.yaml:5: ajet.task_judge.judge_options.format_score: ",
        ),
        (
            ["judge_protocol: math", "judge_options: {on_error: ignore}"],
            "config.yaml:4: ajet.task_judge.judge_options.on_error: expected raise or zero",
        ),
        (
            ["judge_type: customized_protocol"],
            "config.yaml:2: ajet.task_judge: customized_protocol needs a judge_protocol",
        ),
        (
            ["judge_protocol: ''"],
            "config.yaml:2: ajet.task_judge: customized_protocol needs a judge_protocol",
        ),
        (
            ["judge_type: rubrics_auto_grader"],
            "config.yaml:2: ajet.task_judge: rubrics_auto_grader needs a section of that name",
        ),
        (
            ["judge_protocol: mth"],
            "config.yaml:3: ajet.task_judge.judge_protocol: 'mth' is no judge: ",
        ),
        (
            ["judge_protocol: nowhere.at_all->Judge"],
            "config.yaml:3: ajet.task_judge.judge_protocol: there is no module nowhere.at_all",
        ),
        (
            ["judge_protocol: missing.py->Judge"],
            "config.yaml:3: ajet.task_judge.judge_protocol: no such file: ",
        ),
        (
            ["judge_protocol: fourscore.judges.agentjet->MathAnswerAsJuge"],
            "config.yaml:3: ajet.task_judge.judge_protocol: ",
        ),
    ],
)
def test_mistake_in_task_judge_is_reported_with_path_and_line(
    lines: list[str], message: str
) -> None:
    assert refused(config(*lines)).startswith(message)


def test_task_judge_that_is_no_mapping_is_refused() -> None:
    message = "config.yaml:2: ajet.task_judge: expected object, got str"
    assert refused("ajet:\n  task_judge: math\n") == message


def test_auto_grader_config_gives_a_rubric_that_learns_later() -> None:
    place = (
        "config.yaml:14: fourscore.task_judge.rubrics_auto_grader.dataset_file.training.file_path"
    )
    assert refused(AUTO_GRADER).startswith(f"{place}: no such file: ")
    Path("samples.jsonl").write_text("{}\n")
    given = rubric(AUTO_GRADER)
    assert (given.name, given.pass_threshold) == ("auto_grader", 0.7)
    assert given.provenance.models == ("qwen-plus",)
    judge: Any = given.dimensions[0].judge
    assert judge.section.api_key is None
    assert "a-key" not in repr(vars(judge))


def test_dataset_file_is_a_synonym_in_the_auto_grader_section() -> None:
    Path("samples.jsonl").write_text("{}\n")
    text = AUTO_GRADER.replace("dataset_file", "jsonl_dataset_file")
    assert rubric(text).name == "auto_grader"
    assert rubric(text.replace('input_data_type: "jsonl_', 'input_data_type: "')).name


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("model_name", "model_nme", "5: {}.model_nme: unknown key; did you mean model_name?"),
        ("model_name:", "base_url:", "4: {}.model_name: it is missing"),
        ('"qwen-plus"', "3", "5: {}.model_name: expected str, got int"),
        (
            "pointwise",
            "pairwise",
            "7: {}.grader_mode: expected one of pointwise, listwise, got 'pairwise'",
        ),
        ('"en"', '"fr"', "8: {}.language: expected one of en, zh, got 'fr'"),
        ("min_score: 0", "min_score: low", "9: {}.min_score: expected float, got str"),
        ("min_score: 0", "min_score: 10", "9: {}.min_score: expected less than max_score (10)"),
        (
            "training",
            "trainig",
            "13: {}.dataset_file.trainig: unknown key; did you mean training?",
        ),
        (
            "file_path",
            "filepath",
            "14: {}.dataset_file.training.filepath: unknown key; did you mean file_path?",
        ),
        (
            '"samples.jsonl"',
            "[a, b]",
            "14: {}.dataset_file.training.file_path: expected str, got array",
        ),
    ],
)
def test_mistake_in_the_auto_grader_section_is_reported_with_its_line(
    old: str, new: str, message: str
) -> None:
    place = "fourscore.task_judge.rubrics_auto_grader"
    expected = f"config.yaml:{message.format(place)}"
    assert refused(AUTO_GRADER.replace(old, new, 1)).startswith(expected)


def test_auto_grader_section_is_checked_for_other_judge_types_too() -> None:
    text = AUTO_GRADER.replace("judge_type: rubrics_auto_grader", "judge_protocol: math")
    assert rubric(text).name == "math"
    assert "model_nme" in refused(text.replace("model_name", "model_nme"))


def test_judge_loaded_by_name_takes_options() -> None:
    assert rubric_from_name("countdown", {"format_score": 0.2}).dimensions[0].judge == (
        CountdownJudge(format_score=0.2)
    )
    with pytest.raises(ConfigError, match="did you mean format_score"):
        rubric_from_name("countdown", {"format_scor": 0.2})
