"""A model as a judge, against people: which of two answers is better, and is each one right?

    python benchmarks/llmbar.py llmbar_natural.json --model openai:NAME --base-url URL
    python benchmarks/llmbar.py llmbar_natural.json --gguf model.gguf --items 100

The file is LLMBar's natural set: an instruction, two outputs, and the one that people agree is
better. Pairs are compared in both orders; each output is also judged alone, by one criterion. With
`--brief` each output is only judged alone, in the brief form, as small models need it.
With `--gguf` a llama.cpp server is started on loopback (`pip install xllamacpp`).
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
from llama import serve_llama

from fourscore.core import Case, FourscoreError, Trace
from fourscore.judges.llm.criteria import Criteria
from fourscore.judges.llm.pairwise import Pairwise
from fourscore.stats.intervals import wilson

CRITERION = "The answer does what the instruction asks, and what it says is right."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="openai:local")
    parser.add_argument("--base-url")
    parser.add_argument("--gguf")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--brief", action="store_true", help="each output alone, in few words")
    args = parser.parse_args()
    rows = msgspec.json.decode(args.file.read_bytes())[: args.items]
    with serve_llama(args.gguf, args.threads) if args.gguf else nullcontext(args.base_url) as url:
        settings: dict[str, Any] = {
            "timeout": 900.0,
            "deadline": 3600.0,
            "hedge": False,
            "concurrency": 1,
        }
        if url:
            settings["base_url"] = url
        asyncio.run(measure(rows, args.model, settings, args.brief))


async def measure(
    rows: Sequence[dict[str, Any]], model: str, settings: dict[str, Any], brief: bool
) -> None:
    options: dict[str, Any] = {
        "model": model,
        "settings": settings,
        "max_tokens": 300,
        "bind": "schema",
    }
    pairwise = Pairwise(**options)
    alone = Criteria(**options, criteria=(CRITERION,), soft=True, form="brief" if brief else "full")
    right = tied = turned = failed = 0
    yes: list[tuple[float, bool]] = []
    likelier = 0.0
    start = time.perf_counter()
    for done, row in enumerate(rows, 1):
        case = Case(input=row["input"])
        traces = [Trace(output=row["output_1"]), Trace(output=row["output_2"])]
        best = row["label"] - 1
        try:
            compared = None if brief else await pairwise.compare(case, traces, 0, 1)
            values = [(await alone.judge(case, trace))[0].value or 0.0 for trace in traces]
        except FourscoreError as error:
            failed += 1
            print(f"{done}: {error}", file=sys.stderr)
            continue
        if compared is not None:
            won = compared.won if best == 0 else 1 - compared.won
            right, tied, turned = (
                right + (won == 1),
                tied + (won == 0.5),
                turned + compared.is_order_dependent,
            )
        yes += [(values[best], True), (values[1 - best], False)]
        likelier += (
            0.5 + 0.5 * (values[best] > values[1 - best]) - 0.5 * (values[best] < values[1 - best])
        )
        print(f"{done} of {len(rows)}, {time.perf_counter() - start:.0f} s", file=sys.stderr)
    n = len(rows) - failed
    print(f"{n} items, {failed} without a verdict, {time.perf_counter() - start:.0f} s")
    if not brief:
        wrong = n - right - tied
        print(f"pairs: right {share(right, n)}, tied {share(tied, n)}, wrong {share(wrong, n)}")
        print(f"pairs: the verdict changed with the order in {share(turned, n)}")
    exact = sum((value > 0.5) == good for value, good in yes)
    positive = sum(value > 0.5 for value, _ in yes)
    print(f"yes or no, each alone: right {share(exact, len(yes))}; yes {share(positive, len(yes))}")
    print(f"the better one is the likelier yes: {likelier:g} of {n}")


def share(count: int, n: int) -> str:
    low, high = wilson(count, n)
    return f"{count} of {n} = {count / n:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
