"""Atomic facts against the biographies they came from, and against those of other people.

    python benchmarks/factscore.py factscore_chatgpt.jsonl

The file is the one of google-deepmind/long-form-factuality (FActScore): each row has an `output`
and the facts that people took from it. All of them are stated in their own output, whether they are
true or not; hardly any is in an output about somebody else.
"""

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from fourscore.judges.reader.support import judge_claims
from fourscore.judges.reader.text import Text

#: Facts of a row that are tried on other outputs, and how far away those are.
_STEPS = (1, 7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", type=int, default=0, help="facts of each surprise to print")
    options = parser.parse_args()
    rows = [msgspec.json.decode(line) for line in options.file.read_bytes().splitlines() if line]
    outputs = [Text(row["output"]) for row in rows]
    facts = [_facts(row) for row in rows]
    start = time.perf_counter()
    own, shown = _compare(rows, facts, outputs, 0, ["not stated", "contradicted"])
    print(f"own output: {_shares(own)}, {sum(own.values()) / (time.perf_counter() - start):.0f}/s")
    _print(shown, options.show)
    other: Counter[str] = Counter()
    for step in _STEPS:
        counts, shown = _compare(rows, facts, outputs, step, ["supported", "contradicted"])
        other += counts
        _print(shown, options.show)
    print(f"other output: {_shares(other)}")


def _facts(row: dict[str, Any]) -> list[str]:
    found = [note.get("human-atomic-facts") or [] for note in row.get("annotations") or []]
    return [fact["text"] for facts in found for fact in facts if fact["text"].strip()]


def _compare(
    rows: list[dict[str, Any]],
    facts: list[list[str]],
    outputs: list[Text],
    step: int,
    surprises: list[str],
) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    shown: list[str] = []
    for number, row in enumerate(rows):
        text = outputs[(number + step) % len(outputs)]
        # Of another person nothing is given: the question was about this one.
        question = row["input"] if not step else ""
        for fact in facts[number]:
            (found,) = judge_claims([fact], text, question)
            counts[found.kind] += 1
            if found.kind in surprises:
                by = text.raw[found.start : found.end]
                shown.append(f"  {found.kind} ({found.support:.0%}): {fact} <- {by}")
    return counts, shown


def _shares(counts: Counter[str]) -> str:
    total = sum(counts.values())
    kinds = ("supported", "contradicted", "not stated")
    return ", ".join(f"{kind} {counts[kind] / total:.1%}" for kind in kinds) + f" of {total}"


def _print(shown: list[str], most: int) -> None:
    for line in shown[:: max(1, len(shown) // most)][:most] if most else ():
        print(line)


if __name__ == "__main__":
    main()
