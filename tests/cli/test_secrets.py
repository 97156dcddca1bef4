"""Secrets given to a command reach no file and no line that it writes, whatever fails."""

import html
import json
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from .command import run_fourscore

#: One secret for each place. Each is found by where it stands, not by a known prefix.
USER_PASSWORD = "cnry-Userinfo-1"
PERCENT = "cnry%2FPercent%201"
QUERY = {name: f"cnry-{name}-2x" for name in ("api_key", "token", "key", "access_token", "sig")}
BEARER = "cnry-Bearer-3yy"
HEADER = "cnry-Header-4zz"
INLINE = "cnry-Inline-5aa"
BASIC = "cnry-Basic-6bb"
FLAG = "cnry-Flag-7cc"
VARIABLE = "cnry-Variable-8dd"
MODEL_KEY = "cnry-Modelkey-9ee"
QUOTED = "cnry-Quoted-10ff"

CASES = [{"id": "a", "input": "2+2?", "expected": "4"}, {"id": "b", "input": "3?", "expected": "3"}]
RUBRIC = """\
name: r
dimensions:
  math: {weight: 1, judge: math}
  facts: {weight: 1, judge: factual_accuracy}
"""


class EchoHandler(BaseHTTPRequestHandler):
    """Answers with the status in the path, and quotes all that it was sent."""

    def do_POST(self) -> None:
        status = int(self.path.strip("/").split("/")[0].partition("?")[0])
        self.rfile.read(int(self.headers.get("content-length", 0)))
        said = f"{self.path} {self.headers.as_string()}"
        body = json.dumps({"output": said, "error": {"message": said, "code": "x"}}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serve_echo() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), EchoHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    with serve_echo() as found:
        yield found


