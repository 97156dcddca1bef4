"""An error in a rubric file names its file, its line and the full path of its field."""

from pathlib import Path

import pytest

from fourscore.core import ConfigError
from fourscore.judges.rubric_file import read_rubric

OWN = """
from fourscore import judge

@judge
def own(case, trace, words=3):
    return True
"""


def refused(folder: Path, *lines: str) -> tuple[int | None, str]:
    (folder / "checks.py").write_text(OWN)
    path = folder / "rubric.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_rubric(str(path))
    assert caught.value.file == str(path)
    return caught.value.line, f"{caught.value.field}: {caught.value.message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weight: -0.7", "weight: expected float >= 0.0"),
        ("weight: .nan", "weight: expected float >= 0.0"),
        ("weight: .inf", "weight: inf is not a finite number"),
        ('weight: "30%"', "weight: expected float | null, got str"),
        ("gate: 1.5", "gate: expected float <= 1.0"),
        ("levels: {good: 1.2}", "levels.good: expected float <= 1.0"),
        ("levels: {好: 1, 差: -1}", "levels.差: expected float >= 0.0"),
        ("levels: [good, bad]", "levels: expected object, got array"),
        ("levels: {1: 0.5}", "levels: a key of it: expected str, got int"),
        ("levels: {good: 0.5, fair: 0.5}", "levels.fair: 0.5 is already the level good"),
        (
            "level_descriptions: {goood: fine}",
            "level_descriptions.goood: there is no such level; did you mean good?",
        ),
        (
            "{levels: {fine: 1, off: 0}, level_descriptions: {good: x}}",
            "level_descriptions.good: there is no such level; known: fine, off",
        ),
        ("wieght: 1", "wieght: unknown key; did you mean weight?"),
        ("with: {thnk: keep}", "with.thnk: unknown key; did you mean think?"),
        ("with: {think: maybe}", "with.think: expected one of drop, keep, got 'maybe'"),
        ("with: {contradiction_cost: 2}", "with.contradiction_cost: 2.0 is outside [0, 1]"),
    ],
)
def test_an_error_names_line_dimension_and_field(text: str, message: str, tmp_path: Path) -> None:
    lines = ["dimensions:", "  completeness: {weight: 1}", "  factual_accuracy:", f"    {text}"]
    assert refused(tmp_path, *lines) == (4, f"dimensions.factual_accuracy.{message}")


def test_refuses_an_empty_dimension(tmp_path: Path) -> None:
    message = "dimensions.factual_accuracy: expected object, got null"
    assert refused(tmp_path, "dimensions:", "  factual_accuracy:") == (2, message)


def test_refuses_an_unknown_option_of_a_users_judge(tmp_path: Path) -> None:
    lines = ["dimensions:", "  own:", "    judge: checks.py->own", "    with:", "      word: 3"]
    message = "dimensions.own.with.word: unknown option; did you mean words?"
    assert refused(tmp_path, *lines) == (5, message)


def test_refuses_a_pass_threshold_above_one_for_a_mean(tmp_path: Path) -> None:
    lines = ["pass_threshold: 70", "dimensions:", "  completeness: {weight: 1}"]
    message = "pass_threshold: 70 is outside [0, 1], where every mean lies"
    assert refused(tmp_path, *lines) == (1, message)
    (tmp_path / "alone.yaml").write_text("pass_threshold: 1.5\ndimensions:\n  environment: {}\n")
    assert read_rubric(str(tmp_path / "alone.yaml")).pass_threshold == 1.5  # on its own scale


def test_levels_are_ordered_by_value_not_by_name(tmp_path: Path) -> None:
    text = "dimensions:\n  completeness: {levels: {good: 0.2, bad: 0.8}}\n"
    (tmp_path / "odd.yaml").write_text(text)
    floors = read_rubric(str(tmp_path / "odd.yaml")).floors["completeness"]
    assert floors == {"bad": 0.5, "good": 0.0}
