"""A server that is stopped, killed or interrupted answers its requests and leaves no process."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterable
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from .conftest import Served, Start, ask, row, until

JUDGES = Path(__file__).with_name("judges.py")


def list_descendants(served: Served) -> dict[int, bytes]:
    """Return the pids and command lines of all living descendants of the server."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    parents = {}
    for line in listed.splitlines():
        pid, parent, state = line.split()
        if not state.startswith("Z"):
            parents[int(pid)] = int(parent)
    found: dict[int, bytes] = {}
    ancestors = {served.process.pid}
    while found_now := {p for p, parent in parents.items() if parent in ancestors} - ancestors:
        ancestors |= found_now
        found |= {pid: command(pid) for pid in found_now}
    return found


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def are_gone(pids: Iterable[int]) -> bool:
    return not any(command(pid) for pid in pids)


def listening(served: Served) -> bool:
    try:
        socket.create_connection(("127.0.0.1", served.port)).close()
    except ConnectionError:
        return False
    return True


class Load:
    """Clients that send requests until the connection ends, and count the results."""

    def __init__(self, served: Served, body: Any, clients: int) -> None:
        self.served, self.body = served, body
        self.answered = self.refused = 0
        self.wrong: list[Any] = []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._client) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _client(self) -> None:
        connection = self.served.connect(timeout=60)
        try:
            while True:
                answer = ask(connection, "POST", "/v1/rewards", self.body)
                with self.lock:
                    self.answered += 1
                    if answer.status != 200 or answer.rewards[0]["raw_reward"] != 1.0:
                        self.wrong.append(answer)
        except (OSError, HTTPException) as error:
            with self.lock:
                self.refused += 1
                if isinstance(error, TimeoutError):
                    self.wrong.append(error)
        finally:
            connection.close()

    def join(self) -> None:
        for thread in self.threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self.threads)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_stop_under_load_answers_accepted_requests(start: Start, how: signal.Signals) -> None:
    served = start("--judge", "math")
    load = Load(served, row(r"\boxed{4}"), clients=16)
    until(lambda: load.answered > 200)
    assert served.stop(how) == 0
    load.join()
    assert load.refused == 16  # each saw the end of its connection, none hung
    assert not load.wrong
    assert "Traceback" not in served.log.read_text()


def test_slow_requests_are_answered_before_the_server_stops(start: Start, tmp_path: Path) -> None:
    served = start("--judge", f"{JUDGES}->hostile", "--judge-workers", "4", "--deadline", "60")
    answers: list[Any] = []
    asked = row(f"until {tmp_path}")
    threads = [
        threading.Thread(target=lambda: answers.append(served.post(asked))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    until(lambda: len([*tmp_path.glob("begun*")]) == 4)
    workers = list_descendants(served)
    served.process.send_signal(signal.SIGTERM)
    until(lambda: not listening(served))
    assert not answers
    (tmp_path / "go").touch()
    assert served.process.wait() == 0
    for thread in threads:
        thread.join()
    assert [answer.rewards[0]["raw_reward"] for answer in answers] == [1.0] * 4
    until(lambda: are_gone(workers))


def test_hanging_judge_does_not_keep_the_server_from_stopping(start: Start, tmp_path: Path) -> None:
    served = start("--judge", f"{JUDGES}->hostile", "--deadline", "2", "--judge-workers", "1")
    answers: list[Any] = []
    asked = row(f"until {tmp_path}")
    thread = threading.Thread(target=lambda: answers.append(served.post(asked)))
    thread.start()
    until(lambda: [*tmp_path.glob("begun*")])
    workers = list_descendants(served)
    assert served.stop() == 0
    thread.join()
    assert answers[0].rewards[0]["status"] == "judge_error"
    until(lambda: are_gone(workers))


def test_killed_server_leaves_no_process(start: Start) -> None:
    served = start("--judge", f"{JUDGES}->hostile", "--judge-workers", "2")
    assert served.post(row("well")).status == 200
    workers = list_descendants(served)
    assert len(workers) >= 2
    assert served.stop(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: are_gone(workers))


def test_killed_server_process_is_replaced(start: Start) -> None:
    served = start("--judge", "math", "--workers", "2")
    until(lambda: served.ask("GET", "/healthz").status == 200)
    until(lambda: len(children(served)) == 2)
    before = children(served)
    os.kill(before[0], signal.SIGKILL)
    until(lambda: len(children(served)) == 2 and children(served) != before)
    answered = 0
    for _ in range(20):
        answered += served.post(row(r"\boxed{4}")).rewards[0]["raw_reward"] == 1.0
    assert answered == 20
    workers = list_descendants(served)
    assert served.stop() == 0
    until(lambda: are_gone(workers))


def test_server_processes_end_with_their_supervisor(start: Start) -> None:
    served = start("--judge", "math", "--workers", "2")
    until(lambda: served.ask("GET", "/healthz").status == 200)
    until(lambda: len(children(served)) == 2)
    workers = list_descendants(served)
    served.stop(signal.SIGKILL)
    until(lambda: are_gone(workers))


def children(served: Served) -> list[int]:
    """Return the pids of the serving processes, without multiprocessing's resource tracker."""
    return sorted(pid for pid, words in list_descendants(served).items() if b"spawn_main" in words)
