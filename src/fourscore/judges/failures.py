"""Detect failed tool calls, and texts that report a failure; all judges use this detector.

    >>> find_failure("3 passed\\nFAILED tests/test_a.py::test_b - assert 1 == 2").text
    'FAILED tests/test_a.py::test_b - assert 1 == 2'
    >>> find_failure('{"success": false, "message": "no seat left"}').kind
    'fields'

JSON is read by its fields. Other text is read line by line: programs begin a line in a few known
ways when they fail (`Error: `, `bash: x: command not found`, `HTTP/1.1 500`). A sentence ("the
build failed") counts unless it explains a failure, is hypothetical or says that the failure was
solved. Fenced code in an answer is a quotation and does not count. Only the first and the last
50,000 characters of a text and 500 of each line are read, and every repetition in a pattern is
bounded, so time is linear in the text.
"""

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

import msgspec

from fourscore.core import ToolCall

#: Where the failure is reported. `checks`: by tests or compilers; `sentence`: in ordinary prose.
Kind = Literal["error", "exit", "fields", "shell", "checks", "sentence"]

#: Characters read at each end of a text, of one line, and of a quoted line; parts of a list.
END, WIDTH, SHOWN, PARTS = 50_000, 500, 200, 50

#: Beginnings of lines that report a failure. Case matters: `ERROR x` is a log, `Error x` a title.
_LINES: Mapping[Kind, str] = {
    "shell": r"""
        (?i:[\w./-]{1,60}: (?:[^:\n]{1,150}: ){0,3}(?:permission denied|connection refused))
        (?i:[\w./-]{1,60}: (?:[^:\n]{1,150}: ){0,3}(?:(?:command )?not found|no such file))
        (?i:[\w./-]{1,60}: (?:cannot|can't|could not|unable to) [a-z]{3,9}\b)
        curl: \(\d{1,3}\)|make(?:\[\d{1,3}\])?: \*\*\*
        (?:bash: )?(?:[\w./-]{1,60}[:：] ?)?(?:未找到命令|没有那个文件或目录|权限不够)""",
    "error": r"""
        Traceback \(most recent call last\)|panic: |Segmentation fault|npm ERR!|CONFLICT \(
        [\w.$]{2,120}(?:Error|Exception)(?:: ?\S|$)|(?:Uncaught|Unhandled) \w
        (?i:(?:[\w./-]{1,40}: )?(?:[a-z]{4,9} )?(?:error|fatal|failure|failed)[:：] ?(?!0|none)\S)
        (?i:error(?:\[\w{1,20}\]| [a-z]{0,6}\d{1,6}(?: \(\w{1,20}\))?): ?\S)
        (?i:an? (?:[a-z]{4,12} )?error (?:has )?occurred|error (?:executing|calling|running) )
        (?:ERROR|FATAL|CRITICAL)[\]|>]?[ \t:-]{1,4}\S
        (?i:[\[(<](?:error|fatal|failed|tool_use_error|tool_error|错误)[\])>])
        (?:[<*] )?HTTP(?:/[\d.]{1,3})? (?:[Ee]rror )?[45]\d\d\b
        [45]\d\d (?:Unauthorized|Forbidden|Not Found|Internal Server Error|Bad Gateway)(?:[.:]|$)
        (?:致命)?(?:错误|异常|报错|出错|失败)[:：]
        (?:工具|命令)?(?:调用|执行|请求|操作)(?:失败|出错|异常|超时)""",
    "checks": r"""
        \S{1,150}[:(]\d{1,6}(?:[:,]\d{1,6})?\)?:? (?:- )?(?:fatal |syntax )?error\b
        \S{1,150}\.\w{1,5}:\d{1,6}:\d{1,6}: (?:undefined|cannot|syntax error)\b
        (?:FAILED|FAIL|--- FAIL:?) \S|not ok \d|BUILD FAIL
        =*\s{0,9}(?:Tests?: {1,9})?[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?|errors?)\b
        (?:Found |✖ )[1-9]\d{0,5} (?:errors?|problems?)\b""",
}
#: Phrases that report a failure anywhere in a sentence.
_SENTENCES = r"""
    \b(?:failed|failures|errors)(?:=|: ?)[1-9]
    \b[1-9]\d{0,5} (?:of \d{1,6} )?(?:tests? )?(?:have |are |still )?fail(?:ed|ing)?\b
    \b(?:exit(?:ed|s)?(?: with)?(?: code| status)?|with status)(?: |: ?|=)[1-9]\d{0,2}\b
    \b(?:returned|responded with|status code)(?: an?)?(?: HTTP| error)? [45]\d\d\b
    \b(?:build|tests?|deployment|command|request|job|push|step|check) (?:has |still )?fail(?:ed|s)\b
    \b(?:download|upload|query|login|migration|installation|connection|call) (?:has )?failed\b
    \b(?:command|request|download|migration|push|job) (?:was )?(?:timed out|rejected|aborted)\b
    \b(?:I|we) (?:could not|couldn't|was unable to) (?:run|open|load|find|access|reach|install)\b
    \bcould not be (?:loaded|reached|found|opened|completed|installed)\b
    \b(?:connection refused|permission denied|no space left on device|rate limit exceeded)\b
    (?:构建|编译|测试|部署|安装|下载|连接|运行|登录|查询|执行)(?:都|已|又|仍)?(?:失败|出错|超时|报错)
    [1-9]\d{0,5} ?[个项条处](?:测试)?(?:失败|错误)|返回 ?[45]\d\d"""
