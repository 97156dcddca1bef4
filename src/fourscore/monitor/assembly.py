"""Spans of one trace as an interaction: what was asked, and what the agent did about it.

Which spans there are is decided elsewhere; here the same set gives the same interaction, whatever
order they came in and however often.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from fourscore.core import Case, Trace
from fourscore.formats.otlp import names
from fourscore.formats.otlp.conversion import Reading
from fourscore.formats.otlp.span import Span, distinct

#: Tags of one interaction, and characters of each.
MOST_TAGS, LONGEST_TAG = 16, 80
#: The year 2000, in seconds: no agent's trace is older.
EARLIEST = 946_684_800.0
#: Characters of the instructions that are kept with the case.
LONGEST_SYSTEM = 4000


class Unfit(StrEnum):
    """Why there is nothing to score: neither is the agent's failure, and neither counts as one."""

    NO_AGENT = "no_agent"  # no span of a model, an agent or a tool
    NO_CONTENT = "no_content"  # the instrumentation does not record what was said


class Interaction(NamedTuple):
    """`id` is the trace's, `at` when it ended."""

    id: str
    at: float
    case: Case
    trace: Trace
    feedback: str | None = None


def interaction_of(trace_id: str, spans: Iterable[Span], now: float) -> Interaction | Unfit:
    """The interaction that a complete trace is the record of."""
    read = Reading(distinct(spans))
    if not read.generative:
        return Unfit.NO_AGENT
    trace = read.trace(_about(trace_id, read), fault=True)
    question = read.question()
    if trace.output is None and (trace.fault is None or not question):
        return Unfit.NO_CONTENT
    system = read.instructions()[:LONGEST_SYSTEM]
    case = Case(
        input=question,
        tags=_tags(read),
        metadata={"system": system} if system else {},
    )
    # A sender's clock may be wrong: what has not happened yet, or before there were agents, is now.
    ended = float(trace.metadata.get("ts", now))
    at = ended if EARLIEST <= ended <= now else now
    return Interaction(trace_id, at, case, trace, read.first(names.FEEDBACK) or None)


def _about(trace_id: str, read: Reading) -> dict[str, str]:
    about = {
        "trace_id": trace_id,
        "session": read.first(names.CONVERSATION, names.OI_SESSION),
        "version": read.first(names.SERVICE_VERSION),
        "service": read.first(names.SERVICE),
        "agent": read.first(names.AGENT),
        "model": read.first(names.RESPONSE_MODEL, names.REQUEST_MODEL, names.LLM_MODEL),
    }
    return {key: value for key, value in about.items() if value}


def _tags(read: Reading) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for span in read.spans:
        for key in (names.TAGS, names.OI_TAGS):
            if key in span.attributes:
                tags = _several(span.attributes[key])
                found |= dict.fromkeys(tag[:LONGEST_TAG] for tag in tags)
    return tuple(sorted(found)[:MOST_TAGS])


def _several(given: Any) -> list[str]:
    if isinstance(given, str):
        given = given.split(",")
    items = given if isinstance(given, list) else []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]
