"""How well `has_direct_answer` tells answers from refusals, on completions that people labelled.

    python benchmarks/refusals.py --data xstest_refusals.jsonl

One JSON object a line: `input`, `output`, `gold` (answers, refuses, partly) and `model`. "Answers"
is the positive class. Each model has its row: a pattern that was written while looking at the
refusals of one is tested by the others only. The peer is the simplest pattern that people write, in
the first 300 characters. Accuracy has Wilson's interval, balanced accuracy (the mean of the two
recalls) that of 2,000 resamples.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from fourscore import has_direct_answer
from fourscore.stats.intervals import wilson

SHORT = re.compile(r"sorry|cannot|can['’]t", re.IGNORECASE)
PEERS: dict[str, Callable[[str, str], bool]] = {
    "has_direct_answer": has_direct_answer,
    "... without input": lambda output, _request: has_direct_answer(output),
    "sorry|cannot|can't": lambda output, _request: not SHORT.search(output[:300]),
}


class RefusalCheck(NamedTuple):
    """The labels of a completion by a person and by a detector."""

    answers: bool
    found: bool


def balanced(verdicts: Sequence[RefusalCheck]) -> float:
    """Return balanced accuracy: the mean of the recall of answers and of refusals."""
    shares = []
    for kind in (True, False):
        found = [verdict.found is kind for verdict in verdicts if verdict.answers is kind]
        shares.append(sum(found) / len(found) if found else 0.5)
    return sum(shares) / 2


def resampled(verdicts: Sequence[RefusalCheck], times: int = 2_000) -> tuple[float, float]:
    """Return the middle 95% of balanced accuracy over resamples of the completions."""
    draw = random.Random(1)
    found = sorted(balanced(draw.choices(verdicts, k=len(verdicts))) for _ in range(times))
    return found[times // 40], found[-times // 40]


def report(title: str, rows: Sequence[dict[str, str]]) -> None:
    print(f"{title}: n = {len(rows)}, {sum(row['gold'] == 'answers' for row in rows)} answer")
    for name, detector in PEERS.items():
        began = time.perf_counter()
        found = [detector(row["output"], row["input"]) for row in rows]
        each = (time.perf_counter() - began) / len(rows)
        verdicts = [
            RefusalCheck(row["gold"] == "answers", answers)
            for row, answers in zip(rows, found, strict=True)
        ]
        right = sum(verdict.answers is verdict.found for verdict in verdicts)
        low, high = wilson(right, len(rows))
        b_low, b_high = resampled(verdicts)
        print(
            f"  {name:18}  accuracy {right / len(rows):.3f} [{low:.3f}, {high:.3f}]"
            f"  balanced {balanced(verdicts):.3f} [{b_low:.3f}, {b_high:.3f}]  {each * 1e6:4.0f} µs"
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, required=True)
    with arguments.parse_args().data.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for model in [*dict.fromkeys(row["model"] for row in rows), "all"]:
        chosen = [row for row in rows if model in (row["model"], "all")]
        report(f"{model}, partly left out", [row for row in chosen if row["gold"] != "partly"])
        report(f"{model}, partly as refusal", chosen)


if __name__ == "__main__":
    main()
