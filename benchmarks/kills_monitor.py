"""`kill -9` at random moments of a monitor in an application, and of a server that receives traces.

    python benchmarks/kills_monitor.py [--kills 100] [--seed 1] [--folder DIR]

The kills alternate between two victims, each with a store of its own that lives through all kills.

- The application observes interactions and calls `flush`; those before a `flush` that returned True
  are acknowledged. A new process observes the last ones again, as after a crash.
- `fourscore serve --monitor` receives traces of three spans, in one or two requests, and scores
  them at the same time. A span is acknowledged by the reply to its request.

After each kill SQLite finds nothing wrong with the file, each acknowledged sample or span is there
(or its trace is done), and the state counts each stored sample once. At the end a last server
scores what waits: every acknowledged trace is one sample.
"""

import argparse
import http.client
import json
import random
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

APPLICATION = """
import sys
from fourscore import ProductionMonitor, judge
from fourscore.monitor.settings import JudgingSettings

@judge
def good(case, trace):
    return "good" in trace.answer

judging = JudgingSettings(queue=10_000)
monitor = ProductionMonitor(1.0, rubric=good, store="application.db", judging=judging)
print("ready", flush=True)
first = int(sys.argv[1])
while True:
    for number in range(first, first + 7):
        monitor.observe("q" * (number % 3000), "good", id=f"request-{number}")
    first += 7
    if monitor.flush(60):
        print(first, flush=True)
"""
JUDGE = """
from fourscore import judge

@judge
def good(case, trace):
    return "good" in trace.answer
"""
SENDERS = 3
#: Interactions that a new process observes again.
AGAIN = 20
#: Seconds that the last server has for the traces that wait.
PATIENCE = 300.0


def check_store(path: Path) -> set[str]:
    """Check a store whose process was killed, and return the ids of its samples."""
    with closing(sqlite3.connect(path)) as store:
        (fine,) = store.execute("PRAGMA quick_check").fetchone()
        assert fine == "ok", fine
        ids = [row[0] for row in store.execute("SELECT id FROM samples")]
        states = store.execute("SELECT body FROM states").fetchall()
    assert len(ids) == len(set(ids)), "doubled"
    counted = sum(json.loads(body)["samples"] for (body,) in states)
    assert counted == len(ids), f"the state counts {counted} of {len(ids)} samples"
    return set(ids)


def kill_application(folder: Path, chance: random.Random, acknowledged: int) -> int:
    """Run the application, kill it, and return up to which number it has saved all."""
    first = max(0, acknowledged - AGAIN)
    command = [sys.executable, "-c", APPLICATION, str(first)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if chance.random() < 0.8:
            process.stdout.readline()
        select.select([], [], [], chance.random() * 2.0)
        process.kill()
        reports = process.stdout.read().split()
    numbers = [int(word) for word in reports if word.isdigit()]
    acknowledged = max([acknowledged, *numbers])
    path = folder / "application.db"
    ids = check_store(path) if path.exists() else set()
    lost = [number for number in range(acknowledged) if f"request-{number}" not in ids]
    assert not lost, f"lost samples: {lost[:10]}"
    return acknowledged


class Traffic:
    """Sends traces to a server until it is gone, and keeps the spans that were acknowledged."""

    def __init__(self, port: int, numbers: "count[int]", seed: int) -> None:
        self.spans: set[tuple[str, str]] = set()
        self._port, self._numbers, self._lock = port, numbers, threading.Lock()
        self.threads = [
            threading.Thread(target=self._send, args=(random.Random(seed + number),))
            for number in range(SENDERS)
        ]
        for thread in self.threads:
            thread.start()

    def _send(self, chance: random.Random) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        with closing(connection), suppress(OSError, http.client.HTTPException):
            while True:
                with self._lock:
                    number = next(self._numbers)
                spans = make_spans(number, chance)
                cut = chance.choice((0, 1, 2))
                for part in (spans[cut:], spans[:cut]):
                    if part:
                        self._post(connection, part)

    def _post(self, connection: http.client.HTTPConnection, spans: list[Span]) -> None:
        scopes = [ScopeSpans(spans=spans)]
        request = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=scopes)])
        headers = {"content-type": "application/x-protobuf"}
        connection.request("POST", "/v1/traces", request.SerializeToString(), headers)
        reply = connection.getresponse()
        body = reply.read()
        assert (reply.status, body) == (200, b""), (reply.status, body)
        with self._lock:
            self.spans |= {(span.trace_id.hex(), span.span_id.hex()) for span in spans}


