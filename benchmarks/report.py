"""How long the HTML report of a large run takes to write and to open, and how large it is.

    python benchmarks/report.py [--cases 20000] [--store FILE] [--out report.html] [--words 120]

A made-up run: seven dimensions with reasons and evidence, tool calls, outputs of some hundred
words, a quarter of them failures. Chromium is used where it is installed; each figure of it is the
median of five.
"""

import argparse
import asyncio
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

from fourscore.core import (
    Case,
    Evidence,
    Fault,
    Message,
    Score,
    Signal,
    Status,
    ToolCall,
    Trace,
    Usage,
)
from fourscore.core.levels import find_level
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

JUDGE = "5e1fc0de" * 4
NAMES = (
    *("factual_accuracy", "completeness", "citation_accuracy", "source_quality"),
    *("tool_efficiency", "clarity", "refusal_handling"),
)
TAGS = ("astronomy", "history", "medicine", "law", "finance", "coding", "geography", "multi-hop")
HARD = ("simple", "medium", "complex", "very_complex")
TOPICS = (
    *("the outer planets", "the Treaty of Tordesillas", "insulin therapy", "maritime salvage"),
    *("bond duration", "garbage collection", "the Danube delta", "early printing"),
)
WORDS = """the a study finds that recent evidence suggests about between during under several which
reported measured increased declined stable region century method results authors however therefore
million percent large small observed model according source published review data series early late
north south river treaty orbit planet market patient dosage court ruling compiler memory
press""".split()


def words(rng: random.Random, n: int) -> str:
    sentences: list[str] = []
    while n > 0:
        take = min(n, rng.randint(7, 19))
        line = " ".join(rng.choice(WORDS) for _ in range(take))
        sentences.append(f"{line[0].upper()}{line[1:]} {rng.randint(2, 9999)}.")
        n -= take
    return " ".join(sentences)


def record(n: int, length: int) -> tuple[Case, Trace, Score]:
    rng = random.Random(n)
    topic, hard = rng.choice(TOPICS), rng.randrange(4)
    case = Case(
        id=f"research-{n:05}",
        input=f"What is known about {topic}, and since when? {words(rng, 8)}",
        expected={"facts": [words(rng, 9) for _ in range(3)], "tools": ["search"]},
        tags=tuple(rng.sample(TAGS, rng.randint(1, 3))),
        complexity=HARD[hard],
    )
    fate = rng.random()
    if fate < 0.012:
        kind: Literal["timeout", "error"] = "timeout" if fate < 0.006 else "error"
        status = Status.TIMEOUT if kind == "timeout" else Status.AGENT_ERROR
        message = "no answer within 60 s" if kind == "timeout" else "ConnectionError: reset by peer"
        trace = Trace(seconds=60.0, fault=Fault(kind, message))
        failed = Score(status=status, value=0.0, passed=False, reward=0.0, reason=message)
        return case, trace, failed
    output = words(rng, max(20, int(rng.lognormvariate(0, 0.6) * length)))
    steps = [Message(role="user", content=str(case.input))] + [
        ToolCall(
            name=rng.choice(("search", "open_page", "calculator")),
            arguments={"query": words(rng, 5)},
            result=words(rng, 25),
            seconds=rng.random(),
        )
        for _ in range(rng.randint(1, 4))
    ]
    usage = Usage(calls=len(steps), input_tokens=900, output_tokens=300, dollars=0.0031)
    trace = Trace(
        output=output, steps=tuple(steps), seconds=rng.lognormvariate(1, 0.6), usage=usage
    )
    if fate > 0.994:
        reason = "the judge gave no answer within 60 s"
        return case, trace, Score(status=Status.JUDGE_ERROR, reason=reason)
    ease = rng.betavariate(6 - hard, 1.2 + 0.35 * hard)
    signals = tuple(signal(rng, name, output, ease) for name in NAMES)
    values = [each.value for each in signals if each.value is not None]
    value = sum(values) / len(values)
    worst = min(signals, key=lambda each: 1.0 if each.value is None else each.value)
    return (
        case,
        trace,
        Score(
            status=Status.SCORED,
            value=value,
            passed=value >= 0.7,
            reward=value,
            coverage=len(values) / len(NAMES),
            signals=signals,
            reason=f"value {value:.3f} against 0.7; weakest is {worst.name}",
        ),
    )


