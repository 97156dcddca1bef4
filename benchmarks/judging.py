"""Judging by a model, through the runner: the rate, the processor time, and an unreliable endpoint.

    python benchmarks/judging.py [rounds] [calm]

(a) 2,000 recorded answers of 2 KB, one criterion each, 64 cases at a time, of a loopback endpoint
that takes 50 ms: 1.56 s is ideal. The run is that of `fourscore run`: prompts, fences, verdicts,
scores, every row synced to the store. With and without the cache of replies. Processor time is that
of this process; the endpoint is another. Beside it aiohttp alone, which judges and stores nothing:
the best rate of this machine at this moment.

(b) 1,000 such answers with 10% status 429, 5% status 500, 5% malformed JSON and 1% that hang for
120 s. Each verdict depends on its question, so a wrong one would show.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import aiohttp
import msgspec
from endpoint import Server

from fourscore.agents.replay import RecordedAgent
from fourscore.core import Case, Rubric
from fourscore.executors import loop
from fourscore.judges.llm.criteria import Criteria
from fourscore.models.model_pool import ModelPool
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.run import AttemptOutcome, RunPlan, plan_attempts, run_attempts

CASES, STORM, AT_A_TIME, DELAY = 2000, 1000, 64, 0.05
IDEAL = CASES / AT_A_TIME * DELAY


def case(number: int) -> Case:
    output = f"The answer to question {number}. " + "It says this, and then it says that. " * 54
    return Case(
        id=f"case-{number}", input=f"This is question {number}.", metadata={"output": output}
    )


class Outcomes:
    """Counts the statuses of cases, and verdicts that belong to another question."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.wrong = 0
        self.seconds = self.cpu = 0.0

    def __call__(self, outcome: AttemptOutcome) -> None:
        self.statuses[outcome.score.status] += 1
        even = int(outcome.case_id.rpartition("-")[2]) % 2 == 0
        self.wrong += outcome.score.value is not None and outcome.score.value != even


async def judge_cases(url: str, folder: Path, first: int, count: int) -> Outcomes:
    """A run in the current model pool, into a store of its own; timed from its first case until
    its last row is on the disk."""
    judge = Criteria(
        model="openai:bench", settings={"base_url": url}, criteria=("The answer is right.",)
    )
    rubric, outcomes = Rubric.from_judge(judge), Outcomes()
    attempts = plan_attempts(map(case, range(first, first + count)), 1)
    plan = RunPlan(concurrency=AT_A_TIME, judge_deadline=600)
    with Store(folder / f"runs-{first}.db") as store:
        info = store.start(RunInfo(name="bench", planned=count))
        with store.writer(info.id) as writer:
            began, used = time.perf_counter(), time.process_time()
            await run_attempts(
                attempts, RecordedAgent(), rubric, writer=writer, plan=plan, observe=outcomes
            )
            outcomes.seconds, outcomes.cpu = time.perf_counter() - began, time.process_time() - used
    return outcomes


async def measure_rate(url: str, folder: Path, cache: Path | bool) -> tuple[float, float]:
    """Return the share of the ideal rate, and milliseconds of processor time per case."""
    async with ModelPool(cache=cache):
        await judge_cases(url, folder, CASES, 4 * AT_A_TIME)  # connections, imports, the limit
        outcomes = await judge_cases(url, folder, 0, CASES)
    assert outcomes.statuses == {"scored": CASES}, outcomes.statuses
    assert not outcomes.wrong
    return IDEAL / outcomes.seconds, 1000 * outcomes.cpu / CASES


async def measure_aiohttp(url: str) -> tuple[float, float]:
    """Return the same for aiohttp alone: it posts a body of that size and drops the reply."""
    body = msgspec.json.encode({"messages": [{"content": case(1).metadata["output"]}]})
    body = body.replace(b"The answer to", b"This is") + b" " * 1500  # as long as a judge's prompt
    left = iter(range(CASES))
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=timeout
    ) as session:

        async def work() -> None:
            for _ in left:
                async with session.post(f"{url}/chat/completions", data=body) as reply:
                    await reply.read()

        began, used = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(AT_A_TIME)))
        seconds, cpu = time.perf_counter() - began, time.process_time() - used
    return IDEAL / seconds, 1000 * cpu / CASES


def report_rate(rounds: int) -> None:
    server = Server(str(DELAY), "fine", "1")
    print(f"(a) {CASES} cases, {AT_A_TIME} at a time, {DELAY * 1000:.0f} ms, {rounds} rounds")
    try:
        alone = [loop.run(measure_aiohttp(server.url)) for _ in range(rounds)]
        share, cost = (statistics.median(one[at] for one in alone) for at in (0, 1))
        print(
            f"    aiohttp alone: {share:.2f} of the ideal rate, {cost:.2f} ms of processor a call"
        )
        for kept in (False, True):
            figures = []
            for _ in range(rounds):
                with tempfile.TemporaryDirectory() as name:
                    cache = Path(name) / "replies.sqlite" if kept else False
                    figures.append(loop.run(measure_rate(server.url, Path(name), cache)))
            shares, costs = ([figure[at] for figure in figures] for at in (0, 1))
            print(
                f"    {'with' if kept else 'without'} the cache: "
                f"{statistics.median(shares):.2f} of the ideal rate (best {max(shares):.2f}), "
                f"{statistics.median(costs):.2f} ms of processor a case (best {min(costs):.2f})"
            )
    finally:
        server.stop()


async def judge_unreliably(url: str, folder: Path) -> Outcomes:
    async with ModelPool(cache=False):
        return await judge_cases(url, folder, 0, STORM)


def report_storm(rounds: int) -> None:
    print(f"(b) {STORM} cases: 10% 429, 5% 500, 5% malformed, 1% hang, {rounds} rounds")
    for seed in range(rounds):
        server = Server(str(DELAY), "storm", str(seed))
        began = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory() as name:
                outcomes = loop.run(judge_unreliably(server.url, Path(name)))
        finally:
            server.stop()
        seconds = time.perf_counter() - began
        print(f"    {dict(outcomes.statuses)}, {outcomes.wrong} wrong, {seconds:.1f} s")


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    report_rate(rounds)
    if sys.argv[2:] != ["calm"]:
        report_storm(rounds)
