"""One tool call as a line of `executions.jsonl`, and how its fields are parsed.

    {"ts": "2026-01-05T10:00:00Z", "tool": "Bash", "exit": "0", "success": "true",
     "version": "3", "session": "s1"}

Shell scripts write every field as text; numbers and truth values are read as well.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from fourscore.core import DataError

Word = str | int | float | bool | None


class ToolRecord(msgspec.Struct, gc=False, kw_only=True, omit_defaults=True):
    """The fields as written; only `tool` is required."""

    tool: str
    ts: str | int | float | None = None
    exit: str | int | None = None
    success: str | bool | None = None
    version: str | int | float | None = None
    session: str | int | None = None
    duration_ms: str | int | float | None = None
    output: Any = None
    error: Any = None
    retry: Word = None
    user_correction: Word = None


class PlainRecord(
    msgspec.Struct, gc=False, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """Only the six fields that a hook writes, in its order: most logs look like this."""

    ts: str | int | float | None = None
    tool: str
    exit: str | int | None = None
    success: str | bool | None = None
    version: str | int | float | None = None
    session: str | int | None = None


@lru_cache(maxsize=4096)
def parse_exit_code(given: str | int | None) -> int | None:
    """Return the exit code as a number; None where it is not known."""
    if given is None or given == "":
        return None
    try:
        code = int(given)
    except ValueError:
        raise DataError(f"expected a whole number, got {given!r:.40}", field="exit") from None
    if isinstance(given, bool) or not -(2**31) <= code < 2**32:
        raise DataError(f"{given!r:.40} is no exit code", field="exit")
    return code


_TRUE = frozenset({"true", "yes", "1"})
_FALSE = frozenset({"false", "no", "0", "", "null", "none"})


def parse_bool(given: Word, field: str) -> bool | None:
    """Return a bool written as bool, text or count; None where it is missing."""
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, int | float):
        return given > 0
    word = given.strip().lower()
    if word in _TRUE or word in _FALSE:
        return None if word in ("", "null", "none") else word in _TRUE
    if word.isdecimal():
        return int(word[:9]) > 0
    raise DataError(f"expected true or false, got {given!r:.40}", field=field)


@lru_cache(maxsize=4096)
def parse_time(given: str | int | float | None) -> float | None:
    """Return seconds since 1970 from ISO 8601 (UTC where no zone is given) or a number."""
    if given is None or given == "":
        return None
    try:
        if isinstance(given, str) and not given.replace(".", "", 1).isdecimal():
            moment = datetime.fromisoformat(given)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        seconds = float(given)
    except (ValueError, OverflowError):
        raise DataError(f"expected a time, got {given!r:.40}", field="ts") from None
    if seconds > 1e17:  # nanoseconds, as spans have them
        seconds /= 1e9
    elif seconds > 1e11:
        seconds /= 1e3
    if not -1e11 <= seconds <= 1e11:
        raise DataError(f"{given!r:.40} is no time", field="ts")
    return seconds


def parse_foreign_time(given: object) -> float | None:
    """Do the same for a value of any type, as logs of other tools have them."""
    if given is not None and not isinstance(given, str | int | float):
        raise DataError(f"expected a time, got {type(given).__name__}", field="ts")
    return parse_time(given)


def parse_milliseconds(given: str | int | float | None) -> float | None:
    """Return seconds from a duration in milliseconds."""
    if given is None or given == "":
        return None
    try:
        value = float(given)
    except (ValueError, OverflowError):
        value = -1.0
    if isinstance(given, bool) or not 0 <= value < 1e15:
        raise DataError(f"expected milliseconds, got {given!r:.40}", field="duration_ms")
    return value / 1000


def parse_name(given: str | int | float | None) -> str:
    """Return a version or session as text; empty where there is none."""
    return "" if given is None else str(given)


class CallOutcome(msgspec.Struct, frozen=True):
    """The exit code and the error of a recorded call."""

    exit_code: int | None
    error: str | None


def read_call_outcome(record: ToolRecord) -> CallOutcome:
    """Return a record's outcome; without an exit code, `success: false` counts as an error."""
    error = record.error
    if error is not None and not isinstance(error, str):
        error = msgspec.json.encode(error).decode() if error else None
    code = parse_exit_code(record.exit)
    if code is None and not error and parse_bool(record.success, "success") is False:
        error = "success is false"
    return CallOutcome(code, error or None)
