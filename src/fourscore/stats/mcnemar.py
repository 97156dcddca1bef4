"""Did the pass rate change? Two runs over the same cases, a before and b after.

**The test.** If the two agents are equal, each difference is as likely with the other sign. With
one attempt per case only the changed cases count, like tosses of a fair coin: this is McNemar's
exact test. With repeats a case is still one pair, with the difference of two pass shares, and the
exact p-value is the share of all sign combinations whose sum is at least as far from 0. All
combinations are counted by multiplying (1 + xᵛ) over the differences v, as one long integer. Where
that integer would be too long there are many hundred changed cases, and the sum is nearly normal.

**The interval** is Bonett & Price's (2012): Wald's after adding one case gained and one lost. Of
those recommended for paired rates (Fagerland, Lydersen & Laake 2014) it is the simplest. Computed
exactly (tests/stats/data/exact_paired.py; n of 10 to 200, 49 settings each), it contained the true
difference in 97.1% on average and 92.8% at worst, Tango's in 96.7% and 93.3%; it was 1 to 6%
narrower. Wherever the exact test is significant the interval excludes 0 (all tables of up to 119
cases and some of up to 1,000, levels of 80% to 97.5%), so verdict and interval agree.

With repeats the interval is computed as in `intervals`: with Student's t and the number of
independent pairs that would have the error between cases, at most the number of attempts; where
nothing differs, each case counts once. Then test and interval may disagree slightly, and the test
decides.
"""

from collections.abc import Mapping
from math import fsum, gcd, lcm, sqrt
from typing import TYPE_CHECKING

import msgspec

from fourscore.stats.p_values import coin_tail, normal_tail
from fourscore.stats.pass_at_k import MAX_REPEATS
from fourscore.stats.quantiles import normal_quantile, student_quantile

if TYPE_CHECKING:
    from fractions import Fraction  # imports decimal: only repeats need it

#: The most bytes to move when counting all sign combinations: some hundredths of a second.
MOST_WORK = 400_000_000


class PassChange(msgspec.Struct, frozen=True, kw_only=True):
    """How the pass rate changed from a to b, over n pairs; None where there were none.

    Rates are means over cases. `square` is the mean squared difference of the cases: with one
    attempt per case, the share of changed cases. `left_out` counts pairs without a verdict in one
    run.
    """

    n: int
    left_out: int
    attempts: int
    gained: int
    lost: int
    rate_a: float | None = None
    rate_b: float | None = None
    difference: float | None = None
    square: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None


class PassPairs:
    """Counts of pairs by their two results; memory does not grow with the number of cases."""

    __slots__ = ("attempts", "left_out", "tally")

    def __init__(self) -> None:
        self.tally: dict[tuple[float, float], int] = {}
        self.left_out = self.attempts = 0

    def add(self, a: float | None, b: float | None, attempts: int = 1) -> None:
        """Add one case: whether it passed, or the share of its attempts that passed."""
        if a is None or b is None:
            self.left_out += 1
            return
        if not (0.0 <= a <= 1.0 and 0.0 <= b <= 1.0 and attempts > 0):
            raise ValueError(f"passed: {a} and {b} of {attempts} attempts")
        self.attempts += attempts
        self.tally[a, b] = self.tally.get((a, b), 0) + 1

    def change(self, level: float = 0.95) -> PassChange:
        tally = self.tally
        n = sum(tally.values())
        gained = sum(count for (a, b), count in tally.items() if b > a)
        lost = sum(count for (a, b), count in tally.items() if b < a)
        if not n:
            return PassChange(n=0, left_out=self.left_out, attempts=0, gained=0, lost=0)
        square, discord, difference = (
            fsum(x * count for x, count in each) / n
            for each in (
                [((b - a) ** 2, count) for (a, b), count in tally.items()],
                [(a * (1 - b) + b * (1 - a), count) for (a, b), count in tally.items()],
                [(b - a, count) for (a, b), count in tally.items()],
            )
        )
        once = self.attempts == n
        return PassChange(
            n=n,
            left_out=self.left_out,
            attempts=self.attempts,
            gained=gained,
            lost=lost,
            rate_a=fsum(a * count for (a, _), count in tally.items()) / n,
            rate_b=fsum(b * count for (_, b), count in tally.items()) / n,
            difference=difference,
            square=square,
            interval=paired_rate_interval(n, difference, square, level)
            if once
            else _clustered(n, self.attempts, difference, square, discord, level),
            p=mcnemar(gained, lost) if once else exact_flip_p_value(_differences(tally)),
        )


def mcnemar(gained: int, lost: int) -> float:
    """Return McNemar's exact two-sided p-value for the numbers of cases gained and lost."""
    return coin_tail(gained, lost)


def exact_flip_p_value(differences: "Mapping[Fraction, int]") -> float:
    """Return the exact two-sided p-value of differences, {difference: number of cases}."""
    changed = {size: count for size, count in differences.items() if size}
    unit = lcm(*(size.denominator for size in changed)) if changed else 1
    whole = {int(size * unit): count for size, count in changed.items()}
    step = gcd(*whole) or 1
    sizes = [abs(size) // step for size, count in whole.items() for _ in range(count)]
    reach = abs(sum(size * count for size, count in whole.items())) // step
    if not reach:
        return 1.0
    most, width = sum(sizes), len(sizes) // 8 + 1
    if len(sizes) * most * width > MOST_WORK:
        # Continuity correction: neighbouring sums of ± sizes differ by 2, and half of it is 1.
        return normal_tail((reach - 1) / most / sqrt(sum((size / most) ** 2 for size in sizes)))
    ways = 1
    for size in sizes:
        ways += ways << (8 * width * size)
    packed = ways.to_bytes((most + 1) * width, "little")
    first = (most + reach) // 2 * width
    places = range(first, len(packed), width)
    tail = sum(int.from_bytes(packed[i : i + width], "little") for i in places)
    return min(1.0, 2 * tail / (1 << len(sizes)))


def paired_rate_interval(
    n: float, difference: float, square: float, level: float = 0.95
) -> tuple[float, float]:
    """Return Bonett & Price's interval from the mean and the mean square of differences."""
    return _adjusted(n, difference, square, normal_quantile(level))


def _adjusted(n: float, difference: float, square: float, z: float) -> tuple[float, float]:
    centre = n * difference / (n + 2)
    error = sqrt(max(0.0, (n * square + 2) / (n + 2) - centre * centre) / (n + 2))
    return max(-1.0, centre - z * error), min(1.0, centre + z * error)


def _clustered(
    n: int, attempts: int, difference: float, square: float, discord: float, level: float
) -> tuple[float, float]:
    """Return the interval with repeats; `discord`: how often single attempts of a and b differ."""
    if n == 1 or not discord:
        return _adjusted(n, difference, discord, normal_quantile(level))
    between = (square - difference * difference) * n / (n - 1)
    within = discord - difference * difference
    alike = min(attempts, max(n, n * within / between)) if between > 0 else attempts
    return _adjusted(alike, difference, discord, student_quantile(level, n - 1))


def _differences(tally: Mapping[tuple[float, float], int]) -> "dict[Fraction, int]":
    found: dict[Fraction, int] = {}
    for (a, b), count in tally.items():
        size = _share(b) - _share(a)
        found[size] = found.get(size, 0) + count
    return found


def _share(value: float) -> "Fraction":
    from fractions import Fraction

    return Fraction(value).limit_denominator(MAX_REPEATS)
