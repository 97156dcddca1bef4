"""Simple methods to decide whether a text states a claim, and the figures that compare them.

Each peer takes claims, an output and the question, and gives one number for each claim: the higher,
the more likely the output states it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz import fuzz
from scipy.optimize import minimize
from scipy.stats import rankdata

from fourscore.judges.reader.numbers import find_numbers
from fourscore.judges.reader.support import judge_claims
from fourscore.judges.reader.text import Text, split_words, stem_word

Peer = Callable[[Sequence[str], str, str], list[float]]
#: Draws of a bootstrap, and the number of groups below which items are drawn instead of groups.
DRAWS, FEW_GROUPS = 500, 10
BINS = 10
_SEED = 22


def share_words(claims: Sequence[str], output: str, _question: str = "") -> list[float]:
    """Return the share of the claim's words that are in the output."""
    return _shares((set(split_words(claim)) for claim in claims), set(split_words(output)))


def share_stems(claims: Sequence[str], output: str, _question: str = "") -> list[float]:
    """Return the share of the claim's stems in the output, minus a half if a number is missing."""
    words = split_words(output)
    shares = _shares((_stems(split_words(claim)) for claim in claims), _stems(words))
    numbers = set(find_numbers(words))
    lacking = [not numbers.issuperset(find_numbers(split_words(claim))) for claim in claims]
    return [share - 0.5 * lacks for share, lacks in zip(shares, lacking, strict=True)]


def rank_sentences(claims: Sequence[str], output: str, _question: str = "") -> list[float]:
    """Return BM25 (k1 = 1.5, b = 0.75) of the best sentence, as a share of a perfect one."""
    sentences = [Counter(one.stems) for one in Text(output).sentences] or [Counter[str]()]
    lengths = [one.total() for one in sentences]
    mean = sum(lengths) / len(lengths) or 1.0
    holders = Counter(stem for one in sentences for stem in one)
    scores = []
    for claim in claims:
        wanted = _stems(split_words(claim))
        # As in Lucene, never below 0: a word that every sentence has still counts a little.
        worth = {
            stem: math.log(1 + (len(sentences) - holders[stem] + 0.5) / (holders[stem] + 0.5))
            for stem in wanted
        }
        # Exact sums: otherwise the order of a set would break ties differently in each run.
        best = max(
            math.fsum(
                worth[stem] * counts[stem] * 2.5 / (counts[stem] + 0.375 + 1.125 * length / mean)
                for stem in wanted & counts.keys()
            )
            for counts, length in zip(sentences, lengths, strict=True)
        )
        scores.append(best / (math.fsum(worth.values()) or 1.0))
    return scores


def match_token_set(claims: Sequence[str], output: str, _question: str = "") -> list[float]:
    """rapidfuzz `token_set_ratio` of claim and output."""
    words = " ".join(split_words(output))
    return [fuzz.token_set_ratio(" ".join(split_words(claim)), words) / 100 for claim in claims]


def match_partly(claims: Sequence[str], output: str, _question: str = "") -> list[float]:
    """rapidfuzz `partial_ratio` of claim and output."""
    text = output.lower()
    return [fuzz.partial_ratio(claim.lower(), text) / 100 for claim in claims]


def read_claims(claims: Sequence[str], output: str, question: str = "") -> list[float]:
    """Judge with the shipped weights, for timing only: they were trained on these sets."""
    return [verdict.support for verdict in judge_claims(claims, Text(output), question)]


PEERS: dict[str, Peer] = {
    "word overlap": share_words,
    "stems, numbers": share_stems,
    "BM25, best sentence": rank_sentences,
    "rapidfuzz token set": match_token_set,
    "rapidfuzz partial": match_partly,
}


class Local(NamedTuple):
    """A local model as a peer: its probabilities of support and contradiction."""

    name: str
    support: Peer
    contradiction: Peer


