"""Compare completeness, preferences, contradiction and refusals with human labels."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from public_data_peers import (
    Figure,
    Local,
    auc,
    balanced_accuracy,
    draw_groups,
    make_figure,
    share_words,
)
from refusals import PEERS as DETECTORS
from refusals import RefusalCheck, balanced, resampled
from scipy.stats import spearmanr
from train_reader import (
    Row,
    fit_contradiction,
    list_texts,
    measure_rows,
    precision_at,
    use_words,
    weigh_words,
)

from fourscore.core import Case, Trace
from fourscore.judges.dimensions.completeness import COVERED, Completeness
from fourscore.judges.dimensions.factual_accuracy import FactualAccuracy
from fourscore.judges.reader.coverage import cover_aspects
from fourscore.judges.reader.text import is_chinese, read_text, split_words, stem_word
from fourscore.judges.reader.weights import shipped_weights

Judge = Completeness | FactualAccuracy
#: The recall at which the precision of "contradicted" is given.
RECALL = 0.46
CONTRADICTED = "fever_symmetric"


def read_rows(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines()]


def judge(judge: Judge, question: str, expected: Any, output: str) -> float:
    """Return the value that a judge gives to an output."""
    case = Case(id="1", input=question, expected=expected)
    (signal,) = asyncio.run(judge.judge(case, Trace(output=output)))
    return signal.value or 0.0


@contextmanager
def words_without(sets: Mapping[str, list[Row]], name: str) -> Iterator[None]:
    """Use word weights of the other sets inside the block, and the shipped ones after it."""
    shipped = dict(shipped_weights().words)
    others = (rows for other, rows in sets.items() if other != name)
    use_words(weigh_words(text for rows in others for text in list_texts(rows)))
    try:
        yield
    finally:
        use_words(shipped)


def _resample(figure: Callable[[Any], float], groups: Sequence[str]) -> Figure:
    """Return a figure of all items with its interval; `figure` takes their indices."""
    everything = np.arange(len(groups))
    return make_figure(figure(everything), [figure(drawn) for drawn in draw_groups(groups)])


def rate_contradiction(
    sets: Mapping[str, list[Row]], local: Sequence[Local], chosen: Any
) -> dict[str, dict[str, Figure]]:
    """Return AUC of "contradicted" and precision at a recall; the reader by folds of groups."""
    rows = sets[CONTRADICTED]
    with words_without(sets, CONTRADICTED):
        mine = {CONTRADICTED: rows}
        _, scores, target = fit_contradiction({CONTRADICTED: measure_rows(rows)}, mine)
    rows, target = [rows[at] for at in chosen], target[chosen]
    ways = {"reader": scores[chosen]}
    ways["word overlap, reversed"] = -np.array(
        [share_words(row.wordings, row.output)[0] for row in rows]
    )
    for model in local:
        if model.name != "local embedding":  # it knows no contradiction
            found = [model.contradiction(row.wordings, row.output, "")[0] for row in rows]
            ways[model.name] = np.array(found)
    groups = [row.group for row in rows]
    return {name: _separation(found, target, groups) for name, found in ways.items()}


def _separation(scores: Any, target: Any, groups: Sequence[str]) -> dict[str, Figure]:
    def precision(at: Any) -> float:
        return precision_at(RECALL, scores[at], target[at])[0]

    return {
        "AUC": _resample(lambda at: auc(scores[at], target[at]), groups),
        f"precision at recall {RECALL}": _resample(precision, groups),
    }


def rate_completeness(rows: Sequence[Any], sets: Mapping[str, list[Row]]) -> dict[str, Figure]:
    """Return Spearman's correlation with the share of content units that people found."""
    gold = np.array([row["gold"] for row in rows])
    with words_without(sets, "realsumm_scu"):  # the same articles
        judged = [judge(Completeness(), "", {"aspects": r["aspects"]}, r["output"]) for r in rows]
    overlap = [np.mean(share_words(row["aspects"], row["output"])) for row in rows]
    joined = [share_words([" ".join(row["aspects"])], row["output"])[0] for row in rows]
    length = [len(row["output"]) for row in rows]
    ways = {
        "completeness": judged,
        "word overlap, mean over units": overlap,
        "word overlap, all units together": joined,
        "length of the output": length,
    }
    groups = [str(row["cluster"]) for row in rows]
    return {name: _correlation(np.array(found), gold, groups) for name, found in ways.items()}


