"""A model endpoint to measure against, with as little HTTP as possible, so that it is fast.

    python benchmarks/endpoint.py DELAY fine|storm SEED

It prints its port. A prompt with a number (`question 17.`) gets a score made of it, and with a
judge's fence around the answer a verdict: yes for even numbers. With `storm`, 10% of the replies
are a 429, 5% a 500, 5% malformed JSON, and 1% hang for 120 s, at random.
"""

import asyncio
import json
import random
import re
import subprocess
import sys
from typing import cast

import uvloop

Answer = tuple[float, int, bytes, bytes]


class Server:
    """The endpoint in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, __file__, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{self.process.stdout.readline().strip()}/v1"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Weather:
    def __init__(self, delay: float, stormy: bool, seed: int) -> None:
        self.delay, self.stormy, self.chance = delay, stormy, random.Random(seed)

    def answer(self, body: bytes) -> Answer:
        luck = self.chance.random() if self.stormy else 1.0
        if luck < 0.01:
            return 120.0, 200, b"{}", b""
        if luck < 0.11:
            refusal = b'{"error": {"message": "slow down"}}'
            return self.delay, 429, refusal, b"Retry-After: 0.2\r\n"
        if luck < 0.16:
            return self.delay, 500, b'{"error": {"message": "oops"}}', b""
        text = json.dumps(self.verdict(body))
        if luck < 0.21:
            broken = [text[:-4], text + text, "Sure! " + text, text.replace(":", "=")]
            text = self.chance.choice(broken)
        reply = {
            "model": "bench",
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 500, "completion_tokens": 20},
        }
        return self.delay, 200, json.dumps(reply).encode(), b""

    def verdict(self, body: bytes) -> dict[str, object]:
        number = int(cast("re.Match[bytes]", re.search(rb"question (\d+)\.", body))[1])
        fence = re.search(rb"\[([0-9a-f]{12}) ANSWER\]", body)
        if fence is None:
            return {"reason": f"the question was {number}", "score": number % 11}
        verdict = "no" if number % 2 else "yes"
        evidence = f"The answer to question {number}."
        return {"number": fence[1].decode(), "evidence": evidence, "verdict": verdict}


class EndpointProtocol(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, weather: Weather) -> None:
        self.weather, self.received = weather, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(cast("re.Match[bytes]", re.search(rb"content-length: (\d+)", head.lower()))[1])
        if len(body) < length:
            return
        self.received = body[length:]
        wait, status, reply, more = self.weather.answer(body)
        asyncio.get_running_loop().call_later(wait, self.send, status, reply, more)

    def send(self, status: int, reply: bytes, more: bytes) -> None:
        if not self.transport.is_closing():
            head = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n" % status
            head += more + b"Content-Length: %d\r\n\r\n" % len(reply)
            self.transport.write(head + reply)


async def main() -> None:
    weather = Weather(float(sys.argv[1]), sys.argv[2] == "storm", int(sys.argv[3]))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: EndpointProtocol(weather), "127.0.0.1", 0, backlog=512
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
