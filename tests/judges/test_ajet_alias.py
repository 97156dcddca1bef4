"""`import ajet` without AgentJet, and with it. Each in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

JUDGE = """
from ajet.task_judge.base_judge import BaseJudge
from ajet.workflow import WorkflowOutput, WorkflowTask

class Mine(BaseJudge):
    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput):
        return 1.0, True
"""


def run(code: str, folder: Path) -> str:
    """What Python prints, running `code` in `folder`, which is on its path."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


INSTALL = "from fourscore.judges import ajet_alias; ajet_alias.install(); "


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("import ajet.workflow as w", "w.WorkflowTask is fourscore.workflow.WorkflowTask"),
        (
            "from ajet.workflow import WorkflowOutput",
            "WorkflowOutput is fourscore.workflow.WorkflowOutput",
        ),
        ("from ajet import Workflow", "Workflow is fourscore.workflow.Workflow"),
        (
            "from ajet.task_judge.base_judge import BaseJudge",
            "BaseJudge is fourscore.task_judge.base_judge.BaseJudge",
        ),
        (
            "from ajet.task_judge import MathAnswerAsJudge as m",
            "m is fourscore.task_judge.MathAnswerAsJudge",
        ),
    ],
)
def test_ajet_names_are_fourscores_objects(statement: str, shown: str, tmp_path: Path) -> None:
    ours = "import fourscore.workflow, fourscore.task_judge.base_judge; "
    assert run(f"{INSTALL}{ours}{statement}; print({shown})", tmp_path) == "True"


def test_ajet_is_not_importable_before_a_judge_is_loaded(tmp_path: Path) -> None:
    code = "import fourscore, fourscore.judges.loading, fourscore.workflow; import ajet"
    assert run(code, tmp_path) == "ModuleNotFoundError: No module named 'ajet'"


@pytest.mark.parametrize("name", ["ajet.nothing", "ajet.task_judge.nothing", "ajetx"])
def test_unknown_ajet_modules_are_not_found(name: str, tmp_path: Path) -> None:
    answer = run(f"{INSTALL}import {name}", tmp_path)
    assert answer.startswith("ModuleNotFoundError")
    assert name in answer


def test_install_twice_adds_one_finder(tmp_path: Path) -> None:
    code = "import sys; n = len(sys.meta_path); "
    assert run(f"{code}{INSTALL}{INSTALL}print(len(sys.meta_path) - n)", tmp_path) == "1"


def test_an_installed_ajet_is_used(tmp_path: Path) -> None:
    base = "class BaseJudge:\n    def __init__(self, config): self.config = config\n"
    files = {
        "ajet/__init__.py": "",
        "ajet/task_judge/__init__.py": "",
        "ajet/task_judge/base_judge.py": base,
        "ajet/workflow.py": "WorkflowTask = WorkflowOutput = 'the real one'\n",
        "mine.py": JUDGE,
    }
    write(tmp_path, files)
    code = (
        "from fourscore.judges.loading import load_judge; load_judge('mine.py->Mine'); "
        "import ajet.workflow, ajet.task_judge.base_judge as b; "
        "print(ajet.workflow.WorkflowTask, b.BaseJudge.__module__, ajet.__file__)"
    )
    place = (tmp_path / "ajet" / "__init__.py").resolve()
    assert run(code, tmp_path) == f"the real one ajet.task_judge.base_judge {place}"


def test_an_installed_ajet_gets_no_modules_of_fourscore(tmp_path: Path) -> None:
    write(tmp_path, {"ajet/__init__.py": ""})
    answer = run(f"{INSTALL}import ajet; import ajet.workflow", tmp_path)
    assert answer == "ModuleNotFoundError: No module named 'ajet.workflow'"


def test_a_module_named_ajet_inside_another_package_is_not_replaced(tmp_path: Path) -> None:
    write(tmp_path, {"shop/__init__.py": "", "shop/ajet.py": "WORD = 'theirs'"})
    code = f"{INSTALL}import ajet; from shop import ajet as theirs; print(theirs.WORD)"
    assert run(code, tmp_path) == "theirs"
