"""`fourscore calibrate --fit`: labels in, weights beside the rubric, and runs that use them."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Trace
from fourscore.judges.dimensions.factual_accuracy import FactualAccuracy
from fourscore.judges.rubric_file import read_rubric
from fourscore.labels.fit_weights import Example, measure_output, predict_pass, shipped_model
from fourscore.labels.labelled_outputs import LabelledOutput

from .command import run_fourscore

RUBRIC = """name: bridges
dimensions:
  facts: {judge: factual_accuracy}
"""
WEIGHTS = "rubric.facts.weights.json"
TOWNS = ("Avelin", "Brugg", "Corvin", "Dorsten", "Elmswell", "Farum", "Gorlitz", "Hamar")
STATED = ("built by {maker}", "opened in {year}", "near {town}", "with {arches} arches")


def make_row(chance: random.Random, number: int) -> dict[str, Any]:
    """A claim of four parts, and an output that states some of them."""
    parts = {
        "town": chance.choice(TOWNS),
        "maker": chance.choice(TOWNS),
        "year": str(chance.randrange(1700, 2000)),
        "arches": str(chance.randrange(3, 30)),
    }
    stated = [part.format(**parts) for part in STATED]
    kept = [part for part in stated if chance.random() < 0.35]
    return {
        "id": f"b{number}",
        "input": "Describe it.",
        "expected": {"claims": [{"text": f"The stone bridge was {', '.join(stated)}."}]},
        "output": f"It was {', '.join(kept)}." if kept else "Nobody knows that.",
    }


def write_labels(folder: Path, count: int, *, generous: bool) -> None:
    """Labels of people who pass one part of four, or who agree with the shipped weights."""
    chance = random.Random(11)
    lines = []
    for number in range(count):
        row = make_row(chance, number)
        if generous:
            label = row["output"].startswith("It was")
        else:
            case = Case(id=row["id"], input=row["input"], expected=row["expected"])
            output = LabelledOutput(case=case, trace=Trace(output=row["output"]))
            measured = Example("", True, measure_output(output, FactualAccuracy()))
            label = chance.random() < predict_pass(measured, shipped_model())
        if chance.random() < 0.05:
            label = not label
        lines.append(json.dumps({**row, "label": label}))
    (folder / "labels.jsonl").write_text("\n".join(lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    write_labels(tmp_path, 200, generous=True)
    return tmp_path


def fit(folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    words = ("--rubric", "rubric.yaml", "--labels", "labels.jsonl", "--fit")
    return run_fourscore("calibrate", *words, *more, cwd=folder)


def test_writes_better_weights_that_a_run_from_another_folder_uses(folder: Path) -> None:
    before = read_rubric(str(folder / "rubric.yaml")).provenance
    done = fit(folder)
    assert done.returncode == 0, done.stderr
    assert f"written to {WEIGHTS}; to use it, add to dimension facts:" in done.stdout
    assert done.stdout.splitlines()[-1] == f'  with: {{weights: "{WEIGHTS}"}}'
    (folder / "rubric.yaml").write_text(
        RUBRIC.replace("accuracy}", f"accuracy, with: {{weights: {WEIGHTS}}}}}")
    )
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    words = ("--cases", "../labels.jsonl", "--rubric", "../rubric.yaml", "--agent", "recorded")
    run = run_fourscore("run", *words, "--json", cwd=elsewhere)
    assert run.returncode in (0, 1), run.stderr
    document = json.loads(run.stdout)
    (name, version), *_ = document["provenance"]["weights"].items()
    assert name == WEIGHTS
    assert version.endswith(", 200 labels")
    shown = run_fourscore("show", document["run"], "b0", cwd=elsewhere)
    assert "(weights fitted to 200 labels)" in shown.stdout
    assert f"weights: {WEIGHTS} {version}" in shown.stdout
    after = read_rubric(str(folder / "rubric.yaml")).provenance
    assert after.judges["facts"] != before.judges["facts"]
    assert after.rubric != before.rubric


def test_json_document_has_every_figure_with_its_n(folder: Path) -> None:
    document = json.loads(fit(folder, "--json").stdout)
    assert document["weights"] == WEIGHTS
    assert document["refused"] == ""
    assert document["labels"] == document["log_loss_gain"]["n"] == 200
    shipped, fitted = document["shipped"], document["fitted"]
    assert fitted["log_loss"] < shipped["log_loss"]
    assert fitted["balanced_accuracy"]["value"] > shipped["balanced_accuracy"]["value"]
    written = json.loads((folder / WEIGHTS).read_text())
    assert written["labels"] == 200
    assert written["fitted"]["log_loss"] == fitted["log_loss"]


def test_writes_nothing_without_a_gain(folder: Path) -> None:
    write_labels(folder, 150, generous=False)
    done = fit(folder)
    assert done.returncode == 3
    assert "refused, nothing is written: no" in done.stdout
    assert "150 held-out labels" in done.stdout
    assert not (folder / WEIGHTS).exists()


def test_refuses_too_few_labels(folder: Path) -> None:
    write_labels(folder, 99, generous=True)
    done = fit(folder)
    assert done.returncode == 2
    assert (
        "--fit: needs at least 100 labelled outputs whose case expects facts, found 99"
        in done.stderr
    )


def test_labels_on_a_scale_pass_from_the_threshold_on(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    lines = [json.dumps({**row, "label": 0.8 if row["label"] else 0.6}) for row in rows]
    (folder / "labels.jsonl").write_text("\n".join(lines))
    done = fit(folder)
    assert done.returncode == 0, done.stderr
    assert "a pass from 0.7 on" in done.stdout


def test_fingerprint_depends_on_the_weights_not_on_their_path(folder: Path) -> None:
    fit(folder)
    path = folder / WEIGHTS
    other = folder / "copy.json"
    other.write_bytes(path.read_bytes())
    one, same = FactualAccuracy(weights=str(path)), FactualAccuracy(weights=str(other))
    assert one.fingerprint == same.fingerprint != FactualAccuracy().fingerprint
    path.write_text(path.read_text().replace('"cut": 0.5', '"cut": 0.6'))
    assert FactualAccuracy(weights=str(path)).fingerprint != one.fingerprint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not a file of weights that `calibrate --fit` wrote"),
        ('{"support": 1}', "not a file of weights that `calibrate --fit` wrote"),
        (None, "No such file"),
    ],
)
def test_names_a_broken_weights_file(tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC.replace("accuracy}", "accuracy, with: {weights: mine.json}}"))
    if content is not None:
        (tmp_path / "mine.json").write_text(content)
    with pytest.raises(ConfigError, match=words) as raised:
        read_rubric(str(path))
    assert "mine.json" in str(raised.value)


def test_refuses_weights_of_another_version(folder: Path) -> None:
    fit(folder)
    path = folder / WEIGHTS
    path.write_text(path.read_text().replace('"words_in_text"', '"words_anywhere"'))
    with pytest.raises(ConfigError, match="run `calibrate --fit` again"):
        FactualAccuracy(weights=str(path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--store-in", "rubric.yaml"), "--store-in: cannot be combined with --fit"),
        (
            ("--rubric", "math.yaml"),
            "nothing to fit: no dimension of the rubric uses the judge factual_accuracy",
        ),
        (("--rubric", "two.yaml"), "choose --dimension one or two"),
    ],
)
def test_says_why_nothing_can_be_fitted(folder: Path, words: tuple[str, ...], message: str) -> None:
    (folder / "math.yaml").write_text("dimensions: {right: {judge: math}}")
    (folder / "two.yaml").write_text(
        "dimensions: {one: {judge: factual_accuracy}, two: {judge: factual_accuracy}}"
    )
    done = fit(folder, *words)
    assert done.returncode == 2
    assert message in done.stderr
