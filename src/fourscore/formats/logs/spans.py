"""OpenTelemetry spans of generative AI in a file: one trace for each conversation.

`formats/otlp` decodes them, by either shape, and turns them into traces; here they are put together
by conversation, as a log is scored session by session.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from fourscore.core import DataError, Trace
from fourscore.formats.otlp import names
from fourscore.formats.otlp.conversion import Reading
from fourscore.formats.otlp.documents import spans_of_document
from fourscore.formats.otlp.span import Span, distinct


def traces_of_spans(documents: Iterable[tuple[int, Any]]) -> Iterator[Trace]:
    groups: dict[str, list[Span]] = {}
    for line, document in documents:
        try:
            for span in spans_of_document(document):
                key = span.attributes.get(names.CONVERSATION) or span.trace
                groups.setdefault(str(key), []).append(span)
        except DataError as error:
            raise DataError(error.message, line=line, field=error.field) from None
    for key, spans in groups.items():
        read = Reading(distinct(spans))
        version = read.first(names.SERVICE_VERSION)
        yield read.trace({"session": key, "version": version}, fault=False)
