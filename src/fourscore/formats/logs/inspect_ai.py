"""Logs of inspect_ai as JSON: one trace per sample and epoch."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from fourscore.core import DataError, Fault, Step, ToolCall, Trace, Usage
from fourscore.formats.chat_messages import read_messages
from fourscore.formats.logs.tool_record import parse_foreign_time


def read_inspect_traces(log: object) -> Iterator[Trace]:
    """Read the samples of a log; a `DataError` names the field that does not fit."""
    if not isinstance(log, Mapping):
        raise DataError(f"expected an object, got {type(log).__name__}")
    samples = log.get("samples")
    if not isinstance(samples, list):
        raise DataError(
            "expected a list: was the log written without its samples?", field="samples"
        )
    about = log.get("eval")
    if not isinstance(about, Mapping):
        about = {}
    for position, sample in enumerate(samples):
        place = f"samples[{position}]"
        if not isinstance(sample, Mapping):
            raise DataError("expected an object", field=place)
        try:
            yield _trace(sample, about, place)
        except DataError:
            raise
        except ValueError as error:
            raise DataError(str(error), field=place) from None


def _trace(sample: Mapping[str, object], about: Mapping[str, object], place: str) -> Trace:
    messages = sample.get("messages")
    if not isinstance(messages, list):
        raise DataError("expected a list", field=f"{place}.messages")
    try:
        trace = read_messages([_message(item) for item in messages])
    except DataError as error:
        raise DataError(error.message, field=f"{place}.{error.field}") from None
    epoch = sample.get("epoch", 1)
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, Mapping) else None
    seconds = sample.get("total_time")
    return replace(
        trace,
        output=completion if isinstance(completion, str) and completion else trace.output,
        steps=_with_errors(trace.steps, messages),
        seconds=float(seconds) if isinstance(seconds, int | float) and seconds < 1e12 else None,
        usage=_usage(sample.get("model_usage")),
        fault=_fault(sample.get("error")),
        metadata={
            "session": f"{sample.get('id', place)}/{epoch}",
            "version": str(about.get("task_version") or about.get("model") or ""),
            **_ended(sample),
        },
    )


def _ended(sample: Mapping[str, object]) -> dict[str, object]:
    moment = parse_foreign_time(sample.get("completed_at") or sample.get("started_at"))
    return {} if moment is None else {"ts": moment}


def _message(item: object) -> object:
    """Return a message with its tool calls as OpenAI writes them: the name is under `function`."""
    if not isinstance(item, Mapping) or not isinstance(calls := item.get("tool_calls"), list):
        return item
    named = [
        {"id": call.get("id"), "name": call.get("function"), "arguments": call.get("arguments")}
        if isinstance(call, Mapping)
        else call
        for call in calls
    ]
    return {**item, "tool_calls": named}


def _with_errors(steps: tuple[Step, ...], messages: list[object]) -> tuple[Step, ...]:
    """Return the steps with the errors of the tools' results, matched by call id."""
    errors = {
        str(item.get("tool_call_id")): item.get("error")
        for item in messages
        if isinstance(item, Mapping) and item.get("role") == "tool"
    }
    calls = (item.get("tool_calls") for item in messages if isinstance(item, Mapping))
    ids = iter(
        [
            str(call.get("id"))
            for made in calls
            if isinstance(made, list)
            for call in made
            if isinstance(call, Mapping)
        ]
    )
    return tuple(
        _failed(step, errors.get(next(ids, ""))) if isinstance(step, ToolCall) else step
        for step in steps
    )


def _failed(call: ToolCall, error: object) -> ToolCall:
    if not error:
        return call
    words = error.get("message") or error.get("type") if isinstance(error, Mapping) else error
    return replace(call, error=str(words or "it failed")[:500])


def _usage(given: object) -> Usage | None:
    if not isinstance(given, Mapping):
        return None
    lines = [line for line in given.values() if isinstance(line, Mapping)]

    def count(key: str) -> int:
        return sum(n for line in lines if type(n := line.get(key)) is int and n > 0)

    return Usage(input_tokens=count("input_tokens"), output_tokens=count("output_tokens"))


def _fault(error: object) -> Fault | None:
    if not error:
        return None
    words = error.get("message") if isinstance(error, Mapping) else error
    return Fault("error", str(words or "the sample failed")[:500])
