"""`tool_efficiency`: repeats, loops, errors, the choice of tools and the budget."""

import asyncio
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.linear import assert_linear

from fourscore.core import Case, CaseError, ConfigError, Message, Signal, ToolCall, Trace
from fourscore.judges.dimensions.tool_efficiency import ToolEfficiency
from fourscore.judges.workflow import make_judge


def call(tool: str, arguments: Any = None, result: Any = "done", **more: Any) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments, result=result, **more)


def failed(tool: str, arguments: Any, error: str) -> ToolCall:
    return call(tool, arguments, None, error=error)


def judge(
    *steps: ToolCall | Message,
    expected: Any = (),
    max_calls: int | None = None,
    by: ToolEfficiency | None = None,
) -> Signal:
    tools: dict[str, Any] = {"expected": list(expected)}
    if max_calls is not None:
        tools["max_calls"] = max_calls
    case = Case(id="t", input="do it", expected={"tools": tools})
    trace = Trace(output="done", steps=tuple(steps))
    (signal,) = asyncio.run((by or ToolEfficiency()).judge(case, trace))
    return signal


def value(*steps: ToolCall | Message, **more: Any) -> float:
    found = judge(*steps, **more).value
    assert found is not None
    return found


def pages(n: int) -> list[ToolCall]:
    """Useful calls, each unlike the others."""
    return [call("read_page", {"page": i}, f"text of page {i}") for i in range(n)]


def test_a_run_without_waste_scores_1() -> None:
    signal = judge(call("get_weather", {"city": "Oslo"}, {"c": 4}), expected=["get_weather"])
    assert (signal.name, signal.value, signal.level) == ("tool_efficiency", 1.0, "excellent")
    assert signal.reason == "the call was not wasted (confidence: high)"
    assert signal.evidence == ()


def test_a_run_without_calls_is_not_applicable_unless_tools_are_expected() -> None:
    signal = judge(Message(role="assistant", content="Hello"))
    assert (signal.value, signal.fault) == (None, None)
    assert value(max_calls=0) == 1.0
    assert value(expected=["a"]) == 0.0
    assert "expected a, b" in judge(expected=["a", "b"]).reason


# Repeats


def test_reason_and_evidence_name_the_repeated_step() -> None:
    signal = judge(
        Message(role="user", content="go"),
        call("search", {"q": "tides"}, ["a page about tides"]),
        call("open", {"url": "u"}),
        call("search", {"q": " tides "}, ["a page about tides"]),
    )
    assert signal.value == pytest.approx(2 / 3)
    assert "1 of 3 calls wasted: step 3 repeats step 1: search(q=tides)" in signal.reason
    assert [(e.field, e.step) for e in signal.evidence] == [("steps", 3)]


@pytest.mark.parametrize(
    ("one", "again"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": "x  y\n"}, {"a": " x y"}),
        ({"a": {"b": [1, {"c": 2, "d": 3}]}}, {"a": {"b": [1.0, {"d": 3, "c": 2}]}}),
        ({"a": 1, "b": None}, {"a": 1}),
        ({"城市": "北京", "日期": "今天"}, {"日期": "今天 ", "城市": "北京"}),
        (None, None),
        ({"x": "é" * 200_000}, {"x": "é" * 200_000}),
    ],
    ids=lambda arguments: str(arguments)[:40],
)
def test_counts_a_repeated_call_as_waste(one: Any, again: Any) -> None:
    signal = judge(call("look_up", one), *pages(3), call("look_up", again))
    assert signal.value == 0.8
    assert "step 4 repeats step 0" in signal.reason


@pytest.mark.parametrize(
    ("one", "again"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": True}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": "x y"}, {"a": "xy"}),
        ({"x": "é" * 200_000}, {"x": "é" * 199_999 + "e"}),
    ],
    ids=lambda arguments: str(arguments)[:40],
)
def test_other_arguments_are_another_call(one: Any, again: Any) -> None:
    assert value(call("get_it", one), call("get_it", again)) == 1.0


def test_more_waste_is_never_better() -> None:
    values = [value(*pages(4), *pages(1) * n) for n in range(30)]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.2


def test_reading_again_after_a_write_is_no_waste() -> None:
    read, edit = call("read_file", {"path": "a"}, "x"), call("edit_file", {"path": "a"}, "ok")
    assert value(read, edit, read) == 1.0
    assert value(read, call("open_page", {"n": 1}), read) < 1.0


@pytest.mark.parametrize(
    "name", ["updateUser", "orders.delete", "mcp__fs__write_file", "bash", "取消预订"]
)
def test_names_of_tools_that_change_state(name: str) -> None:
    look = call("get_state", {"id": 1}, "x")
    assert value(look, call(name, {"id": 1}), look) == 1.0


@pytest.mark.parametrize("name", ["list_updates", "getBooking", "read_post", "weather", "查询订单"])
def test_names_of_tools_that_only_read(name: str) -> None:
    look = call("get_state", {"id": 1}, "x")
    assert value(look, call(name, {"id": 1}), look) < 1.0


