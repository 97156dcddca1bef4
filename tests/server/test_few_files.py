"""With few open files a server refuses connections, and goes on when they are closed."""

import socket
import threading
from pathlib import Path

from .conftest import Start, row, until

JUDGES = Path(__file__).with_name("judges.py")
FEW = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))"


def test_connections_past_the_limit_get_503_and_judges_still_work(start: Start) -> None:
    served = start("--judge", f"{JUDGES}->hostile", "--monitor", "monitor.db", patch=FEW)
    assert served.post(row("well")).rewards[0]["raw_reward"] == 1.0
    idle = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(100)]
    try:
        with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
            assert raw.recv(1000).startswith(b"HTTP/1.1 503 ")
    finally:
        for each in idle:
            each.close()
    until(lambda: served.ask("GET", "/healthz").status == 200)
    statuses: list[int] = []

    def ask(text: str) -> None:
        statuses.append(served.post(row(text)).status)

    threads = [threading.Thread(target=ask, args=("well",)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 10
    assert "Too many open files" not in served.log.read_text()
