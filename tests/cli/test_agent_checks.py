"""Agents and judges that cannot start: told before the first case, and nothing is stored."""

from pathlib import Path

import pytest

from .command import run_fourscore as fourscore

PARTS = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text("def answer(input): return input\n")
    Path("rubric.yaml").write_text("name: r\ndimensions:\n  right: {judge: math}\n")
    Path("cases.jsonl").write_text('{"id": "c", "input": "q", "expected": "1"}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("def answer(input):\n    import not_there\n", "agent.py:2: it imports not_there, which"),
        (
            "def answer(x):\n    return work(x)\ndef work(x):\n    from not_there.sub import y\n",
            "agent.py:4: it imports not_there.sub, which",
        ),
        ("class answer:\n    def run(self, input):\n        import not_there as z\n", "agent.py:3"),
        ("async def answer(input):\n    import json, not_there\n", "agent.py:2"),
    ],
)
def test_refuses_an_agent_whose_imports_are_missing(agent: str, message: str) -> None:
    Path("agent.py").write_text(agent)
    done = fourscore("run", *PARTS, "--agent", "agent.py:answer")
    assert done.returncode == 2
    assert message in done.stderr
    assert not Path(".fourscore").exists()


@pytest.mark.parametrize(
    "body",
    [
        "    try:\n        import not_there\n    except ImportError:\n        pass\n",
        "    if not input:\n        import not_there\n",
        "    with contextlib.suppress(ImportError):\n        import not_there\n",
        "    import json, os.path, fourscore.core\n",
        "    import sys\n    sys.path.append('lib')\n    import helper\n",
        "    return input\ndef other():\n    import not_there\n",
    ],
)
def test_accepts_an_agent_that_can_do_without_an_import(body: str) -> None:
    Path("lib").mkdir()
    Path("lib/helper.py").write_text("")
    Path("agent.py").write_text(f"import contextlib\ndef answer(input):\n{body}\n")
    assert fourscore("run", *PARTS, "--agent", "agent.py:answer", "--dry-run").returncode == 0


def test_refuses_a_judge_whose_imports_are_missing() -> None:
    judge = "def right(task, output):\n    import not_there\n    return 1.0, True\n"
    Path("judge.py").write_text(judge)
    Path("rubric.yaml").write_text("name: r\ndimensions:\n  right: {judge: judge.py->right}\n")
    done = fourscore("run", *PARTS, "--agent", "agent.py:answer")
    assert done.returncode == 2
    assert "judge.py:2: it imports not_there, which is not installed" in done.stderr


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no_such_command --now", "no_such_command: there is no such command"),
        ("./missing.sh", "./missing.sh: there is no such command"),
        ("python3 missing.py x", "missing.py: there is no such file"),
        ("cat", ""),
        ("cd lib && no_such_command", ""),
        ("X=1 no_such_command", ""),
        ("if true; then cat; fi", ""),
        ("'unclosed", ""),
        ("python3 agent.py", ""),
        ("python3 -m missing.py", ""),
    ],
)
def test_refuses_a_shell_agent_that_cannot_start(command: str, message: str) -> None:
    done = fourscore("run", *PARTS, "--agent", f"shell: {command}", "--dry-run")
    assert done.returncode == (2 if message else 0), done.stderr
    assert message in done.stderr
