import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourscore.core import Case, Fault, Message, Score, Status, ToolCall, Trace, Usage
from fourscore.stores.errors import StoreError
from fourscore.stores.run import RunInfo, new_run_id
from fourscore.stores.sqlite import PAGE, Store

#: Integers past 64 bits are read back from JSON as they are; sizes stay small to be quick.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def test_run_info_is_stored_completely(shelf: Any) -> None:
    info = RunInfo(
        name="nightly",
        labels={"branch": "main"},
        agent="agent.py:answer",
        agent_version="3",
        git_commit="abc",
        cases_digest="d",
        cases_path="cases.jsonl",
        rubric_fingerprint="f",
        rubric="{}",
        repeats=4,
        planned=80,
        options={"limit": 20, "tags": ["a"]},
        argv=("fourscore", "run"),
    )
    assert shelf.store.start(info) == info
    with Store(shelf.path) as again:
        assert again.run(info.id) == info
        assert [run.id for run in again.runs()] == sorted([info.id, shelf.run])


def test_ids_sort_by_time_and_differ() -> None:
    assert new_run_id(0.0).startswith("19700101-000000-000-")
    assert new_run_id(1e9) < new_run_id(1e9 + 0.002) < new_run_id(2e9)
    assert len({new_run_id(1.0) for _ in range(20)}) > 1


@pytest.mark.parametrize("name", ["", "../elsewhere", "a/b", "x" * 81, "a b"])
def test_run_id_that_cannot_be_a_file_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="id: "):
        RunInfo(id=name)


def test_run_is_found_by_the_beginning_of_its_id(shelf: Any) -> None:
    for name in ("2026-a1", "2026-a2", "2026-a", "2027-b"):
        shelf.store.start(RunInfo(id=name))
    assert shelf.store.run("2027").id == "2027-b"
    assert shelf.store.run("2026-a").id == "2026-a"  # exact before prefix
    with pytest.raises(StoreError, match=r"3 runs begin with '2026': 2026-a, 2026-a1, 2026-a2"):
        shelf.store.run("2026")
    with pytest.raises(StoreError, match=r"there is no run '2027-c'; did you mean 2027-b\?"):
        shelf.store.run("2027-c")
    with pytest.raises(StoreError, match="there is no run '%'"):
        shelf.store.run("%")


def test_existing_run_id_is_refused(shelf: Any) -> None:
    with pytest.raises(StoreError, match="run run-1 exists already"):
        shelf.store.start(RunInfo(id="run-1"))
    shelf.store.start(RunInfo(id="run-2"))  # the failed transaction is over


def test_finish_stores_the_summary(shelf: Any) -> None:
    assert shelf.store.summary(shelf.run) is None
    assert shelf.store.run(shelf.run).finished is None
    shelf.store.finish(shelf.run, {"pass_rate": 0.5})
    assert shelf.store.summary(shelf.run) == {"pass_rate": 0.5}
    assert shelf.store.run(shelf.run).finished > 0
    with pytest.raises(StoreError, match="there is no run 'run-2'"):
        shelf.store.finish("run-2", {})


def test_rows_are_ordered_by_position_and_repeat(shelf: Any) -> None:
    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            work = [
                writer.put_trace(n, shelf.case(n), repeat, shelf.trace(n))
                for n in reversed(range(PAGE))
                for repeat in (2, 1)
            ]
            await asyncio.gather(*work)

    asyncio.run(put())
    rows = list(shelf.store.rows(shelf.run))
    assert [(row.position, row.repeat) for row in rows] == [
        (n, repeat) for n in range(PAGE) for repeat in (1, 2)
    ]
    assert rows[7].case == shelf.case(3)
    assert rows[7].trace == shelf.trace(3)
    assert rows[7].score is None


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=VALUES, output=VALUES, name=st.text(), repeat=st.integers(-(2**63), 2**63 - 1))
def test_stored_case_trace_and_score_are_read_back(
    shelf: Any, asked: Any, output: Any, name: str, repeat: int
) -> None:
    case = Case(id=name, input=asked, expected=output, metadata={"a": output}, tags=("t",))
    trace = Trace(
        output=output,
        steps=(Message(role="user", content=asked), ToolCall(name="look", arguments=asked)),
        usage=Usage(calls=2, dollars=0.1),
        fault=Fault("timeout", "too late"),
    )
    score = Score(status=Status.TIMEOUT, value=0.0, passed=False, reward=0.0, reason=name)

    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            await writer.put_both(5, case, repeat, trace, judge="j", score=score)

    asyncio.run(put())
    row = shelf.store.row(shelf.run, case.id, repeat, "j")
    assert (row.case, row.trace, row.score) == (case, trace, score)
    assert shelf.store.statuses(shelf.run, case.id, "j")[repeat] is Status.TIMEOUT


