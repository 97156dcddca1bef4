"""Fitness of recorded runs of an airline agent, and whether it correlates with success.

The file is a list of runs as tau-bench writes them: `task_id`, `trial`, `reward` (0 or 1) and
`traj`, the messages in OpenAI's format. There are no times and no exit codes in it: efficiency goes
by the number of calls, and a call has failed where its answer is an error. Reward is about the end
state of a database, which no signal here sees: the AUC says how much they have in common, beside
two baselines that need no judge. Its interval resamples tasks, because the trials of a task are not
independent.

    python benchmarks/tau_fitness.py airline_trajectories.json
"""

import argparse
import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tau_tools import Run, auc, baselines, interval, show_area

from fourscore.core import Case, Score, Signal, score
from fourscore.evolve.fitness.document import make_document
from fourscore.evolve.fitness.log import score_log
from fourscore.formats.logs.log_file import LogFile
from fourscore.judges.fitness.rubric import GRADES, get_fitness, grade_of, make_fitness_rubric


async def scored(path: Path, rows: list[dict[str, Any]]) -> list[Score]:
    rubric, found = make_fitness_rubric(), []
    for row, trace in zip(rows, LogFile(str(path)).traces(), strict=True):
        case = Case(id=f"{row['task_id']}/{row['trial']}", input="airline", complexity="complex")
        found += await score(rubric, case, [trace])
    return found


def area(rows: list[dict[str, Any]], signals: list[Signal]) -> str:
    runs = [
        Run(str(row["task_id"]), row["reward"] >= 1, signal, 0)
        for row, signal in zip(rows, signals, strict=True)
        if signal.value is not None
    ]
    found = auc([(run.good, run.signal.value or 0.0) for run in runs])
    low, high = interval(runs)
    return f"AUC {found:.3f} [{low:.3f}, {high:.3f}] n={len(runs)}"


def main() -> None:
    parser = argparse.ArgumentParser(description="fitness of tau-bench's runs")
    parser.add_argument("file", type=Path)
    args = parser.parse_args()
    rows = json.loads(args.file.read_text())
    start = time.process_time()
    scores = asyncio.run(scored(args.file, rows))
    seconds = time.process_time() - start
    values = [get_fitness(each) or 0.0 for each in scores]
    for name, good in (("reward 1", True), ("reward 0", False)):
        part = [v for v, row in zip(values, rows, strict=True) if (row["reward"] >= 1) is good]
        grades = Counter(grade_of(value).letter for value in part)
        line = "  ".join(f"{grade.letter} {grades[grade.letter]}" for grade in GRADES)
        print(f"{name}  n={len(part):3}  mean {sum(part) / len(part):.2f}  {line}")
    whole = [Signal(name="fitness", value=each.value) for each in scores]
    print(f"{'fitness':18} {area(rows, whole)}")
    for place, signal in enumerate(scores[0].signals):
        each = [found.signals[place] for found in scores]
        known = [s.value for s in each if s.value is not None]
        mean = sum(known) / max(1, len(known))
        print(f"{signal.name:18} {area(rows, each)}  mean {mean:.3f}")
    for name, runs in baselines(rows).items():
        show_area(name, runs)
    document = make_document(asyncio.run(score_log(str(args.file), make_fitness_rubric())))
    counts = document["counts"]
    print(
        f"fourscore score: {document['score']} {document['grade']}, {counts['tool_calls']} calls, ",
        end="",
    )
    print(f"{counts['failed']} failed, {counts['unknown']} unknown, {counts['retries']} retries")
    print(f"{len(rows) / seconds:,.0f} runs a second of CPU time, read and scored")


if __name__ == "__main__":
    main()
