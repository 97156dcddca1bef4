"""`fourscore evolve`: what it keeps, says and how it ends."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fourscore.cli.main import main
from fourscore.evolve.decision import Decision, decide_by_pairs
from fourscore.evolve.folder import Evolution
from fourscore.report import evolution_panel as terminal
from fourscore.stats.sequential import SequentialPlan

from .command import run_fourscore

WON = decide_by_pairs([(40.0, 90.0), (50.0, 95.0)] * 20, SequentialPlan(budget=40))
AGENT = """
def answer(asked, wrong):
    n = int(asked)
    return "\\\\boxed{%d}" % (n + 1 if n % 100 < wrong else n)

def old(asked): return answer(asked, 40)
def new(asked): return answer(asked, 5)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("prompt.md").write_text("Answer in {language}.\n")
    assert main(["evolve", "init", "--prompt", "prompt.md", "--json"]) == 0
    return tmp_path


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["evolve", *words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def message(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["evolve", *words]) == code
    both = capsys.readouterr()
    return both.out + both.err


def grown(folder: Path) -> None:
    with Evolution(folder / "evolution") as evolution:
        for number in (2, 3):
            evolution.add(
                f"Version {number}.\n", strategy="format_change", risk="high", why="[red]"
            )
            evolution.decide(number, WON)
        evolution.record_execution(30.0, n=100, error_rate=0.7)
        evolution.add("Version 4.\n", strategy="step_reorder", risk="low")


def test_init_stores_prompt_and_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.txt").write_text("Answer.")
    words = ["evolve", "init", "kept/here", "--prompt", "p.txt", "--cases", "cases.jsonl",
             "--agent", "agent.py:answer", "--budget", "80", "--margin", "3"]  # fmt: skip
    assert main(words) == 0
    assert "fourscore evolve status --dir kept/here" in capsys.readouterr().out
    assert Path("kept/here/versions/0001.md").read_text() == "Answer."
    with Evolution("kept/here") as evolution:
        found = evolution.settings
    assert Path(found.cases or "").resolve() == tmp_path / "cases.jsonl"
    assert (found.agent or "").endswith("kept/here/../../agent.py:answer")
    assert (found.budget, found.margin) == (80, 3.0)
    assert main(words) == 2
    assert main(["evolve", "init", "kept/here", "--prompt", "p.txt"]) == 2
    assert "already" in capsys.readouterr().err
    assert main(["evolve", "init", "other", "--prompt", "none.txt"]) == 2
    assert "none.txt: --prompt: No such file" in capsys.readouterr().err


def test_init_with_bad_setting_creates_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = message(capsys, "init", "two", "--prompt", "prompt.md", "--budget", "1", code=2)
    assert "budget" in out
    assert not Path("two/log.jsonl").exists()
    assert main(["evolve", "init", "two", "--prompt", "prompt.md", "--budget", "20"]) == 0


def test_status_shows_active_version(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "mutation   any risk: allowed" in message(capsys, "status")
    grown(here)
    found = document(capsys, "status")
    assert (found["active"]["number"], found["versions"], found["pending"]["number"]) == (3, 4, 4)
    assert (found["decisions"], found["accepted"], found["expected_false"]) == (2, 2, 0.1)
    assert found["strategies"] == {"format_change": {"tried": 2, "accepted": 2}}
    assert found["must_roll_back"]["reason"] == "error_rate"
    assert found["may_mutate"]["low"]["reason"] == "cool_down"
    out = message(capsys, "status")
    for words in ("active     3", "at most 0.1 accepted by chance", "pending    4", "70% of the"):
        assert words in out


def test_versions_lists_versions_and_prints_texts(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grown(here)
    found = document(capsys, "versions")["versions"]
    assert [each["status"] for each in found] == ["retired", "retired", "active", "candidate"]
    assert [each["best"] for each in found] == [False, True, False, False]
    assert message(capsys, "versions", "2") == "Version 2.\n"
    assert document(capsys, "versions", "2")["text"] == "Version 2.\n"
    assert "retired, best" in message(capsys, "versions")
    assert document(capsys, "versions", "9", code=2)["error"]["field"] == "version"


def test_history_lists_newest_first(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grown(here)
    found = document(capsys, "history")
    assert [each["event"] for each in found["events"]] == [
        "candidate", "execution", "decision", "candidate", "decision", "candidate", "init",
    ]  # fmt: skip
    assert found["events"][2]["decision"]["low"] > 0
    few = document(capsys, "history", "--limit", "2")
    assert (len(few["events"]), few["left_out"]) == (2, 5)
    out = message(capsys, "history", "--limit", "6")
    assert "3 against 2: promoted, +47.50 points" in out
    assert "3 from 2 by format_change, high risk: [red]" in out
    assert "3: 30.00, n=100, 70% failed" in out
    assert "and 1 before" in out
    assert message(capsys, "history", "--limit", "0", code=2)


def test_rollback_restores_earlier_version(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no earlier version" in message(capsys, "rollback", code=2)
    grown(here)
    found = document(capsys, "rollback")
    assert (found["left"], found["active"]["number"], found["reason"]) == (3, 2, "error_rate")
    assert message(capsys, "rollback", "1", "--why", "a person") == (
        "active: 1 (versions/0001.md), was 2\n"
    )
    last = document(capsys, "history")["events"][0]
    assert (last["event"], last["reason"], last["why"]) == ("rollback", "asked", "a person")
    assert "2 to 1: a person" in message(capsys, "history")
    assert "4 was never active" in message(capsys, "rollback", "4", code=2)
    assert "version 1 is already active" in message(capsys, "rollback", "1", code=2)


def test_rejects_folder_without_evolution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for action in ("status", "versions", "history", "rollback"):
        assert "no log.jsonl" in message(capsys, action, "--dir", str(tmp_path), code=2)
        assert document(capsys, action, "--dir", str(tmp_path), code=2)["exit_code"] == 2


def test_decide_by_literal_rule_from_two_scores(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["decide", "--rule", "literal", "--seed", "1", "--old", "80", "--new"]
    assert document(capsys, *words, "83") == {
        "accepted": True, "reason": "marginal_improvement", "delta": 3.0,
    }  # fmt: skip
    assert document(capsys, *words, "79")["accepted"] is True  # this seed explores
    other = ["decide", "--rule", "literal", "--seed", "2", "--old", "80", "--new"]
    assert document(capsys, *other, "79", code=1) == {
        "accepted": False, "reason": "exploration", "delta": -1.0,
    }  # fmt: skip
    assert document(capsys, *words, "70", code=1)["reason"] == "regression"
    assert "without regard to chance" in message(capsys, *words, "90")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--old", "80", "--new", "83"], "two scores cannot show chance"),
        (["--old", "80"], "give two runs"),
        ([], "give two runs"),
        (["one"], "expected two runs"),
        (["a", "b", "--old", "1"], "expected two runs"),
        (["--rule", "literal", "--old", "nan", "--new", "3"], "--old: nan is not a score"),
        (["--rule", "literal", "--old", "3", "--new", "101"], "--new: 101.0 is not a score"),
        (["a", "b", "--store", "none.db"], "none.db"),
    ],
)
def test_decide_rejects_missing_arguments(
    capsys: pytest.CaptureFixture[str], words: list[str], part: str
) -> None:
    assert part in message(capsys, "decide", *words, code=2)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    folder = tmp_path_factory.mktemp("decide")
    (folder / "agent.py").write_text(AGENT)
    (folder / "rubric.yaml").write_text("dimensions:\n  right: {judge: math}\n")
    cases = [{"id": f"c{n}", "input": str(n), "expected": str(n)} for n in range(100)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    runs = []
    for name in ("old", "new"):
        done = run_fourscore(
            "run", "--cases", "cases.jsonl", "--rubric", "rubric.yaml",
            "--agent", f"agent.py:{name}", "--json", cwd=folder,
        )  # fmt: skip
        runs.append(json.loads(done.stdout)["run"])
    return folder / ".fourscore/runs.db", runs[0], runs[1]


def test_decide_pairs_two_stored_runs(
    stored: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, old, new = stored
    where = ["--store", str(store)]
    found = document(capsys, "decide", old, new, *where)
    assert (found["accepted"], found["reason"], found["n"]) == (True, "improvement", 100)
    assert found["delta"] == pytest.approx(35.0)
    assert 0 < found["low"] < 35 < found["high"]
    assert (found["level"], found["expected_false"], found["looks"]) == (0.05, 0.05, 1)
    assert found["left_out"] == {
        "only_in_old": 0, "only_in_new": 0, "changed": 0, "not_measured": 0,
    }  # fmt: skip
    worse = document(capsys, "decide", new, old, *where, code=1)
    assert (worse["accepted"], worse["reason"], worse["exit_code"]) == (False, "no_gain", 1)
    same = document(capsys, "decide", old, old, *where, code=1)
    assert (same["reason"], same["delta"]) == ("undecided", 0.0)
    literal = document(capsys, "decide", old, new, *where, "--rule", "literal")
    assert (literal["reason"], literal["n"]) == ("significant_improvement", 100)


def test_decide_with_budget_may_need_more_pairs(
    stored: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, old, new = stored
    where = ["--store", str(store)]
    early = document(capsys, "decide", old, new, *where, "--budget", "100")
    assert (early["look"], early["looks"]) == (3, 4)
    assert early["n"] < 100
    more = document(capsys, "decide", old, old, *where, "--budget", "400", code=1)
    assert (more["reason"], more["more"], more["n"]) == ("more_cases", 100, 100)
    assert "100 more pairs" in message(
        capsys, "decide", old, old, *where, "--budget", "400", code=1
    )
    out = message(capsys, "decide", old, new, *where, "--budget", "1", code=2)
    assert "--budget" in out
    assert "accepted  improvement" in message(capsys, "decide", old, new, *where)


def test_foreign_text_cannot_control_terminal() -> None:
    out = io.StringIO()
    screen = Console(file=out, force_terminal=True, width=100, markup=False, highlight=False)
    hostile = "\x1b[2J[bold]boo[/bold]\nnext"
    decision = Decision(rule="paired", accepted=False, reason="undecided", why=hostile)
    document = {"accepted": False, "reason": "undecided", "delta": None, "rule": "paired"}
    terminal.show_decision({**document, "why": decision.why}, screen)
    event = {"event": "note", "at": "2026-01-31T12:00:00Z", "about": hostile, "data": {}}
    terminal.show_history(hostile, [event], screen)
    shown = out.getvalue()
    assert "\x1b[2J" not in shown
    assert "[bold]boo[/bold]" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
