"""Round trips of the pool against concurrent.futures.ProcessPoolExecutor, in the same run.

    python benchmarks/workers.py [rounds]

Each round measures both, one after the other, so that other load on the machine affects both:
compare the ratio of a round (ours / theirs, below 1 is faster) rather than the microseconds.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from fourscore.executors.worker_pool import WorkerPool

MEGABYTE = bytes(range(256)) * 4096


def per_call(function: Callable[[], object], times: int) -> float:
    started = time.perf_counter()
    for _ in range(times):
        function()
    return (time.perf_counter() - started) / times * 1e6


def gathered(run: Callable[[], object]) -> Callable[[], object]:
    async def main() -> None:
        await asyncio.gather(*(run() for _ in range(500)))  # type: ignore[call-overload]

    return lambda: asyncio.run(main())


def main(rounds: int) -> None:
    with WorkerPool(2) as ours, ProcessPoolExecutor(2) as theirs:
        loop_theirs = gathered(lambda: asyncio.wrap_future(theirs.submit(os.getpid)))
        cases: dict[str, tuple[Callable[[], object], Callable[[], object], int, int]] = {
            "no-op, waited for (call)": (
                lambda: ours.call(os.getpid, deadline=30),
                lambda: theirs.submit(os.getpid).result(),
                1000,
                1,
            ),
            "no-op, queued (submit)": (
                lambda: ours.submit(os.getpid, deadline=30).result(),
                lambda: theirs.submit(os.getpid).result(),
                1000,
                1,
            ),
            "no-op, 500 at once (run)": (
                gathered(lambda: ours.run(os.getpid, deadline=30)),
                loop_theirs,
                1,
                500,
            ),
            "1 MiB there and back (call)": (
                lambda: ours.call(bytes.upper, MEGABYTE, deadline=30),
                lambda: theirs.submit(bytes.upper, MEGABYTE).result(),
                50,
                1,
            ),
            "1 MiB x 50 streamed (map)": (
                lambda: sum(
                    map(len, ours.map(bytes.upper, [MEGABYTE] * 50, deadline=30, window=4))
                ),
                lambda: sum(map(len, theirs.map(bytes.upper, [MEGABYTE] * 50))),
                1,
                50,
            ),
        }
        print(f"{'':30s}{'ours µs':>10s}{'theirs µs':>11s}{'ratio':>8s}  (lowest to highest)")
        for name, (our, their, times, jobs) in cases.items():
            per_call(our, 3)
            per_call(their, 3)
            pairs = [(per_call(our, times), per_call(their, times)) for _ in range(rounds)]
            ratios = sorted(a / b for a, b in pairs)
            a, b = (statistics.median(column) / jobs for column in zip(*pairs, strict=True))
            low, middle, high = ratios[0], statistics.median(ratios), ratios[-1]
            print(f"{name:30s}{a:10.0f}{b:11.0f}{middle:8.2f}  ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
