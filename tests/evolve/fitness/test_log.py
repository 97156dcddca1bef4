"""A log scored in one pass comes to what its traces come to, however it is cut and spread."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourscore import Case, DataError, score
from fourscore.evolve.fitness.document import make_document
from fourscore.evolve.fitness.log import ScoredLog, TaskInfo, score_log
from fourscore.formats.logs.log_file import LogFile
from fourscore.judges.fitness.rubric import get_fitness, make_fitness_rubric
from fourscore.judges.rubric_file import read_rubric

RUBRIC = make_fitness_rubric()
TABLE = Path(__file__).parents[2] / "labelled" / "fitness" / "executions.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text().splitlines()]
START = datetime(2026, 1, 5, tzinfo=UTC)


def moment(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def read(path: Path, records: list[dict[str, Any]] | str, **options: Any) -> ScoredLog:
    text = records
    if not isinstance(text, str):
        text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(text)
    return asyncio.run(score_log(str(path), RUBRIC, **options))


def records_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of a row of the table as a log: the first at 0, the others when it ended."""
    found: list[dict[str, Any]] = []
    for tool, code, n in row["calls"]:
        found += [
            {"tool": tool, "session": "s", **({} if code is None else {"exit": str(code)})}
            for _ in range(n)
        ]
    if row["seconds"] is not None:
        for i, record in enumerate(found):
            record["ts"] = moment(row["seconds"] if i else 0)
    for i in range(row["retries"]):
        found[i % len(found)]["retry"] = "true"
    for i in range(row["corrections"]):
        found[i % len(found)]["user_correction"] = "true"
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_scores_equal_hand_computed_table(row: dict[str, Any], tmp_path: Path) -> None:
    task = TaskInfo(row["output"], row["task_type"], row["complexity"])
    document = make_document(read(tmp_path / "e.jsonl", records_of(row), task=task))
    expected = row["expected"]
    for name, line in document["signals"].items():
        assert line["value"] == pytest.approx(expected[name], abs=1e-6), name
    assert (document["score"], document["grade"]) == (expected["score"], expected["grade"])
    assert document["coverage"] == pytest.approx(expected["coverage"])


RECORDS = st.lists(
    st.fixed_dictionaries(
        {"tool": st.sampled_from(["Read", "Bash"])},
        optional={
            "ts": st.integers(0, 200).map(moment) | st.just("2026-01-05T03:00:00+02:00"),
            "exit": st.sampled_from(["0", "0", "0", "1", "", 0, 2, None]),
            "success": st.sampled_from(["true", "false", True]),
            "version": st.sampled_from(["1", "2"]),
            "session": st.sampled_from(["a", "b", "c", "d", "e", 7]),
            "output": st.sampled_from(["fine", "ValueError: no", {"is_error": True}]),
            "error": st.sampled_from(["", "boom", {"code": 5}]),
            "duration_ms": st.sampled_from(["5", 7.5]),
            "retry": st.sampled_from(["true", "false", 1]),
            "user_correction": st.just(True),
        },
    ),
    min_size=1,
    max_size=40,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=RECORDS, pretty=st.integers(0, 3), spread=st.integers(1, 6))
def test_one_pass_equals_scoring_of_traces(
    tmp_path: Path, records: list[dict[str, Any]], pretty: int, spread: int
) -> None:
    path = tmp_path / "e.jsonl"
    text = "".join(
        json.dumps(record, indent=2 if pretty and i % (pretty + 1) == 0 else None) + "\n"
        for i, record in enumerate(records)
    )
    scored_log = read(path, text, open_sessions=spread)
    traces = list(LogFile(str(path)).traces())
    expected = {}
    for trace in traces:
        (found,) = asyncio.run(score(RUBRIC, Case(id="t", input="x"), [trace]))
        value = get_fitness(found)
        if value is not None:
            expected[trace.metadata["session"]] = (value, trace.metadata["version"])
    document = {
        scored.session: (scored.score, scored.version)
        for scored in scored_log.totals.newest_executions()
    }
    assert document == expected
    counts = make_document(scored_log)["counts"]
    assert counts["records"] == counts["tool_calls"] == len(records)
    assert counts["executions"] == len(traces)


