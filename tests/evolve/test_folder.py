"""The folder: what it keeps, who may write, and what it says when somebody has changed it."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fourscore.core import ConfigError, DataError, InputError
from fourscore.evolve.decision import Decision, decide_by_pairs
from fourscore.evolve.folder import Evolution
from fourscore.evolve.history import StrategyRecord
from fourscore.stats.sequential import SequentialPlan

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
WON = decide_by_pairs([(40.0, 90.0), (50.0, 95.0)] * 20, SequentialPlan(budget=40))
LOST = decide_by_pairs([(90.0, 20.0), (80.0, 20.0)] * 20)
EXPLORED = Decision(rule="literal", accepted=True, reason="exploration", delta=-1.0)


CANDIDATE = (
    '{"event":"candidate","at":"2026-01-31T12:00:00Z","version":%d,"parent":1,'
    '"digest":"","strategy":"s","risk":"%s"}'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "evolution"
    Evolution.begin(folder, "Answer.\n", "", source="p.md", now=lambda: NOW).close()
    return folder


def opened(folder: Path) -> Evolution:
    return Evolution(folder, now=lambda: NOW)


def added(evolution: Evolution, text: str = "", strategy: str = "format_change") -> int:
    text = text or f"Version {evolution.history.next_number}.\n"
    return evolution.add(text, strategy=strategy, risk="medium").number


def test_stores_text_unchanged(tmp_path: Path) -> None:
    odd = "\ufeffTabs\t, \r\n returns, 中文 and no end"
    with Evolution.begin(tmp_path / "e", odd) as evolution:
        assert evolution.text() == odd
    assert (tmp_path / "e/versions/0001.md").read_bytes() == odd.encode()


@pytest.mark.parametrize("bad", ["", " \n", "\ud800", "x" * 1_000_001])
def test_rejects_empty_long_and_undecodable_prompts(tmp_path: Path, bad: str) -> None:
    with pytest.raises(DataError, match="prompt"):
        Evolution.begin(tmp_path / "e", bad)
    assert not (tmp_path / "e").exists()


def test_begin_fails_in_existing_evolution(folder: Path) -> None:
    with pytest.raises(DataError, match="already"):
        Evolution.begin(folder, "Again.")


def test_begin_keeps_existing_settings(tmp_path: Path) -> None:
    (tmp_path / "evolution.yaml").write_text("budget: 77\n")
    with Evolution.begin(tmp_path, "Answer.", "budget: 5\n") as evolution:
        assert evolution.settings.budget == 77


def test_accepted_candidate_becomes_active(folder: Path) -> None:
    with opened(folder) as evolution:
        number = added(evolution)
        assert evolution.pending is not None
        assert evolution.pending.number == number == 2
        assert evolution.active.number == 1
        assert evolution.decide(number, WON) == "promoted"
        assert evolution.active.number == evolution.history.best == 2
        assert evolution.pending is None
        assert [each.status for each in evolution.versions()] == ["retired", "active"]
        assert evolution.active.score == pytest.approx(92.5)
    state = json.loads((folder / "state.json").read_text())
    assert (state["active"], state["best"], state["lines"]) == (2, 2, 3)
    last = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])
    assert last["result"] == "promoted"
    assert last["decision"]["low"] > 0
    assert last["decision"]["n"] == 20


def test_exploration_stays_on_branch_until_it_wins(folder: Path) -> None:
    with opened(folder) as evolution:
        number = added(evolution)
        assert evolution.decide(number, EXPLORED) == "branched"
        assert evolution.active.number == 1
        assert evolution.history.branches == (2,)
        with pytest.raises(ConfigError, match="never active"):
            evolution.rollback(2)
        assert evolution.decide(2, WON) == "promoted"
        assert not evolution.history.branches
        assert evolution.active.number == 2


def test_unfinished_decision_is_not_recorded(folder: Path) -> None:
    with opened(folder) as evolution:
        number = added(evolution)
        with pytest.raises(ValueError, match="25 more pairs"):
            evolution.decide(number, decide_by_pairs([]))
        assert evolution.pending is not None


def test_invalid_step_changes_nothing(folder: Path) -> None:
    with opened(folder) as evolution:
        number = added(evolution)
        evolution.decide(number, LOST)
        before = (folder / "log.jsonl").read_bytes(), evolution.history.lines
        with pytest.raises(ValueError, match="2 is rejected"):
            evolution.decide(number, WON)
        with pytest.raises(ValueError, match="2 is rejected"):
            evolution.withdraw(number)
        with pytest.raises(ValueError, match="score"):
            evolution.record_execution(100.1)
        with pytest.raises(ConfigError, match="no version 9"):
            evolution.text(9)
        assert before == ((folder / "log.jsonl").read_bytes(), evolution.history.lines)


def test_archives_all_but_newest_best_and_active(folder: Path) -> None:
    with opened(folder) as evolution:
        evolution.record_execution(50.0)
        evolution.decide(added(evolution), WON)
        evolution.record_execution(99.0, n=1000)
        branch = added(evolution)
        evolution.decide(branch, EXPLORED)
        evolution.decide(added(evolution), WON)
        for _ in range(6):
            evolution.decide(added(evolution), LOST)
        assert (evolution.active.number, evolution.history.best) == (4, 2)
    kept = sorted(path.name for path in (folder / "versions").iterdir())
    assert kept == [f"{n:04d}.md" for n in (2, 3, 4, 6, 7, 8, 9, 10)]
    assert sorted(path.name for path in (folder / "archive").iterdir()) == ["0001.md", "0005.md"]
    with opened(folder) as evolution:
        assert evolution.text(1) == "Answer.\n"
        evolution.rollback(1)
        assert (folder / "versions/0001.md").is_file()


def test_rollback_goes_to_best_else_previous_version(folder: Path) -> None:
    with opened(folder) as evolution:
        with pytest.raises(ConfigError, match="no earlier version"):
            evolution.rollback()
        assert not evolution.must_roll_back().yes
        evolution.decide(added(evolution), WON)
        evolution.decide(added(evolution), WON)
        for score in (80.0, 70.0, 60.0):
            evolution.record_execution(score, n=100)
        assert evolution.must_roll_back().reason == "drops"
        assert evolution.rollback(reason="drops").number == 2
        assert not evolution.must_roll_back().yes  # the other version's drops are not this one's
        assert evolution.rollback(1).number == 1
        with pytest.raises(ConfigError, match="version 1 is already active"):
            evolution.rollback(1)


def test_high_error_rate_requires_rollback(folder: Path) -> None:
    with opened(folder) as evolution:
        evolution.decide(added(evolution), WON)
        evolution.record_execution(80.0, error_rate=0.6)
        assert evolution.must_roll_back().reason == "error_rate"
        evolution.record_execution(50.0, error_rate=0.5)
        assert evolution.must_roll_back().reason == "below_best"


def test_limits_use_history(tmp_path: Path) -> None:
    now = NOW
    with Evolution.begin(tmp_path / "e", "A.", now=lambda: now) as evolution:
        assert evolution.may_mutate().yes
        added(evolution)
        evolution.decide(2, LOST)
        assert evolution.may_mutate().reason == "cool_down"
        for score in (90.0, 60.0, 80.0, 50.0, 70.0):
            evolution.record_execution(score)
        assert evolution.may_mutate().yes
        for _ in range(9):
            added(evolution)
            for _ in range(5):
                evolution.record_execution(60.0)
        assert evolution.may_mutate().reason == "per_day"
        now = NOW + timedelta(days=1)
        assert evolution.may_mutate().yes
        for _ in range(5):
            evolution.record_execution(90.0)
        assert evolution.may_mutate().reason == "stable"


def test_counts_tried_and_accepted_per_strategy(folder: Path) -> None:
    with opened(folder) as evolution:
        for strategy, decision in (("a", WON), ("a", LOST), ("b", LOST), ("b", EXPLORED)):
            evolution.decide(added(evolution, strategy=strategy), decision)
        evolution.withdraw(added(evolution, strategy="c"), "no")
        assert evolution.strategy_records == {"a": StrategyRecord(2, 1), "b": StrategyRecord(2, 1)}
        assert evolution.history.expected_false == pytest.approx(0.15)
        assert evolution.history.accepted == 2


def test_one_writer_and_many_readers(folder: Path) -> None:
    with opened(folder) as evolution:
        with pytest.raises(DataError, match=f"process {os.getpid()} .*is working on"):
            Evolution(folder)
        script = f"from fourscore.evolve.folder import Evolution; Evolution({str(folder)!r})"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert f"process {os.getpid()}" in done.stderr
        with Evolution(folder, write=False) as reader:
            assert reader.active.number == 1
            with pytest.raises(DataError, match="opened for reading"):
                added(reader)
        added(evolution)
    Evolution(folder).close()


def test_reader_changes_nothing(folder: Path) -> None:
    with (folder / "log.jsonl").open("ab") as stream:
        stream.write(b'{"event":"candi')
    before = (folder / "log.jsonl").read_bytes()
    with Evolution(folder, write=False) as reader:
        assert reader.history.lines == 1
    assert (folder / "log.jsonl").read_bytes() == before
    Evolution(folder).close()
    assert (folder / "log.jsonl").read_bytes() == before[: before.index(b"\n") + 1]


@pytest.mark.parametrize(
    ("line", "document"),
    [
        ('{"event":"candidate"', "log.jsonl:2: not a JSON object"),
        ("[]", "log.jsonl:2"),
        ('{"event":"birthday","at":"2026-01-31T12:00:00Z"}', "log.jsonl:2: event"),
        ('{"event":"execution","version":1,"score":50}', "log.jsonl:2: at: it is missing"),
        ('{"event":"execution","at":"noon","version":1,"score":50}', "log.jsonl:2: at: 'noon'"),
        ('{"event":"execution","at":"2026-01-31T12:00:00Z","version":1,"score":101}',
         "log.jsonl:2: score: 101.0 is outside"),
        ('{"event":"execution","at":"2026-01-31T12:00:00Z","version":"one","score":1}',
         "log.jsonl:2: version: expected int"),
        ('{"event":"execution","at":"2026-01-31T12:00:00Z","version":7,"score":1}',
         "log.jsonl:2: version: there is no version 7"),
        ('{"event":"init","at":"2026-01-31T12:00:00Z","digest":"x"}', "log.jsonl:2: event"),
        ('{"event":"rollback","at":"2026-01-31T12:00:00Z","version":1,"left":1}',
         "log.jsonl:2: version"),
        ('{"event":"rollback","at":"2026-01-31T12:00:00Z","version":1,"left":2}',
         "log.jsonl:2: left"),
        (CANDIDATE % (5, "low"), "log.jsonl:2: version: expected 2, got 5"),
        (CANDIDATE % (2, "huge"), "log.jsonl:2: risk"),
        ("\xff", "log.jsonl:2"),
    ],
)  # fmt: skip
def test_edited_log_error_names_line(folder: Path, line: str, document: str) -> None:
    with (folder / "log.jsonl").open("ab") as stream:
        stream.write(line.encode("latin-1") + b"\n")
    for write in (True, False):
        with pytest.raises(InputError) as caught:
            Evolution(folder, write=write)
        assert document in str(caught.value)


def test_rejects_result_that_contradicts_decision(folder: Path) -> None:
    with opened(folder) as evolution:
        evolution.decide(added(evolution), LOST)
    log = folder / "log.jsonl"
    log.write_text(log.read_text().replace('"result":"rejected"', '"result":"promoted"'))
    with pytest.raises(DataError, match=r"log\.jsonl:3: result: promoted does not follow"):
        Evolution(folder)


@pytest.mark.parametrize(
    ("old", "new", "document"),
    [
        ('"active": 1', '"active": 2', "state.json:3: active: 2, but 1 according to log.jsonl"),
        ('"active": 1', '"active": "one"', "state.json:3: active: expected int"),
        ('"lines": 1', '"lines": 9', "state.json:8: lines: it was derived from 9 lines"),
        ('"lines": 1', '"lines": 0', "state.json:8: lines"),
        ('"format": 1', '"format": 2', "state.json:2: format: 2: this version"),
        ('"best"', '"beast"', "state.json"),
        ("{", "?", "state.json: not JSON"),
        ('"branches": []', '"branches": [4]', "state.json:5: branches: [4], but"),
    ],
)
def test_edited_state_error_names_line(folder: Path, old: str, new: str, document: str) -> None:
    state = folder / "state.json"
    state.write_text(state.read_text().replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        Evolution(folder)
    assert document in str(caught.value)
    state.unlink()
    with Evolution(folder) as evolution:  # as every such message says
        assert evolution.active.number == 1
    assert state.is_file()


def test_edited_text_error_names_file(folder: Path) -> None:
    (folder / "versions/0001.md").write_text("Something else.\n")
    with pytest.raises(DataError, match=r"0001\.md: this is not the text that version 1"):
        Evolution(folder)
    (folder / "versions/0001.md").unlink()
    with pytest.raises(DataError, match=r"0001\.md: the text of version 1 is missing"):
        Evolution(folder)


def test_does_not_overwrite_unrecorded_text(folder: Path) -> None:
    (folder / "versions/0002.md").write_text("By hand.\n")
    with opened(folder) as evolution:
        with pytest.raises(DataError, match=r"0002\.md: this file is not in log"):
            added(evolution)
        assert evolution.history.lines == 1
    assert (folder / "versions/0002.md").read_text() == "By hand.\n"


def test_reason_is_truncated_and_cleaned(folder: Path) -> None:
    with opened(folder) as evolution:
        evolution.add("New.", strategy="s", risk="low", why="\ud800" + "x" * 5000)
    with opened(folder) as evolution:
        assert len(evolution.version(2).why) == 2000


def test_rejects_folder_without_log(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no log\.jsonl in it; fourscore evolve init"):
        Evolution(tmp_path)
    (tmp_path / "log.jsonl").write_text("")
    (tmp_path / "evolution.yaml").write_text("")
    with pytest.raises(DataError, match="it is empty"):
        Evolution(tmp_path)
    with Evolution.begin(tmp_path, "Answer.") as evolution:
        assert evolution.text() == "Answer."
