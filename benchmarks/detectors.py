"""How well and how fast the text detectors of fitness are, on the labelled outputs.

`worked` is what the rules were written against; `frozen` is what nobody looked at while writing
them. Figures are counts, so each has its n and Wilson's interval.

    python benchmarks/detectors.py                # both parts, then speed
    python benchmarks/detectors.py --part worked
    python benchmarks/detectors.py --no-speed
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rubrica.judges.fitness import detectors
from rubrica.stats.rates import wilson

LABELLED = Path(__file__).parents[1] / "tests" / "labelled" / "detectors"
DETECTORS: dict[str, Callable[[str, str], bool]] = {
    "direct_answer": detectors.has_direct_answer,
    "explanation": detectors.has_explanation,
    "next_steps": lambda output, _request: detectors.has_next_steps(output),
    "follows_format": detectors.follows_format,
    "syntax_error": lambda output, _request: detectors.has_syntax_errors(output),
    "error_pattern": lambda output, _request: detectors.has_obvious_errors(output),
    "code_block": lambda output, _request: detectors.has_code_block(output),
}


class Item(NamedTuple):
    """One labelled output."""

    id: str
    request: str
    output: str
    labels: dict[str, bool]


class Counts(NamedTuple):
    """What a detector got right and wrong."""

    right: int
    false_alarms: int
    missed: int
    silent: int

    def precision(self) -> tuple[float, float, float]:
        return _rate(self.right, self.right + self.false_alarms)

    def recall(self) -> tuple[float, float, float]:
        return _rate(self.right, self.right + self.missed)


def _rate(hits: int, n: int) -> tuple[float, float, float]:
    return (hits / n if n else 0.0, *wilson(hits, n))


def items(part: str) -> list[Item]:
    rows = []
    with (LABELLED / f"{part}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows.append(Item(row["id"], row["request"], row["output"], row["labels"]))
    return rows


def counts(name: str, rows: list[Item]) -> Counts:
    """How a detector does on the items that are labelled for it."""
    found = [
        (DETECTORS[name](row.output, row.request), row.labels[name])
        for row in rows
        if name in row.labels
    ]
    return Counts(
        sum(said and true for said, true in found),
        sum(said and not true for said, true in found),
        sum(true and not said for said, true in found),
        sum(not said and not true for said, true in found),
    )


def accuracy(part: str) -> None:
    rows = items(part)
    print(f"{part}: {len(rows)} outputs")
    for name in DETECTORS:
        got = counts(name, rows)
        p, r = got.precision(), got.recall()
        print(
            f"  {name:14}  precision {p[0]:.3f} [{p[1]:.3f}, {p[2]:.3f}]"
            f"  recall {r[0]:.3f} [{r[1]:.3f}, {r[2]:.3f}]"
            f"  n = {got.right + got.missed}+ {got.false_alarms + got.silent}-"
        )


def speed(seconds: float = 0.5) -> None:
    """Outputs a second: the worked set, each output once, over and over."""
    rows = items("worked")
    print("outputs a second, median of 3 (worked set: every second output is a treacherous one)")
    for name, detector in DETECTORS.items():
        print(f"  {name:14}  {_per_second(detector, rows, seconds):12,.0f}")
    log = "Reading package lists: 17 packages in 3.4 s, building tree, all of them up to date. " * 3
    plain = [Item("", "", f"{i} {log}"[:200], {}) for i in range(2_000)]
    rate = _per_second(DETECTORS["error_pattern"], plain, seconds)
    print(f"  error_pattern   {rate:12,.0f}  on clean outputs of 200 characters")


def _per_second(detector: Callable[[str, str], bool], rows: list[Item], seconds: float) -> float:
    rates = []
    for row in rows:
        detector(row.output, row.request)
    for _ in range(3):
        done = 0
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            for row in rows:
                detector(row.output, row.request)
            done += len(rows)
        rates.append(done / spent)
    return sorted(rates)[1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--part", choices=["worked", "frozen"])
    arguments.add_argument("--no-speed", action="store_true")
    chosen = arguments.parse_args()
    for part in [chosen.part] if chosen.part else ["worked", "frozen"]:
        accuracy(part)
    if not chosen.no_speed:
        speed()


if __name__ == "__main__":
    main()
