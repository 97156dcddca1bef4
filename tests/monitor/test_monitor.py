"""The monitor in an application: what it samples, stores and reports, without blocking it."""

import asyncio
import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fourscore import Case, ConfigError, Message, ProductionMonitor, Rubric, ToolCall, Trace, judge
from fourscore.core import Dimension, Evidence, Signal, Usage
from fourscore.monitor.interaction import Observation
from fourscore.monitor.sample import FullText, Sample, read_sample, read_text
from fourscore.monitor.sampling import Sampling
from fourscore.monitor.settings import JudgingSettings, PrivacySettings, SamplingSettings
from fourscore.stores.errors import StoreError
from fourscore.stores.monitor import MonitorStore

SECRET = "ana@example.com"


@judge
def says_good(_case: Case, trace: Trace) -> Signal:
    words = trace.answer
    return Signal(
        name="says_good",
        value=float("good" in words),
        reason=f"it says {words[:300]}",
        evidence=(Evidence(text=words[:300], start=0, end=len(words[:300])),),
    )


GOOD = Rubric(name="good", dimensions=(Dimension(name="says_good", judge=says_good, weight=1),))


class Gate:
    """A judge that waits until the event `open` is set."""

    names = ("gate",)
    runs = "thread"

    def __init__(self) -> None:
        self.open, self.entered, self.calls = threading.Event(), threading.Semaphore(0), 0

    async def judge(self, _case: Case, trace: Trace) -> list[Signal]:
        self.calls += 1
        self.entered.release()
        self.open.wait()
        return [Signal(name="gate", value=float("good" in trace.answer))]


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


def read_samples(monitor: ProductionMonitor) -> list[Sample]:
    return [read_sample(one.body) for one in monitor.store.samples(monitor.name)]


def read_full_texts(monitor: ProductionMonitor, sample: str) -> FullText:
    found = monitor.store.sample(monitor.name, sample)
    assert found is not None
    assert found.text is not None
    return read_text(found.text)


# sample_and_evaluate, get_metrics, settings


def test_sample_and_evaluate_and_get_metrics() -> None:
    monitor = ProductionMonitor(1.0, rubric=GOOD)
    assert monitor.get_metrics()["status"] == "insufficient_data"
    assert monitor.get_metrics()["sample_count"] == 0
    before = time.time()
    sample = monitor.sample_and_evaluate("q" * 300, "good " * 100)
    assert sample is not None
    assert list(sample) == ["query", "output_preview", "score", "passed", "timestamp"]
    assert (len(sample["query"]), len(sample["output_preview"])) == (200, 200)
    assert (sample["score"], sample["passed"]) == (1.0, True)
    assert before <= sample["timestamp"] <= time.time()
    monitor.sample_and_evaluate("q", "bad")
    assert [one["passed"] for one in monitor.samples] == [True, False]
    metrics = monitor.get_metrics()
    assert (metrics["sample_count"], metrics["pass_rate"], metrics["average_score"]) == (
        2,
        0.5,
        0.5,
    )
    assert monitor.alert_thresholds == {"pass_rate_warning": 0.85, "pass_rate_critical": 0.70}


def test_alert_thresholds_can_be_edited() -> None:
    monitor = ProductionMonitor(1.0, rubric=GOOD, mode="simple", thresholds={"min_samples": 5})
    for n in range(10):
        monitor.sample_and_evaluate("q", "bad" if n % 10 == 9 else "good", id=n)
    assert monitor.get_metrics()["status"] == "healthy"
    monitor.alert_thresholds["pass_rate_warning"] = 0.95
    monitor.sample_and_evaluate("q", "good", id="one more")
    assert monitor.get_metrics()["status"] == "warning"


def test_seeded_sampling_keeps_the_rate() -> None:
    monitor = ProductionMonitor(0.2, rubric=GOOD, sampling=SamplingSettings(seed=1))
    given = [monitor.sample_and_evaluate("q", "good") for _ in range(500)]
    taken = sum(one is not None for one in given)
    assert 60 < taken < 140
    assert len(monitor.samples) == taken
    assert monitor.get_metrics()["counts"]["observed"] == 500
    assert ProductionMonitor(0.0).sample_and_evaluate("q", "a") is None


