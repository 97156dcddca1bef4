"""Delivery of alerts: claims an alert in the store, sends it to a sink, and marks it as sent.

    deliverer = Deliverer(store, "default", sinks)
    deliverer.deliver_due(time.time())   # send what is due now, for example from a cron job
    deliverer.start()                    # or in a thread, until `close`

Of all processes on a store, one delivers an alert to a sink; if it dies, another one takes over
when the lease ends. A failed delivery is counted and retried with growing delays; errors of a sink
are never raised.
"""

import logging
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec.structs import replace

from fourscore.core import ConfigError, FourscoreError
from fourscore.core.secrets import hide_secrets
from fourscore.monitor.alerts import DAY, Notice, Policy, make_notice
from fourscore.monitor.state import read_current_rate
from fourscore.stores.errors import DamagedError
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_alerts import Claim

LOG = logging.getLogger("fourscore.monitor")
#: Seconds between two polls of the store, and after it failed.
PAUSE, PAUSE_AFTER_ERROR = 2.0, 10.0
#: Seconds that a claim is valid: longer than any sink may take to send.
LEASE = 60.0
#: Seconds until the second attempt; doubled with each further attempt, up to `MAX_RETRY`.
FIRST_RETRY, MAX_RETRY = 5.0, 600.0

_all: "weakref.WeakSet[Deliverer]" = weakref.WeakSet()


class SinkError(FourscoreError):
    """A sink did not accept the notices; `again`: seconds to wait before a retry, if it said so."""

    def __init__(self, message: str, again: float | None = None) -> None:
        super().__init__(message)
        self.again = again


class Sink(Protocol):
    """A receiver of alerts. `send` returns within `LEASE` seconds, and raises if it failed."""

    @property
    def name(self) -> str: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def together(self) -> int:
        """The highest number of notices in one message."""

    def send(self, notices: Sequence[Notice]) -> None: ...


class Deliverer:
    """Delivers the alerts of one monitor to some sinks."""

    def __init__(
        self, store: MonitorStore, monitor: str, sinks: Iterable[Sink], *, pause: float = PAUSE
    ) -> None:
        self.store, self.monitor, self.sinks = store, monitor, tuple(sinks)
        names = [sink.name for sink in self.sinks]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two sinks have the name {name!r}", field="sinks")
        self._pause = pause
        self._reset()
        _all.add(self)

    def _reset(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._retry_at: dict[str, float] = {}

    def deliver_due(self, now: float) -> Counter[str]:
        """Send the alerts due now; return how many were `sent`, `failed` or `skipped`."""
        counts: Counter[str] = Counter()
        begun = time.monotonic()
        for sink in self.sinks:
            while self._retry_at.get(sink.name, 0.0) <= now:
                # An earlier sink may have been slow: a lease that began at `now` could be over.
                at = now + time.monotonic() - begun
                claims = self.store.outbox.claim(
                    self.monitor, sink.name, at, lease=LEASE, limit=sink.together
                )
                if not claims:
                    break
                counts += self._send(sink, claims, now)
        return counts

    def _send(self, sink: Sink, claims: Sequence[Claim], now: float) -> Counter[str]:
        notices: list[tuple[Claim, Notice]] = []
        skipped = 0
        for claim in claims:
            notice = self._make_notice(claim, sink.policy, now)
            if isinstance(notice, Notice):
                notices.append((claim, notice))
            else:
                skipped += 1
                self.store.outbox.failed(claim, notice, next=None)
        if not notices:
            return Counter(skipped=skipped)
        try:
            sink.send([notice for _, notice in notices])
        except BaseException as error:  # a sink may be the user's code and raise anything
            is_ours = threading.current_thread() is not threading.main_thread()
            if not is_ours and not isinstance(error, Exception):  # Ctrl-C, or a signal's handler
                raise
            self._schedule_retry(sink, notices, error, now)
            return Counter(skipped=skipped, failed=len(notices))
        repeat = sink.policy.repeat
        for claim, notice in notices:
            again = repeat is not None and notice.state == "firing"
            self.store.outbox.sent(claim, again=now + (repeat or 0.0) if again else None)
        self._retry_at.pop(sink.name, None)
        self._count(f"deliveries_sent:{sink.name}", len(notices))
        return Counter(skipped=skipped, sent=len(notices))

    def _make_notice(self, claim: Claim, policy: Policy, now: float) -> Notice | str:
        try:
            notice = make_notice(self.store.outbox, self.monitor, claim, policy, now)
        except DamagedError as error:  # it does not hold up other alerts
            return f"the alert cannot be read: {error}"
        if isinstance(notice, Notice) and notice.repetition:
            return replace(
                notice,
                lately=read_current_rate(self.store.state(self.monitor), notice.stream),
            )
        return notice

    def _schedule_retry(
        self, sink: Sink, notices: Sequence[tuple[Claim, Notice]], error: BaseException, now: float
    ) -> None:
        """Schedule a retry: as long as the alert is open, or for a day after it was resolved."""
        reason = hide_secrets(str(error)) or type(error).__name__  # of the user's code, perhaps
        most = 0.0
        for claim, notice in notices:
            wait = min(MAX_RETRY, FIRST_RETRY * 2.0 ** min(claim.attempt - 1, 20))
            wait = max(wait, min(getattr(error, "again", None) or 0.0, MAX_RETRY))
            over = notice.state == "resolved" and now - notice.at > DAY
            self.store.outbox.failed(claim, reason, next=None if over else now + wait)
            most = max(most, wait)
            if claim.attempt in (1, 10):  # often enough to be noticed, not a flood
                LOG.warning(
                    "monitor %s: an alert was not sent to sink %s: %s",
                    self.monitor,
                    sink.name,
                    reason,
                )
        self._retry_at[sink.name] = now + min(most, FIRST_RETRY)
        self._count(f"deliveries_failed:{sink.name}", len(notices))

    def _count(self, what: str, n: int) -> None:
        self.store.commit(self.monitor, [], _keep_state, counts={what: n})

    def start(self) -> None:
        """Start a thread that sends due alerts every few seconds."""
        if self.sinks and self._thread is None and not self._stop.is_set():
            thread = threading.Thread(target=self._run, daemon=True, name="fourscore-delivery")
            thread.start()
            self._thread = thread

    def close(self, timeout: float | None = None) -> None:
        """Send due alerts and stop; after `timeout` seconds, leave the rest to another process."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout)

    def _run(self) -> None:
        stop = self._stop
        while True:
            last, pause = stop.is_set(), self._pause
            try:
                self.deliver_due(time.time())
            except BaseException as error:  # the store failed, or a sink: the alerts stay due
                LOG.warning(
                    "monitor %s: alerts are not sent while this fails: %s",
                    self.monitor,
                    str(error) or type(error).__name__,
                )
                pause = PAUSE_AFTER_ERROR
            if last:
                return
            stop.wait(pause)


def _keep_state(state: bytes | None, _: object) -> tuple[bytes, tuple[()]]:
    return state or b"{}", ()  # never called: a commit without samples folds nothing


def _after_fork() -> None:
    """Restart the delivery threads in a forked child: threads do not survive a fork."""
    for one in list(_all):
        running = one._thread is not None
        one._reset()
        if running:
            one.start()


os.register_at_fork(after_in_child=_after_fork)
