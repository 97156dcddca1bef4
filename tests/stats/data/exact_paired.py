# mypy: ignore-errors
"""Exact figures for mcnemar.py and power.py: every table that can come up, with its chance.

    PYTHONPATH=src v/bin/python tests/stats/data/exact_paired.py    (the environment of
    make_golden.py, and msgspec)

First how often Bonett & Price's and Tango's 95% intervals hold the true difference, and how wide
they are; then the power of McNemar's exact test at the number of cases that power.py asks for.
"""

import sys

import numpy as np
from scipy.special import gammaln, xlogy
from scipy.stats import binom, norm

from fourscore.stats.power import cases_for_passes

Z = norm.ppf(0.975)


def bonett_price(b, c, n):
    d = (b - c) / (n + 2)
    reach = Z * np.sqrt(((b + c + 2) / (n + 2) - d * d) / (n + 2))
    return np.maximum(-1, d - reach), np.minimum(1, d + reach)


def tango(b, c, n):
    def score(d):
        half = 2 * n * d - b - c - (b - c) * d
        p = (np.sqrt(np.maximum(0, half**2 + 8 * n * c * d * (1 - d))) - half) / (4 * n)
        return (b - c - n * d) / np.sqrt(np.maximum(1e-300, n * (2 * p + d * (1 - d))))

    def end(outer):
        inside, outside = (b - c) / n, np.full(len(b), outer)
        for _ in range(60):
            middle = (inside + outside) / 2
            held = np.abs(score(middle)) < Z
            inside, outside = np.where(held, middle, inside), np.where(held, outside, middle)
        return inside

    return end(-1.0), end(1.0)


def coverage():
    for n in (10, 20, 50, 100, 200):
        b, c = (x.ravel() for x in np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0)))
        b, c = b[b + c <= n], c[b + c <= n]
        ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(n - b - c + 1)
        found = {}
        for name, of in (("Bonett & Price", bonett_price), ("Tango", tango)):
            low, high = of(b, c, n)
            held, wide = [], []
            for q in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8):
                for d in q * np.array([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]):
                    gain, loss = (q + d) / 2, (q - d) / 2
                    chance = np.exp(
                        ways + xlogy(b, gain) + xlogy(c, loss) + xlogy(n - b - c, 1 - q)
                    )
                    held.append(chance[(low <= d + 1e-12) & (d - 1e-12 <= high)].sum())
                    wide.append(chance @ (high - low))
            found[name] = np.array(wide)
            line = f"n = {n:3}, {name:14}: least {min(held):.3f}, mean {np.mean(held):.3f}\n"
            sys.stdout.write(line)
        ratio = np.mean(found["Bonett & Price"] / found["Tango"])
        sys.stdout.write(f"n = {n:3}, width as a share of Tango's: {ratio:.3f}\n")


def exact_power(n, q, d, alpha):
    m = np.arange(n + 1)
    k = binom.ppf(alpha / 2, m, 0.5)
    k -= binom.cdf(k, m, 0.5) > alpha / 2
    share = (q + d) / 2 / q
    shown = np.where(k >= 0, binom.cdf(k, m, share) + binom.sf(m - k - 1, m, share), 0)
    return binom.pmf(m, n, q) @ shown


def power():
    for alpha in (0.05, 0.025):
        for name, shares in (
            ("both ways", (0.1, 0.2, 0.35, 0.5, 0.65, 0.8)),
            ("one way", (0.9, 1)),
        ):
            found = []
            for q in (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9):
                for d in (q * share for share in shares):
                    n = cases_for_passes(d, q, alpha=alpha)
                    if n <= 6000:
                        found.append(exact_power(n, q, d, alpha))
            line = f"power at {alpha}, {name}: {min(found):.3f} to {max(found):.3f}\n"
            sys.stdout.write(line)


if __name__ == "__main__":
    coverage()
    power()
