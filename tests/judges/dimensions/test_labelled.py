"""Regression examples: outputs with the levels that their authors gave them.

No claim of quality: people of this project wrote both outputs and levels, many of them to fit the
judges of their day. How good the judges are is measured on public data (docs/scoreboard.md). The
floors below are a little under what is reached, so that a change that moves many outputs is seen.
"""

import asyncio
from pathlib import Path

import pytest

from fourscore.agents.replay import RecordedAgent
from fourscore.core.levels import FLOORS
from fourscore.formats.cases import CaseFile
from fourscore.judges.loading import load_judge

LABELLED = Path(__file__).parents[2] / "labelled"
LEVELS = tuple(FLOORS)
#: Share of outputs with the exact level, and with that or a neighbouring one.
REACHED = {
    "factual_accuracy": (0.35, 0.60),
    "completeness": (0.12, 0.37),
    "citation_accuracy": (0.41, 0.66),
    "source_quality": (0.59, 0.74),
    "tool_efficiency": (0.74, 0.91),
}


#: Share of the traps whose value lies within what a careful reader gives.
TRAPS = 0.40


async def judge_outputs(name: str) -> list[int]:
    """How many levels each output is off; not to apply is as far as can be."""
    judge, agent, off = load_judge(name), RecordedAgent(), []
    for file in ("worked.jsonl", "frozen.jsonl"):
        for case in CaseFile(LABELLED / name / file).cases():
            (signal,) = await judge.judge(case, agent.replay(case))
            assert signal.fault is None, f"{case.id}: {signal.fault}"
            right = LEVELS.index(case.metadata["level"])
            given = LEVELS.index(signal.level) if signal.level else 2 * len(LEVELS)
            off.append(abs(right - given))
    return off


@pytest.mark.parametrize("name", REACHED)
def test_agreement_with_labelled_levels_does_not_fall(name: str) -> None:
    off = asyncio.run(judge_outputs(name))
    exact, near = (sum(one <= most for one in off) / len(off) for most in (0, 1))
    assert len(off) >= 75
    assert exact >= REACHED[name][0], (exact, near)
    assert near >= REACHED[name][1], (exact, near)


def test_accuracy_on_trap_pairs_does_not_fall() -> None:
    """Pairs of question and answer with the least and the most that a careful reader gives."""

    async def judge_pairs() -> list[bool]:
        right = []
        for case in CaseFile(LABELLED / "traps" / "pairs.jsonl").cases():
            judge = load_judge(case.metadata["dimension"])
            (signal,) = await judge.judge(case, RecordedAgent().replay(case))
            least, most = case.metadata["least"], case.metadata["most"]
            right.append(signal.value is not None and least <= signal.value + 1e-9 <= most + 2e-9)
        return right

    right = asyncio.run(judge_pairs())
    assert len(right) >= 130
    assert sum(right) / len(right) >= TRAPS, sum(right) / len(right)
