"""Assembles complete traces from the stored spans, samples and scores them.

    complete -> claimed by a process -> assembled -> scored and committed -> marked as done

Each step can be repeated. If a process dies after the commit, another one claims the trace, gets
the same interaction with the same id, and finds it stored. So no trace is lost and none counts
twice. The same spans give the same interaction, in whatever order they arrived. An interaction's id
is the id of its trace, so every process samples the same ones.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any

import msgspec

from fourscore.core import Case, FourscoreError, Trace
from fourscore.formats.otlp import semantic_conventions as names
from fourscore.formats.otlp.span import Span, deduplicate_spans, unpack_span
from fourscore.formats.otlp.trace import SpanTrace
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.sampling import digest
from fourscore.stores.received_spans import SpanTable

#: Tags of one interaction, and characters of each tag.
MAX_TAGS, MAX_TAG_LENGTH = 16, 80
#: The year 2000, in seconds: no agent's trace is older.
EARLIEST = 946_684_800.0
#: Characters of the instructions that are kept with the case.
MAX_INSTRUCTIONS = 4000
#: Characters of the reason why a trace cannot be read.
MAX_PROBLEM = 500


class SkipReason(StrEnum):
    """Why a trace is not scored. This does not count as a failure of the agent."""

    NO_AGENT = "no_agent"  # it has no span of a model, an agent or a tool
    NO_CONTENT = "no_content"  # the instrumentation does not record questions and answers


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """A case and its trace, assembled from spans. `id` is the trace's id, `at` when it ended.

    `problem` says why no trace can be made of the spans; then it counts as a `judge_error`.
    """

    id: str
    at: float
    case: Case
    trace: Trace
    feedback: str | None = None
    problem: str = ""


def build_interaction(trace_id: str, spans: Iterable[Span], now: float) -> Interaction | SkipReason:
    """Return the interaction of a complete trace, or why it is not scored."""
    read = SpanTrace(deduplicate_spans(spans))
    if not read.generative:
        return SkipReason.NO_AGENT
    trace = read.trace(_make_metadata(trace_id, read), fault=True)
    question = read.question()
    if trace.output is None and (trace.fault is None or not question):
        return SkipReason.NO_CONTENT
    system = read.instructions()[:MAX_INSTRUCTIONS]
    case = Case(
        input=question,
        tags=_read_tags(read),
        metadata={"system": system} if system else {},
    )
    # A sender's clock may be wrong: a time in the future or before `EARLIEST` is replaced by now.
    ended = float(trace.metadata.get("ts", now))
    at = ended if EARLIEST <= ended <= now else now
    feedback = read.first(names.FEEDBACK) or None
    return Interaction(id=trace_id, at=at, case=case, trace=trace, feedback=feedback)


def make_unreadable(trace_id: str, error: Exception, now: float) -> Interaction:
    """Return an interaction that counts as a `judge_error`: its spans were acknowledged."""
    kind = type(error).__name__  # its message may quote what a user wrote
    LOG.warning("trace %s cannot be read and counts as a judge error: %s", trace_id, kind)
    LOG.debug("trace %s cannot be read", trace_id, exc_info=error)
    problem = f"the trace cannot be read: {kind}: {error}"[:MAX_PROBLEM]
    return Interaction(
        id=trace_id, at=now, case=Case(input=""), trace=Trace(output=""), problem=problem
    )


def _make_metadata(trace_id: str, read: SpanTrace) -> dict[str, str]:
    about = {
        "trace_id": trace_id,
        "session": read.first(names.CONVERSATION, names.OI_SESSION),
        "version": read.first(names.SERVICE_VERSION),
        "service": read.first(names.SERVICE),
        "agent": read.first(names.AGENT),
        "model": read.first(names.RESPONSE_MODEL, names.REQUEST_MODEL, names.LLM_MODEL),
    }
    return {key: value for key, value in about.items() if value}


def _read_tags(read: SpanTrace) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for span in read.spans:
        for key in (names.TAGS, names.OI_TAGS):
            if key in span.attributes:
                tags = _split_tags(span.attributes[key])
                found |= dict.fromkeys(tag[:MAX_TAG_LENGTH] for tag in tags)
    return tuple(sorted(found)[:MAX_TAGS])


def _split_tags(given: Any) -> list[str]:
    if isinstance(given, str):
        given = given.split(",")
    items = given if isinstance(given, list) else []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


LOG = logging.getLogger("fourscore.monitor")
#: Traces in one batch.
BATCH = 128
#: Seconds between two polls when there is nothing to do, and after a failure.
PAUSE, PAUSE_AFTER_ERROR = 0.5, 5.0
#: Seconds that a trace is leased to one process: longer than scoring a batch may take.
LEASE = 1800.0

#: Scores interactions, commits them, and returns how many had which outcome.
ScoreBatch = Callable[[Sequence[Interaction]], Mapping[str, int]]
#: Returns whether a trace is certainly not sampled, so that it need not be assembled.
CanSkip = Callable[[str, Sequence[Span]], bool]


class TraceAssembler:
    """Assembles and scores the traces of one monitor, in a thread from `start` until `close`."""

    def __init__(
        self,
        spans: SpanTable,
        monitor: str,
        score: ScoreBatch,
        *,
        can_skip: CanSkip | None = None,
        quiet: float = 10.0,
        longest: float = 3600.0,
    ) -> None:
        self._spans, self._monitor, self._score = spans, monitor, score
        self._can_skip, self._quiet, self._longest = can_skip, quiet, longest
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.waiting = 0

    def score_ready(self, now: float) -> int:
        """Score one batch of complete traces; return their number."""
        found = self._spans.claim_complete(
            now, self._quiet, BATCH, longest=self._longest, lease=LEASE
        )
        if found:
            self.score_traces(found, now)
        return len(found)

    def score_traces(self, trace_ids: Sequence[str], now: float) -> Counter[str]:
        """Score these traces, complete or not; return how many had which outcome."""
        counts: Counter[str] = Counter()
        ready: list[Interaction] = []
        for trace_id in trace_ids:
            bodies = self._spans.read(trace_id)
            if not bodies:  # another process has scored it
                continue
            try:
                found = self._assemble(trace_id, bodies, now)
            except Exception as error:  # a bug of ours: it must neither block nor lose a trace
                found = make_unreadable(trace_id, error, now)
            if isinstance(found, Interaction):
                ready.append(found)
            else:
                counts["not_drawn" if found is None else found.value] += 1
        if ready:
            counts.update(self._score(ready))
        outcomes = {f"traces_{what}": n for what, n in counts.items()}
        self._spans.mark_done(*trace_ids, now=now, monitor=self._monitor, counts=outcomes)
        return counts

    def _assemble(
        self, trace_id: str, bodies: list[bytes], now: float
    ) -> Interaction | SkipReason | None:
        spans = [unpack_span(body) for body in bodies]
        if self._can_skip is not None and self._can_skip(trace_id, spans):
            return None
        return build_interaction(trace_id, spans, now)

    def start(self) -> None:
        """Start a thread that scores complete traces."""
        self._thread = threading.Thread(target=self._run, daemon=True, name="fourscore-traces")
        self._thread.start()

    def close(self, timeout: float | None = None) -> None:
        """Stop after the current batch; the other traces stay in the store."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stop.is_set():
            pause = PAUSE
            try:
                if self.score_ready(time.time()) == BATCH:
                    pause = 0.0
                self.waiting = self._spans.count_waiting()
            except BaseException as error:  # the disk or the judge: traces are tried again
                why = str(error) or type(error).__name__
                LOG.warning("traces could not be scored and are tried again: %s", why)
                pause = PAUSE_AFTER_ERROR
            self._stop.wait(pause)


