"""An evolution of many steps, a line of the log each: run it, cut it off anywhere, go on.

`python scenario.py FOLDER` goes on from where the folder stands and prints a line after each step.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fourscore.evolve.decision import Decision, decide_by_pairs
from fourscore.evolve.folder import Evolution
from fourscore.stats.sequential import SequentialPlan

BEGAN = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
SETTINGS = "budget: 40\nkeep: 5\nlimits:\n  cool_down: 0\n"
WON = decide_by_pairs([(40.0, 90.0), (50.0, 95.0)] * 20, SequentialPlan(budget=40))
LOST = decide_by_pairs([(90.0, 20.0), (80.0, 20.0)] * 20)
BRANCHED = Decision(rule="literal", accepted=True, reason="exploration", delta=-1.0)


def text(number: int) -> str:
    return f"Version {number}: answer in {{language}}.\n" * number


def added(evolution: Evolution) -> None:
    number = evolution.history.next_number
    evolution.add(text(number), strategy="step_reorder", risk="low", why="the steps")


def decided(decision: Decision) -> Callable[[Evolution], object]:
    def step(evolution: Evolution) -> None:
        assert evolution.pending is not None
        evolution.decide(evolution.pending.number, decision)

    return step


STEPS: list[Callable[[Evolution], object]] = [
    lambda evolution: evolution.record_execution(60.0, n=10),
    added,
    decided(WON),
    lambda evolution: evolution.record_execution(70.0, error_rate=0.1, n=10),
    added,
    decided(LOST),
    added,
    decided(BRANCHED),
    lambda evolution: evolution.add_note("plan", {"seed": 3}),
    added,
    lambda evolution: evolution.withdraw(5, "too long"),
    added,
    decided(WON),
    lambda evolution: evolution.record_execution(20.0, n=1000),
    lambda evolution: evolution.rollback(),
    added,
    decided(LOST),
    added,
    decided(LOST),
    added,
    decided(LOST),
    lambda evolution: evolution.rollback(1, why="a person says so"),
    lambda evolution: evolution.decide(4, WON),
    lambda evolution: evolution.promote(3, "by hand"),
]


class Clock:
    """The same step has the same time, whenever it is done."""

    def __init__(self) -> None:
        self.step = 0

    def __call__(self) -> datetime:
        return BEGAN + timedelta(minutes=self.step)


def begun(folder: Path) -> bool:
    log = folder / "log.jsonl"
    return log.exists() and b"\n" in log.read_bytes()


def go_on(
    folder: Path, lines: Callable[[int], None] = lambda _: None, steps: int = len(STEPS)
) -> Evolution:
    """From where it stands to the end; the caller closes it."""
    clock = Clock()
    if begun(folder):
        evolution = Evolution(folder, now=clock)
    else:
        evolution = Evolution.begin(folder, text(1), SETTINGS, source="p.md", now=clock)
    try:
        while evolution.history.lines <= steps:
            clock.step = evolution.history.lines
            STEPS[(clock.step - 1) % len(STEPS)](evolution)
            lines(clock.step)
    except BaseException:
        evolution.close()  # as the kernel does when a process ends
        raise
    return evolution


if __name__ == "__main__":

    def lines(step: int) -> None:
        print(step, flush=True)  # noqa: T201

    go_on(Path(sys.argv[1]), lines).close()
