"""A judge compared with people's labels: reading, pairing and figures."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, DataError, Dimension, Rubric, Score, Signal, Status, Trace, judge
from fourscore.formats.label_scale import parse_scale
from fourscore.labels.calibrate import Calibration, calibrate, judge_outputs
from fourscore.labels.labelled_outputs import (
    JudgeVerdict,
    read_judged_file,
    read_labelled_file,
    read_labelled_run,
)
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store


def file_of(folder: Path, *rows: dict[str, Any], name: str = "labels.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps({"input": "?", **row}) + "\n" for row in rows))
    return str(path)


def held(path: str, *, scale: str | None = None, rest: Any = (), **more: Any) -> Calibration:
    found = read_labelled_file(path, None if scale is None else parse_scale(scale), 0.7)
    verdicts = [row.verdict or JudgeVerdict() for row in found.rows]
    return calibrate(found, verdicts, rest, judge=("j", "f"), pass_at=0.7, file=path, **more)


def table(right: int, false_pass: int, false_fail: int, wrong: int) -> list[dict[str, Any]]:
    return (
        [{"output": "a", "label": True, "judge_score": 1}] * right
        + [{"output": "b", "label": False, "judge_score": 0.9}] * false_pass
        + [{"output": "c", "label": True, "judge_score": 0.2}] * false_fail
        + [{"output": "d", "label": False, "judge_score": 0}] * wrong
    )


def test_figures_of_a_known_table(tmp_path: Path) -> None:
    found = held(file_of(tmp_path, *table(20, 5, 10, 15)))
    errors = found.errors
    assert (errors.true_pass, errors.false_pass) == (20, 5)
    assert (errors.false_fail, errors.true_fail) == (10, 15)
    for weights in ("none", "linear", "quadratic"):
        assert found.kappa[weights].value == pytest.approx(0.4)
    assert found.verdicts["precision"].value == 0.8
    assert found.verdicts["recall"].value == pytest.approx(20 / 30)
    assert found.values["mean_absolute_error"].value == pytest.approx(0.3)
    assert found.corrected is None
    assert found.uncorrected == "there are no judged outputs without labels"
    assert found.rates["people"].value == 0.6
    assert found.n == 50


def test_every_figure_has_its_n_and_interval(tmp_path: Path) -> None:
    document = held(file_of(tmp_path, *table(20, 5, 10, 15))).document()
    groups = ("rates", "verdicts", "kappa", "alpha", "values")
    figures = [figure for group in groups for figure in document[group].values()]
    assert len(figures) == 2 + 8 + 3 + 4 + 6
    for figure in figures:
        assert figure["n"] > 0
        assert figure["interval"][0] <= figure["value"] <= figure["interval"][1]
    assert document["by_length"]["n"] == 50


def test_corrected_rate_of_a_known_table(tmp_path: Path) -> None:
    path = file_of(tmp_path, *table(180, 60, 20, 140))
    rest = [JudgeVerdict(1.0, True)] * 400 + [JudgeVerdict(0.0, False)] * 600
    found = held(path, rest=rest).corrected
    assert found is not None
    assert found.value == pytest.approx(0.1667, abs=5e-5)
    assert (found.method, found.n, found.labels) == ("rogan_gladen", 1000, 400)
    powered = held(path, rest=rest, random_sample=True).corrected
    assert powered is not None
    assert (powered.method, powered.n) == ("ppi", 1400)
    together = held(path, rest=rest, together=True).corrected
    assert together is not None
    assert together.n == 1400


def test_no_corrected_rate_for_a_judge_at_chance(tmp_path: Path) -> None:
    found = held(file_of(tmp_path, *table(10, 10, 10, 10)), rest=[JudgeVerdict(1.0, True)] * 50)
    assert found.corrected is None
    assert found.uncorrected.startswith("the judge may be no better than chance: sensitivity 0.500")


def test_several_people_with_missing_labels(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"output": "a", "labels": [True, True, None], "judge_score": True},
        {"output": "b", "labels": [False, True, False], "judge_score": False},
        {"output": "c", "labels": [None, "fail", None], "judge_score": False},
        {"output": "d", "labels": [True, False], "judge_score": True},
        {"output": "e", "labels": [True, True, True], "judge_score": True},
    ]
    found = held(file_of(tmp_path, *rows))
    assert found.people == 3
    assert found.left_out == {"tied": 1}
    assert (found.n, found.errors.n) == (5, 4)
    assert found.verdicts["accuracy"].value == 1
    assert found.alpha["nominal"].n == 5  # with the judge, one person is enough
    assert found.alpha_people["nominal"].n == 4
    assert found.kappa["none"].n == 4


def test_finer_labels_pass_from_the_threshold(tmp_path: Path) -> None:
    levels = ["excellent", "good", "acceptable", "poor", "failed"]
    scores = [0.95, 0.6, 0.75, 0.3, 0.1]
    rows = [
        {"output": "x" * i, "label": level, "judge_score": score}
        for i, (level, score) in enumerate(zip(levels, scores, strict=True), 1)
    ]
    found = held(file_of(tmp_path, *rows))
    errors = found.errors
    assert (errors.true_pass, errors.false_fail, errors.false_pass) == (1, 1, 1)
    assert found.values["mean_difference"].value == pytest.approx(sum(scores) / 5 - 2.7 / 5)
    quadratic, plain = found.kappa["quadratic"].value, found.kappa["none"].value
    assert quadratic is not None
    assert plain is not None
    assert plain < quadratic < 1
    on_scale = [{**row, "label": 9 - 2 * i, "judge_score": 8} for i, row in enumerate(rows)]
    assert held(file_of(tmp_path, *on_scale), scale="0:10").alpha["ratio"].n == 5


def test_bias_by_position_family_and_length(tmp_path: Path) -> None:
    rows = [
        {
            "output": "word " * (1 + i % 40),
            "label": 0.5 + 0.5 * (i % 2),
            "judge_score": 0.4 + 0.5 * (i % 2) + 0.1 * (i % 3 == 0) - 0.001 * (i % 40),
            "position": 1 + i % 2,
            "model_family": "own" if i % 3 == 0 else "other",
        }
        for i in range(120)
    ]
    found = held(file_of(tmp_path, *rows))
    other, own = found.by_family
    assert (other.name, own.name) == ("other", "own")
    assert own.excess.value == pytest.approx(0.1, abs=0.01)
    assert own.excess.interval is not None
    assert own.excess.interval[0] > 0
    assert [group.name for group in found.by_position] == ["1", "2"]
    assert found.by_length.interval is not None
    assert found.by_length.interval[1] < 0  # it dislikes long ones


@pytest.mark.parametrize(
    ("rows", "line", "field", "words"),
    [
        ([{"output": "a", "label": True}, {"output": "b"}], 2, "label", "missing"),
        ([{"output": "a", "label": 0.5}, {"output": "b", "label": 3}], 2, "label", "from 0 to 1"),
        ([{"output": "a", "labels": [True, "perhaps"]}], 1, "labels[1]", "true or false"),
        ([{"label": True}], 1, "output", "no recorded output"),
        ([{"output": "a", "label": True, "judge_score": 4}], 1, "judge_score", "from 0 to 1"),
        ([], None, None, "no labelled outputs"),
    ],
)
def test_broken_file_is_refused_with_line_and_field(
    tmp_path: Path, rows: Any, line: int | None, field: str | None, words: str
) -> None:
    path = file_of(tmp_path, *rows)
    with pytest.raises(DataError, match=words) as caught:
        read_labelled_file(path, None, 0.7)
    assert (caught.value.file, caught.value.line, caught.value.field) == (path, line, field)


@pytest.mark.parametrize(("label", "word"), [(True, "passes"), (False, "fails"), (0.9, "passes")])
def test_labels_of_one_class_are_refused(tmp_path: Path, label: Any, word: str) -> None:
    path = file_of(tmp_path, *[{"output": "a", "label": label, "judge_score": 1}] * 3)
    with pytest.raises(DataError, match=f"all 3 labels are {word}") as caught:
        held(path)
    assert (caught.value.file, caught.value.line, caught.value.field) == (path, 1, "label")


def test_reads_labels_from_csv(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("input,output,label,judge_score\nq,a,pass,1\nr,b,fail,0.3\n")
    found = read_labelled_file(str(path), None, 0.7)
    assert [row.labels for row in found.rows] == [(1.0,), (0.0,)]
    assert [row.verdict for row in found.rows] == [
        JudgeVerdict(1.0, True),
        JudgeVerdict(0.3, False),
    ]


def test_judges_only_outputs_without_a_verdict(tmp_path: Path) -> None:
    @judge
    def long(case: Case, trace: Trace) -> float:
        if trace.answer == "break":
            raise RuntimeError("no")
        return min(1.0, len(trace.answer) / 10)

    rubric = Rubric(name="long", dimensions=(Dimension(name="long", judge=long),))
    rows = [{"output": "1234567890"}, {"output": "12"}, {"output": "break"}]
    given = {"output": "x", "judge_score": 0.5}
    outputs = read_judged_file(file_of(tmp_path, *rows, given), parse_scale("0:1"), 0.7)
    calls: list[int] = []
    found = asyncio.run(judge_outputs(rubric, outputs, done=lambda: calls.append(1)))
    assert found == [
        JudgeVerdict(1.0, True),
        JudgeVerdict(0.2, False),
        JudgeVerdict(),
        JudgeVerdict(0.5, False),
    ]
    assert len(calls) == 3


def test_unmeasured_outputs_are_counted(tmp_path: Path) -> None:
    found = read_labelled_file(file_of(tmp_path, *table(3, 1, 1, 3)), None, 0.7)
    verdicts = [JudgeVerdict(), *(row.verdict or JudgeVerdict() for row in found.rows[1:])]
    result = calibrate(found, verdicts, (), judge=("j", "f"), pass_at=0.7)
    assert (result.n, result.left_out) == (7, {"unmeasured": 1})
    with pytest.raises(DataError, match="none of 8 labelled outputs"):
        calibrate(found, [JudgeVerdict()] * 8, (), judge=("j", "f"), pass_at=0.7)


async def _filled(store: Store, run: RunInfo) -> None:
    with store.writer(run.id) as writer:
        for i in range(6):
            case, good = Case(id=f"c{i}", input=str(i)), i % 2 == 0
            trace = Trace(output="good" if good else "bad")
            signals = (Signal(name="right", value=float(good)), Signal(name="brief", value=0.4))
            score = Score(
                status=Status.SCORED, value=float(good), passed=good, reward=float(good),
                coverage=1.0, signals=signals,
            )  # fmt: skip
            await writer.put_both(i, case, 1, trace, judge="r", score=score)


def test_reads_labels_of_two_people_from_a_run(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        run = store.start(RunInfo(id="one", rubric_fingerprint="r", planned=6))
        asyncio.run(_filled(store, run))
        with pytest.raises(DataError, match="has no labels: fourscore label one CASE"):
            read_labelled_run(store, run, "r", None, 0.7)
        store.label("one", "c0", 1, who="ann", verdict="pass")
        store.label("one", "c1", 1, who="ann", verdict="pass")
        store.label("one", "c1", 1, who="bob", verdict="fail")
        store.label("one", "c3", 1, who="bob", verdict="fail")
        found = read_labelled_run(store, run, "r", None, 0.7)
        brief = read_labelled_run(store, run, "r", "brief", 0.3)
    assert [row.labels for row in found.rows] == [(1.0, None), (1.0, 0.0), (None, 0.0)]
    assert [row.verdict for row in found.rows] == [
        JudgeVerdict(1.0, True),
        JudgeVerdict(0.0, False),
        JudgeVerdict(0.0, False),
    ]
    assert (found.people, len(found.rest), found.scale.kind) == (2, 3, "verdict")
    assert {row.verdict for row in brief.rows} == {JudgeVerdict(0.4, True)}
