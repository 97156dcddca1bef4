"""A shell command as an agent: the input on stdin, the output on stdout.

Text goes in as it is, anything else as JSON; stdout is the output, without the newlines at its end.
An exit code other than 0 is a failure, with the end of stderr as its message. The command leads a
process group of its own, which is killed at the deadline and also when the command has ended: a
child in the background neither outlives its case nor holds its output open.
"""

import errno
import os
import re
import selectors
import shlex
import signal
import subprocess
import threading
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from fourscore.agents.blocking_calls import AgentStuckError, run_in_thread
from fourscore.agents.reply import AgentError, add_notes
from fourscore.agents.trace_values import MAX_MESSAGE, MAX_TEXT
from fourscore.core import ConfigError, Fault, Trace
from fourscore.core.secrets import hide_in_spec
from fourscore.executors.worker_process import describe_exit

#: A command that writes more than this is killed: it would do so for ever.
MAX_STDOUT = 64 * 2**20
BLOCK = 65536
#: Reads from a pipe whose processes are dead: more than a pipe holds, and a daemon may write on.
LAST_READS = 64
#: Seconds between polls of the process, on systems without pidfd.
POLL_INTERVAL = 0.02
#: Errors of starting a process that are this machine's, not the command's.
_NOT_OF_COMMAND = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
#: A word that sh takes as it is.
PLAIN_WORD = re.compile(r"[\w./][\w./+-]*", re.ASCII)
#: Commands whose first argument is the file that they run, if it ends like one.
INTERPRETER = re.compile(r"(?:.*/)?(?:python[\d.]*|node|ruby|perl|bash|sh|dash|zsh)", re.ASCII)
SCRIPTS = frozenset({".py", ".js", ".mjs", ".cjs", ".rb", ".pl", ".sh"})


class ShellAgent:
    """Runs `command` with sh, once for each attempt."""

    version = ""
    #: Files that an attempt holds open here.
    files = 8

    def __init__(self, command: str) -> None:
        if not command.strip() or "\0" in command:
            raise ConfigError("the shell command is empty: expected shell: COMMAND")
        self.command = command.strip()
        self.name = hide_in_spec(f"shell: {self.command}")

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002, ARG002
        text = input.encode() if isinstance(input, str) else msgspec.json.encode(input)
        process = _Process()
        try:
            result: _Result = await run_in_thread(partial(process.run, self.command, text))
        except OSError as error:
            if error.errno not in _NOT_OF_COMMAND:
                raise
            message = f"the command cannot be run: {error.strerror}"
            raise AgentStuckError(
                f"{message}; a lower --concurrency or a higher ulimit may help"
            ) from error
        finally:
            process.kill()
        return _make_trace(result)


def check_command(command: str) -> None:
    """Refuse a command that sh does not know, or a script that is not there; run nothing of it."""
    try:
        word, *rest = shlex.split(command)
    except ValueError:  # nothing, or a syntax that only sh knows
        return
    if not PLAIN_WORD.fullmatch(word):
        return
    known = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", 'command -v "$0"', word],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if known.returncode:
        raise ConfigError(f"shell: {word}: there is no such command")
    if rest and INTERPRETER.fullmatch(word) and PLAIN_WORD.fullmatch(rest[0]):
        script = Path(rest[0])
        if script.suffix in SCRIPTS and not script.is_file():
            raise ConfigError(f"shell: {script}: there is no such file (in {Path.cwd()})")


class _Result(NamedTuple):
    """How a command ended; `written` counts the bytes of stdout, `output` may be cut."""

    status: int
    output: bytes
    written: int
    stderr: bytes


def _make_trace(result: _Result) -> Trace:
    output = result.output.decode(errors="replace").rstrip("\r\n")
    stderr = result.stderr.decode(errors="replace").strip()
    notes = []
    if result.written > len(result.output):
        notes.append(f"the output is cut: {result.written} bytes, {len(result.output)} kept")
    fault = None
    if result.status != 0:
        fault = Fault(
            "error", f"it {describe_exit(result.status)}{f': {stderr}' if stderr else ''}"
        )
    return add_notes(Trace(output=output, fault=fault), notes=notes, stderr=stderr)


