"""How the spans of a trace stand to one another, and what each of them is."""

from collections.abc import Mapping, Sequence
from typing import Literal

from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.span import Span

Role = Literal["tool", "retriever", "agent", "model", "silent", "other"]

_BY_KIND: Mapping[str, Role] = {"TOOL": "tool", "RETRIEVER": "retriever", "LLM": "model"}


def find_role(span: Span) -> Role:
    """What a span is the record of, by either convention."""
    attributes = span.attributes
    operation = attributes.get(names.OPERATION)
    if operation is None and (kind := attributes.get(names.KIND)) is not None:
        word = str(kind).upper()
        if word in names.SILENT_KINDS:
            return "silent"
        return "agent" if word in names.AGENT_KINDS else _BY_KIND.get(word, "other")
    if attributes.get(names.TOOL_NAME) and (operation or "execute_tool") in names.TOOL_OPERATIONS:
        return "tool"
    if operation in names.AGENT_OPERATIONS:
        return "agent"
    if operation in names.SILENT_OPERATIONS:
        return "silent"
    if operation or any(key.startswith(("gen_ai.", "llm.")) for key in attributes):
        return "model"
    return "other"


def find_root(spans: Sequence[Span]) -> Span | None:
    """The first span without a parent; where there is none, the first whose parent did not come."""
    ids = {span.id for span in spans}
    for span in spans:
        if not span.parent:
            return span
    return next((span for span in spans if span.parent not in ids), spans[0] if spans else None)


def measure_depths(spans: Sequence[Span]) -> list[int]:
    """How many spans stand around each; one whose parent did not come stands right under the top.

    Parents are only ids in what somebody sent: they may go round in a circle.
    """
    parents = {span.id: span.parent for span in spans if span.id}
    known = {"": -1}
    for at in parents:
        path = []
        while at in parents and at not in known:
            path.append(at)
            known[at] = 0  # for who meets it again on a way round
            at = parents[at]
        level = known.get(at, 0)
        for span_id in reversed(path):
            level += 1
            known[span_id] = level
    return [known[span.id] if span.id else 0 for span in spans]