#: Words of a sentence about failures in general, or about a hypothetical failure.
_GENERAL = r"""
    \b(?:if|when|whenever|unless|would|may|might|should|means?|usually|raises?|returns)\b
    \b(?:how|why|which|what|tests? for|an? failed|avoid|prevent)\b
    [?？]|如果|表示|意味|是指|通常|可以|会"""
#: Words of a line that says that the failure was solved.
_SOLVED = r"\b(?:fixed|corrected|passes|now pass|succeeded|green|no longer|retried)\b|修复|已解决"
#: Words after a program's message that explain it: `HTTP 404 is "Not Found"`.
_DEFINED = r'\b(?:means?|stands for|usually|comes from|is (?:an?|the|raised|"))|表示|是指'
#: Each pattern above contains one of these parts. A text without any of them needs no other check.
_STEMS = (
    "err|fail|exception|traceback|panic|fault|fatal|critical|denied|refused|rejected|aborted"
    "|not found|no such|not ok|cannot|can't|could|unable|undefined|uncaught|unhandled|exit|http"
    '|status|"code"|returncode|false|timed|timeout|returned|responded|no space|limit|conflict'
    "|unauthorized|forbidden|gateway|curl|make|错|败|异常|超时|未找到|没有那|权限|返回|✖"
).split("|")

