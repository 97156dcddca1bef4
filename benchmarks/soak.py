"""`fourscore serve --monitor` under good and hostile traffic for half an hour: is anything lost?

    python benchmarks/soak.py [--minutes 30] [--rate 30] [--senders 4] [--seed 1] [--folder DIR]
    python benchmarks/soak.py --minutes 1        # the short version

The server is the real one, on loopback, and scores every trace. Senders post whole traces, traces
over two requests, and spans whose attributes have any type, in protobuf and JSON, plain and
gzipped. Between them come broken, cut off, compressed and deeply nested bodies, spans without ids,
wrong methods and types, clients that disconnect, and texts that are hard for a regular expression.

It fails if an acknowledged trace is not in the store, if a trace has no outcome, if a hostile
request gets 200 or any request 500, or if the log has a traceback. It prints the memory of the
server over time, the statuses, and the time until a trace is acknowledged.
"""

import argparse
import gzip
import http.client
import json
import random
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

JUDGE = """
from fourscore import judge

@judge
def says_when(case, trace):
    return "Friday" in trace.answer
"""
#: Seconds between two looks at the server's memory.
PAUSE = 5.0
#: Seconds after which a trace that was acknowledged must have an outcome.
PATIENCE = 300.0
NAMES = (
    *("gen_ai.operation.name", "gen_ai.prompt", "gen_ai.completion", "gen_ai.input.messages"),
    *("gen_ai.output.messages", "gen_ai.tool.name", "gen_ai.usage.input_tokens", "error.type"),
    *("openinference.span.kind", "llm.input_messages.0.message.role", "fourscore.tags"),
)
HARD = ("[" + " " * 20_000, "a" * 50_000 + "!", "<|im_start|>" * 500, '{"a":' * 2000, "\x1b]52;c;")

Reply = tuple[int, bytes]


class Request(NamedTuple):
    """A request and what its sender expects: `traces` are acknowledged by a 200."""

    kind: str
    body: bytes
    headers: dict[str, str]
    traces: frozenset[str] = frozenset()
    refused: bool = False
    method: str = "POST"
    path: str = "/v1/traces"


def make_value(chance: random.Random, depth: int = 0) -> AnyValue:
    """Return a value of any type that OTLP has."""
    kind = chance.randrange(8 if depth < 3 else 6)
    if kind == 0:
        return AnyValue(string_value=chance.choice(("chat", "execute_tool", "TOOL", "", "5", "é")))
    if kind == 1:
        return AnyValue(bool_value=chance.random() < 0.5)
    if kind == 2:
        return AnyValue(int_value=chance.randrange(-(2**63), 2**63))
    if kind == 3:
        return AnyValue(double_value=chance.choice((0.0, -1.5, float("nan"), float("inf"))))
    if kind == 4:
        return AnyValue(bytes_value=chance.randbytes(8))
    if kind == 5:
        return AnyValue()
    inner = [make_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 6:
        return AnyValue(array_value=ArrayValue(values=inner))
    pairs = [KeyValue(key=f"k{number}", value=value) for number, value in enumerate(inner)]
    return AnyValue(kvlist_value=KeyValueList(values=pairs))


def make_trace(chance: random.Random, *, odd: bool) -> tuple[str, list[Span]]:
    """Return the id and the spans of a trace; an odd one has attributes of any type."""
    trace_id = chance.randbytes(16)
    answer = "It comes on Friday." if chance.random() < 0.9 else "I do not know."
    texts = {"gen_ai.prompt": "Where is it?", "gen_ai.completion": answer}
    if chance.random() < 0.05:
        texts["gen_ai.prompt"] = texts["gen_ai.completion"] = chance.choice(HARD)
    spans = []
    for number in range(3):
        pairs = [
            KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in texts.items()
        ]
        if odd:
            pairs += [KeyValue(key=name, value=make_value(chance)) for name in NAMES]
        start = time.time_ns()
        spans.append(
            Span(
                trace_id=trace_id,
                span_id=(number + 1).to_bytes(8, "big"),
                parent_span_id=b"" if number == 0 else (1).to_bytes(8, "big"),
                name="chat",
                start_time_unix_nano=start,
                end_time_unix_nano=start + 10**6,
                attributes=pairs,
            )
        )
    return trace_id.hex(), spans


def encode(
    spans: list[Span], chance: random.Random, **more: object
) -> tuple[bytes, dict[str, str]]:
    """Return the spans as a body, in protobuf or JSON, perhaps gzipped, with its headers."""
    headers = {"content-type": "application/x-protobuf"}
    made = ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=spans)])]
    )
    body = bytes(made.SerializeToString())
    if chance.random() < 0.3:
        headers = {"content-type": "application/json"}
        written = [
            {
                "traceId": span.trace_id.hex(),
                "spanId": span.span_id.hex(),
                "parentSpanId": span.parent_span_id.hex(),
                "startTimeUnixNano": str(span.start_time_unix_nano),
                "endTimeUnixNano": str(span.end_time_unix_nano),
                "attributes": [
                    {"key": pair.key, "value": {"stringValue": pair.value.string_value}}
                    for pair in span.attributes
                ],
            }
            for span in spans
        ]
        body = json.dumps(
            {"resourceSpans": [{"scopeSpans": [{"spans": written}]}], **more}
        ).encode()
    if chance.random() < 0.5:
        return gzip.compress(body), {**headers, "content-encoding": "gzip"}
    return body, headers


