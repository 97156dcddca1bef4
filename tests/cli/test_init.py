"""`fourscore init`: files that run at once, gates that decide, and nothing of yours overwritten."""

import json
import os
import subprocess
import sys
import venv
import xml.etree.ElementTree as ET
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from fourscore.cli.init import FILES, IGNORED
from fourscore.cli.main import main

from .command import run_fourscore

ROOT = Path(__file__).parents[2]
WORKFLOW = ".github/workflows/fourscore.yml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fourscore(*words: str, code: int = 0) -> str:
    done = run_fourscore(*words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def everything(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def test_init_then_run_with_gates(folder: Path) -> None:
    printed = fourscore("init")
    assert set(everything(folder)) == {*FILES, IGNORED}
    assert printed.endswith("next: fourscore run\n")
    assert "pass_rate" in fourscore("run")  # with its own gate, which holds
    assert "gate FAILED" in fourscore("run", "--gate", "pass_rate>=0.95", code=1)
    fourscore("run", "--gate", "pass_rate>=0.5", "--gate", "factual_accuracy>=0.5")


def test_run_of_the_init_files_has_passes_and_failures() -> None:
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


def test_runs_from_another_folder_and_with_another_agent(folder: Path) -> None:
    fourscore("init", "mine")
    fourscore("run", "mine/fourscore.yaml", "--dry-run")
    (folder / "mine" / "other.py").write_text("def answer(question):\n    return 'no'\n")
    os.chdir("mine")
    assert "other.py:answer" in fourscore("run", "--agent", "other.py:answer", "--dry-run")


def test_complete_options_do_not_read_the_configuration_of_the_folder(folder: Path) -> None:
    (folder / "fourscore.yaml").write_text("nonsense: true\n")
    assert main(["run"]) == 2
    (folder / "cases.jsonl").write_text('{"input": "1?", "output": "1"}\n')
    words = ["--cases", "cases.jsonl", "--agent", "recorded", "--dry-run"]
    assert main(["run", *words]) == 0


def test_run_without_configuration_names_the_missing_options(capsys: Any) -> None:
    assert main(["run"]) == 2
    assert "fourscore.yaml in this folder" in capsys.readouterr().err


def test_init_overwrites_nothing_without_force(folder: Path, capsys: Any) -> None:
    (folder / "agent.py").write_text("mine")
    (folder / "cases.jsonl").symlink_to(folder / "nowhere")
    assert main(["init", "--json"]) == 2
    out, err = capsys.readouterr()
    assert "cases.jsonl, agent.py are already there; use --force" in err
    assert json.loads(out)["exit_code"] == 2
    assert everything(folder) == {"agent.py": "mine"}  # nothing was begun
    (folder / "cases.jsonl").unlink()
    assert main(["init", "--force", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == [*FILES, IGNORED]
    assert "def answer" in (folder / "agent.py").read_text()


def test_init_adds_lines_to_an_existing_gitignore(folder: Path) -> None:
    (folder / IGNORED).write_bytes(b"*.pyc\n\xff\n.fourscore/")
    for _ in range(2):
        assert main(["init", "--force"]) == 0
        assert (folder / IGNORED).read_bytes() == (
            b"*.pyc\n\xff\n.fourscore/\nfourscore.xml\nfourscore.md\n"
        )


def test_init_into_an_unwritable_place_is_bad_input(folder: Path, capsys: Any) -> None:
    (folder / "file").write_text("")
    assert main(["init", "file/below"]) == 2
    (folder / "agent.py").mkdir()
    assert main(["init", "--force"]) == 2
    assert "agent.py: Is a directory" in capsys.readouterr().err


def run_steps(folder: Path) -> list[str]:
    """The commands of the workflow that `init` wrote, in order."""
    workflow = YAML(typ="safe").load((folder / WORKFLOW).read_text())
    assert workflow["on"] == ["push", "pull_request"]
    return [step["run"] for step in workflow["jobs"]["fourscore"]["steps"] if "run" in step]


def required_by(name: str) -> set[str]:
    """The distributions that an installation of this one brings along, without extras."""
    found: set[str] = set()
    queue = [name]
    while queue:
        for line in distribution(queue.pop()).requires or ():
            requirement = Requirement(line)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if wanted and canonicalize_name(requirement.name) not in found:
                found.add(canonicalize_name(requirement.name))
                queue.append(requirement.name)
    return found


def link_dependencies(into: Path) -> None:
    """Link what the package requires into a folder: a test has no network to install it from."""
    into.mkdir()
    for name in required_by("fourscore"):
        installed = distribution(name)
        entries = {file.parts[0] for file in installed.files or () if file.parts[0] != ".."}
        for entry in entries - {"__pycache__"}:
            if not (into / entry).exists():
                (into / entry).symlink_to(Path(str(installed.locate_file(entry))).resolve())


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a fresh machine: a new venv, and a folder of wheels as the only index."""
    folder = tmp_path_factory.mktemp("machine")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*build, "--directory", str(folder / "wheels")], cwd=ROOT, check=True, capture_output=True
    )
    venv.create(folder / "venv", with_pip=True)
    link_dependencies(folder / "dependencies")
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{folder / 'dependencies'}\n")
    return {
        "HOME": str(folder),
        "PATH": f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder / "wheels"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }


def test_the_workflow_of_init_runs_on_a_fresh_machine(
    folder: Path, machine: dict[str, str]
) -> None:
    fourscore("init")
    for command in run_steps(folder):
        done = subprocess.run(
            ["bash", "-ec", command], env=machine, capture_output=True, text=True, cwd=folder
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert "| factual\\_accuracy |" in Path(machine["GITHUB_STEP_SUMMARY"]).read_text()
    suite = ET.parse(folder / "fourscore.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "1")
    ignored = (folder / IGNORED).read_text().split()
    assert {"fourscore.xml", "fourscore.md", ".fourscore/"} == set(ignored)


def test_the_wheel_has_all_that_its_commands_need(folder: Path, machine: dict[str, str]) -> None:
    """Base dependencies only: no command may need more than an installation brings along."""
    install = "pip install --quiet fourscore && python -m fourscore --version"
    for command in (
        install,
        "fourscore demo --dir tour",
        "fourscore init project",
        "cd project && fourscore run",
        "python -m fourscore --help",
        "fourscore completion bash",
        "python -c 'import aiohttp, starlette, uvicorn, prometheus_client'",
    ):
        done = subprocess.run(
            ["bash", "-ec", command], env=machine, capture_output=True, text=True, cwd=folder
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
