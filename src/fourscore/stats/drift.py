"""Drift: compare an older and a newer window of the same traffic.

Each p-value is valid on its own, so tests of windows that do not overlap can split one alpha.
Distributions are compared by the largest gap between their cumulative shares (Kolmogorov and
Smirnov), rates by Fisher's exact test.
"""

from collections.abc import Mapping, Sequence
from math import e, exp, lgamma

#: From this window size on, the bound is proven with a constant of 2.
PROVEN = 458


def compare_histograms(old: Sequence[int], new: Sequence[int]) -> tuple[float, float]:
    """Return the largest gap between two cumulative histograms of the same bins, and its p-value.

    The bound is Massart's for two samples of equal size, proven by Wei & Dudley (2012) with a
    constant of 2 from 458 values each, and of e below. Binning can only make the gap smaller.
    """
    m, n = sum(old), sum(new)
    if m != n:
        raise ValueError(f"windows of {m} and {n} values: expected equal sizes")
    if not n:
        return 0.0, 1.0
    most = so_far = 0.0
    for a, b in zip(old, new, strict=True):
        so_far += (a - b) / n
        most = max(most, abs(so_far))
    return most, min(1.0, (2.0 if n >= PROVEN else e) * exp(-n * most * most))


def fisher_exact(a: int, m: int, b: int, n: int) -> float:
    """Return Fisher's exact p-value for a of m against b of n: twice the smaller tail."""
    if not (0 <= a <= m and 0 <= b <= n):
        raise ValueError(f"{a} of {m} and {b} of {n}")
    total = a + b
    if not m or not n or not total or total == m + n:
        return 1.0
    if a * n > b * m:
        return fisher_exact(b, n, a, m)
    # The tail at and below a, from its largest term down.
    term, tail, at = 1.0, 1.0, a
    while at > max(0, total - n) and term > 1e-17 * tail:
        term *= at * (n - total + at) / ((m - at + 1) * (total - at + 1))
        tail += term
        at -= 1
    first = _log_binomial(m, a) + _log_binomial(n, b) - _log_binomial(m + n, total)
    return min(1.0, 2 * tail * exp(first))


def compare_tags(
    old: Mapping[str, int], m: int, new: Mapping[str, int], n: int
) -> tuple[str, float, float]:
    """Return the tag with the smallest p-value, the change of its share, and the adjusted p."""
    names = sorted(old.keys() | new.keys())
    if not names or not m or not n:
        return "", 0.0, 1.0
    found = min((fisher_exact(old.get(t, 0), m, new.get(t, 0), n), t) for t in names)
    name = found[1]
    return name, new.get(name, 0) / n - old.get(name, 0) / m, min(1.0, found[0] * len(names))


def _log_binomial(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
