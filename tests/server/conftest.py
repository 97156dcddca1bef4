"""A real server in a process of its own, on a free port of loopback."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

COMMAND = """
import sys
from fourscore.cli import main as cli
cli.COMMANDS.setdefault("serve", "")
{patch}
sys.exit(cli.main(["serve", *sys.argv[1:]]))
"""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def rewards(self) -> list[Any]:
        assert self.status == 200, self.body
        rewards: list[Any] = self.json["rewards"]
        return rewards

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.json["error"]
        return error


class Served:
    """A running server process, and a client for it."""

    def __init__(
        self, *arguments: str, folder: Path, patch: str = "", token: str | None = None
    ) -> None:
        self.log = folder / "stderr"
        environment = {name: text for name, text in os.environ.items() if name != "FOURSCORE_TOKEN"}
        if token is not None:
            environment["FOURSCORE_TOKEN"] = token
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", COMMAND.format(patch=patch)),
                    *("--port", "0", "--json", *arguments),
                ],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        self.url: str = json.loads(line)["url"]
        self.port = int(self.url.rpartition(":")[2])

    def connect(self, timeout: float = 60.0) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        connection = self.connect()
        try:
            return ask(connection, method, path, body, **headers)
        finally:
            connection.close()

    def post(self, body: Any, path: str = "/v1/rewards", **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(60)

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # the session that was started for it
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


def ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any = None, **more: str
) -> Answer:
    """Send one request on a connection that stays open."""
    headers = {name.replace("_", "-"): text for name, text in more.items()}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body is not None:
        headers.setdefault("content-type", "application/json")
    connection.request(method, path, body, headers)
    reply = connection.getresponse()
    found = {name.lower(): text for name, text in reply.getheaders()}
    return Answer(reply.status, found, reply.read())


def row(answer: str, reference: Any = "4", **task: Any) -> dict[str, Any]:
    """Return a row: one task with one output."""
    return {
        "task": {"task_id": "t", "metadata": {"answer": reference}, **task},
        "output": {"metadata": {"final_answer": answer}},
    }


def refused(*arguments: str, folder: Path) -> str:
    """Return the stderr of a server that refuses to start."""
    environment = {name: text for name, text in os.environ.items() if name != "FOURSCORE_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND.format(patch=""), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def until(condition: Callable[[], Any]) -> Any:
    """Wait until the condition is true, for up to a minute on a busy machine."""
    ends = time.monotonic() + 60.0
    while not (value := condition()):
        assert time.monotonic() < ends, "the condition did not become true in a minute"
        time.sleep(0.02)
    return value


Start = Callable[..., Served]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start servers in this test's folder; they are killed at its end."""
    with ExitStack() as stack:

        def begin(*arguments: str, **more: Any) -> Served:
            served = Served(*arguments, folder=tmp_path, **more)
            stack.callback(served.close)
            return served

        yield begin


@pytest.fixture(scope="session")
def math(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server with the math judge, shared by tests that do not change it."""
    served = Served("--judge", "math", folder=tmp_path_factory.mktemp("math"))
    yield served
    served.close()
