"""How often intervals around a judge's corrected pass rate contain the true pass rate.

    python benchmarks/calibration.py [--runs 2000] [--seed 1]

A judge with known sensitivity and specificity judges outputs of which people pass a known share,
and some outputs are labelled. First the labelled ones are any outputs, so many passes and so many
fails (Rogan & Gladen's correction); the peers of our interval are the delta method, draws from
Jeffreys posteriors, and Wilson's interval of the raw rate, which is what a summary without
correction shows. Then they are a random sample (prediction-powered inference); the peers are the
plain normal interval of the same estimate, and Wilson's of the labels alone. Last: intervals of
kappa and alpha.
"""

import argparse
import random
from bisect import bisect
from collections.abc import Iterable
from itertools import accumulate, product
from math import exp, lgamma, log, sqrt

from fourscore.stats.agreement import alpha, kappa, make_table
from fourscore.stats.classification import Confusion
from fourscore.stats.corrected_rate import (
    ChanceError,
    estimate_powered_mean,
    ppi_rate,
    rogan_gladen,
)
from fourscore.stats.intervals import wilson

Interval = tuple[float, float]
RATES = (0.05, 0.2, 0.5, 0.8, 0.95)
JUDGES = ((0.9, 0.7), (0.8, 0.8), (0.95, 0.95), (0.99, 0.9))
SIZES = ((1000, 200, 200), (200, 50, 50), (300, 100, 30))
Z = 1.959964


class BinomialCounts:
    """Draws binomial counts from a table."""

    def __init__(self, n: int, p: float) -> None:
        ways = lgamma(n + 1)
        weights = (
            exp(ways - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p))
            for k in range(n + 1)
        )
        self._upto, self._n = list(accumulate(weights)), n

    def draw(self, chance: random.Random) -> int:
        return min(self._n, bisect(self._upto, chance.random()))


def delta(rate: float, n: int, errors: Confusion) -> Interval:
    se, sp = errors.true_pass / errors.passes, errors.true_fail / errors.fails
    gain = se + sp - 1
    centre = (rate + sp - 1) / gain
    variance = rate * (1 - rate) / n + centre**2 * se * (1 - se) / errors.passes
    variance += (1 - centre) ** 2 * sp * (1 - sp) / errors.fails
    return centre - Z * sqrt(variance) / gain, centre + Z * sqrt(variance) / gain


def jeffreys(rate: float, n: int, errors: Confusion, chance: random.Random) -> Interval:
    def draw(k: float, of: int) -> float:
        return chance.betavariate(k + 0.5, of - k + 0.5)

    found = []
    for _ in range(200):
        p, se = draw(rate * n, n), draw(errors.true_pass, errors.passes)
        sp = draw(errors.true_fail, errors.fails)
        found.append(min(1.0, max(0.0, (p + sp - 1) / max(1e-6, se + sp - 1))))
    found.sort()
    return found[5], found[194]


class Coverage:
    """Counts how often each interval contains the truth, and sums their widths."""

    def __init__(self, names: Iterable[str]) -> None:
        self.held, self.width = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
        self.n = dict.fromkeys(names, 0)

    def add(self, truth: float, **intervals: Interval) -> None:
        for name, (low, high) in intervals.items():
            self.n[name] += 1
            self.held[name] += low - 1e-12 <= truth <= high + 1e-12
            self.width[name] += min(1.0, high) - max(0.0, low)

    def line(self) -> str:
        return "  ".join(
            f"{name} {self.share(name):6.1%} ({self.width[name] / self.n[name]:.3f})"
            for name in self.held
        )

    def share(self, name: str) -> float:
        return self.held[name] / self.n[name]


def measure_any_labels(runs: int, seed: int) -> list[Coverage]:
    print(f"\nlabels that are no random sample, {runs} runs each: held (mean width)")
    settings = []
    for truth, (se, sp), (n, good, bad) in product(RATES, JUDGES, SIZES):
        chance, held = (
            random.Random(f"{seed} {truth} {se} {n}"),
            Coverage(("ours", "delta", "draws", "raw")),
        )
        judged = BinomialCounts(n, truth * se + (1 - truth) * (1 - sp))
        right, wrong, refused = BinomialCounts(good, se), BinomialCounts(bad, sp), 0
        for run in range(runs):
            passed, a, b = judged.draw(chance), right.draw(chance), wrong.draw(chance)
            errors = Confusion(true_pass=a, false_fail=good - a, true_fail=b, false_pass=bad - b)
            try:
                ours = rogan_gladen(passed / n, n, errors).interval
            except ChanceError:
                refused += 1
                continue
            raw = wilson(passed, n)
            held.add(truth, ours=ours, delta=delta(passed / n, n, errors), raw=raw)
            if not run % 8:  # slow
                held.add(truth, draws=jeffreys(passed / n, n, errors, chance))
        name = f"rate {truth:4} judge {se}/{sp} n {n} + {good} + {bad}"
        print(f"{name:48} {held.line()}" + (f"  refused {refused}" if refused else ""))
        settings.append(held)
    return settings