def test_done_and_unjudged_rows_of_a_judge(shelf: Any) -> None:
    async def put() -> None:
        with shelf.store.writer(shelf.run) as writer:
            puts = [writer.put_trace(n, shelf.case(n), 1, shelf.trace(n)) for n in range(PAGE + 9)]
            await asyncio.gather(*puts)
            await writer.put_score("case-3", 1, shelf.judge, shelf.score(3))
            await writer.put_score("case-4", 1, shelf.judge, Score(status=Status.JUDGE_ERROR))
            await writer.put_score("case-5", 1, "another", shelf.score(5))

    asyncio.run(put())
    assert list(shelf.store.done(shelf.run, shelf.judge)) == [
        ("case-3", 1, Status.SCORED),
        ("case-4", 1, Status.JUDGE_ERROR),
    ]
    left = set(shelf.store.unjudged(shelf.run, shelf.judge))
    assert left == {(f"case-{n}", 1) for n in range(PAGE + 9)} - {("case-3", 1), ("case-4", 1)}
    assert shelf.store.statuses(shelf.run, "case-5", shelf.judge) == {1: None}
    assert shelf.store.statuses(shelf.run, "case-x", shelf.judge) == {}
    assert shelf.store.row(shelf.run, "case-5").score is None
    assert shelf.store.row(shelf.run, "case-5", judge="another").score == shelf.score(5)
    assert shelf.store.row(shelf.run, "case-x") is None


def test_retry_replaces_the_trace_and_deletes_its_scores(shelf: Any) -> None:
    asyncio.run(shelf.put(1, 2))
    shelf.store.label(shelf.run, "case-1", 1, who="ana", verdict="pass")
    shelf.store.label(shelf.run, "case-2", 1, who="ana", verdict="fail", note="wrong unit")
    shelf.store.label(shelf.run, "case-2", 1, who="ana", verdict="pass", note="on second thoughts")

    async def retry() -> None:
        with shelf.store.writer(shelf.run) as writer:
            await writer.put_trace(1, shelf.case(1), 1, Trace(output="better"))

    asyncio.run(retry())
    first, second = shelf.store.rows(shelf.run)
    assert (first.trace.output, first.attempt, first.score) == ("better", 2, None)
    assert (second.attempt, second.score) == (1, shelf.score(2))
    labels = shelf.store.labels(shelf.run)
    assert [(x.case_id, x.who, x.verdict, x.note, x.stale) for x in labels] == [
        ("case-1", "ana", "pass", "", True),  # a label of an output that was replaced
        ("case-2", "ana", "pass", "on second thoughts", False),
    ]


def test_label_needs_a_stored_output(shelf: Any) -> None:
    with pytest.raises(StoreError, match="run run-1 has no case 'case-1', repeat 1"):
        shelf.store.label(shelf.run, "case-1", 1, who="ana", verdict="pass")
    assert shelf.store.labels(shelf.run) == []


def test_readers_see_rows_while_they_are_written(shelf: Any) -> None:
    seen: list[int] = []
    stop = threading.Event()

    def read() -> None:
        with Store(shelf.path, make=False) as other:
            while not stop.is_set():
                seen.append(sum(row.score is not None for row in other.rows(shelf.run)))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for start in range(0, 300, 10):
            asyncio.run(shelf.put(*range(start, start + 10)))
            half_way = shelf.store.rows(shelf.run)
            assert next(half_way).position == 0  # a reader that stops does not block the next put
    finally:
        stop.set()
        reader.join()
    assert seen == sorted(seen)
    assert len(list(shelf.store.rows(shelf.run))) == 300


def test_results_view_is_readable_with_sqlite(shelf: Any) -> None:
    asyncio.run(shelf.put(1, 2))
    with closing(sqlite3.connect(shelf.path)) as connection:
        query = "SELECT run, case_id, status, passed, trace FROM results ORDER BY position"
        assert connection.execute(query).fetchall() == [
            ("run-1", "case-1", "scored", 0, '{"output":"answer 1","seconds":0.5}'),
            ("run-1", "case-2", "scored", 1, '{"output":"answer 2","seconds":0.5}'),
        ]


def test_damaged_row_is_reported_with_its_place(shelf: Any) -> None:
    asyncio.run(shelf.put(1))
    with closing(sqlite3.connect(shelf.path)) as connection:
        connection.execute("""UPDATE traces SET trace = '{"output":'""")
        connection.commit()
    with pytest.raises(StoreError, match=r"store\.db: position 1, repeat 1: trace: damaged"):
        list(shelf.store.rows(shelf.run))


def test_description_of_a_run_holds_no_secret(tmp_path: Path) -> None:
    agent = "http://ana:cnry-Pass-1@h/?api_key=cnry-Key-2"
    info = RunInfo(
        name=f"by {agent}",
        labels={"key": "ABC-1", "agent": agent},
        agent=agent,
        rubric="name: cnry-Pass-1",
        options={
            "agent": agent,
            "models": {"openai:m": {"extra": {"api_key": "cnry-3"}, "key_env": "MY_KEY"}},
            "where": {"key": "kept as it is"},
        },
        argv=("fourscore", "--agent", agent),
    )
    with Store(tmp_path / "runs.db") as store:
        assert store.start(info).options["where"] == {"key": "kept as it is"}
        assert store.run(info.id).options["models"]["openai:m"]["key_env"] == "MY_KEY"
        assert store.run(info.id).labels["key"] == "ABC-1"
        assert "cnry" not in repr(store.run(info.id))
        for path in tmp_path.iterdir():
            assert b"cnry" not in path.read_bytes()
            assert path.stat().st_mode & 0o777 == 0o600