def make_good(chance: random.Random) -> list[Request]:
    odd = chance.random() < 0.3
    trace_id, spans = make_trace(chance, odd=odd)
    kind, traces = "odd" if odd else "good", frozenset([trace_id])
    parts = [spans[1:], spans[:1]] if chance.random() < 0.3 else [spans]
    return [Request(kind, *encode(part, chance), traces=traces) for part in parts]


BOMB = gzip.compress(b"\0" * 40_000_000)


def make_hostile(chance: random.Random) -> list[Request]:
    """Return a request that must be refused, or of which nothing is acknowledged."""
    protobuf = {"content-type": "application/x-protobuf"}
    as_json = {"content-type": "application/json"}
    _, spans = make_trace(chance, odd=False)
    whole = ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=spans)])]
    ).SerializeToString()
    bodies: list[tuple[str, bytes, dict[str, str]]] = [
        ("cut off", bytes(whole[: -chance.randrange(1, 60)]), protobuf),
        ("no protobuf", b"\xff" + chance.randbytes(300), protobuf),
        ("no JSON", chance.choice((b"{", b"[]", b"\xff", b'{"resourceSpans": 5}')), as_json),
        ("deep JSON", b'{"resourceSpans":' + b"[" * 100_000, as_json),
        ("bomb", BOMB, {**protobuf, "content-encoding": "gzip"}),
        ("no gzip", bytes(whole), {**protobuf, "content-encoding": "gzip"}),
        ("wrong type", bytes(whole), {"content-type": "text/plain"}),
        ("wrong coding", bytes(whole), {**protobuf, "content-encoding": "br"}),
        ("wide header", b"", {**protobuf, "x": "y" * 1_000_000}),
    ]
    kind, body, headers = chance.choice(bodies)
    if chance.random() < 0.1:
        return [Request("wrong method", b"", {}, refused=True, method="PUT")]
    return [Request(kind, body, headers, refused=True)]


def make_without_ids(chance: random.Random) -> list[Request]:
    """Return spans that are rejected in a 200, as OTLP's partial success."""
    _, spans = make_trace(chance, odd=False)
    for span in spans:
        span.trace_id = b""
    return [Request("no ids", *encode(spans, chance))]


def make_other(chance: random.Random) -> list[Request]:
    task = {"task_id": "t", "main_query": "When?"}
    row = {"task": task, "output": {"metadata": {"final_answer": chance.choice(HARD)}}}
    headers = {"content-type": "application/json"}
    rewards = Request("rewards", json.dumps(row).encode(), headers, path="/v1/rewards")
    metrics = Request("metrics", b"", {}, method="GET", path="/metrics")
    return [rewards if chance.random() < 0.9 else metrics]


MAKERS: tuple[tuple[float, Callable[[random.Random], list[Request]]], ...] = (
    (0.60, make_good),
    (0.28, make_hostile),
    (0.05, make_without_ids),
    (0.07, make_other),
)


class Seen:
    """What the senders saw, shared by them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.statuses: Counter[tuple[str, str]] = Counter()
        self.seconds: list[float] = []
        self.acknowledged: set[str] = set()
        self.wrong: list[str] = []

    def add(self, request: Request, status: int | None, body: bytes, seconds: float) -> None:
        with self.lock:
            self.statuses[(request.kind, "none" if status is None else str(status))] += 1
            if status is not None and (status >= 500 or (request.refused and status == 200)):
                self.wrong.append(f"{request.kind}: {status}")
            if request.traces and status == 200 and body in (b"", b"{}"):
                self.seconds.append(seconds)
                self.acknowledged |= request.traces
            elif request.traces:
                self.wrong.append(f"{request.kind}: {status} {body[:200]!r}")


def send(port: int, rate: float, until: float, seed: int, seen: Seen) -> None:
    """Send at most `rate` requests a second, over one connection while the server keeps it."""
    chance = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    due = time.monotonic()
    while time.monotonic() < until:
        if chance.random() < 0.02:
            disturb(port, chance)
        (maker,) = chance.choices([one for _, one in MAKERS], [share for share, _ in MAKERS])
        for request in maker(chance):
            due = max(due + 1 / rate, time.monotonic() - 5.0)  # no burst after a pause
            time.sleep(max(0.0, due - time.monotonic()))
            begun = time.monotonic()
            status, body = None, b""
            try:
                connection.request(request.method, request.path, request.body, request.headers)
                reply = connection.getresponse()
                status, body = reply.status, reply.read()
            except (OSError, http.client.HTTPException):  # a refused body: the connection is closed
                connection.close()
            seen.add(request, status, body, time.monotonic() - begun)
    connection.close()


def disturb(port: int, chance: random.Random) -> None:
    """Open a connection, send half a request or rubbish, and leave."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        head = b"POST /v1/traces HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-protobuf\r\n"
        rubbish = (
            head,
            head + b"Content-Length: 1000\r\n\r\nhalf",
            head + b"Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n",
            chance.randbytes(2000),
            b"GET / HTTP/9.9\r\n\r\n",
        )
        client.sendall(chance.choice(rubbish))


