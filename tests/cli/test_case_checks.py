"""Checks that cases bring along: in every format, with and without a rubric, and refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore import Case, EvaluationRunner, TestSet, assert_passes
from fourscore.cli.main import main
from fourscore.core import CaseError
from fourscore.formats.cases import CaseFile, write_cases
from fourscore.judges.checks.case_checks import CaseChecks
from fourscore.stores.sqlite import Store

AGENT = """
def answer(question):
    return {"Capital?": "It is Rome.", "Sum?": "The sum is 42."}.get(question, "No idea.")
"""
CASES = [
    {"id": "capital", "input": "Capital?", "checks": [{"contains": "Rome"}, {"length": 5}]},
    {"id": "sum", "input": "Sum?", "checks": [{"number": 41, "tolerance": 1}]},
    {"id": "other", "input": "Other?", "checks": [{"contains": "idea"}, {"regex": "^Yes"}]},
]
CSV = """\
id,input,check:contains,check:length,check:number,check:regex
capital,Capital?,Rome,5,,
sum,Sum?,,,"json:{""number"": 41, ""tolerance"": 1}",
other,Other?,idea,,,^Yes
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in CASES))
    (tmp_path / "cases.yaml").write_text(json.dumps(CASES))
    (tmp_path / "cases.csv").write_text(CSV)
    return tmp_path


def run(capsys: Any, *words: str, cases: str = "cases.jsonl") -> tuple[int, dict[str, Any]]:
    code = main(["run", "--cases", cases, "--agent", "agent.py:answer", "--json", *words])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.yaml", "cases.csv"])
def test_cases_with_checks_need_no_rubric(capsys: Any, name: str) -> None:
    code, document = run(capsys, cases=name)
    assert code == 0
    assert (document["passed"], document["failed"]) == (2, 1)
    assert document["dimension_averages"] == {"checks": pytest.approx(2 / 3)}
    assert document["failures"] == [{"id": "other", "repeat": 1}]


def test_all_formats_read_and_write_the_same_cases(folder: Path) -> None:
    cases = list(CaseFile("cases.jsonl").cases())
    for name in ("out.jsonl", "out.json", "out.yaml", "out.csv"):
        write_cases(name, cases)
        assert list(CaseFile(name).cases()) == cases, name
    assert list(CaseFile("cases.yaml").cases()) == cases


def test_groups_and_turns_are_kept_in_every_format() -> None:
    line = {
        "input": "Hi",
        "group": "greetings",
        "turns": [{"input": "And?", "expected": "x", "checks": [{"exact": "x"}]}, {"input": "Bye"}],
    }
    Path("in.jsonl").write_text(json.dumps(line))
    (case,) = CaseFile("in.jsonl").cases()
    assert (case.group, [turn.input for turn in case.turns]) == ("greetings", ["And?", "Bye"])
    for name in ("out.jsonl", "out.json", "out.yaml", "out.csv"):
        write_cases(name, [case])
        assert list(CaseFile(name).cases()) == [case], name


def test_a_rubric_gets_the_checks_as_a_further_dimension(capsys: Any) -> None:
    Path("short.yaml").write_text("dimensions: {short: {judge: length, with: {max: 2}}}")
    _, document = run(capsys, "--rubric", "short.yaml")
    assert document["dimension_averages"] == {
        "short": pytest.approx(1 / 3),
        "checks": pytest.approx(2 / 3),
    }


def test_a_rubric_decides_how_checks_are_combined(capsys: Any) -> None:
    Path("own.yaml").write_text("dimensions: {checks: {weight: 1, with: {combine: weighted}}}")
    _, document = run(capsys, "--rubric", "own.yaml")
    assert document["dimension_averages"] == {"checks": pytest.approx((1 + 1 + 0.5) / 3)}
    Path("own.yaml").write_text("dimensions: {checks: {with: {combine: any}}}")
    _, document = run(capsys, "--rubric", "own.yaml")
    assert document["passed"] == 3


def test_cases_without_checks_beside_others_are_judged_by_the_default_rubric(capsys: Any) -> None:
    with Path("cases.jsonl").open("a") as out:
        out.write('{"input": "Sum?", "expected": "The sum is 42."}\n')
    _, document = run(capsys)
    assert document["statuses"]["scored"] == 4
    assert {"checks", "factual_accuracy"} <= set(document["dimension_averages"])


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ([{"contain": "x"}], "checks[0]: 'contain' is no check: did you mean contains?"),
        ([{"exact": "x"}, {"number": "x"}], "checks[1].number: expected one number"),
        ([{"exact": "x", "number": 1}], "checks[0]: one entry is one check"),
        ([{"exact": "x", "weight": -1}], "checks[0].weight: expected a number of at least 0"),
        ([{"contains": "x", "ned": 1}], "checks[0].ned: "),
        ([{}], "checks[0]: expected the name of a check"),
        ([{"os->system": "x"}], "checks[0]: 'os->system' is no check"),
        ([{"agent.py->answer": "x"}], "is no check"),
        ([{"judge": "exact"}], "is no check"),
        ([{"criterion": "It is polite."}], "checks[0].criterion: it asks a model: name one with"),
        ("x", "checks: expected array"),
        (["x"], "checks[0]: expected object"),
        ([{"json": {"$ref": "http://x"}}], "checks[0].schema.$ref: no address is followed"),
    ],
)
def test_a_wrong_check_is_refused_before_the_first_case(
    capsys: Any, checks: object, message: str
) -> None:
    Path("bad.jsonl").write_text('{"input": "a"}\n' + json.dumps({"input": "b", "checks": checks}))
    assert main(["run", "--cases", "bad.jsonl", "--agent", "agent.py:answer"]) == 2
    error = capsys.readouterr().err
    assert "bad.jsonl:2: " in error
    assert message in error
    assert not Path(".fourscore").exists()


