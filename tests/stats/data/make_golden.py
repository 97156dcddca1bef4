# mypy: ignore-errors
"""Makes golden.json, with the field's own libraries. Not part of the tests: they read its numbers.

python -m venv v && v/bin/pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0
v/bin/python tests/stats/data/make_golden.py
"""

import json
import random
from pathlib import Path

import numpy
import scipy
import statsmodels
from scipy.stats import norm, t
from statsmodels.api import OLS
from statsmodels.stats.proportion import proportion_confint

HERE = Path(__file__).parent


def clustered(values, cases):
    constant, groups = numpy.ones((len(values), 1)), numpy.unique(cases, return_inverse=True)[1]
    kinds = {"cov_type": "cluster", "cov_kwds": {"groups": groups}, "use_t": True}
    fit, plain = OLS(values, constant).fit(**kinds), OLS(values, constant).fit()
    found = {"mean": fit.params[0], "error": fit.bse[0], "interval": list(fit.conf_int()[0])}
    return {**found, "naive": plain.bse[0], "naive_interval": list(plain.conf_int()[0])}


def unequal():
    """Cases of one to seven attempts, scores that resemble one another within a case."""
    rng, values, cases = random.Random(5), [], []
    for case in range(23):
        centre = rng.random()
        for _ in range(rng.randint(1, 7)):
            values.append(round(min(1.0, max(0.0, rng.gauss(centre, 0.15))), 3))
            cases.append(case)
    return {"values": values, "cases": cases, **clustered(values, cases)}


def main():
    tau = json.loads((HERE / "tau_airline.json").read_text())
    tries = [(i, s) for i, n in enumerate(tau["successes"]) for s in [1.0] * n + [0.0] * (4 - n)]
    levels, freedoms = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999], [1, 2, 3, 4, 5, 7, 10, 19, 30, 49, 100]
    freedoms += [333, 998, 999, 1000, 1001, 5000, 199_999, 10**9]
    counts = [(81, 263), (0, 20), (20, 20), (1, 29), (15, 148), (84, 200), (99_999, 100_000)]
    golden = {
        "made_with": {lib.__name__: lib.__version__ for lib in (numpy, scipy, statsmodels)},
        "normal": [[level, norm.ppf((1 + level) / 2)] for level in levels],
        "student": [[p, df, t.ppf((1 + p) / 2, df)] for p in levels for df in freedoms],
        "wilson": [[s, n, *proportion_confint(s, n, method="wilson")] for s, n in counts],
        "tau": clustered([s for _, s in tries], [i for i, _ in tries]),
        "unequal": unequal(),
    }
    (HERE / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
