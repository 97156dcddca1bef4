"""`fourscore hook`: a coding agent calls it after each tool use, and one record is appended.

It never fails its caller: it always exits with 0 and prints nothing; problems go to a log beside
the records. It has to be fast, since an agent waits for it: only the standard library is imported
here, and the command line branches to it before it loads anything else.

Several processes append at once. Each locks the file for one write, and first cuts off a line that
a killed process left half written: such a line was never acknowledged. If the lock is not free in
time, the line is appended without the lock, in one write, which is atomic on local file systems.
"""

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: The file of the records, relative to the folder in which the agent works.
RECORDS = os.path.join(".fourscore", "executions.jsonl")  # noqa: PTH118 - pathlib takes 10 ms
#: Tries to get the lock, and seconds between them: 30 ms in all; the hook should take under 60.
TRIES, PAUSE = 30, 0.001
#: The most bytes that are read of an event, and of a half-written last line.
EVENT, TORN = 16 * 1024 * 1024, 1024 * 1024
#: The beginning of every line that this hook writes.
_OURS = b'{"ts":"'


def main(words: "Sequence[str]") -> int:
    """Read the event on stdin and append its record; always return 0."""
    path = RECORDS
    try:
        path, version, outputs = _options(words)
        raw = sys.stdin.buffer.read(EVENT) if sys.stdin is not None else b""
        line, folder = make_record(raw, version, time.time(), outputs)
        path = os.path.join(folder, path)  # noqa: PTH118
        if line is not None:
            append(path, line)
    except BaseException as error:
        _log_problem(path, error)
    return 0


def _options(words: "Sequence[str]") -> "tuple[str, str, bool]":
    """Return the file, the agent version and whether outputs are recorded, from the options.

    `FOURSCORE_EXECUTIONS` and `FOURSCORE_AGENT_VERSION` are the defaults.
    """
    path = os.environ.get("FOURSCORE_EXECUTIONS") or RECORDS
    version = os.environ.get("FOURSCORE_AGENT_VERSION", "")
    outputs = True
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--file" and rest:
            path = os.path.abspath(rest.pop(0))  # noqa: PTH100
        elif word == "--agent-version" and rest:
            version = rest.pop(0)
        elif word == "--no-output":
            outputs = False
        else:
            expected = "--file, --agent-version or --no-output"
            raise ValueError(f"unknown option {word!r}: expected {expected}")
    return path, version, outputs


def make_record(
    raw: bytes, version: str, now: float, outputs: bool = True
) -> "tuple[bytes | None, str]":
    """Return the line for an event (None: it is no tool use) and the agent's working folder."""
    import json

    from fourscore.formats.logs.hook_event import (
        AFTER,
        FAILED,
        read_event_outcome,
        read_event_output,
    )

    event = json.loads(raw)
    if not isinstance(event, dict):
        raise ValueError("expected a JSON object on stdin")
    folder = event.get("cwd")
    folder = folder if isinstance(folder, str) and os.path.isdir(folder) else ""  # noqa: PTH112
    kind = event.get("hook_event_name", AFTER)
    if kind not in (AFTER, FAILED):
        return None, folder
    tool = event.get("tool_name")
    if not isinstance(tool, str) or not tool:
        raise ValueError("tool_name: expected text")
    code, error = read_event_outcome(event)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    record = {
        "ts": f"{moment}.{int(now % 1 * 1000):03d}Z",
        "tool": tool,
        "exit": "1" if code is None else str(code),
        "success": "false" if error or code else "true",
        "version": str(event.get("version") or version),
        "session": str(event.get("session_id") or ""),
    }
    took = event.get("duration_ms")
    if isinstance(took, int | float) and not isinstance(took, bool):
        record["duration_ms"] = str(took)
    if error:
        record["error"] = error
    output = read_event_output(event) if outputs else ""
    if output:
        record["output"] = output
    text = json.dumps(record, separators=(",", ":"))
    return text.encode() + b"\n", folder


def append(path: str, line: bytes) -> None:
    """Append one whole line to the file."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)  # noqa: PTH103, PTH120
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if _take_lock(handle):
            _repair_last_line(handle)
        written = os.write(handle, line)
        if written != len(line):  # the disk is full: a partial line must not spoil the next one
            raise OSError(f"only {written} of {len(line)} bytes could be written")
    finally:
        os.close(handle)  # this releases the lock


def _take_lock(handle: int) -> bool:
    import fcntl

    for _ in range(TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(PAUSE)
    return False


def _repair_last_line(handle: int) -> None:
    """Cut off a line that a killed hook left half written; end any other last line."""
    size = os.fstat(handle).st_size
    if not size or os.pread(handle, 1, size - 1) == b"\n":
        return
    start = max(0, size - TORN)
    tail = os.pread(handle, size - start, start)
    begins = tail.rfind(b"\n") + 1
    torn = tail[begins:]
    if (torn.startswith(_OURS) or _OURS.startswith(torn)) and not _is_whole(torn):
        os.ftruncate(handle, start + begins)
    else:
        os.write(handle, b"\n")


def _is_whole(line: bytes) -> bool:
    import json

    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _log_problem(path: str, error: BaseException) -> None:
    """Append a line to the log of problems; errors here are ignored."""
    try:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        words = " ".join(f"{type(error).__name__}: {error}"[:500].split())
        place = f"{path}.log"
        os.makedirs(os.path.dirname(place) or ".", exist_ok=True)  # noqa: PTH103, PTH120
        handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, f"{moment} {words}\n".encode("utf-8", "replace"))
        finally:
            os.close(handle)
    except BaseException:
        return
