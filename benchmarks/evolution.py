"""How often decisions about mutations are wrong, by both rules on the same data.

    python benchmarks/evolution.py [--runs 4000] [--seed 1]

Each mutation is tried on up to 200 paired cases. Its differences (new − old, on a scale of 100) are
drawn around a true effect: none, five points better, two points worse. The paired rule is the
default with its four looks; the literal rule gets the means of the first ten cases and of all 200;
`t` is Student's t test at 5% at each of the same four looks, without a correction.

`normal` differences have a standard deviation of 20. `gains lost` are skewed to the left, small
gains and now and then a great loss, `losses won` the other way; `0/100` are passes and failures,
equal on most cases; `rare` ones are the same small gain, but for a share of cases that lose all.
"""

import argparse
import random
from collections.abc import Callable
from math import exp, fsum, sqrt

from fourscore.evolve.decision import should_apply_mutation
from fourscore.stats.quantiles import student_quantile
from fourscore.stats.sequential import SequentialPlan, decide_sequentially

Draw = Callable[[random.Random, float], float]
PLAN = SequentialPlan()
#: Of a loss that is cut where differences end.
MEAN = 20 - 20 * exp(-6)


def normal(rng: random.Random, effect: float) -> float:
    return _cut(rng.gauss(effect, 20))


def gains_lost(rng: random.Random, effect: float) -> float:
    return _cut(effect + MEAN - rng.expovariate(1 / 20))


def losses_won(rng: random.Random, effect: float) -> float:
    return _cut(effect - MEAN + rng.expovariate(1 / 20))


def passes(share: float) -> Draw:
    """Return differences of 0/100 scores, of which this share is not zero."""

    def draw(rng: random.Random, effect: float) -> float:
        x = rng.random()
        return 100.0 if x < (share + effect / 100) / 2 else -100.0 if x < share else 0.0

    return draw


def rare(share: float, loss: float = 100.0) -> Draw:
    def draw(rng: random.Random, effect: float) -> float:
        gain = (effect + loss * share) / (1 - share)
        return -loss if rng.random() < share else gain

    return draw


KINDS: dict[str, Draw] = {
    "normal": normal,
    "gains lost": gains_lost,
    "losses won": losses_won,
    "0/100, 4% differ": passes(0.04),
    "0/100, 10% differ": passes(0.1),
    "0/100, 30% differ": passes(0.3),
    "rare, 1%": rare(0.01),
    "rare, 3%": rare(0.03),
    "rare, 10%": rare(0.1),
}


def _cut(difference: float) -> float:
    return min(100.0, max(-100.0, difference))


def by_t(differences: list[float], plan: SequentialPlan = PLAN) -> bool:
    """Return whether a t test accepts at 5% at any look, without a correction for several looks."""
    for size in plan.sizes:
        seen = differences[:size]
        mean = fsum(seen) / size
        error = sqrt(fsum((x - mean) ** 2 for x in seen) / (size * (size - 1)))
        if mean > student_quantile(0.9, size - 1) * error:
            return True
    return False


def literal(differences: list[float], rng: random.Random) -> bool:
    delta = fsum(differences) / len(differences)
    return should_apply_mutation(50 - delta / 2, 50 + delta / 2, rng).accepted


def accepted(draw: Draw, effect: float, runs: int, seed: str) -> tuple[list[float], float]:
    """Return the shares accepted by the paired rule, the literal one with 10 and 200 cases, and t;
    and the mean number of pairs that the paired rule needed."""
    rng, counts, pairs = random.Random(seed), [0] * 4, 0
    for _ in range(runs):
        differences = [draw(rng, effect) for _ in range(PLAN.budget)]
        verdict = decide_sequentially(differences, PLAN)
        pairs += verdict.n
        answers = (
            verdict.outcome == "accept",
            literal(differences[:10], rng),
            literal(differences, rng),
            by_t(differences),
        )
        for place, answer in enumerate(answers):
            counts[place] += answer
    return [count / runs for count in counts], pairs / runs


def table(runs: int, seed: int) -> None:
    print(
        f"accepted, of {runs} mutations each          paired  literal (10)  (200)       t   pairs"
    )
    for effect in (0.0, 5.0, -2.0):
        for name, draw in KINDS.items():
            if name == "0/100, 4% differ" and effect > 4:
                continue  # no more than four points can be gained
            shares, pairs = accepted(draw, effect, runs, f"{seed} {name} {effect}")
            columns = "".join(f"{share:9.1%}" for share in shares)
            print(f"{effect:+3.0f} points  {name:20} {columns}    {pairs:4.0f}", flush=True)


def cost(runs: int, seed: int) -> None:
    """Print how many pairs are needed for larger effects."""
    for effect in (10.0, 20.0):
        shares, pairs = accepted(normal, effect, runs, f"{seed} normal {effect}")
        print(f"{effect:+3.0f} points  normal: {shares[0]:.1%} accepted after {pairs:.0f} pairs")


def hardest(runs: int, seed: int) -> None:
    """Print the worst false acceptance rate of the paired rule over all shapes of rare losses."""
    found = []
    for budget in (40, 100, 200, 400):
        plan = SequentialPlan(budget=budget)
        for loss in (100.0, 50.0, 25.0):
            for share in (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4):
                draw, rng = rare(share, loss), random.Random(f"{seed} {budget} {loss} {share}")
                wrong = sum(
                    decide_sequentially([draw(rng, 0.0) for _ in range(budget)], plan).outcome
                    == "accept"
                    for _ in range(runs)
                )
                found.append((wrong / runs, budget, loss, share))
    worst = max(found)
    print(
        f"\nrare losses of 25 to 100 points, in 0.5 to 40% of cases, budgets of 40 to 400:"
        f" {len(found)} settings, {runs} mutations each; at worst {worst[0]:.1%} accepted"
        f" (budget {worst[1]}, losses of {worst[2]:g} in {worst[3]:.1%})"
    )


def steady() -> None:
    print("\nthe same gain on every case is accepted from")
    for n in (10, 25, 40, 60, 100, 200, 400):
        plan = SequentialPlan(budget=n, looks=1)
        points = next(
            (
                g / 4
                for g in range(1, 400)
                if decide_sequentially([g / 4] * n, plan).outcome == "accept"
            ),
            None,
        )
        print(f"  {n:4} pairs  {'none' if points is None else f'{points:g} points'}")


def main() -> None:
    parser = argparse.ArgumentParser(description="How often decisions about mutations are wrong.")
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    table(given.runs, given.seed)
    cost(max(200, given.runs // 4), given.seed)
    hardest(max(200, given.runs // 4), given.seed)
    steady()


if __name__ == "__main__":
    main()
