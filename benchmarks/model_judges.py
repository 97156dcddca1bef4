"""A chat model as a judge, against people's labels: our judge beside the plain question.

    python benchmarks/model_judges.py --data FOLDER --model-file model.gguf
    python benchmarks/model_judges.py --data FOLDER --model openai:NAME --base-url URL

FOLDER holds fever_symmetric.jsonl, truthfulqa.jsonl and evouna_nq.jsonl: `input`, `claims` or
`answers` (any of them), `output`, and `gold`, which is `supported` or not. The same items, as many
of each label, go to

- plain: one user message, "Does the text support the claim? Answer yes or no.", and P(yes),
- brief: `factual_accuracy` with this model, as it ships, from a case and a trace to a signal,
- full: the same judge with `form: full` (`--full N` items of each set: it is slow).

AUC and balanced accuracy at 0.5 with 95% bootstrap intervals, the paired difference to plain, and
calls and seconds for each verdict. Items from `--skip` on are used, so that prompts can be tried on
others than those that are reported (`--skip 0`). With `--model-file` a llama.cpp server is started
on loopback (`pip install xllamacpp`). No reply is cached.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from llama import serve_llama

from fourscore.core import Case, FourscoreError, Trace
from fourscore.judges.llm.factual_accuracy import FactualAccuracy
from fourscore.judges.llm.logprobs import read_word_probabilities
from fourscore.models.messages import ChatMessage, Model, Request
from fourscore.models.model_spec import make_model

SETS = ("fever_symmetric", "truthfulqa", "evouna_nq")
WAYS = ("plain", "brief", "full")
SEED, DRAWS = 22, 2000
CLAIM = "Text: {output}\nClaim: {expected}\nDoes the text support the claim? Answer yes or no."
ANSWER = (
    "Question: {input}\nCorrect answer: {expected}\nGiven answer: {output}\n"
    "Does the given answer agree with the correct answer? Answer yes or no."
)


class Result(NamedTuple):
    """The value of one item by one way of asking, its label, calls and seconds."""

    value: float
    is_supported: bool
    calls: int
    seconds: float


Way = Callable[[dict[str, Any]], Awaitable[tuple[float, int]]]


def read_items(path: Path, count: int, skip: int) -> list[dict[str, Any]]:
    """Read the same number of items of each label, drawn by a fixed seed, labels alternating."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    yes = [row for row in rows if row["gold"] == "supported"]
    no = [row for row in rows if row["gold"] != "supported"]
    rng = random.Random(SEED)
    for part in (yes, no):
        rng.shuffle(part)
    half = slice(skip // 2, (skip + count) // 2)
    return [row for pair in zip(yes[half], no[half], strict=True) for row in pair]


def expected_text(row: dict[str, Any]) -> str:
    return " or ".join(row.get("answers") or row["claims"])


def ask_plainly(model: Model) -> Way:
    """Make a function that returns P(yes) of the plain question."""

    async def way(row: dict[str, Any]) -> tuple[float, int]:
        form = CLAIM if "claims" in row else ANSWER
        words = form.format(expected=expected_text(row), **row)
        ask = Request(messages=(ChatMessage("user", words),), max_tokens=1, logprobs=20)
        reply = await model.ask(ask)
        shares = read_word_probabilities(reply, ("no", "yes"))
        return (0.5 if shares is None else shares["yes"]), reply.usage.calls

    return way


def ask_judge(judge: FactualAccuracy) -> Way:
    """Make a function that returns the value of the judge's signal."""

    async def way(row: dict[str, Any]) -> tuple[float, int]:
        claims = [{"text": text} for text in row.get("claims", ())]
        expected = {"claims": claims} if claims else {"answer": row["answers"]}
        case = Case(input=row["input"], expected=expected)
        (signal,) = await judge.judge(case, Trace(output=row["output"]))
        if signal.value is None:
            raise FourscoreError(signal.reason)
        return signal.value, signal.usage.calls if signal.usage else 0

    return way


async def measure(name: str, way: Way, rows: Sequence[dict[str, Any]]) -> list[Result | None]:
    """Return a result for each item, in order; None if the model gave no verdict."""
    results: list[Result | None] = []
    for row in rows:
        start = time.perf_counter()
        try:
            value, calls = await way(row)
        except FourscoreError as error:
            print(f"{name} {row['id']}: {error}", file=sys.stderr)
            results.append(None)
            continue
        seconds = time.perf_counter() - start
        results.append(Result(value, row["gold"] == "supported", calls, seconds))
        print(f"{name} {len(results)} of {len(rows)}: {value:.3f}", file=sys.stderr)
    return results


def auc(results: Sequence[Result]) -> float:
    yes = [one.value for one in results if one.is_supported]
    no = [one.value for one in results if not one.is_supported]
    won = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    return won / (len(yes) * len(no))


def balanced_accuracy(results: Sequence[Result]) -> float:
    yes = [one.value >= 0.5 for one in results if one.is_supported]
    no = [one.value < 0.5 for one in results if not one.is_supported]
    return (sum(yes) / len(yes) + sum(no) / len(no)) / 2


Figure = Callable[[Sequence[Result]], float]


def interval(figure: Callable[[Sequence[int]], float], labels: Sequence[bool]) -> str:
    """A 95% bootstrap interval of a figure of some items, drawn anew within each label."""
    rng = random.Random(SEED)
    sides = [[at for at, one in enumerate(labels) if one is side] for side in (True, False)]
    drawn = sorted(
        figure([at for side in sides for at in rng.choices(side, k=len(side))])
        for _ in range(DRAWS)
    )
    return f"[{drawn[int(0.025 * DRAWS)]:.2f}, {drawn[int(0.975 * DRAWS)]:.2f}]"


def describe(results: Sequence[Result | None], plain: Sequence[Result | None]) -> str:
    """Return one line of the table: both figures, their difference to plain, and the cost."""
    both = [(one, two) for one, two in zip(results, plain, strict=False) if one and two]
    mine, base = [one for one, _ in both], [two for _, two in both]
    labels = [one.is_supported for one in mine]
    cells = [str(len(mine))]
    for figure in (auc, balanced_accuracy):

        def own(at: Sequence[int], figure: Figure = figure) -> float:
            return figure([mine[i] for i in at])

        def gain(at: Sequence[int], figure: Figure = figure) -> float:
            return figure([mine[i] for i in at]) - figure([base[i] for i in at])

        cells.append(f"{figure(mine):.3f} {interval(own, labels)}")
        difference = figure(mine) - figure(base)
        cells.append(f"{difference:+.3f} {interval(gain, labels)}" if results is not plain else "")
    seconds = sorted(one.seconds for one in mine)[len(mine) // 2]
    cells.append(f"{sum(one.calls for one in mine) / len(mine):.2f}")
    cells.append(f"{seconds:.2f}")
    return " | ".join(cells)


def read_earlier_results(path: Path) -> dict[tuple[str, str], list[Result | None]]:
    """Read the results of an earlier run from `--out`, by set and way."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {
        (line["set"], line["way"]): [one and Result(*one) for one in line["results"]]
        for line in map(json.loads, lines)
    }


async def run(args: argparse.Namespace, url: str | None) -> None:
    settings: dict[str, Any] = {"cache": False, "hedge": False, "concurrency": 1}
    settings |= {"timeout": 900.0, "deadline": 3600.0}
    if url:
        settings |= {"base_url": url}
    if args.extra:
        settings["extra"] = json.loads(args.extra)
    model = make_model(args.model, **settings)
    options: dict[str, Any] = {"model": model}
    ways: dict[str, tuple[Way, int]] = {
        "plain": (ask_plainly(model), args.items),
        "brief": (ask_judge(FactualAccuracy(**options)), args.items),
    }
    if args.full:
        full = FactualAccuracy(**options, form="full", bind="schema", max_tokens=400)
        ways["full"] = (ask_judge(full), args.full)
    kept = read_earlier_results(args.out) if args.out else {}
    print("set | way | n | AUC | to plain | balanced accuracy | to plain | calls | median seconds")
    for name in args.sets:
        rows = read_items(args.data / f"{name}.jsonl", args.items, args.skip)
        found: dict[str, list[Result | None]] = {}
        for way, (asked, count) in ways.items():
            if way not in args.ways and (name, way) not in kept:
                continue
            found[way] = kept.get((name, way)) or await measure(
                f"{name} {way}", asked, rows[:count]
            )
            print(f"{name} | {way} | {describe(found[way], found['plain'])}", flush=True)
            if args.out and (name, way) not in kept:
                line = {"set": name, "way": way, "results": found[way]}
                with args.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--model", default="openai:local")
    parser.add_argument("--base-url")
    parser.add_argument("--model-file")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--items", type=int, default=100, help="of each set, half of each label")
    parser.add_argument("--skip", type=int, default=0, help="items of each set to leave out")
    parser.add_argument("--full", type=int, default=0, help="items for the full form too")
    parser.add_argument(
        "--extra",
        default='{"cache_prompt": false}',
        help="JSON that is added to every request; the default is for llama.cpp",
    )
    parser.add_argument(
        "--out", type=Path, help="also every value, as JSON lines; what is there is kept"
    )
    args = parser.parse_args()
    local = serve_llama(args.model_file, args.threads) if args.model_file else None
    with local or nullcontext(args.base_url) as url:
        asyncio.run(run(args, url))


if __name__ == "__main__":
    main()