def make_spans(number: int, chance: random.Random) -> list[Span]:
    texts = {"gen_ai.prompt": "q" * chance.randrange(2000), "gen_ai.completion": "good"}
    return [
        Span(
            trace_id=(number + 1).to_bytes(16, "big"),
            span_id=(at + 1).to_bytes(8, "big"),
            parent_span_id=b"" if at == 0 else (1).to_bytes(8, "big"),
            start_time_unix_nano=time.time_ns(),
            end_time_unix_nano=time.time_ns(),
            attributes=[KeyValue(key=k, value=AnyValue(string_value=v)) for k, v in texts.items()],
        )
        for at in range(3)
    ]


def start_server(folder: Path, *options: str) -> "subprocess.Popen[bytes]":
    (folder / "good.py").write_text(JUDGE)
    command = [sys.executable, "-m", "fourscore", "serve", "--judge", "good.py->good"]
    monitor = ["--monitor", "server.db", "--sample-rate", "1", "--quiet", "0.1", *options]
    return subprocess.Popen(
        [*command, *monitor, "--port", "0", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def kill_server(
    folder: Path, chance: random.Random, numbers: "count[int]", seed: int
) -> set[tuple[str, str]]:
    """Run the server under traffic, kill it, and return the spans that it has acknowledged."""
    traffic = None
    with start_server(folder) as process:
        assert process.stdout is not None
        if chance.random() < 0.9:
            port = int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
            traffic = Traffic(port, numbers, seed)
        select.select([], [], [], chance.random() * 1.5)
        process.kill()
    if traffic is None:
        return set()
    for thread in traffic.threads:
        thread.join()
    return traffic.spans


def check_spans(path: Path, acknowledged: Iterable[tuple[str, str]]) -> None:
    with closing(sqlite3.connect(path)) as store:
        kept = set(store.execute("SELECT trace_id, span_id FROM spans"))
        done = {row[0] for row in store.execute("SELECT trace_id FROM otel_traces WHERE done")}
    lost = [span for span in acknowledged if span not in kept and span[0] not in done]
    assert not lost, f"lost spans: {lost[:10]}"


def finish(folder: Path, acknowledged: set[tuple[str, str]]) -> int:
    """Score what waits, and return how many samples there are."""
    with start_server(folder, "--longest", "0.2") as process:
        waiting, ends = 1, time.monotonic() + PATIENCE
        while waiting and time.monotonic() < ends:
            time.sleep(0.2)
            with closing(sqlite3.connect(folder / "server.db")) as store:
                query = (
                    "UPDATE otel_traces SET claimed = 0 WHERE done IS NULL"  # leases of the dead
                )
                store.execute(query)
                store.commit()
                query = "SELECT count(*) FROM otel_traces WHERE done IS NULL"
                ((waiting,),) = store.execute(query)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    samples = check_store(folder / "server.db")
    lost = {trace_id for trace_id, _ in acknowledged} - samples
    assert not lost, f"lost traces: {sorted(lost)[:10]}"
    return len(samples)


def suite(kills: int, seed: int, folder: Path) -> None:
    chance, numbers = random.Random(seed), count()
    observed, spans = 0, set[tuple[str, str]]()
    for number in range(kills):
        if number % 2:
            observed = kill_application(folder, chance, observed)
            print(f"kill {number + 1}: {observed} samples acknowledged", flush=True)
            continue
        spans |= kill_server(folder, chance, numbers, seed * 10_000 + number * SENDERS)
        path = folder / "server.db"
        if path.exists() and spans:
            check_spans(path, spans)
            check_store(path)
        print(f"kill {number + 1}: {len(spans)} spans acknowledged", flush=True)
    samples = finish(folder, spans)
    print(
        f"{kills} kills, {observed} samples and {len(spans)} spans acknowledged, "
        f"{samples} traces scored: none lost, none doubled"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill a monitor and a receiver, again and again.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="the disk to use")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        suite(given.kills, given.seed, Path(folder))


if __name__ == "__main__":
    main()
