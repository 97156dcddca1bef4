"""The same output gets the same signal in every process: the order of sets, which Python shuffles
anew in each, must not reach a verdict, a reason or the evidence.
"""

import os
import subprocess
import sys
from pathlib import Path

LABELLED = Path(__file__).parents[2] / "labelled"
DIMENSIONS = (
    "factual_accuracy",
    "completeness",
    "citation_accuracy",
    "source_quality",
    "tool_efficiency",
)

#: Judges every worked example, and some sentences with several names that share a word.
_JUDGE_ALL = """
import asyncio, sys
from pathlib import Path
from fourscore.core import Case, Trace
from fourscore.judges.loading import load_judge
from fourscore.agents.replay import RecordedAgent
from fourscore.formats.cases import CaseFile

NAMED = (
    ("Shakespearean English pronunciation is different from modern English pronunciation.",
     "Shakespearean English, also known as Early Modern English, has a pronunciation of its own."),
    ("North River Bank opened an office in Port Ellery.",
     "South River Bank, West River Bank and the Old River Bank opened offices in Port Ellery."),
    ("Marie Curie won the prize in 1903.",
     "Pierre Curie, Irene Curie and Eve Curie were there when the prize was won in 1903."),
)

async def main():
    agent = RecordedAgent()
    for name in sys.argv[2:]:
        judge = load_judge(name)
        for case in CaseFile(Path(sys.argv[1]) / name / "worked.jsonl").cases():
            print(case.id, repr(await judge.judge(case, agent.replay(case))))
    judge = load_judge("factual_accuracy")
    for claim, output in NAMED:
        case, trace = Case(id=claim, input="", expected=claim), Trace(output=output)
        print(claim, repr(await judge.judge(case, trace)))

asyncio.run(main())
"""


def test_signals_do_not_depend_on_the_hash_seed() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _JUDGE_ALL, str(LABELLED), *DIMENSIONS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2", "5")
    ]
    first, *others = [run.communicate()[0].splitlines() for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert len(first) > 250
    for other in others:
        assert other == first
