"""A receiver on loopback, and alerts to send to it."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest

from fourscore.monitor.alerts import Notice


class Request(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class WebhookReceiver(ThreadingHTTPServer):
    """Answers with `status` and `reply_headers`, and keeps the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Request] = []
        self.status, self.reply_headers = 200, dict[str, str]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: WebhookReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.server.requests.append(Request(self.path, headers, body))
        self.send_response(self.server.status)
        for key, value in self.server.reply_headers.items():
            self.send_header(key, value)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    server = WebhookReceiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def notice() -> Callable[..., Notice]:
    def made(**changes: Any) -> Notice:
        fields: dict[str, Any] = {
            "id": "alert_1", "monitor": "shop", "stream": "tag:refunds", "state": "firing",
            "status": "critical", "before": "healthy", "severity": "critical",
            "since": 1_700_000_000.0, "at": 1_700_000_060.0, "repetition": 0, "estimate": 0.6,
            "low": 0.5, "high": 0.7, "n": 50, "method": "cusum", "sure": 0.98,
            "evidence": ("req-1", "req-2"), **changes,
        }  # fmt: skip
        return Notice(**fields)

    return made
