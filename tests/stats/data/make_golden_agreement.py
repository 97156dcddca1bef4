# mypy: ignore-errors
"""Makes golden_agreement.json, as make_golden.py makes golden.json.

python -m venv v && v/bin/pip install numpy scipy==1.17.1 statsmodels==0.15.0 scikit-learn==1.9.1
v/bin/python tests/stats/data/make_golden_agreement.py
"""

import json
import random
from pathlib import Path

import numpy
import scipy
import sklearn
import statsmodels
import statsmodels.api as sm
from scipy.stats import kendalltau, pearsonr, spearmanr, ttest_ind
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import confint_proportions_2indep

HERE = Path(__file__).parent
TABLES = [
    [[20, 5], [10, 15]],
    [[0, 3], [4, 50]],
    [[30, 2, 1], [3, 20, 4], [0, 5, 35]],
    [[10, 4, 1, 0, 0], [3, 12, 5, 1, 0], [0, 4, 9, 6, 1], [0, 1, 4, 14, 5], [0, 0, 1, 3, 16]],
]


def kappas(table):
    rows = [i for i, row in enumerate(table) for n in row for _ in range(n)]
    columns = [j for row in table for j, n in enumerate(row) for _ in range(n)]
    found = {}
    for ours, sm_name, sk_name in (
        ("none", None, None),
        ("linear", "linear", "linear"),
        ("quadratic", "quadratic", "quadratic"),
    ):
        got = cohens_kappa(numpy.array(table), wt=sm_name)
        labels = list(range(len(table)))
        other = cohen_kappa_score(rows, columns, weights=sk_name, labels=labels)
        found[ours] = [float(got.kappa), float(got.std_kappa), float(other)]
    return {"table": table, "kappa": found}


def numbers(n, seed, step):
    rng, a, b = random.Random(seed), [], []
    for _ in range(n):
        centre = rng.random()
        for side in (a, b):
            value = min(1.0, max(0.0, rng.gauss(centre, 0.2)))
            side.append(round(value / step) * step if step else value)
    return a, b


def correlations(n, seed, step):
    a, b = numbers(n, seed, step)
    fisher = pearsonr(a, b).confidence_interval(0.95)
    return {
        "a": a,
        "b": b,
        "pearson": float(pearsonr(a, b).statistic),
        "pearson_interval": [float(fisher.low), float(fisher.high)],
        "spearman": float(spearmanr(a, b).statistic),
        "kendall": float(kendalltau(a, b).statistic),
    }


def slopes(n, seed):
    rng = random.Random(seed)
    x = [rng.uniform(2, 8) for _ in range(n)]
    y = [0.05 * each + rng.gauss(0, 0.1 * each) for each in x]
    fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
    low, high = fit.conf_int()[1]
    return {"x": x, "y": y, "slope": float(fit.params[1]), "interval": [float(low), float(high)]}


def welch(n, m, seed):
    rng = random.Random(seed)
    a, b = [rng.gauss(0.1, 0.3) for _ in range(n)], [rng.gauss(0, 0.5) for _ in range(m)]
    found = ttest_ind(a, b, equal_var=False)
    ends = found.confidence_interval(0.95)
    return {"a": a, "b": b, "df": float(found.df), "interval": [float(ends.low), float(ends.high)]}


def verdicts(seed):
    rng = random.Random(seed)
    people = [rng.random() < 0.6 for _ in range(120)]
    judge = [x if rng.random() < 0.8 else not x for x in people]
    got = precision_recall_fscore_support(people, judge, average="binary")
    return {"people": people, "judge": judge, "scores": [float(x) for x in got[:3]]}


def youden(counts):
    """Sensitivity + specificity − 1 is a difference of two rates: passes among good and bad."""
    good, bad = counts[0] + counts[2], counts[1] + counts[3]
    ends = confint_proportions_2indep(counts[0], good, counts[1], bad, method="newcomb")
    return [counts, [float(end) for end in ends]]


golden = {
    "made_by": {m.__name__: m.__version__ for m in (numpy, scipy, statsmodels, sklearn)},
    "kappa": [kappas(table) for table in TABLES],
    "correlation": [correlations(30, 1, 0), correlations(60, 2, 0.25), correlations(40, 3, 1)],
    "slope": [slopes(20, 1), slopes(80, 2)],
    "welch": [welch(12, 30, 1), welch(40, 25, 2)],
    "youden": [youden([90, 60, 10, 140]), youden([30, 20, 12, 18])],
    "verdicts": [verdicts(1), verdicts(2)],
}
(HERE / "golden_agreement.json").write_text(json.dumps(golden, indent=1) + "\n")