def find_canaries(folder: Path, *texts: str) -> list[str]:
    """Return where a canary is found: every file below the folder, and the texts."""
    found = []
    planted = ("config.yaml", "agent.py")
    places = {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    places = {name: data for name, data in places.items() if not name.endswith(planted)}
    places |= {f"text {n}": text.encode() for n, text in enumerate(texts)}
    for name, data in places.items():
        read = html.unescape(data.decode(errors="replace")).lower()
        if (at := read.find("cnry")) >= 0:
            found.append(f"{name}: …{read[max(0, at - 60) : at + 40]}…")
        assert b"Y25yeS" not in data, name  # base64 of a password's beginning
    return found


def write_inputs(folder: Path) -> None:
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (folder / "rubric.yaml").write_text(RUBRIC)


def make_agents(host: str) -> dict[str, str]:
    query = "&".join(f"{name}={value}" for name, value in QUERY.items())
    login = f"ana:{USER_PASSWORD}"
    agents = {f"http {n}": f"http://{login}@{host}/{n}?{query}" for n in (200, 401, 500)}
    return agents | {
        "percent": f"http://ana:{PERCENT}@{host}/500",
        "token as user": f"http://{USER_PASSWORD}@{host}/500",
        "refused": f"http://{login}@127.0.0.1:9/x?{query}",
        "bearer": f"shell: echo 'Authorization: Bearer {BEARER}' >&2; exit 3",
        "header": f"shell: echo -H 'X-Api-Key: {HEADER}'",
        "inline": f"shell: MY_TOKEN={INLINE} sh -c 'echo $MY_TOKEN; echo $MY_TOKEN >&2; exit 1'",
        "basic": f"shell: echo -u bob:{BASIC}; echo {BASIC} >&2; false",
        "flag": f"shell: echo --api-key {FLAG} --password={FLAG}",
        "variable": "shell: env; env >&2; exit 1",
        "function": "agent.py:answer",
    }


AGENT = f"""\
def answer(question):
    raise OSError("Max retries exceeded with url: http://x.example/v1?api_key={QUOTED}&n=1")
"""
OUTS = ("out.html", "out.xml", "out.json", "out.csv", "out.md")


@pytest.mark.parametrize("name", list(make_agents("h:1")))
def test_no_secret_of_an_agent_is_written(name: str, host: str, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    env = {"MYSERVICE_API_KEY": VARIABLE, "OPENAI_API_KEY": MODEL_KEY}
    agent = make_agents(host)[name]
    texts: list[str] = []

    def run(*words: str) -> Any:
        done = run_fourscore(*words, cwd=tmp_path, env=env)
        texts.extend((done.stdout, done.stderr))
        assert "Traceback" not in done.stderr
        return done

    outs = [word for out in OUTS for word in ("--out", out)]
    given = ("--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", agent)
    run("run", *given, "--deadline", "20", *outs, "--label", f"by=http://x:{USER_PASSWORD}@h/")
    done = run("run", *given, "--deadline", "20", "--json")
    store = tmp_path / ".fourscore" / "runs.db"
    if name != "refused" or done.returncode != 2:  # else the address is refused before the run
        run_id = json.loads(done.stdout)["run"]
        run("show", run_id)
        run("show", run_id, "a")
        run("show", run_id, "a", "--json")
        run("show", run_id, *outs)
        run("runs")
        run("runs", "--json")
        first = json.loads(run("runs", "--json").stdout)["runs"][0]["id"]
        run("compare", first, run_id)
        run("rescore", run_id, "--rubric", "rubric.yaml")
        run("run", "--resume", run_id, "--retry", "agent_error")
        run("run", "--resume", run_id, "--agent", agent[:-1])
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in store.parent.glob("runs.db*")}
        assert set(modes.values()) <= {0o600}, modes
    assert find_canaries(tmp_path, *texts) == []


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--agnt", f"http://a:{USER_PASSWORD}@h/"),
        ("run", "--agent", f"ftp://a:{USER_PASSWORD}@h/", "--cases", "cases.jsonl"),
        ("run", "--agent", f"http://a:{USER_PASSWORD}@h:port/", "--cases", "cases.jsonl"),
        ("run", "--agent", f"http://a:{USER_PASSWORD}@/", "--cases", "cases.jsonl"),
        ("run", "--agent", f"shell: TOKEN={INLINE}", "--cases", "missing.jsonl"),
        ("show", f"http://a:{USER_PASSWORD}@h/"),
        ("judge", "math", "--data", f"http://a:{USER_PASSWORD}@h/rows"),
        ("run", f"http://a:{USER_PASSWORD}@h/config.yaml"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_no_secret_is_in_a_refusal(words: tuple[str, ...], as_json: bool, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    done = run_fourscore(*words, *(["--json"] if as_json else []), cwd=tmp_path)
    assert done.returncode == 2
    assert find_canaries(tmp_path, done.stdout, done.stderr) == []


@pytest.mark.parametrize("status", [401, 500])
def test_no_key_of_a_judge_model_is_written(status: int, host: str, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    (tmp_path / "rubric.yaml").write_text(
        "name: r\ndimensions:\n  good: {weight: 1, judge: rating, with: "
        f"{{model: 'openai:m', settings: {{base_url: 'http://{host}/{status}', "
        "key_env: MODEL_KEY, attempts: 1, cache: false}}}\n"
    )
    words = ("run", "--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "shell: echo 4")
    texts: list[str] = []
    for more in ((), ("--json",)):
        done = run_fourscore(*words, *more, cwd=tmp_path, env={"MODEL_KEY": MODEL_KEY})
        texts += [done.stdout, done.stderr]
    assert find_canaries(tmp_path, *texts) == []


def test_no_secret_of_an_environment_service_is_written(host: str, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    url = f"http://ana:{USER_PASSWORD}@{host}/500?api_key={QUERY['api_key']}"
    (tmp_path / "config.yaml").write_text(
        "fourscore:\n  task_judge:\n    judge_protocol: environment\n"
        f"    judge_options: {{url: '{url}'}}\n"
    )
    row = {"task": {"task_id": "t", "metadata": {}}, "output": {"metadata": {"final_answer": "x"}}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    words = ("judge", "config.yaml", "--data", "rows.jsonl", "--out", "rewards.jsonl")
    done = run_fourscore(*words, cwd=tmp_path)
    assert (tmp_path / "rewards.jsonl").exists(), done.stderr
    assert find_canaries(tmp_path, done.stdout, done.stderr) == []


def test_no_secret_is_written_by_an_evolution(host: str, tmp_path: Path) -> None:
    assert run_fourscore("evolve", "init", "--example", "evolution", cwd=tmp_path).returncode == 0
    config = tmp_path / "evolution" / "evolution.yaml"
    query = "&".join(f"{name}={value}" for name, value in QUERY.items())
    agent = f"http://ana:{USER_PASSWORD}@{host}/500?{query}"
    config.write_text(config.read_text().replace("agent.py:answer", f"'{agent}'"))
    texts: list[str] = []
    for words in (("step",), ("step", "--json"), ("status", "evolution")):
        done = run_fourscore("evolve", *words, cwd=tmp_path)
        texts += [done.stdout, done.stderr]
        assert "Traceback" not in done.stderr
    config.unlink()  # the user wrote it
    assert list(tmp_path.rglob("*.db")), texts
    assert find_canaries(tmp_path, *texts) == []


def test_ordinary_words_are_no_secrets(tmp_path: Path) -> None:
    case = {"id": "a", "input": "what?", "expected": "4"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case | {"key_topic": "topic2x"}))
    said = "call answer_question about topic2x"
    (tmp_path / "auth_agent.py").write_text(
        f"def answer_question(question):\n    return {said!r}\n"
    )
    words = ("--cases", "cases.jsonl", "--where", "key_topic=topic2x", "--name", "key=topic2x")
    agent = ("--agent", "auth_agent:answer_question", "--label", "token_kind=topic2x")
    env = {"PYTHONPATH": str(tmp_path)}
    done = run_fourscore("run", *words, *agent, "--json", cwd=tmp_path, env=env)
    run_id = json.loads(done.stdout)["run"]
    assert said in run_fourscore("show", run_id, "a", "--json", cwd=tmp_path).stdout
    runs = run_fourscore("runs", "--json", cwd=tmp_path).stdout
    assert "auth_agent:answer_question" in runs
