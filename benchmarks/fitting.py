"""What `calibrate --fit` gains: the reader fitted to 200 labels of a set, measured on its others.

    python benchmarks/fitting.py --data FOLDER [--labels 200] [--seeds 10] [--pull 20]

FOLDER holds JSONL files with people's labels (see tools/train_reader.py). *Shipped* are weights,
word weights too, that were learned without the set. Labels are drawn by case (question, claim,
article; by row where a set has fewer than ten), at most half of a set. Beside it, in the same
draws: the share of the claim's words found, with a cut that is fitted to the same labels, and the
fit with a cut that is searched for on its held-out labels. Intervals are bootstraps by case over
all draws, 95%. Needs scikit-learn.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from train_reader import (
    Linear,
    Row,
    calibrate,
    list_texts,
    measure_rows,
    read_labels,
    read_sets,
    use_words,
    weigh_words,
)

from fourscore.judges.reader.features import NAMES
from fourscore.labels import fit_weights as fit
from fourscore.labels.fit_weights import (
    Example,
    fit_examples,
    fit_model,
    predict_held_out,
    predict_pass,
)
from fourscore.stats.regression import Logistic

RESAMPLES = 500
WAYS = ("words, cut fitted", "shipped", "fitted, cut searched", "fitted", "fitted unless refused")


class Drawn(NamedTuple):
    """The rows of a set that were not drawn, and the scores of each method for them."""

    places: Any
    chances: dict[str, Any]
    refused: bool


def learn_without(name: str, sets: dict[str, list[Row]]) -> Logistic:
    """Return the model trained on the other sets, and use their word weights from here on."""
    others = {other: rows for other, rows in sets.items() if other != name}
    use_words(weigh_words(text for rows in others.values() for text in list_texts(rows)))
    measured = {other: measure_rows(rows) for other, rows in others.items()}
    model: Linear = calibrate(measured, read_labels(others))
    return Logistic(float(model.intercept), tuple(map(float, model.coefficients)))


def make_examples(rows: Sequence[Row]) -> list[Example]:
    few = len({row.group for row in rows}) < 10
    return [
        Example(str(place) if few else row.group, row.is_supported, [(1.0, lines.tolist())])
        for place, (row, lines) in enumerate(zip(rows, measure_rows(rows), strict=True))
    ]


def draw(examples: Sequence[Example], shipped: Logistic, count: int, seed: int) -> Drawn:
    """Fit to some of a set, and give probabilities to the rest."""
    cases = sorted({example.case for example in examples})
    random.Random(seed).shuffle(cases)
    chosen: list[Example] = []
    taken = set()
    for case in cases:
        if len(chosen) >= min(count, len(examples) // 2):
            break
        taken.add(case)
        chosen += [example for example in examples if example.case == case]
    places = [at for at, example in enumerate(examples) if example.case not in taken]
    rest = [examples[at] for at in places]
    model, refused = fit_model(chosen, shipped), bool(fit_examples(chosen, shipped).refused)
    cut = best_cut([find_word_share(one) for one in chosen], [one.passed for one in chosen])
    old = np.array([predict_pass(one, shipped) for one in rest])
    new = np.array([predict_pass(one, model) for one in rest])
    words = np.array([float(find_word_share(one) >= cut) for one in rest])
    even = best_cut(predict_held_out(chosen, shipped), [one.passed for one in chosen])
    moved = 1 / (1 + (1 / new - 1) * even / (1 - even))  # so that the cut is at 0.5
    ways = dict(zip(WAYS, (words, old, moved, new, old if refused else new), strict=True))
    return Drawn(np.array(places), ways, refused)


def find_word_share(example: Example) -> float:
    """The share of a claim's words, by weight, that stand in the text: of its best wording."""
    column = NAMES.index("words_in_text")
    return max(row[column] for _, rows in example.facts for row in rows)


def best_cut(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the score threshold with the best balanced accuracy."""
    values, target = np.array(scores), np.array(labels)
    cuts = np.unique(values)
    rates = [balanced(values >= cut, target, np.ones(len(target))) for cut in cuts]
    return float(cuts[int(np.argmax(rates))])


def balanced(predicted: Any, target: Any, worth: Any) -> float:
    right = (predicted == target) * worth
    return float(
        (right[target].sum() / worth[target].sum() + right[~target].sum() / worth[~target].sum())
        / 2
    )


def log_loss(chances: Any, target: Any, worth: Any) -> float:
    losses = -np.log(np.clip(np.where(target, chances, 1 - chances), 1e-12, 1))
    return float((losses * worth).sum() / worth.sum())


def rate(examples: Sequence[Example], draws: Sequence[Drawn]) -> dict[str, Any]:
    """Return balanced accuracy and log loss of each method: of all rows, then of each resample."""
    labels = np.array([example.passed for example in examples])
    cases = np.unique([example.case for example in examples], return_inverse=True)[1]
    chance = np.random.default_rng(0)
    places = np.concatenate([one.places for one in draws])
    target, found = labels[places], {}
    counts = [np.ones(cases.max() + 1)]
    for _ in range(RESAMPLES):
        counts.append(np.bincount(chance.integers(0, len(counts[0]), len(counts[0]))))
        counts[-1] = np.pad(counts[-1], (0, len(counts[0]) - len(counts[-1])))
    for way in WAYS:
        given = np.concatenate([one.chances[way] for one in draws])
        found[way] = np.array(
            [
                (
                    balanced(given >= 0.5, target, count[cases[places]]),
                    log_loss(given, target, count[cases[places]]),
                )
                for count in counts
            ]
        )
    return found


def shown(values: Any, column: int) -> str:
    low, high = np.percentile(values[1:, column], (2.5, 97.5))
    return f"{values[0, column]:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled JSONL files")
    parser.add_argument("--labels", type=int, default=200, help="labels to fit to (200)")
    parser.add_argument("--seeds", type=int, default=10, help="draws of each set (10)")
    parser.add_argument("--pull", type=float, default=fit.PULL, help="pull to the shipped weights")
    args = parser.parse_args()
    fit.PULL = args.pull
    sets = read_sets(args.data)
    tables = [
        Table("set", "labels", "others", *WAYS, title="balanced accuracy"),
        Table("set", "refused", *WAYS[1:], title="log loss"),
    ]
    rated = []
    for name, rows in sets.items():
        shipped = learn_without(name, sets)
        examples = make_examples(rows)
        draws = [draw(examples, shipped, args.labels, seed) for seed in range(args.seeds)]
        found = rate(examples, draws)
        rated.append(found)
        others = round(sum(len(one.places) for one in draws) / len(draws))
        refused = f"{sum(one.refused for one in draws)} of {len(draws)}"
        counts = str(len(rows) - others), str(others)
        tables[0].add_row(name, *counts, *(shown(found[way], 0) for way in WAYS))
        tables[1].add_row(name, refused, *(shown(found[way], 1) for way in WAYS[1:]))
    means = {way: np.mean([found[way] for found in rated], axis=0) for way in WAYS}
    tables[0].add_row("mean", "", "", *(shown(means[way], 0) for way in WAYS))
    tables[1].add_row("mean", "", *(shown(means[way], 1) for way in WAYS[1:]))
    out = Console(width=160, highlight=False)
    for table in tables:
        out.print(table)
    used = means[WAYS[-1]]
    print("what is used, minus shipped: balanced accuracy", shown(used - means["shipped"], 0))
    print("what is used, minus shipped: log loss", shown(used - means["shipped"], 1))
    print("what is used, minus words: balanced accuracy", shown(used - means[WAYS[0]], 0))


if __name__ == "__main__":
    main()