def many(sessions: int, calls: int = 4) -> list[dict[str, Any]]:
    """Session after session; each later one fails less."""
    return [
        {
            "ts": moment(3600.0 * s + 2 * i),
            "tool": "Bash",
            "exit": "1" if i == 0 and s < sessions / 2 else "0",
            "version": str(1 + s * 3 // sessions),
            "session": f"s{s:04d}",
        }
        for s in range(sessions)
        for i in range(calls)
    ]


def test_merges_sessions_spilled_to_disk(tmp_path: Path) -> None:
    records = many(60)
    mixed = [records[i * 7 % len(records)] for i in range(len(records))]
    whole = make_document(read(tmp_path / "a.jsonl", mixed), "session")
    parts = make_document(read(tmp_path / "b.jsonl", mixed, open_sessions=3), "session")
    assert whole == parts
    assert whole["counts"]["executions"] == 60


def test_groups_scores_by_version_day_and_session(tmp_path: Path) -> None:
    scored_log = read(tmp_path / "e.jsonl", many(48))
    by_version = make_document(scored_log, "version")["groups"]
    assert [group["name"] for group in by_version] == ["3", "2", "1"]
    assert [group["n"] for group in by_version] == [16, 16, 16]
    assert by_version[0]["score"] > by_version[2]["score"]
    assert [group["name"] for group in make_document(scored_log, "day")["groups"]] == [
        "2026-01-06",
        "2026-01-05",
    ]
    sessions = make_document(scored_log, "session")["groups"]
    assert sessions[0]["name"] == "s0047"
    assert make_document(scored_log)["trend"]["direction"] == "rising"


def test_score_weighs_newest_executions_most(tmp_path: Path) -> None:
    document = make_document(read(tmp_path / "e.jsonl", many(10)))
    # Five of ten fail one call of four: 0.75 and one error; then nothing fails. All take 6 s.
    bad = (0.35 * 0.75 + 0.20 * 0.95 + 0.15 * 0.9) / 0.70 * 100
    good = (0.35 + 0.20 * 0.95 + 0.15) / 0.70 * 100
    # One of each end is dropped, so four good ones and one bad one are the newest five.
    expected = (good * (1 + 0.9 + 0.8 + 0.7) + bad * 0.6) / 4
    assert document["score"] == pytest.approx(expected, abs=0.01)
    assert document["executions"]["mean"] == pytest.approx((good + bad) / 2, abs=0.01)


def test_output_belongs_to_newest_execution(tmp_path: Path) -> None:
    document = make_document(
        read(tmp_path / "e.jsonl", many(3), task=TaskInfo(output="# Done\n\n- a\n"))
    )
    assert (document["signals"]["structure_score"]["n"], document["newest"]["session"]) == (
        1,
        "s0002",
    )


def test_invalid_field_error_names_line(tmp_path: Path) -> None:
    records = [*many(2), {"tool": "x", "exit": "zero"}, {"tool": "x", "exit": "one"}]
    with pytest.raises(DataError) as caught:
        read(tmp_path / "e.jsonl", records)
    assert (caught.value.line, caught.value.field) == (9, "exit")


def test_counts_broken_lines(tmp_path: Path) -> None:
    text = "".join(json.dumps(record) + "\n" for record in many(2))
    middle = len(text) // 2 + 20
    torn = text[:middle] + "\n" + text[middle:]
    with pytest.raises(DataError):
        read(tmp_path / "e.jsonl", torn)
    counts = make_document(read(tmp_path / "e.jsonl", torn, skip_broken=True))["counts"]
    assert counts["records"] == 7
    assert counts["broken"] >= 1


def test_one_pass_uses_rubric_options(tmp_path: Path) -> None:
    rubric = tmp_path / "strict.yaml"
    rubric.write_text(
        "dimensions:\n  tool_success_rate: {weight: 1, with: {missing_exit: fail}}\n"
        "  efficiency: {weight: 1, with: {efficiency: tools, limits: {medium: {tools: 4}}}}\n"
    )
    path = tmp_path / "e.jsonl"
    path.write_text('{"tool":"a","exit":"0"}\n{"tool":"a"}\n')
    scored_log = asyncio.run(score_log(str(path), read_rubric(str(rubric))))
    assert make_document(scored_log)["score"] == 50.0


def test_record_without_exit_code_leaves_success_rate(tmp_path: Path) -> None:
    records = [
        {"tool": "a", "exit": "0", "session": "s"},
        {"tool": "a", "success": "true", "session": "s"},
        {"tool": "b", "success": "false", "session": "s"},
        {"tool": "c", "output": "cat: x: No such file or directory", "session": "s"},
    ]
    document = make_document(read(tmp_path / "e.jsonl", records))
    assert document["signals"]["tool_success_rate"]["value"] == 1.0
    assert document["signals"]["error_rate"]["value"] == 0.8
    counts = document["counts"]
    assert (counts["succeeded"], counts["failed"], counts["unknown"]) == (1, 0, 3)
    assert counts["errors"] == 2


def test_format_is_judged_by_request_of_conversation(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Which? Answer in one word."}]
    values = []
    for answer in ("Paris", "It is Paris, of course, and has been for long."):
        path = tmp_path / "m.json"
        path.write_text(json.dumps([*turns, {"role": "assistant", "content": answer}]))
        document = make_document(asyncio.run(score_log(str(path), RUBRIC)))
        values.append(document["signals"]["output_quality"]["reason"])
    assert "asked for" not in values[0]
    assert "asked for" in values[1]


def test_custom_judge_is_scored_through_traces(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from fourscore import judge\n@judge\ndef calm(case, trace):\n"
        "    return len(trace.tool_calls) < 3\n"
    )
    rubric = tmp_path / "mine.yaml"
    rubric.write_text("dimensions:\n  calm: {judge: mine.py->calm}\n")
    path = tmp_path / "e.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in many(2)))
    document = make_document(asyncio.run(score_log(str(path), read_rubric(str(rubric)))))
    assert (document["score"], document["grade"]) == (0.0, "F")


def test_failed_agent_scores_zero(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    sample = {"id": "q", "messages": [], "error": {"message": "sandbox died"}}
    path.write_text(json.dumps({"eval": {}, "status": "error", "samples": [sample]}))
    document = make_document(asyncio.run(score_log(str(path), RUBRIC)))
    assert (document["score"], document["grade"]) == (0.0, "F")
    assert "sandbox died" in document["signals"]["efficiency"]["reason"]


def test_newest_execution_does_not_depend_on_spilling(tmp_path: Path) -> None:
    """Sessions that end at the same time: the one that begins last in the file is the newest."""
    names = ["s9", "s1", "s5"]
    records = [{"ts": moment(9), "tool": "a", "exit": "0", "session": name} for name in names]
    whole = make_document(read(tmp_path / "a.jsonl", records))
    parts = make_document(read(tmp_path / "b.jsonl", records, open_sessions=1))
    assert whole["newest"] == parts["newest"]
    assert whole["newest"]["session"] == "s5"


def test_error_quotes_first_bad_record(tmp_path: Path) -> None:
    records = [*many(2), {"tool": "x", "exit": "0", "ts": "soon"}, {"tool": "x", "exit": "zero"}]
    with pytest.raises(DataError) as caught:
        read(tmp_path / "e.jsonl", records)
    assert (caught.value.line, caught.value.field) == (9, "ts")


def test_counts_sessions_with_several_versions(tmp_path: Path) -> None:
    def record(session: str | int, version: str | None) -> dict[str, Any]:
        return {"tool": "a", "exit": "0", "session": session, "version": version}

    apart = [record("a", "1"), record("b", "2"), record("a", "1"), record("b", "2")]
    scored_log = read(tmp_path / "e.jsonl", apart)
    assert {one.session: one.version for one in scored_log.totals.newest_executions()} == {
        "a": "1",
        "b": "2",
    }
    assert scored_log.totals.mixed == 0
    changed = [record("a", "1"), record("b", "2"), record("a", "3"), record("a", None)]
    scored_log = read(tmp_path / "e.jsonl", changed)
    assert {one.session: one.version for one in scored_log.totals.newest_executions()} == {
        "a": "3",
        "b": "2",
    }
    assert scored_log.totals.mixed == 1
    same = [record(7, "1"), record("7", "2"), record(7, "1")]  # a number and its text are one
    scored_log = read(tmp_path / "e.jsonl", same)
    assert [(one.session, one.version) for one in scored_log.totals.newest_executions()] == [
        ("7", "1")
    ]


def test_spilling_does_not_mix_versions(tmp_path: Path) -> None:
    filler = "x" * 70_000  # a batch of its own
    records: list[dict[str, Any]] = []
    for version in (None, None, "1", "2"):
        records.append({"tool": "a", "session": "s", "version": version, "output": filler})
        records.append({"tool": "a", "session": "t", "output": filler})
    scored_log = read(tmp_path / "e.jsonl", records, open_sessions=1)
    assert (scored_log.totals.mixed, make_document(scored_log)["counts"]["executions"]) == (1, 2)


def test_document_lists_newest_thousand_executions(tmp_path: Path) -> None:
    records = [
        {"ts": moment(i * 7 % 2503), "tool": "a", "exit": "0", "session": f"s{i}"}
        for i in range(2503)
    ]
    document = make_document(read(tmp_path / "e.jsonl", records), "session")
    assert (len(document["groups"]), document["groups_left_out"]) == (1000, 1503)
    by_time = sorted(range(2503), key=lambda i: i * 7 % 2503, reverse=True)[:1000]
    assert [group["name"] for group in document["groups"]] == [f"s{i}" for i in by_time]
