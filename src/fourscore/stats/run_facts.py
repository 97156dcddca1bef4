"""What a trace says about its run: seconds, dollars, tokens and tool calls."""

from collections.abc import Callable, Mapping

from fourscore.core import Trace

#: Reads one fact of a trace; None where the agent did not report it.
ReadFact = Callable[[Trace], float | None]


def _read_cost(trace: Trace) -> float | None:
    return None if trace.usage is None else trace.usage.dollars


def _read_tokens(trace: Trace) -> float | None:
    usage = trace.usage
    return None if usage is None else usage.input_tokens + usage.output_tokens


#: The facts that a summary counts and a gate may test, by name.
RUN_FACTS: Mapping[str, ReadFact] = {
    "latency": lambda trace: trace.seconds,
    "cost": _read_cost,
    "tokens": _read_tokens,
    "steps": lambda trace: len(trace.tool_calls),
}
