"""Learn the reader's weights from labelled public data: `weights.json`.

    python tools/train_reader.py --data FOLDER --out src/fourscore/judges/reader/weights.json

The folder has JSONL files of rows with `claims` or `answers` (any of them may be stated), `output`,
`input` (the question, or nothing), `gold` (`supported`, `contradicted`, or another word for
neither), `group` and `lang`. Every set counts the same, whatever its size. Needs scikit-learn.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from fourscore.judges.reader import support
from fourscore.judges.reader.features import DIRECTION, NAMES, Claim, Match, measure
from fourscore.judges.reader.text import is_chinese, read_text, split_words, stem_word
from fourscore.judges.reader.weights import shipped_weights

RIDGE = 0.02
#: Stems whose rarity is kept for each language; the others count as rare.
WORDS = 2000
DIRECTIONS = [DIRECTION[name] for name in NAMES]


class Row(NamedTuple):
    """A claim in one or several wordings, an output, and the human label."""

    wordings: list[str]
    output: str
    question: str
    gold: str
    group: str

    @property
    def is_supported(self) -> bool:
        return self.gold == "supported"


class Linear(NamedTuple):
    """Coefficients and intercept of a logistic regression."""

    coefficients: Any
    intercept: float

    def log_odds(self, measured: Sequence[Any]) -> Any:
        """The log-odds of each row: those of its best wording."""
        return np.array([(one @ self.coefficients).max() + self.intercept for one in measured])

    def scaled(self, slope: float, shift: float) -> "Linear":
        return Linear(self.coefficients * slope, self.intercept * slope + shift)


def read_sets(folder: Path) -> dict[str, list[Row]]:
    """Read the data sets of single claims in a folder, by name."""
    sets = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if isinstance(rows[0].get("gold"), str) and ("claims" in rows[0] or "answers" in rows[0]):
            sets[path.stem] = [
                Row(
                    row.get("answers") or row["claims"],
                    row["output"],
                    row["input"],
                    row["gold"],
                    row["group"],
                )
                for row in rows
            ]
    return sets


def weigh_words(texts: Iterable[str]) -> dict[str, float]:
    """Return how rare each common stem is, from 0 to 1; English and Chinese texts separately."""
    weights: dict[str, float] = {}
    seen: dict[bool, list[set[str]]] = {False: [], True: []}
    for text in texts:
        seen[is_chinese(text)].append({stem_word(word) for word in split_words(text)})
    for documents in seen.values():
        counts = Counter(stem for stems in documents for stem in stems)
        most = math.log((len(documents) + 1) / 1.5) if documents else 1.0
        for stem, count in counts.most_common(WORDS):
            if count > 1:
                rarity = math.log((len(documents) + 1) / (count + 0.5)) / most
                # `the` is rare in Chinese texts, and common where it belongs.
                weights[stem] = min(weights.get(stem, 1.0), round(max(0.05, rarity), 2))
    return weights


def use_words(weights: Mapping[str, float]) -> None:
    """Make the reader use these word weights."""
    words = shipped_weights().words
    words.clear()
    words.update(weights)


def list_texts(rows: Sequence[Row]) -> list[str]:
    return [text for row in rows for text in (row.output, row.wordings[0])]


def measure_rows(rows: Sequence[Row]) -> list[Any]:
    """Return the features of each row, one line for each wording."""
    measured = []
    for row in rows:
        text, question = read_text(row.output), support.stem_question(row.question)
        lines = [
            measure(Match(Claim(support.read_claim(wording), question), text))
            for wording in row.wordings
            if text.sentences
        ]
        measured.append(np.array(lines or [[0.0] * len(NAMES)]))
    return measured


def fit(columns: Any, labels: Any, shares: Any, directions: Sequence[int] = DIRECTIONS) -> Linear:
    """Fit a ridge regression on standardised columns; coefficients keep the given signs."""
    shares = shares / shares.sum()
    mean, spread = columns.mean(0), columns.std(0)
    spread[spread < 1e-9] = 1e9
    standard = (columns - mean) / spread

    def loss(point: Any) -> tuple[float, Any]:
        odds = standard @ point[:-1] + point[-1]
        gap = shares * (1 / (1 + np.exp(-odds)) - labels)
        value = (shares * (np.logaddexp(0, odds) - labels * odds)).sum()
        value += RIDGE * (point[:-1] ** 2).sum() / 2
        return value, np.append(standard.T @ gap + RIDGE * point[:-1], gap.sum())

    free = {1: (0, None), -1: (None, 0), 0: (None, None)}
    bounds = [*(free[way] for way in directions), (None, None)]
    start = np.zeros(columns.shape[1] + 1)
    point = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    coefficients = point[:-1] / spread
    return Linear(coefficients, point[-1] - coefficients @ mean)


def fit_support(measured: Mapping[str, Sequence[Any]], labels: Mapping[str, Any]) -> Linear:
    """Fit on several sets of equal weight. Of several wordings, the likeliest is used."""
    target = np.concatenate([labels[name] for name in measured])
    shares = np.concatenate(
        [np.full(len(labels[name]), 1 / len(labels[name])) for name in measured]
    )
    model: Linear | None = None
    for _ in range(2):
        rows = [line for name in measured for line in measured[name]]
        if model is None:
            chosen = [line[line.sum(1).argmax()] for line in rows]
        else:
            chosen = [line[(line @ model.coefficients).argmax()] for line in rows]
        model = fit(np.array(chosen), target, shares)
    assert model is not None
    return model


def calibrate(measured: Mapping[str, Sequence[Any]], labels: Mapping[str, Any]) -> Linear:
    """Fit on all sets, and scale the model to be calibrated on sets that it has not seen."""
    odds = []
    for name in measured:
        others = {other: measured[other] for other in measured if other != name}
        odds.append(fit_support(others, labels).log_odds(measured[name]))
    target = np.concatenate([labels[name] for name in measured])
    shares = np.concatenate([np.full(len(one), 1 / len(one)) for one in odds])
    joined = np.concatenate(odds)

    def loss(point: Any) -> float:
        scaled = point[0] * joined + point[1]
        return float((shares * (np.logaddexp(0, scaled) - target * scaled)).sum())

    slope, shift = minimize(loss, [1.0, 0.0]).x
    return fit_support(measured, labels).scaled(slope, shift)


def fit_contradiction(
    measured: Mapping[str, Sequence[Any]], sets: Mapping[str, list[Row]]
) -> tuple[Linear, Any, Any]:
    """Fit a model of "contradicted" on the sets that have this label.

    Also return, for each of their rows, the score by a model that has not seen its group, and the
    label. Signs are free: shared words indicate contradiction as much as support.
    """
    chosen = {
        name: rows for name, rows in sets.items() if any(r.gold == "contradicted" for r in rows)
    }
    rows = [row for members in chosen.values() for row in members]
    columns = np.array([line[line.sum(1).argmax()] for name in chosen for line in measured[name]])
    target = np.array([row.gold == "contradicted" for row in rows], float)
    free, even = [0] * len(NAMES), np.ones(len(rows))
    scores = np.zeros(len(rows))
    for train, test in GroupKFold(5).split(columns, target, [row.group for row in rows]):
        model = fit(columns[train], target[train], even[train], free)
        scores[test] = 1 / (1 + np.exp(-(columns[test] @ model.coefficients + model.intercept)))
    # As in `reader.support`: a sentence that shares little with the claim is about something else.
    scores[columns[:, NAMES.index("words_in_sentence")] < support.SAME_TOPIC] = 0.0
    return fit(columns, target, even, free), scores, target


def precision_at(recall: float, scores: Any, target: Any) -> tuple[float, float]:
    """Return the precision at a recall, and the score threshold for it."""
    order = np.argsort(-scores)
    hits = np.cumsum(target[order])
    place = int(np.searchsorted(hits, recall * target.sum()))
    return float(hits[place] / (place + 1)), float(scores[order][place])


def leave_one_out(sets: Mapping[str, list[Row]]) -> dict[str, Any]:
    """Return the probabilities for each set by weights trained on all others, words included."""
    found = {}
    for name in sets:
        others = {other: rows for other, rows in sets.items() if other != name}
        use_words(weigh_words(text for rows in others.values() for text in list_texts(rows)))
        measured = {other: measure_rows(rows) for other, rows in others.items()}
        labels = read_labels(others)
        model = calibrate(measured, labels)
        found[name] = 1 / (1 + np.exp(-model.log_odds(measure_rows(sets[name]))))
    return found


def read_labels(sets: Mapping[str, list[Row]]) -> dict[str, Any]:
    return {
        name: np.array([row.is_supported for row in rows], float) for name, rows in sets.items()
    }


def learn(sets: Mapping[str, list[Row]]) -> dict[str, Any]:
    """Return all weights, trained on all sets."""
    words = weigh_words(text for rows in sets.values() for text in list_texts(rows))
    use_words(words)
    measured = {name: measure_rows(rows) for name, rows in sets.items()}
    model = calibrate(measured, read_labels(sets))
    denial, scores, target = fit_contradiction(measured, sets)
    precision, cut = precision_at(0.46, scores, target)
    print(
        f"contradiction: AUC {roc_auc_score(target, scores):.3f}, precision {precision:.3f} at "
        f"recall .46, n = {len(target)}, five folds by group"
    )
    return {
        "support": _as_json(model),
        "contradiction": _as_json(denial),
        "cut": 0.5,
        "contradiction_cut": round(cut, 3),
        "words": dict(sorted(words.items())),
    }


def _as_json(model: Linear) -> dict[str, Any]:
    pairs = zip(NAMES, model.coefficients, strict=True)
    return {
        "intercept": round(float(model.intercept), 4),
        "coefficients": {name: round(float(value), 4) for name, value in pairs},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled JSONL files")
    parser.add_argument("--out", type=Path, required=True, help="where the weights go")
    args = parser.parse_args()
    sets = read_sets(args.data)
    print(", ".join(f"{name} {len(rows)}" for name, rows in sets.items()))
    made = learn(sets)
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    args.out.write_text(text.replace('"words"', '\n"words"') + "\n", encoding="utf-8")
    print(json.dumps({key: value for key, value in made.items() if key != "words"}, indent=1))


if __name__ == "__main__":
    main()
