"""Models as agents, and agents that ask models."""

import asyncio
from typing import Any

import pytest

from fourscore.agents.agent import attempt_case, load_agent
from fourscore.agents.model import ModelAgent
from fourscore.core import Case, ConfigError, Fault, Usage
from fourscore.models.budget import Budget
from fourscore.models.messages import ModelError
from fourscore.models.model_pool import ModelPool


def test_model_agent_is_loaded_by_name() -> None:
    agent = load_agent("anthropic:claude-haiku-4-5")
    assert isinstance(agent, ModelAgent)
    assert (agent.name, agent.models) == ("anthropic:claude-haiku-4-5", ("claude-haiku-4-5",))
    assert load_agent(agent) is agent
    with pytest.raises(ConfigError, match="expected kind:model"):
        load_agent("openai:")


def test_maximum_usage_of_an_attempt() -> None:
    most = ModelAgent("openai:m").most(Case(input="x" * 1000))
    assert most == Usage(calls=1, input_tokens=532, output_tokens=4096)


def test_reply_becomes_the_trace() -> None:
    trace = asyncio.run(attempt_case(load_agent("scripted:hello"), Case(input={"a": 1})))
    assert trace.output == "hello"
    assert [(step.role, step.content) for step in trace.steps] == [("assistant", "hello")]  # type: ignore[union-attr]
    assert trace.usage is not None
    assert trace.usage.calls == 1


def test_used_up_budget_is_not_a_fault_of_the_agent() -> None:
    async def run() -> None:
        async with ModelPool(budget=Budget(calls=0)):
            with pytest.raises(ModelError, match="budget of 0 calls"):
                await attempt_case(load_agent("scripted:hello"), Case(input="q"))

    asyncio.run(run())


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ModelError("timeout", "late", usage=Usage(calls=1)), Fault("timeout", "late")),
        (ModelError("refused", "no", usage=Usage(calls=1)), Fault("error", "no")),
        (ModelError("server", "down", usage=Usage(calls=1)), Fault("error", "down")),
    ],
)
def test_model_error_inside_of_an_agent_is_its_fault(error: ModelError, fault: Fault) -> None:
    async def agent(input: Any) -> str:  # noqa: A002
        raise error

    trace = asyncio.run(attempt_case(load_agent(agent), Case(input="q")))
    assert trace.fault == fault
    assert trace.usage == Usage(calls=1)
