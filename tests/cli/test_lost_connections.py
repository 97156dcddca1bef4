"""Endpoints that are not there, and endpoints that die in the middle of a run and come back."""

import json
import re
import shlex
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.labels.learning import planted

from .command import run_fourscore as fourscore

#: An agent and a model in one. It dies, with all that is under way, at the POST number `die_at`.
SERVER = """
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
port, die_at = int(sys.argv[1]), int(sys.argv[2])
lock, count, log = threading.Lock(), 0, open("asked", "a", buffering=1)

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.reply({"data": [{"id": "small"}]})
    def do_POST(self):
        global count
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with lock:
            count += 1
            if count == die_at:
                os._exit(1)
        text = body["input"] if "input" in body else body["messages"][-1]["content"]
        log.write(text + "\\n")
        if self.path.endswith("/chat/completions"):
            answer = "1" if text.startswith("judge") else "\\\\boxed{1}"
            self.reply({"choices": [{"message": {"role": "assistant", "content": answer}}]})
        else:
            self.reply({"output": "\\\\boxed{1}"})
    def reply(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128

server = Server(("127.0.0.1", port), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""
JUDGE = """
from fourscore.core import Signal
from fourscore.models.messages import ChatMessage, Request
from fourscore.models.model_pool import model_for

class Asks:
    names = ("asked",)
    models = ("small",)
    pool_model = property(lambda self: model_for("openai:small"))

    async def judge(self, case, trace):
        message = ChatMessage("user", f"judge {case.input}")
        reply = await self.pool_model.ask(Request(messages=(message,)))
        return (Signal(name="asked", value=float(reply.text), usage=reply.usage),)
