"""Measure how often comparisons of two runs are wrong, and how fast they are.

    python benchmarks/paired.py [--runs 2000] [--seed 1]

False alarms: equal agents are compared, so that every `better` or `worse` is wrong; the peer takes
either of the same two tests at 5% without a correction. Coverage: how often 95% intervals contain
the true difference, beside Wald's and the plain t interval. Power: how often the recommended number
of cases shows the difference. Speed: 200,000 pairs, beside a plain loop of resampling.

An agent's attempt at a case scores near the case's own centre and passes from 0.7. `sparse` agents
give the same answer to nineteen cases of twenty; `shuffled` ones are equal on average, but good at
different cases; `exact` ones pass or do not, and the score says the same.
"""

import argparse
import random
import resource
import time
from collections.abc import Callable, Iterable
from math import sqrt

from fourscore.stats.mcnemar import PassPairs
from fourscore.stats.paired import Pairs
from fourscore.stats.paired_scores import ScorePairs
from fourscore.stats.power import (
    cases_for_passes,
    cases_for_scores,
    detectable_passes,
    detectable_scores,
)
from fourscore.stats.quantiles import normal_quantile, student_quantile

THRESHOLD = 0.7
Agents = Callable[[random.Random, int], tuple[list[float], list[float]]]


def noisy(rng: random.Random, centre: float) -> float:
    return min(1.0, max(0.0, rng.gauss(centre, 0.15)))


def similar(rng: random.Random, repeats: int) -> tuple[list[float], list[float]]:
    centre = rng.betavariate(4, 1.5)
    a = [noisy(rng, centre) for _ in range(repeats)]
    return a, [noisy(rng, centre) for _ in range(repeats)]


def sparse(rng: random.Random, repeats: int) -> tuple[list[float], list[float]]:
    a, b = similar(rng, repeats)
    return (a, b) if rng.random() < 0.05 else (a, a)


def shuffled(rng: random.Random, repeats: int) -> tuple[list[float], list[float]]:
    a, b = similar(rng, repeats)
    return (a, b) if rng.random() < 0.7 else (a, similar(rng, repeats)[1])


def exact(rng: random.Random, repeats: int) -> tuple[list[float], list[float]]:
    p = rng.betavariate(2, 1)
    a = [float(rng.random() < p) for _ in range(repeats)]
    return a, [float(rng.random() < p) for _ in range(repeats)]


def compare_agents(rng: random.Random, agents: Agents, n: int, repeats: int) -> Pairs:
    pairs = Pairs()
    for _ in range(n):
        a, b = agents(rng, repeats)
        if repeats == 1:
            pairs.add(a[0] >= THRESHOLD, b[0] >= THRESHOLD, a[0], b[0])
        else:
            pairs.add_repeats([(x >= THRESHOLD, x) for x in a], [(x >= THRESHOLD, x) for x in b])
    return pairs


def print_false_alarms(runs: int, seed: int) -> None:
    print(f"false alarms in {runs} comparisons of equal agents")
    print("agents    cases  repeats verdict   pass/fail   score   either at 5%")
    for agents in (similar, sparse, shuffled, exact):
        for n, repeats in ((10, 1), (30, 1), (100, 1), (300, 1), (30, 4), (100, 4)):
            rng, counts = random.Random(f"{seed} {agents.__name__} {n} {repeats}"), [0] * 4
            for _ in range(runs):
                found = compare_agents(rng, agents, n, repeats).compare()
                calls = [(found.passes.p or 0.0) <= 0.05, (found.scores.p or 0.0) <= 0.05]
                decided = found.verdict.kind in ("better", "worse")
                for i, each in enumerate((decided, *calls, any(calls))):
                    counts[i] += each
            shares = "   ".join(f"{count / runs:7.2%}" for count in counts)
            print(f"{agents.__name__:9} {n:5} {repeats:6}   {shares}", flush=True)


def print_false_alarms_by_tag(runs: int, seed: int) -> None:
    rng, shared, alone = random.Random(seed), 0, 0
    for _ in range(runs):
        pairs = Pairs()
        for i in range(300):
            (a,), (b,) = similar(rng, 1)
            tags = (f"tag {i % 10}", f"half {i % 2}")
            pairs.add(a >= THRESHOLD, b >= THRESHOLD, a, b, tags=tags)
        found = pairs.by_tag().values()
        shared += any(each.verdict.kind in ("better", "worse") for each in found)
        alone += any(min(each.passes.p or 0.0, each.scores.p or 0.0) <= 0.05 for each in found)
    print(
        f"any of 12 tags, 300 cases: {shared / runs:.2%}; each test at 5%: {alone / runs:.1%}",
        flush=True,
    )


def share_inside(intervals: Iterable[tuple[float, float]], truth: float) -> float:
    """The share of the intervals that contain the truth."""
    ends = list(intervals)
    return sum(low <= truth <= high for low, high in ends) / len(ends)


