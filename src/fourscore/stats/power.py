"""Power: how many cases would show a difference, and how small a difference n cases can show.

The observed difference is taken as the true one. A noisy difference gives a rough number: it tells
whether ten more cases might be enough, or ten thousand.

- Pass/fail: (z₁√q + z₂√(q − d²))²/d² cases (Connor 1987) for a change d where the mean square
  difference is q, and some more as an exact test moves in steps. The power this leads to at 5% and
  2.5%, computed exactly, lies between 0.80 and 0.86 where 0.8 was asked for, and between 0.75 and
  0.88 where nearly all changes go one way and a dozen of them decide.
- Scores: ((z₁ + z₂)s/d)² and z₁²/2 more for Student's t; 0.80 to 0.82 when simulated.
- A test that uses only signs has a p-value of at least 2^(1 − m) with m cases that differ: fewer
  than six of them are never significant at 5%.
"""

from math import ceil, log2, sqrt

from fourscore.stats.quantiles import normal_quantile

#: The largest number of cases that is reported.
MOST = 10**9


def min_differences(alpha: float) -> int:
    """Return how many differences of the same sign a test at this level needs."""
    return ceil(1 - log2(alpha) - 1e-9)


def cases_for_passes(
    difference: float,
    square: float,
    *,
    differing: float | None = None,
    step: float = 1.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Return how many cases would show this pass rate change; None where no number would.

    With repeats, `differing` is the share of cases that differ (without repeats it equals
    `square`), and `step` is 1 / attempts per case.
    """
    if not difference or not square:
        return None
    cases = _for_passes(abs(difference), square, step, alpha, power)
    return _whole(max(cases, min_differences(alpha) / (differing or square)))


def cases_for_scores(
    difference: float,
    spread: float,
    *,
    differing: float = 1.0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Return how many cases would show this mean score difference; None where no number would.

    `spread` is the standard deviation of the differences, `differing` the share of cases whose
    scores differ.
    """
    if not difference or not differing:
        return None
    z = normal_quantile(1 - alpha)
    cases = ((z + _one_sided(power)) * spread / difference) ** 2 + z * z / 2
    return _whole(max(cases, min_differences(alpha) / differing))


def cases_for_sameness(
    difference: float, spread: float, margin: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return how many cases would give an interval inside ±margin; None where no number would."""
    room = margin - abs(difference)
    if room <= 0:
        return None
    return _whole(((normal_quantile(1 - alpha) + normal_quantile(power)) * spread / room) ** 2)


def detectable_passes(
    n: int, square: float, *, step: float = 1.0, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest pass rate change that n cases would show; None where there is none.

    A case changes by at least one `step`, so a larger change needs a larger `square` than observed.
    """

    def needed(change: float) -> float:
        least = max(square, change * step, change * change)
        cases = _for_passes(change, least, step, alpha, power)
        return max(cases, min_differences(alpha) / max(square, change))

    if needed(1.0) > n:
        return None
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if needed(middle) <= n else (middle, high)
    return high


def detectable_scores(
    n: int, spread: float, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest mean score difference that n cases would show; None where above 1."""
    z = normal_quantile(1 - alpha)
    left = n - z * z / 2
    if n < min_differences(alpha) or left <= 0 or not spread:
        return None
    found = (z + _one_sided(power)) * spread / sqrt(left)
    return found if found <= 1 else None


def _for_passes(change: float, square: float, step: float, alpha: float, power: float) -> float:
    rest = max(0.0, square - change * change)
    reach = normal_quantile(1 - alpha) * sqrt(square) + _one_sided(power) * sqrt(rest)
    steps = 2 * step * sqrt(max(0.0, 1 - (change / square) ** 2))
    return (reach / change) ** 2 + steps / change


def _one_sided(power: float) -> float:
    if not 0.5 < power < 1:
        raise ValueError(f"power: {power} is not between 0.5 and 1")
    return normal_quantile(2 * power - 1)


def _whole(cases: float) -> int | None:
    return ceil(cases - 1e-9) if cases <= MOST else None
