"""Rewards through the real `vf.Rubric` of the older verifiers (0.1), one by one and in groups.

Not collected by pytest.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import verifiers as vf  # type: ignore[import-not-found]
from datasets import Dataset  # type: ignore[import-not-found]
from verifiers.utils.save_utils import state_to_output  # type: ignore[import-not-found]

from fourscore.core import Case, Signal, Trace
from fourscore.integrations.verifiers import rubric_arguments

os.environ["NOBODY"] = "needs no key"
NOBODY = vf.ClientConfig(api_key_var="NOBODY", api_base_url="http://127.0.0.1:9")  # never asked


class Shortest:
    """A ranker: the shorter answer is the better one."""

    name = "shortest"

    async def rank(self, case: Case, traces: Sequence[Trace]) -> list[Signal]:
        order = sorted({len(trace.answer) for trace in traces})
        last = max(1, len(order) - 1)
        values = [1 - order.index(len(trace.answer)) / last for trace in traces]
        return [Signal(name=self.name, value=value, relative=True) for value in values]


async def states(env: Any, *rows: tuple[str, Any]) -> list[Any]:
    """Rollouts as the environment makes them, with a completion in place of a model's."""
    made = []
    for text, answer in rows:
        row = {
            "prompt": [{"role": "user", "content": "1 + 1?"}],
            "answer": answer,
            "info": {"task_id": "sum"},
            "example_id": 0,
        }
        state = await env.init_state(row, client=NOBODY, model="none")
        state["completion"] = [vf.AssistantMessage(content=text)]
        made.append(state)
    return made


async def main() -> int:
    data = Dataset.from_list([{"question": "1 + 1?", "answer": "2"}])
    env = vf.SingleTurnEnv(dataset=data, rubric=vf.Rubric(**rubric_arguments("math")))
    rollouts = await states(env, (r"\boxed{2}", "2"), (r"\boxed{3}", "2"), (r"\boxed{2}", ""))
    for state in rollouts:
        await env.rubric.score_rollout(state)
    assert [state["reward"] for state in rollouts] == [1.0, 0.0, 0.0]
    assert [state["metrics"]["fourscore_judged"] for state in rollouts] == [1.0, 1.0, 0.0]
    assert len({tuple(state["metrics"]) for state in rollouts}) == 1
    assert [state["error"] is None for state in rollouts] == [True, True, False]
    assert isinstance(rollouts[2]["error"], vf.Error)
    state_to_output(rollouts[2], [])  # a failure is saved like any other

    group = await states(env, (r"\boxed{2}", "2"), (r"\boxed{3}", "2"))
    await vf.Rubric(**rubric_arguments("math")).score_group(group)
    assert [state["advantage"] for state in group] == [0.5, -0.5]

    ranked = vf.Rubric(**rubric_arguments(Shortest()))
    group = await states(env, ("long answer", "2"), ("short", "2"), ("middling", "2"))
    await ranked.score_group(group)
    assert [state["reward"] for state in group] == [0.0, 1.0, 0.5]
    done = "vf.Rubric: rollouts, a group, a ranked group"
    print(json.dumps({"run": done, "verifiers": vf.__version__}))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