def test_default_rubric_counts_the_dimensions_that_apply() -> None:
    monitor = ProductionMonitor(1.0)
    listed = "Explain the causes, effects and remedies of inflation."
    sample = monitor.sample_and_evaluate(listed, "Its causes are loose money and high demand.")
    assert sample is not None
    assert sample["passed"] is False


def test_text_without_a_reference_is_skipped_by_the_default_rubric() -> None:
    monitor = ProductionMonitor(1.0)
    sample = monitor.sample_and_evaluate("How did sales develop in 2023?", "Sales rose by 12%.")
    assert sample is not None
    assert sample["passed"] is None
    metrics = monitor.get_metrics()
    assert (metrics["pass_rate"], metrics["statuses"]["skipped"]) == (None, 1)


def test_a_rubric_may_be_a_file_a_mapping_or_a_judge(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text("name: five\ndimensions: {completeness: {weight: 1}}")
    for rubric in (path, str(path), {"completeness": {"weight": 1}}):
        assert [line.name for line in ProductionMonitor(rubric=rubric).rubric.dimensions] == [
            "completeness"
        ]
    assert ProductionMonitor(rubric=says_good).rubric.name == "says_good"
    with pytest.raises(ConfigError, match="rubric: expected a rubric"):
        ProductionMonitor(rubric=3)  # type: ignore[arg-type]


def test_language_zh_adds_the_original_labels() -> None:
    monitor = ProductionMonitor(1.0, rubric=GOOD, mode="simple", language="zh")
    assert monitor.get_metrics()["label"] == "数据不足"
    for n in range(20):
        monitor.sample_and_evaluate("q", "good", id=n)
    assert (monitor.get_metrics()["status"], monitor.get_metrics()["label"]) == (
        "healthy",
        "healthy (健康)",
    )
    for n in range(4):
        monitor.sample_and_evaluate("q", "bad", id=f"bad {n}")
    assert monitor.get_metrics()["label"] == "warning (警告)"
    for n in range(20):
        monitor.sample_and_evaluate("q", "bad", id=f"worse {n}")
    assert monitor.get_metrics()["label"] == "critical (紧急)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_rate": 2}, "sample_rate: 2: expected a number from 0 to 1"),
        ({"judging": {"queue": 0}}, "queue: 0: expected a number above 0"),
        ({"judging": {"deadline": "soon"}}, "deadline: 'soon': expected a number above 0"),
        ({"mode": "loose"}, "mode: 'loose': expected sequential or simple"),
        ({"language": "fr"}, "language: 'fr': expected zh, or nothing"),
        ({"thresholds": {"alfa": 0.1}}, r"thresholds\.alfa: no such threshold; did you mean alpha"),
        ({"thresholds": {"pass_rate_warning": 0.1}}, "thresholds: expected .* pass_rate_critical"),
        ({"thresholds": {"alpha": "low"}}, "thresholds: "),
        (
            {"judging": {"budget": "5 apples"}},
            "budget: '5 apples': expected dollars, tokens or calls",
        ),
    ],
)
def test_invalid_settings_are_refused(options: dict[str, Any], message: str) -> None:
    def make() -> ProductionMonitor:
        judging = JudgingSettings(**options.pop("judging", {}))
        return ProductionMonitor(judging=judging, **options)

    with pytest.raises(ConfigError, match=message):
        make()


# Observing


def test_hash_of_the_id_decides_what_is_sampled() -> None:
    monitor = ProductionMonitor(0.1, rubric=GOOD)
    ids = [f"request-{n}" for n in range(500)]
    taken = [one for one in ids if monitor.observe("q", "good", id=one)]
    assert taken == [one for one in ids if Sampling(0.1).draws(one, ())]
    assert monitor.flush(600)
    assert {sample.id for sample in read_samples(monitor)} == set(taken)
    assert {sample.weight for sample in read_samples(monitor)} == {10.0}
    assert monitor.get_metrics()["counts"]["observed"] == 500


