"""The command line itself: help, suggestions for mistyped words, and completion in a shell."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.completion import SHELLS
from fourscore.cli.main import COMMANDS, main

from .command import FOURSCORE


def refuse(capsys: Any, *words: str) -> tuple[str, str]:
    """What a refused command line prints on stdout and stderr."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    printed = capsys.readouterr()
    return printed.out, printed.err


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("rnu",), "invalid choice: 'rnu'; did you mean run?"),
        (("monitor", "statsu"), "invalid choice: 'statsu'; did you mean status?"),
        (
            ("run", "--rubirc=x.yaml"),
            "unrecognized arguments: --rubirc=x.yaml; did you mean --rubric?",
        ),
        (("runs", "--xyz"), "unrecognized arguments: --xyz\n"),
        (("nothing-like-it",), "invalid choice: 'nothing-like-it' (choose from "),
    ],
)
def test_suggests_a_word_for_a_mistyped_one(
    words: tuple[str, ...], suggestion: str, capsys: Any
) -> None:
    out, err = refuse(capsys, *words)
    assert out == ""
    assert suggestion in err


def test_json_error_document_carries_the_suggestion(capsys: Any) -> None:
    out, _ = refuse(capsys, "rnu", "--json")
    error = json.loads(out)["error"]
    assert error["field"] == "COMMAND"
    assert error["message"] == "invalid choice: 'rnu'; did you mean run?"


def test_python_dash_m_is_the_same_command() -> None:
    by_module, by_name = (
        subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
        for command in ([sys.executable, "-m", "fourscore"], [FOURSCORE])
    )
    assert by_module == by_name
    assert all(name in by_module for name in COMMANDS)


def test_every_help_text_starts_with_a_verb() -> None:
    assert all(
        summary[0].isupper() and summary.split()[0].isalpha() for summary in COMMANDS.values()
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_prints_a_completion_script(shell: str, capsys: Any) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "fourscore" in script
    assert "_ARGCOMPLETE" in script


COMPLETE = """
source ./completion.bash
COMP_LINE=$1; COMP_POINT=${#1}; COMP_TYPE=9
read -ra COMP_WORDS <<< "$1"; COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_python_argcomplete fourscore "${COMP_WORDS[$COMP_CWORD]}"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("fourscore cal", ["calibrate"]),
        ("fourscore run --ru", ["--rubric"]),
        ("fourscore monitor stat", ["status"]),
    ],
)
def test_bash_completes_commands_and_flags(line: str, completed: list[str], tmp_path: Path) -> None:
    script = subprocess.run([FOURSCORE, "completion", "bash"], capture_output=True, check=True)
    (tmp_path / "completion.bash").write_bytes(script.stdout)
    path = f"{Path(FOURSCORE).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", line],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == completed
