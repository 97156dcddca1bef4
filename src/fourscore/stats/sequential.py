"""Sequential test: is the new version better? Paired differences, tested at up to four looks.

**Looks.** Pairs are added until the budget is used up. The test is done after an eighth, a quarter,
half and all of the budget. Each look has its own level: the increase of Kim & DeMets' spending
function level · t² since the look before, where t is the used share of the budget. These levels add
up to the total level, so the chance of a false acceptance at any look is at most that, even though
the looks share data.

**Bounds.** The lower bound is that of Student's t with two precautions, because differences are
bounded and rarely normal: there may be small gains on most cases and rare large losses. One maximal
loss (−100) is added to the differences, as Clopper & Pearson's limits add one success: 25 equal
gains do not show that there are no losses. And where the differences are skewed to losses, the
quantile is widened by the first term of Hall's expansion of a studentised mean in its skewness g:
g · (1 + 2t²) / 6. The upper bound is the same, mirrored.

**Outcomes.** Accepted where the lower bound is above 0; rejected where the upper bound is below the
margin, because no relevant gain is plausible then; else the test goes on. After the last look it is
undecided, which is not accepted. A rejection uses none of the level, so it may be ignored.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, fsum, sqrt
from typing import Literal

import msgspec

from fourscore.core.numbers import check_finite, check_whole
from fourscore.stats.quantiles import student_quantile

#: The shares of the budget after which a look is taken.
SHARES = (0.125, 0.25, 0.5, 1.0)
#: No look before this many pairs, unless the budget is smaller.
FEWEST = 10
#: The exponent of the spending function: early looks decide only very clear differences.
LATE = 2
#: The level of the upper bound: the chance to reject a relevant gain, per look.
ABOVE = 0.1

SequentialOutcome = Literal["accept", "reject", "go_on", "undecided"]


class SequentialPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The looks and the level of the test. `largest` is the largest possible difference."""

    budget: int = 200
    looks: int = 4
    level: float = 0.05
    margin: float = 2.0
    largest: float = 100.0

    def __post_init__(self) -> None:
        for field in ("budget", "looks", "level", "margin", "largest"):
            if getattr(self, field) is None:
                raise ValueError(f"{field}: expected a number")
        check_whole("budget", self.budget, low=2)
        check_whole("looks", self.looks, low=1)
        if self.looks > len(SHARES):
            raise ValueError(f"looks: expected at most {len(SHARES)}")
        check_finite("level", self.level)
        if not 0 < self.level <= 0.5:
            raise ValueError(f"level: {self.level} is not above 0 and at most 0.5")
        check_finite("margin", self.margin, low=0)
        check_finite("largest", self.largest)
        if self.largest <= 0:
            raise ValueError(f"largest: {self.largest} is not above 0")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of pairs at each look; with fewer looks the early ones are left out."""
        return _sizes(self.budget, self.looks)

    @property
    def levels(self) -> tuple[float, ...]:
        """The level that each look spends; together they are `level`."""
        spent = [self.level * (size / self.budget) ** LATE for size in self.sizes]
        return tuple(b - a for a, b in zip([0.0, *spent], spent, strict=False))


class SequentialResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the looks so far, the last of them over n pairs.

    `look` is the number of the last look, 0 before the first. The bounds are one-sided: `low` at
    this look's level, `high` at 10%. `more` is how many more pairs the next look needs.
    """

    outcome: SequentialOutcome
    n: int
    look: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.0
    more: int | None = None

    @property
    def reason(self) -> str:
        return _reason(self)


def decide_sequentially(
    differences: Sequence[float], plan: SequentialPlan | None = None
) -> SequentialResult:
    """Return the result of the first look that decides, from differences new − old in order.

    The same differences give the same result, so an interrupted search can be continued.
    """
    plan = plan or SequentialPlan()
    for difference in differences:
        if type(difference) is not float or not -plan.largest <= difference <= plan.largest:
            _check_difference(difference, plan.largest)
    verdict = SequentialResult(outcome="go_on", n=len(differences), look=0)
    sizes = plan.sizes
    for number, (size, level) in enumerate(zip(sizes, plan.levels, strict=True), 1):
        if len(differences) < size:
            return msgspec.structs.replace(verdict, more=size - len(differences))
        low, high = one_sided_bounds(differences[:size], level, ABOVE, plan.largest)
        outcome: SequentialOutcome = "go_on" if number < len(sizes) else "undecided"
        if low > 0:
            outcome = "accept"
        elif high < plan.margin:
            outcome = "reject"
        verdict = SequentialResult(
            outcome=outcome,
            n=size,
            look=number,
            mean=fsum(differences[:size]) / size,
            low=low,
            high=high,
            level=level,
        )
        if outcome != "go_on":
            break
    return verdict


def one_sided_bounds(
    differences: Sequence[float], level: float, above: float = ABOVE, largest: float = 100.0
) -> tuple[float, float]:
    """Return one-sided bounds of the mean: the lower at `level`, the upper at `above`."""
    low = _lower(differences, level, largest)
    high = -_lower([-value for value in differences], above, largest)
    return low, high


def _lower(differences: Sequence[float], level: float, largest: float) -> float:
    values = [*differences, -largest]
    n = len(values)
    mean = fsum(values) / n
    apart = [value - mean for value in values]
    squares = fsum([x * x for x in apart])
    if not squares:
        return -largest
    t = student_quantile(1 - 2 * level, max(1, n - 2)) if level < 0.5 else 0.0
    cubes = fsum([x * x * x for x in apart])
    lean: float = max(0.0, -cubes / squares**1.5)  # the skewness over the root of n
    reach = t + lean * (1 + 2 * t * t) / 6
    low: float = mean - reach * sqrt(squares / (n * (n - 1)))
    return max(-largest, low)


@lru_cache(maxsize=64)
def _sizes(budget: int, looks: int) -> tuple[int, ...]:
    fewest = min(FEWEST, budget)
    return tuple(sorted({max(fewest, ceil(budget * share)) for share in SHARES[-looks:]}))


def _check_difference(difference: object, largest: float) -> None:
    """Raise an error unless the difference is a number within ±largest; an int is accepted."""
    if difference is None:
        raise ValueError("difference: expected a number, got None")
    check_finite("difference", difference, -largest, largest)


def _reason(verdict: SequentialResult) -> str:
    if verdict.mean is None:
        return f"{verdict.n} pairs, too few for the first look"
    ends = f"[{verdict.low:+.2f}, {verdict.high:+.2f}]"
    seen = f"{verdict.mean:+.2f} points {ends} over {verdict.n} pairs, look {verdict.look}"
    words = {
        "accept": "a gain that chance does not explain",
        "reject": "no gain worth having is plausible",
        "go_on": "not clear yet",
        "undecided": "not clear, and the budget is used up",
    }
    return f"{words[verdict.outcome]}: {seen}"
