"""The reward server against a bare ASGI app on the same uvicorn, in the same run.

    python benchmarks/server.py [rounds] [seconds]

64 connections, one server process, single-reward requests judged by exact match. The load comes
from wrk where it is installed, else from aiohttp in another process, slower than either server.
Rounds alternate between the two, so that other load on the machine affects both: compare the ratio
and the processor time of a request, which is that of the server's process. `waited` is the share of
the time in which the server could run and had no processor. uvloop accepts one connection in each
turn of its loop, so the first request of the last one is slow: in a longer round that matters less
for the p99.
"""

import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

CONNECTIONS = 64
BODY = json.dumps(
    {
        "task": {"task_id": "apples", "main_query": "12 * 7 - 9?", "metadata": {"answer": "75"}},
        "output": {"metadata": {"final_answer": "84 less 9 is 75, so \\boxed{75}"}},
    }
)
PATH = "/v1/rewards"
#: The least that a server on uvicorn can do: take the body, send one of the same length.
BARE = """
import sys, uvicorn
from fourscore.core import Rubric
from fourscore.server.serve import serve
from fourscore.server.app import App
from fourscore.server.settings import Settings
from fourscore.judges.math import MathJudge

ANSWER = b"." * 164

class Bare(App):
    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            return await self._run_lifespan(receive, send)
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", b"application/json"), (b"content-length", b"164")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": ANSWER})

app = (Bare if sys.argv[1] == "bare" else App)(Rubric.from_judge(MathJudge()), Settings(port=0))
serve(app, lambda address: print(address, flush=True))
"""


class Measured(NamedTuple):
    rate: float
    p50: float
    p99: float
    cpu: float
    waited: float


class Server:
    def __init__(self, kind: str) -> None:
        command = [sys.executable, "-c", BARE, kind]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip() + PATH

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def waited(self) -> float:
        """Return the seconds in which the process was ready to run but had no processor."""
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[1]) / 1e9

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def with_wrk(url: str, seconds: float) -> tuple[float, float, float]:
    script = f"""
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [==[{BODY}]==]
done = function(summary, latency, requests)
  local e = summary.errors
  print(string.format("figures %d %d %f %f", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99)))
  print("errors " .. e.connect + e.read + e.write + e.status + e.timeout)
end
"""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "-s", file.name, url]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"figures (\d+) (\d+) (\S+) (\S+)\nerrors 0", printed)
    assert found is not None, printed
    return int(found[1]) / int(found[2]) * 1e6, float(found[3]) / 1e3, float(found[4]) / 1e3


def with_aiohttp(url: str, seconds: float) -> tuple[float, float, float]:
    command = [sys.executable, __file__, "--load", url, str(seconds)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate, p50, p99 = json.loads(printed)
    return rate, p50, p99


async def load(url: str, seconds: float) -> tuple[float, float, float]:
    """The load generator of the process that `with_aiohttp` starts."""
    import aiohttp

    times: list[float] = []
    end = time.perf_counter() + seconds
    headers = {"content-type": "application/json"}
    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def client() -> None:
            while (begun := time.perf_counter()) < end:
                async with session.post(url, data=BODY) as response:
                    await response.read()
                    assert response.status == 200
                times.append((time.perf_counter() - begun) * 1e3)

        await asyncio.gather(*(client() for _ in range(CONNECTIONS)))
    times.sort()
    return len(times) / seconds, times[len(times) // 2], times[int(len(times) * 0.99)]


def measure(server: Server, seconds: float) -> Measured:
    generate = with_wrk if shutil.which("wrk") else with_aiohttp
    generate(server.url, 0.5 if generate is with_aiohttp else 1)
    cpu, waited = server.cpu(), server.waited()
    rate, p50, p99 = generate(server.url, seconds)
    cpu, waited = server.cpu() - cpu, server.waited() - waited
    return Measured(rate, p50, p99, cpu / (rate * seconds) * 1e6, waited / seconds)


def main(rounds: int, seconds: int) -> None:
    ours, bare = Server("fourscore"), Server("bare")
    ratios, cpu_ratios, best = [], [], []
    try:
        for _ in range(rounds):
            a, b = measure(ours, seconds), measure(bare, seconds)
            for name, m in (("fourscore", a), ("bare", b)):
                print(
                    f"{name:8} {m.rate:8,.0f} req/s   p50 {m.p50:6.2f} ms   p99 {m.p99:6.2f} ms"
                    f"   {m.cpu:4.0f} µs of processor a request   waited {m.waited:4.0%}"
                )
            ratios.append(a.rate / b.rate)
            cpu_ratios.append(a.cpu / b.cpu)
            best.append(a)
    finally:
        ours.stop()
        bare.stop()
    fastest = max(best)
    print(f"ratio to bare: {statistics.median(ratios):.2f} of its rate (median of {rounds} rounds)")
    print(f"processor time: {statistics.median(cpu_ratios):.2f} times bare's")
    print(
        f"best round: {fastest.rate:,.0f} req/s, p99 {fastest.p99:.2f} ms; "
        f"p99 under 50 ms in {sum(m.p99 < 50 for m in best)} of {rounds} rounds, "
        f"5,000 req/s in {sum(m.rate >= 5000 for m in best)}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--load"]:
        print(json.dumps(asyncio.run(load(sys.argv[2], float(sys.argv[3])))))
    else:
        main(*(int(text) for text in [*sys.argv[1:], "5", "10"][:2]))
