"""`GET /metrics` of a server with a monitor, and the alerts that it sends."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from .conftest import Served, Start, refused, row

TOKEN = "not-a-real-token-0123456789"
JUDGE = """
from fourscore import judge


@judge
def polite(case, trace):
    return "please" in trace.answer.lower()
"""


@pytest.fixture
def monitored(start: Start, tmp_path: Path) -> Callable[..., Served]:
    def begin(*more: str, **rest: Any) -> Served:
        (tmp_path / "polite.py").write_text(JUDGE)
        options = ("--judge", "polite.py->polite", "--monitor", "monitor.db", "--sample-rate", "1")
        return start(*options, "--quiet", "0.1", *more, **rest)

    return begin


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Return an address that takes alerts, and the list of those received."""
    received: list[dict[str, Any]] = []

    class AlertReceiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), AlertReceiver) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", received
        server.shutdown()
        thread.join()


def send(served: Served, answers: list[str], first: int = 1) -> None:
    """Send each answer as a trace of one span."""
    spans = [
        {
            "traceId": f"{number:032x}",
            "spanId": f"{number:016x}",
            "name": "chat",
            "startTimeUnixNano": str(time.time_ns()),
            "attributes": [
                {"key": key, "value": {"stringValue": text}}
                for key, text in (
                    ("gen_ai.operation.name", "chat"),
                    ("gen_ai.prompt", f"Where is {number}?"),
                    ("gen_ai.completion", answer),
                )
            ],
        }
        for number, answer in enumerate(answers, first)
    ]
    body = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    assert served.post(body, "/v1/traces").status == 200


def scraped(served: Served, **headers: str) -> dict[tuple[str, str], float]:
    answer = served.ask("GET", "/metrics", **headers)
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (
            sample.name.removeprefix("fourscore_monitor_"),
            sample.labels.get("status", ""),
        ): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def eventually(found: Callable[[], Any]) -> Any:
    for _ in range(600):
        if value := found():
            return value
        time.sleep(0.05)
    raise AssertionError("nothing was found in 30 s")


def test_traces_are_scored_counted_and_alerted_once(
    monitored: Callable[..., Served], tmp_path: Path, webhook: tuple[str, list[dict[str, Any]]]
) -> None:
    url, received = webhook
    (tmp_path / "monitor.yaml").write_text(f"sinks:\n  ops: {{kind: webhook, url: '{url}'}}\n")
    served = monitored("--alerts", "monitor.yaml")
    assert ("samples_total", "scored") not in scraped(served)
    send(served, ["No."] * 60)
    eventually(lambda: scraped(served).get(("samples_total", "scored")) == 60)
    eventually(lambda: {"overall", "dimension:polite"} <= {one["stream"] for one in received})
    assert {one["type"] for one in received} == {"alert.firing"}
    assert all(one["evidence"] for one in received)
    eventually(lambda: scraped(served).get(("deliveries_total", "")) is not None)
    assert served.stop() == 0
    n = len(received)
    assert len({one["id"] for one in received}) == n
    again = monitored("--alerts", "monitor.yaml")  # a restart repeats nothing
    assert scraped(again)["samples_total", "scored"] == 60
    send(again, ["Please."], first=1000)
    eventually(lambda: scraped(again)["samples_total", "scored"] == 61)
    assert again.stop() == 0
    assert len(received) == n


def test_alerts_are_logged_without_an_alerts_file(monitored: Callable[..., Served]) -> None:
    served = monitored()
    send(served, ["No."] * 60)
    eventually(lambda: "the pass rate is critical" in served.log.read_text())


def test_metrics_need_the_token_and_allow_only_get(monitored: Callable[..., Served]) -> None:
    served = monitored(token=TOKEN)
    assert served.ask("GET", "/metrics").status == 401
    assert served.ask("GET", "/metrics", authorization=f"Bearer {TOKEN}").status == 200
    wrong = served.ask("POST", "/metrics", b"{}", authorization=f"Bearer {TOKEN}")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, HEAD")


def test_metrics_count_requests_and_scores_without_a_monitor(start: Start) -> None:
    served = start("--judge", "math")
    for _ in range(3):
        served.post(row(r"\boxed{4}"))
    served.post({"task": {}, "output": {"metadata": {"final_answer": "4"}}})
    served.post(b"{")
    served.ask("GET", "/made/up?by=client")
    served.ask("GET", "/healthz")
    answer = served.ask("GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }
    requests, scores = "fourscore_server_requests_total", "fourscore_server_scores_total"
    assert found == {
        (requests, "/v1/rewards", "200"): 4,
        (requests, "/v1/rewards", "400"): 1,
        (requests, "/healthz", "200"): 1,
        (requests, "other", "404"): 1,
        (scores, "scored"): 3,
        (scores, "judge_error"): 1,
        ("fourscore_server_requests_under_way",): 0,
    }


def test_metrics_name_the_process_where_several_serve(start: Start) -> None:
    served = start("--judge", "math", "--workers", "2")
    assert 'process="' in served.ask("GET", "/metrics").body.decode()


def test_mistake_in_the_alerts_file_is_reported_before_listening(tmp_path: Path) -> None:
    (tmp_path / "monitor.yaml").write_text("sinks:\n  pager:\n")
    options = ("--judge", "math", "--alerts", "monitor.yaml")
    assert "use it with --monitor" in refused(*options, folder=tmp_path)
    stderr = refused(*options, "--monitor", "monitor.db", folder=tmp_path)
    assert "monitor.yaml:2: sinks.pager" in stderr
