"""Traces on their way into a monitor: which are drawn, and their scores.

An interaction's id is its trace's, so every process draws alike, and none counts twice.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from fourscore.core import FourscoreError
from fourscore.formats.otlp import names
from fourscore.formats.otlp.span import Span
from fourscore.monitor.assembly import Interaction
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.sampling import digest

LOG = logging.getLogger("fourscore.monitor")
#: Interactions that are scored at the same time.
TOGETHER = 4


class UnsavedError(FourscoreError):
    """The store did not take the samples; their traces are tried again."""


class Drawing:
    """One monitor, as whoever gathers traces needs it."""

    def __init__(self, monitor: ProductionMonitor, together: int = TOGETHER) -> None:
        self._monitor, self._together = monitor, together

    def pass_over(self, trace_id: str, spans: Sequence[Span]) -> bool:
        """Whether a trace is not drawn at any rate, and no rule could want it: most are not."""
        sampling = self._monitor.sampling
        if not sampling.hashed or sampling.rules or digest(trace_id) < sampling.ceiling:
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
