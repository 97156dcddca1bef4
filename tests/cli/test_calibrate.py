"""`fourscore calibrate`, and the corrected rate that a stored calibration gives to runs."""

import json
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main
from fourscore.core import ConfigError
from fourscore.judges.calibrated_rate import correct_rate, describe_corrected_rate
from fourscore.judges.rubric_file import read_rubric
from fourscore.stores.sqlite import Store

from .command import run_fourscore

RUBRIC = """# the team's own
name: sums
pass_threshold: 0.7  # as agreed
dimensions:
  right: {judge: math}
"""


def row(chance: random.Random, number: int, *, labelled: bool) -> dict[str, Any]:
    """A case whose label is a pass in half of them; the judge passes 90% of those, else 30%."""
    good = chance.random() < 0.5
    answer = number if chance.random() < (0.9 if good else 0.3) else number + 1
    fields = {"id": f"q{number}", "input": f"{number}?", "expected": str(number)}
    fields["output"] = f"\\boxed{{{answer}}}"
    return {**fields, "label": good} if labelled else fields


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, chance = tmp_path_factory.mktemp("calibrate"), random.Random(5)
    for name, numbers, labelled in (
        ("labels.jsonl", range(300), True),
        ("rest.jsonl", range(1000, 1400), False),
    ):
        rows = [row(chance, number, labelled=labelled) for number in numbers]
        (folder / name).write_text("".join(json.dumps(each) + "\n" for each in rows))
    (folder / "rubric.yaml").write_text(RUBRIC)
    return folder


