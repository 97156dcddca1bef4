"""Which tool calls failed, and which texts report a failure."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.linear import assert_bounded, assert_linear

from fourscore.core import ToolCall
from fourscore.judges.failures import (
    find_call_failure,
    find_failure,
    find_result_failure,
    find_result_failures,
    has_obvious_errors,
)

LABELLED = Path(__file__).parents[1] / "labelled" / "detectors"
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1'

FAILED = {
    "Traceback (most recent call last):": "error",
    "java.io.FileNotFoundException: a.txt (No such file)": "error",
    "Uncaught TypeError: x is undefined": "error",
    "AssertionError": "error",
    "panic: runtime error: index out of range": "error",
    "Segmentation fault (core dumped)": "error",
    "Error: no such user": "error",
    "fatal: not a git repository": "error",
    "error[E0425]: cannot find value `x` in this scope": "error",
    "ERROR 1045 (28000): Access denied for user 'root'": "error",
    "2024-05-02 10:11:04 ERROR app.db connection pool exhausted": "error",
    "[ERROR] lost the connection": "error",
    "<tool_use_error>File has not been read yet.</tool_use_error>": "error",
    "npm ERR! code ELIFECYCLE": "error",
    "CONFLICT (content): Merge conflict in a.py": "error",
    "错误：没有座位": "error",
    "工具调用失败：缺少参数 path": "error",
    "bash: ./run.sh: Permission denied": "shell",
    "bash: line 3: jqq: command not found": "shell",
    "cat: /srv/a.txt: No such file or directory": "shell",
    "curl: (7) Failed to connect to localhost port 8080": "shell",
    "make: *** [all] Error 2": "shell",
    "bash: jqq: 未找到命令": "shell",
    "src/a.ts(3,7): error TS2304: Cannot find name 'x'.": "checks",
    "./main.go:9:2: undefined: fmt.Prinln": "checks",
    "HTTP/1.1 500 Internal Server Error": "error",
    "404 Not Found": "error",
    "FAILED tests/test_a.py::test_b - assert 1 == 2": "checks",
    "--- FAIL: TestAbs (0.00s)": "checks",
    "not ok 3 - parses dates": "checks",
    "Tests:       2 failed, 14 passed, 16 total": "checks",
    "Found 3 errors in 1 file (checked 4 source files)": "checks",
    "copied: 3, failed: 2": "sentence",
    "Process finished with exit code 1": "sentence",
    "I pushed the branch, but the lint check failed.": "sentence",
    "I could not run the tests: docker is not there.": "sentence",
    "The server responded with a 500 error.": "sentence",
    "编译失败，共 3 个错误": "sentence",
    "接口返回 500，没有拿到数据。": "sentence",
}

FINE = (
    "",
    "0 failed, 12 passed",
    "Build succeeded. 0 Warning(s) 0 Error(s)",
    "Process finished with exit code 0",
    "copied: 3, failed: 0",
    "HTTP/1.1 204 No Content",
    "A 404 Not Found means that the page is gone.",
    'HTTP 404 is "Not Found".',
    "Exit code 2 means misuse of shell builtins.",
    "What does exit code 137 mean?",
    "The function raises ValueError when the input is empty.",
    "Use try/except to catch FileNotFoundError.",
    "If the build failed, run it with sudo.",
    "The build failed on a typo; I fixed it and the build is green.",
    'The message "command not found" names the program.',
    "src/error/handler.ts",
    "Error handling in Go",
    "The mean squared error is 0.12.",
    "    raise RuntimeError('failed to connect')",
    "Downloaded 500 files, 404 MB in total.",
    "没有发现错误",
    "错误率为 0.3%",
    "如果连接失败，请检查网络。",
    "404 表示未找到页面。",
)


@pytest.mark.parametrize(("line", "kind"), FAILED.items())
def test_finds_the_line_that_reports_a_failure(line: str, kind: str) -> None:
    found = find_failure(line)
    assert found is not None
    assert found.kind == kind
    behind = find_failure(f"all is well\n  {line}\nand so on")
    assert behind is not None
    assert (behind.text, behind.start) == (line, 12)


@pytest.mark.parametrize("text", FINE)
def test_finds_no_failure_in_other_texts(text: str) -> None:
    assert find_failure(text) is None


@pytest.mark.parametrize(
    "result",
    [
        {"error": "no seat left"},
        {"errors": [{"code": 3}]},
        {"success": False, "message": "full"},
        {"is_error": True},
        {"status": "error", "message": "full"},
        {"code": 403, "msg": "no"},
        {"exit_code": 2},
        {"stderr": "ValueError: no"},
        '{"code": 403, "msg": "no"}',
        '{"error": "no seat left"}',
        '{"ok": false}',
        [{"type": "text", "text": "<tool_use_error>no</tool_use_error>"}],
        "x" * 200_000 + "\nError: at the end",
    ],
    ids=lambda result: str(result)[:40],
)
def test_finds_failures_in_results(result: Any) -> None:
    assert find_result_failure(result) is not None


@pytest.mark.parametrize(
    "result",
    [
        None,
        0,
        ["a"],
        {"error": None, "rows": 3},
        {"errors": [], "ok": True},
        {"exit_code": "0", "stdout": "fine"},
        {"stdout": "ok"},
        {"status": "failed", "job": 7, "why": "no image", "at": "12:00"},
        '{"reservation": "A1", "status": "cancelled"}',
        '{"rows": [{"error": "an old one"}]}',
    ],
    ids=str,
)
def test_finds_no_failure_in_other_results(result: Any) -> None:
    assert find_result_failure(result) is None


def test_call_fails_by_its_error_its_result_or_its_exit_code() -> None:
    assert find_call_failure(ToolCall(name="f", result="fine", exit_code=0)) is None
    assert find_call_failure(ToolCall(name="f")) is None
    by_error = find_call_failure(ToolCall(name="f", error="no seat left"))
    by_code = find_call_failure(ToolCall(name="f", result="fine", exit_code=2))
    by_result = find_call_failure(ToolCall(name="f", result=TRACE, exit_code=0))
    found = (by_error, by_result, by_code)
    assert [each and each.kind for each in found] == ["error", "error", "exit"]
    assert [each and each.text for each in found] == [
        "no seat left",
        "Traceback (most recent call last):",
        "exit code 2",
    ]


def test_fenced_code_in_an_answer_is_a_quotation() -> None:
    assert not has_obvious_errors(f"A missing key gives this:\n\n```\n{TRACE}\n```\n\nUse `get`.")
    assert has_obvious_errors(f"```\n{TRACE}\n```")
    assert has_obvious_errors(f"```\nok\n```\nThe rest:\n{TRACE}\n")


def _each_and_all() -> None:
    texts = [*FAILED, *FINE, "a\0\nError: no\0", {"error": "no"}, None, "Error: x\n" * 20_000]
    each = {i: found for i, text in enumerate(texts) if (found := find_result_failure(text))}
    assert len(each) == len(FAILED) + 3
    assert find_result_failures(texts) == each
    assert find_result_failures([]) == {}


def test_judging_many_results_at_once_equals_judging_each_alone() -> None:
    _each_and_all()


def test_works_without_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    _each_and_all()


UNITS = (
    *("a", "A", "1", " ", "\t", "\n", "\r", ".", ":", "=", "[", "(", "<", ">", "'", '"', "`", "-"),
    *(
        "/",
        "\\",
        "{",
        "}",
        "中",
        "错",
        "é",
        "\u200b",
        "\u2028",
        "🔴",
        "Error",
        "error: ",
        "failed ",
    ),
    *("a: ", "```\n", "a:1", "1 failed ", "If it fails, ", '{"a":', "失败", "exit 1? ", "x."),
)


def read_failures(text: str) -> None:
    find_result_failure(f"failed?{text}")
    find_result_failure({"output": text})
    find_result_failures([text, text[:50_000]])


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_time_is_linear_in_the_text(unit: str) -> None:
    assert_linear(read_failures, unit, 20_000, 80_000)


def test_huge_output_is_read_at_its_ends() -> None:
    for unit in ("failed? ", "x\n", "{", "Error "):
        assert_bounded(read_failures, unit, 800_000, 8_000_000)


@pytest.mark.parametrize("part", ["worked", "frozen"])
def test_precision_on_labelled_results(part: str) -> None:
    """A regression check on outputs written to be treacherous, no claim of quality.

    Reports in words of their own are missed; a false alarm would lower the score of good work.
    """
    lines = (LABELLED / f"{part}.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    labels = [
        (row["labels"].get("error_pattern"), has_obvious_errors(row["output"])) for row in rows
    ]
    alarms = sum(found and label is not None for label, found in labels)
    right = sum(found and bool(label) for label, found in labels)
    assert right >= 0.95 * alarms
    assert right >= 0.35 * sum(bool(label) for label, _ in labels)
