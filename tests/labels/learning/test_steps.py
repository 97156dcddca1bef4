"""Steps of a learning run: data split, journal, limited concurrency, choice of criteria."""

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
from fourscore.labels.learning.checker import run_limited
from fourscore.labels.learning.choose_criteria import (
    Candidate,
    ChosenCriteria,
    choose_criteria,
    correlate_criterion,
    find_value_range,
)
from fourscore.labels.learning.data_split import LabelledAnswer, list_answers, split_samples
from fourscore.labels.learning.held_out_report import join_criteria
from fourscore.labels.learning.journal import Journal
from fourscore.labels.learning.learned_rubric import (
    make_dimensions,
    make_rubric_document,
    write_learned_rubric,
)
from fourscore.labels.learning.proposer import clean_line
from fourscore.labels.learning.settings import LearningSettings
from fourscore.stats.regression import LinearFit


def test_split_depends_on_content_not_on_position(tmp_path: Path) -> None:
    rows = planted.rows(50)
    one = SampleFile(planted.write(tmp_path / "a.jsonl", rows))
    two = SampleFile(planted.write(tmp_path / "b.jsonl", rows[::-1]))
    for name in ("held", "selection", "source", "check"):
        parts = [
            {samples.entries[at].digest for at in getattr(split_samples(samples, 3), name)}
            for samples in (one, two)
        ]
        assert parts[0] == parts[1]
    assert split_samples(one, 3) != split_samples(one, 4)
    assert sum(split_samples(one, 3).count().values()) == 50


def test_parts_are_limited(tmp_path: Path) -> None:
    many = SampleFile(planted.write(tmp_path / "a.jsonl", planted.rows(1000)))
    assert split_samples(many, 0).count() == {
        "source": 60,
        "check": 80,
        "selection": 80,
        "held": 120,
    }
    groups = SampleFile(
        planted.write(tmp_path / "b.jsonl", planted.ranked_rows(200)), mode="listwise"
    )
    assert split_samples(groups, 0).count() == {
        "source": 15,
        "check": 20,
        "selection": 20,
        "held": 60,
    }
    assert len(list_answers(groups, split_samples(groups, 0).check)) == 80


def test_journal_is_read_again_with_its_usage(tmp_path: Path) -> None:
    path = tmp_path / "out.journal.jsonl"
    with Journal(path, "run") as journal:
        journal.put("k", "check", 1, Usage(calls=1, input_tokens=5, dollars=0.5))
        journal.add_usage("check", Usage(calls=2))
        journal.note("round", {"kept": []})
    with path.open("ab") as stream:
        stream.write(b'{"what": "check", "key": "torn", "val')
    with Journal(path, "run") as journal:
        assert (journal.resumed, journal.get("k"), "torn" in journal) == (1, 1, False)
        assert journal.usage == Usage(calls=3, input_tokens=5, dollars=0.5)
        journal.put("l", "check", 0, Usage())
    with Journal(path, "run") as journal:
        assert journal.resumed == 2


def test_journal_of_another_run_is_renamed(tmp_path: Path) -> None:
    path = tmp_path / "out.journal.jsonl"
    with Journal(path, "one") as journal:
        journal.put("k", "check", 1, Usage())
    with Journal(path, "two") as journal:
        assert journal.resumed == 0
    assert '"key":"k"' in (tmp_path / "out.journal.jsonl.old").read_text()
    path.write_text("rubbish\n")
    with Journal(path, "two") as journal:
        assert journal.resumed == 0


def test_journal_is_locked_against_other_processes(tmp_path: Path) -> None:
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


def test_run_limited_bounds_concurrency_and_finishes_after_failure() -> None:
    running = most = 0
    taken: list[int] = []
    done: list[int] = []

    async def do(item: int) -> None:
        nonlocal running, most
        taken.append(item)
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        if item == 20:
            raise ValueError("twenty")
        await asyncio.sleep(0)
        done.append(item)

    asyncio.run(run_limited(range(19), do, 4))
    assert (most, sorted(done)) == (4, list(range(19)))
    taken.clear()
    done.clear()
    with pytest.raises(ValueError, match="twenty"):
        asyncio.run(run_limited(iter(range(100)), do, 4))
    assert len(taken) < 30
    assert sorted(done) == sorted(set(taken) - {20})


