"""`POST /v1/traces`: OpenTelemetry's spans into a monitor; and what `/metrics` tells of it.

Replies and refusals of `/v1/traces` are in the request's own encoding, as OTLP asks, and the status
says whether a sender should try again: 429, 503 and 504 yes, any other no. The reply is sent when
the spans are on the disk; they are put together and scored afterwards.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from starlette.responses import Response

from fourscore.core import DataError, Rubric
from fourscore.formats.otlp.http_body import (
    KINDS,
    BodyKind,
    BodyTooLargeError,
    encode_refusal,
    encode_reply,
    read_body_spans,
)
from fourscore.monitor.metrics import metrics_text
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.otel.receiver import QueueFullError, SpanReceiver
from fourscore.monitor.otel.trace_scoring import TraceAssembler, TraceSampler
from fourscore.monitor.settings import JudgingSettings, PrivacySettings
from fourscore.monitor.sinks import Log, read_sinks
from fourscore.server.messages import Refusal, bad_request
from fourscore.server.request_headers import read_coding
from fourscore.server.settings import MonitorSettings
from fourscore.stores.errors import StoreError
from fourscore.stores.monitor import DAY, MonitorStore

LOG = logging.getLogger("fourscore.server")
#: Traces that may wait to be completed or scored, before senders get a 503.
MAX_WAITING = 100_000
#: Seconds for scores under way when the server stops; unfinished ones are scored again later.
STOP_TIMEOUT = 5.0
_RETRY_AFTER = {"retry-after": "5"}
_CONTENT_TYPES = {kind: name.decode() for name, kind in KINDS.items()}


class Encoding(NamedTuple):
    """How a request's body is encoded: protobuf or JSON, and its compression."""

    kind: BodyKind
    coding: bytes


class MonitorRoutes:
    """The routes of one monitor; opens its store, and belongs to the server's event loop."""

    def __init__(self, rubric: Rubric, settings: MonitorSettings, max_body: int) -> None:
        self._max_body = max_body
        self._store = MonitorStore(settings.path)
        self._receiver = SpanReceiver(self._store.spans, settings.name)
        self._monitor = ProductionMonitor(
            settings.sample_rate,
            rubric=rubric,
            store=self._store,
            name=settings.name,
            # `close` saves everything when the server stops, whichever signal stopped it.
            judging=JudgingSettings(budget=settings.budget or None, exit_wait=0.0),
            privacy=PrivacySettings(keep_text=7 * DAY if settings.keep_text else None),
            sinks=[Log()] if settings.alerts is None else read_sinks(settings.alerts),
        )
        sampler = TraceSampler(self._monitor)
        self._assembler = TraceAssembler(
            self._store.spans,
            settings.name,
            sampler.score,
            can_skip=sampler.can_skip,
            quiet=settings.quiet,
            longest=settings.longest,
        )
        self._next_line = 0.0
        self._assembler.start()

    def close(self) -> None:
        self._receiver.close()
        self._assembler.close(STOP_TIMEOUT)
        self._monitor.close(STOP_TIMEOUT)
        self._store.close()

    async def read_metrics(self) -> str:
        """Return the metrics of every monitor in the store, for Prometheus."""
        try:
            return await asyncio.to_thread(metrics_text, self._store)
        except StoreError as error:
            self._log_error(error, "metrics cannot be read")
            message = "the store cannot be read now; the server's log says why"
            raise Refusal(503, "not_stored", message, headers=_RETRY_AFTER) from None

    async def receive(self, body: bytes, encoding: Encoding) -> Response:
        """Store the spans of one request; returns the reply once they are on the disk."""
        if self._assembler.waiting > MAX_WAITING:
            message = f"{self._assembler.waiting} traces wait to be scored; try again"
            raise Refusal(503, "busy", message, headers=_RETRY_AFTER)
        decode = partial(read_body_spans, body, encoding.kind, encoding.coding, self._max_body)
        try:
            receipt = await self._receiver.put(len(body), decode)
        except BodyTooLargeError as error:
            raise Refusal(413, "too_large", error.message) from None
        except StoreError as error:  # before DataError: both are about input
            self._log_error(error, "spans are refused")
            message = "the spans cannot be stored now; the server's log says why"
            raise Refusal(503, "not_stored", message, headers=_RETRY_AFTER) from None
        except DataError as error:
            raise bad_request(error.message, error.field) from None
        except QueueFullError as error:
            raise Refusal(503, "busy", str(error), headers=_RETRY_AFTER) from None
        message = receipt.message
        if receipt.kept.beyond:
            message = message or f"{receipt.kept.beyond} spans of a trace that is full already"
        rejected = receipt.rejected + receipt.kept.beyond
        body = encode_reply(encoding.kind, rejected, message)
        return Response(body, headers={"content-type": _CONTENT_TYPES[encoding.kind]})

    def _log_error(self, error: StoreError, what: str) -> None:
        """Log an error of the store, at most one line a second."""
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + 1.0
            LOG.error("%s: %s", what, error)

    @staticmethod
    def read_encoding(headers: Mapping[bytes, bytes]) -> Encoding:
        """Return the encoding that the headers name; refuse one that OTLP does not have."""
        kind = KINDS.get(_read_content_type(headers))
        if kind is None:
            message = "expected Content-Type: application/x-protobuf or application/json"
            raise Refusal(415, "not_otlp", message)
        return Encoding(kind, read_coding(headers))

    @staticmethod
    def make_error_response(refused: Refusal, headers: Mapping[bytes, bytes]) -> Response:
        """Return a refusal as OTLP's Status, in the encoding of the request."""
        kind = KINDS.get(_read_content_type(headers), "json")
        own = {**(refused.headers or {}), "content-type": _CONTENT_TYPES[kind]}
        return Response(encode_refusal(kind, str(refused)), refused.status, own)


def _read_content_type(headers: Mapping[bytes, bytes]) -> bytes:
    return headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
