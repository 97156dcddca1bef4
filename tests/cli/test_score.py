"""`fourscore score`: what it prints, its document, its exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main

LOG = """{"ts":"2026-01-05T10:00:00Z","tool":"Read","exit":"0","version":"3","session":"s1"}
{
  "ts": "2026-01-05T10:00:20Z",
  "tool": "Bash",
  "exit": "1",
  "version": "3",
  "session": "s1"
}
{"ts":"2026-01-05T10:01:00Z","tool":"Edit","exit":"0","version":"3","session":"s1"}
"""


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "executions.jsonl"
    path.write_text(LOG)
    return str(path)


def score_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["score", *words, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return code, document


def test_json_document(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = score_json(capsys, log)
    assert code == document["exit_code"] == 0
    # 2 of 3 calls, 60 s of 120 s, 1 error: (0.35·2/3 + 0.2·0.5 + 0.15·0.9) / 0.7
    assert (document["score"], document["grade"]) == (66.9, "C")
    assert document["interpretation"].startswith("Average")
    assert document["coverage"] == pytest.approx(0.7)
    line = document["signals"]["tool_success_rate"]
    assert line["value"] == pytest.approx(2 / 3)
    assert (line["weight"], line["reason"]) == (0.35, "1 of 3 calls failed: Bash exit 1")
    assert document["counts"]["tool_calls"] == 3
    assert document["inapplicable"] == ["output_quality", "structure_score"]


def test_terminal_panel(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", log, "--per", "session"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "66.90",
        "grade C",
        "1 of 3 calls failed: Bash exit 1",
        "60 s of 120 s for a medium task",
        "output_quality  not applicable",
        "coverage 70%",
        "tool_success_rate costs the most points",
        "s1",
    ):
        assert words in shown, words


def test_scores_output_and_task_type(
    log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "output.md"
    output.write_text("# Done\n\nIt works now, because the loop ends.\n\n```python\nx = 1\n```\n")
    options = ("--output", str(output), "--task-type", "coding", "--complexity", "complex")
    _, document = score_json(capsys, log, *options)
    assert document["coverage"] == pytest.approx(1.0)
    assert document["signals"]["structure_score"]["value"] == 0.7
    assert document["signals"]["efficiency"]["value"] == 0.8
    assert main(["score", log, "--output", str(tmp_path / "none")]) == 2


def test_broken_lines_fail_or_are_skipped(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Path(log).open("a") as stream:
        stream.write('{"tool": 5}\n')
    assert main(["score", log]) == 2
    assert f"{log}:10: tool: expected str" in capsys.readouterr().err
    assert main(["score", log, "--skip-broken"]) == 0
    assert "1 broken line was skipped" in capsys.readouterr().out


def test_hostile_names_are_shown_as_plain_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "e.jsonl"
    bad = {"tool": "\x1b[2J[red]x[/red]", "exit": "1", "session": "\x1b]0;owned\x07"}
    path.write_text(json.dumps(bad) + "\n")
    assert main(["score", str(path), "--per", "session"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[red]x[/red]" in shown


def test_exit_code_is_incomplete_without_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"execution": {}}')
    code, document = score_json(capsys, str(path))
    assert (code, document["score"], document["grade"]) == (3, None, None)
    assert main(["score", str(path)]) == 3
    assert "nothing could be measured" in capsys.readouterr().out