def open_local(folder: Path) -> Local:
    """Open the model in a folder."""
    from fourscore.judges.local import judge_claims_locally, open_local_model

    model = open_local_model(str(folder))

    def support(claims: Sequence[str], output: str, question: str = "") -> list[float]:
        verdicts = judge_claims_locally(model, claims, Text(output), question)
        return [verdict.support for verdict in verdicts]

    def contradiction(claims: Sequence[str], output: str, question: str = "") -> list[float]:
        verdicts = judge_claims_locally(model, claims, Text(output), question)
        return [verdict.contradiction for verdict in verdicts]

    return Local(f"local {model.kind}", support, contradiction)


def _stems(words: Iterable[str]) -> set[str]:
    return {stem_word(word) for word in words}


def _shares(wanted: Iterable[set[str]], found: set[str]) -> list[float]:
    return [len(one & found) / len(one) if one else 0.0 for one in wanted]


# Figures. `scores` and `labels` are arrays, a label is 1 for supported.


def auc(scores: Any, labels: Any) -> float:
    """Return the probability that a supported claim scores above one that is not."""
    positive = labels.sum()
    negative = len(labels) - positive
    if not positive or not negative:
        return math.nan
    ranks = rankdata(scores)[labels == 1].sum()
    return float((ranks - positive * (positive + 1) / 2) / (positive * negative))


def balanced_accuracy(called: Any, labels: Any) -> float:
    """Return the mean of the recall on supported claims and on the others."""
    positive = labels == 1
    if positive.all() or not positive.any():
        return math.nan
    return float((called[positive].mean() + (~called[~positive]).mean()) / 2)


def calibration_error(chances: Any, labels: Any) -> float:
    """Expected calibration error in ten bins of equal width."""
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, chances - labels, minlength=BINS)
    return float(np.abs(gaps).sum() / len(labels))


def best_cut(sets: Mapping[str, tuple[Any, Any]]) -> float:
    """Return the threshold with the best mean balanced accuracy over some sets."""
    joined = np.concatenate([scores for scores, _ in sets.values()])
    cuts = np.unique(np.quantile(joined, np.linspace(0.02, 0.98, 97)))

    def worth(cut: float) -> float:
        each = [balanced_accuracy(scores >= cut, labels) for scores, labels in sets.values()]
        return float(np.mean(each))

    return float(max(cuts, key=worth))


def fit_chances(sets: Mapping[str, tuple[Any, Any]]) -> Callable[[Any], Any]:
    """Fit a logistic curve from scores to probabilities on some sets of equal weight."""
    scores = np.concatenate([one for one, _ in sets.values()])
    labels = np.concatenate([one for _, one in sets.values()])
    shares = np.concatenate([np.full(len(one), 1 / len(one)) for one, _ in sets.values()])

    def loss(point: Any) -> float:
        odds = point[0] * scores + point[1]
        return float((shares * (np.logaddexp(0, odds) - labels * odds)).sum())

    slope, shift = minimize(loss, [1.0, 0.0]).x
    return lambda found: 1 / (1 + np.exp(-(slope * found + shift)))


class Figure(NamedTuple):
    """A figure and its 95% bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.2f}, {self.high:.2f}]"


def draw_groups(groups: Sequence[str], draws: int = DRAWS) -> list[Any]:
    """Return the indices of the items in each draw of a bootstrap by group, or by item if few."""
    generator = np.random.default_rng(_SEED)
    members: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    parts = [np.array(places) for places in members.values()]
    if len(parts) < FEW_GROUPS:
        parts = [np.array([place]) for place in range(len(groups))]
    return [
        np.concatenate([parts[at] for at in generator.integers(len(parts), size=len(parts))])
        for _ in range(draws)
    ]


def make_figure(value: float, drawn: Sequence[float]) -> Figure:
    """Return a figure with the middle 95% of its values in the draws."""
    low, high = np.nanquantile(drawn, [0.025, 0.975]) if len(drawn) else (math.nan, math.nan)
    return Figure(value, float(low), float(high))
