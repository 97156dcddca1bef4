"""AgentJet's auto grader: its YAML as it is and its two formats, through to rewards."""

import asyncio
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.labels.learning import planted
from tests.models.fake_endpoint import (
    CannedReply,
    Endpoint,
    ReceivedRequest,
    make_completion,
    make_error,
    serve_endpoint,
)

from fourscore import AutoGraderJudge
from fourscore.cli.main import main
from fourscore.core import ConfigError, DataError
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.integrations.judge_source import load_scorer
from fourscore.judges.loading import load_judge
from fourscore.labels.auto_grader_config import DASHSCOPE, read_section
from fourscore.labels.learning.learned_rubric import format_yaml
from fourscore.models.messages import ModelError
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

KEY = "sk-very-secret-0123456789"
CONFIG = """\
ajet:
  task_judge:
    judge_type: rubrics_auto_grader
    rubrics_auto_grader:
      model_name: "qwen-plus"
      api_key: "sk-very-secret-0123456789"
      grader_mode: "pointwise"
      language: "en"
      min_score: 0
      max_score: 10
      input_data_type: "dataset_file"
      dataset_file:
        training:
          file_path: "path/to/rubrics_train.jsonl"
      query_field: "main_query"
      answer_field: "final_answer"
      reference_field: "answer"
"""
GOOD, POOR = "It has #example #source #summary.", "It has a #joke."