LOG = logging.getLogger("fourscore.monitor")
#: Interactions that are scored at the same time.
CONCURRENCY = 4


class UnsavedError(FourscoreError):
    """The store did not accept the samples; their traces are tried again."""


class TraceSampler:
    """Samples and scores the interactions of traces for one monitor."""

    def __init__(self, monitor: ProductionMonitor, concurrency: int = CONCURRENCY) -> None:
        self._monitor, self._concurrency = monitor, concurrency

    def can_skip(self, trace_id: str, spans: Sequence[Span]) -> bool:
        """Return whether a trace is drawn at no tag's rate and wanted by no rule; count it then."""
        sampling = self._monitor.sampling
        if not sampling.is_hashed or sampling.rules or digest(trace_id) < sampling.ceiling:
            return False
        if any(span.error or names.FEEDBACK in span.attributes for span in spans):
            return False
        return self._monitor.sample_and_evaluate("", None, id=trace_id) is None  # counts it

    def score(self, interactions: Sequence[Interaction]) -> Mapping[str, int]:
        """Score and save the interactions that are drawn or wanted by a rule; count outcomes."""
        draws = self._monitor.sampling.draws
        drawn = [seen for seen in interactions if draws(seen.id, seen.case.tags)]
        rest = [seen for seen in interactions if not draws(seen.id, seen.case.tags)]
        counts = Counter(map(self._score_one, rest))
        if drawn:
            with ThreadPoolExecutor(self._concurrency, "fourscore-scoring") as threads:
                counts.update(threads.map(self._score_one, drawn))
        if not self._monitor.flush():
            raise UnsavedError(
                "the store did not save the samples in time; their traces are scored again"
            )
        return counts

    def _score_one(self, seen: Interaction) -> str:
        try:
            return self._evaluate(seen, self._monitor.sample_and_evaluate)
        except Exception as error:  # a bug of ours with one interaction
            unreadable = make_unreadable(seen.id, error, seen.at)
            return self._evaluate(unreadable, self._monitor.evaluate_drawn)  # counted already

    def _evaluate(self, seen: Interaction, evaluate: Callable[..., object]) -> str:
        sample = evaluate(
            seen.case.input,
            None,
            id=seen.id,
            at=seen.at,
            tags=seen.case.tags,
            trace=seen.trace,
            case=seen.case,
            feedback=seen.feedback,
            problem=seen.problem,
        )
        if sample is None:
            return "not_drawn"
        return "unreadable" if seen.problem else "scored"