class Memory(NamedTuple):
    """Resident memory of the server in MB, its threads and its open files, at a moment."""

    seconds: float
    megabytes: float
    threads: int
    files: int


def read_memory(pid: int, begun: float) -> Memory:
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    files = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    megabytes = int(fields["VmRSS"].split()[0]) / 1024
    return Memory(time.monotonic() - begun, megabytes, int(fields["Threads"]), files)


def soak(seconds: float, rate: float, senders: int, seed: int, folder: Path) -> bool:
    (folder / "says_when.py").write_text(JUDGE)
    command = [sys.executable, "-m", "fourscore", "serve", "--judge", "says_when.py->says_when"]
    options = ["--monitor", "monitor.db", "--sample-rate", "1", "--quiet", "2", "--port", "0"]
    log = folder / "log"
    with log.open("w") as stderr:
        server = subprocess.Popen(
            [*command, *options, "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=stderr
        )
    assert server.stdout is not None
    seen, memory = Seen(), list[Memory]()
    try:
        port = int(json.loads(server.stdout.readline())["url"].rpartition(":")[2])
        begun = time.monotonic()
        until = begun + seconds
        threads = [
            threading.Thread(
                target=send, args=(port, rate / senders, until, seed * 1000 + number, seen)
            )
            for number in range(senders)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            memory.append(read_memory(server.pid, begun))
            time.sleep(PAUSE)
        wait_for_outcomes(folder / "monitor.db")
        server.send_signal(signal.SIGTERM)
        code = server.wait(PATIENCE)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    return report(seen, memory, folder, log.read_text(), code)


def wait_for_outcomes(path: Path) -> None:
    ends = time.monotonic() + PATIENCE
    waiting = 1
    while waiting and time.monotonic() < ends:
        time.sleep(1.0)
        with closing(sqlite3.connect(path)) as store:
            query = "SELECT count(*) FROM otel_traces WHERE done IS NULL"
            ((waiting,),) = store.execute(query)


def report(seen: Seen, memory: list[Memory], folder: Path, log: str, code: int) -> bool:
    """Print what was measured, and return whether nothing is wrong."""
    with closing(sqlite3.connect(folder / "monitor.db")) as store:
        done = {row[0] for row in store.execute("SELECT trace_id FROM otel_traces WHERE done")}
        samples = {row[0] for row in store.execute("SELECT id FROM samples")}
        counts = dict(store.execute("SELECT what, n FROM counts"))
        statuses = dict(store.execute("SELECT status, count(*) FROM samples GROUP BY status"))
    lost = seen.acknowledged - done
    outcomes = {key: n for key, n in counts.items() if key.startswith("traces_")}
    unscored = sum(
        n for key, n in outcomes.items() if key in ("traces_no_agent", "traces_no_content")
    )
    uncounted = len(done) - unscored - len(samples)
    n = sum(seen.statuses.values())
    print(f"requests: {n:,}; acknowledged traces: {len(seen.acknowledged):,}")
    for (kind, status), n in sorted(seen.statuses.items()):
        print(f"  {kind:14} {status:>4} {n:>8,}")
    ranked = sorted(seen.seconds)
    for share in (0.5, 0.99):
        at = ranked[min(len(ranked) - 1, int(share * len(ranked)))] * 1000
        print(f"p{share * 100:g} of acknowledgements: {at:.1f} ms")
    print(f"outcomes: {outcomes}; samples: {statuses}")
    print("minute   MB  threads  files")
    for one in memory[:: max(1, len(memory) // 15)]:
        print(f"{one.seconds / 60:6.1f} {one.megabytes:5.1f} {one.threads:7} {one.files:6}")
    middle, last = memory[len(memory) // 3 : 2 * len(memory) // 3], memory[2 * len(memory) // 3 :]
    if middle:
        before, after = (
            statistics.median(one.megabytes for one in part) for part in (middle, last)
        )
        print(f"memory: median {before:.1f} MB in the second third, {after:.1f} MB in the last")
    print(f"lost acknowledged traces: {len(lost)}; traces without an outcome: {uncounted}")
    wrong = Counter(seen.wrong)
    print(f"wrong replies: {dict(wrong)}; exit code {code}; tracebacks: {log.count('Traceback')}")
    return not (lost or uncounted or wrong or code or "Traceback" in log)


def main() -> int:
    parser = argparse.ArgumentParser(description="Good and hostile traffic against the server.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=30.0, help="requests a second")
    parser.add_argument("--senders", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="the disk to use")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        is_good = soak(given.minutes * 60, given.rate, given.senders, given.seed, Path(folder))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
