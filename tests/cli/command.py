"""Run `fourscore` in a process of its own, forked from one that has imported it already.

Forking saves the half second that Python takes to import the command. The child has its own
process id, folder, environment and streams. All children share the seed of `hash`: a test that two
processes give the same order has to start two real ones, by `FOURSCORE`.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO, Any

FOURSCORE = str(Path(sys.executable).with_name("fourscore"))
#: Commands that the parent imports before it forks.
PRELOADED = ("run", "show", "judge", "calibrate", "compare", "attack", "rubric", "evolve", "init")
#: Descriptors that go with a request: itself, where to reply, and the three streams.
FILES = 5


def run_fourscore(
    *words: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: IO[Any] | None = None,
    input: str = "",  # noqa: A002 - what `subprocess.run` calls it
) -> "subprocess.CompletedProcess[str]":
    """Run `fourscore` with these arguments; `env` is added to the environment."""
    request_fields = {
        "words": words,
        "cwd": str(cwd or Path.cwd()),
        "env": {**os.environ, **(env or {})},
    }
    with ExitStack() as stack:
        request, given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(4))
        request.write(json.dumps(request_fields).encode())
        given.write(input.encode())
        for file in (request, given):
            file.seek(0)
        code = _get_parent().run(request, stdin or given, out, err)
        for file in (out, err):
            file.seek(0)
        texts = (file.read().decode().replace("\r\n", "\n") for file in (out, err))
        return subprocess.CompletedProcess([FOURSCORE, *words], code, *texts)


class Parent:
    """The process that forks."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(number)], pass_fds=[number]
            )
        atexit.register(self.close, os.getpid())

    def run(self, request: IO[bytes], *streams: IO[Any]) -> int:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                files = [request.fileno(), theirs.fileno(), *(each.fileno() for each in streams)]
                socket.send_fds(self.control, [b"."], files)
            status = ours.recv(20)
        assert status, "the process that forks has ended"
        return os.waitstatus_to_exitcode(int(status))

    def close(self, owner: int) -> None:
        if os.getpid() == owner:  # not in a forked child
            self.control.shutdown(socket.SHUT_RDWR)
            self.control.close()
            self.process.wait()


@cache
def _get_parent() -> Parent:
    return Parent()


def serve(control: socket.socket) -> None:
    """Fork for each request; return in the child that is to run the command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for the process that waits
    waiting: set[int] = set()
    while True:
        _, files, _, _ = socket.recv_fds(control, 1, FILES)
        if not files:
            os._exit(0)
        child = os.fork()
        if not child:
            break
        waiting.add(child)
        for file in files:
            os.close(file)
        waiting -= {pid for pid in waiting if os.waitpid(pid, os.WNOHANG)[0]}
    control.close()
    request, reply, *streams = files
    if child := os.fork():
        os.write(reply, str(os.waitpid(child, 0)[1]).encode())
        os._exit(0)
    os.close(reply)
    take_over(request, streams)


def take_over(request: int, streams: list[int]) -> None:
    """Take the arguments, folder, environment and streams of the request."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open(request, "rb") as file:
        fields = json.load(file)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(fields["cwd"])
    os.environ.clear()
    os.environ.update(fields["env"])
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.argv = [FOURSCORE, *fields["words"]]
    sys.path[0] = str(Path(FOURSCORE).parent)


if __name__ == "__main__":
    import importlib

    from fourscore.cli.main import main

    for name in PRELOADED:
        importlib.import_module(f"fourscore.cli.{name}")
    gc.freeze()  # the collector's marks would copy every page
    serve(socket.socket(fileno=int(sys.argv[1])))
    sys.exit(main())
