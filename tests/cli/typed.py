"""The command as it is typed, in a process of its own, without the half second that Python takes to
load it: forked from one process that has done so.

It has its own number, folder, environment and streams, it may be killed or end itself, and what it
leaves behind is gone. What it shares with its siblings is the seed of `hash`: a test that two
processes do the same in the same order takes two real ones, by `FOURSCORE`.
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
#: Commands are imported when they are asked for; these are there before.
LOADED = ("run", "show", "judge", "calibrate", "compare", "attack", "rubric", "evolve", "init")
#: In a letter: itself, where to reply, and the three streams.
FILES = 5


def typed(
    *words: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: IO[Any] | None = None,
    input: str = "",  # noqa: A002 - what `subprocess.run` calls it
) -> "subprocess.CompletedProcess[str]":
    """`fourscore` with these words: its exit code and what it said. `env` is beside what is set."""
    asked = {"words": words, "cwd": str(cwd or Path.cwd()), "env": {**os.environ, **(env or {})}}
    with ExitStack() as stack:
        letter, given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(4))
        letter.write(json.dumps(asked).encode())
        given.write(input.encode())
        for file in (letter, given):
            file.seek(0)
        code = _template().run(letter, stdin or given, out, err)
        for file in (out, err):
            file.seek(0)
        told = (file.read().decode().replace("\r\n", "\n") for file in (out, err))
        return subprocess.CompletedProcess([FOURSCORE, *words], code, *told)


class Template:
    """Our hold on the process that forks."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(number)], pass_fds=[number]
            )
        atexit.register(self.close, os.getpid())

    def run(self, letter: IO[bytes], *streams: IO[Any]) -> int:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                files = [letter.fileno(), theirs.fileno(), *(each.fileno() for each in streams)]
                socket.send_fds(self.control, [b"."], files)
            told = ours.recv(20)
        assert told, "the process that forks has gone"
        return os.waitstatus_to_exitcode(int(told))

    def close(self, owner: int) -> None:
        if os.getpid() == owner:  # and no child of ours that ends
            self.control.shutdown(socket.SHUT_RDWR)
            self.control.close()
            self.process.wait()


@cache
def _template() -> Template:
    return Template()


def serve(control: socket.socket) -> None:
    """Fork for each letter. Returns in the process that is to be the command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for who waits for us
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
    letter, reply, *streams = files
    if child := os.fork():
        os.write(reply, str(os.waitpid(child, 0)[1]).encode())
        os._exit(0)
    os.close(reply)
    become(letter, streams)


def become(letter: int, streams: list[int]) -> None:
    """Take over the words, folder, environment and streams, as a new process has them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open(letter, "rb") as file:
        asked = json.load(file)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.argv = [FOURSCORE, *asked["words"]]
    sys.path[0] = str(Path(FOURSCORE).parent)


if __name__ == "__main__":
    import importlib

    from fourscore.cli.main import main

    for name in LOADED:
        importlib.import_module(f"fourscore.cli.{name}")
    gc.freeze()  # the collector's marks would copy every page
    serve(socket.socket(fileno=int(sys.argv[1])))
    sys.exit(main())