def signal(rng: random.Random, name: str, output: str, ease: float) -> Signal:
    if name == "refusal_handling" and rng.random() < 0.8:
        return Signal(name=name, reason="nothing in the case asks for a refusal")
    value = round(min(1.0, max(0.0, ease + rng.gauss(0, 0.14))), 3)
    pieces = []
    for _ in range(rng.randint(0, 2)):
        start = rng.randrange(max(1, len(output) - 80))
        end = min(len(output), start + rng.randint(20, 70))
        pieces.append(Evidence(text=output[start:end], start=start, end=end))
    if name == "tool_efficiency" and value < 0.7:
        pieces = [Evidence(text="search(query=…)", field="steps", step=1)]
    found = rng.randint(0, 4)
    reason = f"{found} of 4 expected facts found; {words(rng, 6)} (confidence: high)"
    return Signal(
        name=name, value=value, level=find_level(value), reason=reason, evidence=tuple(pieces)
    )


async def fill(path: Path, cases: int, length: int) -> str:
    """Fill a store with one run of this many rows."""
    with Store(path) as store:
        run = store.start(
            RunInfo(
                name="research assistant, nightly",
                agent="agents/research.py:answer",
                agent_version="2.3.1",
                git_commit="9f31c2e07ad84b1f8c77d1d20f4f0e5b6c1a2b3d",
                cases_digest="c41f7be2a90d4c55a7f0316be2f9d1aa",
                cases_path="/data/research-20k.jsonl",
                labels={"branch": "main", "model": "large-7"},
                rubric_fingerprint=JUDGE,
                planned=cases,
            )
        )
        left = iter(range(cases))
        with store.writer(run.id) as writer:

            async def work() -> None:
                for n in left:
                    case, trace, score = record(n, length)
                    await writer.put_both(n, case, 1, trace, judge=JUDGE, score=score)

            await asyncio.gather(*(work() for _ in range(256)))
        store.finish(run.id, {})
        return run.id


def write(path: Path, out: Path) -> None:
    """Write the report; called in another process, so that its memory is measured alone."""
    from fourscore.report.run_page import write_report
    from fourscore.test.run import summarize_run

    with Store(path, make=False) as store:
        run = store.runs()[0].id
        begun = time.perf_counter()
        document = summarize_run(store, run)
        between = time.perf_counter()
        write_report(out, store, run, document=document)
        seconds = time.perf_counter() - between
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"summary      {between - begun:7.2f} s")
    print(f"report       {seconds:7.2f} s")
    print(f"size         {out.stat().st_size / 1e6:7.2f} MB")
    print(f"peak memory  {peak:7.0f} MB", flush=True)


OPENED = """() => {
  const first = performance.getEntriesByName('rows')[0];
  return first ? first.startTime : null;
}"""
TIMED = """(change) => new Promise((resolve) => {
  const begun = performance.now();
  (new Function(change))();
  document.body.offsetHeight;
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begun)));
})"""
KEY = """const box = document.getElementById('search');
box.value = '{}'; box.dispatchEvent(new Event('input'));"""
SORT = "document.querySelectorAll('#table thead button')[2].click();"


def browse(out: Path) -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if chromium is None:
        print("chromium is not here: apt-get install chromium")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        figures: dict[str, list[float]] = {"first rows": [], "key": [], "sort": [], "case": []}
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
            page.goto(out.resolve().as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            figures["first rows"].append(page.evaluate(OPENED))
            for text in ("r", "re", "research-01"):
                figures["key"].append(page.evaluate(TIMED, KEY.format(text)))
            page.evaluate(TIMED, KEY.format(""))
            figures["sort"] += [page.evaluate(TIMED, SORT) for _ in range(3)]
            begun = time.perf_counter()
            page.locator("#table tbody tr").nth(3).click()
            page.wait_for_selector("#d-body .raw, #d-body .note")
            figures["case"].append((time.perf_counter() - begun) * 1000)
            page.close()
        browser.close()
    for name, times in figures.items():
        worst = f"worst {max(times):.0f}"
        print(f"{name:12} {statistics.median(times):7.0f} ms, {worst} of {len(times)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=120)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    args: Any = parser.parse_args()
    if args.write:
        write(args.store, args.out)
        return
    with tempfile.TemporaryDirectory() as folder:
        store = args.store or Path(folder) / "runs.db"
        out = args.out or Path(folder) / "report.html"
        if not store.exists():
            asyncio.run(fill(store, args.cases, args.words))
        parts = ["--write", "--store", str(store), "--out", str(out)]
        subprocess.run([sys.executable, __file__, *parts], check=True)
        browse(out)


if __name__ == "__main__":
    main()
