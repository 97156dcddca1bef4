"""`POST /v1/traces`: OpenTelemetry's spans over HTTP, into the store of a monitor.

Replies and refusals are of the request's own encoding, as OTLP asks, and a status says whether a
sender should try again: 429, 503 and 504 yes, any other no. The reply is sent when the spans are on
the disk; they are put together and scored behind it.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from fourscore.core import DataError, Rubric
from fourscore.formats.otlp.http_body import (
    CODINGS,
    KINDS,
    Kind,
    TooLarge,
    refusal,
    reply,
    spans_of_body,
)
from fourscore.monitor.metrics import CONTENT_TYPE, metrics_text
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.otel.receiver import QueueFullError, SpanReceiver
from fourscore.monitor.otel.traces import TraceAssembler, TraceSampler
from fourscore.monitor.settings import JudgingSettings, PrivacySettings
from fourscore.monitor.sinks import Log, read_sinks
from fourscore.server.settings import MonitorSettings
from fourscore.server.wire import Refusal, Reply, bad_request
from fourscore.stores.errors import StoreError
from fourscore.stores.monitor import DAY, MonitorStore

LOG = logging.getLogger("fourscore.server")
#: Traces that may wait to be complete or scored, before senders are asked to wait.
MOST_WAITING = 100_000
#: For the scores that are under way when the server stops; what is not done is done again.
PATIENCE = 5.0
_AGAIN = ((b"retry-after", b"5"),)
_TYPES = {kind: name for name, kind in KINDS.items()}


class Form(NamedTuple):
    """How a request's body is written."""

    kind: Kind
    coding: bytes


class Traces:
    """The store of one monitor, open for spans. It lives where its server's loop does."""

    def __init__(self, rubric: Rubric, settings: MonitorSettings, most: int) -> None:
        self._most = most
        self._store = MonitorStore(settings.path)
        self._receiver = SpanReceiver(self._store.spans, settings.name)
        self._monitor = ProductionMonitor(
            settings.sample_rate,
            rubric=rubric,
            store=self._store,
            name=settings.name,
            judging=JudgingSettings(budget=settings.budget or None),
            privacy=PrivacySettings(keep_text=7 * DAY if settings.keep_text else None),
            sinks=[Log()] if settings.alerts is None else read_sinks(settings.alerts),
        )
        drawing = TraceSampler(self._monitor)
        self._gatherer = TraceAssembler(
            self._store.spans,
            settings.name,
            drawing.keep,
            pass_over=drawing.pass_over,
            quiet=settings.quiet,
            longest=settings.longest,
        )
        self._told = 0.0
        self._gatherer.start()

    def close(self) -> None:
        self._receiver.close()
        self._gatherer.close(PATIENCE)
        self._monitor.close(PATIENCE)
        self._store.close()

    async def metrics(self) -> Reply:
        """What every monitor of the store knows, for Prometheus."""
        try:
            text = await asyncio.to_thread(metrics_text, self._store)
        except StoreError as error:
            self._tell(error, "metrics cannot be read")
            words = "the store cannot be read now; the server's log says why"
            raise Refusal(503, "not_stored", words, headers=_AGAIN) from None
        return Reply(200, text.encode(), (), CONTENT_TYPE.encode())

    async def answer(self, body: bytes, form: Form) -> Reply:
        """The reply to one request, once its spans are on the disk."""
        if self._gatherer.waiting > MOST_WAITING:
            words = f"{self._gatherer.waiting} traces wait to be scored; try again"
            raise Refusal(503, "busy", words, headers=_AGAIN)
        decode = partial(spans_of_body, body, form.kind, form.coding, self._most)
        try:
            receipt = await self._receiver.put(len(body), decode)
        except TooLarge as error:
            raise Refusal(413, "too_large", error.message) from None
        except StoreError as error:  # before DataError: both are about input
            self._tell(error, "spans are refused")
            words = "the spans cannot be stored now; the server's log says why"
            raise Refusal(503, "not_stored", words, headers=_AGAIN) from None
        except DataError as error:
            raise bad_request(error.message, error.field) from None
        except QueueFullError as error:
            raise Refusal(503, "busy", str(error), headers=_AGAIN) from None
        message = receipt.message
        if receipt.kept.beyond:
            message = message or f"{receipt.kept.beyond} spans of a trace that is full already"
        rejected = receipt.rejected + receipt.kept.beyond
        return Reply(200, reply(form.kind, rejected, message), (), _TYPES[form.kind])

    def _tell(self, error: StoreError, what: str) -> None:
        """The operator, once a second at most."""
        if time.monotonic() >= self._told:
            self._told = time.monotonic() + 1.0
            LOG.error("%s: %s", what, error)

    @staticmethod
    def form_of(headers: Mapping[bytes, bytes]) -> Form:
        """As its headers say; refused where that is nothing that OTLP has."""
        kind = KINDS.get(_content_type(headers))
        if kind is None:
            words = "expected Content-Type: application/x-protobuf or application/json"
            raise Refusal(415, "not_otlp", words)
        coding = headers.get(b"content-encoding", b"").strip().lower()
        if coding not in CODINGS and coding not in (b"", b"identity"):
            raise Refusal(415, "not_otlp", "expected Content-Encoding: gzip, deflate or none")
        return Form(kind, coding)

    @staticmethod
    def reworded(refused: Refusal, headers: Mapping[bytes, bytes]) -> Reply:
        """A refusal as the sender's library reads it: a Status, in the encoding of the request."""
        kind = KINDS.get(_content_type(headers), "json")
        status, _, more, _ = refused.reply
        return Reply(status, refusal(kind, str(refused)), more, _TYPES[kind])


def _content_type(headers: Mapping[bytes, bytes]) -> bytes:
    return headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