def test_the_same_interaction_twice_is_one_sample() -> None:
    monitor = ProductionMonitor(1.0, rubric=GOOD)
    for _ in range(3):
        monitor.observe("q", "good", id="one")
    monitor.flush(600)
    assert (monitor.get_metrics()["sample_count"], monitor.get_metrics()["counts"]["twice"]) == (
        1,
        2,
    )


def test_every_interaction_of_many_threads_is_counted() -> None:
    monitor = ProductionMonitor(0.2, rubric=GOOD, judging=JudgingSettings(queue=20))

    def serve(who: int) -> None:
        for n in range(500):
            bad = None if n % 50 else "broken"
            monitor.observe("q", "good", id=f"{who}-{n}", error=bad)

    threads = [threading.Thread(target=serve, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monitor.flush(600)
    metrics = monitor.get_metrics()
    counts = metrics["counts"]
    ids = [(f"{who}-{n}", n) for who in range(8) for n in range(500)]
    taken = sum(Sampling(0.2).draws(one, ()) or n % 50 == 0 for one, n in ids)
    assert counts["observed"] == 4000
    assert metrics["sample_count"] + counts["extra"] + counts["dropped"] == taken
    assert metrics["sample_count"] == sum(metrics["statuses"].values())
    assert counts["failed"] == counts["unsaved"] == counts["twice"] == 0


def test_stored_interaction_is_not_judged_again(gate: Gate, tmp_path: Path) -> None:
    gate.open.set()
    for _ in range(2):  # another process, or a restart
        with ProductionMonitor(1.0, rubric=gate, store=tmp_path / "monitor.db") as monitor:
            monitor.sample_and_evaluate("q", "good", id="one")
            assert monitor.sample_and_evaluate("q", "good", id="one") is None
            assert monitor.get_metrics()["sample_count"] == 1
    assert gate.calls == 1


def test_observe_never_raises(caplog: pytest.LogCaptureFixture) -> None:
    class Odd:
        def __str__(self) -> str:
            raise ZeroDivisionError

    def rule(_: Observation) -> bool:
        raise ZeroDivisionError

    monitor = ProductionMonitor(1.0, rubric=GOOD)
    loop: list[Any] = []
    loop.append(loop)
    odd: list[dict[str, Any]] = [
        {"query": Odd(), "output": Odd()},
        {"query": loop, "output": {1: {2}}},
        {"query": "q", "output": "good", "id": Odd()},
        {"query": "q", "output": "good", "id": "\ud800"},
        {"query": "q", "output": "good", "tags": 3},
        {"query": "q", "output": "good", "tags": "one"},
        {"query": "q", "output": "good", "trace": 3},
        {"query": "q", "output": "good", "trace": [{"role": 3}]},
        {"query": "q", "output": "good", "case": {"tags": 3}},
        {"query": "q", "output": "good", "case": 3},
        {"query": "q", "output": "good", "feedback": Odd()},
        {"query": None, "output": float("nan")},
    ]
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            for one in odd:
                monitor.observe(**one)
        monitor.flush(600)
    counts = monitor.get_metrics()["counts"]
    assert counts["observed"] == 36
    assert counts["failed"] > 0
    assert counts["failed"] + counts["twice"] + len(read_samples(monitor)) == 36
    assert 0 < len(caplog.records) <= 6  # each kind of problem once
    strict = ProductionMonitor(0.0, rubric=GOOD, sampling=SamplingSettings(always=[rule]))
    assert not strict.observe("q", "good")
    assert strict.get_metrics()["counts"]["failed"] == 1


def test_later_changes_by_the_application_do_not_change_the_sample(gate: Gate) -> None:
    monitor = ProductionMonitor(1.0, rubric=gate, judging=JudgingSettings(workers=1))
    query, output = {"text": "q"}, {"text": "good"}
    monitor.observe(query, output, id="x")
    gate.entered.acquire()
    query["text"] = output["text"] = "changed"
    gate.open.set()
    monitor.flush(600)
    text = read_full_texts(monitor, "x")
    assert (text.case.input, text.trace.output) == ({"text": "q"}, {"text": "good"})


def test_trace_may_be_steps_or_chat_messages() -> None:
    monitor = ProductionMonitor(1.0, rubric=GOOD)
    tools = (ToolCall(name="f", error="no"), ToolCall(name="g"))
    steps = (Message(role="user", content="q"), *tools)
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "42"},
    ]
    monitor.observe("q", "good", id="steps", trace=steps, seconds=1.5)
    monitor.observe("q", "good", id="messages", trace=messages)
    monitor.observe("q", id="trace", trace=Trace(output="good", steps=steps))
    monitor.flush(600)
    found = {one.id: (one.passed, one.tool_calls, one.tool_errors) for one in read_samples(monitor)}
    assert found == {"steps": (True, 2, 1), "messages": (True, 1, 0), "trace": (True, 2, 1)}
    assert read_full_texts(monitor, "steps").trace.seconds == 1.5