"""
N = 60


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOURSCORE_CACHE", str(tmp_path / "cache.sqlite"))
    Path("server.py").write_text(SERVER)
    Path("judge.py").write_text(JUDGE)
    Path("agent.py").write_text("def answer(input): return input\n")
    Path("rubric.yaml").write_text("name: r\ndimensions:\n  right: {judge: math}\n")
    Path("asked.yaml").write_text("name: a\ndimensions:\n  asked: {judge: judge.py->Asks}\n")
    write_cases(N)
    return tmp_path


def write_cases(count: int) -> None:
    cases = [{"id": f"c{n}", "input": f"q{n}", "expected": "1"} for n in range(count)]
    Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in cases))


@contextmanager
def serving(port: int = 0, die_at: int = 0) -> Iterator[int]:
    words = [sys.executable, "server.py", str(port), str(die_at)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port on which nobody listens, and that nobody else gets."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def stored_runs() -> list[Any]:
    done = fourscore("runs", "--json")
    return [] if done.returncode == 2 else json.loads(done.stdout)["runs"]


def resume_words(text: str) -> list[str]:
    (line,) = re.findall(r"with: fourscore (run .*--resume .*)", text)
    return shlex.split(line)


@pytest.mark.parametrize("kind", ["http", "model", "judge"])
def test_run_stops_when_the_endpoint_dies_and_goes_on_when_it_is_back(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_status = "judge_error" if kind == "judge" else "cancelled"
    with serving(die_at=11) as port:
        monkeypatch.setenv("FOURSCORE_BASE_URL", f"http://127.0.0.1:{port}/v1")
        agents = {"http": f"http://127.0.0.1:{port}/agent", "model": "openai:small"}
        words = ["--agent", agents.get(kind, "agent.py:answer"), "--concurrency", "4", "--json"]
        rubric = "asked.yaml" if kind == "judge" else "rubric.yaml"
        done = fourscore("run", "--cases", "cases.jsonl", "--rubric", rubric, *words)
    assert done.returncode == 3, done.stderr
    document = json.loads(done.stdout)
    statuses = document["statuses"]
    assert (statuses["agent_error"], statuses["timeout"]) == (0, 0)
    assert statuses[lost_status] >= 20
    assert 0 < statuses["scored"] <= 10
    assert sum(statuses.values()) == N
    assert document["pass_rate"] == 1.0
    assert "stopped after 20 attempts in a row without a connection" in done.stderr
    made = statuses["scored"] + statuses[lost_status]
    if kind == "judge":  # at most as many more as were under way
        assert made <= 10 + 20 + 2 * 4
    else:
        reasons = {line["reason"][:17] for line in document["unmeasured_first"]}
        assert "connection lost: " in reasons
    if kind != "http":  # one quick retry; a call that was cut off is made again as well
        (spent,) = document["models"]
        assert spent["calls"] <= 10 + 3 * (20 + 2 * 4)

    with serving(port):
        again = fourscore(*resume_words(done.stderr), "--json")
    assert again.returncode == 0, again.stderr
    document = json.loads(again.stdout)
    assert (document["total_tests"], document["passed"]) == (N, N)
    asked = Counter(Path("asked").read_text().split("\n")[:-1])
    assert len(asked) == N
    assert asked.total() <= N + 4  # only what was under way is asked again


def test_a_few_lost_attempts_do_not_stop_the_run_and_are_run_again() -> None:
    write_cases(15)
    parts = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--concurrency", "1"]
    with serving(die_at=6) as port:
        done = fourscore("run", *parts, "--agent", f"http://127.0.0.1:{port}/")
    assert done.returncode == 3, done.stderr
    assert "planned        15 = 5 scored + 10 cancelled" in done.stdout
    assert "cancelled, connection lost: http://127.0.0.1" in done.stdout
    assert "10 cancelled; run them again with: fourscore run " in done.stderr
    rescored = fourscore("rescore", stored_runs()[0]["id"], "--rubric", "rubric.yaml", "--json")
    assert json.loads(rescored.stdout)["statuses"]["cancelled"] == 10
    with serving(port):
        again = fourscore(*resume_words(done.stderr))
    assert again.returncode == 0, again.stderr
    assert "planned        15 = 15 scored" in again.stdout


def test_an_unmeasured_run_is_no_change() -> None:
    parts = ["run", "--cases", "cases.jsonl", "--rubric", "rubric.yaml"]
    with serving() as port:
        agent = ["--agent", f"http://127.0.0.1:{port}/"]
        assert fourscore(*parts, *agent).returncode == 0
    lost = fourscore(*parts, *agent, "--no-probe")
    assert lost.returncode == 3
    assert f"change  not known: {N} of {N} attempts were not measured" in lost.stdout
    assert "points" not in lost.stdout
    with serving(port):
        back = fourscore(*parts, *agent)
    assert "change  pass rate +0.0 points" in back.stdout
    newest, middle, oldest = (each["id"] for each in stored_runs())
    assert f"fourscore compare {oldest} {newest}" in back.stdout
    compared = fourscore("compare", oldest, middle, "--json")
    assert compared.returncode == 3
    assert json.loads(compared.stdout)["whole"]["verdict"]["kind"] == "cannot_tell"


def test_an_evolution_stops_when_its_agent_is_gone_and_goes_on() -> None:
    Path("prompt.md").write_text("Answer.")
    write_cases(240)
    with serving() as port:
        pass
    words = ["--prompt", "prompt.md", "--cases", "cases.jsonl", "--rubric", "rubric.yaml"]
    agent = ["--agent", f"http://127.0.0.1:{port}/"]
    assert fourscore("evolve", "init", "evolution", *words, *agent).returncode == 0
    assert fourscore("evolve", "step", "evolution").returncode == 2
    gone = fourscore("evolve", "step", "evolution", "--no-probe", "--json")
    assert gone.returncode == 3, gone.stderr
    document = json.loads(gone.stdout)
    assert (document["ended"], document["generations"]) == ("connection", 0)
    assert "stopped after 20 attempts in a row without a connection" in gone.stderr
    with serving(port):
        back = json.loads(fourscore("evolve", "step", "evolution", "--json").stdout)
    assert back["ended"] != "connection"
    assert (back["not_measured"], back["cases_run"] > 20) == (0, True)


def test_refuses_an_endpoint_that_is_not_there_and_stores_nothing(closed_port: int) -> None:
    url = f"http://127.0.0.1:{closed_port}"
    parts = ["run", "--cases", "cases.jsonl", "--rubric", "rubric.yaml"]
    for agent, env in ((f"{url}/a", {}), ("openai:small", {"FOURSCORE_BASE_URL": f"{url}/v1"})):
        done = fourscore(*parts, "--agent", agent, env=env)
        assert done.returncode == 2
        assert "cannot be reached: no connection: " in done.stderr
        assert "--no-probe" in done.stderr
        assert stored_runs() == []
    assert fourscore(*parts, "--agent", f"{url}/a", "--dry-run").returncode == 0


def write_inputs() -> None:
    """Write what the commands need beside a judge; most of it is not read before the probe."""
    Path("labels.jsonl").write_text(
        "".join(
            json.dumps({"id": n, "input": "q", "output": "a", "expected": "1", "label": n < 2})
            + "\n"
            for n in range(4)
        )
    )
    planted.write(Path("samples.jsonl"), planted.rows(100))
    Path("rows.jsonl").write_text('{"task": {"main_query": "q"}, "output": {"output": "a"}}\n')
    Path("spans.jsonl").write_text("")
    assert fourscore("evolve", "init", "--example", "evolution").returncode == 0


COMMANDS = {
    "run": "run --cases cases.jsonl --rubric asked.yaml --agent agent.py:answer",
    "rescore": "rescore {run} --rubric asked.yaml",
    "judge": "judge --rubric asked.yaml --data rows.jsonl --out rewards.jsonl",
    "calibrate": "calibrate --rubric asked.yaml --labels labels.jsonl",
    "attack": "attack --rubric asked.yaml --out attack.json",
    "learn": "rubric learn --data samples.jsonl --model openai:small --out learned.yaml",
    "evolve": "evolve step evolution --proposer model --model openai:small",
    "serve": "serve --rubric asked.yaml --port 0",
    "ingest": "monitor ingest spans.jsonl --rubric asked.yaml --store monitor.db",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_checks_its_endpoints_first(name: str, closed_port: int) -> None:
    write_inputs()
    words = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "agent.py:answer"]
    assert fourscore("run", *words).returncode == 0
    (run,) = stored_runs()
    before = sorted(str(path) for path in Path().rglob("*") if "-wal" not in path.name)
    env = {"FOURSCORE_BASE_URL": f"http://127.0.0.1:{closed_port}/v1"}
    done = fourscore(*COMMANDS[name].format(run=run["id"]).split(), env=env)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"{closed_port}/v1/models cannot be reached: no connection" in done.stderr
    after = sorted(str(path) for path in Path().rglob("*") if "-wal" not in path.name)
    kept = [path for path in after if path not in before and "pycache" not in path]
    assert kept == []
    with serving() as port:
        env = {"FOURSCORE_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        words = COMMANDS[name].format(run=run["id"]).replace("openai:small", "openai:smalt").split()
        Path("judge.py").write_text(JUDGE.replace("openai:small", "openai:smalt"))
        done = fourscore(*words, env=env)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "has no model 'smalt': did you mean small?" in done.stderr
    assert Path("asked").read_text() == ""  # no call of a model
