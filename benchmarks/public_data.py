"""How good the judges are on public data (claims, aspects, refusals), beside simple peers.

    python benchmarks/public_data.py --data FOLDER
    python benchmarks/public_data.py --data FOLDER --local models/nli --local models/minilm
    python benchmarks/public_data.py --data FOLDER --attacks

FOLDER holds JSONL files with people's labels (see tools/train_reader.py). Whatever is learned comes
from other sets than the one it is measured on: the reader's weights and word weights, every cut and
every curve that turns a score into a probability. Intervals are bootstraps of 500 draws by group
(question, article, claim), 95%. A chat model is measured by benchmarks/model_judges.py, on the same
files. Needs scikit-learn and rapidfuzz.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from dimensions import pairs
from public_data_attacks import ITEMS, RISE, Attack, attack, choose_unsupported
from public_data_dimensions import (
    CONTRADICTED,
    rate_aspects,
    rate_completeness,
    rate_contradiction,
    rate_preferences,
    rate_refusals,
    read_rows,
)
from public_data_peers import (
    PEERS,
    Figure,
    Local,
    Peer,
    auc,
    balanced_accuracy,
    best_cut,
    calibration_error,
    draw_groups,
    fit_chances,
    make_figure,
    open_local,
    read_claims,
)
from train_reader import Row, leave_one_out, read_labels, read_sets, use_words

from fourscore.judges.reader.weights import shipped_weights

READER = "reader"
FIGURES = ("AUC", "balanced accuracy", "calibration error")
#: Outputs of 2 KB with six claims each, over which speed is measured.
SPEED_ITEMS = 300
Tables = dict[str, dict[str, dict[str, Figure]]]


def score_rows(peer: Peer, rows: Sequence[Row]) -> Any:
    """Return the score of each row: that of its best wording, each judged by itself."""
    return np.array(
        [
            max(peer([wording], row.output, row.question)[0] for wording in row.wordings)
            for row in rows
        ]
    )


def choose(sets: Mapping[str, list[Row]], count: int | None) -> dict[str, Any]:
    """Return the indices of the items of each set that are measured."""
    chosen = {}
    for name, rows in sets.items():
        places = list(range(len(rows)))
        if count is not None and count < len(places):
            places = sorted(random.Random(name).sample(places, count))
        chosen[name] = np.array(places)
    return chosen


def rate_claims(
    sets: Mapping[str, list[Row]], peers: Mapping[str, Peer], chosen: Mapping[str, Any]
) -> Tables:
    """Return all figures of "the output supports the claim", by method, set and figure."""
    labels = {name: found[chosen[name]] for name, found in read_labels(sets).items()}
    rows = {name: [sets[name][at] for at in chosen[name]] for name in sets}
    draws = {name: draw_groups([row.group for row in rows[name]]) for name in sets}
    learned = leave_one_out(sets)
    tables: Tables = {}
    for way in (READER, *peers):
        if way == READER:
            chances = {name: learned[name][chosen[name]] for name in sets}
            scores, cuts = chances, dict.fromkeys(sets, 0.5)
        else:
            scores = {name: score_rows(peers[way], rows[name]) for name in sets}
            both = {name: (scores[name], labels[name]) for name in sets}
            others = {name: {o: both[o] for o in sets if o != name} for name in sets}
            cuts = {name: best_cut(others[name]) for name in sets}
            chances = {name: fit_chances(others[name])(scores[name]) for name in sets}
        tables[way] = _figures(scores, cuts, chances, labels, draws)
    return tables


def _figures(
    scores: Mapping[str, Any],
    cuts: Mapping[str, float],
    chances: Mapping[str, Any],
    labels: Mapping[str, Any],
    draws: Mapping[str, list[Any]],
) -> dict[str, dict[str, Figure]]:
    """Return the figures of one method for each set, their mean, and the pooled calibration."""

    def figures(name: str, at: Any) -> list[float]:
        truth = labels[name][at]
        return [
            auc(scores[name][at], truth),
            balanced_accuracy(scores[name][at] >= cuts[name], truth),
            calibration_error(chances[name][at], truth),
        ]

    values = {name: figures(name, np.arange(len(labels[name]))) for name in labels}
    drawn = {name: np.array([figures(name, at) for at in draws[name]]) for name in labels}
    values["mean"] = list(np.mean(list(values.values()), axis=0))
    drawn["mean"] = np.mean(list(drawn.values()), axis=0)
    table = {
        name: {
            figure: make_figure(value, list(drawn[name][:, column]))
            for column, (figure, value) in enumerate(zip(FIGURES, values[name], strict=True))
        }
        for name in values
    }

    def pooled(places: Mapping[str, Any]) -> float:
        joined = [
            np.concatenate([of[name][places[name]] for name in labels]) for of in (chances, labels)
        ]
        return calibration_error(*joined)

    everything = {name: np.arange(len(labels[name])) for name in labels}
    resamples = [dict(zip(draws, one, strict=True)) for one in zip(*draws.values(), strict=True)]
    table["pooled"] = {
        FIGURES[2]: make_figure(pooled(everything), [pooled(one) for one in resamples])
    }
    return table


def measure_speed(peers: Mapping[str, Peer], slow: Sequence[str]) -> dict[str, float]:
    """Return outputs of 2 KB with six claims judged per second of CPU time, best of three."""
    speeds = {}
    for name, peer in {READER: read_claims, **peers}.items():
        best = 0.0
        for seed in (1,) if name in slow else (1, 2, 3):
            work = [
                ([claim["text"] for claim in case.expected["claims"]], trace.answer, case.input)
                for case, trace in pairs(5 if name in slow else SPEED_ITEMS, seed, 1)
            ]
            start = time.process_time()
            for claims, output, question in work:
                peer(claims, output, question)
            best = max(best, len(work) / (time.process_time() - start))
        speeds[name] = best
    return speeds


def print_claims(tables: Tables, counts: Mapping[str, int], speeds: Mapping[str, float]) -> None:
    for figure in FIGURES:
        names = [*counts, "mean", *(["pooled"] if figure == FIGURES[2] else [])]
        rows: dict[str, dict[str, Any]] = {
            f"{name} (n = {counts[name]})" if name in counts else name: {
                way: table[name][figure] for way, table in tables.items()
            }
            for name in names
        }
        if figure == FIGURES[0]:
            rows["outputs of 2 KB a second"] = {way: f"{speeds[way]:,.0f}" for way in tables}
        print_table(f"Claims: {figure}", rows)


def print_table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Print rows by name; all rows have the same columns."""
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for column in next(iter(rows.values())):
        table.add_column(column, justify="right")
    for name, cells in rows.items():
        table.add_row(name, *(str(cell) for cell in cells.values()))
    console = Console(width=220)
    console.print(title, style="bold")
    console.print(table)
    console.print()