def run_in(folder: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    return run_fourscore(*args, cwd=folder, env={"COLUMNS": "100"})


def read_json(folder: Path, *args: str) -> Any:
    done = run_in(folder, *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_prints_the_calibration_and_writes_reports(folder: Path) -> None:
    args = ("calibrate", "--judge", "math", "--labels", "labels.jsonl", "--judged", "rest.jsonl")
    done = run_in(folder, *args, "--out", "c.md", "--out", "c.json")
    assert done.returncode == 0, done.stderr
    assert "math against people" in done.stdout
    assert "corrected pass rate" in done.stdout
    assert "Krippendorff's alpha, people and judge" in done.stdout
    page = (folder / "c.md").read_text()
    assert page.startswith("# math against people\n")
    assert "| kappa, quadratic | 0." in page
    kept = json.loads((folder / "c.json").read_text())
    assert kept["exit_code"] == 0
    assert kept == read_json(folder, *args)
    low, high = kept["corrected"]["interval"]
    assert low < 0.5 < high
    raw = kept["rates"]["judge_on_the_rest"]
    assert raw["value"] > 0.55


def test_a_random_sample_gives_a_narrower_corrected_interval(folder: Path) -> None:
    args = ("calibrate", "--judge", "math", "--labels", "labels.jsonl", "--judged", "rest.jsonl")
    plain, powered = read_json(folder, *args), read_json(folder, *args, "--random-sample")
    assert powered["corrected"]["method"] == "ppi"
    assert powered["corrected"]["n"] == 700
    widths = [one["corrected"]["interval"] for one in (powered, plain)]
    assert widths[0][1] - widths[0][0] < widths[1][1] - widths[1][0]


def test_a_stored_calibration_corrects_runs_until_the_rubric_changes(folder: Path) -> None:
    path = folder / "stored.yaml"
    path.write_text(RUBRIC)
    read_json(folder, "calibrate", "--labels", "labels.jsonl", "--store-in", "stored.yaml")
    text = path.read_text()
    assert text.startswith(RUBRIC)
    assert read_rubric(str(path)).provenance == read_rubric(str(folder / "rubric.yaml")).provenance
    args = ("run", "--cases", "rest.jsonl", "--agent", "recorded", "--rubric")
    found = read_json(folder, *args, "stored.yaml")
    rate = found["pass_rate_corrected"]
    assert set(rate) == {"value", "interval", "method", "n", "labels"}
    assert (rate["n"], rate["labels"], rate["method"]) == (400, 300, "rogan_gladen")
    assert rate["interval"][0] < 0.5 < rate["interval"][1]
    assert found["calibration"]["state"] == "used"
    shown = run_in(folder, "show", found["run"], "--out", "r.html", "--out", "r.md").stdout
    assert f"corrected      {rate['value']:.1%} [" in shown
    assert "corrected pass rate" in (folder / "r.md").read_text()
    page = re.search('id="head">(.*?)</script>', (folder / "r.html").read_text())
    assert page is not None
    head = json.loads(page[1])
    assert head["summary"]["pass_rate_corrected"] == rate
    assert head["corrected"].startswith(f"{rate['value']:.1%} [")
    path.write_text(text.replace("0.7", "0.8"))
    stale = read_json(folder, *args, "stored.yaml")
    assert stale["pass_rate_corrected"] is None
    assert stale["calibration"]["state"] == "stale"
    shown = run_in(folder, "show", stale["run"]).stdout
    assert "corrected      no, stale calibration of 20" in shown
    again = read_json(folder, "rescore", found["run"], "--rubric", "rubric.yaml")
    assert "pass_rate_corrected" not in again


def test_calibrates_by_the_labels_of_a_stored_run(folder: Path) -> None:
    run = read_json(folder, "run", "--cases", "labels.jsonl", "--agent", "recorded",
                   "--rubric", "rubric.yaml", "--store", "labelled.db")["run"]  # fmt: skip
    at = ("--store", "labelled.db")
    refused = run_in(folder, "calibrate", "--run", run, *at)
    assert refused.returncode == 2
    assert "has no labels: fourscore label" in refused.stderr
    rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    with Store(folder / "labelled.db") as store:
        for each in rows[:120]:
            store.label(run, each["id"], 1, who="ann", verdict="pass" if each["label"] else "fail")
    found = read_json(folder, "calibrate", "--run", run, *at, "--random-sample")
    assert (found["n"], found["corrected"]["n"], found["corrected"]["method"]) == (120, 300, "ppi")
    (folder / "mine.yaml").write_text(RUBRIC)
    stored = read_json(folder, "calibrate", "--run", run, *at, "--store-in", "mine.yaml")
    assert stored["stored_in"] == "mine.yaml"
    assert "calibration:" in (folder / "mine.yaml").read_text()
    (folder / "other.yaml").write_text(RUBRIC.replace("0.7", "0.6"))
    other = run_in(folder, "calibrate", "--run", run, *at, "--rubric", "other.yaml")
    assert other.returncode == 2
    assert "was not scored by it: fourscore rescore" in other.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--judge", "math"), "give either --labels FILE or --run RUN"),
        (("--labels", "labels.jsonl"), "labels.jsonl:1: judge_score: missing: without --judge"),
        (("--labels", "none.jsonl", "--judge", "math"), "none.jsonl: No such file"),
        (("--labels", "labels.jsonl", "--judge", "maths"), "did you mean math?"),
        (("--labels", "labels.jsonl", "--judge", "listwise", "--judge-model", "scripted:careful"),
         "gives no verdict on a single one"),
        (("--labels", "labels.jsonl", "--judge", "math", "--set", "[1]"),
         "--set: '[1]': expected KEY"),
        (("--labels", "labels.jsonl", "--judge", "math", "--scale", "5"), "--scale: expected LOW"),
        (("--labels", "labels.jsonl", "--judge", "math", "--scale", "0:10"),
         "labels.jsonl:1: label: expected a whole number from 0 to 10"),
        (("--labels", "labels.jsonl", "--judge", "math", "--pass-at", "7"), "--pass-at: expected"),
        (("--labels", "labels.jsonl", "--judge", "math", "--random-sample"),
         "give the outputs that the labels are a sample of"),
        (("--labels", "labels.jsonl", "--rubric", "rubric.yaml", "--dimension", "rigt"),
         "--dimension: did you mean right?"),
        (("--labels", "labels.jsonl", "--rubric", "rubric.yaml", "--set", "soft=true"),
         "has the options"),
        (("--labels", "labels.jsonl", "--judge", "math", "--out", "c.pdf"),
         "the file name must end in .md"),
        (("--labels", "labels.jsonl", "--judge", "math", "--store-in", "rubric.yaml"),
         "rubric.yaml: --store-in: the calibration is of another judge or dimension"),
    ],
)  # fmt: skip
def test_refuses_bad_input_and_names_its_place(
    folder: Path,
    args: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    try:
        code: object = main(["calibrate", *args])
    except SystemExit as error:  # argparse's
        code = error.code
    assert code == 2
    assert message in capfd.readouterr().err
    assert (folder / "rubric.yaml").read_text() == RUBRIC


def test_does_not_store_a_judge_no_better_than_chance(folder: Path) -> None:
    rows = [
        {"input": str(i), "output": "x", "label": i % 2 == 0, "judge_score": i % 3 == 0}
        for i in range(60)
    ]
    (folder / "chance.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    done = run_in(folder, "calibrate", "--labels", "chance.jsonl", "--judged", "chance.jsonl")
    assert done.returncode == 3
    assert "no corrected pass rate: the judge may be no better than chance" in done.stdout
    args = ("calibrate", "--labels", "chance.jsonl", "--rubric", "rubric.yaml")
    done = run_in(folder, *args, "--store-in", "rubric.yaml")
    assert done.returncode == 2
    assert "no better than chance" in done.stderr
    assert (folder / "rubric.yaml").read_text() == RUBRIC


CALIBRATION = """
calibration:
  judge: "f"
  data: "d"
  date: "2026-01-31"
  n: 400
  sensitivity: {right: 180, of: 200}
  specificity: {right: 140, of: 200}
"""


def summary(passed: int, scored: int, failed: int = 0, **more: Any) -> dict[str, Any]:
    n = scored + failed
    return {
        "total_tests": n, "passed": passed, "pass_rate": passed / n if n else None, "repeats": 1,
        "statuses": {"scored": scored}, "level": 0.95, "pass_rate_interval": None, **more,
    }  # fmt: skip


def test_corrects_the_pass_rate_of_a_summary() -> None:
    found = correct_rate(RUBRIC + CALIBRATION, "f", summary(400, 1000))
    assert found["pass_rate_corrected"]["value"] == pytest.approx(1 / 6)
    assert describe_corrected_rate(found).endswith("n=1000, Rogan-Gladen with 400 labels")
    assert correct_rate(RUBRIC, "f", summary(400, 1000)) == {}
    assert describe_corrected_rate({}) == ""
    crashed = correct_rate(RUBRIC + CALIBRATION, "f", summary(400, 1000, 1000))
    assert crashed["pass_rate_corrected"]["value"] == pytest.approx(1 / 12)
    nothing = correct_rate(RUBRIC + CALIBRATION, "f", summary(0, 0))
    assert nothing["pass_rate_corrected"] is None
    assert describe_corrected_rate(nothing) == "no, nothing was judged"


def test_repeats_of_a_case_widen_the_corrected_interval() -> None:
    once = correct_rate(RUBRIC + CALIBRATION, "f", summary(400, 1000))
    tried = summary(400, 1000, repeats=4, pass_rate_interval=[0.34, 0.46])
    clustered = correct_rate(RUBRIC + CALIBRATION, "f", tried)
    one, other = (found["pass_rate_corrected"] for found in (once, clustered))
    assert one["value"] == other["value"]
    assert other["interval"][0] < one["interval"][0]
    assert other["interval"][1] > one["interval"][1]


def test_ignores_a_calibration_no_better_than_chance() -> None:
    useless = CALIBRATION.replace("180", "90").replace("140", "110")
    found = correct_rate(RUBRIC + useless, "f", summary(400, 1000))
    assert found["pass_rate_corrected"] is None
    assert found["calibration"]["state"] == "refused"


def test_refuses_a_broken_calibration_and_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC + CALIBRATION.replace("right: 180", "right: 280"))
    with pytest.raises(ConfigError, match="280 of 200"):
        read_rubric(str(path))
    path.write_text(RUBRIC + CALIBRATION.replace("data:", "date_:"))
    with pytest.raises(ConfigError, match=r"rubric\.yaml:9: calibration\.date_: unknown key"):
        read_rubric(str(path))