def test_checks_of_a_turn_are_checked_too(capsys: Any) -> None:
    line = {"input": "a", "turns": [{"input": "b", "checks": [{"nothing": 1}]}]}
    Path("bad.jsonl").write_text(json.dumps(line))
    assert main(["run", "--cases", "bad.jsonl", "--agent", "agent.py:answer"]) == 2
    assert "turns[0].checks[0]: 'nothing' is no check" in capsys.readouterr().err


def test_a_criterion_asks_the_model_of_the_flag(capsys: Any) -> None:
    line = {"input": "Capital?", "checks": [{"contains": "Rome"}, {"criterion": "It is polite."}]}
    Path("polite.jsonl").write_text(json.dumps(line))
    words = ["--judge-model", "scripted:gullible", "--no-cache"]
    code, document = run(capsys, *words, cases="polite.jsonl")
    assert (code, document["total_tests"]) == (0, 1)
    assert "criteria are met" in document["worst"][0]["reason"]
    assert document["provenance"]["models"] == ["gullible"]


def test_rescoring_keeps_the_checks_of_the_cases(capsys: Any) -> None:
    _, document = run(capsys)
    Path("short.yaml").write_text("dimensions: {short: {judge: length, with: {max: 2}}}")
    assert main(["rescore", document["run"], "--rubric", "short.yaml", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["dimension_averages"]["checks"] == pytest.approx(2 / 3)


def test_checks_are_stored_with_the_case(capsys: Any) -> None:
    _, document = run(capsys)
    with Store(".fourscore/runs.db", make=False) as store:
        row = store.row(document["run"], "sum")
        assert row is not None
        assert row.case.checks == ({"number": 41, "tolerance": 1},)


def test_assert_passes_uses_the_checks_of_a_case() -> None:
    assert_passes({"input": "Capital?", "checks": [{"contains": "Rome"}]}, "Rome")
    with pytest.raises(AssertionError, match="does not contain 'Rome'"):
        assert_passes({"input": "Capital?", "checks": [{"contains": "Rome"}]}, "Milan")


def test_a_wrong_check_in_python_is_the_fault_of_the_case() -> None:
    with pytest.raises(CaseError, match=r"checks\[0\]: 'x' is no check"):
        CaseChecks().list_checks(Case(id="a", input="?", checks=({"x": 1},)))


def test_init_with_checks_runs_at_once(capsys: Any) -> None:
    assert main(["init", "mine", "--checks"]) == 0
    assert not Path("mine/rubric.yaml").exists()
    capsys.readouterr()
    assert main(["run", "mine/fourscore.yaml", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["planned"], document["passed"]) == (10, 9)
    cases = list(CaseFile("mine/cases.jsonl").cases())
    assert all(len(case.checks) == 2 for case in cases)


def test_a_misspelt_key_of_checks_is_refused(capsys: Any) -> None:
    Path("bad.jsonl").write_text('{"input": "a", "check": [{"exact": "b"}]}')
    assert main(["run", "--cases", "bad.jsonl", "--agent", "agent.py:answer"]) == 2
    assert "bad.jsonl:1: check: did you mean checks?" in capsys.readouterr().err


def test_true_in_a_csv_cell_is_no_text() -> None:
    Path("true.csv").write_text("input,check:no_errors,check:xml\na,true,TRUE\n")
    (case,) = CaseFile("true.csv").cases()
    assert case.checks == ({"no_errors": True}, {"xml": True})


def test_rescoring_refuses_a_criterion_without_a_model(capsys: Any) -> None:
    line = {"input": "Capital?", "checks": [{"criterion": "It is polite."}]}
    Path("polite.jsonl").write_text(json.dumps(line))
    _, document = run(capsys, "--judge-model", "scripted:gullible", cases="polite.jsonl")
    Path("short.yaml").write_text("dimensions: {short: {judge: length, with: {max: 2}}}")
    assert main(["rescore", document["run"], "--rubric", "short.yaml"]) == 2
    assert "name one with --judge-model" in capsys.readouterr().err


def test_calibrate_finds_the_scores_of_cases_with_checks(capsys: Any) -> None:
    Path("short.yaml").write_text("dimensions: {short: {judge: length, with: {max: 2}}}")
    _, document = run(capsys, "--rubric", "short.yaml")
    for case, verdict in (("capital", "pass"), ("sum", "fail"), ("other", "pass")):
        assert main(["label", document["run"], case, verdict]) == 0
    capsys.readouterr()
    assert main(["calibrate", "--run", document["run"], "--rubric", "short.yaml", "--json"]) in (
        0,
        3,
    )
    assert json.loads(capsys.readouterr().out)["n"] == 3


def test_show_has_the_checks_of_a_case(capsys: Any) -> None:
    _, document = run(capsys)
    assert main(["show", document["run"], "sum"]) == 0
    assert 'checks    [{"number":41,"tolerance":1}]' in capsys.readouterr().out


def test_evaluation_runner_uses_the_checks_of_a_test() -> None:
    tests = TestSet("one")
    tests.add_test({"input": "Capital?", "expected": "Rome", "checks": [{"contains": "never"}]})
    rubric = {"exact": {"weight": 1.0}}
    summary = EvaluationRunner(tests, rubric, lambda _: "Rome").run_all()
    assert summary["dimension_averages"] == {"exact": 1.0, "checks": 0.0}
