"""Every kind of log is recognised by its content and read as traces."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import DataError, Trace, Usage
from fourscore.formats.logs.execution_summary import parse_duration
from fourscore.formats.logs.log_file import LogFile


def read(path: Path, text: str, **options: Any) -> tuple[LogFile, list[Trace]]:
    path.write_text(text)
    log = LogFile(str(path), **options)
    return log, list(log.traces())


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


SEPA = {"ts": "2026-01-05T10:00:00Z", "tool": "Read", "exit": "0", "success": "true"}


def test_reads_one_trace_per_session(tmp_path: Path) -> None:
    rows = [
        {**SEPA, "version": "3", "session": "a"},
        {**SEPA, "ts": "2026-01-05T10:00:05Z", "session": "b", "output": "x", "duration_ms": "40"},
        {
            "ts": "2026-01-05T10:01:30Z",
            "tool": "Bash",
            "exit": "2",
            "session": "a",
            "version": "4",
            "error": "boom",
            "retry": "true",
            "user_correction": True,
        },
    ]
    log, (a, b) = read(tmp_path / "e.jsonl", lines(*rows))
    assert log.kind == "executions"
    assert [(call.name, call.exit_code, call.error) for call in a.tool_calls] == [
        ("Read", 0, None),
        ("Bash", 2, "boom"),
    ]
    assert (a.seconds, a.metadata["version"], a.metadata["session"]) == (90.0, "4", "a")
    assert (a.metadata["retries"], a.metadata["user_corrections"]) == (1, 1)
    assert (b.seconds, b.tool_calls[0].result, b.tool_calls[0].seconds) == (0.04, "x", 0.04)


def test_reads_compact_and_pretty_printed_objects_in_one_file(tmp_path: Path) -> None:
    text = lines(SEPA) + json.dumps(SEPA, indent=2) + "\n\n" + lines(SEPA, SEPA)
    text += json.dumps({**SEPA, "output": {"a": [{"b": 1}]}}, indent=4) + "\n" + lines(SEPA)
    for ending in ("\n", "\r\n"):
        _, (trace,) = read(tmp_path / "e.jsonl", text.replace("\n", ending))
        assert len(trace.tool_calls) == 6
    _, (trace,) = read(tmp_path / "list.json", json.dumps([SEPA, SEPA]))
    assert len(trace.tool_calls) == 2
    _, (trace,) = read(tmp_path / "one.json", json.dumps(SEPA, indent=2))
    assert len(trace.tool_calls) == 1


@pytest.mark.parametrize(
    ("broken", "line", "field"),
    [
        ('{"ts":"2026-01-05T10:00:00Z","tool":"Ba', 2, None),
        ('{"tool": 5}', 2, "tool"),
        ('{"ts": "x"}', 2, "tool"),
        ('{\n "tool": "a",\n "exit"\n', 2, None),
        ("nonsense", 2, None),
        ("[1, 2]", 2, None),
        ('{"tool":"a"}}', 2, None),
    ],
)
def test_a_broken_line_is_named_or_skipped(
    tmp_path: Path, broken: str, line: int, field: str | None
) -> None:
    path, text = tmp_path / "e.jsonl", lines(SEPA) + broken + "\n" + lines(SEPA)
    with pytest.raises(DataError) as caught:
        read(path, text)
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(path), line, field)
    log, (trace,) = read(path, text, skip_broken=True)
    assert len(trace.tool_calls) == 2
    assert log.broken >= 1
    assert log.noted[0].line == line


@pytest.mark.parametrize(
    ("field", "value"), [("exit", "zero"), ("ts", "noon"), ("retry", "perhaps"), ("success", "so")]
)
def test_invalid_field_is_named(tmp_path: Path, field: str, value: str) -> None:
    bad = {**SEPA, "exit": None, field: value}
    with pytest.raises(DataError) as caught:
        read(tmp_path / "e.jsonl", lines(SEPA, bad))
    assert (caught.value.line, caught.value.field) == (2, field)


def test_lone_surrogates_are_read(tmp_path: Path) -> None:
    _, (trace,) = read(tmp_path / "e.jsonl", lines(SEPA) + '{"tool":"\\ud800x","exit":"0"}\n')
    assert trace.tool_calls[1].name.endswith("x")


SUMMARY = """
execution:
  tools:
    Read: {calls: 5, success: 5}
    Write: {calls: 2, success: 2}
    Bash: {calls: 3, success: 2}
  errors:
    - {type: tool_fail, tool: Bash, count: 2}
    - {type: retry, count: 1}
  actual_time: 60s
  task_complexity: medium
max_expected:
  medium_task: {time: 2m, tools: 15}
