"""A confidence sequence for a rate: an interval that stays valid however often it is checked.

The two-sided beta-binomial mixture of Howard, Ramdas, McAuliffe & Sekhon (2021), in the
parametrisation of their `confseq` package. For each rate p the evidence against it is the mean
likelihood ratio over a Beta(c·p, c·(1 − p)) of other rates; it starts at 1 and, while p is true,
reaches 1/alpha at any time with a chance of at most alpha (Ville). The interval is the rates not
refuted. c sets the number of trials at which the interval is narrowest; it is valid for any number.

A sliding window drops old failures and tests again, so its chance of a false alarm grows without
limit. To drop old data, start a new sequence and give it a share of alpha.
"""

from math import lgamma, log, log1p

#: No rate is nearer to 0 or 1 than this; the interval of `confseq` ends there too.
EDGE = 1e-12


def tune_concentration(n: float, alpha: float = 0.05) -> float:
    """Return the c that makes the interval narrowest after n trials."""
    twice = 2 * log(1 / alpha)
    return max(n / (twice + log1p(twice)) - 1, 1e-3)


def log_evidence(passed: int, n: int, rate: float, c: float) -> float:
    """Return the logarithm of the evidence against a rate, given `passed` of n."""
    a, b, failed = c * rate, c * (1 - rate), n - passed
    return (
        (lgamma(a + passed) + lgamma(b + failed) - lgamma(c + n))
        - (lgamma(a) + lgamma(b) - lgamma(c))
        - passed * log(rate)
        - failed * log1p(-rate)
    )


def is_below(passed: int, n: int, rate: float, c: float, bar: float) -> bool:
    """Return whether the upper end of the interval is below this rate; `bar` is log(1/alpha)."""
    return passed < rate * n and log_evidence(passed, n, rate, c) > bar


def anytime_interval(
    passed: int, n: int, *, alpha: float = 0.05, tuned_for: float
) -> tuple[float, float]:
    """Return the interval of rates that `passed` of n does not refute; [0, 1] where n is 0."""
    if not 0 <= passed <= n:
        raise ValueError(f"{passed} passed of {n}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: {alpha} is not between 0 and 1")
    if n == 0:
        return 0.0, 1.0
    c, bar, middle = tune_concentration(tuned_for), log(1 / alpha), passed / n
    low = 0.0 if passed == 0 else _end(passed, n, c, bar, EDGE, middle)
    high = 1.0 if passed == n else _end(passed, n, c, bar, 1 - EDGE, middle)
    return low, high


def _end(passed: int, n: int, c: float, bar: float, out: float, inside: float) -> float:
    """Return the end of the interval, between a rate outside (`out`) and one `inside` of it.

    The log evidence against the observed rate is below 0, so that rate is always inside.
    """
    if log_evidence(passed, n, out, c) <= bar:
        return round(out)
    for _ in range(60):
        middle = (out + inside) / 2
        if log_evidence(passed, n, middle, c) > bar:
            out = middle
        else:
            inside = middle
    return inside
