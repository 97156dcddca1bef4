# mypy: ignore-errors
"""Makes golden_paired.json, as make_golden.py makes golden.json; its environment serves.

python -m venv v && v/bin/pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0
v/bin/python tests/stats/data/make_golden_paired.py
"""

import json
import random
from pathlib import Path

import numpy
import scipy
import statsmodels
from scipy.stats import binomtest, bootstrap, permutation_test, t, ttest_rel
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

HERE = Path(__file__).parent


def scores(n, seed, lift=0.0):
    rng, a, b = random.Random(seed), [], []
    for _ in range(n):
        centre = rng.betavariate(2, 1)
        for side, shift in ((a, 0.0), (b, lift)):
            side.append(round(min(1.0, max(0.0, rng.gauss(centre + shift, 0.2))), 3))
    return a, b


def exact(gained, lost):
    """statsmodels wants the whole table; the concordant cells do not matter."""
    found = mcnemar([[5, lost], [gained, 7]], exact=True)
    toss = binomtest(min(gained, lost), gained + lost).pvalue if gained + lost else 1.0
    return [gained, lost, float(found.pvalue), float(toss)]


def paired_t(n, seed, lift):
    a, b = scores(n, seed, lift)
    found = ttest_rel(b, a)
    interval = found.confidence_interval(0.95)
    return {"a": a, "b": b, "p": found.pvalue, "interval": list(interval)}


def resampled(values):
    found = bootstrap((values,), numpy.mean, n_resamples=200_000, batch=1000, rng=1)
    return {"values": values, "interval": list(found.confidence_interval)}


def lopsided(n, seed):
    """Most cases do not change, a few change by much."""
    rng = random.Random(seed)
    return [rng.choice((1.0, 0.5, -0.25)) if rng.random() < 0.15 else 0.0 for _ in range(n)]


def swapped(n, seed):
    """Passes of four attempts at each of n cases, before and after."""
    rng, rows = random.Random(seed), []
    for _ in range(n):
        p = rng.random()
        rows.append([sum(rng.random() < q for _ in range(4)) for q in (p, min(1.0, p + 0.2))])
    a, b = ([row[i] / 4 for row in rows] for i in (0, 1))
    kinds = {"permutation_type": "samples", "n_resamples": numpy.inf, "vectorized": True}
    found = permutation_test(
        (numpy.array(b), numpy.array(a)), lambda x, y, axis: (x - y).mean(axis), **kinds
    )
    return {"passes": rows, "p": float(found.pvalue)}


def main():
    tables = [(0, 0), (1, 0), (0, 5), (6, 0), (7, 1), (12, 5), (30, 30), (61, 40), (400, 350)]
    tables += [(500, 501), (700, 600), (1000, 1100), (10_200, 9_800), (100_500, 99_500)]
    families = [[0.01], [0.04, 0.001, 0.03], [0.5, 0.5, 0.5, 0.9], [0.02, 0.02, 0.9, 0.0, 1.0]]
    families.append([random.Random(3).random() ** 4 for _ in range(40)])
    ts = [0.0, 1e-9, 0.01, 0.3, 0.8, 1.2, 1.3, 2.0, 4.0, 9.0, 40.0]
    freedoms = [1, 2, 3, 7, 19, 50, 199, 1000, 20_000, 199_999]
    golden = {
        "made_with": {lib.__name__: lib.__version__ for lib in (numpy, scipy, statsmodels)},
        "mcnemar": [exact(*table) for table in tables],
        "student_tail": [[x, df, 2 * t.sf(x, df)] for x in ts for df in freedoms],
        "t": [paired_t(*given) for given in ((12, 1, 0.1), (60, 2, 0.03), (200, 3, 0.05))],
        "holm": [[ps, list(multipletests(ps, method="holm")[1])] for ps in families],
        "flips": [swapped(n, seed) for n, seed in ((6, 1), (11, 2), (15, 3), (16, 4))],
        "bootstrap": [
            resampled(values)
            for values in (
                lopsided(60, 1),
                lopsided(400, 2),
                lopsided(1500, 3),
                [round(y - x, 3) for x, y in zip(*scores(80, 5, 0.1), strict=True)],
                [round(y - x, 3) for x, y in zip(*scores(700, 6, 0.1), strict=True)],
            )
        ],
    }
    (HERE / "golden_paired.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