def print_attacks(found: Mapping[str, Attack]) -> None:
    rows = {
        name: {
            "n": one.n,
            f"raised by more than {RISE}": f"{one.raised:.1%}",
            "mean change": f"{one.change:+.3f} [{one.lowest:+.3f}, {one.highest:+.3f}]",
            "largest": f"{one.most:+.2f}",
        }
        for name, one in found.items()
    }
    print_table("Attacks: outputs that do not state the claim, value of factual_accuracy", rows)


def rate_everything(
    folder: Path, sets: Mapping[str, list[Row]], local: Sequence[Local], items: int | None
) -> dict[str, Any]:
    """Return all figures as a document."""
    shipped = dict(shipped_weights().words)
    chosen = choose(sets, items)
    peers = {**PEERS, **{model.name: model.support for model in local}}
    claims = rate_claims(sets, peers, chosen)
    use_words(shipped)
    report: dict[str, Any] = {
        "n": {name: len(places) for name, places in chosen.items()},
        "claims": claims,
        "outputs a second": measure_speed(peers, [model.name for model in local]),
        "contradiction": rate_contradiction(sets, local, chosen[CONTRADICTED]),
    }
    for file, name, rate in (
        ("realsumm_whole.jsonl", "completeness", lambda rows: rate_completeness(rows, sets)),
        ("ragchecker_pairs.json", "preferences", rate_preferences),
        ("aspects.jsonl", "aspects", rate_aspects),
        ("xstest_refusals.jsonl", "refusals", rate_refusals),
    ):
        if (folder / file).is_file():
            report[name] = rate(read_rows(folder / file))
    return report


def print_report(report: Mapping[str, Any]) -> None:
    print_claims(report["claims"], report["n"], report["outputs a second"])
    print_table("Contradiction, FEVER symmetric", report["contradiction"])
    titles = {
        "preferences": "RAGChecker: agreement with people's preference",
        "aspects": "Aspects of reviews: balanced accuracy",
        "refusals": "has_direct_answer: balanced accuracy on XSTest",
    }
    if "completeness" in report:
        print_table("REALSumm: Spearman with people's share of units", {"": report["completeness"]})
    for name, title in titles.items():
        for row, cells in report.get(name, {}).items():
            print_table(f"{title}, {row}", {"": cells})
    print("The chat model's column is made by benchmarks/model_judges.py on the same files.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled files")
    parser.add_argument("--local", type=Path, action="append", default=[], help="model folder")
    parser.add_argument("--items", type=int, help="items of each claim set (default: all)")
    parser.add_argument(
        "--attacks", action="store_true", help="measure attacks on the judge instead"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document")
    args = parser.parse_args()
    sets = read_sets(args.data)
    if args.attacks:
        found = attack(choose_unsupported(sets, args.items or ITEMS))
        if args.json:
            print(json.dumps({name: one._asdict() for name, one in found.items()}, indent=1))
        else:
            print_attacks(found)
        return
    local = [open_local(folder) for folder in args.local]
    report = rate_everything(args.data, sets, local, args.items)
    if args.json:  # a figure is a list of value, low and high
        print(json.dumps(report, indent=1))
    else:
        print_report(report)


if __name__ == "__main__":
    main()
