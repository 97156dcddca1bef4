"""Judges and agents that ask models, in real runs against an endpoint on loopback."""

import json
import shlex
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.models.fake_endpoint import (
    CannedReply,
    Endpoint,
    ReceivedRequest,
    make_completion,
    make_error,
    serve_endpoint,
)

from .command import run_fourscore as fourscore

AGENT = """
def answer(input):
    with open("called", "a") as file:
        file.write(input + "\\n")
    return f"answer to {input}"
"""
JUDGE = """
from fourscore.core import Signal, Usage
from fourscore.models.messages import ChatMessage, Request
from fourscore.models.model_pool import model_for

class Asks:
    names = ("asked",)
    prompts = {"plain": "v1"}

    def __init__(self, model="openai:gpt-4o-mini"):
        self.model = model

    @property
    def pool_model(self):
        return model_for(self.model)

    @property
    def models(self):
        return (self.pool_model.name,)

    def most(self, case):
        return Usage(calls=1, input_tokens=1000, output_tokens=20)

    async def judge(self, case, trace):
        message = ChatMessage("user", f"judge {case.id}: {trace.answer}")
        reply = await self.pool_model.ask(Request(messages=(message,), max_tokens=20))
        return (Signal(name="asked", value=float(reply.text), usage=reply.usage),)
"""
N = 12


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOURSCORE_CACHE", str(tmp_path / "cache.db"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "FOURSCORE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    Path("agent.py").write_text(AGENT)
    Path("judge.py").write_text(JUDGE)
    Path("rubric.yaml").write_text("dimensions:\n  asked: {judge: judge.py->Asks}\n")
    rows = [json.dumps({"id": f"c{n}", "input": f"task {n}"}) for n in range(N)]
    Path("cases.jsonl").write_text("\n".join(rows))
    return tmp_path  # type: ignore[return-value]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serve_endpoint([make_completion("1.0")]) as found:
        monkeypatch.setenv("FOURSCORE_BASE_URL", found.url)
        yield found


PARTS = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "agent.py:answer"]


def run_json(*words: str, code: int = 0) -> dict[str, Any]:
    done = fourscore("run", *PARTS, "--concurrency", "2", "--json", *words)
    assert done.returncode == code, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["planned"] == sum(document["statuses"].values())
    return document


def count_agent_calls() -> int:
    return len(Path("called").read_text().splitlines())


def test_summary_has_model_usage_cache_hits_and_provenance(endpoint: Endpoint) -> None:
    first = run_json()
    (account,) = first["models"]
    assert (account["model"], account["calls"], account["cached"]) == ("gpt-4o-mini", N, 0)
    assert account["dollars"] == pytest.approx(N * (11 * 0.15 + 7 * 0.6) / 1e6)
    assert first["cost"]["judges"]["dollars"] == pytest.approx(account["dollars"])
    assert first["provenance"] == {"models": ["gpt-4o-mini"], "prompts": {"plain": "v1"}}

    done = fourscore("run", *PARTS, "--out", "report.html", "--out", "all.json")
    assert (
        f"gpt-4o-mini: 0 calls (0 failed), {N} from the cache, 0 + 0 tokens, $0.0000" in done.stdout
    )
    assert "judged by  gpt-4o-mini; prompts: plain v1" in done.stdout
    assert len(endpoint.requests) == N
    assert "gpt-4o-mini; prompts: plain v1" in Path("report.html").read_text()
    assert json.loads(Path("all.json").read_text())["summary"]["provenance"] == first["provenance"]

    again = run_json("--no-cache")
    assert again["models"][0]["calls"] == N
    assert len(endpoint.requests) == 2 * N

    shown = json.loads(fourscore("show", again["run"], "--json").stdout)
    assert shown["provenance"] == first["provenance"]
    case = json.loads(fourscore("show", again["run"], "c3", "--json").stdout)
    assert case["score"]["provenance"]["models"] == ["gpt-4o-mini"]
    assert case["score"]["provenance"]["prompts"] == {"plain": "v1"}
    words = fourscore("show", again["run"], "c3").stdout
    assert "judged by gpt-4o-mini; prompts: plain v1" in words


