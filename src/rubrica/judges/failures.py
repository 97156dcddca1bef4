"""Whether a tool call failed, and whether a text reports a failure: one detector for all judges.

    >>> find_failure("3 passed\\nFAILED tests/test_a.py::test_b - assert 1 == 2").text
    'FAILED tests/test_a.py::test_b - assert 1 == 2'
    >>> find_failure('{"success": false, "message": "no seat left"}').kind
    'fields'

JSON is read by its fields. Other text is read line by line: programs begin a line in a few known
ways when they fail (`Error: `, `bash: x: command not found`, `HTTP/1.1 500`). A sentence ("the
build failed") counts unless it explains, supposes or says that all was put right, and fenced code
in an answer is a quotation. The first and the last 50,000 characters of a text are read and 500 of
each line, and every pattern is bounded: time is linear in the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from rubrica.core import ToolCall
from rubrica.judges.failure_patterns import Kind, compile_patterns, compile_stems, split_stems

#: Characters that are read at each end of a text, of one line, and of a quoted line.
END, WIDTH, SHOWN = 50_000, 500, 200
#: Parts of a result that is a list.
PARTS = 50

#: What may stand before the report: marks of a quotation, and the time of a line of a log.
_BEFORE = re.compile(r"[\s>]{0,20}(?:\[?\d[\dT:.,/+Z-]{5,30}\]?\s{1,3}){0,2}")
_FENCE = re.compile(r"[\s>]{0,20}(?:```|~~~)")
_QUOTED = re.compile(r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|「[^」\n]{1,200}」")
#: Where the line above a fence says that this came of a run, the fence is no quotation.
_RAN = re.compile(
    r"\b(?:I|we) (?:ran|got|get|tried|see)\b|\bfailed\b|\bstill\b|运行|报错", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.?!。！？；;])\s*")
_WORD = re.compile(r"[^\W\d_]{2,}")


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
    if not _has_stem(text):
        return None
    fields = _fields(text)
    if fields is not None:
        said = _failure_in_fields(fields)
        return Failure(said[:SHOWN], 0, "fields") if said else None
    for start, line in _lines(text):
        kind = _kind_of(line[:WIDTH])
        if kind is not None:
            return Failure(line.strip()[:SHOWN], start, kind)
    return None


def result_failure(result: Any) -> Failure | None:
    """Return the failure that a tool's result reports: a text, an object or a list of parts."""
    if isinstance(result, str):
        return find_failure(result)
    if isinstance(result, Mapping):
        said = _failure_in_fields(result)
        return Failure(said[:SHOWN], 0, "fields") if said else None
    if isinstance(result, list | tuple):
        parts = (part.get("text") for part in result[:PARTS] if isinstance(part, Mapping))
        found = (find_failure(text) for text in parts if isinstance(text, str))
        return next((each for each in found if each), None)
    return None


def result_failures(results: Sequence[Any]) -> dict[int, Failure]:
    """Return the failures of many results, by their places."""
    texts = [each if type(each) is str and len(each) <= 2 * END else "" for each in results]
    places = {
        *_find_suspects(texts),
        *(i for i, text in enumerate(texts) if not text and results[i]),
    }
    found = ((place, result_failure(results[place])) for place in sorted(places))
    return {place: failure for place, failure in found if failure is not None}


def call_failure(call: ToolCall) -> Failure | None:
    """Return why a call failed: its `error`, its result or its exit code; None if it did not."""
    if call.error:
        return Failure(call.error[:SHOWN], 0, "error")
    found = result_failure(call.result)
    if found is None and call.exit_code:
        return Failure(f"exit code {call.exit_code}", 0, "exit")
    return found


def _has_stem(text: str) -> bool:
    """Whether the text has a part of some pattern."""
    stems = compile_stems()
    if stems is not None:
        return stems.search(text.encode("utf-8", "replace")) is not None
    low = text.lower()
    return any(stem in low for stem in split_stems())


