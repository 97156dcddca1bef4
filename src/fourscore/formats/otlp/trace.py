"""Spans of one trace, or of one conversation, as a `Trace`.

The steps are the tool calls: those that have a span of their own, and those that only the messages
of the models show. A tool that ended without an error has succeeded, written as exit code 0, since
contents are often not recorded. The output is that of the outermost span that has one; of several
at the same depth, the last.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fourscore.core import DataError, Fault, Trace, Usage
from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.json_spans import read_json_spans
from fourscore.formats.otlp.messages import (
    Turn,
    find_answer,
    find_instructions,
    find_question,
    read_input_turns,
    read_output_turns,
)
from fourscore.formats.otlp.span import Span, deduplicate_spans
from fourscore.formats.otlp.span_tree import Role, find_role, find_root, measure_depths
from fourscore.formats.otlp.tool_calls import collect_tool_calls

_SPEAKING: tuple[Role, ...] = ("agent", "model", "other")


class SpanTrace:
    """Spans in order of their start (see `deduplicate_spans`), and what a trace needs of them."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self.roles = [find_role(span) for span in spans]
        self.root = find_root(spans)
        self._levels = measure_depths(spans)
        self._outward = sorted(range(len(spans)), key=self._levels.__getitem__)
        speaks = [role in _SPEAKING for role in self.roles]
        known: dict[bytes, Turn] = {}
        self._inputs = [
            read_input_turns(s, known) if yes else [] for s, yes in zip(spans, speaks, strict=True)
        ]
        self._outputs = [
            read_output_turns(s) if yes else [] for s, yes in zip(spans, speaks, strict=True)
        ]

    @property
    def generative(self) -> bool:
        """Whether any span is of a model, an agent, a tool or a retriever."""
        return any(role not in ("other", "silent") for role in self.roles)

    def question(self) -> str:
        """Return what the user asked: from the outermost span that has it, the first of equals."""
        found = (find_question(self._inputs[at]) for at in self._outward)
        return next((words for words in found if words), "")

    def output(self) -> str | None:
        """Return the answer to the user; None where no span has one."""
        best: tuple[int, float] | None = None
        found = None
        for at in self._outward:
            span = self.spans[at]
            place = (-self._levels[at], span.end or span.start or 0.0)
            if (best is None or place >= best) and (words := find_answer(self._outputs[at])):
                best, found = place, words
        return found

    def instructions(self) -> str:
        """Return the system instructions of the outermost span that has them."""
        for at in self._outward:
            if words := find_instructions(self.spans[at], self._inputs[at]):
                return words
        return ""

    def usage(self) -> Usage | None:
        """Return the usage of all model calls; an agent's own sum where no call has one."""
        agents = [self.spans[at] for at in self._outward if self.roles[at] == "agent"]
        total: Usage | None = None
        for span, role in zip(self.spans, self.roles, strict=True):
            if role in ("model", "silent", "other") and (spent := _spent(span)) is not None:
                total = spent if total is None else total + spent
        if total is None:
            return next((cost for span in agents if (cost := _spent(span)) is not None), None)
        return total

    def fault(self) -> Fault | None:
        """Return the error of the root span as the agent's fault; None where it has none."""
        if self.root is None or self.root.error is None:
            return None
        late = "timeout" in self.root.error.lower() or "deadline" in self.root.error.lower()
        return Fault("timeout" if late else "error", self.root.error)

    def first(self, *keys: str) -> str:
        """Return the first of these attributes that is set, from the outermost span."""
        for at in self._outward:
            for key in keys:
                if value := self.spans[at].attributes.get(key):
                    return str(value)[:200]
        return ""

    def trace(self, metadata: Mapping[str, object], *, fault: bool) -> Trace:
        """Make the trace; with `fault`, an error of the root span is the agent's failure."""
        starts = [span.start for span in self.spans if span.start is not None]
        ends = [span.end for span in self.spans if span.end is not None]
        return Trace(
            output=self.output(),
            steps=collect_tool_calls(self.spans, self.roles, self._inputs, self._outputs),
            started=min(starts) if starts else None,
            seconds=max(0.0, max(ends) - min(starts)) if starts and ends else None,
            usage=self.usage(),
            metadata={**metadata, **({"ts": max(ends)} if ends else {})},
            fault=self.fault() if fault else None,
        )


def _spent(span: Span) -> Usage | None:
    attributes = span.attributes
    into = _count(attributes, *names.INPUT_TOKENS, names.LLM_INPUT_TOKENS)
    out = _count(attributes, *names.OUTPUT_TOKENS, names.LLM_OUTPUT_TOKENS)
    if not into and not out:
        return None
    cost = attributes.get(names.LLM_COST)
    dollars = float(cost) if isinstance(cost, int | float) and 0 < cost < 1e6 else 0.0
    return Usage(calls=1, input_tokens=into, output_tokens=out, dollars=dollars)


def _count(attributes: Mapping[str, object], *keys: str) -> int:
    for key in keys:
        value = attributes.get(key)
        if type(value) is int and 0 < value < 2**53:
            return value
    return 0


def read_span_traces(documents: Iterable[tuple[int, object]]) -> Iterator[Trace]:
    """Read one trace per conversation from numbered JSON documents of spans."""
    groups: dict[str, list[Span]] = {}
    for line, document in documents:
        try:
            for span in read_json_spans(document):
                key = span.attributes.get(names.CONVERSATION) or span.trace
                groups.setdefault(str(key), []).append(span)
        except DataError as error:
            raise DataError(error.message, line=line, field=error.field) from None
    for key, spans in groups.items():
        read = SpanTrace(deduplicate_spans(spans))
        version = read.first(names.SERVICE_VERSION)
        yield read.trace({"session": key, "version": version}, fault=False)
