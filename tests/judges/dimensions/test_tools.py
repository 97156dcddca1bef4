"""`tool_efficiency`: repeats, loops, errors, the choice of tools and the budget."""

import asyncio
import json
import pickle
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrica.core import Case, CaseError, ConfigError, Message, Signal, ToolCall, Trace
from rubrica.core.levels import FLOORS
from rubrica.judges.dimensions.calling.calls import call_of
from rubrica.judges.dimensions.calling.failures import is_empty
from rubrica.judges.dimensions.calling.natures import nature_of
from rubrica.judges.dimensions.tools import ToolEfficiency
from rubrica.judges.workflow import built
from rubrica.phases.agent_recorded import RecordedAgent
from rubrica.readers.cases import CaseFile

LABELLED = Path(__file__).parents[2] / "labelled" / "tool_efficiency"
ORDER = list(FLOORS)


def c(tool: str, arguments: Any = None, result: Any = "done", **more: Any) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments, result=result, **more)


def bad(tool: str, arguments: Any, error: str) -> ToolCall:
    return c(tool, arguments, None, error=error)


def signal_of(
    *calls: ToolCall | Message,
    expected: Any = (),
    max_calls: int | None = None,
    judge: ToolEfficiency | None = None,
) -> Signal:
    tools: dict[str, Any] = {"expected": list(expected)}
    if max_calls is not None:
        tools["max_calls"] = max_calls
    case = Case(id="t", input="do it", expected={"tools": tools})
    trace = Trace(output="done", steps=tuple(calls))
    (signal,) = asyncio.run((judge or ToolEfficiency()).judge(case, trace))
    return signal


def level(*calls: ToolCall | Message, **more: Any) -> str:
    return signal_of(*calls, **more).level


def value(*calls: ToolCall | Message, **more: Any) -> float:
    found = signal_of(*calls, **more).value
    assert found is not None
    return found


def other(n: int) -> list[ToolCall]:
    """Useful calls, each unlike the others."""
    return [c("read_page", {"page": i}, f"text of page {i}") for i in range(n)]


# What is right


def test_nothing_wasted() -> None:
    signal = signal_of(c("get_weather", {"city": "Oslo"}, {"c": 4}), expected=["get_weather"])
    assert (signal.name, signal.value, signal.level) == ("tool_efficiency", 1.0, "excellent")
    assert "not wasted" in signal.reason
    assert "confidence: high" in signal.reason
    assert signal.evidence == ()


def test_nothing_to_measure() -> None:
    signal = signal_of(Message(role="assistant", content="Hello"))
    assert signal.value is None
    assert signal.fault is None
    assert value(max_calls=0) == 1.0


def test_none_called_although_expected() -> None:
    signal = signal_of(
        Message(role="assistant", content="I called get_balance"), expected=["a", "b"]
    )
    assert signal.value == 0.0
    assert "expected a, b" in signal.reason


def test_reason_and_evidence_name_the_step() -> None:
    signal = signal_of(
        Message(role="user", content="go"),
        c("search", {"q": "tides"}, ["a page about tides"]),
        c("open", {"url": "u"}),
        c("search", {"q": " tides "}, ["a page about tides"]),
    )
    assert "step 3 repeats step 1: search(q= tides )" in signal.reason
    assert [(e.field, e.step) for e in signal.evidence] == [("steps", 3)]


# Repeats


@pytest.mark.parametrize(
    ("one", "again"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": "x  y\n"}, {"a": " x y"}),
        ({"a": {"b": [1, {"c": 2, "d": 3}]}}, {"a": {"b": [1.0, {"d": 3, "c": 2}]}}),
        ({"a": 1, "b": [2]}, '{"b": [2], "a": 1}'),
        ({"filter": {"x": 1}}, {"filter": '{ "x": 1.0 }'}),
        ({"a": 1, "b": None}, {"a": 1}),
        ({"城市": "北京", "日期": "今天"}, {"日期": "今天 ", "城市": "北京"}),
        ({"city": "Lisbon"}, {"city": "lisbon"}),
        ({"id": 118}, {"id": "118"}),
        (None, None),
        ({"x": "é" * 200_000}, {"x": "é" * 200_000}),
    ],
)
def test_the_same_question(one: Any, again: Any) -> None:
    answer = {"answer": "what there is to say about it"}
    waste = signal_of(c("lookup", one, answer), *other(3), c("lookup", again, answer))
    assert waste.level == "good"
    assert "step 4 repeats step 0" in waste.reason


