"""`fourscore hook`: whole lines from many processes at once, and never a failure for its caller."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fourscore import Case, Trace
from fourscore.cli.main import main
from fourscore.evolve.hook import append, make_record
from fourscore.formats.logs.log_file import LogFile
from fourscore.judges.fitness.execution import Execution, count_execution

RUN = [sys.executable, "-c", "import sys; from fourscore.cli.main import main; sys.exit(main())"]


def event(**more: Any) -> bytes:
    document = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", **more}
    return json.dumps(document).encode()


def hook(path: Path, text: bytes, *more: str) -> "subprocess.CompletedProcess[bytes]":
    words = [*RUN, "hook", "--file", str(path), *more]
    return subprocess.run(words, input=text, capture_output=True, check=False)


def test_writes_one_record(tmp_path: Path) -> None:
    path = tmp_path / "new" / "e.jsonl"
    done = hook(path, event(tool_response={"stdout": "x"}), "--agent-version", "7")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (record,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert record.pop("ts").endswith("Z")
    assert record == {
        "tool": "Bash",
        "exit": "0",
        "success": "true",
        "version": "7",
        "session": "s",
        "output": "x",
    }


@pytest.mark.parametrize(
    ("response", "output"),
    [
        ("Error: no such user\n", "Error: no such user"),
        ({"stdout": "a\n", "stderr": "cat: b: No such file or directory\n", "isImage": False},
         "cat: b: No such file or directory\na"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}],
         "one\ntwo"),
        ({"type": "text", "file": {"content": "raise ValueError: no"}}, None),
        ({"mode": "content", "content": "a.py:3: Error: x"}, None),
        ("é" * 5000 + "z", "é" * 2000 + "\n...\n" + "é" * 1999 + "z"),
        (7, None),
        (None, None),
    ],
    ids=range(8),
)  # fmt: skip
def test_output_is_stored_up_to_a_limit(response: Any, output: str | None) -> None:
    raw = event(tool_response=response)
    line, _ = make_record(raw, "", 0.0)
    assert line is not None
    assert json.loads(line).get("output") == output
    bare, _ = make_record(raw, "", 0.0, outputs=False)
    assert bare is not None
    assert "output" not in json.loads(bare)


def test_error_in_output_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    text = {"stdout": "", "stderr": "bash: foo: command not found"}
    assert hook(path, event(tool_response=text)).returncode == 0
    assert hook(path, event(tool_response=text), "--no-output").returncode == 0
    assert [outcome.failed for outcome in map(execution, LogFile(str(path)).traces())] == [1]
    assert path.read_text().count("command not found") == 1


def execution(trace: Trace) -> Execution:
    return count_execution(Case(id="t", input=""), trace)


def test_failure_record_has_error_text() -> None:
    raw = event(hook_event_name="PostToolUseFailure", error="Exit code 2\nno", duration_ms=12)
    line, _ = make_record(raw, "", 0.0)
    assert line is not None
    assert json.loads(line) == {
        "ts": "1970-01-01T00:00:00.000Z",
        "tool": "Bash",
        "exit": "2",
        "success": "false",
        "version": "",
        "session": "s",
        "duration_ms": "12",
        "error": "Exit code 2\nno",
    }


def test_ignores_events_that_are_no_tool_use(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    for kind in ("PreToolUse", "Stop", "SessionStart"):
        assert hook(path, event(hook_event_name=kind)).returncode == 0
    assert not path.exists()


@pytest.mark.parametrize("text", [b"", b"nonsense", b"[1]", b'{"tool_name": 5}', b"\xff\xfe"])
def test_always_exits_with_zero(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "e.jsonl"
    done = hook(path, text)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not path.exists()
    assert (tmp_path / "e.jsonl.log").read_text().count("\n") == 1


def test_exits_with_zero_without_write_permission(tmp_path: Path) -> None:
    path = tmp_path / "a file"
    path.write_text("")
    assert hook(path / "below" / "e.jsonl", event()).returncode == 0
    assert hook(tmp_path / "e.jsonl", event(), "--colour").returncode == 0


def test_records_go_to_folder_of_agent(tmp_path: Path) -> None:
    done = subprocess.run(
        [*RUN, "hook"], input=event(cwd=str(tmp_path)), capture_output=True, check=False, cwd="/"
    )
    assert done.returncode == 0
    assert (tmp_path / ".fourscore" / "executions.jsonl").exists()


def test_imports_nothing_heavy(tmp_path: Path) -> None:
    """An agent waits for it. A time would fail on a slow machine; what is loaded does not."""
    script = (
        "import sys; from fourscore.cli.main import main; before = set(sys.modules);"
        f"main(['hook', '--file', {str(tmp_path / 'e.jsonl')!r}]);"
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-I", "-c", script], input=event(), capture_output=True, check=True
    ).stdout.decode()
    assert (tmp_path / "e.jsonl").exists()
    heavy = {"msgspec", "argparse", "typing", "rich", "asyncio", "fourscore.core", "pathlib"}
    assert not heavy & set(loaded.split())


def test_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["hook", "--help"])
    assert "--agent-version" in capsys.readouterr().out


def test_cuts_off_own_partial_line(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    whole = b'{"ts":"1","tool":"a"}\n'
    path.write_bytes(whole + b'{"ts":"2","to')
    append(str(path), whole)
    assert path.read_bytes() == whole * 2


def test_ends_unfinished_line_of_other_writer(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b'{"tool":"a"}')
    append(str(path), b'{"ts":"1","tool":"b"}\n')
    assert path.read_bytes() == b'{"tool":"a"}\n{"ts":"1","tool":"b"}\n'


WRITER = """
import json, sys
from fourscore.evolve.hook import append, make_record
path, name, most = sys.argv[1:]
for i in range(int(most)):
    more = "x" * (i * 37 % 6000)
    event = {"session_id": name, "tool_name": f"{i}", "error": "e" + more[:290],
             "version": more, "hook_event_name": "PostToolUseFailure", "tool_response": more}
    line, _ = make_record(json.dumps(event).encode(), "", 0.0)
    append(path, line)
    sys.stdout.write(f"{i}\\n")
    sys.stdout.flush()
