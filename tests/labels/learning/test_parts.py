"""The pieces of a learning run: the split, the journal, the pool of work, the choice."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.labels.learning import planted

from fourscore.core import ConfigError, DataError, Usage
from fourscore.formats.labelled_samples import SampleFile
from fourscore.judges.rubric_file import read_rubric
from fourscore.labels.learning.choose_criteria import (
    Candidate,
    Choice,
    choose_criteria,
    correlate_criterion,
    find_value_range,
)
from fourscore.labels.learning.data_split import Unit, list_answers, parts_of
from fourscore.labels.learning.held_out_report import join_criteria
from fourscore.labels.learning.journal import Journal
from fourscore.labels.learning.learned_rubric import (
    make_dimensions,
    make_rubric_document,
    write_learned_rubric,
)
from fourscore.labels.learning.pool import pooled
from fourscore.labels.learning.proposer import clean_line
from fourscore.labels.learning.settings import Learning
from fourscore.stats.regression import LinearFit


def test_parts_go_by_content_and_not_by_place(tmp_path: Path) -> None:
    rows = planted.rows(50)
    one = SampleFile(planted.write(tmp_path / "a.jsonl", rows))
    two = SampleFile(planted.write(tmp_path / "b.jsonl", rows[::-1]))
    for name in ("held", "selection", "source", "check"):
        parts = [
            {samples.entries[at].digest for at in getattr(parts_of(samples, 3), name)}
            for samples in (one, two)
        ]
        assert parts[0] == parts[1]
    assert parts_of(one, 3) != parts_of(one, 4)
    assert sum(parts_of(one, 3).sizes().values()) == 50


def test_parts_are_capped(tmp_path: Path) -> None:
    many = SampleFile(planted.write(tmp_path / "a.jsonl", planted.rows(1000)))
    assert parts_of(many, 0).sizes() == {"source": 60, "check": 80, "selection": 80, "held": 120}
    groups = SampleFile(planted.write(tmp_path / "b.jsonl", planted.ranked_rows(200)), "listwise")
    assert parts_of(groups, 0).sizes() == {"source": 15, "check": 20, "selection": 20, "held": 60}
    assert len(list_answers(groups, parts_of(groups, 0).check)) == 80


def test_a_journal_is_read_again_and_knows_what_was_spent(tmp_path: Path) -> None:
    path = tmp_path / "out.journal.jsonl"
    with Journal(path, "run") as journal:
        journal.put("k", "check", 1, Usage(calls=1, input_tokens=5, dollars=0.5))
        journal.paid("check", Usage(calls=2))
        journal.decide("round", {"kept": []})
    with path.open("ab") as stream:
        stream.write(b'{"what": "check", "key": "torn", "val')
    with Journal(path, "run") as journal:
        assert (journal.resumed, journal.get("k"), "torn" in journal) == (1, 1, False)
        assert journal.usage == Usage(calls=3, input_tokens=5, dollars=0.5)
        journal.put("l", "check", 0, Usage())
    with Journal(path, "run") as journal:
        assert journal.resumed == 2


def test_the_journal_of_another_run_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "out.journal.jsonl"
    with Journal(path, "one") as journal:
        journal.put("k", "check", 1, Usage())
    with Journal(path, "two") as journal:
        assert journal.resumed == 0
    assert '"key":"k"' in (tmp_path / "out.journal.jsonl.old").read_text()
    path.write_text("rubbish\n")
    with Journal(path, "two") as journal:
        assert journal.resumed == 0


def test_two_processes_do_not_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "out.journal.jsonl"
    script = f"""
