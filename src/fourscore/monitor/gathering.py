"""Complete traces, out of the spans that wait in the store, to whoever scores them.

    ripe -> taken -> an interaction -> scored and committed -> done

Each step can be repeated: a process that dies after the commit leaves a trace that is handed out
again, becomes the same interaction under the same id, and is found to be there already. So nothing
is lost and nothing counts twice.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from fourscore.formats.otlp.span import Span, unpacked
from fourscore.monitor.assembly import Interaction, Unfit, interaction_of
from fourscore.stores.monitor_spans import Spans

LOG = logging.getLogger("fourscore.monitor")
#: Traces that are looked at together.
TOGETHER = 128
#: Seconds between two looks when there is nothing to do, and after a failure.
PAUSE, REST = 0.5, 5.0
#: Seconds that a trace is lent to one process: longer than scoring a batch may take.
LEASE = 1800.0

#: Scores what it is given, commits it, and says how many came to what.
Keep = Callable[[Sequence[Interaction]], Mapping[str, int]]
#: Whether nobody wants a trace, so that it need not be read.
PassOver = Callable[[str, Sequence[Span]], bool]


class Gatherer:
    """The traces of one monitor. `once` is one look; `start` looks until `close`."""

    def __init__(
        self,
        spans: Spans,
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
        found = self._spans.ripe(now, self._quiet, TOGETHER, longest=self._longest, lease=LEASE)
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

    def _read(self, trace_id: str, bodies: list[bytes], now: float) -> Interaction | Unfit | None:
        spans = [unpacked(body) for body in bodies]
        if self._pass_over is not None and self._pass_over(trace_id, spans):
            return None
        return interaction_of(trace_id, spans, now)

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
                if self.once(time.time()) == TOGETHER:
                    pause = 0.0
                self.waiting = self._spans.waiting()
            except Exception as error:  # the disk, or the judge: what waits is tried again
                LOG.warning("traces wait: %s", error)
                pause = REST
            self._stop.wait(pause)