def _make_answers(n: int) -> list[LabelledAnswer]:
    return [LabelledAnswer(at, 0, at % 4 / 3) for at in range(n)]


def test_neither_copies_nor_noise_are_chosen() -> None:
    answers = _make_answers(80)
    good = {answer: int(answer.label > 0.5) for answer in answers}
    fine = {answer: int(answer.label in (1 / 3, 1.0)) for answer in answers}
    noise = {answer: int(planted.chance("noise", answer.sample) < 0.5) for answer in answers}
    verdicts = {"good": good, "copy": dict(good), "fine": fine, "noise": noise}
    choice = choose_criteria(
        [Candidate(text) for text in verdicts],
        verdicts,
        answers[:40],
        answers[40:],
        most=8,
        min_gain=0.02,
        grouped=False,
    )
    assert [one.text for one in choice.chosen] in (["good", "fine"], ["copy", "fine"])
    assert choice.agreement > 0.99
    assert choice.n == 80


def test_criterion_met_by_poor_answers_correlates_negatively() -> None:
    answers = _make_answers(40)
    verdicts = {"rude": {answer: int(answer.label < 0.5) for answer in answers}}
    assert correlate_criterion("rude", verdicts, answers, grouped=False) < -0.8
    assert Candidate("rude", "no").measure_met(0) == 1.0
    assert Candidate("rude", "no").measure_met(-1) == 0.0  # an empty answer meets no criterion


def test_value_range_stays_in_0_to_1() -> None:
    assert find_value_range(LinearFit(-0.2, (0.5, 0.9))) == (0.0, 1.0)
    assert find_value_range(LinearFit(0.2, (0.3,))) == (0.2, 0.5)
    assert find_value_range(LinearFit(1.2, ())) == (0.99, 1.0)


def test_criteria_are_cleaned_and_joined() -> None:
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
def test_bad_settings_are_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises((ValueError, ConfigError), match=field):
        LearningSettings(**{"model": "openai:m", **options})


def test_plain_rating_uses_scale_of_labels_if_possible() -> None:
    def scale(low: float, high: float) -> tuple[int, int]:
        rating = LearningSettings(model="openai:m", min_score=low, max_score=high).rating()
        return rating.min_score, rating.max_score

    assert scale(1.0, 5.0) == (1, 5)
    assert scale(0.0, 1.0) == (0, 10)
    assert scale(0.5, 4.5) == (0, 10)


def test_calls_running_at_a_kill_count_as_spent(tmp_path: Path) -> None:
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


def test_learned_rubric_file_can_be_read_as_rubric(tmp_path: Path) -> None:
    settings = LearningSettings(
        model="openai:m", settings={"base_url": "http://127.0.0.1:1/v1", "key_env": "MY_KEY"}
    )
    texts = ["It is: a 'test' # not a comment", "no", "语气友好"]
    chosen = tuple(Candidate(text, "no" if at == 1 else "yes") for at, text in enumerate(texts))
    choice = ChosenCriteria(chosen=chosen, fit=LinearFit(0.1, (0.3, 0.2, 0.1)), agreement=0.9, n=40)
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
        found = {
            one.text: (one.weight, one.expect) for judge in judges for one in judge.all_criteria
        }
        assert found == {
            texts[0]: (0.5, "yes"),
            "no": (0.333, "no"),
            texts[2]: (0.167, "yes"),
        }
        assert {judge.between for judge in judges} == {(0.1, 0.7)}
        assert judges[0].settings == {"base_url": "http://127.0.0.1:1/v1"}
    assert [line.name for line in rubric.dimensions] == ["tone_style", "tone_style_2"]
    assert [line.weight for line in rubric.dimensions] == [0.667, 0.333]