def print_coverage(runs: int, seed: int) -> None:
    print(f"\nhow often 95% intervals contain the true difference, {runs} each")
    print("pass rates: cases   gained    lost     here    Wald")
    for n in (20, 50, 200):
        for gain, loss in ((0.02, 0.02), (0.05, 0.0), (0.1, 0.1), (0.15, 0.05), (0.4, 0.2)):
            rng, ours, wald = random.Random(f"{seed} {n} {gain} {loss}"), [], []
            for _ in range(runs):
                pairs = PassPairs()
                for x in (rng.random() for _ in range(n)):
                    pairs.add(gain <= x < gain + loss, x < gain)
                found = pairs.change()
                d, square = found.difference or 0.0, found.square or 0.0
                reach = normal_quantile(0.95) * sqrt(max(0.0, square - d * d) / n)
                ours.append(found.interval or (0.0, 0.0))
                wald.append((d - reach, d + reach))
            truth = gain - loss
            shares = f"{share_inside(ours, truth):8.1%}{share_inside(wald, truth):8.1%}"
            print(f"            {n:5} {gain:8.2f}{loss:8.2f} {shares}", flush=True)
    print("pass rates, four repeats of a case: cases   here   plain t")
    for n in (10, 30, 100):
        rng, ours, plain = random.Random(f"{seed} {n}"), [], []
        for _ in range(runs):
            repeated = PassPairs()
            differences = []
            for _ in range(n):
                p = rng.betavariate(3, 0.5)
                a, b = (sum(rng.random() < q for _ in range(4)) / 4 for q in (p, p + 0.2 * (1 - p)))
                repeated.add(a, b, 4)
                differences.append(b - a)
            found = repeated.change()
            d, square = found.difference or 0.0, found.square or 0.0
            reach = student_quantile(0.95, n - 1) * sqrt(max(0.0, square - d * d) / (n - 1))
            ours.append(found.interval or (0.0, 0.0))
            plain.append((d - reach, d + reach))
        truth = 0.2 * 0.5 / 3.5
        line = f"{share_inside(ours, truth):8.1%}{share_inside(plain, truth):9.1%}"
        print(f"                              {n:6} {line}", flush=True)
    print("scores: cases  t interval  bootstrap")
    for n in (10, 30, 100, 300):
        rng, by_t, by_draw = random.Random(f"{seed} s {n}"), [], []
        for _ in range(max(200, runs // 4)):
            scores = ScorePairs(keep=True)
            for _ in range(n):
                centre = rng.betavariate(4, 1.5)
                # The lift is the same for all, and noise that is not cut keeps its mean.
                scores.add(0.25 + centre / 4, 0.3 + centre / 4 + rng.uniform(-0.2, 0.2))
            by_t.append(scores.change().interval or (0.0, 0.0))
            by_draw.append(scores.bootstrap(resamples=500) or (0.0, 0.0))
        line = f"{share_inside(by_t, 0.05):11.1%}{share_inside(by_draw, 0.05):11.1%}"
        print(f"        {n:5} {line}", flush=True)


def print_power(runs: int, seed: int) -> None:
    print(
        f"\nhow often the recommended number of cases shows the difference (aim: 80%), {runs} each"
    )
    for gain, loss in ((0.05, 0.0), (0.09, 0.01), (0.1, 0.05), (0.15, 0.05), (0.3, 0.2)):
        n = cases_for_passes(gain - loss, gain + loss) or 0
        least = detectable_passes(n, gain + loss) or 0.0
        rng, shown = random.Random(f"{seed} {gain} {loss}"), 0
        for _ in range(runs):
            pairs = PassPairs()
            for x in (rng.random() for _ in range(n)):
                pairs.add(gain <= x < gain + loss, x < gain)
            shown += (pairs.change().p or 0.0) <= 0.05
        print(
            f"passes: {gain:.2f} gained, {loss:.2f} lost: {n:5} cases {shown / runs:7.1%},"
            f" smallest shown {least:.3f}",
            flush=True,
        )
    for lift, spread in ((0.1, 0.1), (0.05, 0.1), (0.02, 0.1), (0.05, 0.3)):
        n = cases_for_scores(lift, spread) or 0
        least = detectable_scores(n, spread) or 0.0
        rng, shown, width = random.Random(f"{seed} {lift} {spread}"), 0, spread * sqrt(3)
        for _ in range(runs):
            scores = ScorePairs()
            for _ in range(n):
                difference = lift + rng.uniform(-width, width)
                scores.add(max(0.0, -difference), max(0.0, difference))
            shown += (scores.change().p or 0.0) <= 0.05
        print(
            f"scores: {lift:+.2f}, spread {spread:.2f}: {n:5} cases {shown / runs:7.1%},"
            f" smallest shown {least:.3f}",
            flush=True,
        )


def print_speed(seed: int, n: int = 200_000) -> None:
    rng = random.Random(seed)
    rows = [(rng.random(), rng.random(), ("all", f"tag {i % 20}")) for i in range(n)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, pairs = time.perf_counter(), Pairs()
    for a, b, tags in rows:
        pairs.add(a >= THRESHOLD, b >= THRESHOLD, a, b, tags=tags)
    fed = time.perf_counter()
    pairs.compare()
    pairs.by_tag()
    read = time.perf_counter()
    pairs.bootstrap()
    drawn = time.perf_counter()
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    differences = [b - a for a, b, _ in rows]
    peer = time.perf_counter()
    for _ in range(10):
        sum(rng.choices(differences, k=n))
    loop = (time.perf_counter() - peer) * 200
    print(
        f"\n{n:,} pairs of two tags: {fed - begun:.2f} s to add, {(read - fed) * 1000:.0f} ms to"
        f" compare with 21 tags, {drawn - read:.2f} s for the bootstrap interval, {more:.0f} MB;"
        f" 2,000 resamples in a plain loop would take {loop:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="How often comparisons of two runs are wrong.")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print_false_alarms(given.runs, given.seed)
    print_false_alarms_by_tag(given.runs, given.seed)
    print_coverage(given.runs, given.seed)
    print_power(given.runs, given.seed)
    print_speed(given.seed)


if __name__ == "__main__":
    main()