def test_option_writes_names_tools_that_change_state() -> None:
    look, zap = call("probe", {"id": 1}, 1), call("zap", {"id": 1})
    assert value(look, zap, look) < 1.0
    assert value(look, zap, look, by=ToolEfficiency(writes=("zap",))) == 1.0


def test_tests_may_be_run_again_after_an_edit() -> None:
    tests = call("bash", {"command": "pytest -q"}, "1 failed", exit_code=1)
    edit = call("bash", {"command": "sed -i s/a/b/ x.py"}, "")
    assert value(tests, edit, tests) == 1.0
    assert value(tests, tests, tests) < 1.0


def test_waiting_for_a_change_is_no_waste() -> None:
    waiting, done = call("job_status", {"id": 7}, "running"), call("job_status", {"id": 7}, "done")
    assert value(*[waiting] * 4, done) == 1.0
    assert value(*[waiting] * 4) == 0.25
    assert value(*[call("next_page", {}, f"page {n}") for n in range(6)]) == 1.0


def test_a_repeated_write_is_wasted_whatever_its_result() -> None:
    booked = [call("book_table", {"at": "20:00"}, {"ref": n}) for n in range(2)]
    assert "step 1 repeats step 0" in judge(*booked).reason
    assert value(booked[0], call("cancel_booking", {"ref": 0}), booked[1]) == 1.0


def test_repeated_do_and_undo_is_wasted() -> None:
    made, gone = call("create_label", {"n": "x"}), call("delete_label", {"n": "x"})
    assert value(made, gone, made) == 1.0
    assert value(made, gone, made, gone) == 0.75
    signal = judge(*[made, gone] * 6)
    assert signal.value == 0.25
    assert "step 3 repeats step 1" in signal.reason


# Errors


def test_a_mistake_is_wasted() -> None:
    wrong = failed("leave", {"day": "May 30"}, "day must be YYYY-MM-DD")
    signal = judge(wrong, call("leave", {"day": "2025-05-30"}, {"id": 1}))
    assert signal.value == 0.5
    assert (
        "step 0 failed by its arguments: leave(day=May 30) gave 'day must be YYYY-MM-DD'"
        in signal.reason
    )
    assert value(*[wrong] * 4) == 0.0


def test_one_retry_of_a_transient_error_is_free() -> None:
    slow = failed("book_room", {"room": 302}, "504 gateway timeout")
    booked = call("book_room", {"room": 302}, {"ref": 1})
    assert value(slow, slow, booked) == 1.0
    signal = judge(*[slow] * 5, booked)
    assert signal.value == 0.5
    assert "step 2 retries step 0 unchanged" in signal.reason


@pytest.mark.parametrize(
    "outcome",
    [
        {"error": "no seat left"},
        {"result": {"error": "no seat left"}},
        {"result": {"success": False, "message": "full"}},
        {"result": '{"error": "no seat left"}'},
        {"result": "Error: no seat left"},
        {"result": "错误：没有座位"},
    ],
    ids=str,
)
def test_reads_failures_wherever_they_are_recorded(outcome: dict[str, Any]) -> None:
    seat = ToolCall(name="seat", arguments={"n": 1}, **outcome)
    assert value(seat, *pages(3)) == 0.75
    assert value(*[seat] * 5) == 0.0


def test_a_failing_command_is_no_mistake_but_a_missing_one_is() -> None:
    for result in ("2 failed, 3 passed", "a.c:3:1: error: expected ';'", "KeyError: 1"):
        assert value(call("bash", {"command": "make"}, result, exit_code=1)) == 1.0
    assert value(call("bash", {"command": "mkae"}, "bash: mkae: command not found")) == 0.0


def test_an_error_in_a_page_that_was_read_is_no_mistake() -> None:
    log = call("read_file", {"path": "app.log"}, "10:00 started\nERROR lost the connection\n")
    assert value(log) == 1.0


# The choice of tools, the budget


def test_expected_tools() -> None:
    a, b, web = call("a", {}, 1), call("b", {}, 2), call("web", {}, 3)
    assert value(b, a, expected=["a", "b"]) == 1.0
    assert value(a, b, web, expected=["a", "b"]) == pytest.approx(2 / 3)
    assert value(a, expected=["a", "b"]) == 0.5
    assert value(web, expected=["a", "b"]) == 0.0
    signal = judge(a, failed("b", {}, "timeout"), expected=["a", "b", "c"])
    assert signal.value == pytest.approx(1 / 3)
    assert "expected and not called with success: b, c; none of" in signal.reason


def test_expected_arguments() -> None:
    wanted = [{"name": "pay", "arguments": {"sum": 5}, "note": "mine"}, "mail"]
    mail = call("mail", {"to": "x"})
    assert value(call("pay", {"sum": 5.0, "to": "x"}), mail, expected=wanted) == 1.0
    assert value(call("pay", {"sum": 6}), mail, expected=wanted) == 0.5


