"""Reads an execution summary: calls by tool, errors by type, times like `30s`.

execution:
  tools: {Read: {calls: 5, success: 5}, Bash: {calls: 3, success: 2}}
  errors: [{type: retry, count: 1}]
  actual_time: 60s
  task_complexity: medium
max_expected:
  medium_task: {time: 120s, tools: 15}
"""

import re
from collections.abc import Mapping

from fourscore.core import DataError, ToolCall, Trace

#: The most calls in one summary: each becomes a step.
MOST = 100_000

_DURATION = re.compile(r"(\d++(?:\.\d++)?+)(?:\s*+(ms|s|sec|m|min|h))?\s*+")
_UNITS = {"ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, None: 1.0}


def parse_duration(given: object, field: str) -> float:
    """Return the seconds of `30s`, `1.5m`, `2h`, `250ms`, `1m 30s` or a number of seconds."""
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < 1e12:
        return float(given)
    total, at = 0.0, 0
    if isinstance(given, str) and len(given) < 100:
        text = given.strip()
        while found := _DURATION.match(text, at):
            total, at = total + float(found[1]) * _UNITS[found[2]], found.end()
        if at == len(text) and at and total < 1e12:
            return total
    raise DataError(f"expected a duration like 30s, got {given!r:.40}", field=field)


def read_summary(document: object) -> Trace:
    """Read a summary as one trace; a `DataError` names the field that does not fit."""
    whole = _mapping(document, "")
    execution = _mapping(whole.get("execution"), "execution")
    complexity = execution.get("task_complexity", execution.get("complexity"))
    metadata: dict[str, object] = {
        key: str(execution[key])
        for key in ("session", "version", "ts")
        if execution.get(key) is not None
    }
    size = "medium"
    if complexity is not None:
        metadata["complexity"] = size = str(complexity).removesuffix("_task")
    if execution.get("task_type") is not None:
        metadata["task_type"] = str(execution["task_type"])
    limits = _limits(whole, execution, size)
    if limits:
        metadata["max_expected"] = limits
    errors = _errors(execution)
    if errors:
        metadata["errors"] = errors
    time = execution.get("actual_time")
    output = execution.get("output", whole.get("output"))
    return Trace(
        output=output,
        steps=_steps(execution),
        seconds=None if time is None else parse_duration(time, "execution.actual_time"),
        metadata=metadata,
    )


def _steps(execution: Mapping[str, object]) -> tuple[ToolCall, ...]:
    if execution.get("tools") is None:
        total, good = (
            execution.get("total", execution.get("actual_tools")),
            execution.get("successful"),
        )
        if total is None:
            return ()
        calls = _count(total, "execution.total")
        known = None if good is None else _count(good, "execution.successful")
        return _calls("tool", calls, known, "execution.successful")
    steps: tuple[ToolCall, ...] = ()
    for tool, line in _mapping(execution["tools"], "execution.tools").items():
        place = f"execution.tools.{tool}"
        counts = _mapping(line, place)
        calls = _count(counts.get("calls"), f"{place}.calls")
        good = counts.get("success")
        known = None if good is None else _count(good, f"{place}.success")
        steps += _calls(str(tool), calls, known, f"{place}.success")
        if len(steps) > MOST:
            raise DataError(f"more than {MOST} calls", field="execution.tools")
    return steps


def _calls(tool: str, calls: int, good: int | None, field: str) -> tuple[ToolCall, ...]:
    if calls > MOST:
        raise DataError(f"more than {MOST} calls", field=field)
    if good is None:
        return (ToolCall(name=tool),) * calls
    if good > calls:
        raise DataError(f"{good} of {calls} calls", field=field)
    worked, failed = ToolCall(name=tool, exit_code=0), ToolCall(name=tool, error="failed")
    return (worked,) * good + (failed,) * (calls - good)


def _errors(execution: Mapping[str, object]) -> dict[str, int]:
    given = execution.get("errors")
    if given is None:
        total = execution.get("total_errors")
        return {} if total is None else {"error": _count(total, "execution.total_errors")}
    if not isinstance(given, list):
        raise DataError("expected a list", field="execution.errors")
    errors: dict[str, int] = {}
    for position, item in enumerate(given):
        place = f"execution.errors[{position}]"
        line = _mapping(item, place)
        kind = line.get("type")
        if not isinstance(kind, str) or not kind:
            raise DataError("expected text", field=f"{place}.type")
        errors[kind] = errors.get(kind, 0) + _count(line.get("count", 1), f"{place}.count")
    return errors


def _limits(
    whole: Mapping[str, object], execution: Mapping[str, object], complexity: str
) -> dict[str, float | int]:
    """Return `max_expected` for the task's complexity; `max_time` and `max_tools` override it."""
    given = whole.get("max_expected", execution.get("max_expected"))
    limits: dict[str, float | int] = {}
    if given is not None:
        table = _mapping(given, "max_expected")
        key = f"{complexity}_task" if f"{complexity}_task" in table else complexity
        if key in table:
            line, place = _mapping(table[key], f"max_expected.{key}"), f"max_expected.{key}"
            if "time" in line:
                limits["time"] = parse_duration(line["time"], f"{place}.time")
            if "tools" in line:
                limits["tools"] = _count(line["tools"], f"{place}.tools")
    if execution.get("max_time") is not None:
        limits["time"] = parse_duration(execution["max_time"], "execution.max_time")
    if execution.get("max_tools") is not None:
        limits["tools"] = _count(execution["max_tools"], "execution.max_tools")
    return limits


def _mapping(value: object, field: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        what = "it is missing" if value is None else f"expected keys, got {type(value).__name__}"
        raise DataError(what, field=field or None)
    return value


def _count(value: object, field: str) -> int:
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    if type(value) is not int or value < 0:
        raise DataError("expected a whole number", field=field)
    return value