from pathlib import Path
from fourscore.labels.learning.journal import Journal
Journal(Path({str(path)!r}), "run")
"""
    with Journal(path, "run"):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert "another process is learning into it" in done.stderr
        with pytest.raises(DataError, match="another process"):
            Journal(path, "run")


def test_work_is_taken_when_there_is_room_and_ends_properly_after_a_failure() -> None:
    under_way = most = 0
    taken: list[int] = []
    done: list[int] = []

    async def do(item: int) -> None:
        nonlocal under_way, most
        taken.append(item)
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        if item == 20:
            raise ValueError("twenty")
        await asyncio.sleep(0)
        done.append(item)

    asyncio.run(pooled(range(19), do, 4))
    assert (most, sorted(done)) == (4, list(range(19)))
    taken.clear()
    done.clear()
    with pytest.raises(ValueError, match="twenty"):
        asyncio.run(pooled(iter(range(100)), do, 4))
    assert len(taken) < 30
    assert sorted(done) == sorted(set(taken) - {20})


def _units(n: int) -> list[Unit]:
    return [Unit(at, 0, at % 4 / 3) for at in range(n)]


def test_a_copy_of_a_criterion_is_not_chosen_and_noise_neither() -> None:
    units = _units(80)
    good = {unit: int(unit.y > 0.5) for unit in units}
    fine = {unit: int(unit.y in (1 / 3, 1.0)) for unit in units}
    noise = {unit: int(planted.chance("noise", unit.sample) < 0.5) for unit in units}
    verdicts = {"good": good, "copy": dict(good), "fine": fine, "noise": noise}
    choice = choose_criteria(
        [Candidate(text) for text in verdicts],
        verdicts,
        units[:40],
        units[40:],
        most=8,
        min_gain=0.02,
        grouped=False,
    )
    assert [one.text for one in choice.chosen] in (["good", "fine"], ["copy", "fine"])
    assert choice.agreement > 0.99
    assert choice.n == 80


def test_a_criterion_that_poor_answers_meet_counts_the_other_way_round() -> None:
    units = _units(40)
    verdicts = {"rude": {unit: int(unit.y < 0.5) for unit in units}}
    assert correlate_criterion("rude", verdicts, units, grouped=False) < -0.8
    assert Candidate("rude", "no").met(0) == 1.0
    assert Candidate("rude", "no").met(-1) == 0.0  # an answer that says nothing meets nothing


def test_the_span_stays_inside_the_scale() -> None:
    assert find_value_range(LinearFit(-0.2, (0.5, 0.9))) == (0.0, 1.0)
    assert find_value_range(LinearFit(0.2, (0.3,))) == (0.2, 0.5)
    assert find_value_range(LinearFit(1.2, ())) == (0.99, 1.0)


def test_criteria_are_one_line_and_not_too_long() -> None:
    assert clean_line(" a\n\x1b[1mb\u2028 c ") == "a [1mb c"
    assert clean_line("x" * 301) == ""
    text = join_criteria([Candidate("A."), Candidate("B.", "no")], "en")
    assert text.endswith("first: (1) A; of a good answer this is not true: B")
    assert "不应出现：乙" in join_criteria([Candidate("乙。", "no")], "zh")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"max_rubrics": 0}, "max_rubrics"),
        ({"min_score": 5.0, "max_score": 5.0}, "min_score"),
        ({"threshold": 2.0}, "threshold"),
        ({"batch": 1}, "batch"),
        ({"model": "nobody:x"}, "model"),
    ],
)
def test_settings_are_checked(options: dict[str, Any], field: str) -> None:
    with pytest.raises((ValueError, ConfigError), match=field):
        Learning(**{"model": "openai:m", **options})


def test_a_plain_rating_uses_the_labels_own_numbers_where_it_can() -> None:
    def scale(low: float, high: float) -> tuple[int, int]:
        rating = Learning(model="openai:m", min_score=low, max_score=high).rating()
        return rating.min_score, rating.max_score

    assert scale(1.0, 5.0) == (1, 5)
    assert scale(0.0, 1.0) == (0, 10)
    assert scale(0.5, 4.5) == (0, 10)


def test_what_was_under_way_at_a_kill_counts_as_spent(tmp_path: Path) -> None:
    path = tmp_path / "out.journal.jsonl"
    with Journal(path, "run", 8) as journal:
        journal.put("k", "check", 1, Usage(calls=1, input_tokens=100, dollars=0.5))
    with Journal(path, "run", 8) as journal:
        assert (journal.lost, journal.spent.calls) == (0, 1)
    with pytest.raises(KeyboardInterrupt), Journal(path, "run", 4):
        raise KeyboardInterrupt
    with Journal(path, "run", 8) as journal:
        assert journal.lost == 4
        assert journal.spent == Usage(calls=5, input_tokens=500, dollars=2.5)
    with Journal(path, "run", 8) as journal:
        assert journal.lost == 4


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    settings = Learning(
        model="openai:m", settings={"base_url": "http://127.0.0.1:1/v1", "key_env": "MY_KEY"}
    )
    texts = ["It is: a 'test' # not a comment", "no", "语气友好"]
    chosen = tuple(Candidate(text, "no" if at == 1 else "yes") for at, text in enumerate(texts))
    choice = Choice(chosen, LinearFit(0.1, (0.3, 0.2, 0.1)), 0.9, 40)
    for themes in ((), [("Tone & style", [0, 2]), ("tone, style", [1])]):
        dimensions = make_dimensions(settings, choice, themes)
        learned = {"outcome": "learned", "why": "x"}
        write_learned_rubric(
            tmp_path / "r.yaml", make_rubric_document(settings, dimensions, learned)
        )
        assert "MY_KEY" not in (tmp_path / "r.yaml").read_text()
        assert 'expect: "no"' in (tmp_path / "r.yaml").read_text()
        rubric = read_rubric(str(tmp_path / "r.yaml"))
        judges: Any = [line.judge for line in rubric.dimensions]
        found = {one.text: (one.weight, one.expect) for judge in judges for one in judge.asked}
        assert found == {
            texts[0]: (0.5, "yes"),
            "no": (0.333, "no"),
            texts[2]: (0.167, "yes"),
        }
        assert {judge.between for judge in judges} == {(0.1, 0.7)}
        assert judges[0].settings == {"base_url": "http://127.0.0.1:1/v1"}
    assert [line.name for line in rubric.dimensions] == ["tone_style", "tone_style_2"]
    assert [line.weight for line in rubric.dimensions] == [0.667, 0.333]
