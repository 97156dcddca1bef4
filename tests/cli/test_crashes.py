"""No command prints a traceback: an unexpected error is one sentence, a file and exit code 70."""

import asyncio
import errno
import importlib
import json
import logging
import sqlite3
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import COMMANDS, main
from fourscore.core import ConfigError
from fourscore.executors import loop

#: What each command needs before it begins; `hook` never fails, as it runs in a coding agent.
WORDS: dict[str, list[str]] = {
    "run": ["--cases", "c.jsonl", "--agent", "recorded"],
    "compare": ["a", "b"],
    "rescore": ["a", "--rubric", "r.yaml"],
    "show": ["a"],
    "label": ["a", "c", "pass"],
    "rubric": ["learn", "--data", "d.jsonl", "--model", "openai:m"],
    "schema": ["cases"],
    "score": ["log.jsonl"],
    "evolve": ["status"],
    "monitor": ["status"],
    "judge": ["--data", "d.jsonl"],
    "attack": ["--judge", "math"],
    "completion": ["bash"],
    "cache": ["info"],
}


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def recurse(*_: object) -> None:
    recurse()


ERRORS: list[BaseException] = [
    KeyError("pass_rate"),
    sqlite3.ProgrammingError("closed"),
    MemoryError(),
    TimeoutError(),
    Unprintable(1),
    ValueError("\x1b]52;c;AAAA\x07 several\nlines " + "x" * 100_000),
    ExceptionGroup("of tasks", [ExceptionGroup("inner", [IndexError(3)])]),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException, name: str = "runs") -> None:
    def run(_: object) -> int:
        raise error

    monkeypatch.setattr(importlib.import_module(f"fourscore.cli.{name}"), "run", run)


def check_crash(printed: Any, *, as_json: bool = False) -> str:
    """Return the one sentence, after comparing it with the saved traceback."""
    line: str
    (line,) = printed.err.splitlines()
    assert "Traceback" not in printed.out + printed.err
    assert line.startswith("fourscore: ")
    assert len(line) < 1000
    assert line.isprintable()
    (saved,) = Path("tmp").glob("fourscore-crash-*.txt")
    assert saved.stat().st_mode & 0o777 == 0o600
    assert "Traceback (most recent call last)" in saved.read_text()
    assert str(saved.resolve()) in line
    if as_json:
        document = json.loads(printed.out)
        assert document["exit_code"] == 70
        assert document["error"]["traceback"] == str(saved.resolve())
    else:
        assert printed.out == ""
    return line


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"hook"}))
def test_every_command_ends_with_70_and_one_sentence(
    name: str, more: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    fail_with(monkeypatch, KeyError("odd"), name)
    words = [name, *WORDS.get(name, [])]
    if more and name in ("schema", "completion", "init", "demo", "serve"):
        more = []  # they print no document of their own
    assert main([*words, *more]) == 70
    line = check_crash(capsys.readouterr(), as_json=bool(more))
    assert "a mistake in fourscore: KeyError: 'odd'" in line or "unexpected error" in line


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_any_error_is_one_sentence(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    fail_with(monkeypatch, error)
    assert main(["runs", "--json"]) == 70
    check_crash(capsys.readouterr(), as_json=True)


def test_no_secret_is_in_a_crash(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    address = "http://ana:cnry-Password-1@h/?api_key=cnry-Query-2"
    fail_with(monkeypatch, ValueError(f"{'x' * 240} {address} {address}"))
    assert main(["runs", "--json"]) == 70
    printed = capsys.readouterr()
    (saved,) = Path("tmp").glob("fourscore-crash-*.txt")
    assert "cnry" not in f"{printed.out} {printed.err} {saved.read_text()}"
    check_crash(printed, as_json=True)


def test_an_endless_recursion_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("fourscore.cli.runs.run", recurse)
    assert main(["runs"]) == 70
    assert "RecursionError" in check_crash(capsys.readouterr())


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ExceptionGroup("tasks", [ConfigError("odd", field="--x")]), 2, "fourscore: --x: odd\n"),
        (PermissionError(errno.EACCES, "Denied", "f.txt"), 2, "fourscore: f.txt: Denied\n"),
        (OSError(errno.ENOSPC, "No space left"), 3, "fourscore: No space left\n"),
        (asyncio.CancelledError(), 130, "fourscore: interrupted\n"),
        (BaseExceptionGroup("tasks", [KeyboardInterrupt()]), 130, "fourscore: interrupted\n"),
    ],
)
def test_errors_with_a_code_of_their_own_save_no_traceback(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    fail_with(monkeypatch, error)
    assert main(["runs"]) == code
    assert capsys.readouterr().err == message
    assert not list(Path("tmp").iterdir())


def test_a_traceback_that_cannot_be_saved_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    fail_with(monkeypatch, KeyError("odd"))
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    assert main(["runs"]) == 70
    assert capsys.readouterr().err.endswith("; it could not be saved\n")


def run_instead(monkeypatch: pytest.MonkeyPatch, work: Any) -> None:
    monkeypatch.setattr("fourscore.cli.runs.run", lambda _: work() or 0)


#: A function that fails in a file of ours, as a thread or task of our own would.
OUR_FAILURE = compile(
    "def fail(): raise KeyError('ours')\nasync def fail_later(): raise KeyError('ours')",
    str(Path(importlib.import_module("fourscore").__file__ or "").parent / "made_up.py"),
    "exec",
)
THEIR_FAILURE = compile(
    "def fail(): raise KeyError('theirs')\nasync def fail_later(): raise KeyError('theirs')",
    "/home/user/agent.py",
    "exec",
)


@pytest.mark.parametrize(("source", "code"), [(OUR_FAILURE, 70), (THEIR_FAILURE, 0)])
@pytest.mark.parametrize("way", ["thread", "task"])
def test_an_error_in_the_background_is_one_sentence(
    way: str, source: Any, code: int, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    names: dict[str, Any] = {}
    exec(source, names)

    async def forget_a_task() -> None:
        task = asyncio.ensure_future(names["fail_later"]())
        await asyncio.wait([task])
        del task

    def work() -> None:
        if way == "task":
            loop.run(forget_a_task())
        else:
            thread = threading.Thread(target=names["fail"], name="reader")
            thread.start()
            thread.join()

    run_instead(monkeypatch, work)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of pytest
    before = threading.excepthook, sys.unraisablehook, logging.lastResort
    assert main(["runs"]) == code
    line = check_crash(capsys.readouterr())
    assert ("a mistake in fourscore" in line) == (code == 70)
    assert (threading.excepthook, sys.unraisablehook, logging.lastResort) == before


def test_an_error_while_an_object_is_closed_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    class Closing:
        def __del__(self) -> None:
            raise KeyError("closing")

    run_instead(monkeypatch, lambda: Closing().__class__ and None)
    assert main(["runs"]) == 0
    assert "while closing: KeyError" in check_crash(capsys.readouterr())
