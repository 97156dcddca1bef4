"""Spans received, assembled and stored by `fourscore serve --monitor`, on one core.

    python benchmarks/otlp.py [--requests 200] [--sample-rate 0.01] [--senders 4]

The server is the real one, in a process bound to one core; the senders, in another process on the
other core, post batches of 512 spans as the SDK's batch processor makes them: gzip, protobuf,
traces of eight spans (an agent, four model calls, three tools) with the GenAI attributes and texts
of a small conversation, about 1 kB a span. Traces are complete after a second of quiet, so they are
assembled while others arrive.

`drawn` is the normal server: traces that are not sampled are not assembled. With `all`, every trace
is turned into a case and a trace. `bare` is the least that any receiver in Python does with the
same bodies on the same server: decompress, decode with OpenTelemetry's classes, read every
attribute, answer, and drop it.

The time ends when the last trace is done. `cpu` is the processor time of the server for one span,
and `a core` how many spans one core does in a second where nothing else runs on it.
"""

import argparse
import gzip
import http.client
import json
import os
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from fourscore.stores.monitor import MonitorStore

BATCH, SPANS = 512, 8
#: Seconds after the last span; they are not counted in the time.
QUIET = 1.0
QUESTION = "Where is order {n}? It was sent on Monday and I have heard nothing since. Please look."
ANSWER = "Order {n} left the depot on Tuesday and will be with you by Friday. " * 3
JUDGE = """
from fourscore import judge

@judge
def says_when(case, trace):
    return "Friday" in trace.answer
"""
SERVE = """
import sys
from fourscore.cli.main import main
from fourscore.monitor.otel.trace_scoring import TraceSampler

if sys.argv.pop(1) == "all":
    TraceSampler.can_skip = lambda *_: False
sys.exit(main(sys.argv[1:]))
"""
BARE = """
import gzip
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from fourscore.core import Rubric
from fourscore.server.serve import serve
from fourscore.server.app import App
from fourscore.server.settings import Settings
from fourscore.judges.math import MathJudge

class Bare(App):
    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            return await self._run_lifespan(receive, send)
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message.get("more_body")
        for resource in ExportTraceServiceRequest.FromString(gzip.decompress(body)).resource_spans:
            for scope_spans in resource.scope_spans:
                for span in scope_spans.spans:
                    attributes = {}
                    for pair in span.attributes:
                        attributes[pair.key] = getattr(pair.value, pair.value.WhichOneof("value"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

app = Bare(Rubric.from_judge(MathJudge()), Settings(port=0))
serve(app, lambda address: print('{"url": "%s"}' % address, flush=True))
"""


class Measured(NamedTuple):
    kind: str
    spans: int
    seconds: float
    cpu: float
    memory: float


def make_pairs(attributes: dict[str, str | int]) -> list[KeyValue]:
    return [
        KeyValue(
            key=key,
            value=AnyValue(int_value=value)
            if isinstance(value, int)
            else AnyValue(string_value=value),
        )
        for key, value in attributes.items()
    ]


def conversation(number: int) -> list[Span]:
    """Return the eight spans of one trace."""
    trace_id = number.to_bytes(16, "big")
    start = 1_767_607_200 * 10**9 + number * 10**6
    result = {"state": "sent", "depot": "north", "notes": "left on Tuesday morning. " * 8}
    history = [{"role": "user", "parts": [{"type": "text", "content": QUESTION.format(n=number)}]}]
    spans: list[Span] = []

    def add(name: str, attributes: dict[str, str | int]) -> None:
        at = len(spans) + 1
        spans.append(
            Span(
                trace_id=trace_id,
                span_id=(number * 16 + at).to_bytes(8, "big"),
                parent_span_id=b"" if at == SPANS else (number * 16 + SPANS).to_bytes(8, "big"),
                name=name,
                kind=Span.SPAN_KIND_CLIENT,
                start_time_unix_nano=start + at * 1000 if at < SPANS else start,
                end_time_unix_nano=start + at * 1000 + 900,
                attributes=make_pairs(attributes),
            )
        )

    def chat(parts: list[dict[str, object]]) -> None:
        add(
            "chat gpt",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-4.1",
                "gen_ai.response.model": "gpt-4.1-2025-04-14",
                "gen_ai.response.id": f"chatcmpl-{number}",
                "gen_ai.usage.input_tokens": 500 + number % 100,
                "gen_ai.usage.output_tokens": 50,
                "server.address": "api.example.com",
                "server.port": 443,
                "gen_ai.input.messages": json.dumps(history),
                "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
            },
        )

    for step in range(3):
        key = f"call_{number}_{step}"
        call: dict[str, object] = {"type": "tool_call", "id": key, "name": "lookup"}
        call["arguments"] = {"order": number, "page": step}
        chat([call])
        add(
            "execute_tool lookup",
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "lookup",
                "gen_ai.tool.call.id": key,
                "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
                "gen_ai.tool.call.result": json.dumps(result),
            },
        )
        answer = {"type": "tool_call_response", "id": key, "response": result}
        history += [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [answer]}]
    chat([{"type": "text", "content": ANSWER.format(n=number)}])
    add(
        "invoke_agent shop",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "shop",
            "gen_ai.conversation.id": f"c{number}",
        },
    )
    return spans