#: Text that may come before the report: quotation marks `>` and the time stamp of a log line.
_BEFORE = re.compile(r"[\s>]{0,20}(?:\[?\d[\dT:.,/+Z-]{5,30}\]?\s{1,3}){0,2}")
_QUOTED = re.compile(r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|「[^」\n]{1,200}」")
_SENTENCE = re.compile(r"(?<=[.?!。！？；;])\s*")


class Failure(NamedTuple):
    """A report of a failure: the line, where it begins in the text, and its kind."""

    text: str
    start: int
    kind: Kind


def has_obvious_errors(output: str) -> bool:
    """Whether the output reports a failure."""
    return find_failure(output) is not None


def find_failure(text: str) -> Failure | None:
    """Return the first report of a failure in a text, or None."""
    if len(text) > 2 * END:
        head, cut = find_failure(text[:END]), len(text) - END
        tail = None if head else find_failure(text[cut:])
        return tail._replace(start=tail.start + cut) if tail else head
    low = text.lower()
    if not any(stem in low for stem in _STEMS):
        return None
    fields = _parse_object(text)
    if fields is not None:
        return _failure_in_fields(fields)
    for start, line in _lines(text):
        kind = _find_kind(line[:WIDTH])
        if kind is not None:
            return Failure(line.strip()[:SHOWN], start, kind)
    return None


def find_result_failure(result: Any) -> Failure | None:
    """Return the failure that a tool's result reports: a text, an object or a list of parts."""
    if isinstance(result, str):
        return find_failure(result)
    if isinstance(result, Mapping):
        return _failure_in_fields(result)
    if isinstance(result, list | tuple):
        parts = (part.get("text") for part in result[:PARTS] if isinstance(part, Mapping))
        found = (find_failure(text) for text in parts if isinstance(text, str))
        return next((each for each in found if each), None)
    return None


def find_result_failures(results: Sequence[Any]) -> dict[int, Failure]:
    """Return the failures that tool results report, by the index of the result."""
    found = ((place, find_result_failure(results[place])) for place in _find_suspects(results))
    return {place: failure for place, failure in found if failure is not None}


def find_call_failure(call: ToolCall) -> Failure | None:
    """Return why a call failed: its `error`, its result or its exit code; None if it did not."""
    if call.error:
        return Failure(call.error[:SHOWN], 0, "error")
    found = find_result_failure(call.result)
    if found is None and call.exit_code:
        return Failure(f"exit code {call.exit_code}", 0, "exit")
    return found


def _find_suspects(results: Sequence[Any]) -> Iterable[int]:
    """Return the indices of the results that may report a failure.

    If `google-re2` is installed, it searches all texts for all stems at once.
    """
    try:
        suspects = importlib.import_module("re2").compile(rf"(?i)(?:{'|'.join(_STEMS)})[^\x00]*")
    except ImportError:
        return range(len(results))
    texts = [each if type(each) is str else "err" if each else "" for each in results]
    data = "\0".join([text.replace("\0", " ") for text in texts]).encode("utf-8", "replace")
    # A match extends to the end of its text, so each text has at most one; the number of NULs
    # before it is the index of the text.
    ends = [0, *(hit.end() for hit in suspects.finditer(data))]
    return accumulate(data.count(b"\0", *span) for span in pairwise(ends))


def _parse_object(text: str) -> Mapping[str, Any] | None:
    """Return the text parsed as a JSON object, or None if it is not one."""
    text = text.strip()
    if text[:1] != "{" or text[-1:] != "}":
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _failure_in_fields(fields: Mapping[str, Any]) -> Failure | None:
    """Return the failure that a JSON object reports, or None; nested data is not searched."""
    for key in ("error", "errors", "exception"):
        if fields.get(key):
            message = fields[key] if isinstance(fields[key], str) else f"the result has {key}"
            return Failure(message[:SHOWN], 0, "fields")
    # An object with more fields is data, such as the record of a failed job that a lookup found.
    is_report = len(fields) <= 3
    for key, value in fields.items():
        if _reports_failure(key, value, is_report):
            messages = [fields.get(name) for name in ("message", "msg", "reason", "detail")]
            message = next((each for each in messages if isinstance(each, str) and each), "")
            return Failure(message[:SHOWN] or f"{key} is {str(value)[:20]}", 0, "fields")
    for key in ("stderr", "stdout", "output", "content", "message"):
        found = find_failure(fields[key]) if isinstance(fields.get(key), str) else None
        if found is not None:
            return found._replace(start=0, kind="fields")
    return None


def _reports_failure(key: str, value: Any, is_report: bool) -> bool:
    """Whether a field reports a failure; `status` and `code` count only if `is_report`."""
    if value is False:
        return key in ("success", "ok", "passed")
    if value is True:
        return key in ("is_error", "isError", "timed_out")
    if key in ("exit_code", "exitCode", "returncode"):
        return value not in (None, 0, "0", "")
    if not is_report or key not in ("status", "state", "code", "status_code"):
        return False
    if isinstance(value, str):
        return value.lower() in ("error", "failed", "failure", "timeout")
    return isinstance(value, int) and 400 <= value < 600


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its offset, without fenced blocks unless the whole text is one."""
    block = text.strip()
    is_all = block.startswith("```") and block.endswith("```") and block.count("```") == 2
    at, is_fenced = 0, False
    for line in text.splitlines(keepends=True):
        if line.lstrip(" \t>").startswith("```"):
            is_fenced = not is_fenced
        elif is_all or not is_fenced:
            yield at, line
        at += len(line)


@lru_cache(maxsize=4096)  # a failing call is often repeated with the same message
def _find_kind(line: str) -> Kind | None:
    """Return the kind of failure that a line reports, or None."""
    line = _BEFORE.sub("", line, count=1).rstrip()
    for kind, patterns in _LINES.items():
        begins = _compile(patterns).match(line)
        if begins and not _has(_DEFINED, line[begins.end() :]):
            return kind
    line = _QUOTED.sub("", line)
    sentences = () if _has(_SOLVED, line) else _SENTENCE.split(line)
    is_reported = any(_has(_SENTENCES, each) and not _has(_GENERAL, each) for each in sentences)
    return "sentence" if is_reported else None


def _has(patterns: str, text: str) -> bool:
    return _compile(patterns, re.IGNORECASE).search(text) is not None


@cache  # compiled at first use: most traces have no text that needs the patterns
def _compile(patterns: str, flags: int = 0) -> re.Pattern[str]:
    """Return one compiled pattern that matches any of the patterns, one per line."""
    return re.compile("|".join(map(str.strip, patterns.strip().splitlines())), flags)
