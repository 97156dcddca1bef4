"""`rubrica demo`: bundled outputs of imaginary agents, judged, with their rewards in a table."""

import argparse
import asyncio
import sys
from collections import Counter
from importlib import resources
from typing import Any

import msgspec

from rubrica.core import Score
from rubrica.doors.config import rubric_from_name
from rubrica.phases.recorded import Line
from rubrica.phases.train import rewards
from rubrica.readers.rows import Row, read_row

#: The demo is a demonstration, not a gate: rows that cannot be judged are part of it.
DONE = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one document on stdout")


def run(args: argparse.Namespace) -> int:
    judged = asyncio.run(_all_judged())
    statuses = Counter(str(score.status) for _, given in judged for score in given)
    if args.json:
        document = {
            "planned": sum(statuses.values()),
            "statuses": statuses,
            "rewards": [
                Line(row.case.id, index, score.reward, score.passed, score.status, score.reason)
                for row, given in judged
                for index, score in enumerate(given)
            ],
        }
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    else:
        _show(judged, statuses)
    return DONE


async def _all_judged() -> list[tuple[Row, list[Score]]]:
    text = resources.files("rubrica.doors").joinpath("demo/rows.jsonl").read_bytes()
    rubrics = {name: rubric_from_name(name, {}) for name in ("math", "countdown")}
    judged = []
    for line in text.splitlines():
        row = read_row(line)
        rubric = rubrics[row.case.metadata["kind"]]
        judged.append((row, await rewards(rubric, row.case, row.outputs)))
    return judged


def _show(judged: list[tuple[Row, list[Score]]], statuses: Counter[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Outputs are hostile: everything from a row goes through Text, never through markup.
    console = Console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("task", no_wrap=True)
    table.add_column("reward", no_wrap=True)
    table.add_column("answer", no_wrap=True, width=max(12, (console.width - 30) * 2 // 5))
    table.add_column("why", overflow="fold")
    for row, given in judged:
        for index, (output, score) in enumerate(zip(row.outputs, given, strict=True)):
            table.add_row(
                Text("" if index else row.case.id, style="bold"),
                _reward_text(score),
                Text(" ".join(output.trace.answer.split())),
                Text(score.reason),
                end_section=index == len(given) - 1,
            )
    console.print(table)
    parts = " + ".join(f"{n} {status}" for status, n in sorted(statuses.items()))
    console.print(f"{sum(statuses.values())} planned = {parts}", highlight=False)
    console.print("A row that could not be judged has no reward: it is not a 0.", highlight=False)
    console.print(
        "\nNext: rubrica judge --judge math --data YOUR_ROWS.jsonl   (a row in, a row out)",
        highlight=False,
        soft_wrap=True,
    )


def _reward_text(score: Score) -> Any:
    from rich.text import Text

    if score.reward is None:
        return Text("–", style="yellow")
    mark, style = ("✓", "green") if score.passed else ("✗", "red")
    return Text(f"{score.reward:.2f} {mark}", style=style)
