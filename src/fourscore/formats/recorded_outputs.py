"""Recorded outputs, one JSON object per line: `{"task": {…}, "output": {…}}` or `"outputs": […]`.

A line is accepted or refused as a whole, with the path of the field that is wrong.
"""

import json
import re
from typing import Any

import msgspec

from fourscore.core import Case, DataError, Trace
from fourscore.formats.json_keys import check_json, check_undecoded
from fourscore.formats.validation import explain_json_error


class RecordedOutput(msgspec.Struct, frozen=True, gc=False):
    """One output, and the reward that it already has, if any."""

    trace: Trace
    reward: float | None = None
    is_success: bool | None = None


class RecordedRow(msgspec.Struct, frozen=True, gc=False):
    """A task and its outputs; `replaced` counts lone surrogates that became U+FFFD."""

    case: Case
    outputs: list[RecordedOutput]
    replaced: int = 0


class _Task(msgspec.Struct, kw_only=True):
    task_id: str | int | None = None
    main_query: Any = None
    expected: Any = None
    metadata: dict[str, Any] | None = None
    env_type: str | None = None
    episode_uuid: str | None = None
    init_messages: list[Any] | None = None


class _Output(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    reward: float | None = None
    is_success: bool | None = None
    metadata: dict[str, Any] | None = None
    log_metrics: dict[str, Any] | None = None


class _Row(msgspec.Struct):
    task: _Task
    output: _Output | None = None
    outputs: list[_Output] | None = None


_DECODER = msgspec.json.Decoder(_Row)
_LONE = re.compile("[\ud800-\udfff]")


def read_row(line: bytes, *, is_checked: bool = False) -> RecordedRow:
    """Read one line; a `DataError` names the field that does not fit.

    `is_checked` leaves out the search for repeated keys in a line that was read before.
    """
    replaced = 0
    try:
        row = _DECODER.decode(line)
        if not is_checked:
            check_undecoded(line)
    except msgspec.ValidationError as error:
        message, field = explain_json_error(error, line, _Row)
        raise DataError(message, field=field) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        row, replaced = _second_reading(line, error)
    return RecordedRow(_case(row.task), _outputs(row), replaced)


def _case(task: _Task) -> Case:
    try:
        return Case(
            id="" if task.task_id is None else str(task.task_id),
            input=task.main_query,
            expected=task.expected,
            metadata=_more(task),
            task_type=task.env_type,
        )
    except ValueError as error:
        raise DataError(str(error), field="task") from None


def _more(task: _Task) -> dict[str, object]:
    """Return the metadata with the fields that only workflows have."""
    metadata = task.metadata or {}
    if task.init_messages is not None:
        metadata = {"init_messages": task.init_messages, **metadata}
    if task.episode_uuid is not None:
        metadata = {"episode_uuid": task.episode_uuid, **metadata}
    return metadata


def _outputs(row: _Row) -> list[RecordedOutput]:
    if row.outputs is None:
        if row.output is None:
            raise DataError("the row has neither output nor outputs", field="output")
        return [_recorded(row.output, "output")]
    if row.output is not None:
        raise DataError("the row has both output and outputs", field="outputs")
    if not row.outputs:
        raise DataError("expected at least one output", field="outputs")
    return [_recorded(output, f"outputs[{i}]") for i, output in enumerate(row.outputs)]


def _recorded(output: _Output, field: str) -> RecordedOutput:
    try:
        metadata = output.metadata or {}
        if output.log_metrics:
            metadata = {"log_metrics": output.log_metrics, **metadata}
        return RecordedOutput(Trace(metadata=metadata), output.reward, output.is_success)
    except ValueError as error:
        raise DataError(str(error), field=field) from None


def _second_reading(line: bytes, first: Exception) -> tuple[_Row, int]:
    """Decode a line that the fast decoder refused; lone surrogates are replaced by U+FFFD."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 at byte {error.start + 1}") from None
    if "\\ud" not in text.lower():
        raise DataError(_syntax(first)) from None
    try:
        value = json.loads(text, parse_constant=_no_constant)
        text = json.dumps(value, ensure_ascii=False)
        text, replaced = _LONE.subn("\ufffd", text)
        row = _DECODER.decode(text)
    except msgspec.ValidationError as error:
        message, field = explain_json_error(error, text, _Row)
        raise DataError(message, field=field) from None
    except (ValueError, RecursionError) as error:
        raise DataError(_syntax(error)) from None
    check_json(line)
    return row, replaced


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _syntax(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"not a JSON object: {error}"