def test_case_may_have_more_than_a_query() -> None:
    seen: list[Case] = []

    @judge
    def look(case: Case, _trace: Trace) -> bool:
        seen.append(case)
        return True

    monitor = ProductionMonitor(1.0, rubric=look)
    fields = {"expected": "a", "complexity": "simple", "tags": ["w"]}
    monitor.observe("q", "a", id="1", tags=["x"], case=fields)
    monitor.observe("q", "a", id="2", tags=["x"], case=Case(id="own", input="Q", tags=("y",)))
    monitor.flush(600)
    first, second = sorted(seen, key=lambda case: case.id)
    assert (first.id, first.input, first.expected, first.tags) == ("1", "q", "a", ("w", "x"))
    assert (second.id, second.input, second.tags) == ("own", "Q", ("y", "x"))


# Rates of tags, rules, budget


def test_tags_with_own_rates_are_weighted() -> None:
    monitor = ProductionMonitor(
        0.01,
        rubric=GOOD,
        sampling=SamplingSettings(rates={"rare": 0.5}),
        judging=JudgingSettings(queue=10_000),
    )
    for n in range(3000):
        monitor.observe("q", "good", id=f"c{n}")
        monitor.observe("q", "good", id=f"r{n}", tags=["rare"])
    monitor.flush(600)
    samples = read_samples(monitor) + [
        read_sample(one.body)
        for one in monitor.store.samples("default", before=1_000_000, limit=10_000)[100:]
    ]
    rare = [one for one in samples if one.tags == ("rare",)]
    assert {one.weight for one in rare} == {2.0}
    assert {one.weight for one in samples if not one.tags} == {100.0}
    assert 1300 < len(rare) < 1700


def test_errors_and_thumbs_down_are_stored_and_do_not_count() -> None:
    monitor = ProductionMonitor(0.5, rubric=GOOD)
    ids = [f"i{n}" for n in range(40)]
    for one in ids:
        monitor.observe("q", None, id=one, error=TimeoutError("late"))
        monitor.observe("q", "bad", id=f"down {one}", feedback="thumbs_down")
        monitor.observe("q", "good", id=f"up {one}", feedback=1)
    monitor.flush(600)
    drawn = {one for one in ids if Sampling(0.5).draws(one, ())}
    rows = monitor.store.samples("default", limit=1000)
    errors = [row for row in rows if row.id in ids]
    assert len(errors) == 40
    assert {row.id for row in errors if row.drawn} == drawn
    assert {read_sample(row.body).weight for row in errors if not row.drawn} == {1.0}
    assert {str(read_sample(row.body).status) for row in errors} == {"timeout"}
    assert sum(row.id.startswith("down") for row in rows) == 40
    assert sum(row.id.startswith("up") for row in rows) < 40
    metrics = monitor.get_metrics()
    assert metrics["sample_count"] == sum(row.drawn for row in rows)
    assert metrics["counts"]["extra"] == sum(not row.drawn for row in rows) > 0


@pytest.mark.parametrize("feedback", [False, -1, "down", "Thumbs-down", "👎", -0.5, "negative"])
def test_feedback_that_means_thumbs_down(feedback: Any) -> None:
    assert ProductionMonitor(0.0, rubric=GOOD).observe("q", "bad", feedback=feedback)
    assert not ProductionMonitor(0.0, rubric=GOOD, sampling=SamplingSettings(always=())).observe(
        "q", "a", feedback=feedback
    )


