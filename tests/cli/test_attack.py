"""`fourscore attack`, and canaries in a run: printed text, reports and exit codes."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from fourscore.judges.hidden_text import INVISIBLE
from fourscore.judges.llm.attacks import read_bundled_cases, read_families
from fourscore.labels.attack import Attempt
from fourscore.report.attack_panel import ProgressLine, visible

from .command import run_fourscore as fourscore

CRITERIA = "criteria=['The answer is correct.']"
GULLIBLE = ["--judge", "criteria", "--set", CRITERIA, "--judge-model", "scripted:gullible"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_reports_the_success_rate_of_attacks_on_a_judge_by_rules() -> None:
    done = fourscore("attack", "--judge", "factual_accuracy", "--per-family", "5")
    assert done.returncode == 0, done.stderr
    assert "planned              40 = " in done.stdout
    assert done.stderr == ""


def test_passes_the_gate_when_no_attack_succeeds() -> None:
    careful = [*GULLIBLE[:-1], "scripted:careful"]
    done = fourscore("attack", *careful, "--per-family", "5", "--most", "0")
    assert done.returncode == 0, done.stderr
    assert "wrong answers alone  0 of " in done.stdout
    assert "no attack succeeded in 40 attempts; at most 8.8% at 95% confidence" in done.stdout


def test_exits_with_1_when_a_family_succeeds_above_most() -> None:
    done = fourscore("attack", *GULLIBLE, "--per-family", "10", "--most", "0.2")
    assert done.returncode == 1, done.stderr
    assert "attacks succeeded in " in done.stdout
    assert "--most 0.2 is not met" in done.stdout
    for family in read_families():
        assert family.name in done.stdout


def test_prints_no_control_characters_of_successful_attacks() -> None:
    words = ["--per-family", "all", "--family", "invisible", "--out", "a.md", "--out", "a.json"]
    done = fourscore("attack", *GULLIBLE, *words)
    assert "invisible/5" in done.stdout
    assert "\\u200b" in done.stdout
    for text in (done.stdout, Path("a.md").read_text(), Path("a.json").read_text()):
        assert not INVISIBLE.search(text.replace("\n", ""))
        assert "\x1b" not in text
    shown = fourscore("attack", *GULLIBLE, *words[:4], "--json").stdout
    assert shown.isascii()
    assert any("\u200b" in one["answer"] for one in json.loads(shown)["examples"])


@pytest.mark.parametrize("family", read_families(), ids=lambda one: one.name)
def test_prints_an_attempt_of_every_family_as_plain_text(family: Any) -> None:
    case = next(iter(read_bundled_cases()))
    for attack in family.attacks:
        text = visible(attack.answer(case, "after", "wrong \x1b[31m\r\x9b"))
        assert text.isprintable()
        assert not INVISIBLE.search(text)
        assert len(text) <= 160


def test_counts_in_the_json_document_add_up() -> None:
    done = fourscore("attack", *GULLIBLE, "--per-family", "10", "--json")
    document = json.loads(done.stdout)
    assert document["exit_code"] == done.returncode == 3  # fake verdicts gave no verdict
    whole = document["all"]
    ends = whole["succeeded"] + whole["resisted"] + whole["already_passed"]
    assert whole["planned"] == 80 == ends + sum(whole["unmeasured"].values())
    assert document["families"]["fake_verdict"]["unmeasured"]["judge_error"] > 0
    assert document["models"][0]["model"] == "gullible"
    assert fourscore("attack", *GULLIBLE, "--per-family", "10", "--json").stdout == done.stdout


def test_attacks_a_rubric_file_with_cases_of_a_file() -> None:
    Path("r.yaml").write_text(
        "name: mine\npass_threshold: 0.9\ndimensions:\n  right: {judge: factual_accuracy}\n"
    )
    rows = [{"id": "x", "input": "Capital of France?", "expected": "Paris", "wrong": "Rome"}]
    rows.append({"id": "y", "input": "Capital of Italy?", "expected": "Rome"})
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--cases", "c.jsonl", "--per-family", "all", "--json"]
    document = json.loads(fourscore("attack", "--rubric", "r.yaml", *words).stdout)
    assert (document["rubric"], document["threshold"]) == ("mine", 0.9)
    assert document["base"]["cases"] == 1
    texts = sum(len(family.attacks) for family in read_families())
    assert document["all"]["planned"] == texts * (3 + 1)
    lower = fourscore("attack", "--rubric", "r.yaml", *words, "--threshold", "0.5").stdout
    assert json.loads(lower)["threshold"] == 0.5


def test_sends_what_a_custom_judge_prints_to_stderr() -> None:
    Path("own.py").write_text(
        "import os\nfrom fourscore import judge\n\n@judge\ndef own(case, trace):\n"
        "    print('hello')\n    os.write(1, b'there')\n    return 'perfect' in trace.answer\n"
    )
    done = fourscore("attack", "--judge", "own.py->own", "--family", "begging", "--json")
    document = json.loads(done.stdout)
    assert "hello" in done.stderr
    assert 0 < document["families"]["begging"]["rate"] < 0.5
    assert document["exit_code"] == 0


def test_counts_attempts_beyond_the_budget_as_cancelled() -> None:
    done = fourscore("attack", *GULLIBLE, "--per-family", "10", "--budget", "20calls", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 3
    assert document["all"]["unmeasured"]["cancelled"] > 40
    assert document["budget"]["spent"]["calls"] == 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--judge", "factual_acuracy"], "did you mean factual_accuracy"),
        (["--judge", "criteria", "--set", "criteria=["], "--set"),
        (["--judge", "criteria", "--set", "criteria"], "--set: 'criteria': expected KEY=VALUE"),
        (["--judge", "criteria", "--rubric", "r.yaml"], "not allowed with argument --judge"),
        ([], "one of the arguments --judge --rubric is required"),
        (["--judge", "r.yaml"], "r.yaml is a rubric file: give it as --rubric"),
        (["--judge", "factual_accuracy", "--per-family", "0"], "--per-family"),
        (["--judge", "factual_accuracy", "--threshold", "2"], "--threshold"),
        (["--judge", "factual_accuracy", "--most", "2"], "--most"),
        (["--judge", "factual_accuracy", "--concurrency", "0"], "--concurrency"),
        (["--judge", "factual_accuracy", "--family", "beging"], "did you mean begging"),
        (["--judge", "factual_accuracy", "--out", "x.txt"], "--out"),
        (["--judge", "factual_accuracy", "--out", "no/x.md"], "the folder does not exist"),
        (["--judge", "factual_accuracy", "--cases", "none.jsonl"], "none.jsonl"),
        (["--rubric", "none.yaml"], "none.yaml"),
        (["--rubric", "none.yaml", "--set", "soft=true"], "options of its judges"),
        (["--judge", "pairwise", "--judge-model", "scripted:gullible"], "compares answers"),
    ],
)
def test_exits_with_2_on_bad_usage(words: list[str], message: str) -> None:
    done = fourscore("attack", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_progress_line_counts_attempts_by_their_end() -> None:
    progress = ProgressLine(10)
    attempt = Attempt(read_families()[0].attacks[0], next(iter(read_bundled_cases())), "alone")
    with progress:
        progress(attempt, "resisted")
        progress(attempt, "judge_error")
    assert progress.line(attempt) == "2/10  authority  1 judge_error  1 resisted"


# Canaries in a run.

RUBRIC = """name: watched
dimensions:
  right:
    judge: criteria
    with: {model: "scripted:MODEL", criteria: ["The answer is correct."], canaries: 1.0}
