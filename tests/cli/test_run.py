"""`fourscore run`, `rescore`, `show`, `label`: real processes and stores, killed and resumed."""

import csv
import json
import os
import random
import resource
import shlex
import signal
import sqlite3
import subprocess
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main
from fourscore.formats.atomic_file import open_atomic

from .command import FOURSCORE
from .command import run_fourscore as fourscore

AGENT = """
import os, time
def answer(input):
    word, n = input.split()
    if word == "crash": raise ValueError("boom")
    if word == "hang": time.sleep(3600)
    if word == "exit": raise SystemExit(3)
    if word == "none": return None
    if word == "big": return "x" * 10_000_000
    time.sleep(float(os.environ.get("SLOW", "0")))
    return "It is \\\\boxed{%d}" % (int(n) * 2 if int(n) % 5 else 0)
"""
RUBRIC = "name: doubling\ndimensions:\n  right: {judge: math}\n"


def case(n: int, word: str = "double", **more: Any) -> dict[str, Any]:
    tags = ["odd" if n % 2 else "even"]
    return {"id": f"c{n}", "input": f"{word} {n}", "expected": str(2 * n), "tags": tags, **more}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    Path("rubric.yaml").write_text(RUBRIC)
    write_cases([case(n) for n in range(1, 21)])
    return tmp_path  # type: ignore[return-value]


def write_cases(rows: list[dict[str, Any]]) -> None:
    Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


PARTS = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "agent.py:answer"]


def run_json(*words: str, code: int = 0) -> dict[str, Any]:
    done = fourscore("run", *PARTS, "--json", *words)
    assert done.returncode == code, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["planned"] == sum(document["statuses"].values())
    return document


def test_runs_all_cases_and_prints_the_summary() -> None:
    document = run_json()
    assert (document["total_tests"], document["passed"], document["failed"]) == (20, 16, 4)
    assert document["pass_rate"] == 0.8
    assert document["pass_rate_interval"][0] < 0.8 < document["pass_rate_interval"][1]
    assert document["dimension_averages"] == {"right": 0.8}
    assert [failure["id"] for failure in document["failures"]] == ["c10", "c15", "c20", "c5"]
    assert set(document["by_tag"]) == {"even", "odd"}


def test_an_agent_that_fails_costs_only_its_own_case() -> None:
    words = ["double", "crash", "hang", "exit", "none", "big", "double"]
    write_cases([case(n, word) for n, word in enumerate(words, 1)])
    document = run_json("--deadline", "1")
    assert document["statuses"]["timeout"] == 1
    assert document["statuses"]["agent_error"] >= 2
    assert document["passed"] == 2
    assert document["total_tests"] == len(words)


def test_prints_the_summary_as_text() -> None:
    done = fourscore("run", *PARTS, "--name", "nightly", "--repeats", "2")
    assert done.returncode == 0
    assert "planned        40 = 40 scored" in done.stdout
    assert "pass rate      80.0% [" in done.stdout
    assert "pass^k" in done.stdout


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["pass_rate>=0.8"], 0),
        (["pass_rate>0.8"], 1),
        (["right>=0.7", "lower(pass_rate)>=0.7"], 1),
        (["lower(pass_rate)>=0.5"], 0),
    ],
)
def test_gates_decide_the_exit_code(gates: list[str], code: int) -> None:
    run_json(*[word for gate in gates for word in ("--gate", gate)], code=code)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gate", "pas_rate>=0.8"], "pass_rate"),
        (["--tag", "prime"], "none of its 20 cases"),
        (["--filter", "__import__('os')"], ""),
        (["--out", "x.pdf"], "use one of .xml"),
        (["--retry", "timeout"], "use it with --resume RUN only"),
        (["--repeats", "0"], "at least 1"),
        (["--agent", "agent.py:missing"], "the module has no missing"),
    ],
)
def test_bad_usage_exits_with_2_and_stores_no_run(words: list[str], message: str) -> None:
    done = fourscore("run", *PARTS, *words)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    runs = fourscore("runs", "--json")
    assert runs.returncode == 2 or not json.loads(runs.stdout)["runs"]