@pytest.mark.parametrize("feedback", [True, 1, 0, "up", "", "downtown", [], {}])
def test_other_feedback_is_not_thumbs_down(feedback: Any) -> None:
    assert not ProductionMonitor(0.0, rubric=GOOD).observe("q", "bad", feedback=feedback)


def test_custom_sampling_rule() -> None:
    def long(seen: Observation) -> bool:
        return len(seen.output) > 100 or "vip" in seen.tags

    monitor = ProductionMonitor(
        0.0, rubric=GOOD, sampling=SamplingSettings(always=["errors", long])
    )
    assert not monitor.observe("q", "short")
    assert monitor.observe("q", "long" * 100)
    assert monitor.observe("q", "short", tags=["vip"])
    assert monitor.observe("q", error="broken")
    monitor.flush(600)
    assert len(read_samples(monitor)) == 3


class Paid:
    """A judge that makes two calls and states its highest cost: two calls, 0.50 dollars."""

    names = ("paid",)

    async def judge(self, _case: Case, _trace: Trace) -> list[Signal]:
        return [Signal(name="paid", value=1.0, usage=Usage(calls=2, dollars=0.25))]

    def most(self, _case: Case) -> Usage:
        return Usage(calls=2, dollars=0.5)


@pytest.mark.parametrize(("budget", "affords"), [("7calls", 3), (1.0, 3), (["1", "2calls"], 1)])
def test_budget_is_per_hour_and_shared_on_one_store(
    budget: Any, affords: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In dollars: each sample reserves 0.50 and costs 0.25, so 1.00 is enough for 3 samples."""
    clock = 1_800_000_000.0
    monkeypatch.setattr("fourscore.monitor.scorer.time.time", lambda: clock)
    monitors = [
        ProductionMonitor(
            1.0, rubric=Paid(), store=tmp_path / "m.db", judging=JudgingSettings(budget=budget)
        )
        for _ in range(2)
    ]
    given = [monitors[n % 2].sample_and_evaluate("q", "a", id=n) for n in range(6)]
    assert sum(one is not None for one in given) == affords
    metrics = monitors[0].get_metrics()
    monitors[1].flush(600)
    assert metrics["sample_count"] == affords
    assert monitors[0].get_metrics()["counts"]["over_budget"] == 6 - affords
    clock += 3600
    assert monitors[0].sample_and_evaluate("q", "a", id="next hour") is not None
    for monitor in monitors:
        monitor.close()


# A judge that is slow, or down


def test_full_queue_drops_and_counts(gate: Gate) -> None:
    monitor = ProductionMonitor(1.0, rubric=gate, judging=JudgingSettings(queue=10, workers=2))
    for n in range(2):
        monitor.observe("q", "good", id=n)
    gate.entered.acquire()
    gate.entered.acquire()
    handed = [monitor.observe("q", "good", id=n) for n in range(2, 102)]
    assert sum(handed) == 10
    assert monitor.get_metrics()["dropped"] == 90
    gate.open.set()
    assert monitor.flush(600)
    metrics = monitor.get_metrics()
    assert (metrics["sample_count"], metrics["dropped"]) == (12, 90)
    assert metrics["counts"]["observed"] == 102


def test_judge_that_never_answers_is_a_judge_error(gate: Gate) -> None:
    monitor = ProductionMonitor(1.0, rubric=gate, judging=JudgingSettings(deadline=0.05))
    assert monitor.sample_and_evaluate("q", "good") is not None
    assert monitor.samples[0]["passed"] is monitor.samples[0]["score"] is None
    (sample,) = read_samples(monitor)
    assert (str(sample.status), sample.reason) == ("judge_error", "gate: no answer within 0.05 s")
    assert monitor.get_metrics()["status"] == "insufficient_data"


def test_event_loop_is_not_blocked_while_the_judge_hangs(gate: Gate) -> None:
    monitor = ProductionMonitor(1.0, rubric=gate, judging=JudgingSettings(queue=5))
    turns = 0

    async def serve() -> None:
        nonlocal turns
        for n in range(200):
            monitor.observe("q", "good", id=n)
            await asyncio.sleep(0)
            turns += 1

    asyncio.run(serve())
    assert turns == 200
    assert gate.calls <= 4


# What is stored


def test_nothing_is_stored_unredacted(tmp_path: Path) -> None:
    path = tmp_path / "monitor.db"
    answers: list[str] = []

    @judge
    def quotes(case: Case, trace: Trace) -> Signal:
        answers.append(trace.answer)
        evidence = (Evidence(text=trace.answer, start=0, end=5),)
        return Signal(name="quotes", value=0.0, reason=f"{case.input}", evidence=evidence)

    monitor = ProductionMonitor(1.0, rubric=quotes, store=path)
    steps = [ToolCall(name="mail", arguments={"to": SECRET}, result=[SECRET], error=SECRET)]
    steps += [ToolCall(name="pay", arguments={"card": 4111111111111111})]
    monitor.observe(
        f"write to {SECRET}",
        {"said": f"good {SECRET}"},
        id="1",
        trace=[*steps, Message(role="user", content=SECRET)],
        case={"expected": SECRET, "metadata": {SECRET: SECRET}},
        feedback=f"down {SECRET}",
    )
    monitor.observe(SECRET, SECRET, id="2", error=f"cannot write to {SECRET}")
    monitor.flush(600)
    assert SECRET in answers[0]
    text = read_full_texts(monitor, "1")
    assert text.trace.output == {"said": "good [e-mail]"}
    assert text.trace.tool_calls[1].arguments == {"card": "[card]"}
    assert text.score.signals[0].reason == "write to [e-mail]"
    assert text.score.signals[0].evidence == (Evidence(text='{"said":"good [e-mail]"}'),)
    monitor.close()
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert SECRET.encode() not in files
    assert b"4111111111111111" not in files
    assert b"[e-mail]" in files


def test_log_messages_are_redacted(caplog: pytest.LogCaptureFixture) -> None:
    def rule(seen: Observation) -> bool:
        raise ValueError(f"what is {seen.output}?")

    monitor = ProductionMonitor(0.0, rubric=GOOD, sampling=SamplingSettings(always=[rule]))
    with caplog.at_level(logging.DEBUG):
        monitor.observe("q", SECRET)
    assert "an interaction cannot be observed: ValueError: what is [e-mail]?" in caplog.text
    assert SECRET not in caplog.text


def test_redact_hook_is_applied() -> None:
    monitor = ProductionMonitor(
        1.0, rubric=GOOD, privacy=PrivacySettings(redact=lambda text: text.replace("Ana", "[name]"))
    )
    sample = monitor.sample_and_evaluate(f"Ana {SECRET}", "good Ana", id="1")
    assert sample is not None
    assert (sample["query"], sample["output_preview"]) == ("[name] [e-mail]", "good [name]")
    assert read_full_texts(monitor, "1").case.input == "[name] [e-mail]"


def test_texts_are_kept_for_keep_text_seconds() -> None:
    monitor = ProductionMonitor(1.0, rubric=GOOD, privacy=PrivacySettings(keep_text=None))
    monitor.sample_and_evaluate("q", "good", id="1")
    found = monitor.store.sample("default", "1")
    assert found is not None
    assert found.text is None
    week = ProductionMonitor(1.0, rubric=GOOD)
    week.sample_and_evaluate("q", "good", id="1")
    for days, there in ((6.9, True), (7.1, False)):
        found = week.store.sample("default", "1", now=time.time() + days * 86_400)
        assert found is not None
        assert (found.text is not None) == there


# A store that fails, processes that end


def test_samples_wait_while_the_store_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("fourscore.stores.sqlite_file.MAX_WAIT", 0.05)
    path = tmp_path / "monitor.db"
    with ProductionMonitor(1.0, rubric=GOOD, store=path) as monitor:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with caplog.at_level(logging.WARNING):
                for n in range(5):
                    assert monitor.sample_and_evaluate("q", "good", id=n) is not None
            other.execute("ROLLBACK")
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "samples wait for the store" in caplog.text
        assert monitor.get_metrics()["counts"]["observed"] == 5
        assert monitor.get_metrics()["sample_count"] == 0
        assert monitor.flush(600)
        assert monitor.get_metrics()["sample_count"] == 5


def test_close_does_not_wait_long_for_a_locked_store(tmp_path: Path) -> None:
    """A save usually waits a minute for another process; `flush` and `close` wait less."""
    path = tmp_path / "monitor.db"
    monitor = ProductionMonitor(1.0, rubric=GOOD, store=path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        monitor.observe("q", "good")
        assert not monitor.flush(0.2)
        other.execute("ROLLBACK")
    assert monitor.close()


def test_long_ids_are_cut_and_stay_unique(gate: Gate) -> None:
    gate.open.set()
    monitor = ProductionMonitor(1.0, rubric=gate)
    for end in ("a", "b", "a"):
        monitor.sample_and_evaluate("q", "good", id="x" * 5000 + end)
    assert monitor.get_metrics()["sample_count"] == 2
    assert all(len(sample.id) < 200 for sample in read_samples(monitor))


def test_samples_waiting_for_the_store_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourscore.stores.sqlite_file.MAX_WAIT", 0.001)
    monkeypatch.setattr("fourscore.monitor.batch_writer.MAX_WAITING", 10)
    path = tmp_path / "monitor.db"
    monitor = ProductionMonitor(1.0, rubric=GOOD, store=path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for n in range(25):
            monitor.sample_and_evaluate("q", "good", id=n)
        other.execute("ROLLBACK")
    assert monitor.flush(600)
    assert monitor.get_metrics()["counts"]["unsaved"] == 15
    assert {sample.id for sample in read_samples(monitor)} == {str(n) for n in range(15, 25)}
    monitor.close()
    with pytest.raises(StoreError, match="closed"):
        monitor.get_metrics()


def test_sample_that_cannot_be_folded_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = ProductionMonitor(1.0, rubric=GOOD)
    fold = monitor._scorer.writer._fold

    def picky(state: bytes | None, samples: Any) -> Any:
        if any(sample.id == "2" for sample in samples):
            raise ZeroDivisionError
        return fold(state, samples)

    monkeypatch.setattr(monitor._scorer.writer, "_fold", picky)
    saving = monitor._scorer.writer
    monkeypatch.setattr(saving, "save", lambda: True)  # so that all four are saved in one batch
    for n in range(4):
        monitor.sample_and_evaluate("q", "good", id=n)
    monitor.flush(600)
    assert {sample.id for sample in read_samples(monitor)} == {"0", "1", "3"}
    assert monitor.get_metrics()["counts"]["failed"] == 1
    assert "a sample cannot be saved" in caplog.text


def test_restart_keeps_all_counts(tmp_path: Path) -> None:
    path = tmp_path / "monitor.db"
    for start in (0, 5):
        with ProductionMonitor(1.0, rubric=GOOD, store=path, name="shop") as monitor:
            for n in range(start, start + 8):
                monitor.observe("q", "good", id=n)
    with ProductionMonitor(1.0, rubric=GOOD, store=path, name="shop") as monitor:
        metrics = monitor.get_metrics()
        assert (metrics["sample_count"], metrics["counts"]["twice"]) == (13, 3)
        assert metrics["counts"]["observed"] == 16
    with MonitorStore(path) as store:
        assert store.monitors() == ["shop"]
        shared = ProductionMonitor(1.0, rubric=GOOD, store=store)
        shared.sample_and_evaluate("q", "good")
        shared.close()
        assert store.monitors() == [
            "default",
            "shop",
        ]  # `close` leaves a store open that the caller passed in


SERVICE = """
import multiprocessing, os, sys
from fourscore.monitor.settings import JudgingSettings
from fourscore import ProductionMonitor, Rubric, judge

@judge
def good(case, trace):
    return "good" in trace.answer

judging = JudgingSettings(exit_wait=600)
monitor = ProductionMonitor(1.0, rubric=good, store=sys.argv[1], judging=judging)

def serve(who, count):
    for n in range(count):
        monitor.observe("q", "good", id=f"{who}-{n}")

if __name__ == "__main__":
    how = sys.argv[2]
    serve("parent", 30)
    if how == "exit":
        pass  # no flush: the end of the process does it
    elif how == "fork":
        children = []
        for k in range(2):
            child = os.fork()
            if child == 0:
                serve(f"child{k}", 30)
                sys.exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    else:
        context = multiprocessing.get_context(how.removeprefix("multi-"))
        children = [context.Process(target=serve, args=(f"child{k}", 30)) for k in range(2)]
        for child in children:
            child.start()
        for child in children:
            child.join()
        assert [child.exitcode for child in children] == [0, 0]
"""


@pytest.mark.parametrize(
    ("how", "expected"), [("exit", 30), ("fork", 90), ("multi-fork", 90), ("multi-spawn", 90)]
)
def test_samples_are_saved_when_processes_end(how: str, expected: int, tmp_path: Path) -> None:
    script, path = tmp_path / "service.py", tmp_path / "monitor.db"
    script.write_text(SERVICE)
    warnings = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    argv = [sys.executable, *warnings, str(script), str(path), how]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with ProductionMonitor(store=path) as monitor:
        metrics = monitor.get_metrics()
        assert metrics["sample_count"] == metrics["counts"]["observed"] == expected


WORKER = """
import sys
from fourscore import ProductionMonitor, judge

@judge
def good(case, trace):
    return "good" in trace.answer

with ProductionMonitor(1.0, rubric=good, store=sys.argv[1]) as monitor:
    for n in range(60):
        monitor.observe("q", "bad", id=f"{sys.argv[2]}-{n}", tags=["refunds"])
    assert monitor.flush(600)
"""


def test_two_processes_share_one_state(tmp_path: Path) -> None:
    """Counts add up exactly, and a fall that both processes saw is one alert per stream."""
    path = tmp_path / "monitor.db"
    argv = [sys.executable, "-c", WORKER, str(path)]
    both = [subprocess.Popen([*argv, str(n)]) for n in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    with ProductionMonitor(store=path, rubric=Rubric.from_judge(says_good)) as monitor:
        metrics = monitor.get_metrics()
        assert metrics["sample_count"] == metrics["counts"]["observed"] == 120
        assert (metrics["pass_rate"], metrics["status"]) == (0.0, "critical")
        alerts = monitor.store.outbox.alerts("default", only_open=True)
        streams = [alert.stream for alert in alerts]
        assert sorted(streams) == ["dimension:good", "overall", "tag:refunds"]
        change = json.loads(next(alert.body for alert in alerts if alert.stream == "overall"))
        assert change["after"] == "critical"
        assert 0 < len(change["evidence"]) <= 10
        claims = monitor.store.outbox.claim("default", "log", time.time())
        assert not monitor.store.outbox.claim("default", "log", time.time())
        assert {claim.alert.stream for claim in claims} == set(streams)


ENDLESS = """
import itertools, sys
from fourscore import ProductionMonitor, judge

@judge
def good(case, trace):
    return True

monitor = ProductionMonitor(1.0, rubric=good, store=sys.argv[1])
for n in itertools.count():
    monitor.sample_and_evaluate("q", "good", id=n)
    print(n, flush=True)
"""


def test_kill_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "monitor.db"
    argv = [sys.executable, "-c", ENDLESS, str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(25)]
        os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()
    ids = {line.strip() for line in lines if line.endswith("\n")}
    with ProductionMonitor(rubric=GOOD, store=path) as monitor:
        rows = {row.id for row in monitor.store.samples("default", limit=100_000)}
        assert ids <= rows
        metrics = monitor.get_metrics()
        assert metrics["sample_count"] == len(rows)
        json.dumps(metrics)


def test_alert_thresholds_can_be_assigned() -> None:
    with ProductionMonitor(1.0) as monitor:
        monitor.alert_thresholds = {"pass_rate_warning": 0.9}
        assert monitor.alert_thresholds == {"pass_rate_warning": 0.9, "pass_rate_critical": 0.7}
        with pytest.raises(ConfigError, match="no such threshold"):
            monitor.alert_thresholds = {"pass_rate": 0.9}
