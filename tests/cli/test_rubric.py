"""`fourscore rubric learn` as a command."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
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

from fourscore.cli.main import main
from fourscore.judges.rubric_file import read_rubric

from .command import run_fourscore


def script(request: ReceivedRequest, _: int) -> CannedReply:
    return make_completion(json.dumps(planted.reply(request.body["messages"][1]["content"])))


@pytest.fixture(autouse=True)
def _change_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOURSCORE_CACHE", str(tmp_path / "cache.sqlite"))
    for name in ("FOURSCORE_BASE_URL", "OPENAI_API_KEY", "DASHSCOPE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve_endpoint(script) as found:
        yield found


def learn(endpoint: Endpoint | None, *words: str, rows: list[Any] | None = None) -> int:
    planted.write(Path("train.jsonl"), planted.rows(100) if rows is None else rows)
    where = ["--base-url", endpoint.url] if endpoint else []
    command = ["rubric", "learn", "--data", "train.jsonl", "--model", "openai:gpt-4o-mini"]
    return main([*command, *where, *words])


def test_learns_a_rubric_that_every_phase_can_use(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(endpoint, "--budget", "2.0", "--categories", "2") == 0
    out, err = capsys.readouterr()
    assert err.startswith("plan: at most ")
    assert "calls of gpt-4o-mini" in err
    assert "about $" in err
    assert "round 1: 4 proposed" in err
    assert out.startswith("learned: it agrees with held-out labels")
    assert "Spearman: " in out
    assert "kappa of pass and fail: " in out
    assert "mean absolute error: " in out
    assert "The answer has a example." in out
    assert "written: rubric.yaml" in out
    rubric = read_rubric("rubric.yaml")
    assert [line.name for line in rubric.dimensions] == ["content", "rest"]
    assert rubric.pass_threshold == 0.7
    cases = [{"input": "Q", "id": str(at)} for at in range(4)]
    planted.write(Path("cases.jsonl"), cases)
    Path("agent.py").write_text("def agent(question):\n    return 'It has #example #source.'\n")
    words = ["run", "--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent"]
    assert main([*words, "agent.py:agent", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["total_tests"] == 4
    assert set(summary["dimension_averages"]) == {"content", "rest"}


def test_the_same_command_again_makes_no_calls(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(endpoint, "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert first["exit_code"] == 0
    learned = first["rubric"]["learned"]
    assert learned["outcome"] == "learned"
    assert learned["data"]["samples"] == 100
    figure = learned["figures"]["learned"]["spearman"]
    assert figure["n"] == 30
    assert figure["interval"][0] < figure["value"] < figure["interval"][1]
    asked = len(endpoint.requests)
    assert first["models"][0]["calls"] == asked
    assert learn(endpoint, "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rubric"] == first["rubric"]
    assert len(endpoint.requests) == asked


def test_exits_with_1_when_nothing_was_learned(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(endpoint, rows=planted.rows(100, shuffled=True)) == 1
    assert capsys.readouterr().out.startswith("nothing was learned: ")
    text = Path("rubric.yaml").read_text()
    assert text.startswith("# nothing was learned: ")
    rubric = read_rubric("rubric.yaml")
    assert rubric.dimensions[0].judge.names == ("rating",)  # type: ignore[union-attr]


def test_learns_a_listwise_rubric(endpoint: Endpoint, capsys: pytest.CaptureFixture[str]) -> None:
    assert learn(endpoint, "--mode", "listwise", rows=planted.ranked_rows(80)) == 0
    assert "Kendall: " in capsys.readouterr().out
    judge: Any = read_rubric("rubric.yaml").dimensions[0].judge
    assert "The answer has a example" in judge.criterion


def test_dry_run_makes_no_calls_and_writes_nothing(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(endpoint, "--dry-run", "--json", "--budget", "100calls") == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert plan["calls_at_most"] == 6 * plan["calls_per_round"] + plan["calls_of_the_report"]
    assert plan["dollars_about"] > 0
    assert plan["tokens_about"] > 100_000
    assert learn(endpoint, "--dry-run", "--budget", "100calls") == 0
    assert "the budget of 100 calls may stop it earlier" in capsys.readouterr().out
    assert not endpoint.requests
    assert not Path("rubric.yaml").exists()
    assert not Path("rubric.yaml.journal.jsonl").exists()


def test_makes_no_more_calls_than_planned(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(endpoint, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert 0 < len(endpoint.requests) <= document["plan"]["calls_at_most"]


@pytest.mark.parametrize("limit", ["50calls", "20000tokens", "0.005"])
def test_makes_no_calls_with_a_budget_too_small_for_a_round(
    endpoint: Endpoint, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(endpoint, "--budget", limit) == 3
    assert "the budget does not cover another round and the report" in capsys.readouterr().err
    assert not endpoint.requests
    assert not Path("rubric.yaml").exists()


def test_a_larger_budget_resumes_where_a_smaller_one_ended(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--json", "--concurrency", "4"]
    assert learn(endpoint, "--budget", "60calls", *words) == 3
    assert json.loads(capsys.readouterr().out)["budget"]["spent"]["calls"] == 0
    assert learn(endpoint, "--budget", "900calls", *words) == 0
    first = json.loads(capsys.readouterr().out)
    asked = len(endpoint.requests)
    assert 0 < asked <= 900
    assert first["budget"]["spent"]["calls"] == asked
    assert "budget" in first["rubric"]["learned"]["stopped"]
    # It has had its report: a larger budget would choose by labels that are held out no more.
    assert learn(endpoint, "--budget", "5000calls", *words) == 0
    second = json.loads(capsys.readouterr().out)
    assert second["rubric"] == first["rubric"]
    assert second["budget"]["spent"]["calls"] == len(endpoint.requests) == asked
    asks = [json.dumps(request.body, sort_keys=True) for request in endpoint.requests]
    assert len(asks) == len(set(asks))


def test_exits_with_3_and_prints_how_to_go_on_when_the_endpoint_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serve_endpoint([make_error(401, "bad key")]) as endpoint:
        assert learn(endpoint) == 3
    err = capsys.readouterr().err
    assert "the results so far are saved; to go on: fourscore" in err
    assert not Path("rubric.yaml").exists()


@pytest.mark.parametrize(
    ("words", "rows", "message"),
    [
        ((), [{"main_query": "Q", "metadata": {"answer": "A"}}], "train.jsonl:1: metadata.score"),
        ((), [], "train.jsonl: there are no samples in it"),
        (
            ("--mode", "listwise"),
            [{"main_query": "Q", "metadata": {"candidates": [{"answer": "A", "rank": 1}] * 2}}],
            "train.jsonl:1: metadata.candidates[].rank: the ranks 1, 1 are not 1 to 2, each once",
        ),
        (("--max-rubrics", "0"), None, "--max-rubrics: "),
        (("--min-score", "10"), None, "--min-score: expected less than max_score (10)"),
        (("--budget", "many"), None, "expected dollars, tokens or calls"),
        (("--model", "nobody:x"), None, "--model: "),
        (("--base-url", "http://user:pw@127.0.0.1/v1"), None, "the address carries a secret"),
        (("--model", "openai:unheard-of", "--budget", "1"), None, "no price is known"),
    ],
)
def test_refuses_bad_input_and_names_its_place(
    words: tuple[str, ...],
    rows: list[Any] | None,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert learn(None, *words, rows=rows) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""
    assert not Path("rubric.yaml").exists()


def test_reports_a_missing_key_before_the_first_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn(None) == 2
    assert "there is no key for api.openai.com: set OPENAI_API_KEY" in capsys.readouterr().err


def test_does_not_overwrite_a_rubric_that_was_not_learned(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rubric.yaml").write_text("dimensions: {math: {}}\n")
    assert learn(endpoint) == 2
    assert (
        "the file exists and is not a learned rubric: give another --out" in capsys.readouterr().err
    )
    assert Path("rubric.yaml").read_text() == "dimensions: {math: {}}\n"
    assert not endpoint.requests


def test_prints_help_and_needs_an_action() -> None:
    done = run_fourscore("rubric", "learn", "--help")
    assert done.returncode == 0
    for word in ("--data", "--mode", "--language", "--max-rubrics", "--budget", "--dry-run"):
        assert word in done.stdout
    assert run_fourscore("rubric").returncode == 2


def test_counts_verdicts_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fourscore.report.learning_panel import ProgressCounter

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    counter = ProgressCounter(10)
    counter.step()
    counter.log("round 1\x1b[2J")
    counter.clear()
    err = capsys.readouterr().err
    assert err.startswith("\r\x1b[K1 verdicts, of 10 at most")
    assert "round 1\\x1b[2J\n" in err
