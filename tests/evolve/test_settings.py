"""evolution.yaml: what it takes, and what it says where it does not."""

from pathlib import Path

import pytest

from fourscore.core import ConfigError
from fourscore.evolve.settings import Settings, format_settings, read_settings


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "evolution.yaml"
    path.write_text(text)
    return path


def test_reads_all_settings(tmp_path: Path) -> None:
    text = """
cases: ../cases.jsonl
agent: ../agent.py:answer
placeholders: ["{language}"]
required: [Answer briefly.]
forbidden: ['(?i)password']
budget: 400
margin: 3
split: {inform: 0.2, decide: 0.7, hold: 0.1}
limits: {mutations_per_day: 100, cool_down: 0, stable_runs: null}
rollback: {drops: null, share_of_best: 0.8}
keep: 9
"""
    found = read_settings(written(tmp_path, text))
    assert found.cases == str(tmp_path / "../cases.jsonl")
    assert found.agent == str(tmp_path / "../agent.py:answer")
    assert found.plan.sizes == (50, 100, 200, 400)
    assert found.plan_for(60).sizes == (10, 15, 30, 60)
    assert [found.plan_for(n).budget for n in (0, 399, 1000)] == [2, 399, 400]
    assert (found.plan.margin, found.keep) == (3, 9)
    assert (found.limits.mutations_per_day, found.limits.stable_runs) == (100, None)
    assert found.limits.high_risk_per_day == 2
    assert found.rollback.drops is None
    assert found.split.decide == 0.7


def test_empty_file_gives_defaults(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, ""))
    assert (found.budget, found.rule, found.limits) == (200, "paired", Settings().limits)
    assert found.store == str(tmp_path / "runs.db")


def test_only_python_file_agents_are_resolved(tmp_path: Path) -> None:
    for agent in ("http://127.0.0.1:1/a.py:x", "python agent.py:x y", "module:answer"):
        if ".py:" not in agent or " " in agent:
            assert read_settings(written(tmp_path, f"agent: {agent}\n")).agent == agent


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("budget: 200\nbudgte: 3\n", "evolution.yaml:2: budgte: unknown key; did you mean budget?"),
        ("\nbudget: many\n", "evolution.yaml:2: budget: expected int"),
        ("budget: 1\n", "evolution.yaml:1: budget: expected int >= 2"),
        ("level: 0.0\n", "evolution.yaml:1: level"),
        ("level: .nan\n", "evolution.yaml:1: level"),
        ("margin: .inf\n", "evolution.yaml:1: margin"),
        ("rule: best\n", "evolution.yaml:1: rule: expected one of paired, literal"),
        ("limits:\n  cool_down: -1\n", "evolution.yaml:2: limits.cool_down: expected int >= 0"),
        ("limits:\n  cooldown: 1\n", "evolution.yaml:2: limits.cooldown: unknown key"),
        ("limits:\n  stable_above: .nan\n", "evolution.yaml:2: limits.stable_above"),
        ("rollback:\n  share_of_best: 70\n", "evolution.yaml:2: rollback.share_of_best"),
        ("split:\n  inform: 0.9\n", "evolution.yaml:1: split: inform, decide and hold"),
        ("forbidden:\n  - ok\n  - '('\n", "evolution.yaml:3: forbidden[1]: not a regular"),
        ("- 1\n", "evolution.yaml: expected settings"),
        ("a: [\n", "evolution.yaml"),
    ],
)
def test_error_names_file_line_and_field(tmp_path: Path, text: str, document: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings(written(tmp_path, text))
    assert document in str(caught.value)


def test_settings_of_init_can_be_read(tmp_path: Path) -> None:
    text = format_settings({"cases": "../it's: cases.jsonl", "budget": 80})
    found = read_settings(written(tmp_path, text))
    assert found.cases == str(tmp_path / "../it's: cases.jsonl")
    assert found.budget == 80
    lines = [line.removeprefix("# ") for line in text.splitlines()[1:]]
    usual = read_settings(written(tmp_path, "\n".join(lines)))  # the comments are true
    assert usual.limits == Settings().limits
    assert usual.split == Settings().split
    with pytest.raises(ConfigError, match="casse"):
        format_settings({"casse": 1})