@pytest.mark.parametrize(
    ("words", "field", "message"),
    [
        (["run", "--repeats", "two"], "--repeats", "invalid int value: 'two'"),
        (["run", "--xyzzyxyzzy"], None, "unrecognized arguments: --xyzzyxyzzy"),
        (["evolve"], None, "the following arguments are required: ACTION"),
        (["run", *PARTS, "--repeats", "0"], "repeats", "expected at least 1"),
    ],
)
def test_bad_usage_with_json_prints_an_error_document(
    words: list[str], field: str | None, message: str
) -> None:
    done = fourscore(*words, "--json")
    error = {"message": message, "file": None, "line": None, "field": field}
    assert json.loads(done.stdout) == {"error": error, "exit_code": 2}
    assert (done.returncode, message in done.stderr) == (2, True)
    assert fourscore(*words).stdout == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "a", "input": 1}\n{"id": ', "cases.jsonl:2"),
        ('{"id": "a", "input": 1}\n{"id": "a", "input": 2}\n', "cases.jsonl:2"),
        ('{"id": "a", "input": 1, "tags": 7}\n', "tags"),
    ],
)
def test_refuses_a_broken_case_file_and_names_its_place(text: str, message: str) -> None:
    Path("cases.jsonl").write_text(text)
    done = fourscore("run", *PARTS)
    assert done.returncode == 2
    assert message in done.stderr


def test_names_the_line_of_a_typo_in_a_rubric() -> None:
    Path("rubric.yaml").write_text(RUBRIC.replace("judge: math", "judge: math, wieght: 2"))
    done = fourscore("run", *PARTS)
    assert done.returncode == 2
    assert (
        "rubric.yaml:3: dimensions.right.wieght: unknown key; did you mean weight?" in done.stderr
    )


def test_chooses_cases_and_dry_run_stores_nothing() -> None:
    done = fourscore("run", *PARTS, "--tag", "odd", "--limit", "3", "--dry-run", "--json")
    assert json.loads(done.stdout)["first"] == ["c1", "c3", "c5"]
    assert not Path(".fourscore").exists()
    one, two = (run_json("--sample", "5", "--seed", "7")["failures"] for _ in range(2))
    assert one == two
    assert run_json("--where", "id=c3")["planned"] == 1