"""


def test_twenty_writers_with_kills_lose_no_record(tmp_path: Path) -> None:
    """Every acknowledged record is there once, and every line parses."""
    path, chance = tmp_path / "e.jsonl", random.Random(5)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"w{i}", "100" if i < 8 else "1000000"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in range(20)
    ]
    acknowledged: dict[str, list[str]] = {f"w{i}": [] for i in range(20)}

    def listen(name: str, writer: "subprocess.Popen[str]") -> None:
        assert writer.stdout is not None
        with writer.stdout as lines:
            acknowledged[name] += [line.strip() for line in lines if line.endswith("\n")]

    listeners = [
        threading.Thread(target=listen, args=(f"w{i}", writer)) for i, writer in enumerate(writers)
    ]
    for listener in listeners:
        listener.start()
    while not path.exists() or path.stat().st_size < 200_000:
        assert all(writer.poll() is None for writer in writers[8:])
        time.sleep(0.05)
    for writer in chance.sample(writers[8:], 12):  # the first eight come to their end
        time.sleep(chance.random() * 0.1)
        os.kill(writer.pid, signal.SIGKILL)
    for writer, listener in zip(writers, listeners, strict=True):
        writer.wait()
        listener.join()
    append(str(path), b'{"ts":"9","tool":"last","session":"end"}\n')
    found: dict[str, list[str]] = {}
    for line in path.read_bytes().splitlines():
        record = json.loads(line)
        found.setdefault(record["session"], []).append(record["tool"])
    assert [len(acknowledged[f"w{i}"]) for i in range(8)] == [100] * 8
    for name, tools in acknowledged.items():
        there = found.get(name, [])
        assert there[: len(tools)] == tools
        assert len(there) - len(tools) <= 1  # written, and killed before it could say so
