"""The five rule judges against the levels that careful readers gave.

`worked.jsonl` is what the judges were written against. `frozen.jsonl` was put aside before they
were written, and says how they do on what nobody looked at.
"""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from rubrica.core.levels import FLOORS
from rubrica.judges.protocol import load
from rubrica.phases.agent_recorded import RecordedAgent
from rubrica.readers.cases import CaseFile

LABELLED = Path(__file__).parents[2] / "labelled"
LEVELS = tuple(FLOORS)
DIMENSIONS = (
    "factual_accuracy",
    "completeness",
    "citation_accuracy",
    "source_quality",
    "tool_efficiency",
)
#: Exact levels asked for on what nobody looked at, and items that may be more than one level off.
FROZEN, FAR = 0.70, 0.05
#: One is further off than that by itself, where things are told in words that no list has. What it
#: does reach is held here, so that it gets no worse unseen.
FARTHER = {"completeness": 0.08}


class Table:
    """How often each level was given where another one was right."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[tuple[str, str]] = Counter()
        self.missed: list[str] = []

    def add(self, item: str, right: str, given: str) -> None:
        self.counts[right, given] += 1
        if right != given:
            self.missed.append(f"{item}: {right}, judged {given or 'not applicable'}")

    @property
    def exact(self) -> float:
        return sum(n for (right, given), n in self.counts.items() if right == given) / self.total

    @property
    def far(self) -> float:
        """The share more than one level off; not to apply is as far as can be."""
        off = 0
        for (right, given), n in self.counts.items():
            near = given and abs(LEVELS.index(right) - LEVELS.index(given)) <= 1
            off += 0 if near else n
        return off / self.total

    @property
    def total(self) -> int:
        return self.counts.total()

    def __str__(self) -> str:
        given = (*LEVELS, "")
        head = " " * 12 + "".join(f"{level or 'none':>12}" for level in given)
        rows = [
            f"{right:12}" + "".join(f"{self.counts[right, each] or '.':>12}" for each in given)
            for right in LEVELS
        ]
        share = f"{self.name}: exact {self.exact:.3f}, more than one off {self.far:.3f}"
        return "\n".join(("", share, "right below, given across", head, *rows, *self.missed))


def judged(name: str, file: str) -> Table:
    judge, agent, table = load(name), RecordedAgent(), Table(f"{name}/{file}")

    async def all_of_it() -> None:
        for case in CaseFile(LABELLED / name / file).cases():
            (signal,) = await judge.judge(case, agent.replay(case))
            assert signal.fault is None, f"{case.id}: {signal.fault}"
            table.add(case.id, case.metadata["level"], signal.level)

    asyncio.run(all_of_it())
    return table


@pytest.mark.parametrize("name", DIMENSIONS)
def test_worked(name: str) -> None:
    table = judged(name, "worked.jsonl")
    assert table.total >= 50
    assert table.exact >= 0.85, str(table)
    assert table.far <= FAR, str(table)


@pytest.mark.parametrize("name", DIMENSIONS)
def test_frozen_third(name: str) -> None:
    table = judged(name, "frozen.jsonl")
    table.missed.clear()  # whoever changes a judge does not get to see which
    assert table.total >= 25
    assert table.exact >= FROZEN, str(table)
    assert table.far <= FARTHER.get(name, FAR), str(table)


def test_all_of_the_frozen_third() -> None:
    whole = Table("frozen")
    for name in DIMENSIONS:
        whole.counts += judged(name, "frozen.jsonl").counts
    assert whole.total >= 125
    assert whole.exact >= FROZEN, str(whole)
    assert whole.far <= FAR, str(whole)


def test_the_table() -> None:
    table = Table("t")
    for item, right, given in (("a", "good", "good"), ("b", "good", "poor"), ("c", "poor", "")):
        table.add(item, right, given)
    assert (table.total, table.exact, table.far) == (3, 1 / 3, 2 / 3)
    assert "b: good, judged poor" in str(table)
