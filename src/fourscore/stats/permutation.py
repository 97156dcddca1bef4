"""Permutation tests: by random signs of differences, or by shuffled labels.

One-sided: the p-value is how often chance alone does at least as well. It is at least
1 / (shuffles + 1), because the observed order counts as one of the shuffles.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import product
from math import fsum
from random import Random

SHUFFLES = 9_999
#: Up to this many signs, all combinations are tried (16,384).
EXACT = 14


def sign_flip_p_value(
    differences: Sequence[float], *, shuffles: int = SHUFFLES, seed: int = 0
) -> float:
    """Return the p-value: how often the differences with random signs have at least this mean.

    If there is no true difference, each sign is as likely as the other one.
    """
    values = [value for value in differences if value]
    if not values:
        return 1.0
    seen = fsum(values)
    slack = 1e-12 * fsum(map(abs, values))
    if len(values) <= EXACT:
        sums = [
            fsum(s * v for s, v in zip(signs, values, strict=True))
            for signs in product((1, -1), repeat=len(values))
        ]
        return sum(one >= seen - slack for one in sums) / len(sums)
    chance = Random(seed)  # noqa: S311 - a test, not a secret
    reached = 0
    for _ in range(shuffles):
        bits = chance.getrandbits(len(values))
        total = sum(v if bits >> i & 1 else -v for i, v in enumerate(values))
        reached += total >= seen - slack
    return (reached + 1) / (shuffles + 1)


def shuffled_agreement_p_value(
    predicted: Sequence[float], labels: Sequence[float], *, shuffles: int = 1999, seed: int = 0
) -> float:
    """Return the p-value: how often shuffled labels have at least this rank correlation."""
    a, b = _ranks(predicted), _ranks(labels)
    seen = fsum(x * y for x, y in zip(a, b, strict=True))
    chance = Random(seed)  # noqa: S311
    reached = 0
    for _ in range(shuffles):
        chance.shuffle(b)
        reached += sum(x * y for x, y in zip(a, b, strict=True)) >= seen - 1e-9 * abs(seen)
    return (reached + 1) / (shuffles + 1)


def _ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 0; equal values share their mean rank."""
    ordered = sorted(values)
    return [
        (bisect_left(ordered, value) + bisect_right(ordered, value) - 1) / 2 for value in values
    ]
