"""`recorded`: no agent at all, the outputs stand in the case file.

They are `trace`, `output`, `outputs` (one for each repeat) or `messages` in the case's metadata,
where unknown keys of a case file go; `steps` and `usage` may stand beside an `output`. One recorded
output is one attempt: it is not counted twice for a second repeat. What cannot be read is a mistake
in the data, and no failure of whoever was recorded.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from fourscore.agents.reply import UnusableError, bounded, read_reply
from fourscore.agents.steps import misspelt, read_steps
from fourscore.core import Case, CaseError, Trace
from fourscore.formats.validation import ConversionError, converted

SINGLE = ("output", "messages", "steps", "usage")
#: Any of these is what was recorded.
RECORDED = ("output", "outputs", "messages", "trace")


class RecordedAgent:
    """Reads what was recorded; the one agent that is given the whole case."""

    name = "recorded"
    version = ""

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002, ARG002
        raise CaseError(case_id, "output", "recorded outputs are read with replay(case, repeat)")

    def replay(self, case: Case, repeat: int = 0) -> Trace:
        """The trace of a repeat, from 0; `CaseError` where the case has none."""
        recorded = case.metadata
        if "trace" in recorded:
            self._first(case, "trace", repeat)
            return _trace(case, recorded["trace"])
        if "outputs" in recorded:
            outputs = recorded["outputs"]
            if not isinstance(outputs, list):
                raise CaseError(case.id, "outputs", "expected a list")
            if repeat >= len(outputs):
                message = f"there are {len(outputs)} recorded outputs, none for repeat {repeat}"
                raise CaseError(case.id, "outputs", message)
            return _reply(case, f"outputs[{repeat}]", outputs[repeat])
        if "output" in recorded or "messages" in recorded:
            self._first(case, "output" if "output" in recorded else "messages", repeat)
            return _reply(case, "", {key: recorded[key] for key in SINGLE if key in recorded})
        for key in recorded:
            if meant := misspelt(key, RECORDED):
                raise CaseError(case.id, key, f"unknown key; did you mean {meant}?")
        message = "the case has no recorded output: expected output, outputs, messages or trace"
        raise CaseError(case.id, "output", message)

    def _first(self, case: Case, key: str, repeat: int) -> None:
        if repeat > 0:
            message = f"there is one, and none for repeat {repeat}; several stand under outputs"
            raise CaseError(case.id, key, message)


def _reply(case: Case, place: str, value: Any) -> Trace:
    try:
        return read_reply(value)
    except UnusableError as error:
        *field, message = error.args[1].split(": ", 1)
        path = ".".join(part for part in (place, *field) if part)
        raise CaseError(case.id, path or "output", message) from None


def _trace(case: Case, value: Any) -> Trace:
    try:
        fields = dict(value) if isinstance(value, Mapping) else value
        listed = fields.pop("steps", None) if fields is not value else None
        trace = converted(fields, Trace)
        return bounded(replace(trace, steps=read_steps(listed)) if listed else trace)
    except ConversionError as error:
        place = f"trace.{error.field}" if error.field else "trace"
        raise CaseError(case.id, place, error.message) from None
    except ValueError as error:
        place, _, message = str(error).partition(": ")
        raise CaseError(case.id, f"trace.{place}", message) from None