def bodies(requests: int) -> list[bytes]:
    """Traces side by side, so that a batch cuts some of them."""
    every = [
        span for number in range(1, requests * BATCH // SPANS + 1) for span in conversation(number)
    ]
    window = 16 * SPANS
    mixed = [
        every[base + at]
        for base in range(0, len(every), window)
        for at in sorted(range(min(window, len(every) - base)), key=lambda at: at % SPANS)
    ]
    resource = Resource(attributes=make_pairs({"service.name": "shop", "service.version": "3"}))
    made = []
    for start in range(0, len(mixed), BATCH):
        scopes = [ScopeSpans(spans=mixed[start : start + BATCH])]
        spans = [ResourceSpans(resource=resource, scope_spans=scopes)]
        made.append(
            gzip.compress(ExportTraceServiceRequest(resource_spans=spans).SerializeToString(), 6)
        )
    return made


def send(port: int, every: list[bytes], senders: int) -> None:
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    for body in every:
        waiting.put(body)
    headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while not waiting.empty():
            try:
                body = waiting.get_nowait()
            except queue.Empty:
                return
            connection.request("POST", "/v1/traces", body, headers)
            reply = connection.getresponse()
            assert reply.status == 200, (reply.status, reply.read())
            reply.read()

    threads = [threading.Thread(target=work) for _ in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(pid: int) -> float:
    words = Path(f"/proc/{pid}/status").read_text()
    return int(words.partition("VmHWM:")[2].split()[0]) / 1024


def measure(kind: str, every: list[bytes], options: argparse.Namespace) -> Measured:
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        (Path(folder) / "judge.py").write_text(JUDGE)
        command = [sys.executable, "-c", BARE]
        if kind != "bare":
            command = [
                *(sys.executable, "-c", SERVE, kind, "serve", "--json", "--port", "0"),
                *(
                    "--judge",
                    "judge.py->says_when",
                    "--monitor",
                    "monitor.db",
                    "--quiet",
                    str(QUIET),
                ),
                *("--sample-rate", str(options.sample_rate), "--judge-workers", "1"),
            ]
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, {cores[0]}),
        )
        assert process.stdout is not None
        port = int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
        os.sched_setaffinity(0, {cores[-1]})
        try:
            send(port, every[:1], 1)
            before, begun = cpu(process.pid), time.perf_counter()
            send(port, every[1:], options.senders)
            if kind != "bare":
                with MonitorStore(Path(folder) / "monitor.db") as store:
                    while store.spans.count_waiting():
                        time.sleep(0.05)
            seconds = time.perf_counter() - begun - (0.0 if kind == "bare" else QUIET)
            n = (len(every) - 1) * BATCH
            spent = cpu(process.pid) - before
            return Measured(kind, n, seconds, spent / n * 1e6, peak(process.pid))
        finally:
            os.sched_setaffinity(0, set(cores))
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--senders", type=int, default=4)
    parser.add_argument("--sample-rate", type=float, default=0.01)
    parser.add_argument("--folder", help="where the store is, for its disk")
    options = parser.parse_args()
    every = bodies(options.requests)
    sizes = sum(map(len, every)) / len(every) / BATCH
    inside = sum(len(gzip.decompress(body)) for body in every[:5]) / min(5, len(every)) / BATCH
    print(
        f"{len(every)} requests of {BATCH} spans, {inside:.0f} bytes each, {sizes:.0f} compressed"
    )
    print(f"{'':10}{'spans/s':>10}{'cpu µs':>10}{'a core':>10}{'memory MB':>12}")
    for kind in ("bare", "drawn", "all"):
        found = measure(kind, every, options)
        rate = found.spans / found.seconds
        core = 1e6 / found.cpu
        line = f"{kind:10}{rate:10,.0f}{found.cpu:10.0f}{core:10,.0f}{found.memory:12.0f}"
        print(line, flush=True)
    print(f"peak of the senders: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")


if __name__ == "__main__":
    main()