def _correlation(found: Any, gold: Any, groups: Sequence[str]) -> Figure:
    return _resample(lambda at: float(spearmanr(found[at], gold[at])[0]), groups)


def rate_preferences(pairs: Sequence[Any]) -> dict[str, dict[str, Figure]]:
    """Return how often the preferred answer has the higher value; human ties are left out."""

    def complete(row: Any, output: str) -> float:
        aspects = [one.text for one in read_text(row["gt_answer"]).sentences]
        return judge(Completeness(), row["query"], {"aspects": aspects}, output)

    def correct(row: Any, output: str) -> float:
        return judge(FactualAccuracy(), row["query"], row["gt_answer"], output)

    peers: dict[str, Callable[[Any, str], float]] = {
        "word overlap": lambda row, output: share_words([row["gt_answer"]], output)[0],
        "length of the answer": lambda _row, output: len(output),
    }
    return {
        label: {
            name: _agreement(way, pairs, f"{label}_label")
            for name, way in {own: mine, **peers}.items()
        }
        for label, own, mine in (
            ("completeness", "completeness", complete),
            ("correctness", "factual_accuracy", correct),
        )
    }


def _agreement(way: Callable[[Any, str], float], pairs: Sequence[Any], label: str) -> Figure:
    rows = [row for row in pairs if row[label]]
    agrees = []
    for row in rows:
        first, second = (way(row, row[model]["response"]) for model in ("model1", "model2"))
        # A label above 0 says that the second answer is better.
        agrees.append(0.5 if first == second else float((second > first) == (row[label] > 0)))
    found = np.array(agrees)
    groups = [f"{row['dataset']} {row['query_id']}" for row in rows]
    return _resample(lambda at: float(found[at].mean()), groups)


def rate_aspects(rows: Sequence[Any]) -> dict[str, dict[str, Figure]]:
    """Return balanced accuracy of "the review mentions this aspect", for each language."""
    return {
        name: {
            "completeness": _aspect_figure(chosen, _covers),
            "the aspect's own word": _aspect_figure(chosen, _has_own_word),
        }
        for name, language in (("English", "en"), ("Chinese", "zh"))
        if (chosen := [row for row in rows if row["lang"] == language])
    }


def _covers(row: Any) -> list[bool]:
    found = cover_aspects(row["aspects"], read_text(row["output"]), row["input"])
    return [one.share >= COVERED for one in found]


def _has_own_word(row: Any) -> list[bool]:
    """Whether the text has a word of the aspect, or two neighbouring Chinese characters of it."""
    output = row["output"]
    stems = {stem_word(word) for word in split_words(output)}
    return [
        any(one + two in output for one, two in pairwise(aspect))
        if is_chinese(aspect)
        else not stems.isdisjoint(stem_word(word) for word in split_words(aspect))
        for aspect in row["aspects"]
    ]


def _aspect_figure(rows: Sequence[Any], way: Callable[[Any], list[bool]]) -> Figure:
    found = np.concatenate([way(row) for row in rows])
    gold = np.concatenate([row["gold"] for row in rows]).astype(float)
    groups = [str(number) for number, row in enumerate(rows) for _ in row["gold"]]
    return _resample(lambda at: balanced_accuracy(found[at], gold[at]), groups)


def rate_refusals(rows: Sequence[Any]) -> dict[str, dict[str, Figure]]:
    """Return balanced accuracy of "answers" for each model; partial refusals are refusals."""
    table: dict[str, dict[str, Figure]] = {}
    for model in [*dict.fromkeys(row["model"] for row in rows), "all"]:
        chosen = [row for row in rows if model in (row["model"], "all")]
        for name, detector in DETECTORS.items():
            verdicts = [
                RefusalCheck(row["gold"] == "answers", detector(row["output"], row["input"]))
                for row in chosen
            ]
            figure = Figure(balanced(verdicts), *resampled(verdicts))
            table.setdefault(f"{model}, n = {len(chosen)}", {})[name] = figure
    return table