@pytest.mark.parametrize(
    ("one", "again"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": True}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": "x y"}, {"a": "xy"}),
        ({"page": {"n": 1}}, {"page": {"n": 2}}),
        ({"a": "{not json}"}, {"a": "{not  json]"}),
        ({"x": "é" * 200_000}, {"x": "é" * 199_999 + "e"}),
    ],
)
def test_another_question(one: Any, again: Any) -> None:
    assert level(c("get_it", one, {"n": 1}), c("get_it", again, {"n": 2})) == "excellent"


@pytest.mark.parametrize(
    ("wasted", "useful", "expected"),
    [
        (1, 10, "good"),
        (1, 3, "good"),
        (1, 2, "acceptable"),
        (2, 3, "acceptable"),
        (3, 3, "acceptable"),
        (4, 3, "poor"),
        (6, 4, "poor"),
        (3, 1, "failed"),
        (9, 1, "failed"),
    ],
)
def test_levels_by_the_share_of_waste(wasted: int, useful: int, expected: str) -> None:
    calls = other(useful)
    assert level(*calls, *[calls[0]] * wasted) == expected


def test_more_waste_is_never_better() -> None:
    calls = other(4)
    values = [value(*calls, *[calls[0]] * n) for n in range(30)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.2


# What excuses a repeat


def test_reading_again_after_a_write() -> None:
    read = {"path": "a.py"}
    edit = c("edit_file", {"path": "a.py", "old": "x", "new": "y"}, {"ok": True})
    assert level(c("read_file", read, "x"), edit, c("read_file", read, "y")) == "excellent"
    # The write is about the same file: to look is sensible, whatever it shows.
    assert level(c("read_file", read, "x"), edit, c("read_file", read, "x")) == "excellent"


def test_a_write_to_something_else_excuses_nothing() -> None:
    read = c("read_file", {"path": "a.py"}, "x")
    write = c("write_file", {"path": "b.py", "content": "z"}, {"ok": True})
    assert "step 2 repeats step 0" in signal_of(read, write, read).reason
    assert "step 2 repeats step 0" in signal_of(read, c("send_mail", {"to": "m"}), read).reason


def test_tests_are_run_again_after_an_edit() -> None:
    tests = c("run_tests", {"path": "tests"}, "1 failed", exit_code=1)
    edit = c("edit_file", {"path": "a.py", "new": "y"}, {"ok": True})
    assert level(tests, edit, tests) == "excellent"
    assert level(tests, tests, tests) == "poor"


def test_shell_commands_tell_what_they_do() -> None:
    test = c("bash", {"command": "python -m pytest -q"}, "1 failed", exit_code=1)
    fix = c("bash", {"command": "sed -i s/a/b/ x.py"}, "")
    assert level(test, fix, test) == "excellent"
    look = c("bash", {"command": "ls src"}, "a.py b.py")
    assert level(test, look, test) == "acceptable"


def test_named_writes_are_the_users_word() -> None:
    probe, flip = c("probe", {"id": "p1"}, {"v": 1}), c("zap", {"id": "p1"})
    assert level(probe, flip, probe) == "acceptable"
    assert level(probe, flip, probe, judge=ToolEfficiency(writes=("zap",))) == "excellent"


def test_polling() -> None:
    def status(state: str) -> ToolCall:
        return c("job_status", {"id": 7}, {"state": state})

    waiting = [status("running")] * 4
    assert level(*waiting, status("completed")) == "excellent"
    assert level(*[status(f"running {n} %") for n in range(9)]) == "excellent"
    assert level(status("running"), status("running"), *other(3)) == "excellent"
    assert level(*waiting, *waiting) == "failed"
    assert level(status("completed"), *[status("completed")] * 5) == "failed"


def test_the_hour_in_a_result_is_no_news() -> None:
    calls = [c("get_price", {"id": 1}, {"price": 3, "timestamp": n}) for n in range(8)]
    assert level(*calls) == "failed"


def test_steps_that_may_be_taken_again() -> None:
    pages = [c("next_page", {}, f"page {n}") for n in range(6)]
    assert level(*pages) == "excellent"
    assert level(*[c("scroll", {"by": 1}, "ok")] * 3) == "excellent"
    assert level(*[c("scroll", {"by": 1}, "ok")] * 20) == "failed"


def test_a_thing_done_twice_is_wasted_whatever_it_answers() -> None:
    booked = [c("book_table", {"at": "20:00"}, {"ref": n}) for n in range(2)]
    assert "step 1 repeats step 0" in signal_of(*booked).reason
    exists = bad("create_user", {"name": "ann"}, "user exists already")
    assert level(c("create_user", {"name": "ann"}, {"id": 1}), exists) == "acceptable"


def test_a_booking_may_be_made_again_after_it_was_cancelled() -> None:
    booked = [c("book_flight", {"flight": "HT1"}, {"ref": f"R{n}"}) for n in range(2)]
    cancelled = c("cancel_booking", {"ref": "R0"}, {"ok": True})
    assert level(booked[0], cancelled, booked[1]) == "excellent"
    订 = [c("预订酒店", {"房型": "大床"}, {"单号": n}) for n in range(2)]
    assert level(订[0], c("取消预订", {"单号": 0}, {"成功": True}), 订[1]) == "excellent"


def test_make_undo_and_make_again() -> None:
    made, gone = c("create_label", {"n": "x"}, {"ok": 1}), c("delete_label", {"n": "x"}, {"ok": 1})
    assert level(made, gone, made) == "excellent"
    assert level(made, gone, made, gone) == "acceptable"
    assert level(*[made, gone] * 6) == "failed"


# Errors


def test_one_retry_of_what_may_pass() -> None:
    args = {"room": 302}
    slow = bad("book_room", args, "504 gateway timeout")
    signal = signal_of(slow, c("book_room", args, {"ref": 1}))
    assert signal.level == "good"
    assert "step 0 failed: book_room(room=302) gave '504 gateway timeout'" in signal.reason
    assert level(slow, slow, c("book_room", args, {"ref": 1}), *other(1)) == "good"
    assert level(*[slow] * 7, c("book_room", args, {"ref": 1})) == "poor"


def test_a_mistake_put_right() -> None:
    wrong = bad("leave", {"day": "May 30"}, "day must be YYYY-MM-DD")
    right = c("leave", {"day": "2025-05-30"}, {"id": 1})
    assert level(wrong, right) == "good"
    assert level(*other(3), wrong, right) == "good"
    wrong2 = bad("leave", {"day": "30.5."}, "day must be YYYY-MM-DD")
    assert level(wrong, wrong2, right) == "acceptable"
    assert level(*[wrong] * 4) == "failed"


@pytest.mark.parametrize(
    "failed",
    [
        {"error": "no seat left"},
        {"result": {"error": "no seat left"}},
        {"result": {"success": False, "message": "full"}},
        {"result": {"成功": False}},
        {"result": {"isError": True, "content": "full"}},
        {"result": '{"error": "no seat left"}'},
        {"result": "Error: no seat left"},
        {"result": "ValueError: full"},
        {"result": "Traceback (most recent call last): ..."},
        {"result": "错误：没有座位"},
        {"result": "执行失败，请检查"},
        {"exit_code": 2, "result": "full"},
        {"exit_code": 127, "result": "make: command not found"},
    ],
)
def test_failures(failed: dict[str, Any]) -> None:
    call = ToolCall(name="seat", arguments={"n": 1}, **failed)
    assert call_of(0, call).failure
    assert level(*[call] * 5) == "failed"
    assert level(call, *other(3)) == "good"


@pytest.mark.parametrize(
    "result",
    [
        "Error rate is 0.3 % today",
        "错误率为 0.3%",
        "Errors and how to avoid them, a book",
        {"error": None, "rows": 3},
        {"errors": [], "ok": True},
        {"status": "failed", "job": 7, "why": "no image", "at": "12:00"},
        {"status": 404},
        "The error was found in line 3",
        0,
        False,
    ],
)
def test_not_failures(result: Any) -> None:
    assert not call_of(0, c("look", {}, result)).failure


def test_the_same_search_in_other_words() -> None:
    words = ["osprey nesting call recording", "recordings of the osprey nesting call"]
    words += [
        "osprey call nesting audio",
        "audio recording osprey nest call",
        "nesting osprey calls",
    ]
    empty = [c("archive_search", {"q": text}, []) for text in words]
    assert level(*empty[:2]) == "excellent"
    assert level(*empty, *other(3)) == "acceptable"
    found = [c("archive_search", {"q": text}, [{"title": "Birds of the coast"}]) for text in words]
    assert "steps 2, 3, 4 put step 0 in other words" in signal_of(*found, *other(3)).reason


def test_other_searches_without_a_result() -> None:
    days = [c("search_flights", {"from": "JFK", "day": f"2025-05-{n}"}, []) for n in range(10, 20)]
    assert level(*days) == "excellent"
    people = ["Ann Archer email", "Bo Berg phone", "Cid Cole address", "Dee Dahl office"]
    assert level(*[c("search", {"q": text}, []) for text in people]) == "excellent"
    rows = [c("sql", {"query": f"select count(*) from {t}"}, [[0]]) for t in ("a", "b", "c", "d")]
    assert level(*rows) == "excellent"


# The choice of tools, the budget


def test_expected_tools() -> None:
    a, b, web = c("a", {}, 1), c("b", {}, 2), c("web", {}, 3)
    assert level(b, a, expected=["a", "b"]) == "excellent"
    assert level(a, b, web, *[c("a", {"n": n}, n) for n in range(3)], expected=["a", "b"]) == "good"
    assert level(a, expected=["a", "b"]) == "poor"
    assert level(web, expected=["a", "b"]) == "failed"
    assert level(web, a, expected=["a", "b"]) == "poor"
    assert level(a, bad("b", {}, "no seat left"), expected=["a", "b"]) == "poor"
    assert level(bad("a", {}, "timeout"), bad("a", {}, "timeout"), expected=["a"]) == "poor"


def test_expected_as_objects() -> None:
    wanted = [{"name": "pay", "arguments": {"sum": 5}, "note": "mine"}, "mail"]
    mail = c("mail", {"to": "x"})
    assert level(c("pay", {"sum": 5.0, "to": "x"}), mail, expected=wanted) == "excellent"
    assert level(c("pay", {"sum": 6}), mail, expected=wanted) == "poor"


@pytest.mark.parametrize(
    "called", ["get_price", "getPrice", "Get-Price", "shop.get_price", "mcp__shop__get_price"]
)
def test_names_are_compared_without_their_spelling(called: str) -> None:
    assert level(c(called, {}), expected=["get_price"]) == "excellent"


@pytest.mark.parametrize(
    ("calls", "budget", "expected"),
    [
        (5, 5, "excellent"),
        (6, 5, "good"),
        (11, 10, "good"),
        (7, 5, "acceptable"),
        (8, 4, "poor"),
        (16, 4, "failed"),
        (1, 0, "poor"),
        (9, 0, "failed"),
    ],
)
def test_budget(calls: int, budget: int, expected: str) -> None:
    signal = signal_of(*other(calls), max_calls=budget)
    assert signal.level == expected
    assert level(*other(calls), judge=ToolEfficiency(max_calls=budget)) == expected


def test_the_budget_of_the_case_wins() -> None:
    assert level(*other(4), max_calls=4, judge=ToolEfficiency(max_calls=1)) == "excellent"


def test_free_tools_never_count() -> None:
    thought = c("think", {"thought": "hm"}, "")
    assert level(*[thought] * 50, *other(1), max_calls=1, expected=["read_page"]) == "excellent"
    assert level(*[thought] * 50, judge=ToolEfficiency(free=())) == "failed"
    assert signal_of(thought).value is None


# Broken and hostile


@pytest.mark.parametrize(
    ("tools", "field"),
    [
        ({"expected": "search"}, "expected.tools.expected"),
        ({"expected": [{"tool": "x"}]}, "expected.tools.expected[0]"),
        ({"expected": ["a", " "]}, "expected.tools.expected[1]"),
        ({"expected": [{"name": "x", "arguments": [1]}]}, "expected.tools.expected[0].arguments"),
        ({"max_calls": -1}, "expected.tools.max_calls"),
        ({"max_calls": "many"}, "expected.tools.max_calls"),
    ],
)
def test_broken_cases(tools: Any, field: str) -> None:
    case = Case(id="t", input="do it", expected={"tools": tools})
    with pytest.raises(CaseError) as error:
        asyncio.run(ToolEfficiency().judge(case, Trace(steps=(c("a"),))))
    assert field in str(error.value)


def test_options() -> None:
    judge = built(ToolEfficiency, {"free": ["a"], "writes": ["b"], "max_calls": 3})
    assert judge == ToolEfficiency(free=("a",), writes=("b",), max_calls=3)
    assert pickle.loads(pickle.dumps(judge)) == judge
    for wrong in ({"max_calls": -1}, {"budget": 3}, {"free": "a"}):
        with pytest.raises(ConfigError):
            built(ToolEfficiency, wrong)


def test_what_is_said_about_tools_earns_nothing() -> None:
    """The attack: claim the calls in the answer, or in messages that look like them."""
    boast = json.dumps({"tool_calls": [{"name": "get_balance", "result": 5}]})
    said = [Message(role=role, content=boast) for role in ("assistant", "tool", "user")]
    assert value(*said, expected=["get_balance"]) == 0.0


def test_padding_with_distinct_calls_of_other_tools_does_not_dilute() -> None:
    """The attack: drown the repeats in calls that nobody asked for."""
    loop = [c("a", {}, 1)] * 8
    padding = [c("noise", {"n": n}, n) for n in range(500)]
    assert value(*loop, *padding, expected=["a"]) <= value(*loop, expected=["a"])


def test_noise_in_the_arguments_does_not_hide_a_failing_loop() -> None:
    calls = [bad("a", {"x": f" 1{' ' * n}", "y": None}, "no") for n in range(12)]
    assert level(*calls) == "failed"


def test_a_reason_is_one_line_whatever_the_tools_are_called() -> None:
    evil = "\x1b[2J\n" + "x" * 100_000
    loop = [c(evil, {evil: evil}, evil), c("f", evil, None, error=evil)] * 3
    signal = signal_of(*loop, expected=["a" * 10_000])
    assert len(signal.reason) < 1500
    assert signal.reason.isprintable()
    assert all(len(e.text) <= 200 for e in signal.evidence)


def many_calls(n: int) -> list[ToolCall]:
    steps = [c(f"t{i % 977}", {"q": f"query {i % 5000}", "n": i % 31}, [i]) for i in range(n // 2)]
    steps += [c("search", {"q": f"word{i} of osprey"}, []) for i in range(n // 4)]
    return steps + [bad("update_x", {"n": i % 3}, "timeout") for i in range(n // 4)]


def test_a_hundred_thousand_calls_take_seconds() -> None:
    steps = many_calls(100_000)
    start = time.process_time()
    assert signal_of(*steps).value is not None
    assert time.process_time() - start < 20


def test_memory_is_linear() -> None:
    peaks = []
    for n in (5_000, 10_000):
        steps = many_calls(n)
        tracemalloc.start()
        signal_of(*steps)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.6 * peaks[0]
    assert peaks[1] < 40e6


def test_large_and_deep_arguments() -> None:
    deep: Any = "x"
    for _ in range(95):
        deep = [deep]
    folded = '{"a": ' * 5000 + "1" + "}" * 5000
    for args in ({"x": "a b " * 250_000}, {str(n): n for n in range(50_000)}, deep, folded):
        start = time.process_time()
        assert level(c("f", args, args), c("f", args, args), *other(4)) == "good"
        assert time.process_time() - start < 15


@pytest.mark.parametrize("unit", ["error ", "[", " ", "a", "错误", "{", "ErrorError", "\\", '"1'])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    call = ToolCall(name=text, arguments={"command": text, "query": text}, result=text, error=text)
    plain = ToolCall(name=text, arguments={"query": text}, result=text)
    signal_of(call, plain, call, plain)
    assert time.process_time() - start < 10


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
some_calls = st.builds(
    ToolCall,
    name=st.sampled_from(["a", "update_b", "search", "状态", "run_tests", "next", ""]),
    arguments=anything,
    result=anything,
    exit_code=st.none() | st.integers(-1, 2),
    error=st.none() | st.text(max_size=6),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(some_calls, max_size=12))
def test_any_run_has_a_value(calls: list[ToolCall]) -> None:
    signal = signal_of(*calls, expected=["a"])
    assert signal.value is not None
    assert 0.0 <= signal.value <= 1.0
    assert signal == signal_of(*calls, expected=["a"])


# The words


@pytest.mark.parametrize(
    "name",
    [
        *("create_user", "updateStatus", "orders.delete", "write_file", "send-email", "bookTable"),
        *("set_state", "mcp__fs__write_file", "transfer_money", "修改配置", "发短信", "预约会议室"),
        *("写文件", "开发票", "删除记录", "更新状态", "上传照片"),
    ],
)
def test_names_that_write(name: str) -> None:
    assert nature_of(name, {}).writes


@pytest.mark.parametrize(
    "name",
    [
        *(
            "get_user",
            "list_updates",
            "read_post",
            "find_booking",
            "deploy_status",
            "order_history",
        ),
        *("check_availability", "getUpdateHistory", "calendar.events.list", "commit_log"),
        *("mcp__git__list_commits", "查询订单", "读取配置", "发票列表", "退款状态", "查联系人"),
        *("搜索", "打开网页", "用电量"),
    ],
)
def test_names_that_only_look(name: str) -> None:
    assert not nature_of(name, {}).writes


@pytest.mark.parametrize(
    ("tool", "arguments", "writes"),
    [
        ("editor", {"command": "view", "path": "a"}, False),
        ("editor", {"command": "create", "path": "a"}, True),
        ("http", {"method": "GET", "url": "u"}, False),
        ("http", {"method": "POST", "url": "u"}, True),
        ("sql", {"query": "SELECT 1 FROM updates"}, False),
        ("sql", {"query": " UPDATE t SET a = 1"}, True),
        ("bash", {"command": "cat a.txt"}, False),
        ("bash", {"command": "cat a.txt > b.txt"}, True),
        ("bash", {"command": "git status"}, False),
        ("bash", {"command": "rm -r build"}, True),
        ("bash", {"command": "git commit -m tests"}, True),
        ("bash", {"command": "cd src && make test"}, False),
    ],
)
def test_arguments_that_write(tool: str, arguments: Any, writes: bool) -> None:
    assert nature_of(tool, arguments).writes is writes


@pytest.mark.parametrize(
    "result", [[], {}, "", None, {"hits": 0, "items": []}, "No results.", "未找到相关内容", 0]
)
def test_empty_results(result: Any) -> None:
    assert is_empty(result)
    assert not is_empty({"items": [1], "result": result})


# The labelled sets


def off_by(name: str) -> list[int]:
    found = []
    for case in CaseFile(LABELLED / name).cases():
        (signal,) = asyncio.run(ToolEfficiency().judge(case, RecordedAgent().replay(case)))
        assert signal.level, case.id
        found.append(abs(ORDER.index(signal.level) - ORDER.index(case.metadata["level"])))
    return found


def test_worked() -> None:
    off = off_by("worked.jsonl")
    assert off.count(0) / len(off) >= 0.85
    assert sum(n > 1 for n in off) / len(off) <= 0.05
