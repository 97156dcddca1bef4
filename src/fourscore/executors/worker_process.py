"""One worker process, as its parent holds it: start, send, receive, kill and reap.

Belongs here: the parent's ends of the socket and the lifeline, the frames on the socket, and the
text of how a worker ended. `pool_thread.py` assigns jobs; `worker_main.py` runs in the worker.
"""

import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from fourscore.executors import worker_main as child
from fourscore.executors.template_process import TemplateProcess

START = 60.0  # seconds a worker has to become ready
FOREVER = float("inf")
_BUFFER = 65536


class WorkerError(Exception):
    """A job gave no usable answer: what it returned or raised could not be sent back.

    `has_run` is False where the job is not to blame: no worker was free or could start, or the pool
    was closed.
    """

    def __init__(self, message: str, *, has_run: bool = True) -> None:
        super().__init__(message)
        self.has_run = has_run


class WorkerTimeout(WorkerError, TimeoutError):  # noqa: N818
    """The deadline passed and the worker was killed, or no worker was free in time."""


class WorkerDied(WorkerError):  # noqa: N818
    """The worker ended before it answered; the message says how."""


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """Settings of a pool; see `WorkerPool`."""

    size: int
    memory: int | None
    cpu_seconds: float | None
    warm: tuple[str, ...]
    recycle: int
    patience: float
    template: bool = False
    load: bytes = b""
    spare: int = 0


class JobReply(NamedTuple):
    """What a worker sent: `kind` is one of those in `worker_main.py`."""

    kind: int
    is_oversized: bool
    body: bytes | bytearray | memoryview

    @property
    def is_reusable(self) -> bool:
        """Whether the worker can take another job."""
        return self.kind != child.MEMORY and not self.is_oversized

    def open(self) -> object:
        """Return the result or raise the error; `worker_main._run` says how far to trust it."""
        if self.kind == child.MEMORY:
            raise WorkerDied("the worker ran out of memory and was replaced")
        try:
            value = pickle.loads(self.body)  # noqa: S301
            if self.kind == child.RESULT:
                return value
            sealed, message, trace = value
            error = WorkerError(f"the job {message}")
            if sealed:
                error = pickle.loads(sealed)  # noqa: S301
            if trace:
                error.add_note(f"In the worker:\n{trace}")
        except Exception as problem:
            raise WorkerError(f"the worker's answer cannot be read here: {problem!r}") from problem
        raise error

    def get_error(self) -> Exception | None:
        """Return what `open` raises."""
        try:
            self.open()
        except Exception as error:
            return error
        return None