def test_a_spent_budget_stops_a_run_that_a_larger_one_resumes(endpoint: Endpoint) -> None:
    done = fourscore("run", *PARTS, "--concurrency", "2", "--budget", "5calls")
    assert done.returncode == 3, done.stderr
    assert f"the budget of 5 calls is spent: {N - 5} of {N} were not measured" in done.stdout
    assert len(endpoint.requests) == 5
    assert count_agent_calls() < N
    resume = done.stderr.splitlines()[-1].partition("go on with: ")[2]
    assert resume.endswith("--retry cancelled --budget 10calls")

    done = fourscore(*shlex.split(resume)[1:], "--json")
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    assert document["statuses"]["scored"] == 10
    assert document["budget"]["spent"]["calls"] == 10
    assert document["budget"]["exceeded"] == "10 calls"
    assert len(endpoint.requests) == 10
    resume = done.stderr.splitlines()[-1].partition("go on with: ")[2]

    done = fourscore(*shlex.split(resume)[1:], "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["statuses"]["scored"] == N
    assert len(endpoint.requests) == N == count_agent_calls()  # nobody was asked twice
    assert document["cost"]["judges"]["calls"] == N


def test_cost_includes_calls_that_gave_no_score(endpoint: Endpoint) -> None:
    twice = """
class Twice(Asks):
    async def judge(self, case, trace):
        (one,) = await super().judge(case, trace)
        ask = Request(messages=(ChatMessage("user", f"once more {case.id}"),), max_tokens=20)
        try:
            reply = await self.pool_model.ask(ask)
        except ModelError as error:
            error.usage += one.usage
            raise
        return (Signal(name="asked", value=1.0, usage=one.usage + reply.usage),)
"""
    Path("judge.py").write_text(f"from fourscore.models.messages import ModelError\n{JUDGE}{twice}")
    Path("rubric.yaml").write_text("dimensions:\n  asked: {judge: judge.py->Twice}\n")
    first = run_json("--budget", "5calls", "--concurrency", "1", code=3)
    assert first["statuses"]["scored"] == 2
    assert first["cost"]["judges"]["calls"] == 5
    words = ["run", *PARTS, "--resume", first["run"], "--retry", "cancelled", "--json"]
    done = fourscore(*words, "--budget", f"{2 * N}calls")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["statuses"]["scored"] == N
    assert document["cost"]["judges"]["calls"] == 2 * N == len(endpoint.requests)
    assert document["budget"]["spent"]["calls"] == 2 * N


def test_a_budget_in_dollars_stops_a_run(endpoint: Endpoint) -> None:
    limit = 0.0001  # a call takes some 0.000006, and 0.00002 are set aside for it
    document = run_json("--budget", str(limit), "--budget", "9calls", code=3)
    assert document["budget"]["limits"] == {"dollars": limit, "calls": 9}
    assert 0 < document["budget"]["spent"]["dollars"] <= limit
    assert run_json("--no-cache", "--budget", "1.5")["statuses"]["scored"] == N


def test_a_budget_in_dollars_needs_prices_before_the_first_case(endpoint: Endpoint) -> None:
    Path("rubric.yaml").write_text(
        "dimensions:\n  asked: {judge: judge.py->Asks, with: {model: 'openai:mystery'}}\n"
    )
    done = fourscore("run", *PARTS, "--budget", "1")
    assert done.returncode == 2
    assert "no price is known for mystery" in done.stderr
    assert not Path("called").exists()
    assert not Path(".fourscore").exists()
    Path("prices.yaml").write_text("mystery: {input: 1, output: 1}\n")
    document = run_json("--budget", "1", "--prices", "prices.yaml")
    assert document["models"][0]["dollars"] == pytest.approx(N * 18 / 1e6)
    unpriced = fourscore("run", *PARTS, "--no-cache", "--budget", "100000tokens")
    assert "mystery: 12 calls (0 failed), 132 + 84 tokens, no price known" in unpriced.stdout


def test_reports_a_missing_key_before_the_first_case() -> None:
    done = fourscore("run", *PARTS)
    assert done.returncode == 2
    assert "there is no key for api.openai.com: set OPENAI_API_KEY" in done.stderr
    assert not Path("called").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--budget", "two"], "expected dollars, tokens or calls"),
        (["--budget", "$2calls"], "expected dollars, tokens or calls"),
        (["--budget", "-1"], "expected"),
        (["--budget", "1.5calls"], "a whole number"),
        (["--budget", "1", "--budget", "2"], "there is a limit on dollars already"),
        (["--prices", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_refuses_bad_budgets(words: list[str], message: str, endpoint: Endpoint) -> None:
    done = fourscore("run", *PARTS, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert not endpoint.requests


def test_reads_model_settings_from_a_configuration(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOURSCORE_BASE_URL")
    Path("sub").mkdir()
    Path("sub/prices.yaml").write_text("gpt-4o-mini: {input: 1000, output: 1000}\n")
    text = f"""
fourscore:
  run:
    cases: ../cases.jsonl
    rubric: ../rubric.yaml
    agent: ../agent.py:answer
    budget: [2.50, 7calls]
    cache: replies.db
    prices: prices.yaml
    models:
      openai:gpt-4o-mini: {{base_url: "{endpoint.url}", concurrency: 1}}
"""
    Path("sub/fourscore.yaml").write_text(text)
    done = fourscore("run", "sub/fourscore.yaml", "--json")
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    assert document["budget"]["limits"] == {"dollars": 2.5, "calls": 7}
    assert document["models"][0]["dollars"] == pytest.approx(7 * 0.018)
    assert Path("sub/replies.db").exists()
    assert not Path("cache.db").exists()
    assert endpoint.most == 1
    Path("sub/fourscore.yaml").write_text(text.replace("7calls", "seven"))
    done = fourscore("run", "sub/fourscore.yaml")
    assert done.returncode == 2
    assert "fourscore.run.budget: 'seven': expected dollars" in done.stderr
    Path("sub/fourscore.yaml").write_text(text.replace("concurrency", "concurency"))
    done = fourscore("run", "sub/fourscore.yaml")
    assert done.returncode == 2
    assert "concurency" in done.stderr


def test_errors_of_the_endpoint_become_the_status_of_a_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def script(request: ReceivedRequest, _: int) -> CannedReply:
        text = request.body["messages"][0]["content"]
        if "task 1:" in text or text.endswith("task 1"):
            return make_completion(None, "content_filter")
        if text.endswith("task 2"):
            return make_error(400, "no such thing")
        return make_completion("0.0")

    with serve_endpoint(script) as endpoint:
        monkeypatch.setenv("FOURSCORE_BASE_URL", endpoint.url)
        document = run_json(code=3)
        assert document["statuses"]["refused"] == 1
        assert document["statuses"]["judge_error"] == 1
        assert document["cost"]["judges"]["calls"] == N
        assert document["cost"]["judges"]["input_tokens"] == (N - 1) * 11  # refusals are paid for
        case = json.loads(fourscore("show", document["run"], "c2", "--json").stdout)
        (signal,) = case["score"]["signals"]
        assert signal["fault"]["kind"] == "error"
        assert signal["fault"]["message"].startswith("http://127.0.0.1:")
        assert signal["usage"]["calls"] == 1


def test_rescore_stops_at_its_budget(endpoint: Endpoint) -> None:
    Path("plain.yaml").write_text("dimensions:\n  right: {judge: math}\n")
    plain = run_json("--rubric", "plain.yaml", code=3)
    assert not endpoint.requests
    done = fourscore("rescore", plain["run"], "--rubric", "rubric.yaml", "--budget", "4calls")
    assert done.returncode == 3
    assert "the budget of 4 calls is spent: 8 of 12 were not measured" in done.stderr
    assert "gpt-4o-mini: 4 calls" in done.stdout
    done = fourscore("rescore", plain["run"], "--rubric", "rubric.yaml", "--budget", "8calls")
    assert done.returncode == 0, done.stderr  # the first four are in the cache
    assert len(endpoint.requests) == N


def test_judge_stops_at_its_budget(endpoint: Endpoint) -> None:
    rows = [
        {
            "task": {"task_id": f"t{n}", "main_query": "q"},
            "output": {"metadata": {"final_answer": str(n)}},
        }
        for n in range(N)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ["judge", "--judge", "judge.py->Asks", "--data", "rows.jsonl", "--out", "out.jsonl"]
    done = fourscore(*words, "--json", "--budget", "4calls")
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    assert document["statuses"]["scored"] == 4
    assert document["statuses"]["cancelled"] == N - 4
    assert document["models"][0]["calls"] == 4 == len(endpoint.requests)
    assert "the budget of 4 calls is spent" in done.stderr
    assert fourscore(*words).returncode == 0
    assert len(endpoint.requests) == N


def test_dry_run_prints_the_most_it_may_cost() -> None:
    words = ["--repeats", "3", "--limit", "5", "--budget", "0.001", "--dry-run"]
    done = fourscore("run", *PARTS, *words, "--json")  # without a key
    assert done.returncode == 0, done.stderr
    (line,) = json.loads(done.stdout)["models"]
    assert (line["model"], line["calls"], line["input_tokens"]) == ("gpt-4o-mini", 15, 15_000)
    assert line["dollars"] == pytest.approx((15_000 * 0.15 + 300 * 0.6) / 1e6)
    assert json.loads(done.stdout)["warning"] == "this may take more than the budget of $0.001"
    done = fourscore("run", *PARTS, *words)
    assert "gpt-4o-mini: at most 15 calls, 15,300 tokens, $0.0024" in done.stdout
    assert "more than the budget of $0.001" in done.stderr
    agent = fourscore("run", *PARTS, "--agent", "openai:mystery", "--dry-run")
    assert "mystery: at most 12 calls" in agent.stdout
    assert "no price known for mystery" in agent.stdout
    assert not Path(".fourscore").exists()


# Models as agents.


def ask_model(*words: str, code: int = 0) -> dict[str, Any]:
    Path("echo.yaml").write_text("dimensions:\n  long: {judge: long.py->long}\n")
    Path("long.py").write_text(
        "from fourscore import judge\n@judge\ndef long(case, trace): return len(trace.answer) > 3\n"
    )
    return run_json("--agent", "openai:gpt-4o-mini", "--rubric", "echo.yaml", *words, code=code)


def test_runs_a_model_as_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    def script(request: ReceivedRequest, number: int) -> CannedReply:
        return make_completion(f"reply {number} to {request.body['messages'][-1]['content']}")

    rows: list[dict[str, Any]] = [
        {"id": "text", "input": "hello"},
        {"id": "talk", "input": [{"role": "system", "content": "Be brief."},
                                 {"role": "user", "content": "hi"}]},
        {"id": "json", "input": {"a": [1, 2]}},
    ]  # fmt: skip
    Path("cases.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with serve_endpoint(script) as endpoint:
        monkeypatch.setenv("FOURSCORE_BASE_URL", endpoint.url)
        document = ask_model("--repeats", "2")
        sent = [tuple(turn.values()) for r in endpoint.requests for turn in r.body["messages"]]
        assert set(sent) == {
            ("user", "hello"), ("system", "Be brief."), ("user", "hi"), ("user", '{"a":[1,2]}')
        }  # fmt: skip
        assert len(endpoint.requests) == 6  # repeats are not answered from the cache
        assert document["models"][0]["calls"] == document["cost"]["agent"]["calls"] == 6
        assert document["cost"]["agent"]["dollars"] > 0
        row = json.loads(fourscore("show", document["run"], "text", "--json").stdout)
        assert row["trace"]["output"].startswith("reply ")
        (step,) = row["trace"]["steps"]
        assert (step["role"], step["content"]) == ("assistant", row["trace"]["output"])
        assert row["trace"]["usage"]["output_tokens"] == 7
        assert row["trace"]["metadata"]["model"] == "small-2025-01-01"
        ask_model()
        assert len(endpoint.requests) == 9
    assert not Path("cache.db").exists()


def test_a_failing_model_under_test_is_an_agent_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def script(request: ReceivedRequest, _: int) -> CannedReply:
        text = request.body["messages"][0]["content"]
        answers = {
            "task 1": make_completion(None, "content_filter"),
            "task 2": make_error(400, "not like this"),
            "task 3": CannedReply(delay=60),
            "task 4": make_completion("cut off", "length"),
        }
        return answers.get(text, make_completion("fine"))

    with serve_endpoint(script) as endpoint:
        monkeypatch.setenv("FOURSCORE_BASE_URL", endpoint.url)
        document = ask_model("--deadline", "2")
        assert document["statuses"]["agent_error"] == 2
        assert document["statuses"]["timeout"] == 1
        assert document["total_tests"] == N
        row = json.loads(fourscore("show", document["run"], "c1", "--json").stdout)
        assert "refused" in row["trace"]["fault"]["message"]
        assert row["trace"]["usage"]["input_tokens"] == 11
        row = json.loads(fourscore("show", document["run"], "c4", "--json").stdout)
        assert "cut at its limit" in str(row["trace"]["metadata"]["fourscore"]["notes"])


def test_agent_and_judges_share_one_budget(endpoint: Endpoint) -> None:
    document = ask_model("--budget", "5calls", code=3)
    assert document["statuses"]["scored"] == 5
    assert document["statuses"]["cancelled"] == N - 5
    assert document["statuses"]["agent_error"] == 0
    assert len(endpoint.requests) == 5
    parts = ["--agent", "openai:gpt-4o-mini", "--rubric", "echo.yaml", "--cases", "cases.jsonl"]
    words = [*parts, "--resume", document["run"], "--retry", "cancelled", "--json"]
    done = fourscore("run", *words, "--budget", "100calls")
    assert json.loads(done.stdout)["statuses"]["scored"] == N
    assert len(endpoint.requests) == N


def test_writes_the_api_key_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key = "sk-planted-4f9d2c71e8a35b60"
    monkeypatch.setenv("MY_KEY", key)

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        sent = request.headers["authorization"]
        assert sent == f"Bearer {key}"
        text = request.body["messages"][0]["content"]
        if text == "task 1":
            return make_error(401, f"bad key: {sent}")
        if text == "task 2":
            return CannedReply(200, f"no JSON at all, {sent}".encode())
        if text == "task 3":
            return CannedReply(200, {"error": {"message": f"overloaded {sent}"}})
        if text == "task 4":
            return make_completion(None, refusal=f"not for {sent}")
        return (
            make_completion(f"your header is {sent}")
            if text.startswith("task")
            else make_completion("1.0")
        )

    Path("fourscore.yaml").write_text(
        "fourscore: {run: {cases: cases.jsonl, rubric: rubric.yaml, agent: 'openai:gpt-4o-mini',\n"
        "  deadline: 3, models: {'openai:gpt-4o-mini': {key_env: MY_KEY, attempts: 2}}}}"
    )
    outs = [word for end in ("html", "json", "csv", "xml", "md") for word in ("--out", f"x.{end}")]
    with serve_endpoint(script) as endpoint:
        monkeypatch.setenv("FOURSCORE_BASE_URL", endpoint.url)
        done = fourscore("run", "fourscore.yaml", *outs)
        assert done.returncode == 0, done.stderr
        as_json = fourscore("run", "fourscore.yaml", "--json")
        document = json.loads(as_json.stdout)
        assert document["statuses"]["agent_error"] == 4
        case = fourscore("show", document["run"], "c5")
        assert "your header is Bearer [key]" in case.stdout
    everything = [done.stdout, done.stderr, as_json.stdout, as_json.stderr, case.stdout]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {".fourscore/runs.db", "cache.db", "x.html"} <= {
        str(path.relative_to(tmp_path)) for path in files
    }
    for path in files:
        everything.append(path.read_bytes().decode("latin-1"))
        if path.suffix == ".db" and path.read_bytes().startswith(b"SQLite"):
            with sqlite3.connect(path) as connection:
                everything.extend(connection.iterdump())
    half = key[: len(key) // 2]
    assert not [text[:80] for text in everything if key in text or half in text]
