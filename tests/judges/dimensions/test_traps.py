"""Pairs of question and answer by somebody who had not seen the rules, most of them traps.

`least` and `most` are what a careful reader gives, set down before the first run. Those that are
still missed say so: one that comes right has to lose the mark.
"""

import asyncio
from pathlib import Path

import pytest

from rubrica.core import Case
from rubrica.judges.protocol import load
from rubrica.phases.agent_recorded import RecordedAgent
from rubrica.readers.cases import CaseFile

PAIRS = list(CaseFile(Path(__file__).parents[2] / "labelled/traps/pairs.jsonl").cases())


@pytest.mark.parametrize("case", PAIRS, ids=[case.id for case in PAIRS])
def test_traps(case: Case) -> None:
    told = case.metadata
    judge = load(told["dimension"])
    (signal,) = asyncio.run(judge.judge(case, RecordedAgent().replay(case)))
    assert signal.value is not None, signal.reason
    right = told["least"] - 1e-9 <= signal.value <= told["most"] + 1e-9
    assert right != told.get("missed", False), f"{signal.value}: {signal.reason}"


def test_few_are_missed() -> None:
    assert len(PAIRS) >= 130
    assert sum(bool(case.metadata.get("missed")) for case in PAIRS) <= 5
