"""What a real model on a server of one's own answers."""

import asyncio
from collections.abc import Iterator
from math import exp

import pytest
from tests.models.llama import needs_llama, serving_llama

from fourscore.models.json_modes import forget_endpoints
from fourscore.models.messages import ChatMessage, Request
from fourscore.models.openai import OpenAI

pytestmark = needs_llama
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
    ChatMessage("system", "You grade answers from 0 to 10."),
    ChatMessage("user", "Question: what is 2+2? Answer: 4. Is it right, and what is its score?"),
)


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    forget_endpoints()
    with serving_llama() as address:
        yield address


def test_reply_fits_the_schema(llama: str) -> None:
    model = OpenAI("smollm2", base_url=llama)
    reply = asyncio.run(model.ask(Request(messages=TURNS, schema=SCHEMA, max_tokens=200, seed=1)))
    assert list(reply.value) == ["right", "score"]
    assert 0 <= reply.value["score"] <= 10
    assert (reply.finish, reply.usage.calls) == ("stop", 1)  # by the strictest way, at once
    assert reply.usage.input_tokens > 0


def test_returns_log_probabilities(llama: str) -> None:
    model = OpenAI("smollm2", base_url=llama)
    reply = asyncio.run(model.ask(Request(messages=TURNS, logprobs=3, max_tokens=5)))
    assert len(reply.logprobs) == 5
    for token in reply.logprobs:
        assert token.logprob <= 0
        assert len(token.top) == 3
        assert sum(exp(logprob) for _, logprob in token.top) <= 1.001
        assert token.top[0][1] >= token.top[-1][1]