def _find_suspects(texts: Sequence[str]) -> Iterator[int]:
    """Yield the places of the texts that have a part of some pattern: searched as one, if fast."""
    stems = compile_stems()
    if stems is None:
        yield from (place for place, text in enumerate(texts) if _has_stem(text))
        return
    data = "\0".join([text.replace("\0", " ") for text in texts]).encode("utf-8", "replace")
    place = at = 0
    while (hit := stems.search(data, at)) is not None:
        place += data.count(b"\0", at, hit.start())
        yield place
        at = data.find(b"\0", hit.end()) + 1
        if not at:
            return
        place += 1


def _fields(text: str) -> Mapping[str, Any] | None:
    """Return the JSON object that the text is, or None."""
    text = text.strip()
    if text[:1] != "{" or text[-1:] != "}":
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _failure_in_fields(fields: Mapping[str, Any]) -> str | None:
    """Return what an object says about its failure. What it lists as data is not looked at."""
    for key in ("error", "errors", "exception", "错误"):
        said = fields.get(key)
        if said and said != "none":
            return said if isinstance(said, str) else f"the result has {key}"
    for key in ("success", "ok", "succeeded", "passed", "成功"):
        if fields.get(key) is False:
            return _message(fields) or f"{key} is false"
    for key in ("is_error", "isError", "interrupted", "timed_out"):
        if fields.get(key) is True:
            return _message(fields) or f"{key} is true"
    for key in ("exit_code", "exitCode", "returncode"):
        if fields.get(key) not in (None, 0, "0", ""):
            return f"{key} is {str(fields[key])[:20]}"
    # With more fields it is a record about something else: a job that failed, found by a lookup.
    if len(fields) <= 3:
        for key in ("status", "state", "conclusion", "code", "status_code"):
            if _is_bad_state(fields.get(key), key):
                return _message(fields) or f"{key} is {str(fields[key])[:20]}"
    for key in ("stderr", "stdout", "output", "content", "message"):
        said = fields.get(key)
        found = find_failure(said) if isinstance(said, str) else None
        if found is not None:
            return found.text
    return None


def _is_bad_state(value: Any, key: str) -> bool:
    if isinstance(value, str):
        bad = ("error", "failed", "failure", "fail", "timeout", "失败")
        return value.lower() in bad or (key == "conclusion" and value == "cancelled")
    return type(value) is int and 400 <= value < 600


def _message(fields: Mapping[str, Any]) -> str:
    said = (fields.get(key) for key in ("message", "msg", "reason", "detail", "content", "原因"))
    return next((text for text in said if isinstance(text, str) and text), "")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their places, without fenced blocks that an answer only quotes."""
    lines = text.splitlines(keepends=True)
    quoted = _quoted_lines(lines) if "```" in text or "~~~" in text else frozenset[int]()
    at = 0
    for place, line in enumerate(lines):
        if place not in quoted:
            yield at, line
        at += len(line)


def _quoted_lines(lines: Sequence[str]) -> Set[int]:
    """Return the places of the lines in fenced blocks that are no output of a run."""
    marks = [place for place, line in enumerate(lines) if _FENCE.match(line)]
    quoted: set[int] = set()
    for first, last in zip(marks[::2], [*marks[1::2], len(lines)], strict=False):
        above = "".join(line[-WIDTH:] for line in lines[max(0, first - 2) : first])
        if not _RAN.search(above):
            quoted.update(range(first, last + 1))
    rest = (line[:WIDTH] for place, line in enumerate(lines) if place not in quoted)
    # Nothing but a block: it is the output itself.
    return quoted if any(_WORD.search(line) for line in rest) else frozenset()


@lru_cache(maxsize=4096)  # what fails once fails again, in the same words
def _kind_of(line: str) -> Kind | None:
    """Return the kind of failure that a line reports, or None."""
    fields = _fields(line)
    if fields is not None:
        return "fields" if _failure_in_fields(fields) else None
    patterns = compile_patterns()
    line = line[_before(line) :].rstrip()
    begins = patterns.lines.match(line)
    if begins is not None and not patterns.defined.search(line, begins.end()):
        return begins.lastgroup  # type: ignore[return-value]  # the groups are named by kind
    line = _QUOTED.sub("", line)
    if patterns.mended.search(line):
        return None
    for sentence in _SENTENCE.split(line):
        if patterns.said.search(sentence) and not patterns.general.search(sentence):
            return "said"
    return None


def _before(line: str) -> int:
    found = _BEFORE.match(line)
    return found.end() if found else 0
