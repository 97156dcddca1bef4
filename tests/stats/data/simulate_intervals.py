# mypy: ignore-errors
"""How often 95% intervals hold the true rate, with 4 attempts a case: docs/statistics.md's table.

    v/bin/python tests/stats/data/simulate_intervals.py    (the environment of make_golden.py)

Cases draw their own success rate from a beta distribution; `alike` is the correlation of attempts
at one case. `t` is the plain clustered interval cut at 0 and 1; `wilson` is `rates.clustered`.
"""

import sys

import numpy as np
from scipy.stats import norm, t

RUNS, REPEATS = 20_000, 4


def wilson(p, n, z):
    centre, spread = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)


def held(rng, cases, p, alike):
    each = rng.beta(p * (1 - alike) / alike, (1 - p) * (1 - alike) / alike, (RUNS, cases))
    successes = rng.binomial(REPEATS, each)
    n = cases * REPEATS
    mean = successes.sum(1) / n
    squares = ((successes - REPEATS * mean[:, None]) ** 2).sum(1)
    error = np.sqrt(squares * cases / (cases - 1)) / n
    flat, reach = error == 0, t.ppf(0.975, cases - 1)
    fallback = wilson(mean, cases, norm.ppf(0.975))
    plain = np.clip(mean - reach * error, 0, 1), np.clip(mean + reach * error, 0, 1)
    size = np.minimum(n, mean * (1 - mean) / np.where(flat, 1, error) ** 2)
    ours = wilson(mean, np.where(flat, 1, size), reach)
    for low, high in (plain, ours):
        low, high = np.where(flat, fallback[0], low), np.where(flat, fallback[1], high)
        yield ((low <= p) & (p <= high)).mean()


def main():
    rng = np.random.default_rng(7)
    for cases in (10, 20, 50, 200):
        for p in (0.5, 0.8, 0.95, 0.99):
            for alike in (0.05, 0.4, 0.9):
                plain, ours = held(rng, cases, p, alike)
                line = f"{cases:4} cases, rate {p:.2f}, alike {alike:.2f}: "
                sys.stdout.write(f"{line}t {plain:.3f}  wilson {ours:.3f}\n")


if __name__ == "__main__":
    main()
