"""Rewards through the real `vf.Task.score` of the newer verifiers, in three ways to place one.

Not collected by pytest.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import verifiers  # type: ignore[import-not-found]
import verifiers.v1 as vf  # type: ignore[import-not-found]
from verifiers.v1.configs.agent import WireAgentConfig  # type: ignore[import-not-found]
from verifiers.v1.configs.task import RewardFunctionConfig  # type: ignore[import-not-found]
from verifiers.v1.errors import TaskError  # type: ignore[import-not-found]
from verifiers.v1.graph import MessageNode  # type: ignore[import-not-found]
from verifiers.v1.trace import AgentInfo, TraceTask  # type: ignore[import-not-found]
from verifiers.v1.types import AssistantMessage, UserMessage  # type: ignore[import-not-found]

from fourscore.integrations.verifiers import TaskReward

score = TaskReward("math")


class Data(vf.TaskData):  # type: ignore[misc]
    answer: str | None = None


class Method(vf.Task[Data]):  # type: ignore[misc]
    @vf.reward  # type: ignore[untyped-decorator]
    async def math(self, trace: vf.Trace) -> float:
        return await score(self.data, trace)


class Attribute(vf.Task[Data]):  # type: ignore[misc]
    math = vf.reward(TaskReward("math"))


class Plugged(vf.Task[Data]):  # type: ignore[misc]
    """Its reward is named in the configuration."""


def trace_of(task: Any, reply: str) -> Any:
    nodes = [
        MessageNode(message=UserMessage(content="1 + 1?")),
        MessageNode(message=AssistantMessage(content=reply), parent=0, sampled=True),
    ]
    recorded = TraceTask(type=type(task).__name__, data=task.data)
    return vf.Trace(task=recorded, agent=AgentInfo(config=WireAgentConfig()), nodes=nodes)


async def failure(task: Any, trace: Any) -> str:
    try:
        await task.score(trace)
    except TaskError as error:
        return str(error)
    return ""


async def check(kind: Any, config: Any = None) -> None:
    for reply, reward in ((r"It is \boxed{2}.", 1.0), (r"\boxed{3}", 0.0)):
        task = kind(Data(prompt="1 + 1?", answer="2"), config)
        trace = trace_of(task, reply)
        await task.score(trace)
        assert trace.reward == reward
        assert trace.rewards["math"].score == reward
        judged = {
            "fourscore_judged": 1.0,
            "fourscore_passed": reward,
            "fourscore_signal_math": reward,
        }
        assert trace.metrics == judged, trace.metrics
    task = kind(Data(prompt="1 + 1?"), config)
    trace = trace_of(task, r"\boxed{2}")
    assert "no reference answer" in await failure(task, trace)
    assert trace.rewards == {"math": None}, "not judged, and not a 0"
    assert trace.metrics["fourscore_judged"] == 0.0
    assert trace.metrics["fourscore_signal_math"] is None
    trace.to_record()


def main() -> int:
    asyncio.run(check(Method))
    asyncio.run(check(Attribute))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rewards.py")
        file.write_text(
            "from fourscore.integrations.verifiers import TaskReward\nmath = TaskReward('math')\n"
        )
        plugged = {"math": RewardFunctionConfig(fn=f"{file}:math")}
        asyncio.run(check(Plugged, vf.TaskConfig(rewards=plugged)))
    done = "vf.Task.score: method, attribute, configuration"
    print(json.dumps({"run": done, "verifiers": verifiers.__version__}))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