class _Process:
    """One run of a command, in a thread; `kill` may be called from any thread, at any time."""

    def __init__(self) -> None:
        # Held to reap and to kill: the pid of a reaped process may belong to another.
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False

    def kill(self) -> None:
        """Kill the process group, or keep it from being started."""
        with self._lock:
            first, self._killed = not self._killed, True
            if first and self._process is not None and self._process.returncode is None:
                _kill_group(self._process.pid)

    def run(self, command: str, text: bytes) -> _Result:
        with self._lock:
            if self._killed:
                raise AgentError("it was killed before it began")
            process = self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                ["/bin/sh", "-c", command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        with ExitStack() as stack:
            for pipe in (process.stdin, process.stdout, process.stderr):
                stack.callback(_close, pipe)
            try:
                return self._communicate(process, text, stack)
            finally:
                self.kill()
                process.wait()

    def _communicate(
        self, process: "subprocess.Popen[bytes]", text: bytes, stack: ExitStack
    ) -> _Result:
        stdin, out, err = process.stdin, process.stdout, process.stderr
        assert stdin is not None
        assert out is not None
        assert err is not None
        source, stdout, stderr = (
            _InputPipe(stdin, text),
            _OutputPipe(out, head=MAX_TEXT),
            _OutputPipe(err, tail=MAX_MESSAGE),
        )
        selector = stack.enter_context(selectors.DefaultSelector())
        selector.register(stdout.fd, selectors.EVENT_READ, stdout)
        selector.register(stderr.fd, selectors.EVENT_READ, stderr)
        selector.register(source.fd, selectors.EVENT_WRITE, source)
        end = _open_pidfd(process.pid)
        if end is not None:
            stack.callback(os.close, end)
            selector.register(end, selectors.EVENT_READ)
        while not self._has_ended(process):
            for key, _ in selector.select(POLL_INTERVAL if end is None else None):
                if key.data is not None and not key.data.move():
                    selector.unregister(key.fd)
                    key.data.close()
            if stdout.count > MAX_STDOUT:
                raise AgentError(f"it wrote more than {MAX_STDOUT >> 20} MiB")
        for sink in (stdout, stderr):
            sink.finish()
        return _Result(process.returncode, bytes(stdout.kept), stdout.count, bytes(stderr.kept))

    def _has_ended(self, process: "subprocess.Popen[bytes]") -> bool:
        with self._lock:
            if process.poll() is None:
                return False
            _kill_group(process.pid)  # what it left in the background
            return True


class _OutputPipe:
    """A pipe from the process; keeps its first `head` bytes, or its last `tail`."""

    def __init__(self, pipe: IO[bytes], head: int = 0, tail: int = 0) -> None:
        self.fd, self._pipe, self._head, self._tail = pipe.fileno(), pipe, head, tail
        self.kept = bytearray()
        self.count = 0
        os.set_blocking(self.fd, False)

    def move(self) -> bool:
        """Read one block; False at the end."""
        try:
            block = os.read(self.fd, BLOCK)
        except BlockingIOError:
            return True
        self.count += len(block)
        if self._tail:
            self.kept = (self.kept + block)[-self._tail :]
        else:
            self.kept += block[: self._head - len(self.kept)]
        return bool(block)

    def finish(self) -> None:
        """Read what is left in the pipe of a process that has ended."""
        for _ in range(LAST_READS):
            before = self.count
            if self._pipe.closed or not self.move() or self.count == before:
                return

    def close(self) -> None:
        self._pipe.close()


class _InputPipe:
    """The pipe to the process."""

    def __init__(self, pipe: IO[bytes], text: bytes) -> None:
        self.fd, self._pipe, self._left = pipe.fileno(), pipe, memoryview(text)
        os.set_blocking(self.fd, False)

    def move(self) -> bool:
        """Write one block; False when all is written, or nobody reads it."""
        try:
            self._left = self._left[os.write(self.fd, self._left[:BLOCK]) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return bool(self._left)

    def close(self) -> None:
        _close(self._pipe)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with suppress(OSError):
            pipe.close()


def _open_pidfd(pid: int) -> int | None:
    """Return a descriptor that is readable when the process has ended; None where there is none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
