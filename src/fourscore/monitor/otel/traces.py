"""Spans of one trace as an interaction: what was asked, and what the agent did about it.

Which spans there are is decided elsewhere; here the same set gives the same interaction, whatever
order they came in and however often.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, NamedTuple

from fourscore.core import Case, FourscoreError, Trace
from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.span import Span, distinct, unpacked
from fourscore.formats.otlp.trace import Reading
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.sampling import digest
from fourscore.stores.monitor_spans import SpanTable

#: Tags of one interaction, and characters of each.
MOST_TAGS, LONGEST_TAG = 16, 80
#: The year 2000, in seconds: no agent's trace is older.
EARLIEST = 946_684_800.0
#: Characters of the instructions that are kept with the case.
LONGEST_SYSTEM = 4000


class SkipReason(StrEnum):
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


def build_interaction(trace_id: str, spans: Iterable[Span], now: float) -> Interaction | SkipReason:
    """The interaction that a complete trace is the record of."""
    read = Reading(distinct(spans))
    if not read.generative:
        return SkipReason.NO_AGENT
    trace = read.trace(_about(trace_id, read), fault=True)
    question = read.question()
    if trace.output is None and (trace.fault is None or not question):
        return SkipReason.NO_CONTENT
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


LOG = logging.getLogger("fourscore.monitor")
#: Traces that are looked at together.
BATCH = 128
#: Seconds between two looks when there is nothing to do, and after a failure.
PAUSE, REST = 0.5, 5.0
#: Seconds that a trace is lent to one process: longer than scoring a batch may take.
LEASE = 1800.0

#: Scores what it is given, commits it, and says how many came to what.
Keep = Callable[[Sequence[Interaction]], Mapping[str, int]]
#: Whether nobody wants a trace, so that it need not be read.
PassOver = Callable[[str, Sequence[Span]], bool]


class TraceAssembler:
    """The traces of one monitor. `once` is one look; `start` looks until `close`."""

    def __init__(
        self,
        spans: SpanTable,
        monitor: str,
        keep: Keep,
        *,
        pass_over: PassOver | None = None,
        quiet: float = 10.0,
        longest: float = 3600.0,
    ) -> None:
        self._spans, self._monitor, self._keep = spans, monitor, keep
        self._pass_over, self._quiet, self._longest = pass_over, quiet, longest
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.waiting = 0

    def once(self, now: float) -> int:
        """How many complete traces there were, up to a batch."""
        found = self._spans.ripe(now, self._quiet, BATCH, longest=self._longest, lease=LEASE)
        if found:
            self.gather(found, now)
        return len(found)

    def gather(self, trace_ids: Sequence[str], now: float) -> Counter[str]:
        """Score these traces as they are, and let them go; how many came to what."""
        counts: Counter[str] = Counter()
        ready: list[Interaction] = []
        for trace_id in trace_ids:
            bodies = self._spans.take(trace_id)
            if not bodies:  # done meanwhile
                continue
            try:
                read = self._read(trace_id, bodies, now)
            except Exception:  # a bug of ours: one trace must not stop all others for ever
                LOG.exception("trace %s cannot be put together", trace_id)
                counts["broken"] += 1
                continue
            if isinstance(read, Interaction):
                ready.append(read)
            else:
                counts["not_drawn" if read is None else read.value] += 1
        if ready:
            counts.update(self._keep(ready))
        told = {f"traces_{what}": n for what, n in counts.items()}
        self._spans.done(*trace_ids, now=now, monitor=self._monitor, counts=told)
        return counts

    def _read(
        self, trace_id: str, bodies: list[bytes], now: float
    ) -> Interaction | SkipReason | None:
        spans = [unpacked(body) for body in bodies]
        if self._pass_over is not None and self._pass_over(trace_id, spans):
            return None
        return build_interaction(trace_id, spans, now)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True, name="fourscore-gathering")
        self._thread.start()

    def close(self, timeout: float | None = None) -> None:
        """Stop after the batch that is under way; what waits stays in the store."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stop.is_set():
            pause = PAUSE
            try:
                if self.once(time.time()) == BATCH:
                    pause = 0.0
                self.waiting = self._spans.waiting()
            except Exception as error:  # the disk, or the judge: what waits is tried again
                LOG.warning("traces wait: %s", error)
                pause = REST
            self._stop.wait(pause)


LOG = logging.getLogger("fourscore.monitor")
#: Interactions that are scored at the same time.
AT_ONCE = 4


class UnsavedError(FourscoreError):
    """The store did not take the samples; their traces are tried again."""


class TraceSampler:
    """One monitor, as whoever gathers traces needs it."""

    def __init__(self, monitor: ProductionMonitor, together: int = AT_ONCE) -> None:
        self._monitor, self._together = monitor, together

    def pass_over(self, trace_id: str, spans: Sequence[Span]) -> bool:
        """Whether a trace is not drawn at any rate, and no rule could want it: most are not."""
        sampling = self._monitor.sampling
        if not sampling.is_hashed or sampling.rules or digest(trace_id) < sampling.ceiling:
            return False
        if any(span.error or names.FEEDBACK in span.attributes for span in spans):
            return False
        return self._monitor.sample_and_evaluate("", None, id=trace_id) is None  # it counts them

    def keep(self, interactions: Sequence[Interaction]) -> Mapping[str, int]:
        """Score what is drawn, or wanted by a rule; saved when this returns."""
        draws = self._monitor.sampling.draws
        drawn = [seen for seen in interactions if draws(seen.id, seen.case.tags)]
        rest = [seen for seen in interactions if not draws(seen.id, seen.case.tags)]
        counts = Counter(map(self._one, rest))
        if drawn:
            with ThreadPoolExecutor(self._together, "fourscore-scoring") as threads:
                counts.update(threads.map(self._one, drawn))
        if not self._monitor.flush():
            raise UnsavedError("the samples are not saved yet")
        return counts

    def _one(self, seen: Interaction) -> str:
        try:
            told = self._monitor.sample_and_evaluate(
                seen.case.input,
                None,
                id=seen.id,
                at=seen.at,
                tags=seen.case.tags,
                trace=seen.trace,
                case=seen.case,
                feedback=seen.feedback,
            )
        except Exception:  # a bug of ours, about one of them
            LOG.exception("trace %s cannot be scored", seen.id)
            return "failed"
        return "not_drawn" if told is None else "scored"
