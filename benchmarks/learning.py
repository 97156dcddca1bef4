"""Rubrics from labels: are planted criteria found, is nothing found where there is nothing?

    python benchmarks/learning.py                 # 20 seeds of everything, some minutes
    python benchmarks/learning.py --seeds 100     # for the false claims

A hidden grader pays for three marks of nine that an answer may have; the scripted model proposes
criteria, errs in its verdicts, and rates mostly by length. Peers on the same held-out answers: the
plain prompt, and criteria as they are proposed, unchecked and with equal weights.
"""

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.labels.learning import planted

from fourscore.core import digest
from fourscore.formats.labelled_samples import Mode, SampleFile
from fourscore.labels.learning.checker import Checker
from fourscore.labels.learning.data_split import list_answers, split_samples
from fourscore.labels.learning.journal import Journal
from fourscore.labels.learning.learn import LEARNED, learn
from fourscore.labels.learning.settings import LearningSettings
from fourscore.models.budget import Budget, BudgetedModel
from fourscore.models.messages import Request, Response
from fourscore.models.model_pool import ModelPool
from fourscore.models.scripted import ScriptedModel
from fourscore.stats.correlation import spearman

PLANTED = {planted.criterion(mark) for mark in planted.PLANTED}
#: Criteria that the unchecked peer takes.
UNCHECKED = 8


class CountingModel:
    """The planted model; it keeps only counts."""

    def __init__(self, error: float, seed: int) -> None:
        self.error, self.seed, self.name = error, seed, "planted"
        self.fingerprint = digest(["planted", error, seed])
        self.calls = self.running = self.most = 0

    async def ask(self, ask: Request) -> Response:
        self.calls += 1
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        text = ask.messages[1].content
        script = ScriptedModel([planted.reply(text, error=self.error, seed=self.seed)])
        return await script.ask(ask)


async def run(
    path: Path, mode: Mode, model: CountingModel, seed: int, calls: int | None = None
) -> tuple[dict[str, Any], float]:
    """Return the document, and the Spearman correlation of unchecked criteria."""
    samples = SampleFile(path, mode=mode)
    budget = Budget(calls=calls)
    async with ModelPool(budget=budget):
        settings = LearningSettings(
            model=BudgetedModel(model, budget), mode=mode, seed=seed, concurrency=8
        )
        document = await learn(samples, settings)
    if mode == "listwise" or calls is not None:
        return document, 0.0
    checker = Checker(samples, LearningSettings(model=model), Journal(None, ""))
    held = list_answers(samples, split_samples(samples, seed).held)
    order = sorted(planted.MARKS, key=lambda mark: planted.chance("propose", model.seed, mark))
    texts = [planted.criterion(mark) for mark in order[:UNCHECKED]]
    asked = model.calls
    table = await checker.check_criteria(texts, held)
    model.calls = asked
    given = [sum(table[text][answer] for text in texts) for answer in held]
    return document, spearman(given, [answer.label for answer in held]).value or 0.0


def run_seeds(
    title: str, seeds: int, n: int, mode: Mode, *, error: float = 0.05, shuffled: bool = False
) -> None:
    """Run several seeds and print one line of the table."""
    learned, calls, kept, extra = 0, [], [], []
    ours, plain, unchecked, errors, plain_errors = [], [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(seeds):
            make = planted.rows if mode == "pointwise" else planted.ranked_rows
            rows = make(n, seed=seed, shuffled=shuffled)
            path = planted.write(Path(folder) / "train.jsonl", rows)
            model = CountingModel(error, seed)
            document, naive = asyncio.run(run(path, mode, model, seed))
            section = document["learned"]
            calls.append(model.calls)
            unchecked.append(naive)
            if section["outcome"] == LEARNED:
                learned += 1
                found = _read_criteria(document)
                kept.append(len(found & PLANTED) / len(PLANTED))
                extra.append(len(found - PLANTED))
            if "learned" in section["figures"]:
                measure = "spearman" if mode == "pointwise" else "kendall"
                ours.append(section["figures"]["learned"][measure]["value"] or 0.0)
                plain.append(section["figures"]["plain"][measure]["value"] or 0.0)
                errors.append(section["figures"]["learned"]["mean_absolute_error"]["value"])
                plain_errors.append(section["figures"]["plain"]["mean_absolute_error"]["value"])
    print(
        f"{title}: learned {learned} of {seeds}; agreement {_write_mean(ours)}, plain prompt "
        f"{_write_mean(plain)}, unchecked {_write_mean(unchecked)}; mean absolute error "
        f"{_write_mean(errors)}, "
        f"plain {_write_mean(plain_errors)}; planted found {_write_mean(kept)}, others kept "
        f"{_write_mean(extra)}; calls {min(calls)} to {max(calls)}",
        flush=True,
    )


def _read_criteria(document: dict[str, Any]) -> set[str]:
    listed = document["learned"].get("criteria")
    if listed is not None:
        return {one["text"] for one in listed}
    return {one["text"] for one in document["dimensions"]["quality"]["with"]["criteria"]}


def _write_mean(values: Sequence[float]) -> str:
    return f"{mean(values):.2f}" if values else "-"


def measure_scale(n: int, chars: int, calls: int) -> None:
    """Learn from many samples and print calls, memory and time; run in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.jsonl"
        with path.open("w") as stream:
            for row in planted.rows(n):
                row["metadata"]["answer"] += " padding" * (chars // 8)
                stream.write(planted.line(row))
        model = CountingModel(0.05, 0)
        started = time.perf_counter()
        document, _ = asyncio.run(run(path, "pointwise", model, 0, calls))
        size = path.stat().st_size / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n} samples of {chars} characters ({size:.0f} MB), budget {calls} calls: "
        f"{document['learned']['outcome']}, {model.calls} calls, at most {model.most} at a time, "
        f"peak {peak:.0f} MB, {time.perf_counter() - started:.1f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--thousand", nargs=3, type=int, help="internal")
    args = parser.parse_args()
    if args.thousand:
        measure_scale(*args.thousand)
        return
    seeds = args.seeds
    for error in (0.0, 0.05, 0.15, 0.25):
        run_seeds(f"200 scores, verdicts wrong {error:.0%}", seeds, 200, "pointwise", error=error)
    for n in (40, 80, 400):
        run_seeds(f"{n} scores, verdicts wrong 5%", seeds, n, "pointwise")
    run_seeds("200 scores, shuffled", seeds, 200, "pointwise", shuffled=True)
    run_seeds("100 rankings of 4", seeds, 100, "listwise")
    run_seeds("100 rankings of 4, shuffled", seeds, 100, "listwise", shuffled=True)
    for n, chars in ((100, 100), (1000, 100), (1000, 20_000)):
        words = ["--thousand", str(n), str(chars), "2500"]
        subprocess.run([sys.executable, __file__, *words], check=True)


if __name__ == "__main__":
    main()