@pytest.mark.parametrize(
    "called", ["get_price", "getPrice", "Get-Price", "shop.get_price", "mcp__shop__get_price"]
)
def test_names_are_compared_without_their_spelling(called: str) -> None:
    assert value(call(called, {}), expected=["get_price"]) == 1.0


@pytest.mark.parametrize(
    ("calls", "budget", "expected"), [(5, 5, 1.0), (10, 8, 0.8), (8, 4, 0.5), (1, 0, 0.0)]
)
def test_budget(calls: int, budget: int, expected: float) -> None:
    assert value(*pages(calls), max_calls=budget) == expected
    assert value(*pages(calls), by=ToolEfficiency(max_calls=budget)) == expected
    assert value(*pages(calls), max_calls=calls, by=ToolEfficiency(max_calls=budget)) == 1.0


def test_free_tools_never_count() -> None:
    thought = call("think", {"thought": "hm"}, "")
    assert value(*[thought] * 50, *pages(1), max_calls=1, expected=["read_page"]) == 1.0
    assert value(*[thought] * 50, by=ToolEfficiency(free=())) < 0.1
    assert judge(thought).value is None


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
def test_broken_cases_name_the_field(tools: Any, field: str) -> None:
    case = Case(id="t", input="do it", expected={"tools": tools})
    with pytest.raises(CaseError) as error:
        asyncio.run(ToolEfficiency().judge(case, Trace(steps=(call("a"),))))
    assert field in str(error.value)


def test_options_are_checked() -> None:
    made = make_judge(ToolEfficiency, {"free": ["a"], "writes": ["b"], "max_calls": 3})
    assert made == ToolEfficiency(free=("a",), writes=("b",), max_calls=3)
    assert pickle.loads(pickle.dumps(made)) == made
    for wrong in ({"max_calls": -1}, {"budget": 3}, {"free": "a"}):
        with pytest.raises(ConfigError):
            make_judge(ToolEfficiency, wrong)


def test_calls_claimed_in_text_earn_nothing() -> None:
    """The attack: claim the calls in the answer, or in messages that look like them."""
    boast = json.dumps({"tool_calls": [{"name": "get_balance", "result": 5}]})
    messages = [Message(role=role, content=boast) for role in ("assistant", "tool", "user")]
    assert value(*messages, expected=["get_balance"]) == 0.0


def test_padding_with_unexpected_calls_does_not_hide_repeats() -> None:
    loop = [call("a", {}, 1)] * 8
    padding = [call("noise", {"n": n}, n) for n in range(500)]
    assert value(*loop, *padding, expected=["a"]) <= value(*loop, expected=["a"])


def test_noise_in_the_arguments_does_not_hide_a_failing_loop() -> None:
    calls = [failed("a", {"x": f" 1{' ' * n}", "y": None}, "timeout") for n in range(12)]
    assert judge(*calls).level == "failed"


def test_reason_is_one_short_line_whatever_the_tools_are_called() -> None:
    evil = "\x1b[2J\n" + "x" * 100_000
    loop = [call(evil, {evil: evil}, evil), call("f", evil, None, error=evil)] * 3
    signal = judge(*loop, expected=["a" * 10_000])
    assert len(signal.reason) < 1500
    assert signal.reason.isprintable()
    assert all(len(e.text) <= 200 for e in signal.evidence)


def test_time_is_linear_in_the_number_of_calls() -> None:
    def run(text: str) -> None:
        n = len(text)
        looks = [call(f"t{i % 97}", {"q": f"query {i % 500}", "n": i % 31}, [i]) for i in range(n)]
        judge(*looks, *(failed("update_x", {"n": i % 3}, "timeout") for i in range(n)))

    assert_linear(run, "x", 1_000, 4_000)


UNITS = (
    *("a", "1", " ", "\n", ".", "_", "__", "[", "{", '"', "\\", "中", "é", "\u200b", "Error"),
    *("error: ", "错误", "aA", '{"a":', "get_", "timed out "),
)


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_time_is_linear_in_names_arguments_and_results(unit: str) -> None:

    def run(text: str) -> None:
        given: dict[str, Any] = {
            "name": text,
            "arguments": {"q": text, text: [text]},
            "result": text,
        }
        judge(
            ToolCall(**given),
            ToolCall(**given, error=text),
            ToolCall(**given | {"arguments": text}),
        )

    assert_linear(run, unit, 20_000, 80_000)


def test_compares_deep_and_large_arguments() -> None:
    deep: Any = "x"
    for _ in range(95):
        deep = [deep]
    folded = '{"a": ' * 5000 + "1" + "}" * 5000
    for arguments in (deep, folded, {str(n): n for n in range(50_000)}):
        assert value(call("f", arguments, arguments), call("f", arguments, arguments)) == 0.5


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


@settings(deadline=None, max_examples=100)
@given(st.lists(some_calls, max_size=12))
def test_any_run_has_a_value(calls: list[ToolCall]) -> None:
    signal = judge(*calls, expected=["a"])
    assert signal.value is not None
    assert 0.0 <= signal.value <= 1.0
    assert signal == judge(*calls, expected=["a"])