def script(request: ReceivedRequest, _: int) -> CannedReply:
    return make_completion(
        json.dumps(planted.reply(request.body["messages"][1]["content"], error=0.0))
    )


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOURSCORE_CACHE", str(tmp_path / "kept" / "replies.sqlite"))
    for name in ("FOURSCORE_BASE_URL", "OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    Path("path/to").mkdir(parents=True)
    planted.write(Path("path/to/rubrics_train.jsonl"), planted.rows(80))
    Path("config.yaml").write_text(CONFIG)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serve_endpoint(script) as found:
        monkeypatch.setenv("FOURSCORE_BASE_URL", found.url)
        yield found


def rows(*outputs: list[str], field: str = "final_answer", **task: Any) -> None:
    lines: list[Any] = [
        {
            "task": {"task_id": str(at), "main_query": "Q", **task},
            "outputs": [{"metadata": {field: text}} for text in texts],
        }
        for at, texts in enumerate(outputs)
    ]
    planted.write(Path("rows.jsonl"), lines)


def judged(*words: str) -> tuple[int, list[dict[str, Any]]]:
    code = main(["judge", "config.yaml", "--data", "rows.jsonl", "--out", "out.jsonl", *words])
    lines = Path("out.jsonl").read_text().splitlines() if Path("out.jsonl").exists() else []
    return code, [json.loads(line) for line in lines]


def change(*pairs: tuple[str, str]) -> None:
    text = Path("config.yaml").read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    Path("config.yaml").write_text(text)


def test_learns_from_scores_and_writes_rewards(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    rows([GOOD, POOR], [""])
    code, lines = judged()
    assert code == 0
    assert [line["is_success"] for line in lines] == [True, False, False]
    assert lines[0]["raw_reward"] > 0.8
    assert lines[0]["reason"].endswith(" of 0 to 10: 3 of 3 criteria are met")
    assert lines[1]["raw_reward"] < 0.3
    assert lines[2]["raw_reward"] == 0.0
    assert all(line["status"] == "scored" for line in lines)
    err = capsys.readouterr().err
    assert "learning a rubric from rubrics_train.jsonl: 80 samples" in err
    assert {request.headers["authorization"] for request in endpoint.requests} == {f"Bearer {KEY}"}
    asked = len(endpoint.requests)
    rows([GOOD])
    assert judged()[0] == 0  # it was learned once
    assert len(endpoint.requests) == asked
    assert "learning" not in capsys.readouterr().err


def test_api_key_is_not_printed_written_or_pickled(
    endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows([GOOD])
    judged("--json")
    out, err = capsys.readouterr()
    assert KEY not in out + err
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "config.yaml":
            assert KEY.encode() not in path.read_bytes(), path
    judge = AutoGraderJudge({"model_name": "qwen-plus", "api_key": KEY, "dataset_file": _dataset()})
    assert KEY not in repr(vars(judge)) + repr(vars(judge.core))
    assert KEY.encode() not in pickle.dumps(judge.core)


def _dataset() -> dict[str, Any]:
    return {"training": {"file_path": "path/to/rubrics_train.jsonl"}}


def test_learns_from_ranks_and_writes_rewards(endpoint: Endpoint) -> None:
    planted.write(Path("path/to/rubrics_train.jsonl"), planted.ranked_rows(80))
    change(("pointwise", "listwise"))
    middle = "It has a #source."
    rows([POOR, GOOD, middle], [GOOD], [POOR, GOOD, GOOD, ""])
    code, lines = judged()
    assert code == 0
    rewards = [line["raw_reward"] for line in lines]
    assert rewards[:3] == [0.0, 1.0, 0.5]
    assert rewards[3] == 1.0  # n = 1
    assert [line["is_success"] for line in lines[:4]] == [False, True, False, True]
    assert rewards[4:] == pytest.approx([1 / 3, 5 / 6, 5 / 6, 0.0])  # ties share their ranks


def test_threshold_scale_and_field_names_take_effect(endpoint: Endpoint) -> None:
    change(
        ("max_score: 10", "max_score: 20\n      success_threshold: 0.3"),
        ('"final_answer"', '"reply"'),
        ('"main_query"', '"question"'),
        ('reference_field: "answer"', 'reference_field: "gold"'),
    )
    samples = [
        {"question": row["main_query"], "metadata": row["metadata"]} for row in planted.rows(80)
    ]
    planted.write(Path("path/to/rubrics_train.jsonl"), samples)
    rows([GOOD], field="reply", metadata={"question": "What else?", "gold": "All of it."})
    code, lines = judged()
    assert code == 0
    assert lines[0]["is_success"] is True
    assert lines[0]["raw_reward"] == pytest.approx(0.45, abs=0.08)
    last = endpoint.requests[-1].body["messages"][1]["content"]
    assert "What else?" in last
    assert "All of it." in last
    rows([GOOD])  # the answer stands under another name: that is no wrong answer
    code, lines = judged()
    assert (code, lines[0]["raw_reward"]) == (3, None)
    assert "metadata.reply: the output has no such field: known: final_answer" in lines[0]["reason"]


def test_learns_chinese_criteria_and_themes(endpoint: Endpoint) -> None:
    change(("max_score: 10", "max_score: 10\n      enable_categorization: true"))
    rows([GOOD])
    assert judged()[0] == 0
    (kept,) = Path("kept/rubrics").glob("*.yaml")
    assert "  content:" in kept.read_text()
    assert KEY not in kept.read_text()


def test_plain_prompt_judges_if_nothing_was_learned(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    planted.write(Path("path/to/rubrics_train.jsonl"), planted.rows(60, shuffled=True))
    rows(["#example" + "word" * 30])
    code, lines = judged()
    assert code == 0
    assert lines[0]["raw_reward"] == 0.8
    assert lines[0]["reason"].startswith("nothing was learned, the plain prompt judges: 8 of 0 to")
    assert "the plain prompt judges" in capsys.readouterr().err


def test_too_few_samples_are_refused(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    planted.write(Path("path/to/rubrics_train.jsonl"), planted.rows(10))
    rows([GOOD])
    assert judged()[0] == 2
    assert "10 samples are too few" in capsys.readouterr().err
    assert not list(Path("kept").rglob("*.yaml"))
    with pytest.raises(DataError, match="10 samples are too few"):
        load_scorer("config.yaml")


def answer_nothing(request: ReceivedRequest, _: int) -> CannedReply:
    """No criteria, and no verdicts that can be read; ratings as usual."""
    reply = planted.reply(request.body["messages"][1]["content"], error=0.0)
    return make_completion(json.dumps(reply) if "score" in reply else "I cannot tell.")


def test_nothing_measured_is_neither_kept_nor_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    change(("qwen-plus", "openai:m"), ("max_score: 10", "max_score: 10\n      max_retries: 1"))
    rows([GOOD], [POOR])
    with serve_endpoint(answer_nothing) as broken:
        monkeypatch.setenv("FOURSCORE_BASE_URL", broken.url)
        code, lines = judged()
        assert code == 3
        assert [line["status"] for line in lines] == ["judge_error"] * 2
        assert all("nothing was measured" in line["reason"] for line in lines)
        with pytest.raises(ConfigError, match="nothing was measured"):
            load_scorer("config.yaml")
        judge = AutoGraderJudge(read_yaml_file("config.yaml").value)
        task, output = WorkflowTask(Task("Q")), WorkflowOutput(metadata={"final_answer": GOOD})
        with pytest.raises(ModelError, match="nothing was measured"):
            judge.compute_reward(task, output)
    assert not list(Path("kept").rglob("*.yaml"))
    with serve_endpoint(script) as mended:
        monkeypatch.setenv("FOURSCORE_BASE_URL", mended.url)
        code, lines = judged()
    assert code == 0
    assert [line["is_success"] for line in lines] == [True, False]


def test_kept_conclusion_that_was_not_measured_is_learned_again(endpoint: Endpoint) -> None:
    rows([GOOD], [POOR])
    judged()
    (kept,) = Path("kept/rubrics").glob("*.yaml")
    text = kept.read_text()
    kept.write_text(
        re.sub("verdicts: .*", "verdicts: 0", text).replace("outcome: learned", "outcome: nothing")
    )
    lines = judged()[1]
    assert [line["is_success"] for line in lines] == [True, False]
    assert "outcome: learned" in kept.read_text()


def test_budget_includes_learning(endpoint: Endpoint, capsys: pytest.CaptureFixture[str]) -> None:
    rows([GOOD])
    code, lines = judged("--budget", "50calls")
    assert code == 3
    assert lines[0]["status"] == "cancelled"
    assert "does not cover" in lines[0]["reason"]
    assert not endpoint.requests


def test_failing_model_is_a_judge_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rows([GOOD], [POOR])
    with serve_endpoint([make_error(401, f"no such key: {KEY}")]) as endpoint:
        monkeypatch.setenv("FOURSCORE_BASE_URL", endpoint.url)
        code, lines = judged()
        assert code == 3
        assert {line["status"] for line in lines} == {"judge_error"}
        assert KEY not in json.dumps(lines)
        assert len(endpoint.requests) == 1  # not once more for every row


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"main_query": "Q", "metadata": {"answer": "A"}}', ":1: metadata.score: missing"),
        ("", "rubrics_train.jsonl: there are no samples in it"),
    ],
)
def test_bad_samples_are_bad_input_with_their_line(
    endpoint: Endpoint, line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("path/to/rubrics_train.jsonl").write_text(line + "\n")
    rows([GOOD])
    assert judged()[0] == 2
    assert message in capsys.readouterr().err


def test_chooses_api_key_and_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    def settings(**more: Any) -> dict[str, Any]:
        section = read_section({"model_name": "qwen-plus", "dataset_file": _dataset(), **more})
        found = section.model_settings()
        return {key: found.get(key) for key in ("base_url", "key_env")}

    assert settings() == {"base_url": DASHSCOPE, "key_env": None}
    assert settings(api_key="k") == {"base_url": DASHSCOPE, "key_env": "api_key of qwen-plus"}
    monkeypatch.setenv("OPENAI_API_KEY", "o")
    assert settings() == {"base_url": None, "key_env": "OPENAI_API_KEY"}
    monkeypatch.setenv("DASHSCOPE_API_KEY", "d")
    assert settings() == {"base_url": DASHSCOPE, "key_env": "DASHSCOPE_API_KEY"}
    assert settings(base_url="http://127.0.0.1:1/v1")["base_url"] == "http://127.0.0.1:1/v1"
    monkeypatch.setenv("FOURSCORE_BASE_URL", "http://127.0.0.1:2/v1")
    assert settings() == {
        "base_url": "http://127.0.0.1:2/v1",
        "key_env": "DASHSCOPE_API_KEY",
    }
    assert read_section({"model_name": "anthropic:c", "dataset_file": _dataset()}).spec == (
        "anthropic:c"
    )


def test_agentjet_class_gives_rewards(endpoint: Endpoint) -> None:
    section = SimpleNamespace(
        model_name="qwen-plus", api_key="k", dataset_file=SimpleNamespace(**_dataset())
    )
    task_judge = SimpleNamespace(judge_type="rubrics_auto_grader", rubrics_auto_grader=section)
    judge = AutoGraderJudge(SimpleNamespace(ajet=SimpleNamespace(task_judge=task_judge)))
    asyncio.run(judge.load_rubrics_from_cache())
    task = WorkflowTask(task=Task(main_query="Q", task_id="1"))

    def output(text: str, **more: Any) -> WorkflowOutput:
        return WorkflowOutput(metadata={"final_answer": text}, **more)

    reward, success = judge.compute_reward(task, output(GOOD))
    assert (reward > 0.8, success) == (True, True)
    several = judge.compute_reward(task, [output(GOOD), output(POOR), output(POOR, reward=0.4)])
    assert [success for _, success in several] == [True, False, False]
    assert several[2][0] == 0.4


def test_on_error_zero_gives_zero_instead_of_raising() -> None:
    options = {
        "model_name": "openai:small",
        "base_url": "http://127.0.0.1:9/v1",
        "max_retries": 1,
        "dataset_file": _dataset(),
    }
    task, output = WorkflowTask(task=Task(main_query="Q")), WorkflowOutput()
    output.metadata["final_answer"] = GOOD
    with pytest.raises(ModelError, match="no rubric"):
        AutoGraderJudge(dict(options)).compute_reward(task, output)
    judge = AutoGraderJudge({**options, "on_error": "zero"})
    assert judge.compute_reward(task, output) == (0.0, False)


def test_loads_by_name_and_reuses_learned_rubric(endpoint: Endpoint) -> None:
    options: dict[str, Any] = {
        "model_name": "qwen-plus",
        "api_key": "k",
        "dataset_file": _dataset(),
        "rubric_file": "mine.yaml",
    }
    core = load_judge("auto_grader", None, options)
    asyncio.run(core.prepare())
    assert Path("mine.yaml").is_file()
    asked = len(endpoint.requests)
    again = pickle.loads(pickle.dumps(load_judge("auto_grader", None, {**options, "seed": 7})))
    asyncio.run(again.prepare())  # the file is there, and was learned: it is taken as it is
    assert len(endpoint.requests) == asked
    assert core.fingerprint != again.fingerprint or core.inner == again.inner
    learned = "learned: {outcome: learned}\n"
    for text in (
        "dimensions: {math: {}}\n",
        f"dimensions: {{}}\n{learned}",
        f"dimensions: []\n{learned}",
        learned,
        f"dimensions: {{a: x}}\n{learned}",
        f"dimensions: {{a: {{judge: evil.py->run, with: {{}}}}}}\n{learned}",
        f"dimensions: {{a: {{judge: criteria, with: [1]}}}}\n{learned}",
        f"dimensions: {{a: {{judge: criteria, with: {{criteria: 3}}}}}}\n{learned}",
    ):
        Path("mine.yaml").write_text(text)
        fresh = load_judge("auto_grader", None, options)
        with pytest.raises(ConfigError, match="not a learned rubric"):
            asyncio.run(fresh.prepare())


def test_takes_no_address_and_no_model_from_a_learned_file(endpoint: Endpoint) -> None:
    options = {"model_name": "qwen-plus", "dataset_file": _dataset(), "rubric_file": "mine.yaml"}
    asyncio.run(load_judge("auto_grader", None, options).prepare())
    text = Path("mine.yaml").read_text()
    document = read_yaml_file("mine.yaml").value
    for line in document["dimensions"].values():
        line["with"] |= {"model": "openai:evil", "settings": {"base_url": "http://evil/"}}
    Path("mine.yaml").write_text(format_yaml(document))
    assert text != Path("mine.yaml").read_text()
    core = load_judge("auto_grader", None, options)
    asyncio.run(core.prepare())
    assert core.inner.model == core.settings.model
    assert "evil" not in str(core.inner.settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model_name": "qwen-plus"}, "dataset_file.training.file_path: missing: expected a file"),
        ({"dataset_file": {"training": {"file_path": "x"}}}, "model_name: it is missing"),
        ({"model_name": "q", "on_error": "ignore"}, "on_error: expected raise or zero"),
        ({"model_name": "q", "api_key": "two words"}, "does not hold one key on one line"),
        ({"model_name": "q", "patience": 0}, "patience: expected at least 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"dataset_file": _dataset(), **options} if len(options) > 1 else options
    with pytest.raises(ConfigError, match=message):
        AutoGraderJudge(given)


def test_trainer_gets_a_judge_that_has_learned(endpoint: Endpoint) -> None:
    from fourscore.core import Case, Trace
    from fourscore.formats.recorded_outputs import RecordedOutput
    from fourscore.integrations.judge_source import load_scorer

    scorer = load_scorer("config.yaml")
    asked = len(endpoint.requests)
    assert asked > 100
    assert len(list(Path("kept/rubrics").glob("*.yaml"))) == 1
    again = pickle.loads(pickle.dumps(scorer))  # nothing is learned in the other process
    for call in (scorer.score, again.score):
        (one,) = call(Case(input="Q"), [RecordedOutput(Trace(metadata={"final_answer": GOOD}))])
        assert one.passed is True
    assert len(endpoint.requests) - asked <= 3
    assert scorer.rubric.provenance.rubric == again.rubric.provenance.rubric


def test_agentjet_class_ranks_listwise(endpoint: Endpoint) -> None:
    planted.write(Path("path/to/rubrics_train.jsonl"), planted.ranked_rows(60))
    judge = AutoGraderJudge(
        {
            "model_name": "qwen-plus",
            "api_key": "k",
            "grader_mode": "listwise",
            "dataset_file": _dataset(),
        }
    )
    task = WorkflowTask(task=Task(main_query="Q"))
    outputs = [WorkflowOutput(metadata={"final_answer": text}) for text in (POOR, GOOD)]
    assert judge.compute_reward(task, outputs) == [(0.0, False), (1.0, True)]
    assert judge.compute_reward(task, outputs[0]) == (1.0, True)  # a single output gets 1


def test_processes_learn_the_same_rubric_once(endpoint: Endpoint, tmp_path: Path) -> None:
    import subprocess
    import sys

    rows([GOOD])
    fourscore = str(Path(sys.executable).with_name("fourscore"))
    words = ["judge", "config.yaml", "--data", "rows.jsonl", "--no-cache"]
    started = [
        subprocess.Popen(
            [fourscore, *words, "--out", f"out{at}.jsonl"], stderr=subprocess.PIPE, text=True
        )
        for at in range(3)
    ]
    errors = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], errors
    assert sum("learning a rubric from" in text for text in errors) == 1
    assert len({Path(f"out{at}.jsonl").read_text() for at in range(3)}) == 1
    asked = [json.dumps(request.body, sort_keys=True) for request in endpoint.requests]
    assert len(asked) - len(set(asked)) <= 2 * 3  # each judged its row; nothing else was repeated


@pytest.mark.parametrize(
    "protocol", ["auto_grader", "ajet.task_judge.rm_auto_grader_judge->AutoGraderJudge"]
)
def test_loads_by_any_protocol_string(endpoint: Endpoint, protocol: str) -> None:
    options = {"model_name": "qwen-plus", "api_key": KEY, "dataset_file": _dataset()}
    section = {"judge_protocol": protocol, "judge_options": options}
    Path("named.json").write_text(json.dumps({"fourscore": {"task_judge": section}}))
    rows([GOOD])
    words = ["judge", "named.json", "--data", "rows.jsonl", "--out", "out.jsonl"]
    assert main(words) == 0
    assert "criteria are met" in Path("out.jsonl").read_text()