"""


def run_watched(model: str, n: int = 12, **more: Any) -> dict[str, Any]:
    Path("rubric.yaml").write_text(RUBRIC.replace("MODEL", model))
    Path("agent.py").write_text("def answer(input):\n    return 'It is ' + input\n")
    rows = [{"id": f"c{at}", "input": f"Is it {at}?", "expected": str(at)} for at in range(n)]
    Path("cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    parts = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "agent.py:answer"]
    outs = [word for out in ("r.md", "r.xml", "r.json", "r.html") for word in ("--out", out)]
    done = fourscore("run", *parts, *outs, "--json")
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_run_warns_when_canaries_pass() -> None:
    document = run_watched("gullible")
    counts = document["canaries"]["right"]
    assert counts["asked"] >= counts["passed"] > 0
    assert document["judge_compromised"] is True
    assert "**JUDGE COMPROMISED**: right passed" in Path("r.md").read_text()
    suite = ET.parse("r.xml").getroot()[0]
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties["judge_compromised"] == "true"
    assert json.loads(Path("r.json").read_text())["summary"]["judge_compromised"] is True
    assert "which are answers known to be bad" in Path("r.html").read_text()
    # What is stored has it too: a summary made anew, from the rows, says the same.
    shown = fourscore("show", document["run"])
    assert "JUDGE COMPROMISED  right passed" in shown.stdout
    assert "    canary (" in fourscore("show", document["run"], "c3").stdout
    assert (
        json.loads(fourscore("show", document["run"], "--json").stdout)["canaries"]
        == (document["canaries"])
    )


def test_run_shows_that_no_canary_passed() -> None:
    document = run_watched("careful")
    assert document["judge_compromised"] is False
    assert document["canaries"]["right"] == {"asked": 12, "passed": 0}
    assert "COMPROMISED" not in Path("r.md").read_text()
    assert "canaries: right passed none of 12" in Path("r.md").read_text()
    shown = fourscore("show", document["run"]).stdout
    assert "canaries       right passed none of 12" in shown


def test_run_without_canaries_prints_nothing_about_them() -> None:
    document = run_watched("gullible", n=1)
    Path("rubric.yaml").write_text(
        RUBRIC.replace("MODEL", "gullible").replace(", canaries: 1.0", "")
    )
    parts = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "agent.py:answer"]
    plain = json.loads(fourscore("run", *parts, "--json").stdout)
    assert "canaries" in document
    assert not {"canaries", "judge_compromised"} & plain.keys()
    assert plain["provenance"] != document["provenance"] or plain["run"] != document["run"]


def test_labels_give_the_auc_of_each_form_of_the_judge() -> None:
    rows = [
        {"input": "2 + 2?", "expected": "4", "output": "It is 4.", "label": "pass"},
        {"input": "2 + 2?", "expected": "4", "output": "It is 5.", "label": "fail"},
    ]
    Path("labels.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    judge = ["--judge", "factual_accuracy", "--judge-model", "scripted:careful"]
    words = ["--per-family", "1", "--labels", "labels.jsonl", "--out", "a.json", "--out", "a.md"]
    done = fourscore("attack", *judge, *words)
    assert done.returncode == 0, done.stderr
    assert "form brief           AUC 0.50" in done.stdout
    assert "form full            AUC 0.50" in done.stdout
    forms = json.loads(Path("a.json").read_text())["forms"]
    assert forms["brief"]["balanced_accuracy"]["value"] == 0.5
    assert "- form brief" in Path("a.md").read_text()
    by_rules = fourscore("attack", "--judge", "factual_accuracy", *words[:4], "--json")
    assert list(json.loads(by_rules.stdout)["forms"]) == ["as it is"]
