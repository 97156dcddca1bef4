"""Whether `tool_efficiency` correlates with success, on recorded runs of an airline agent.

The file is a list of runs as tau-bench writes them: `task_id`, `trial`, `reward` (0 or 1) and
`traj`, the messages in OpenAI's format. The cases name no expected tools and no budget, so only
repeats, loops and errors count; reward is about the end state of a database, which is another
question. Beside it, in the same run, two baselines: fewer calls are better, and fewer of the calls
have "error" in their result. The interval of an AUC resamples tasks, because the trials of a task
are not independent.

    python benchmarks/tau_tools.py airline_trajectories.json
"""

import argparse
import asyncio
import json
import random
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from fourscore.core import Case, Signal, Trace
from fourscore.core.levels import LEVELS
from fourscore.core.trace import as_text
from fourscore.formats.chat_messages import read_messages
from fourscore.judges.dimensions.tool_efficiency import ToolEfficiency

RESAMPLES = 2000


class Run(NamedTuple):
    task: str
    good: bool
    signal: Signal
    calls: int


def auc(pairs: list[tuple[bool, float]]) -> float | None:
    """Return how often a successful run has a higher value than a failed one; ties count half."""
    good = Counter(value for is_good, value in pairs if is_good)
    bad = Counter(value for is_good, value in pairs if not is_good)
    total = good.total() * bad.total()
    won = sum(n * m * ((v > w) + (v == w) / 2) for v, n in good.items() for w, m in bad.items())
    return won / total if total else None


def interval(runs: list[Run]) -> tuple[float, float]:
    by_task: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append((run.good, run.signal.value or 0.0))
    tasks, chance = list(by_task.values()), random.Random(1)
    found = []
    for _ in range(RESAMPLES):
        drawn = [pair for task in chance.choices(tasks, k=len(tasks)) for pair in task]
        each = auc(drawn)
        if each is not None:
            found.append(each)
    found.sort()
    return found[int(0.025 * len(found))], found[int(0.975 * len(found))]


def judged(rows: list[dict[str, Any]]) -> tuple[list[Run], float]:
    traces = [read_messages(row["traj"]) for row in rows]
    start = time.perf_counter()
    signals = asyncio.run(_signals(rows, traces))
    seconds = time.perf_counter() - start
    runs = [
        Run(str(row["task_id"]), row["reward"] >= 1, signal, len(trace.tool_calls))
        for row, trace, signal in zip(rows, traces, signals, strict=True)
    ]
    return runs, seconds


async def _signals(rows: list[dict[str, Any]], traces: list[Trace]) -> list[Signal]:
    judge = ToolEfficiency()
    signals: list[Signal] = []
    for row, trace in zip(rows, traces, strict=True):
        case = Case(id=f"{row['task_id']}/{row['trial']}", input="airline")
        signals += await judge.judge(case, trace)
    return signals


def baselines(rows: list[dict[str, Any]]) -> dict[str, list[Run]]:
    """Return the runs with calls, with the values of two baselines that need no judge."""
    found: dict[str, list[Run]] = {"fewer calls": [], '"error" in results': []}
    for row in rows:
        calls = read_messages(row["traj"]).tool_calls
        if not calls:
            continue
        errors = sum("error" in as_text(call.result or call.error).lower() for call in calls)
        for name, value in zip(found, (1 / len(calls), 1 - errors / len(calls)), strict=True):
            signal = Signal(name=name, value=value)
            found[name].append(Run(str(row["task_id"]), row["reward"] >= 1, signal, len(calls)))
    return found


def show_area(name: str, runs: list[Run]) -> None:
    area = auc([(run.good, run.signal.value or 0.0) for run in runs])
    low, high = interval(runs)
    print(f"{name:20} AUC {area:.3f}, 95 % by task [{low:.3f}, {high:.3f}], n={len(runs)}")


def show(name: str, runs: list[Run]) -> None:
    values = [run.signal.value for run in runs if run.signal.value is not None]
    counts = Counter(run.signal.level or "no tool used" for run in runs)
    levels = "  ".join(f"{level} {counts[level]}" for level in (*LEVELS, "no tool used"))
    mean = sum(values) / len(values) if values else float("nan")
    calls = sum(run.calls for run in runs) / max(1, len(runs))
    print(f"{name:9} n={len(runs):3}  mean {mean:.3f}  calls {calls:4.1f}  {levels}")


def main() -> None:
    parser = argparse.ArgumentParser(description="tool_efficiency on tau-bench's runs")
    parser.add_argument("file", type=Path)
    parser.add_argument("--worst", type=int, default=0, help="print the reasons of the worst runs")
    args = parser.parse_args()
    rows = json.loads(args.file.read_text())
    runs, seconds = judged(rows)
    show("reward 1", [run for run in runs if run.good])
    show("reward 0", [run for run in runs if not run.good])
    measured = [run for run in runs if run.signal.value is not None]
    for name, each in {"tool_efficiency": measured, **baselines(rows)}.items():
        show_area(name, each)
    print(f"{len(runs) / seconds:,.0f} runs a second")
    for run in sorted(measured, key=lambda run: run.signal.value or 0.0)[: args.worst]:
        print(
            f"task {run.task}, reward {int(run.good)}, {run.signal.value:.2f}: {run.signal.reason}"
        )


if __name__ == "__main__":
    main()
