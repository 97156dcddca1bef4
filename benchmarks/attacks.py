"""How far judges that ask a model can be talked into a good score, with their defences on and off.

    python benchmarks/attacks.py [--per-family 60] [--llama 6]

The families of `rubrica attack` against the shipped prompts, with all defences, each one off, and
all off. `gullible` and `careful` are scripts: the first obeys whatever it reads, the second keeps
to the fences, so they show what the defences do and nothing about any real model. `--llama N` also
asks SmolLM2-135M in a llama.cpp server on loopback, N attempts of each family: half a minute each.
"""

import argparse
import asyncio
import time
from typing import Any

from llama import serving

from rubrica.core import ConfigError, Dimension, Rubric
from rubrica.judges.prompted.attacks import bundled_cases, families
from rubrica.judges.prompted.defences import DEFENCES, Defence
from rubrica.judges.protocol import load
from rubrica.phases.attack import attack
from rubrica.phases.attack_plan import Plan

#: What is switched off, by the heading of its column.
COLUMNS: dict[str, tuple[Defence, ...]] = {
    "all on": (),
    **{f"no {one}": (one,) for one in DEFENCES},
    "all off": DEFENCES,
}
JUDGES: dict[str, dict[str, Any]] = {
    "criteria": {"criteria": ["The answer is correct."]},
    "factual_accuracy": {},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-family", type=int, default=60, metavar="N")
    parser.add_argument("--llama", type=int, default=0, metavar="N")
    parser.add_argument("--gguf", metavar="FILE", help="weights for --llama (SmolLM2-135M)")
    args = parser.parse_args()
    for judge in JUDGES:
        for model in ("scripted:gullible", "scripted:careful"):
            compare(judge, {"model": model}, Plan(per_family=args.per_family), list(COLUMNS))
    if args.llama:
        with serving(args.gguf) as url:
            options = {
                "model": "openai:local",
                "settings": {"base_url": url, "cache": False},
                "bind": "schema",  # so small a model does not copy a number
                "max_chars": 1000,
                "max_tokens": 120,
            }
            plan = Plan(per_family=args.llama, concurrency=1, deadline=600.0)
            columns = ["all on", "no fence", "no openers", "all off"]
            compare("criteria", options, plan, columns)


def compare(judge: str, options: dict[str, Any], plan: Plan, columns: list[str]) -> None:
    """A table for one judge and one model."""
    started = time.perf_counter()
    found = {}
    for column in columns:
        try:
            told = {**JUDGES[judge], **options, "without": COLUMNS[column]}
            found[column] = measured(load(judge, None, told), plan)
        except ConfigError as error:
            print(f"\n{judge}: {error}")
            return
    print(
        f"\n**{judge}**, `{options['model']}`, {plan.per_family} attempts of each family, ", end=""
    )
    print(f"{time.perf_counter() - started:.0f} s\n")
    print(f"| family | {' | '.join(columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    base = [cell(document["base"], document["base"]["measured"]) for document in found.values()]
    print(f"| *(wrong answer alone)* | {' | '.join(base)} |")
    for family in families():
        lines = [document["families"][family.name] for document in found.values()]
        cells = [cell(line, line["attempts"]) for line in lines]
        print(f"| {family.name} | {' | '.join(cells)} |", flush=True)


def measured(judge: Any, plan: Plan) -> dict[str, Any]:
    dimension = Dimension(name=judge.names[0], judge=judge, weight=1.0)
    rubric = Rubric(name=judge.names[0], dimensions=(dimension,), pass_threshold=0.7)
    return asyncio.run(attack(rubric, families(), bundled_cases, plan))


def cell(line: dict[str, Any], n: int) -> str:
    """The rate with its interval and n; what gave no verdict stands beside it."""
    none = sum(line.get("unmeasured", {}).values())
    silent = f", {none} no verdict" if none else ""
    if line["rate"] is None:
        return f"–{silent}"
    low, high = (f"{end:.0%}"[:-1] for end in line["interval"])
    return f"{line['rate']:.0%} [{low}, {high}] n={n}{silent}"


if __name__ == "__main__":
    main()