class WorkerProcess:
    """A worker, with the parent's ends of its socket and of its lifeline."""

    def __init__(self, settings: WorkerSettings, template: TemplateProcess | None = None) -> None:
        self.socket, theirs = socket.socketpair()
        for end in (self.socket, theirs):  # fewer round trips for a megabyte
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
        far, near = os.pipe()
        self.lifeline = open(near, "wb", 0)  # noqa: PTH123, SIM115 - an object closes once
        fds = (theirs.fileno(), far)
        limits = (settings.memory, settings.cpu_seconds, settings.recycle, settings.warm)
        code = (
            f"import sys; sys.path[:] = {[*map(str, sys.path)]!r}; "
            f"from {child.__name__} import serve; serve{fds + limits!r}"
        )
        self.template = template
        self.process: subprocess.Popen[bytes] | None = None
        self.pid: int | None = None
        self.returncode: int | None = None
        self.socket.setblocking(False)
        self.fd = self.socket.fileno()
        self.unsent = memoryview(b"")
        self.buffer = bytearray(_BUFFER)
        self.filled = 0
        try:
            if template is not None:
                template.fork(fds)  # it sends its pid when it is ready
            else:
                # Not multiprocessing: its daemons may have no children. A session of its own keeps
                # the terminal's Ctrl-C away and makes one group of the worker and what it forks.
                self.process = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-c", code],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=fds,
                    start_new_session=True,
                )
                self.pid = self.process.pid
        except BaseException:
            self.release()
            raise
        finally:
            theirs.close()
            os.close(far)

    def is_alive(self) -> bool:
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def send(self, frame: bytes | None = None) -> None:
        """Send what the socket takes; the rest stays in `unsent`."""
        if frame is not None:
            self.unsent = memoryview(frame)
        with suppress(OSError):  # full: the rest is sent later; broken: `receive` raises EOFError
            self.unsent = self.unsent[self.socket.send(self.unsent) :]

    def receive(self) -> JobReply | None:
        """Return a reply once it is complete, None before; EOFError when the worker has ended."""
        try:
            with memoryview(self.buffer) as view:
                count = self.socket.recv_into(view[self.filled :])
        except BlockingIOError:
            return None
        except OSError as error:
            raise EOFError from error
        if not count:
            raise EOFError
        self.filled += count
        if self.filled < child.REPLY.size:
            return None
        length, kind, is_oversized = child.REPLY.unpack_from(self.buffer)
        total = child.REPLY.size + length
        if self.filled < total:
            if len(self.buffer) < total:
                whole = bytearray(total)
                whole[: self.filled] = self.buffer[: self.filled]
                self.buffer = whole
            return None
        self.filled = 0
        if total <= _BUFFER:
            return JobReply(kind, is_oversized, bytes(self.buffer[child.REPLY.size : total]))
        body, self.buffer = memoryview(self.buffer)[child.REPLY.size :], bytearray(_BUFFER)
        return JobReply(kind, is_oversized, body)

    def exchange(self, frame: bytes, deadline: float) -> JobReply:
        """Send a request and wait for its reply, in the caller's own thread."""
        ends = time.monotonic() + deadline
        self.send(frame)
        poll = select.poll()
        poll.register(self.fd, select.POLLIN | select.POLLOUT if self.unsent else select.POLLIN)
        while True:
            left = max(0.0, ends - time.monotonic())
            if not (events := poll.poll(min(left, 3600.0) * 1000)):
                if time.monotonic() >= ends:
                    raise make_timeout(deadline)
                continue
            if events[0][1] & select.POLLOUT:
                self.send()
                if not self.unsent:
                    poll.modify(self.fd, select.POLLIN)
            try:
                if events[0][1] & ~select.POLLOUT and (reply := self.receive()):
                    return reply
            except EOFError:
                raise WorkerDied(f"the worker {self.status()}") from None

    def kill(self) -> None:
        """Kill it and what it forked, if it was not reaped: until then nobody else has its pid."""
        if self.pid is None:  # forked by a template, and has not sent its pid yet
            self.lifeline.close()
        elif self.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def status(self) -> str:
        """Kill and reap it, and return how it ended, as text."""
        self.kill()
        if self.process is not None:
            with suppress(subprocess.TimeoutExpired):
                self.returncode = self.process.wait(10)
        elif self.returncode is None and self.template is not None and self.pid is not None:
            self.returncode = self.template.reap(self.pid)
            if self.returncode is None:
                self.returncode = -signal.SIGKILL
        return describe_exit(self.returncode)

    def forget(self) -> None:
        """In a forked child: let go of the parent's worker without killing or reaping it."""
        self.release()
        self.returncode = 0
        if self.process is not None:
            self.process.returncode = 0

    def release(self) -> None:
        self.socket.close()
        self.lifeline.close()


def make_timeout(deadline: float) -> WorkerTimeout:
    return WorkerTimeout(f"the job was killed at its deadline of {deadline:g} s")


def describe_exit(status: int | None) -> str:
    """Return how a process with this return code ended, as text."""
    if status is None:
        return "does not end although it was killed"
    if status >= 0:
        return f"exited with status {status}"
    if status == -signal.SIGXCPU:
        return "used up its CPU time (SIGXCPU)"
    if status == -signal.SIGKILL:
        return "was killed (SIGKILL), from outside or by the kernel for want of memory"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was ended by {name} ({signal.strsignal(-status)})"
