"""How each kind of agent gets the prompt of a version."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from fourscore.agents.agent import attempt_case
from fourscore.core import Case, ConfigError, Usage
from fourscore.evolve.prompted_agent import PromptedAgents
from fourscore.models.messages import Request
from fourscore.models.scripted import ScriptedModel

AGENT = """
def plain(asked, prompt): return f"{prompt}|{asked}"
async def waiting(asked, *, prompt): return f"{prompt}|{asked}"
def open(asked, **others): return f"{others['prompt']}|{asked}"
def deaf(asked): return asked
def backwards(prompt): return prompt
class Desk:
    def run(self, asked, prompt="none"): return f"{prompt}|{asked}"
class Caller:
    async def __call__(self, asked, prompt): return f"{prompt}|{asked}"
caller = Caller()
"""
PROMPT = "Answer {question}.\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a folder" / "0002.md"
    path.parent.mkdir()
    path.write_text(PROMPT)
    (tmp_path / "agent.py").write_text(AGENT)
    return path


def answered(spec: str, file: Path, given: Any = "why?") -> str:
    agent = PromptedAgents(spec).with_prompt(PROMPT, file)
    trace = asyncio.run(attempt_case(agent, Case(input=given), 0, 60.0))
    assert trace.fault is None, trace.fault
    return str(trace.output)


@pytest.mark.parametrize("name", ["plain", "waiting", "open", "Desk", "caller"])
def test_function_gets_prompt_as_argument(name: str, file: Path, tmp_path: Path) -> None:
    assert answered(f"{tmp_path / 'agent.py'}:{name}", file) == f"{PROMPT}|why?"


@pytest.mark.parametrize("name", ["deaf", "backwards"])
def test_rejects_function_without_prompt_argument(name: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no parameter prompt: expected function\(input, prom"):
        PromptedAgents(f"{tmp_path / 'agent.py'}:{name}")


def test_rejects_recorded_answers() -> None:
    with pytest.raises(ConfigError, match="recorded answers do not depend on a prompt"):
        PromptedAgents("recorded")


def test_shell_command_gets_prompt_file(file: Path) -> None:
    assert answered("shell: cat {prompt_file} -", file) == f"{PROMPT}why?"
    assert answered('shell: cat "$FOURSCORE_PROMPT_FILE" -', file) == f"{PROMPT}why?"
    agents = PromptedAgents("shell: cat {prompt_file}")
    assert (
        agents.with_prompt(PROMPT, file).name
        == agents.base_agent.name
        == "shell: cat {prompt_file}"
    )


def test_model_gets_prompt_as_system_message(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asks: list[Request] = []

    def answer(ask: Request) -> str:
        asks.append(ask)
        return "fine"

    model = ScriptedModel(answer)
    monkeypatch.setattr("fourscore.agents.model.model_for", lambda *_: model)
    assert answered("openai:m", file) == "fine"
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "why?"}]
    assert answered("openai:m", file, talk) == "fine"
    turns = [[(turn.role, turn.content) for turn in ask.messages] for ask in asks]
    assert turns == [
        [("system", PROMPT), ("user", "why?")],
        [("system", f"{PROMPT}\n\nBe brief."), ("user", "why?")],
    ]


def test_input_limit_of_model_counts_prompt(file: Path) -> None:
    agents = PromptedAgents("openai:m")
    long: Any = agents.with_prompt("x" * 1000, file)
    base_agent: Any = agents.base_agent
    case = Case(input="why?")
    assert base_agent.most(case).input_tokens + 400 < long.most(case).input_tokens
    assert isinstance(long.most(case), Usage)


@contextmanager
def served(seen: list[Any]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            seen.append(json.loads(self.rfile.read(length)))
            body = b'{"output": "fine"}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/agent"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_http_agent_gets_prompt_field(file: Path) -> None:
    seen: list[Any] = []
    with served(seen) as url:
        assert answered(url, file) == "fine"
    assert (seen[0]["input"], seen[0]["prompt"]) == ("why?", PROMPT)
