"""`recorded`: no agent runs, its outputs are in the case file.

They are `trace`, `output`, `outputs` (one for each repeat) or `messages` in the case's metadata,
where unknown keys of a case file go; `steps` and `usage` may stand beside an `output`. One recorded
output is one attempt: it is not used again for a second repeat. An output that cannot be read is a
mistake in the data, not a failure of the agent.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from fourscore.agents.reply import (
    UnusableReplyError,
    find_misspelt,
    limit_size,
    read_reply,
    read_steps,
)
from fourscore.core import Case, CaseError, Trace
from fourscore.formats.validation import ConversionError, convert_value

#: Keys of a case with one recorded output.
SINGLE = ("output", "messages", "steps", "usage")
#: Keys of which a recorded case has at least one.
RECORDED = ("output", "outputs", "messages", "trace")


class RecordedAgent:
    """Replays recorded outputs; the only agent that gets the whole case."""

    name = "recorded"
    version = ""

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002, ARG002
        raise CaseError(case_id, "output", "recorded outputs are read with replay(case, repeat)")

    def replay(self, case: Case, repeat: int = 0) -> Trace:
        """Return the recorded trace of a repeat, from 0; a `CaseError` where the case has none."""
        recorded = case.metadata
        if "trace" in recorded:
            self._check_first(case, "trace", repeat)
            return _read_trace(case, recorded["trace"])
        if "outputs" in recorded:
            outputs = recorded["outputs"]
            if not isinstance(outputs, list):
                raise CaseError(case.id, "outputs", "expected a list")
            if repeat >= len(outputs):
                message = f"there are {len(outputs)} recorded outputs, none for repeat {repeat}"
                raise CaseError(case.id, "outputs", message)
            return _read_output(case, f"outputs[{repeat}]", outputs[repeat])
        if "output" in recorded or "messages" in recorded:
            self._check_first(case, "output" if "output" in recorded else "messages", repeat)
            return _read_output(case, "", {key: recorded[key] for key in SINGLE if key in recorded})
        for key in recorded:
            if meant := find_misspelt(key, RECORDED):
                raise CaseError(case.id, key, f"unknown key; did you mean {meant}?")
        message = "the case has no recorded output: expected output, outputs, messages or trace"
        raise CaseError(case.id, "output", message)

    def _check_first(self, case: Case, key: str, repeat: int) -> None:
        if repeat > 0:
            message = f"there is only one, none for repeat {repeat}; list several under outputs"
            raise CaseError(case.id, key, message)


def _read_output(case: Case, place: str, value: object) -> Trace:
    try:
        return read_reply(value)
    except UnusableReplyError as error:
        *field, message = error.args[1].split(": ", 1)
        path = ".".join(part for part in (place, *field) if part)
        raise CaseError(case.id, path or "output", message) from None


def _read_trace(case: Case, value: object) -> Trace:
    try:
        listed = None
        if isinstance(value, Mapping):
            value = dict(value)
            listed = value.pop("steps", None)
        trace = convert_value(value, Trace)
        return limit_size(replace(trace, steps=read_steps(listed)) if listed else trace)
    except ConversionError as error:
        place = f"trace.{error.field}" if error.field else "trace"
        raise CaseError(case.id, place, error.message) from None
    except ValueError as error:
        place, _, message = str(error).partition(": ")
        raise CaseError(case.id, f"trace.{place}", message) from None
