"""The tree of a trace's spans: the root, the depth of each span, and its role."""

from collections.abc import Mapping, Sequence
from typing import Literal

from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.span import Span

Role = Literal["tool", "retriever", "agent", "model", "silent", "other"]

_BY_KIND: Mapping[str, Role] = {"TOOL": "tool", "RETRIEVER": "retriever", "LLM": "model"}


def find_role(span: Span) -> Role:
    """Return what a span records (a tool, a model …), by GenAI or OpenInference attributes."""
    attributes = span.attributes
    given = attributes.get(names.OPERATION)
    operation = None if given is None else str(given)  # a sender may give it any type
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
    """Return the first span without a parent, else the first whose parent is missing."""
    ids = {span.id for span in spans}
    for span in spans:
        if not span.parent:
            return span
    return next((span for span in spans if span.parent not in ids), spans[0] if spans else None)


def measure_depths(spans: Sequence[Span]) -> list[int]:
    """Return the number of ancestors of each span; 1 where its parent is missing.

    Parent ids come from the sender and may form a cycle.
    """
    parents = {span.id: span.parent for span in spans if span.id}
    known = {"": -1}
    for at in parents:
        path = []
        while at in parents and at not in known:
            path.append(at)
            known[at] = 0  # stops the walk if parent ids form a cycle
            at = parents[at]
        level = known.get(at, 0)
        for span_id in reversed(path):
            level += 1
            known[span_id] = level
    return [known[span.id] if span.id else 0 for span in spans]
