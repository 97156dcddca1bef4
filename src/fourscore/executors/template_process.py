"""A warm process that forks workers: a new one in milliseconds, however much it has to import.

A worker that imports SymPy takes a second or more to start. Killed at its deadline, it would leave
the next answer waiting that long. The template imports once, runs nothing, and forks on request.

It is the workers' parent, so it alone can reap them, and does so only on request: until then nobody
else has the pid of a worker, and it is safe to kill. When the template ends, its workers do not:
their lifelines lead to the process that asked for them.
"""

import os
import socket
import struct
import subprocess
import sys
from contextlib import suppress

from fourscore.executors import worker_main as child

#: Seconds to wait for the exit status of a worker that was killed.
REAP = 10.0
#: Requests: fork with these descriptors, or reap this process. The reply is a wait status.
REQUEST = struct.Struct("<cq")
REPLY = struct.Struct("<qq")
FORK, REAPED = b"f", b"r"
NOBODY = -1
#: Work that may have to be killed must not starve the process that kills it.
NICENESS = 10

#: Memory in bytes, processor seconds, and jobs before a look at the size.
Limits = tuple[int | None, float | None, int]


class TemplateProcess:
    """A template process, as its parent holds it."""

    def __init__(self, limits: Limits, warm: tuple[str, ...]) -> None:
        self.control, theirs = socket.socketpair()
        far, near = os.pipe()
        self.lifeline = open(near, "wb", 0)  # noqa: PTH123, SIM115 - an object closes once
        fds = (theirs.fileno(), far)
        code = (
            f"import sys; sys.path[:] = {[*map(str, sys.path)]!r}; "
            f"from {__name__} import run_template; run_template{(*fds, limits, warm)!r}"
        )
        try:
            self.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=fds,
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(far)
        self.control.settimeout(REAP)

    def fork(self, fds: tuple[int, int]) -> None:
        """Fork a worker for these descriptors; it sends its pid when it is ready."""
        socket.send_fds(self.control, [REQUEST.pack(FORK, 0)], fds)

    def reap(self, pid: int) -> int | None:
        """Return the exit code of a worker that was killed; None where nobody knows it."""
        try:
            self.control.sendall(REQUEST.pack(REAPED, pid))
            while True:
                whose, status = REPLY.unpack(self.control.recv(REPLY.size, socket.MSG_WAITALL))
                if whose == pid:
                    return None if status == NOBODY else os.waitstatus_to_exitcode(status)
        except (OSError, struct.error):  # the template itself has gone
            return None

    def release(self) -> None:
        self.control.close()
        self.lifeline.close()

    def end(self) -> None:
        """Kill it and wait until it has ended."""
        self.release()
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()


def run_template(control: int, lifeline: int, limits: Limits, warm: tuple[str, ...]) -> None:
    """Run in the template: import, then fork and reap on request until the parent has ended."""
    child.prepare(lifeline)
    child.load(warm)
    requests = socket.socket(fileno=control)
    while True:
        message, fds, _, _ = socket.recv_fds(requests, REQUEST.size, 2)
        if len(message) < REQUEST.size:
            os._exit(0)
        kind, pid = REQUEST.unpack(message)
        if kind == FORK:
            if not os.fork():
                os.setsid()
                child.niceness = NICENESS
                requests.close()
                os.close(lifeline)
                child.serve(fds[0], fds[1], *limits, ())
            for fd in fds:
                os.close(fd)
        else:
            try:
                status = os.waitpid(pid, 0)[1]
            except ChildProcessError:
                status = NOBODY
            requests.sendall(REPLY.pack(pid, status))
