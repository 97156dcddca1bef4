"""Alerts on their way to people: claimed in the store, told to a sink, and marked as told.

    deliverer = Deliverer(store, "default", sinks)
    deliverer.once(time.time())      # what is due now, from a cron job
    deliverer.start()                # or behind a service, until `close`

Among all processes of a store one tells a sink; who dies in between is replaced when the lease is
over. A sink that fails is tried again, later and later, and counted; nothing is raised from here.
"""

import logging
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from fourscore.core import ConfigError, FourscoreError
from fourscore.monitor.alerts import DAY, Notice, Policy, make_notice
from fourscore.monitor.state import read_current_rate
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_alerts import Claim

LOG = logging.getLogger("fourscore.monitor")
#: Seconds between two looks, and after a store that failed.
PAUSE, REST = 2.0, 10.0
#: Seconds that an alert is ours: longer than any sink may take to send it.
LEASE = 60.0
#: Seconds until the second attempt, doubled with each, up to the last.
FIRST, LAST = 5.0, 600.0

_all: "weakref.WeakSet[Deliverer]" = weakref.WeakSet()


class SinkError(FourscoreError):
    """A sink did not take it; `again` is when it asks to be tried again, in seconds."""

    def __init__(self, message: str, again: float | None = None) -> None:
        super().__init__(message)
        self.again = again


class Sink(Protocol):
    """Somewhere to tell of alerts. `send` raises where it failed, within `LEASE` seconds."""

    @property
    def name(self) -> str: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def together(self) -> int:
        """Notices that go into one message."""

    def send(self, notices: Sequence[Notice]) -> None: ...


class Deliverer:
    """Tells some sinks of the alerts of one monitor."""

    def __init__(
        self, store: MonitorStore, monitor: str, sinks: Iterable[Sink], *, pause: float = PAUSE
    ) -> None:
        self.store, self.monitor, self.sinks = store, monitor, tuple(sinks)
        names = [sink.name for sink in self.sinks]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two sinks are called {name!r}", field="sinks")
        self._pause = pause
        self._begin()
        _all.add(self)

    def _begin(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._resting: dict[str, float] = {}

    def once(self, now: float) -> Counter[str]:
        """Tell what is due; how many were `sent`, `failed` or `skipped`."""
        counts: Counter[str] = Counter()
        begun = time.monotonic()
        for sink in self.sinks:
            while self._resting.get(sink.name, 0.0) <= now:
                # Sinks may have taken their time: a lease that began with the look would be over.
                at = now + time.monotonic() - begun
                claims = self.store.outbox.claim(
                    self.monitor, sink.name, at, lease=LEASE, limit=sink.together
                )
                if not claims:
                    break
                counts += self._tell(sink, claims, now)
        return counts

    def _tell(self, sink: Sink, claims: Sequence[Claim], now: float) -> Counter[str]:
        told: list[tuple[Claim, Notice]] = []
        skipped = 0
        for claim in claims:
            notice = self._notice(claim, sink.policy, now)
            if isinstance(notice, Notice):
                told.append((claim, notice))
            else:
                skipped += 1
                self.store.outbox.failed(claim, notice, next=None)
        if not told:
            return Counter(skipped=skipped)
        try:
            sink.send([notice for _, notice in told])
        except Exception as error:  # a sink is foreign: whatever it raises stays here
            self._failed(sink, told, error, now)
            return Counter(skipped=skipped, failed=len(told))
        repeat = sink.policy.repeat
        for claim, notice in told:
            again = repeat is not None and notice.state == "firing"
            self.store.outbox.sent(claim, again=now + (repeat or 0.0) if again else None)
        self._resting.pop(sink.name, None)
        self._count(f"deliveries_sent:{sink.name}", len(told))
        return Counter(skipped=skipped, sent=len(told))

    def _notice(self, claim: Claim, policy: Policy, now: float) -> Notice | str:
        try:
            notice = make_notice(self.store.outbox, self.monitor, claim, policy, now)
        except msgspec.MsgspecError as error:  # of a later version: it must not stop all others
            return f"it cannot be read: {error}"
        if isinstance(notice, Notice) and notice.repetition:
            return replace(
                notice,
                lately=read_current_rate(self.store.state(self.monitor), notice.stream),
            )
        return notice

    def _failed(
        self, sink: Sink, told: Sequence[tuple[Claim, Notice]], error: Exception, now: float
    ) -> None:
        """To be tried again: for as long as it is open, and for a day where it is over."""
        words = str(error) or type(error).__name__
        most = 0.0
        for claim, notice in told:
            wait = min(LAST, FIRST * 2.0 ** min(claim.attempt - 1, 20))
            wait = max(wait, min(getattr(error, "again", None) or 0.0, LAST))
            over = notice.state == "resolved" and now - notice.at > DAY
            self.store.outbox.failed(claim, words, next=None if over else now + wait)
            most = max(most, wait)
            if claim.attempt in (1, 10):  # the operator hears of it, and is not drowned in it
                LOG.warning("monitor %s: %s was not told: %s", self.monitor, sink.name, words)
        self._resting[sink.name] = now + min(most, FIRST)
        self._count(f"deliveries_failed:{sink.name}", len(told))

    def _count(self, what: str, n: int) -> None:
        self.store.commit(self.monitor, [], _nothing, counts={what: n})

    def start(self) -> None:
        """Look for what is due every few seconds, in a thread of its own."""
        if self.sinks and self._thread is None and not self._stop.is_set():
            thread = threading.Thread(target=self._run, daemon=True, name="fourscore-delivering")
            thread.start()
            self._thread = thread

    def close(self, timeout: float | None = None) -> None:
        """Tell what is due, and stop; what takes longer is told by the next process."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout)

    def _run(self) -> None:
        stop = self._stop
        while True:
            last, pause = stop.is_set(), self._pause
            try:
                self.once(time.time())
            except Exception as error:  # the store; what is due stays due
                LOG.warning("monitor %s: alerts wait: %s", self.monitor, error)
                pause = REST
            if last:
                return
            stop.wait(pause)


def _nothing(state: bytes | None, _: object) -> tuple[bytes, tuple[()]]:
    return state or b"{}", ()  # never asked: counts alone fold nothing


def _after_fork() -> None:
    """A child has no thread; it gets one where its parent had."""
    for one in list(_all):
        running = one._thread is not None
        one._begin()
        if running:
            one.start()


os.register_at_fork(after_in_child=_after_fork)
