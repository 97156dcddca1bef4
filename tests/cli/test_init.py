"""`fourscore init`: files that run at once, gates that decide, and nothing of yours overwritten."""

import argparse
import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from fourscore.cli import run as run_command
from fourscore.cli.init import FILES, IGNORED
from fourscore.cli.main import COMMANDS, main

from .typed import typed

WORKFLOW = ".github/workflows/fourscore.yml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fourscore(*words: str, code: int = 0) -> str:
    done = typed(*words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def everything(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_three_commands(folder: Path) -> None:
    said = fourscore("init")
    assert set(everything(folder)) == {*FILES, IGNORED}
    assert said.endswith("next: fourscore run\n")
    assert "pass_rate" in fourscore("run")  # with its own gate, which holds
    assert "gate FAILED" in fourscore("run", "--gate", "pass_rate>=0.95", code=1)
    fourscore("run", "--gate", "pass_rate>=0.5", "--gate", "factual_accuracy>=0.5")


def test_the_run_has_something_to_show() -> None:
    fourscore("init", "mine")
    os.chdir("mine")
    document: dict[str, Any] = json.loads(fourscore("run", "--json"))
    assert document["planned"] == document["total_tests"] == 6
    assert document["passed"] == 5
    assert [failure["id"] for failure in document["failures"]] == ["dogs"]
    assert document["dimension_averages"].keys() == {
        "factual_accuracy",
        "completeness",
        "citation_accuracy",
        "tool_efficiency",
        "brief",
    }
    assert set(document["by_tag"]) == {"collection", "loans", "rooms", "missing"}
    assert document["gates"][0]["met"]


def test_from_another_folder_and_with_another_agent(folder: Path) -> None:
    fourscore("init", "mine")
    fourscore("run", "mine/fourscore.yaml", "--dry-run")
    (folder / "mine" / "other.py").write_text("def answer(question):\n    return 'no'\n")
    os.chdir("mine")
    assert "other.py:answer" in fourscore("run", "--agent", "other.py:answer", "--dry-run")


def test_the_options_say_it_all_and_the_folder_is_not_asked(folder: Path) -> None:
    (folder / "fourscore.yaml").write_text("nonsense: true\n")
    assert main(["run"]) == 2
    (folder / "cases.jsonl").write_text('{"input": "1?", "output": "1"}\n')
    words = ["--cases", "cases.jsonl", "--agent", "recorded", "--dry-run"]
    assert main(["run", *words]) == 0


def test_without_a_configuration_it_says_what_is_missing(capsys: Any) -> None:
    assert main(["run"]) == 2
    assert "fourscore.yaml in this folder" in capsys.readouterr().err


def test_nothing_is_overwritten(folder: Path, capsys: Any) -> None:
    (folder / "agent.py").write_text("mine")
    (folder / "cases.jsonl").symlink_to(folder / "nowhere")
    assert main(["init", "--json"]) == 2
    out, err = capsys.readouterr()
    assert "cases.jsonl, agent.py are already there; --force replaces" in err
    assert json.loads(out)["exit_code"] == 2
    assert everything(folder) == {"agent.py": "mine"}  # nothing was begun
    (folder / "cases.jsonl").unlink()
    assert main(["init", "--force", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == [*FILES, IGNORED]
    assert "def answer" in (folder / "agent.py").read_text()


def test_a_gitignore_that_is_there_is_added_to(folder: Path) -> None:
    (folder / IGNORED).write_bytes(b"*.pyc\n\xff\n.fourscore/")
    for _ in range(2):
        assert main(["init", "--force"]) == 0
        assert (folder / IGNORED).read_bytes() == (
            b"*.pyc\n\xff\n.fourscore/\nfourscore.xml\nfourscore.md\n"
        )


def test_what_cannot_be_written_is_bad_input(folder: Path, capsys: Any) -> None:
    (folder / "file").write_text("")
    assert main(["init", "file/below"]) == 2
    (folder / "agent.py").mkdir()
    assert main(["init", "--force"]) == 2
    assert "agent.py: Is a directory" in capsys.readouterr().err


def test_the_workflow_runs_commands_that_exist(folder: Path) -> None:
    fourscore("init")
    workflow = YAML(typ="safe").load((folder / WORKFLOW).read_text())
    assert workflow["on"] == ["push", "pull_request"]
    steps = workflow["jobs"]["fourscore"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert "pip install fourscore" in commands
    ours = [shlex.split(line) for line in commands if line.startswith("fourscore ")]
    assert ours
    for words in ours:
        assert words[1] in COMMANDS
        parser = argparse.ArgumentParser(exit_on_error=False)
        run_command.add_arguments(parser)
        parser.parse_args(words[2:])


def test_the_workflow_as_it_would_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fourscore("init")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    steps = YAML(typ="safe").load((folder / WORKFLOW).read_text())["jobs"]["fourscore"]["steps"]
    for command in (step["run"] for step in steps if "run" in step):
        if not command.startswith("pip "):
            subprocess.run(["bash", "-ec", command], check=True, capture_output=True)
    assert "| factual\\_accuracy |" in (folder / "summary").read_text()
    suite = ET.parse(folder / "fourscore.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "1")
    ignored = (folder / IGNORED).read_text().split()
    assert {"fourscore.xml", "fourscore.md", ".fourscore/"} == set(ignored)
