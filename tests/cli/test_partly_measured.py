"""A judge that fails takes nothing from the dimensions that others measured of the same case."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from .command import run_fourscore as fourscore

JUDGES = """
import time

from fourscore import judge
from fourscore.models.messages import ModelError

@judge
def good(case, trace):
    return 0.6

@judge
def raises(case, trace):
    raise ValueError("broken")

@judge
def hangs(case, trace):
    time.sleep(60)

@judge
def rubbish(case, trace):
    return "very good"

@judge
def refuses(case, trace):
    raise ModelError("refused", "not that")

@judge
def spent(case, trace):
    raise ModelError("budget", "the budget is spent")

@judge
def sometimes(case, trace):
    if case.id == "a":
        raise ValueError("broken")
    return 0.9
"""
CASES = [{"id": "a", "input": "x"}, {"id": "b", "input": "y"}]
FAILING = {
    "raises": "judge_error",
    "hangs": "judge_error",
    "rubbish": "judge_error",
    "refuses": "refused",
    "spent": "cancelled",
}
FILES = ("all.json", "all.csv", "all.md", "all.html", "all.xml")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("judges.py").write_text(JUDGES)
    Path("agent.py").write_text("def answer(text):\n    return 'hi'\n")
    Path("cases.jsonl").write_text("\n".join(map(json.dumps, CASES)))


def run(*names: str, code: int, out: tuple[str, ...] = ()) -> str:
    """Run the cases with these judges, and return what was printed."""
    lines = [f"  {name}: {{judge: judges.py->{name}}}" for name in names]
    Path("rubric.yaml").write_text("\n".join(["dimensions:", *lines]))
    words = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "agent.py:answer"]
    files = [word for name in out for word in ("--out", name)]
    done = fourscore("run", *words, "--judge-deadline", "2", *files)
    assert done.returncode == code, done.stderr
    return done.stdout


def read_html() -> dict[str, Any]:
    found = re.search(
        r'<script type="application/json" id="head">(.*?)</script>', Path(FILES[3]).read_text()
    )
    assert found is not None
    head: dict[str, Any] = json.loads(found[1])
    return head


@pytest.mark.parametrize("name", FAILING)
def test_measured_dimension_is_shown_and_stored_beside_one_that_failed(name: str) -> None:
    shown = run("good", name, code=3, out=FILES)
    assert f"planned        2 = 2 {FAILING[name]}" in shown
    assert re.search(r"^  good +0\.600 .* n=2$", shown, re.MULTILINE)
    assert re.search(rf"^  {name} +– +not measured in 2$", shown, re.MULTILINE)

    document = json.loads(Path("all.json").read_text())
    assert document["summary"]["dimension_averages"] == {"good": 0.6}
    line = document["summary"]["dimensions"][name]
    assert (line["average"], line["n"], line["not_measured"]) == (None, 0, 2)
    for row in document["rows"]:
        signals = {each["name"]: each for each in row["signals"]}
        assert signals["good"]["value"] == 0.6
        assert signals[name]["fault"]["message"]
    with Path("all.csv").open() as file:
        rows = [(row["signal_good"], row[f"signal_{name}"]) for row in csv.DictReader(file)]
        assert rows == [("0.6", "")] * 2
    markdown = Path("all.md").read_text()
    assert "| good | 0.600 | 2 |" in markdown
    assert f"| {name} | not measured in 2 | 0 |" in markdown
    page = {each["name"]: each for each in read_html()["dimensions"]}
    assert (page["good"]["mean"], page["good"]["n"]) == (0.6, 2)
    assert (page[name]["mean"], page[name]["missing"]) == (None, "not measured in 2")

    run_id = document["run"]["id"]
    assert "good" in fourscore("show", run_id).stdout
    assert re.search(r"^  good +0\.600 .* n=2$", fourscore("show", run_id).stdout, re.MULTILINE)
    case = fourscore("show", run_id, "a").stdout
    assert f"not measured: {FAILING[name]}, {name}: " in case
    assert "\n  good  0.600" in case
    assert f"\n  {name}  –  " in case


def test_dimension_measured_in_some_cases_says_in_how_many_it_was_not() -> None:
    shown = run("good", "sometimes", code=3, out=FILES)
    assert re.search(r"^  good +0\.600 .* n=2$", shown, re.MULTILINE)
    assert re.search(r"^  sometimes +0\.900 .* n=1, not measured in 1$", shown, re.MULTILINE)
    assert "| sometimes | 0.900 | 1, not measured in 1 |" in Path("all.md").read_text()
    page = {each["name"]: each for each in read_html()["dimensions"]}
    assert (page["sometimes"]["n"], page["sometimes"]["missing"]) == (1, "not measured in 1")
    assert page["good"]["missing"] == ""