"""


def test_reads_summary_in_yaml_and_json(tmp_path: Path) -> None:
    log, (trace,) = read(tmp_path / "s.yaml", SUMMARY)
    assert log.kind == "summary"
    assert len(trace.tool_calls) == 10
    assert sum(call.exit_code == 0 for call in trace.tool_calls) == 9
    assert trace.seconds == 60.0
    assert trace.metadata["errors"] == {"tool_fail": 2, "retry": 1}
    assert trace.metadata["max_expected"] == {"time": 120.0, "tools": 15}
    assert trace.metadata["complexity"] == "medium"
    execution = {"execution": {"actual_tools": 8, "max_tools": 15, "total_errors": 3}}
    _, (trace,) = read(tmp_path / "s.json", json.dumps(execution))
    assert (len(trace.tool_calls), trace.metadata["errors"]) == (8, {"error": 3})


@pytest.mark.parametrize(
    ("execution", "field"),
    [
        ({"tools": {"Read": {"calls": 1, "success": 2}}}, "execution.tools.Read.success"),
        ({"tools": {"Read": {"calls": "many"}}}, "execution.tools.Read.calls"),
        ({"tools": {"Read": {"calls": 10**9}}}, "execution.tools.Read.success"),
        ({"actual_time": "soon"}, "execution.actual_time"),
        ({"errors": [{"count": 1}]}, "execution.errors[0].type"),
    ],
)
def test_a_bad_summary_names_its_field(tmp_path: Path, execution: Any, field: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path / "s.json", json.dumps({"execution": execution}))
    assert caught.value.field == field


def test_parses_durations() -> None:
    seconds = {"30s": 30.0, "1.5m": 90.0, "2h": 7200.0, "250ms": 0.25, "1m 30s": 90.0, "45": 45.0}
    assert {text: parse_duration(text, "t") for text in seconds} == seconds
    for bad in ("", "s", "-3s", "3 weeks", True, None):
        with pytest.raises(DataError):
            parse_duration(bad, "t")


def event(kind: str, key: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": kind, "session_id": "s", "tool_use_id": key, **more}


def test_reads_hook_events(tmp_path: Path) -> None:
    bash = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    rows = [
        {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "list the files"},
        event("PreToolUse", "1", **bash),
        event("PostToolUse", "1", **bash, tool_response={"stdout": "a", "stderr": ""}),
        event("PreToolUse", "2", **bash),
        event("PostToolUseFailure", "2", **bash, error="Exit code 2\nls: no"),
        event("PreToolUse", "3", **bash),
        event("PostToolUse", "4", **bash, tool_response={"interrupted": True, "stdout": ""}),
    ]
    log, (trace,) = read(tmp_path / "h.jsonl", lines(*rows))
    assert log.kind == "hooks"
    assert [(call.exit_code, call.error) for call in trace.tool_calls] == [
        (0, None),
        (2, "Exit code 2\nls: no"),
        (None, None),
        (None, "it was interrupted"),
    ]
    with pytest.raises(DataError) as caught:
        read(tmp_path / "h.jsonl", lines(rows[0], event("PreToolUse", "1")))
    assert (caught.value.line, caught.value.field) == (2, "tool_name")


def transcript_line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more}
    moment = f"2026-01-05T10:00:{more.get('at', 0):02d}.000Z"
    return {"type": kind, "sessionId": "s", "timestamp": moment, "message": message}


def test_reads_claude_code_transcript(tmp_path: Path) -> None:
    use = [
        {"type": "tool_use", "id": f"t{i}", "name": "Bash", "input": {"command": "ls"}}
        for i in range(3)
    ]
    usage = {"input_tokens": 5, "cache_read_input_tokens": 10, "output_tokens": 7}
    no = "The user doesn't want to proceed with this tool use."
    rows = [
        {"type": "summary", "summary": "x", "leafUuid": "u"},
        transcript_line("user", "fix it"),
        transcript_line("assistant", [{"type": "text", "text": "Looking."}], id="m1", usage=usage),
        transcript_line("assistant", use, id="m1", usage=usage),
        transcript_line("user", [{"type": "tool_result", "tool_use_id": "t0", "content": "a.py"}]),
        transcript_line(
            "user",
            [{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}],
        ),
        transcript_line(
            "user", [{"type": "tool_result", "tool_use_id": "t2", "content": no, "is_error": True}]
        ),
        {
            **transcript_line("assistant", [{"type": "text", "text": "an aside"}], at=9),
            "isSidechain": True,
        },
        transcript_line("assistant", [{"type": "text", "text": "Done."}], at=30),
    ]
    log, (trace,) = read(tmp_path / "t.jsonl", lines(*rows))
    assert log.kind == "transcript"
    assert [(call.exit_code, call.error) for call in trace.tool_calls] == [
        (0, None),
        (None, "no"),
        (None, None),
    ]
    assert (trace.output, trace.seconds) == ("Done.", 30.0)
    assert trace.metadata["user_corrections"] == 1
    assert trace.usage == Usage(calls=1, input_tokens=15, output_tokens=7)
    with pytest.raises(DataError) as caught:
        read(tmp_path / "t.jsonl", lines(rows[1], {"type": "user", "message": 5}))
    assert (caught.value.line, caught.value.field) == (2, "message")


MESSAGES = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Error: nothing there"},
    {"role": "assistant", "content": "I could not."},
]


def test_reads_message_lists(tmp_path: Path) -> None:
    for text in (
        json.dumps(MESSAGES),
        lines(*MESSAGES),
        json.dumps({"messages": MESSAGES}, indent=1),
        lines({"messages": MESSAGES}),
        json.dumps([{"traj": MESSAGES, "task_id": 1}]),
    ):
        log, (trace,) = read(tmp_path / "m.json", text)
        assert log.kind == "messages"
        assert (len(trace.tool_calls), trace.output) == (1, "I could not.")
    _, two = read(tmp_path / "m.jsonl", lines({"messages": MESSAGES}, {"messages": MESSAGES}))
    assert len({trace.metadata["session"] for trace in two}) == 2


def pairs(**values: Any) -> list[dict[str, Any]]:
    kinds = {str: "stringValue", int: "intValue"}
    return [{"key": key, "value": {kinds[type(v)]: v}} for key, v in values.items()]


def test_reads_spans_as_otlp_and_as_printed(tmp_path: Path) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}]
        ),
    }
    nano = 1_767_607_200 * 10**9
    spans: list[dict[str, Any]] = [
        {"attributes": pairs(**tool), "status": {}},
        {
            "attributes": pairs(**{**tool, "error.type": "timeout"}),
            "status": {"code": 2, "message": "too slow"},
        },
        {"attributes": pairs(**chat), "status": {"code": 1}},
    ]
    for i, span in enumerate(spans):
        span |= {"traceId": "t", "startTimeUnixNano": str(nano + i * 10**9)}
        span["endTimeUnixNano"] = str(nano + (i + 2) * 10**9)
    wired = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}
    printed = [
        {
            "name": "x",
            "context": {"trace_id": "t"},
            "attributes": attributes,
            "start_time": f"2026-01-05T10:00:0{i}Z",
            "end_time": f"2026-01-05T10:00:0{i + 2}Z",
            "status": {"status_code": "ERROR" if i == 1 else "UNSET", "description": "too slow"},
        }
        for i, attributes in enumerate([tool, {**tool, "error.type": "timeout"}, chat])
    ]
    for text in (json.dumps(wired), lines(wired), json.dumps(printed), lines(*printed)):
        log, (trace,) = read(tmp_path / "o.json", text)
        assert log.kind == "spans"
        assert [(call.exit_code, call.error) for call in trace.tool_calls] == [
            (0, None),
            (None, "timeout: too slow"),
        ]
        assert (trace.output, trace.seconds) == ("Done.", 4.0)
        assert trace.usage == Usage(calls=1, input_tokens=5, output_tokens=2)


def test_reads_inspect_ai_log(tmp_path: Path) -> None:
    call = {"id": "1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [call, {**call, "id": "2"}]},
        {"role": "tool", "content": "a.py", "tool_call_id": "1", "function": "bash"},
        {
            "role": "tool",
            "content": "",
            "tool_call_id": "2",
            "error": {"type": "timeout", "message": "too slow"},
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]
    sample = {"id": "q1", "epoch": 2, "messages": messages, "total_time": 12.5}
    broken = {"id": "q2", "messages": [], "error": {"message": "sandbox died"}}
    document = {"version": 2, "status": "success", "eval": {"model": "m"}}
    log, (one, two) = read(
        tmp_path / "i.json", json.dumps({**document, "samples": [sample, broken]}, indent=2)
    )
    assert log.kind == "inspect"
    assert [(call.name, call.error) for call in one.tool_calls] == [
        ("bash", None),
        ("bash", "too slow"),
    ]
    assert (one.output, one.seconds, one.metadata["session"]) == ("Done.", 12.5, "q1/2")
    assert two.fault is not None
    with pytest.raises(DataError) as caught:
        read(tmp_path / "i.json", json.dumps({**document, "samples": [{"id": 1}]}))
    assert caught.value.field == "samples[0].messages"


def test_recognises_kind_with_a_very_long_first_line(tmp_path: Path) -> None:
    long = "word " * 50_000
    rows = [{**SEPA, "output": long}, SEPA]
    for text in (lines(*rows), "".join(json.dumps(row, indent=1) + "\n" for row in rows)):
        log, (trace,) = read(tmp_path / "e.jsonl", text)
        assert (log.kind, len(trace.tool_calls)) == ("executions", 2)
    talk = [{"role": "user", "content": long}, *MESSAGES]
    _, two = read(tmp_path / "m.jsonl", lines({"messages": talk}, {"messages": talk}))
    assert len(two) == 2
    for indent in (None, 1):
        _, one = read(tmp_path / "m.json", json.dumps({"messages": talk * 9}, indent=indent))
        assert len(one) == 1
        _, one = read(tmp_path / "m.json", json.dumps(talk, indent=indent))
        assert len(one) == 1


@pytest.mark.parametrize("text", ["", "  \n", "hello", '{"a": 1}', "[1, 2]", "null", "{"])
def test_file_that_is_not_a_log_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path / "x", text)
    assert caught.value.file == str(tmp_path / "x")


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        LogFile(str(tmp_path / "none.jsonl"))