def test_reads_cases_from_stdin_and_from_a_pipe() -> None:
    text, parts = Path("cases.jsonl").read_text(), PARTS[2:]
    done = fourscore("run", "--cases", "-", *parts, "--json", input=text)
    document = json.loads(done.stdout)
    assert (done.returncode, document["planned"], document["passed"]) == (0, 20, 16)
    piped = subprocess.run(
        [
            "bash",
            "-c",
            '"$@" --cases <(cat cases.jsonl)',
            "bash",
            FOURSCORE,
            "run",
            *parts,
            "--json",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(piped.stdout)["failures"] == document["failures"]
    dry = fourscore(
        "run", "--cases", "-", *parts, "--dry-run", "--json", "--limit", "3", input=text
    )
    assert json.loads(dry.stdout)["first"] == ["c1", "c2", "c3"]
    none = fourscore("run", "--cases", "-", *parts, "--tag", "prime", input=text)
    assert (none.returncode, none.stderr) == (
        2,
        "fourscore: stdin: none of its 20 cases matches the filters\n",
    )


def test_resume_needs_cases_from_stdin_again() -> None:
    text, words = Path("cases.jsonl").read_text(), [*PARTS[2:], "--fail-fast", "--concurrency", "1"]
    done = fourscore("run", "--cases", "-", *words, input=text)
    command = shlex.split(done.stderr.partition("go on with: fourscore ")[2])
    where = command.index("--cases")
    assert command[where + 1] == "-"
    went_on = json.loads(fourscore(*command, "--json", input=text).stdout)
    assert (went_on["passed"], went_on["failed"]) == (8, 2)  # to the next failure
    refused = fourscore(*command[:where], *command[where + 2 :])
    assert (refused.returncode, "--cases" in refused.stderr) == (2, True)
    other = fourscore(*command, input=text.replace("c20", "c21"))
    assert (other.returncode, "the cases have changed" in other.stderr) == (2, True)


def test_fail_fast_counts_the_rest_as_cancelled() -> None:
    done = fourscore("run", *PARTS, "--fail-fast", "--concurrency", "1", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 3
    assert document["statuses"]["cancelled"] == 15
    assert document["planned"] == sum(document["statuses"].values())
    assert "--resume" in done.stderr


def test_writes_every_kind_of_report() -> None:
    names = ["r.xml", "r.json", "r.csv", "r.md", "r.parquet"]
    run_json(*[word for name in names for word in ("--out", name)])
    suite = ET.parse("r.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), len(suite)) == ("20", "4", 20)
    assert len(json.loads(Path("r.json").read_text())["rows"]) == 20
    with Path("r.csv").open() as lines:
        assert [row["passed"] for row in csv.DictReader(lines)].count("True") == 16
    assert "80.0% [" in Path("r.md").read_text()
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table("r.parquet").num_rows == 20


LENGTH = """
from fourscore import Signal, judge
@judge
def short(case, trace):
    return Signal(name="short", value=0.1, reason="too long, by far")
@judge
def silent(case, trace):
    return 0.05
"""


@pytest.mark.parametrize(
    ("judge", "why"), [("short", "worst 0.10: too long, by far"), ("silent", "worst 0.05")]
)
def test_reports_give_the_same_reason_as_the_panel(judge: str, why: str) -> None:
    """A mean below the threshold has no reason of its own: it is that of the lowest dimension."""
    Path("length.py").write_text(LENGTH)
    lines = (
        f"  right: {{judge: math, weight: 1}}\n  worst: {{judge: length.py->{judge}, weight: 2}}"
    )
    Path("rubric.yaml").write_text(f"dimensions:\n{lines}\n")
    write_cases([case(3)])
    names = ["r.xml", "r.json", "r.csv", "r.md"]
    panel = fourscore("run", *PARTS, *[word for name in names for word in ("--out", name)]).stdout
    assert f"  c3  {why}\n" in panel
    value = {"short": "0.400", "silent": "0.367"}[judge]
    shown = fourscore("show", find_newest_run(), "c3").stdout
    assert f"\nfailed: scored, value {value}, below the pass threshold of 0.7\n" in shown
    assert not [line for line in shown.splitlines() if line != line.rstrip()]
    (failure,) = ET.parse("r.xml").getroot().iter("failure")
    assert failure.get("message") == why
    assert json.loads(Path("r.json").read_text())["rows"][0]["reason"] == why
    with Path("r.csv").open() as table:
        assert next(csv.DictReader(table))["reason"] == why
    assert f"| c3 | 1 | {why} |" in Path("r.md").read_text()


def test_only_failed_cases_have_a_reason() -> None:
    Path("rubric.yaml").write_text(
        "dimensions:\n  right: {judge: math, weight: 1}\n  again: {judge: math, weight: 1}\n"
    )
    run_json("--out", "r.json")
    rows = json.loads(Path("r.json").read_text())["rows"]
    assert {row["passed"]: bool(row["reason"]) for row in rows} == {True: False, False: True}


def test_escapes_hostile_text_in_reports() -> None:
    Path("agent.py").write_text(
        "def answer(input): return '=1+1 \\x00\\x1b[31m ]]> <script> | `x`'\n"
    )
    run_json("--out", "r.xml", "--out", "r.csv", "--out", "r.md")
    ET.parse("r.xml")
    with Path("r.csv").open() as lines:
        assert next(csv.DictReader(lines))["output"].startswith("'=")
    assert "<script>" not in Path("r.md").read_text().replace("\\<", "")


def drop_times(document: dict[str, Any]) -> str:
    """What must not depend on when and how often a run was interrupted."""
    left = {
        k: v
        for k, v in document.items()
        if k not in ("run", "run_facts", "time", "cost", "exit_code")
    }
    return json.dumps(left)


def start_run(*words: str, **env: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [FOURSCORE, "run", *PARTS, "--json", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )


def count_scores() -> int:
    try:
        with sqlite3.connect("file:.fourscore/runs.db?mode=ro", uri=True) as store:
            return int(store.execute("SELECT count(*) FROM scores").fetchone()[0])
    except sqlite3.Error:
        return 0


def wait_until(true: Any) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def find_newest_run() -> str:
    return str(json.loads(fourscore("runs", "--json").stdout)["runs"][0]["id"])


def test_a_killed_run_resumes_to_the_same_summary() -> None:
    whole = drop_times(run_json("--store", "whole.db"))
    chance = random.Random(3)
    process = start_run("--concurrency", "2", SLOW="0.02")
    wait_until(count_scores)
    for _ in range(4):
        time.sleep(chance.random() * 0.15)
        process.kill()
        process.communicate()
        process = subprocess.Popen(
            [FOURSCORE, "run", *PARTS, "--resume", find_newest_run(), "--json"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "SLOW": "0.02"},
        )
    text, _ = process.communicate()
    assert drop_times(json.loads(text)) == whole
    assert count_scores() == 20


STOPPING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_stops_the_run_and_prints_the_command_that_resumes_it(
    number: signal.Signals,
) -> None:
    process = start_run("--concurrency", "1", SLOW="0.1")
    wait_until(count_scores)
    process.send_signal(number)
    _, words = process.communicate()
    assert process.returncode == 130
    command = shlex.split(words.rpartition("go on with: ")[2])
    done = fourscore(*command[1:], "--json", cwd=Path("/"))  # from anywhere
    assert json.loads(done.stdout)["total_tests"] == 20, done.stderr


def test_a_run_under_nohup_outlives_a_hangup() -> None:
    process = subprocess.Popen(
        ["nohup", FOURSCORE, "run", *PARTS, "--json", "--concurrency", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SLOW": "0.02"},
    )
    wait_until(count_scores)
    process.send_signal(signal.SIGHUP)
    text, _ = process.communicate()
    assert (process.returncode, json.loads(text)["total_tests"]) == (0, 20)


def test_a_second_signal_ends_a_run_that_does_not_stop() -> None:
    Path("agent.py").write_text(
        "import asyncio\nasync def answer(input):\n"
        "    while True:\n        try: await asyncio.sleep(3600)\n"
        "        except asyncio.CancelledError: open('cancelled', 'w')\n"
    )
    process = start_run("--isolate", "--deadline", "3600")
    wait_until(lambda: Path(".fourscore/runs.db").exists() and find_newest_run())
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    process.communicate()
    assert process.returncode in (130, -signal.SIGTERM)


def list_litter(folder: Path) -> set[str]:
    kept = {".fourscore", "agent.py", "cases.jsonl", "rubric.yaml", "__pycache__", "out.jsonl"}
    inside = {path.name for path in (folder / ".fourscore").iterdir()}
    store = {"runs.db", "runs.db-wal", "runs.db-shm"}
    return {path.name for path in folder.iterdir()} - kept | inside - store


def test_the_next_command_removes_what_a_killed_one_left(folder: Path) -> None:
    """Drafts, and locks of runs; not those of a process that is at work."""
    process = start_run("--concurrency", "1", SLOW="60")
    wait_until(lambda: list(folder.glob(".fourscore/*.lock")))
    process.kill()
    process.communicate()
    dead = folder / ".fourscore" / ".runs.db.1a2b3c4d.fourscore-draft"
    dead.mkdir()
    (dead / "runs.db").write_text("half a store")
    (folder / ".out.jsonl.abcdefgh.fourscore-draft").write_text("half a file")
    assert len(list_litter(folder)) == 3
    row = {"task": {"metadata": {"answer": "1"}}, "outputs": [{"output": "\\boxed{1}"}]}
    Path("cases.jsonl").write_text(json.dumps({"id": "a", "input": "double 1", "expected": "2"}))
    with open_atomic("out.jsonl") as stream:
        stream.write(json.dumps(row).encode())
        run_json()  # while another process writes
        (mine,) = folder.glob(".*.fourscore-draft")
        assert mine.stat().st_size == 0
    assert list_litter(folder) == set()


def test_resume_starts_nothing_that_only_the_store_names() -> None:
    Path("evil.py").write_text("open('imported', 'w')\ndef run(input): return 1\n")
    for agent in ("shell: touch started", "evil:run", "evil.py:run"):
        stopped = fourscore("run", *PARTS[:4], "--agent", agent, "--fail-fast", "--json")
        run = json.loads(stopped.stdout)["run"]
        Path("started").unlink(missing_ok=True)
        Path("imported").unlink(missing_ok=True)
        for more in ([], PARTS[:4], PARTS[4:], PARTS):
            refused = fourscore("run", "--resume", run, *more)
            assert refused.returncode == 2
            assert "a store does not choose what is started" in refused.stderr
        for words in (["runs"], ["show", run], ["show", run, "c1"], ["compare", run, run]):
            fourscore(*words)
        fourscore("rescore", run, "--rubric", "rubric.yaml")
        assert not Path("started").exists()
        assert not Path("imported").exists()
        command = shlex.split(refused.stderr.partition("then type it: fourscore ")[2])
        assert fourscore(*command, "--dry-run").returncode == 0


def test_resume_tells_that_the_agent_has_changed() -> None:
    run_json("--fail-fast", "--concurrency", "1", code=3)
    Path("agent.py").write_text(f"{AGENT}\n# mended\n")
    done = fourscore("run", *PARTS, "--resume", find_newest_run())
    assert "the agent's file has changed since run" in done.stderr


def test_retry_runs_cases_with_a_status_again() -> None:
    write_cases([case(1), case(2, "crash")])
    assert run_json()["statuses"]["agent_error"] == 1
    Path("agent.py").write_text(AGENT.replace('raise ValueError("boom")', "pass"))
    done = fourscore(
        "run", *PARTS, "--resume", find_newest_run(), "--retry", "agent_error", "--json"
    )
    assert json.loads(done.stdout)["passed"] == 2


def test_refuses_to_resume_a_run_that_another_process_writes() -> None:
    process = start_run("--concurrency", "1", SLOW="0.2")
    wait_until(count_scores)
    second = fourscore("run", *PARTS, "--resume", find_newest_run())
    assert second.returncode == 2
    assert str(process.pid) in second.stderr
    process.kill()
    process.communicate()


def test_refuses_to_resume_with_a_changed_rubric_or_changed_cases() -> None:
    run_json()
    Path("rubric.yaml").write_text(RUBRIC + "  brief: {judge: math}\n")
    assert "rubric has changed" in fourscore("run", *PARTS, "--resume", find_newest_run()).stderr
    Path("rubric.yaml").write_text(RUBRIC)
    write_cases([case(1)])
    done = fourscore("run", *PARTS, "--resume", find_newest_run())
    assert (done.returncode, "cases have changed" in done.stderr) == (2, True)


def test_resume_refuses_another_setting_and_takes_the_same_files_from_elsewhere() -> None:
    run = run_json("--fail-fast", "--concurrency", "1", code=3)["run"]
    refused = fourscore("run", *PARTS, "--resume", run, "--repeats", "3")
    assert refused.returncode == 2
    message = f"--repeats: run {run} has 1; --resume cannot change that to 3: start a new run"
    assert message in refused.stderr
    Path("cases.jsonl").rename("moved.jsonl")
    Path("rubric.yaml").rename("moved.yaml")
    moved = ["--cases", "moved.jsonl", "--rubric", "moved.yaml"]
    done = fourscore("run", *PARTS, "--resume", run, *moved, "--json")
    assert json.loads(done.stdout)["total_tests"] == 10, done.stderr  # to the next failure


def test_rescores_shows_and_labels_a_run() -> None:
    run_json("--name", "first", "--label", "branch=main")
    Path("agent.py").unlink()  # not called any more
    Path("other.yaml").write_text("dimensions:\n  right: {judge: math, with: {box: first}}\n")
    done = fourscore("rescore", find_newest_run(), "--rubric", "other.yaml", "--json")
    assert json.loads(done.stdout)["passed"] == 16
    assert "first" in fourscore("runs").stdout
    shown = fourscore("show", find_newest_run(), "c5").stdout
    assert "\nfailed: scored, value 0.000, the box holds '0', the reference is '10'\n" in shown
    assert (
        fourscore(
            "label", find_newest_run(), "c5", "pass", "--who", "ann", "--note", "fine"
        ).returncode
        == 0
    )
    assert "ann says pass fine" in fourscore("show", find_newest_run(), "c5").stdout
    assert fourscore("show", find_newest_run(), "nobody").returncode == 2
    assert json.loads(fourscore("show", find_newest_run(), "--json").stdout)["passed"] == 16


def test_scores_shows_and_compares_a_rescoring_by_its_fingerprint() -> None:
    run = run_json()["run"]
    Path("other.yaml").write_text("dimensions:\n  good: {judge: math, gate: 1, weight: 2}\n")
    done = fourscore("rescore", run, "--rubric", "other.yaml")
    *_, line = done.stdout.splitlines()
    words = line.split()
    assert words[:5] == ["next", "fourscore", "show", run, "c10"]
    assert "good is 0, below its gate of 1" in fourscore(*words[2:]).stdout
    assert "good is 0, below its gate of 1" not in fourscore(*words[2:5]).stdout
    judge = words[words.index("--scores") + 1]
    whole = fourscore("show", run, "--scores", judge[:9], "--json", "--out", "r.json").stdout
    document = json.loads(whole)
    assert (document["judge"], list(document["dimensions"])) == (judge, ["good"])
    rows = json.loads(Path("r.json").read_text())["rows"]
    assert {signal["name"] for row in rows for signal in row["signals"]} == {"good"}
    assert f"--scores {judge}" in fourscore("compare", run, run, "--scores", judge).stdout
    with closing(sqlite3.connect(".fourscore/runs.db")) as store:
        judges = [row[0] for row in store.execute("SELECT DISTINCT judge FROM scores ORDER BY 1")]
    for wrong in (["show", run, "--scores", "nosuch"], ["compare", run, run, "--scores", "nosuch"]):
        done = fourscore(*wrong)
        assert (done.returncode, done.stdout) == (2, "")
        known = ", ".join(judges)
        assert f"no rubric 'nosuch' has scored run {run}; known: {known}\n" in done.stderr


def test_refuses_a_file_that_is_no_store() -> None:
    Path("text.db").write_text("not a database, by far")
    for words in (["run", *PARTS, "--store", "text.db"], ["runs", "--store", "text.db"]):
        done = fourscore(*words)
        assert done.returncode == 2
        assert "text.db" in done.stderr
    assert fourscore("runs", "--store", "missing.db").returncode == 2


def test_flags_override_a_configuration_file() -> None:
    Path("config.yaml").write_text(
        "fourscore:\n  run:\n    cases: cases.jsonl\n    rubric: rubric.yaml\n"
        "    agent: agent.py:answer\n    gates: [pass_rate>=0.9]\n"
    )
    assert fourscore("run", "config.yaml").returncode == 1
    assert fourscore("run", "config.yaml", "--gate", "pass_rate>=0.5").returncode == 0
    Path("config.yaml").write_text("fourscore:\n  run:\n    casse: cases.jsonl\n")
    done = fourscore("run", "config.yaml")
    assert "config.yaml:3: fourscore.run.casse: unknown key; did you mean cases?" in done.stderr


def test_names_the_flag_for_a_file_given_as_configuration() -> None:
    done = fourscore("run", "cases.jsonl", "--agent", "recorded")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "cases.jsonl: this is a file of cases, not a configuration: give it as --cases"
        in done.stderr
    )
    assert "this is a rubric file: give it as --rubric" in fourscore("run", "rubric.yaml").stderr


def test_judges_recorded_outputs() -> None:
    write_cases([case(3, output="\\boxed{6}"), case(4, output="\\boxed{9}"), case(5)])
    done = fourscore("run", *PARTS[:4], "--agent", "recorded", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["passed"], document["failed"]) == (3, 1, 1)
    assert document["statuses"]["judge_error"] == 1
    (lost,) = document["unmeasured_first"]
    assert lost["reason"]
    shown = fourscore("run", *PARTS[:4], "--agent", "recorded").stdout
    assert f"1 not measured\n  {lost['id']}  judge_error, {lost['reason'][:20]}" in shown


def test_a_recorded_output_that_cannot_be_read_is_a_judge_error() -> None:
    broken = case(4, output="\\boxed{8}", steps=[{"tool": "search"}])
    write_cases([case(3, output="\\boxed{6}"), broken, case(5, ouput="\\boxed{10}")])
    done = fourscore("run", *PARTS[:4], "--agent", "recorded", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["passed"], document["failed"]) == (3, 1, 0)
    assert document["statuses"]["judge_error"] == 2
    step, key = (line["reason"] for line in document["unmeasured_first"])
    assert step == "task 'c4': steps[0]: neither a tool call (name) nor a message (role)"
    assert key == "task 'c5': ouput: unknown key; did you mean output?"


def test_a_full_disk_stops_the_run_and_prints_how_to_resume() -> None:
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    write_cases([case(n, "double", note="x" * 5_000) for n in range(1, 200)])
    done = subprocess.run(
        [FOURSCORE, "run", *PARTS],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=small_files,
    )
    assert done.returncode in (2, 3)
    assert "--resume" in done.stderr
    assert "Traceback" not in done.stderr
    again = fourscore("run", *PARTS, "--resume", find_newest_run(), "--json")
    assert json.loads(again.stdout)["total_tests"] == 199


def test_refuses_a_store_in_a_folder_that_cannot_be_made() -> None:
    Path("readonly").write_text("a file where a folder should be")
    done = fourscore("run", *PARTS, "--store", "readonly/runs.db")
    assert done.returncode == 2
    assert "readonly" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_async_agent_that_blocks_costs_only_its_own_case() -> None:
    Path("agent.py").write_text(
        "import asyncio, os, time\n"
        "async def answer(input):\n"
        "    if input == 'block 2': time.sleep(3600)\n"
        "    os.write(1, b'NOISE'); os.chdir('/')\n"
        "    return '\\\\boxed{%d}' % (2 * int(input.split()[1]))\n"
    )
    write_cases([case(1), case(2, "block"), case(3)])
    document = run_json("--deadline", "0.5", "--out", "here.md")
    assert (document["passed"], document["failed"]) == (2, 1)
    assert Path("here.md").exists()


def test_resume_takes_new_gates_and_dry_run_runs_nothing() -> None:
    run_json()
    assert (
        fourscore(
            "run", *PARTS, "--resume", find_newest_run(), "--gate", "pass_rate>=0.99"
        ).returncode
        == 1
    )
    done = fourscore("run", *PARTS, "--resume", find_newest_run(), "--dry-run", "--json")
    assert json.loads(done.stdout)["planned"] == 0


def test_all_missing_extras_are_named_before_the_run_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fourscore.core.extras.find_spec", lambda name: None)
    line = "{weight: 1, judge: math, with: {match: equivalent}}"
    Path("equal.yaml").write_text(f"dimensions:\n  right: {line}\n")
    words = ["run", *PARTS, "--rubric", "equal.yaml", "--out", "rows.parquet"]
    assert main(words) == 2
    assert "pip install 'fourscore[math,parquet]'" in capsys.readouterr().err
    assert not Path(".fourscore").exists()
