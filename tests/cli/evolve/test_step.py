"""`fourscore evolve step`: what it needs, says, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main
from fourscore.evolve.folder import Evolution
from fourscore.evolve.split import find_part
from fourscore.stores.sqlite import Store

COMMAND = str(Path(sys.executable).with_name("fourscore"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["evolve", "init", "--example", "evolution"]) == 0
    return tmp_path / "evolution"


def run_step(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    """Exit code, document and messages of a step."""
    capfd.readouterr()
    code = main(["evolve", "step", "--json", *words])
    message = capfd.readouterr()
    return code, json.loads(message.out), message.err


def change(folder: Path, old: str, new: str) -> None:
    path = folder / "evolution.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_json_document(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, document, message = run_step(capfd, "--generations", "2")
    assert code == document["exit_code"] == 0
    assert (document["generations"], document["ended"], document["decisions"]) == (2, "done", 2)
    assert [each["number"] for each in document["lineage"]] == [1, 2, 3]
    assert document["lineage"][1]["decision"]["rule"] == "paired"
    assert document["held_out"]["first"] == 1
    assert document["expected_false"] == 0.1
    assert document["cases_run"] > 200
    assert "    +- Always" in message


def test_decision_can_be_recomputed_from_store(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    change(folder, "required:", "store: kept/runs.db\nrequired:")
    _, document, _ = run_step(capfd, "--generations", "3")
    store = folder / "kept" / "runs.db"
    with Store(store) as runs:
        names = {info.labels["version"]: info.id for info in runs.runs() if "decide" in info.id}
    with Evolution(folder, write=False) as evolution:
        against = {each.version: each.against for each in evolution.history.decisions}
    for version in document["lineage"][1:]:
        decision, number = version["decision"], version["number"]
        pair = [names[str(against[number])], names[str(number)]]
        main(["evolve", "decide", *pair, "--store", str(store), "--budget", "200", "--json"])
        again = json.loads(capfd.readouterr().out)
        assert {name: again[name] for name in ("delta", "low", "high", "n")} == {
            name: decision[name] for name in ("delta", "low", "high", "n")
        }


def test_terminal_output(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert main(["evolve", "step", str(folder)]) == 0
    out = capfd.readouterr().out.splitlines()
    assert out[0] == "lineage of 2 versions"
    assert out[1].startswith("○ 1")
    assert out[2].startswith("● 2")
    assert out[2].endswith("constraint_add (medium) from 1")
    assert out[-2].startswith("active: ")
    assert out[-1].startswith("held out: version ")


def test_foreign_text_is_no_markup(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    change(folder, "number of the rule", "[bold]number[/] of the rule")
    capfd.readouterr()
    assert main(["evolve", "step", "--generations", "2"]) == 0
    message = capfd.readouterr()
    assert "    +- Always give the [bold]number[/] of the rule that you go by." in message.err


def test_stops_at_budget_of_cases(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, document, message = run_step(capfd, "--budget", "150cases")
    assert (code, document["ended"], document["cases_run"]) == (3, "cases", 150)
    assert document["pending"]["number"] == 2
    assert "the budget of 150 cases is spent" in message
    assert "go on with: fourscore evolve step evolution --budget 150cases" in message
    code, document, _ = run_step(capfd)
    assert (code, document["ended"], document["decisions"]) == (0, "done", 1)


@pytest.mark.parametrize("word", ["cases", "5 cases5", "-1cases", "5calls5"])
def test_rejects_invalid_budget(word: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, document, _ = run_step(capfd, f"--budget={word}")
    assert code == 2
    assert "budget" in document["error"]["field"]


@contextmanager
def model_server(answer: Callable[[dict[str, Any]], str] | None) -> Iterator[str]:
    """A model's server on loopback; without an answer it lets nobody in."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = b""
            if answer is not None:
                message = {"role": "assistant", "content": answer(asked)}
                choice = {"index": 0, "finish_reason": "stop", "message": message}
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                body = json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()
            self.send_response(401 if answer is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("FOURSCORE_CACHE", str(tmp_path / "cache.db"))
    return monkeypatch


def test_model_sees_only_failures_of_inform_part(
    folder: Path, capfd: pytest.CaptureFixture[str], key: pytest.MonkeyPatch
) -> None:
    asks: list[str] = []
    text = (folder / "prompt.md").read_text()
    lines = "- Always give the price with its currency.\n- Always say the day of arrival.\n"

    def answer(asked: dict[str, Any]) -> str:
        asks.append(json.dumps(asked["messages"]))
        number = re.search(r"number of this request is (\w+)", asks[-1])
        assert number is not None
        better = text.replace("Question:", f"{lines}\nQuestion:")
        return json.dumps({"number": number[1], "evidence": "No day is named.", "prompt": better})

    with model_server(answer) as url:
        key.setenv("FOURSCORE_BASE_URL", url)
        code, document, message = run_step(capfd, "--model", "openai:m", "--budget", "5calls")
    assert (code, document["ended"], document["active"]["number"]) == (0, "done", 2)
    assert document["budget"]["spent"]["calls"] == len(asks) == 1
    assert "    +- Always say the day of arrival." in message
    shown = re.findall(r"parcel of (\d+) kg to (\w+) cost, posted on (\w+)\?", asks[0])
    assert shown
    ids = {f"{country.lower()}-{weight}-{day[:3].lower()}" for weight, country, day in shown}
    assert {find_part(name) for name in ids} == {"inform"}


def test_stops_at_budget_of_model_calls(
    folder: Path, capfd: pytest.CaptureFixture[str], key: pytest.MonkeyPatch
) -> None:
    with model_server(lambda _: "no") as url:
        key.setenv("FOURSCORE_BASE_URL", url)
        code, document, message = run_step(capfd, "--model", "openai:m", "--budget", "1calls")
    assert (code, document["ended"], document["pending"]) == (3, "budget", None)
    assert "go on with: fourscore evolve step evolution --model openai:m --budget 1calls" in message


def test_step_with_literal_rule(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, document, _ = run_step(capfd, "--rule", "literal", "--seed", "1")
    decision = document["lineage"][1]["decision"]
    assert (code, decision["rule"], decision["n"]) == (0, "literal", 200)


def test_folder_as_argument_or_option(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["elsewhere"], ["--dir", "elsewhere"], ["--dir=elsewhere", "--seed", "1"]):
        code, document, _ = run_step(capfd, *words)
        assert (code, document["error"]["file"]) == (2, str(folder.with_name("elsewhere")))


def test_second_step_finds_folder_locked(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Evolution(folder):
        code, document, _ = run_step(capfd)
    assert code == 2
    assert "is working on this evolution" in document["error"]["message"]


def test_unreachable_model_leaves_step_incomplete(
    folder: Path, capfd: pytest.CaptureFixture[str], key: pytest.MonkeyPatch
) -> None:
    with model_server(None) as url:
        key.setenv("FOURSCORE_BASE_URL", url)
        code, document, message = run_step(capfd, "--model", "openai:m")
    assert (code, document["ended"], document["pending"]) == (3, "model", None)
    assert "the proposer's model did not answer" in message
    assert "go on with: fourscore evolve step evolution --model openai:m" in message
    with Evolution(folder) as evolution:
        assert len(evolution.versions()) == 1
        assert len(evolution.history.executions) == 1


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        ("agent: agent.py:answer\n", "", "agent", "missing: fourscore evolve step needs it"),
        ("cases: cases.jsonl\n", "", "cases", "missing: fourscore evolve step needs it"),
        ("agent.py:answer", "recorded", "agent", "recorded answers do not depend"),
        ("agent.py:answer", "agent.py:rule", "agent", "has no parameter prompt"),
        ("constraint_add", "constrain_add", "strategies", "constraint_add"),
        ("strategies:", "proposer: gepa\nstrategies:", "model", "needs a model"),
        ("strategies:", "shortest: 2\nstrategies:", "shortest", "<= 1"),
    ],
)
def test_settings_error_names_file_and_field(
    folder: Path, capfd: pytest.CaptureFixture[str], old: str, new: str, field: str, words: str
) -> None:
    change(folder, old, new)
    code, document, _ = run_step(capfd)
    assert code == 2
    assert document["error"]["field"] == field
    assert document["error"]["file"].endswith("evolution.yaml")
    assert words in document["error"]["message"]


def test_rejects_too_few_cases(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = (folder / "cases.jsonl").read_text().splitlines(keepends=True)
    (folder / "cases.jsonl").write_text(lines[0])
    code, document, _ = run_step(capfd)
    assert code == 2
    assert "cases are in the part decide" in document["error"]["message"]


def test_example_overwrites_no_files(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["evolve", "init", "--example", "evolution"]) == 2
    assert "agent.py exists already" in capfd.readouterr().err
    assert main(["evolve", "init", "--example", "other", "--budget", "5"]) == 2
    assert "--budget: the example has its own" in capfd.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_prints_resume_command(folder: Path, number: int) -> None:
    text = (folder / "agent.py").read_text()
    slow = text.replace("    weight, country", "    time.sleep(0.02)\n    weight, country", 1)
    (folder / "agent.py").write_text(slow.replace("import hashlib", "import hashlib\nimport time"))
    command = [COMMAND, "evolve", "step", "--generations", "9"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    log = folder / "log.jsonl"
    while log.read_text().count("\n") < 3 and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, number)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert out == ""
    assert "interrupted; go on with: fourscore evolve step evolution" in err
    with Evolution(folder) as evolution:
        assert evolution.history.lines >= 3