def measure_random_labels(runs: int, seed: int) -> list[Coverage]:
    print(f"\nlabels that are a random sample, {runs} runs each: held (mean width)")
    settings = []
    judges, sizes = ((0.9, 0.7), (0.97, 0.97), (0.5, 0.5)), ((50, 1000), (100, 400), (200, 2000))
    for truth, (se, sp), (n, more) in product(RATES, judges, sizes):
        chance, held = (
            random.Random(f"{seed} {truth} {se} {n}"),
            Coverage(("ours", "normal", "labels")),
        )
        rest = BinomialCounts(more, truth * se + (1 - truth) * (1 - sp))
        for _ in range(runs):
            people = [chance.random() < truth for _ in range(n)]
            judge = [chance.random() < (se if good else 1 - sp) for good in people]
            passed = rest.draw(chance)
            others = [True] * passed + [False] * (more - passed)
            ours = ppi_rate(people, judge, others).interval
            y, f, more_f = ([float(x) for x in values] for values in (people, judge, others))
            plain = estimate_powered_mean(y, f, more_f)
            reach = Z * plain.error
            normal = plain.mean - reach, plain.mean + reach
            held.add(truth, ours=ours, normal=normal, labels=wilson(sum(people), n))
        print(f"rate {truth:4} judge {se}/{sp} n {n} of {n + more:5}".ljust(48), held.line())
        settings.append(held)
    return settings


def draw_ratings(chance: random.Random, steps: int, sure: float, n: int) -> list[tuple[int, int]]:
    """Return the ratings of n units by two raters: the truth, or else the step beside it."""

    def one(truth: int) -> int:
        near = min(steps - 1, max(0, truth + chance.choice((-1, 1))))
        return truth if chance.random() < sure else near

    return [(one(truth), one(truth)) for truth in (chance.randrange(steps) for _ in range(n))]


def measure_agreement(runs: int, seed: int) -> list[Coverage]:
    print(f"\nagreement of two raters, {runs} runs each: held (mean width)")
    settings = []
    for steps, sure, n in product((2, 5), (0.9, 0.6), (30, 100, 300)):
        chance = random.Random(f"{seed} {steps} {sure} {n}")
        many = draw_ratings(chance, steps, sure, 100_000)
        true_kappa = kappa(make_table(many, range(steps)), "quadratic").value or 0.0
        true_alpha = alpha(many, "interval").value or 0.0
        for_kappa, for_alpha = Coverage(("kappa", "wald")), Coverage(("alpha",))
        for _ in range(runs):
            drawn = draw_ratings(chance, steps, sure, n)
            found = kappa(make_table(drawn, range(steps)), "quadratic")
            interval, other = found.figure().interval, alpha(drawn, "interval").interval
            if interval is None or other is None or found.value is None or found.error is None:
                continue
            wald = found.value - Z * found.error, found.value + Z * found.error
            for_kappa.add(true_kappa, kappa=interval, wald=wald)
            for_alpha.add(true_alpha, alpha=other)
        print(f"{steps} steps, sure {sure}, n {n:3}".ljust(48), for_kappa.line(), for_alpha.line())
        settings += [for_kappa, for_alpha]
    return settings


def print_worst(title: str, settings: list[Coverage]) -> None:
    print(f"\n{title}: worst, mean and best of {len(settings)} settings")
    for name in dict.fromkeys(name for held in settings for name in held.held):
        shares = sorted(held.share(name) for held in settings if name in held.held)
        inside = sum(0.93 <= share <= 0.97 for share in shares)
        mean = sum(shares) / len(shares)
        ends = f"{shares[0]:6.1%} {mean:6.1%} {shares[-1]:6.1%}"
        print(f"{name:8} {ends}  93 to 97% in {inside} of {len(shares)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found = measure_any_labels(args.runs, args.seed)
    sample = measure_random_labels(max(1, args.runs // 4), args.seed)
    raters = measure_agreement(max(1, args.runs // 4), args.seed)
    print_worst("any labels", found)
    print_worst("a random sample", sample)
    print_worst("agreement", raters)
