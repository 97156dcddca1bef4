"""What a monitor costs the application: the calls, their latency with a bad judge, the memory.

    python benchmarks/observing.py [--calls 100000] [--seconds 6]

Times of calls are those of the application's own thread (`time.thread_time`), best of five rounds;
the peer on the same work is the plain rule, `random.random() > rate`. Latency is of the wall clock,
of every call, while the judge answers at once, takes 50 ms, or never answers. Memory is that of a
process that is offered ten times what its judge can score; the queue has to stay full and the
memory constant.
"""

import argparse
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fourscore.core import Case, Rubric, Signal, Trace
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.sampling import Sampling
from fourscore.monitor.settings import JudgingSettings, SamplingSettings

RATE = 0.01
ANSWER = "The refund was sent on Monday. " * 20


class Judge:
    """A judge that takes so many seconds; forever where that is None."""

    names = ("waiting",)
    runs = "thread"

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds

    async def judge(self, _case: Case, _trace: Trace) -> list[Signal]:
        if self.seconds is None:
            threading.Event().wait()
        elif self.seconds:
            time.sleep(self.seconds)  # noqa: ASYNC251 - a judge that blocks
        return [Signal(name="waiting", value=1.0)]


def monitor(rate: float, seconds: float | None = 0.0, queue: int = 1000) -> ProductionMonitor:
    rubric = Rubric.from_judge(Judge(seconds))
    return ProductionMonitor(
        rate, rubric=rubric, judging=JudgingSettings(queue=queue, deadline=5, exit_wait=0.1)
    )


def cost(ids: Sequence[str], call: Callable[[str], object]) -> float:
    """Return the microseconds of the calling thread for each call."""
    best = float("inf")
    for _ in range(5):
        begun = time.thread_time()
        for one in ids:
            call(one)
        best = min(best, time.thread_time() - begun)
    return best / len(ids) * 1e6


def calls(count: int) -> None:
    ids = [f"request-{n}" for n in range(count)]
    drawn = Sampling(RATE).draws
    missed = [one for one in ids if not drawn(one, ())]
    watched, plain = monitor(RATE), random.Random(1)
    tagged = ProductionMonitor(
        RATE, rubric=Judge(0), sampling=SamplingSettings(rates={"rare": 0.02})
    )

    def literal(_: str) -> object:
        return None if plain.random() > RATE else True

    observe = watched.observe
    rows = [
        ("the plain rule, by a generator", missed, literal),
        ("observe, no id", missed, lambda _: observe("q", ANSWER)),
        ("observe, by id, not sampled", missed, lambda one: observe("q", ANSWER, id=one)),
        (
            "observe, with a tag and rates, not sampled",
            missed,
            lambda one: tagged.observe("q", ANSWER, id=one, tags=("chat",)),
        ),
        (f"observe, by id, {RATE:.0%} sampled", ids, lambda one: observe("q", ANSWER, id=one)),
    ]
    print(f"{count:,} calls, microseconds each")
    for name, several, call in rows:
        print(f"  {name:45} {cost(several, call):8.2f}")
    watched_function = monitor(0.0).watch(lambda query: query)
    print(f"  {'a watched function, not sampled':45} {cost(missed, watched_function):8.2f}")
    full = monitor(1.0, None, queue=10_000_000)
    few = [f"sampled-{n}" for n in range(5000)]
    print(f"  {'observe, sampled':45} {cost(few, lambda x: full.observe('q', ANSWER, id=x)):8.2f}")


def latency(count: int) -> None:
    print("latency of observe at 1% sampling, microseconds of the wall clock")
    for name, seconds in (("judge answers at once", 0.0), ("takes 50 ms", 0.05), ("is down", None)):
        watched, taken = monitor(RATE, seconds), []
        for n in range(count):
            begun = time.perf_counter()
            watched.observe("q", ANSWER, id=f"request-{n}")
            taken.append(time.perf_counter() - begun)
        taken.sort()
        middle, high = taken[len(taken) // 2] * 1e6, taken[int(len(taken) * 0.999)] * 1e6
        dropped = watched.get_metrics()["dropped"]
        print(f"  {name:24} median {middle:6.2f}   99.9% {high:8.2f}   dropped {dropped}")


def memory(seconds: float) -> None:
    """Offer 4,000 a second, where four threads of 10 ms each can score 400."""
    watched = monitor(1.0, 0.01)
    begun, n = time.perf_counter(), 0
    for quarter in range(1, 5):
        while time.perf_counter() - begun < seconds * quarter / 4:
            if n < (time.perf_counter() - begun) * 4000:
                watched.observe(f"question {n}", f"{n} {ANSWER * 20}", id=n)
                n += 1
            else:
                time.sleep(0.001)
        metrics = watched.get_metrics()
        now = resident()
        print(
            f"  {n:7,} offered, {metrics['sample_count']:5,} scored, {metrics['dropped']:7,} "
            f"dropped, {now:6.1f} MB"
        )


def resident() -> float:
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--part", choices=["calls", "latency", "memory"])
    args = parser.parse_args()
    if args.part == "calls":
        calls(args.calls)
    elif args.part == "latency":
        latency(args.calls)
    elif args.part == "memory":
        print("memory with a judge that is ten times too slow, outputs of 12 kB")
        memory(args.seconds)
    else:  # each in a process of its own
        for part in ("calls", "latency", "memory"):
            subprocess.run([sys.executable, __file__, *sys.argv[1:], "--part", part], check=True)


if __name__ == "__main__":
    main()
